"""The range of an artifact that a model asks for: lines, bytes, seconds, a page, the tail, or a cursor."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, cast

from spillstore_tools.agent.arguments import ArgumentError, number, unquoted, whole
from spillstore_tools.describe import counted

if TYPE_CHECKING:
    from spillstore import Artifact
    from spillstore.info import Stream
    from spillstore.jsonstring import JSONString

_PAGE_LINES = 2000  # of ``offset`` without ``limit``, as under ``opencode``
_CURSOR = re.compile(r"(combined|stdout|stderr):(\d{1,18})-(\d{1,18})?(:raw)?", re.ASCII)
_EXAMPLE = "get_artifact({}, start_line=1, end_line=100)"
_KINDS = {
    "lines": {"start_line", "end_line"},
    "bytes": {"start_byte", "end_byte"},
    "times": {"start_time", "end_time"},
    "offset and limit": {"offset", "limit"},
    "tail": {"tail"},
}


@dataclasses.dataclass(slots=True)
class Range:
    """Bytes ``[start, end)`` of a stream.

    Attributes:
        stream: the stream.
        start: the first byte.
        end: the byte after the last; None for the end of the stream.
        raw: whether escape sequences are shown.
        first_line: the line that begins at ``start``; None if it is not known.
        notes: what was corrected in the arguments, for the model.
    """

    stream: Stream
    start: int
    end: int | None
    raw: bool
    first_line: int | None = None
    notes: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def of_cursor(cls, cursor: object, called: str) -> Range:
        """The range that a cursor continues.

        Args:
            cursor: from an earlier answer.
            called: the arguments that name the artifact, for the example in the error.

        Raises:
            ArgumentError: it is no cursor of ``get_artifact``.
        """
        match = _CURSOR.fullmatch(unquoted(cursor))
        if match is None:
            raise ArgumentError(
                f"{str(cursor)[:80]!r} is no cursor; take it from the answer before, or begin with "
                + _EXAMPLE.format(called)
            )
        end = None if match[3] is None else int(match[3])
        return cls(cast("Stream", match[1]), int(match[2]), end, bool(match[4]))

    @classmethod
    def of_arguments(
        cls,
        arguments: dict[str, object],
        artifact: Artifact | JSONString,
        stream: Stream,
        called: str,
        *,
        raw: bool,
    ) -> Range:
        """The range that the arguments of a call name, those that were left out not among them.

        Raises:
            ArgumentError: they name two kinds of range, or one past the end.
        """
        found = cls(stream, 0, None, raw)
        given = [kind for kind, names in _KINDS.items() if names & arguments.keys()]
        if len(given) > 1:
            raise ArgumentError(
                f"give one kind of range, not {' and '.join(given)}; for example {_EXAMPLE.format(called)}"
            )
        if not given:
            return found
        view = artifact.info.view(stream)
        if given == ["bytes"]:
            found._set_bytes(arguments, view.size)
        elif given == ["times"]:
            found._set_times(arguments, cast("Artifact", artifact))  # a string has no times: that was checked
        else:
            found._set_lines(arguments, artifact, view.lines, _EXAMPLE.format(called))
        return found

    def _set_bytes(self, arguments: dict[str, object], size: int) -> None:
        example = "get_artifact(id=..., start_byte=0, end_byte=65536)"
        start = whole("start_byte", arguments.get("start_byte"), least=None, example=example) or 0
        end = whole("end_byte", arguments.get("end_byte"), least=None, example=example)
        if start < 0:
            start = max(0, size + start)
            self.notes.append(f"start_byte counted from the end: {start}")
        if end is not None and end < 0:
            end = max(0, size + end)
            self.notes.append(f"end_byte counted from the end: {end}")
        if end is not None and end < start:
            start, end = end, start
            self.notes.append("start_byte and end_byte were swapped")
        if start >= size > 0:
            raise ArgumentError(f"start_byte={start} is past the end: there are {size} bytes; {example}")
        self.start, self.end = start, end if end is None else min(end, size)

    def _set_times(self, arguments: dict[str, object], artifact: Artifact) -> None:
        example = "get_artifact(id=..., start_time=0, end_time=2.5)"
        start = number("start_time", arguments.get("start_time"), example=example) or 0.0
        end = number("end_time", arguments.get("end_time"), example=example)
        if end is not None and end < start:
            start, end = end, start
            self.notes.append("start_time and end_time were swapped")
        self.start = artifact.locate(time=start, stream=self.stream, holes="skip").byte
        if end is not None:
            self.end = artifact.locate(time=end, stream=self.stream, holes="skip").byte

    def _set_lines(
        self, arguments: dict[str, object], artifact: Artifact | JSONString, lines: int, example: str
    ) -> None:
        first = whole("start_line", arguments.get("start_line"), least=None, example=example)
        last = whole("end_line", arguments.get("end_line"), least=None, example=example)
        if "tail" in arguments:
            count = whole("tail", arguments["tail"], least=1, example="get_artifact(id=..., tail=50)") or 0
            first, last = lines - count + 1, None
        elif arguments.keys() & {"offset", "limit"}:
            paging = "get_artifact(id=..., offset=0, limit=2000)"
            skip = whole("offset", arguments.get("offset"), least=0, example=paging) or 0
            count = whole("limit", arguments.get("limit"), least=1, example=paging) or _PAGE_LINES
            first, last = skip + 1, skip + count
        if first == 0:
            self.notes.append("lines count from 1, so start_line is 1")
        if last == 0:
            last = 1
            self.notes.append("lines count from 1, so end_line is 1")
        if first is not None and first < 0:
            first = max(1, lines + first + 1)
            self.notes.append(f"start_line counted from the end: {first}")
        if last is not None and last < 0:
            last = max(1, lines + last + 1)
            self.notes.append(f"end_line counted from the end: {last}")
        first = max(1, first or 1)
        if last is not None and last < first:
            first, last = max(1, last), first
            self.notes.append("start_line and end_line were swapped")
        if first > lines > 0:
            raise ArgumentError(
                f"line {first} is past the end: there {'is' if lines == 1 else 'are'} {counted(lines, 'line')}; for example {example}"
            )
        begin = artifact.locate(line=first, stream=self.stream, holes="skip")
        self.start, self.first_line = begin.byte, begin.line
        if last is not None and last < lines:
            self.end = artifact.locate(line=last + 1, stream=self.stream, holes="skip").byte
