"""Reading what was stored: ranges, iteration, verification, export."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import itertools
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from spillstore import info as infos
from spillstore.engine.errors import translated, translation
from spillstore.events.catalogue import RENDERED
from spillstore.exceptions import (
    ArtifactNotFoundError,
    IntegrityError,
    InvalidSettingError,
    QueryError,
    RangeError,
    RangeTooLargeError,
    SpillstoreError,
    TargetExistsError,
    UsageError,
)
from spillstore.format.chunk_codec import segments_of
from spillstore.format.digests import new_digest
from spillstore.model.records import STREAMS, VIEWS, ArtifactRow, View, view_of
from spillstore.read.blocks import runs
from spillstore.read.prefetch import prefetch
from spillstore.read.ranges import RangeReader
from spillstore.read.verify import verify
from spillstore.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from spillstore.engine.rows import Snapshot
    from spillstore.info import (
        ArtifactInfo,
        BadLine,
        Cleaner,
        Event,
        Export,
        HoleInfo,
        Holes,
        Origin,
        Position,
        QueryMatch,
        QueryResult,
        SearchResult,
        Segment,
        State,
        Stream,
        Verification,
    )
    from spillstore.ingest.session_core import SessionCore
    from spillstore.jsonpath.query import Query
    from spillstore.jsonstring import JSONString
    from spillstore.model.records import Hole
    from spillstore.read.blocks import Block, Run

MAX_BYTES = 64 * MIB
_BLOCKS = 16  # chunks that an iterator fetches in one short transaction
_AHEAD = 4  # such batches, from which on the next ones are read ahead
_LARGEST = 2**62
READ = "read"  # the kind of the event
_READS = 200  # that are said to have shown the same, of which one may be of an artifact that is still there
_ORIGINS = 4  # of each kind that are read to find out whether they are the same
T = TypeVar("T")
P = ParamSpec("P")


def _recorded(
    kind: str, **names: str
) -> Callable[[Callable[Concatenate[Artifact, P], T]], Callable[Concatenate[Artifact, P], T]]:
    """Make each call of a method an event, whatever comes of it.

    Args:
        kind: of the event.
        names: what is told of the call: its first arguments in order, and others; and what each is called in the event,
            or ``""`` for what is not told, since what somebody looks for may be a secret.
    """
    said = tuple(names.values())

    def recorded(method: Callable[Concatenate[Artifact, P], T]) -> Callable[Concatenate[Artifact, P], T]:
        @functools.wraps(method)
        def call(self: Artifact, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if self._quiet:
                return method(self, *args, **kwargs)
            began = time.perf_counter()
            detail: dict[str, object] = dict(zip(said, args, strict=False))
            for name, value in kwargs.items():
                if name in names:
                    detail[names[name]] = value
            detail.pop("", None)
            try:
                result = method(self, *args, **kwargs)
            except SpillstoreError as error:
                self._engine.audit.read(kind, self._id, detail, began, error)
                raise
            if isinstance(result, bytes):
                detail["bytes"] = len(result)
            else:
                detail.update(_given(result))
            self._engine.audit.read(kind, self._id, detail, began)
            return result

        return call

    return recorded


def _given(result: object) -> dict[str, object]:
    """What an event tells of an answer that is no bytes: how much, and nothing of what."""
    if isinstance(result, infos.SearchResult):
        return {"lines": result.lines, "matches": result.total_matches, "complete": result.complete}
    if isinstance(result, infos.QueryResult):
        return {"nodes": len(result.matches), "complete": result.complete}
    if isinstance(result, infos.Export):
        return {"bytes": result.size, "size": result.size, "dropped": result.dropped}
    return {}


@contextlib.contextmanager
def _named(target: Path) -> Iterator[None]:
    """An error of the hidden file beside it names the file that was asked for."""
    try:
        yield
    except OSError as error:
        if error.filename is None or isinstance(error, SpillstoreError):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error


class Artifact:
    r"""One tool call's output. Cheap to make; holds no transaction between calls; safe from any thread.

    Reads of an artifact that is still being written see what is committed, which is at most 200 ms old. Byte positions
    and line numbers never change once given out.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root).session("demo") as session:
        ...     artifact = session.put(b"one\ntwo\nthree\n", source="doc")
        ...     artifact.read_lines(2, 3), artifact.read_bytes(0, 3), artifact.tail(1)
        (b'two\nthree\n', b'one', b'three\n')
    """

    def __init__(self, engine: SessionCore, artifact_id: str, record: ArtifactRow | None = None) -> None:
        self._engine = engine
        self._id = artifact_id
        self._sealed = record if record is not None and record.state == "sealed" else None
        self._quiet = False  # what it reads is part of another event

    def __repr__(self) -> str:
        return f"<Artifact {self._id} in session {self._engine.row.session_id!r}>"

    @property
    def id(self) -> str:
        """The id that a model is shown."""
        return self._id

    @property
    def info(self) -> ArtifactInfo:
        """What is known of it now. Cost: one indexed row, none once it is sealed.

        Raises:
            ArtifactNotFoundError: it was deleted.
        """
        with self._engine.reader() as rows:
            return info_of(self._engine, self._record(rows))

    # --- ranges -----------------------------------------------------------------------------------------

    @_recorded("read", first="first", last="last", stream="stream")
    def read_lines(
        self,
        first: int,
        last: int,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Lines ``first`` to ``last`` with their endings, as bytes.

        Args:
            first: 1-based.
            last: inclusive; past the end it is clipped.
            stream: ``combined``, ``stdout`` or ``stderr``; each counts its own lines.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.
            max_bytes: the largest answer that is built in memory.

        Returns:
            The bytes; ``b""`` past the end. Cost: the chunks that hold them, and at most one more.

        Raises:
            RangeError: not two whole numbers with 1 <= first <= last.
            RangeTooLargeError: more than ``max_bytes``.
            DroppedRangeError: the range touches a hole.
            IntegrityError: a chunk is damaged.
        """
        call = "read_lines(1, 100)"
        if _whole(first, "first", call) < 1:
            raise RangeError(f"first is {first}, but lines count from 1; for example {call}")
        if _whole(last, "last", call) < first:
            raise RangeError(f"last is {last} and lies before first, {first}; for example {call}")
        low, high, most = min(first, _LARGEST), min(last, _LARGEST), _limit(max_bytes)
        return self._read(stream, holes, lambda ranges: ranges.read_lines(low, high, most))

    @_recorded("read", start="start", end="end", stream="stream")
    def read_bytes(
        self,
        start: int,
        end: int,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Bytes ``[start, end)``.

        Args:
            start: first byte, from 0.
            end: the byte after the last one; past the end it is clipped.
            stream: ``combined``, ``stdout`` or ``stderr``; each counts its own bytes.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.
            max_bytes: the largest answer that is built in memory.

        Returns:
            The bytes; ``b""`` past the end. Cost: exactly the chunks that hold them.

        Raises:
            RangeError: not two whole numbers with 0 <= start <= end.
            RangeTooLargeError: more than ``max_bytes``.
            DroppedRangeError: the range touches a hole.
            IntegrityError: a chunk is damaged.
        """
        call = "read_bytes(0, 65536)"
        if _whole(start, "start", call) < 0:
            raise RangeError(f"start is {start}, but bytes count from 0; for example {call}")
        if _whole(end, "end", call) < start:
            raise RangeError(f"end is {end} and lies before start, {start}; for example {call}")
        low, high, most = min(start, _LARGEST), min(end, _LARGEST), _limit(max_bytes)
        return self._read(stream, holes, lambda ranges: ranges.read_bytes(low, high, most))

    @_recorded("read", start="from", end="to", stream="stream")
    def read_time(
        self,
        start: float,
        end: float,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Bytes that arrived in ``[start, end)`` seconds after the artifact began, at segment resolution (10 ms).

        Args:
            start: seconds, from 0.
            end: seconds; past the end it is clipped.
            stream: ``combined``, ``stdout`` or ``stderr``.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.
            max_bytes: the largest answer that is built in memory.

        Returns:
            The bytes, in the order of the view.

        Raises:
            RangeError: not two numbers with 0 <= start <= end.
            RangeTooLargeError, DroppedRangeError, IntegrityError: as for the other ranges.
        """
        call = "read_time(0.0, 2.5)"
        for name, value in (("start", start), ("end", end)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                raise RangeError(f"{name} must be seconds from 0, not {value!r}; for example {call}")
        if end < start:
            raise RangeError(f"end is {end} and lies before start, {start}; for example {call}")
        # Rounded, so that a time printed with six digits finds its own segment.
        low, high = (round(min(value, _LARGEST / 1e6) * 1e6) for value in (start, end))
        most = _limit(max_bytes)
        return self._read(stream, holes, lambda ranges: ranges.read_time(low, high, most))

    @_recorded("read", stream="stream")
    def read(
        self, *, stream: Stream = "combined", holes: Holes = "raise", max_bytes: int = MAX_BYTES
    ) -> bytes:
        """All bytes of a view.

        Raises:
            RangeTooLargeError: more than ``max_bytes``; ``chunks`` and ``lines`` iterate in flat memory.
            DroppedRangeError, IntegrityError: as for the ranges.
        """
        most = _limit(max_bytes)
        return self._read(stream, holes, lambda ranges: ranges.read_bytes(0, _LARGEST, most))

    def read_text(
        self,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
        encoding: str = "utf-8",
        errors: str = "replace",
    ) -> str:
        r"""All of a view as text; what is not of that encoding becomes U+FFFD. Line ends stay as they are.

        Args:
            stream: ``combined``, ``stdout`` or ``stderr``.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.
            max_bytes: the largest answer that is built in memory.
            encoding: as for ``bytes.decode``.
            errors: likewise.

        Raises:
            UsageError: there is no such encoding, or ``errors="strict"`` and the bytes are not of it.
            RangeTooLargeError, DroppedRangeError, IntegrityError: as for ``read``.
        """
        data = self.read(stream=stream, holes=holes, max_bytes=max_bytes)
        try:
            return data.decode(encoding, errors)
        except (LookupError, UnicodeError) as error:
            raise UsageError(f"{self._id} cannot be decoded: {error}") from error

    @_recorded("read", lines="tail", stream="stream")
    def tail(
        self,
        lines: int = 50,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """The last ``lines`` lines.

        Raises:
            RangeError: ``lines`` is no whole number from 0.
            RangeTooLargeError, DroppedRangeError, IntegrityError: as for the other ranges.
        """
        if _whole(lines, "lines", "tail(50)") < 0:
            raise RangeError(f"lines is {lines}, but must be 0 or more; for example tail(50)")
        most = _limit(max_bytes)
        return self._read(stream, holes, lambda ranges: ranges.read_tail(lines, most))

    def locate(
        self,
        *,
        line: int | None = None,
        byte: int | None = None,
        time: float | None = None,
        stream: Stream = "combined",
        holes: Holes = "raise",
    ) -> Position:
        """Where a line begins, which line a byte is in, or what came first at a time or later. Give one of the three.

        Args:
            line: from 1.
            byte: from 0.
            time: seconds after the artifact began.
            stream: ``combined``, ``stdout`` or ``stderr``.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.

        Returns:
            The byte and its line; the end, and the line that would come next, for what lies past it. Cost: one or two
            chunks.

        Raises:
            RangeError: not exactly one of the three, or one that means nothing.
            DroppedRangeError, IntegrityError: as for the ranges.
        """
        call = "locate(line=100)"
        if sum(value is not None for value in (line, byte, time)) != 1:
            raise RangeError(f"give one of line, byte and time; for example {call}")
        if line is not None and _whole(line, "line", call) < 1:
            raise RangeError(f"line is {line}, but lines count from 1; for example {call}")
        if byte is not None and _whole(byte, "byte", call) < 0:
            raise RangeError(f"byte is {byte}, but bytes count from 0; for example locate(byte=65536)")
        seconds = time is not None and (
            isinstance(time, bool) or not isinstance(time, (int, float)) or not time >= 0
        )
        if seconds:
            raise RangeError(f"time must be seconds from 0, not {time!r}; for example locate(time=2.5)")

        def find(ranges: RangeReader) -> Position:
            if line is not None:
                position = ranges.start_of_line(min(line, _LARGEST))
            elif byte is not None:
                position = min(byte, ranges.record.view_size(view_of(stream)))
            else:
                position = ranges.start_of_time(round(min(time or 0, _LARGEST / 1e6) * 1e6))
            return infos.Position(position, ranges.line_of(position))

        return self._read(stream, holes, find)

    @_recorded("search", pattern="", stream="stream")
    def search(
        self,
        pattern: str,
        *,
        stream: Stream = "combined",
        context: int = 0,
        limit: int = 50,
        cursor: str | None = None,
        ignore_case: bool = False,
        literal: bool = False,
        invert: bool = False,
        cleaner: Cleaner | None = None,
        seconds: float | None = None,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> SearchResult:
        r"""Lines that match a regular expression (RE2 syntax), a page at a time, in time linear in what is read.

        Args:
            pattern: matched within lines; ``^`` and ``$`` are a line's ends.
            stream: ``combined``, ``stdout`` or ``stderr``.
            context: lines before and after each match that are told, too.
            limit: matching lines of a page; 0 to count alone, to the end.
            cursor: of the page before; the other arguments must be the same.
            ignore_case: letters of either case are the same.
            literal: the pattern is text, not an expression.
            invert: lines that do not match.
            cleaner: what a reader sees of lines; None searches the bytes as they are stored.
            seconds: time after which the page ends with what it has.
            on_progress: called, on this thread, every few chunks with the bytes that are searched and those that there are.

        Returns:
            The page. Lines above 16 MiB are searched in windows that overlap by 1 MiB. What a rolled artifact has
            dropped is left out, and noted.

        Raises:
            PatternError: no expression, or one with look-around or back-references.
            RangeError: arguments that mean nothing.
            IntegrityError: a damaged chunk.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     page = session.put("one\ntwo\nthree\n").search("^t")
            ...     [(match.line, match.byte, match.text) for match in page.matches], page.complete
            ([(2, 4, 'two'), (3, 8, 'three')], True)
        """
        from spillstore.search.search_page import Search  # noqa: PLC0415  # few programs search

        example = 'search("error", limit=50)'
        if not isinstance(pattern, str):
            raise RangeError(f"pattern must be text, not {pattern!r}; for example {example}")
        for name, value in (("context", context), ("limit", limit)):
            if _whole(value, name, example) < 0:
                raise RangeError(f"{name} is {value}, but must be 0 or more; for example {example}")
        view_of(stream)
        return Search(
            self.unrecorded(),
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
        ).run()

    @_recorded("query", query="", stream="stream")
    def query(
        self,
        query: str,
        *,
        stream: Stream = "combined",
        limit: int = 100,
        max_bytes: int = MAX_BYTES,
        cursor: str | None = None,
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = 60.0,
    ) -> QueryResult:
        r"""Nodes of JSON that a JSONPath query (RFC 9535) selects, a page at a time.

        Args:
            query: for example ``$.users[?@.age > 30].name``.
            stream: ``combined``, ``stdout`` or ``stderr``.
            limit: nodes of a page; 0 to count alone.
            max_bytes: JSON of a page; a node that alone has more is a page of its own.
            cursor: of the page before; the other arguments must be the same.
            lines: whether each line is a document; None finds out.
            start_line: where the JSON begins, if something else was printed before.
            seconds: after which the query is given up; None for never.

        Returns:
            The page. Cost: decoding up to 16 MiB at once, at about 50 MB/s; what is larger is gone through in flat
            memory. Numbers are exact but for the last digit of a float. Of a name that an object repeats the last
            counts; in an object that is gone through, each does.

        Raises:
            QueryError: no JSONPath.
            QueryLimitError: a node of more than 16 MiB, ``$`` in a filter of a document that is larger, a query that
                takes too long.
            NotJSONError: no JSON, and nothing was found before that showed.
            RangeError, DroppedRangeError, IntegrityError: as for the ranges.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     artifact = session.put('{"users": [{"name": "Ann", "age": 31}, {"name": "Bo", "age": 7}]}')
            ...     page = artifact.query("$.users[?@.age > 30].name")
            ...     [(match.path, match.value) for match in page.matches], page.total
            ([("$['users'][0]['name']", 'Ann')], 1)
        """
        example = 'query("$.users[?@.age > 30]", limit=100)'
        for name, value in (("limit", limit), ("max_bytes", max_bytes)):
            if _whole(value, name, example) < 0:
                raise RangeError(f"{name} is {value}, but must be 0 or more; for example {example}")
        return self._query(query, stream, cursor, lines, start_line, seconds).page(limit, max_bytes)

    def nodes(
        self,
        query: str,
        *,
        stream: Stream = "combined",
        cursor: str | None = None,
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = None,
    ) -> Iterator[QueryMatch | BadLine]:
        """All nodes that a JSONPath query selects, one by one, in flat memory; arguments as for ``query``.

        Yields:
            The nodes, and between them the lines that are no JSON, where each line is a document.

        Raises:
            QueryError, QueryLimitError, NotJSONError: as for ``query``, behind the nodes that were found before.
            RangeError, DroppedRangeError, IntegrityError: as for the ranges.
        """
        found = self._query(query, stream, cursor, lines, start_line, seconds).nodes()
        return found if self._quiet else self._told(found, {"stream": stream}, "query", "nodes", lambda _: 1)

    def string(
        self,
        path: str,
        *,
        stream: Stream = "combined",
        lines: bool | None = None,
        start_line: int = 1,
        seconds: float | None = 60.0,
    ) -> JSONString:
        r"""The one string that a JSONPath query finds in JSON, to be read and searched by lines of its own.

        Args:
            path: for example ``$.stdout``; it must find one node, and that a string.
            stream: as for ``query``, and so are the others.
            lines: whether each line is a document; None finds out.
            start_line: where the JSON begins, if something else was printed before.
            seconds: after which the query is given up; None for never.

        Returns:
            The string. Cost: the query, and the string in memory, twice for a moment.

        Raises:
            QueryError: no JSONPath, or it finds nothing, several nodes, or what is no string.
            QueryLimitError, NotJSONError, RangeError, DroppedRangeError, IntegrityError: as for ``query``; a string may have
                16 MiB.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     artifact = session.put('{"stdout": "one\\ntwo\\nthree", "exit_code": 1}')
            ...     artifact.string("$.stdout").read_lines(2, 2)
            b'two\n'
        """
        from spillstore.jsonstring import JSONString  # noqa: PLC0415  # few programs query

        page = self.query(path, stream=stream, limit=2, lines=lines, start_line=start_line, seconds=seconds)
        found = page.matches
        if len(found) != 1:
            what = f"{'several nodes' if found else 'nothing'}"
            raise QueryError(
                f"{path} finds {what}, and must find one string; for example $.stdout, or $[0].text"
            )
        value = found[0].value
        if not isinstance(value, str):
            kinds = {dict: "an object", list: "an array", bool: "true or false", type(None): "null"}
            kind = kinds.get(type(value), "a number")
            raise QueryError(
                f"{found[0].path} is {kind}, and must be a string; query the path itself to see what it holds"
            )
        return JSONString(self.info, found[0].path, value.encode(errors="replace"))

    def _query(
        self,
        query: str,
        stream: Stream,
        cursor: str | None,
        lines: bool | None,  # noqa: FBT001  # of our own calls
        start_line: int,
        seconds: float | None,
    ) -> Query:
        from spillstore.jsonpath.query import Query  # noqa: PLC0415  # few programs query

        example = 'query("$.users[?@.age > 30]")'
        if not isinstance(query, str):
            raise QueryError(f"a query is text, not {query!r}; for example {example}")
        if _whole(start_line, "start_line", example) < 1:
            raise RangeError(f"start_line is {start_line}, but lines count from 1; for example {example}")
        if cursor is not None and not isinstance(cursor, str):
            raise RangeError(f"{cursor!r} is no cursor; take it from the page before")
        view_of(stream)
        return Query(
            self.unrecorded(),
            query,
            stream=stream,
            cursor=cursor,
            lines=lines,
            start_line=min(start_line, _LARGEST),
            seconds=seconds,
        )

    # --- iteration --------------------------------------------------------------------------------------

    def chunks(
        self, start: int = 0, end: int | None = None, *, stream: Stream = "combined", holes: Holes = "raise"
    ) -> Iterator[bytes]:
        """The bytes ``[start, end)`` in blocks of at most 64 KiB, in flat memory.

        Each few blocks are one short transaction and none is held in between, so an abandoned iterator costs nothing. Above
        4 MiB the next three or four megabytes are read ahead on two threads.

        Args:
            start: first byte.
            end: the byte after the last; None for what is committed when the iteration begins.
            stream: ``combined``, ``stdout`` or ``stderr``.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.

        Yields:
            Non-empty bytes.

        Raises:
            RangeError, DroppedRangeError, IntegrityError: as for the other ranges.
        """
        blocks = self._chunks(start, end, stream, holes)
        if self._quiet:
            return blocks
        return self._told(blocks, {"start": start, "end": end, "stream": stream}, "read", "bytes", len)

    def _chunks(self, start: int, end: int | None, stream: Stream, holes: Holes) -> Iterator[bytes]:
        for batch in self._batches(start, end, stream, holes, list):
            for run in batch:
                yield run.data

    def lines(
        self, *, stream: Stream = "combined", holes: Holes = "raise", max_bytes: int = MAX_BYTES
    ) -> Iterator[bytes]:
        r"""The lines of a view with their endings, one by one, in the memory that the longest of them takes.

        Args:
            stream: ``combined``, ``stdout`` or ``stderr``.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped. Of a line that was cut by that, each part is a
                line of its own.
            max_bytes: of one line.

        Yields:
            What is committed when the iteration begins. A last line without an end counts.

        Raises:
            RangeTooLargeError: a line is longer than ``max_bytes``.
            RangeError, DroppedRangeError, IntegrityError: as for ``chunks``.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     list(session.put("one\ntwo").lines())
            [b'one\n', b'two']
        """
        view_of(stream)
        lines = self._lines(stream, holes, _limit(max_bytes))
        if self._quiet:
            return lines
        return self._told(lines, {"stream": stream}, "read", "bytes", len)

    def _lines(self, stream: Stream, holes: Holes, most: int) -> Iterator[bytes]:
        with self._engine.reader() as rows:
            ending = self._record(rows).terminator()
        begun: list[bytes] = []
        size = position = number = 0
        for batch in self._batches(0, None, stream, holes, list):
            for run in batch:
                if run.start != position and begun:  # the rest of this line was dropped
                    yield b"".join(begun)
                    begun, size = [], 0
                *whole, rest = run.data.split(ending)
                number, position = run.line, run.start + len(run.data)
                for part in whole:
                    if size + len(part) >= most:
                        raise self._long_line(number, most)
                    yield b"".join((*begun, part, ending))
                    begun, size, number = [], 0, number + 1
                if rest:
                    begun.append(rest)
                    size += len(rest)
                    if size > most:
                        raise self._long_line(number, most)
        if begun:
            yield b"".join(begun)

    def _long_line(self, number: int, most: int) -> RangeTooLargeError:
        return RangeTooLargeError(
            f"line {number} of {self._id} has more than max_bytes={most} bytes; raise that, or iterate with chunks()"
        )

    def _batches(
        self,
        start: int,
        end: int | None,
        stream: Stream,
        holes: Holes,
        make: Callable[[Iterator[Run]], T],
    ) -> Iterator[T]:
        """What ``make`` makes of the bytes ``[start, end)``, a few chunks at a time.

        ``make`` runs on the workers where the next blocks can be read ahead, and has to use up what it is given.
        """
        view = view_of(stream)
        if _whole(start, "start", "chunks(0, 65536)") < 0:
            raise RangeError(f"start is {start}, but bytes count from 0")
        with self._engine.reader() as rows:
            record = self._record(rows)
        size = record.view_size(view)
        end = size if end is None else min(_whole(end, "end", "chunks(0, 65536)"), size)
        batch = _BLOCKS * record.chunk_size
        # Where a position tells its chunk, what comes next is known before the last batch is there.
        whole = view.stream is None or record.view_size(VIEWS["combined"]) == size
        soon = end
        if whole and end - start > _AHEAD * batch:
            soon = start - start % batch + 2 * batch
        while start < soon:
            blocks = self._blocks(start, soon, _BLOCKS, stream, holes)
            if not blocks:
                break
            yield make(runs(blocks, start, soon, record.terminator()))
            start = blocks[-1].end

        def read(low: int, high: int) -> T:
            return make(self._in_turn(low, high, stream, holes, record.terminator()))

        makers = (functools.partial(read, at, min(at + batch, end)) for at in range(soon, end, batch))
        yield from prefetch(makers, self._engine.check_usable)

    def _in_turn(
        self, start: int, end: int, stream: Stream, holes: Holes, terminator: bytes
    ) -> Iterator[Run]:
        """The bytes ``[start, end)``, each few blocks when those before have been used."""
        while start < end:
            blocks = self._blocks(start, end, _BLOCKS, stream, holes)
            if not blocks:
                return
            yield from runs(blocks, start, end, terminator)
            start = blocks[-1].end

    def open(self, *, stream: Stream = "combined", holes: Holes = "raise") -> io.BufferedReader:
        """A seekable binary file object over what is committed now; ``holes="skip"`` is not seekable past a hole.

        Raises:
            DroppedRangeError: while reading, at a hole.
            IntegrityError: while reading, at a damaged chunk.
        """
        return io.BufferedReader(_Raw(self, view_of(stream).name, holes), 65536)

    def follow(
        self, start: int = 0, *, stream: Stream = "combined", poll: float = 0.1, holes: Holes = "raise"
    ) -> Iterator[bytes]:
        """Like ``chunks``, but waits for more until the artifact ends, as ``tail -f`` does.

        Args:
            start: first byte.
            stream: ``combined``, ``stdout`` or ``stderr``.
            poll: seconds between two looks.
            holes: ``raise`` or ``skip`` what is dropped before it was read.

        Yields:
            Non-empty bytes.
        """
        blocks = self._following(start, stream, poll, holes)
        if self._quiet:
            return blocks
        return self._told(blocks, {"start": start, "stream": stream}, "read", "bytes", len)

    def _following(self, start: int, stream: Stream, poll: float, holes: Holes) -> Iterator[bytes]:
        while True:
            size, state = self.extent(stream)
            yield from self._chunks(start, size, stream, holes)
            start = max(start, size)
            if state != "open":
                return
            time.sleep(poll)

    def segments(self, *, holes: Holes = "raise") -> Iterator[Segment]:
        """Both streams in the order of the sequence, each run of bytes with its stream and time, in flat memory.

        Args:
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.

        Yields:
            What is committed when the iteration begins. One write may be several segments, and several one: those of
            one stream within 10 ms are one, and none is larger than a chunk.

        Raises:
            RangeError, DroppedRangeError, IntegrityError: as for the ranges.
        """
        detail: dict[str, object] = {"stream": "combined"}
        segments = self._segments(holes)
        if self._quiet:
            return segments
        return self._told(segments, detail, "read", "bytes", lambda segment: len(segment.data))

    def _segments(self, holes: Holes) -> Iterator[Segment]:
        start, (size, _) = 0, self.extent()
        while start < size:
            low = start
            found = self._read(
                "combined",
                holes,
                lambda ranges: [
                    (block, segments_of(block.row))
                    for block in ranges.blocks(low, size, _BLOCKS)  # noqa: B023  # at once
                ],
            )
            if not found:
                return
            for block, segments in found:
                at = 0
                for stream, length, time_us in segments:
                    data = block.data[at : min(at + length, size - block.start)]
                    at += length
                    if data:
                        yield infos.Segment(STREAMS[stream], time_us / 1e6, data)
            start = found[-1][0].end

    def extent(self, stream: Stream = "combined") -> tuple[int, State]:
        """Bytes of a stream committed by now, and whether more may come: its state, from one snapshot."""
        view = view_of(stream)
        with self._engine.reader() as rows:
            record = self._record(rows)
        return record.view_size(view), record.state  # type: ignore[return-value]  # verified: one of the three

    # --- the whole --------------------------------------------------------------------------------------

    def verify(self, *, on_progress: Callable[[int, int], object] | None = None) -> Verification:
        """Read every chunk and recompute every digest and counter. Cost: decoding all of it, in flat memory.

        Somebody may write it, drop its middle or delete it meanwhile: what looks like damage is read again in one snapshot,
        and told if it is still there.

        Args:
            on_progress: called, on this thread, every few chunks with the bytes that are verified and those that there are.

        Raises:
            ArtifactNotFoundError: it was deleted.
            IntegrityError: says what is damaged, and where.
        """
        with self._engine.snapshot("verifying") as rows:
            record = self._record(rows)
        try:
            return verify(self._engine, record, on_progress)
        except IntegrityError as error:
            self._damaged(error)
            raise

    @_recorded("export", path="", stream="stream")
    def export(
        self,
        path: str | os.PathLike[str],
        *,
        stream: Stream = "combined",
        overwrite: bool = False,
        holes: Holes = "raise",
        on_progress: Callable[[int, int], object] | None = None,
    ) -> Export:
        """Write the bytes to a file, atomically, with mode 0600: it appears whole or not at all.

        Args:
            path: the file; its folder must exist.
            stream: ``combined``, ``stdout`` or ``stderr``.
            overwrite: replace a file that is there.
            holes: ``raise`` or ``skip`` what a rolled artifact has dropped.
            on_progress: called, on this thread, every few chunks with the bytes that are written and those that there are.

        Returns:
            How much was written, and how much the file lacks.

        Raises:
            TargetExistsError: the file is there and ``overwrite`` is not set.
            StorageError: the file cannot be written.
            DroppedRangeError, IntegrityError: as for the other ranges.
        """
        target = Path(path)
        with self._engine.reader() as rows:
            record = self._record(rows)
        size = record.view_size(view_of(stream))
        if not overwrite and os.path.lexists(target):
            raise TargetExistsError(f"{target} is there already; choose another name, or allow overwriting")
        hidden = target.with_name(f".{target.name[:100]}.{os.urandom(4).hex()}")
        written = 0
        with translated(f"writing {target}"), _named(target):
            descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    for block in self._chunks(0, size, stream, holes):
                        file.write(block)
                        written += len(block)
                        if on_progress is not None:
                            on_progress(written, size)
                    file.flush()
                    os.fsync(file.fileno())
                if overwrite:
                    hidden.replace(target)
                else:
                    try:
                        os.link(hidden, target)  # fails where a rename would overwrite
                    except FileExistsError:
                        raise TargetExistsError(f"{target} appeared meanwhile; choose another name") from None
            finally:
                with contextlib.suppress(FileNotFoundError):
                    hidden.unlink()
        dropped = size - written
        return infos.Export(size=written, dropped=dropped)

    def delete(self) -> None:
        """Make it unreadable at once and give its space back to the disk, which may be full; see ``Store.delete_artifact``.

        Raises:
            ArtifactNotFoundError: it is gone already.
            SessionBusyError: it is still being written.
            ReadOnlyError: the session was opened for reading.
        """
        self._engine.ingest.remover.remove(self._id)

    # --- what happened to it ----------------------------------------------------------------------------

    def record(self, kind: str, detail: Mapping[str, object], *, at_once: bool = True) -> None:
        """Add an event to the artifact's history.

        A session that was opened for reading records it, too, unless it cannot be written or lies in no store.

        Args:
            kind: what happened, in one word.
            detail: what there is to say of it; values that JSON can hold. Secrets are taken out by the built-in rules.
            at_once: write it now, whatever ``audit`` says; else with the next batch, its texts cut to 200 characters.

        Raises:
            StorageError: it cannot be written.
        """
        told: object = dict(detail)
        if self._engine.settings.redact and kind != RENDERED:  # which comes out of what is stored
            from spillstore.redaction import DEFAULT  # noqa: PLC0415  # not where it is switched off
            from spillstore.redaction.structures import without_secrets  # noqa: PLC0415  # likewise

            told = without_secrets(told, DEFAULT, {})
        assert isinstance(told, dict)  # as it was
        if kind == RENDERED:
            told["signature"] = self._signature(told)
        if at_once:
            self._engine.events.record(kind, self._id, told)
        else:
            self._engine.audit.add(kind, self._id, told)

    def events(self, kind: str | None = None, *, limit: int = 100) -> list[Event]:
        """What happened to it, newest first. Cost: the events of this artifact.

        Texts that were rendered (``rendered``) are given back as previews, so those that this session did not sign are left out.

        Args:
            kind: only these.
            limit: so many at most.
        """
        most = _whole(limit, "limit", "events()")
        self._engine.audit.flush()
        with self._engine.reader() as rows:
            self._record(rows)
            found = map(infos.event_of, rows.events_of(self._id, kind, most))
        return [event for event in found if event.kind != RENDERED or self._signed(event.detail)]

    def _signature(self, detail: Mapping[str, object]) -> str:
        """What a text that was rendered is known by, since events have no digests and others may write them."""
        said = {name: value for name, value in detail.items() if name != "signature"}
        return self._engine.sign(f"{self._id} {json.dumps(said, sort_keys=True)}".encode())

    def _signed(self, detail: Mapping[str, object]) -> bool:
        return detail.get("signature") == self._signature(detail)

    def reading(
        self, shown: Iterable[bytes], start: int, end: int, *, stream: Stream = "combined"
    ) -> Iterator[bytes]:
        """Hand on what is shown of bytes ``[start, end)``; when all of it was, that is recorded as a ``read``.

        If a tool then prints what was shown here, ``origin`` knows where it is from.

        Args:
            shown: the bytes, or what a reader is shown of them.
            start: the first byte that was asked for.
            end: the byte after the last.
            stream: the view that these mean.

        Raises:
            StorageError: it cannot be recorded.
        """
        algorithm = self._engine.row.digest_algorithm
        digest, given = new_digest(algorithm), 0
        for block in shown:
            digest.update(block)
            given += len(block)
            yield block
        detail: dict[str, object] = {"stream": stream, "start": start, "end": end, "bytes": given}
        detail["digest"] = digest.digest().hex()
        if not self._engine.audit.reading(READ, self._id, detail):
            self.record(READ, {**detail, "outcome": "ok"})

    def origin(self, *, alike: bool = True) -> Origin | None:
        """Where the session holds the same bytes already, or None: another artifact, or what was read of one.

        Both streams count, in the order in which they came; which of them a byte belongs to does not. An artifact with the
        same bytes comes first, then what a ``reading`` has shown. What is said to be the same is read and digested before it
        is named, since others can write what was read when: an artifact that is damaged, that is being written or that has
        lost some is no origin, and neither is one that has met its limit and keeps only the beginning (``stop``). Cost: two
        look-ups; where they find something, reading as much as this artifact has, eight times at most.

        Args:
            alike: whether artifacts with the same bytes count, or only what was read.
        """
        self._engine.audit.flush()
        with self._engine.reader() as rows:
            record = self._record(rows)
        if record.content_digest is None or record.stopped():
            return None
        said = self._said_origins(record, alike=alike)
        return next((origin for origin in said if self._holds(origin, record)), None)

    def _said_origins(self, record: ArtifactRow, *, alike: bool) -> Iterator[Origin]:
        """Where the same bytes may be, a few of each kind; what a read has shown is only what its event says."""
        assert record.content_digest is not None, "who asks has looked"
        if alike:
            with self._engine.reader() as rows:
                names = rows.same_content(record.content_digest, self._id, _ORIGINS)
            yield from (infos.Origin(name, "combined", 0, record.size) for name in names)
        with self._engine.reader() as rows:
            found = rows.events_shown(record.content_digest, _READS)
        said = dict.fromkeys(filter(None, map(_said_origin, found)))  # each once, in their order
        clipped = filter(None, (self._clipped(origin, record.size) for origin in said))
        yield from itertools.islice(clipped, _ORIGINS)

    def _clipped(self, origin: Origin, size: int) -> Origin | None:
        """A range of another artifact without what lies past its end, if that is so large and can stay as it is."""
        try:
            with self._engine.reader() as rows:
                other = self._engine.artifact_row(rows, origin.artifact_id)
        except (ArtifactNotFoundError, IntegrityError):  # deleted since, or damaged
            return None
        end = min(origin.end, other.view_size(view_of(origin.stream)))
        whole = other.state != "open" and other.hole is None and other.artifact_id != self._id
        return dataclasses.replace(origin, end=end) if whole and end - origin.start == size else None

    def _holds(self, origin: Origin, record: ArtifactRow) -> bool:
        """Whether the bytes there are those of this artifact: by reading them."""
        digest = new_digest(self._engine.row.digest_algorithm)
        twin = Artifact(self._engine, origin.artifact_id).unrecorded()
        try:
            for block in twin._chunks(origin.start, origin.end, origin.stream, "raise"):  # noqa: SLF001  # one class
                digest.update(block)
        except (
            ArtifactNotFoundError,
            IntegrityError,
        ):  # deleted since, or damaged, which reading it has told
            return False
        return digest.digest() == record.content_digest

    # --- inside -----------------------------------------------------------------------------------------

    def unrecorded(self) -> Artifact:
        """The same artifact, for who records what it reads in an event of its own: a preview, a search."""
        twin = Artifact(self._engine, self._id)
        twin._sealed = self._sealed
        twin._quiet = True
        return twin

    def _told(
        self, items: Iterator[T], detail: dict[str, object], kind: str, what: str, size_of: Callable[[T], int]
    ) -> Iterator[T]:
        """Hand items on; when they end, or nobody wants more, that is an event."""
        size = 0
        failure: SpillstoreError | None = None
        complete = False
        try:
            for item in items:
                size += size_of(item)
                yield item
            complete = True
        except SpillstoreError as error:
            failure = error
            raise
        finally:
            detail |= {what: size, "complete": complete}
            self._engine.audit.read(kind, self._id, detail, None, failure)

    def _damaged(self, error: IntegrityError) -> None:
        """Tell of damage, in the audit and so in the log."""
        self._engine.audit.damaged(self._id, error)

    def _record(self, rows: Snapshot) -> ArtifactRow:
        if self._sealed is not None:
            return self._sealed
        record = self._engine.artifact_row(rows, self._id)
        if record.state == "sealed":
            self._sealed = record
        return record

    def _blocks(self, start: int, end: int, count: int, stream: str, holes: Holes) -> list[Block]:
        return self._read(stream, holes, lambda ranges: ranges.blocks(start, end, count))

    def _read(self, stream: str, holes: Holes, action: Callable[[RangeReader], T]) -> T:
        """Run ``action`` in one snapshot; a sealed artifact cannot change, so it needs no transaction."""
        view = view_of(stream)
        engine = self._engine
        rows = engine.borrow()
        try:
            if self._sealed is not None:
                try:
                    return action(RangeReader(rows, self._sealed, engine.row.digest_algorithm, view, holes))
                except IntegrityError:
                    before = rows
                    rows = engine.current(rows)
                    if rows is before:
                        raise
            else:
                rows = engine.current(rows)
            with engine.store.together(rows, f"reading {self._id}"):
                record = self._record(rows)
                return action(RangeReader(rows, record, engine.row.digest_algorithm, view, holes))
        except IntegrityError as error:
            # Chunks are missing, too, if the artifact was deleted since its row was read.
            self._sealed = None
            with translated(f"reading {self._id}"):
                engine.artifact_row(rows, self._id)
            self._damaged(error)
            raise
        except SpillstoreError:
            raise
        except Exception as error:
            ours = translation(error, f"reading {self._id}")
            if ours is None:
                raise
            raise ours from error
        finally:
            engine.store.give_back(rows)


class _Raw(io.RawIOBase):
    """Random access for ``Artifact.open``."""

    def __init__(self, artifact: Artifact, stream: str, holes: Holes) -> None:
        self._artifact = artifact
        self._stream: Any = stream
        self._holes: Holes = holes
        with artifact._engine.reader() as rows:  # noqa: SLF001  # one module
            self._size = artifact._record(rows).view_size(view_of(stream))  # noqa: SLF001
        self._position = 0
        self._given = 0
        self._outcome: SpillstoreError | None = None

    def close(self) -> None:
        if not self.closed and not self._artifact._quiet:  # noqa: SLF001  # one module
            detail: dict[str, object] = {"stream": self._stream, "bytes": self._given}
            artifact = self._artifact
            artifact._engine.audit.read("read", artifact._id, detail, None, self._outcome)  # noqa: SLF001  # one module
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise RangeError(f"cannot seek to {base + offset}")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        end = min(self._position + len(view), self._size)
        try:
            blocks = self._artifact._blocks(self._position, end, 1, self._stream, self._holes)  # noqa: SLF001
        except SpillstoreError as error:
            self._outcome = error
            raise
        if not blocks:
            return 0
        block: Block = blocks[0]
        start = max(self._position, block.start)
        data = block.data[start - block.start :][: len(view)]
        view[: len(data)] = data
        self._position = start + len(data)
        self._given += len(data)
        return len(data)


def _said_origin(row: Any) -> Origin | None:
    """What an event says of a read, if it is a read at all; anybody may have written it."""
    try:
        event = infos.event_of(row)
    except IntegrityError:
        return None
    stream, start, end = (event.detail.get(name) for name in ("stream", "start", "end"))
    if event.artifact_id is None or not isinstance(stream, str) or stream not in VIEWS:
        return None
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        return None
    return infos.Origin(event.artifact_id, stream, start, end)  # type: ignore[arg-type]  # one of the views


def info_of(engine: SessionCore, record: ArtifactRow) -> ArtifactInfo:
    """The public form of a row."""
    algorithm = engine.row.digest_algorithm
    hole = record.parsed_hole()
    combined, stdout, stderr = (
        infos.StreamInfo(
            size=record.view_size(view), lines=record.view_lines(view), hole=_hole_of(hole, view)
        )
        for view in VIEWS.values()
    )
    return infos.ArtifactInfo(
        id=record.artifact_id,
        session=engine.row.session_id,
        project=engine.row.project_id,
        source=record.source,
        tool_call_id=record.tool_call_id,
        command=record.command,
        content_type=record.content_type,
        state=record.state,  # type: ignore[arg-type]  # the row was verified, so it is one of the three
        reason=record.reason,
        newline=record.newline,  # type: ignore[arg-type]  # likewise
        size=record.size,
        kept=record.kept,
        received=record.received,
        stored_size=record.stored_size,
        lines=combined.lines,
        chars=record.chars,
        stdout=stdout,
        stderr=stderr,
        digest=None
        if record.content_digest is None
        else f"{algorithm.public_name}:{record.content_digest.hex()}",
        chunks_digest=None
        if record.chunks_digest is None
        else f"{algorithm.public_name}:{record.chunks_digest.hex()}",
        exit_code=record.exit_code,
        created=record.created_us / 1e6,
        ended=None if record.ended_us is None else record.ended_us / 1e6,
        limit=record.size_limit,
        policy=record.policy,
        hole=combined.hole,
        chunks=record.chunks,
        chunk_size=record.chunk_size,
    )


def _hole_of(hole: Hole | None, view: View) -> HoleInfo | None:
    """What a view has lost; None if that is nothing."""
    if hole is None or (span := hole.span(view)).start == span.end:
        return None
    first, last = hole.lines(view)
    return infos.HoleInfo(
        start=span.start, end=span.end, first_line=first, last_line=last, torn=not hole.flags & view.bit
    )


def _whole(value: object, name: str, example: str) -> int:
    """``value`` if it is a whole number; a model sends anything."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise RangeError(f"{name} must be a whole number, not {value!r}; for example {example}")
    return value


def _limit(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidSettingError(f"max_bytes must be a number of bytes, not {value!r}")
    return value
