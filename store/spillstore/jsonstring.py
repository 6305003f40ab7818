r"""A string in an artifact's JSON, read as if it were an artifact: ``Artifact.string``.

What a tool printed stands in JSON as one string more often than not (``{"stdout": "...", "exit_code": 1}``). There it is
one line, full of ``\n``. Here its lines and bytes count from its own beginning, and they are read and searched as those of an artifact are. It
is held in memory.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from typing import TYPE_CHECKING

from spillstore.exceptions import QueryError, RangeError
from spillstore.info import Position, StreamInfo
from spillstore.model.arguments import byte_position, line_number
from spillstore.read.blocks import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from spillstore.info import ArtifactInfo, Cleaner, Holes, QueryMatch, SearchResult, State, Stream

    T = TypeVar("T")

_BLOCK = 1024 * 1024


def only_string(query: str, found: Sequence[QueryMatch]) -> tuple[str, str]:
    """The path and the value of the one node that a query has found.

    Raises:
        QueryError: it has found nothing, several nodes, or what is no string.
    """
    if len(found) != 1:
        what = "several nodes" if found else "nothing"
        raise QueryError(
            f"{query} finds {what}, and must find one string; for example $.stdout, or $[0].text"
        )
    path, value = found[0].path, found[0].value
    if not isinstance(value, str):
        kinds = {dict: "an object", list: "an array", bool: "true or false", type(None): "null"}
        kind = kinds.get(type(value), "a number")
        raise QueryError(
            f"{path} is {kind}, and must be a string; query the path itself to see what it holds"
        )
    return path, value


class JSONString:
    r"""A string in JSON, with lines and bytes of its own. LF ends a line.

    Arguments that readers of artifacts take and that mean nothing here (``stream``, ``holes``, ``max_bytes``) are there and
    change nothing, so that what reads artifacts reads this.

    Attributes:
        id: of the artifact that it is in.
        path: the normalized path (RFC 9535) at which it stands.
        info: what is known of the artifact, with the sizes of the string.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
        ...     string = session.put('{"log": "one\\ntwo\\nthree"}').string("$.log")
        ...     string.path, string.info.lines, string.read_lines(2, 3), string.search("^t").lines
        ("$['log']", 3, b'two\nthree', 2)
    """

    def __init__(self, info: ArtifactInfo, path: str, data: bytes) -> None:
        self.id = info.id
        self.path = path
        self._data = data
        self._starts = [0]  # of lines, and the place behind the last line end
        at = 0
        while at := data.find(b"\n", at) + 1:
            self._starts.append(at)
        lines = len(self._starts) - (self._starts[-1] == len(data))
        own, none = StreamInfo(size=len(data), lines=lines), StreamInfo(size=0, lines=0)
        self.info = dataclasses.replace(
            info,
            size=own.size,
            lines=own.lines,
            stdout=own,
            stderr=none,
            newline="lf",
            hole=None,
            state="sealed",
        )

    def extent(self, stream: Stream = "combined") -> tuple[int, State]:  # noqa: ARG002  # see the class
        """Its bytes, and that no more will come."""
        return len(self._data), "sealed"

    def read_bytes(
        self,
        start: int,
        end: int,
        *,
        stream: Stream = "combined",  # noqa: ARG002  # see the class
        holes: Holes = "raise",  # noqa: ARG002  # likewise
        max_bytes: int = 0,  # noqa: ARG002  # likewise
    ) -> bytes:
        """Bytes ``[start, end)`` of its UTF-8; past its end there are none. Half a surrogate is a question mark."""
        return self._data[max(0, start) : max(0, end)]

    def read_lines(
        self,
        first: int,
        last: int,
        *,
        stream: Stream = "combined",  # noqa: ARG002  # see the class
        holes: Holes = "raise",  # noqa: ARG002  # likewise
        max_bytes: int = 0,  # noqa: ARG002  # likewise
    ) -> bytes:
        """Lines ``first`` to ``last``, from 1, both included, with their endings; past its end there are none."""
        return self._data[self.locate(line=first).byte : self.locate(line=last + 1).byte]

    def chunks(
        self,
        start: int = 0,
        end: int | None = None,
        *,
        stream: Stream = "combined",  # noqa: ARG002  # see the class
        holes: Holes = "raise",  # noqa: ARG002  # likewise
    ) -> Iterator[bytes]:
        """The bytes ``[start, end)``, as one block."""
        yield self._data[start:end]

    def locate(
        self,
        *,
        line: int | None = None,
        byte: int | None = None,
        stream: Stream = "combined",  # noqa: ARG002  # see the class
        holes: Holes = "raise",  # noqa: ARG002  # likewise
    ) -> Position:
        """Where a line begins, or which line a byte is in; the end, and the line that would come next, for what is past it.

        Raises:
            RangeError: not exactly one of the two, or one that is no place.
        """
        if (line is None) == (byte is None):
            raise RangeError("give one of line and byte; for example locate(line=100)")
        if line is not None:
            line = line_number(line, "line", "locate(line=100)")
            if line <= self.info.lines:
                return Position(self._starts[line - 1], line)
        elif byte is not None:
            byte = byte_position(byte, "byte", "locate(byte=65536)")
            if byte < len(self._data):
                return Position(byte, bisect_right(self._starts, byte))
        return Position(len(self._data), self.info.lines + 1)

    def search(
        self,
        pattern: str,
        *,
        stream: Stream = "combined",
        context: int = 0,
        limit: int = 100,
        cursor: str | None = None,
        ignore_case: bool = False,
        literal: bool = False,
        invert: bool = False,
        cleaner: Cleaner | None = None,
        seconds: float | None = 60.0,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> SearchResult:
        """Its lines that match, a page at a time; arguments, answer and errors are those of ``Artifact.search``."""
        from spillstore.search.search_page import Search  # noqa: PLC0415  # few programs search

        return Search(
            self,
            self._batches,
            pattern,
            stream=stream,
            context=context,
            limit=limit,
            cursor=cursor,
            ignore_case=ignore_case,
            literal=literal,
            invert=invert,
            cleaner=cleaner,
            seconds=seconds,
            on_progress=on_progress,
            path=self.path,
        ).run()

    def _batches(
        self,
        start: int,
        end: int,
        _stream: Stream,
        _holes: Holes,
        make: Callable[[Iterable[Run]], T],
        _rules: object,
    ) -> Iterator[T]:
        """As ``read.iteration.batches``; nothing is left out."""
        for at in range(start, end, _BLOCK):
            data = self._data[at : min(at + _BLOCK, end)]
            yield make(iter([Run(at, bisect_right(self._starts, at), data.count(b"\n"), data)]))
