"""Queries over an artifact: a document, or a document a line; pages of nodes, and where each of them ends.

A document of up to 16 MiB is decoded as a whole; a larger one, or one that breaks off, is gone through in flat memory
(``streaming``). Which of the two forms an artifact has is told by its content type, or by its first line: it is a whole
document, and not the last line. A cursor counts the nodes before it, from the beginning of the document or of a line; so
pages of a large document are paid for from its beginning, those of lines are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import (
    DroppedRangeError,
    NotJSONError,
    QueryLimitError,
    RangeError,
)
from spillstore.info import BadLine, QueryMatch, QueryResult
from spillstore.jsonpath.evaluator import Context, compiled, nodes, normalized, shown
from spillstore.jsonpath.streaming import Far, Reader
from spillstore.model import json_values
from spillstore.model.json_values import WHITESPACE, MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import Stream
    from spillstore.jsonpath.evaluator import Place
    from spillstore.read.byte_source import ByteSource

WHOLE = 16 * 1024 * 1024  # bytes of a document that is decoded at once
LIMIT = 16 * 1024 * 1024  # bytes of a value in a larger one that is
BLOCK = 256 * 1024  # bytes that are read at once
_BAD_LINES = 20  # that a page tells
_HINT_BYTES = 1024 * 1024  # that are looked through for where JSON may begin
_SHOWN = 60
_DEEP = "nested more deeply than can be evaluated (about 900 levels)"
_BANNER = 100  # lines before it that are taken for no part of the document
_LINES_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines",
                          "application/x-jsonlines", "application/json-lines"})  # fmt: skip
_CURSOR = re.compile(r"(combined|stdout|stderr):(document|lines):(\d{1,18})@(\d{1,18})\+(\d{1,18})", re.ASCII)
_BEGINS = re.compile(
    rb'[ \t]*(?:\{[ \t\r]*(?:["}]|$)|\[[ \t\r]*(?:[\[{"\]]|$|(?:-?\d[\d.eE+-]*|true|false|null)[ \t\r]*(?:,|\][ \t\r]*$|$)))'
)


class Query:
    """One query of one view of an artifact, as it is committed now."""

    def __init__(
        self,
        artifact: ByteSource,
        query: str,
        *,
        stream: Stream,
        cursor: str | None,
        lines: bool | None,
        start_line: int,
        seconds: float | None,
    ) -> None:
        self._plan = compiled(query)
        self._artifact = artifact
        self._stream = stream
        self._context = Context(seconds=seconds)
        self._info = artifact.info
        self._size, self._state = artifact.extent(stream)
        self._terminator = self._info.terminator
        self._number = self._skip = 0  # nodes before, in all and in the document that comes first
        self._last_dropped = 0  # line of which a part is gone
        if cursor is None:
            self._start = self._start_of(start_line)
            self.lines = self._has_lines() if lines is None else lines
            return
        match = _CURSOR.fullmatch(cursor)
        if match is None or match[1] != stream or int(match[4]) > self._size:
            raise RangeError(f"{cursor[:_SHOWN]!r} is no cursor of this query; take it from the page before")
        self.lines = match[2] == "lines"
        self._number, self._start, self._skip = int(match[3]), int(match[4]), int(match[5])

    @property
    def before(self) -> int:
        """Nodes before those that come."""
        return self._number

    def page(self, limit: int, max_bytes: int) -> QueryResult:
        """So many nodes, of no more bytes of JSON than that but for the first."""
        matches: list[QueryMatch] = []
        bad, pending = _BadLines(), _BadLines()
        before, total, size = self._number, self._number, 0
        cursor = problem = None
        try:
            for found in self.nodes():
                if isinstance(found, BadLine):
                    pending.add(found)
                    continue
                total = found.number
                if limit:
                    cost = len(json_values.encode(found.value))
                    if len(matches) == limit or (matches and size + cost > max_bytes):
                        cursor = matches[-1].cursor
                        break
                    size += cost
                    matches.append(found)
                bad.join(pending)
        except (NotJSONError, DroppedRangeError, QueryLimitError) as error:
            if not matches:
                raise
            problem = str(error)
            timed_out = isinstance(error, QueryLimitError) and error.seconds is not None
            cursor = matches[-1].cursor if timed_out else None
        if cursor is None:
            bad.join(pending)
        return QueryResult(
            matches=tuple(matches),
            before=before,
            total=total if cursor is None and problem is None else None,
            complete=cursor is None and problem is None,
            cursor=cursor,
            lines=self.lines,
            bad_lines=tuple(bad.first),
            bad_line_count=bad.count,
            problem=problem,
        )

    def nodes(self) -> Iterator[QueryMatch | BadLine]:
        """Every node from the cursor on, and the lines that are no JSON, in order."""
        try:
            yield from self._in_lines() if self.lines else self._in_document()
        except RecursionError:
            raise QueryLimitError(f"{shown(self._plan.text)}, or the document: {_DEEP}") from None

    # --- a document -------------------------------------------------------------------------------------

    def _in_document(self) -> Iterator[QueryMatch]:
        low, high = self._hole()
        end = low if low < high and self._start < high else self._size
        try:
            yield from self._told(self._run(self._start, end), self._start)
        except MalformedError as error:
            if end == self._size or error.at < end:
                raise self._no_json(error) from None
        if end < self._size:
            self._say_dropped(max(low, self._start))

    def _say_dropped(self, at: int) -> None:
        try:
            self._read(at, 1)
        except DroppedRangeError as error:
            low, high = error.dropped_bytes
            raise DroppedRangeError(
                f"the document of {self._info.id} breaks off at byte {low}: bytes {low}-{high} were dropped when it met "
                "its limit, and JSON cannot be read past what is missing; what stands before was looked through",
                dropped_bytes=error.dropped_bytes,
                dropped_lines=error.dropped_lines,
                before=error.before,
                after=error.after,
            ) from None

    def _run(self, start: int, end: int) -> Iterator[tuple[Place, Any]]:
        return self._reader(start, end).run(self._plan.segments, needs_root=self._plan.needs_root)

    def _reader(self, start: int, end: int) -> Reader:
        return Reader(self._read, start, end, self._context, whole=WHOLE, limit=LIMIT, block=BLOCK)

    def _read(self, start: int, size: int) -> bytes:
        return self._artifact.read_bytes(start, start + size, stream=self._stream, max_bytes=size)

    def _told(
        self, found: Iterator[tuple[Place, Any]], start: int, line: int | None = None
    ) -> Iterator[QueryMatch]:
        """Nodes as they are told; those before the cursor are passed over."""
        skipped, self._skip = self._skip, 0
        form = "document" if line is None else "lines"
        for number, (place, value) in enumerate(found, 1):
            if number <= skipped:
                continue
            self._number += 1
            yield QueryMatch(
                path=normalized(place),
                value=value.build() if isinstance(value, Far) else value,
                number=self._number,
                line=line,
                byte=start,
                cursor=f"{self._stream}:{form}:{self._number}@{start}+{number}",
            )

    # --- lines ------------------------------------------------------------------------------------------

    def _in_lines(self) -> Iterator[QueryMatch | BadLine]:
        low, high = self._hole()
        yield from self._lines_between(self._start, min(low, self._size), torn=low < high)
        begin = max(self._start, high)
        if low < high == begin < self._size and self._line_of(begin) <= self._last_dropped:
            yield BadLine(self._line_of(begin), f"its beginning was dropped (bytes {low}-{high})")
            begin = self._end_of_line(begin, self._size)
        if low < high:
            yield from self._lines_between(begin, self._size, torn=False)

    def _lines_between(self, at: int, end: int, *, torn: bool) -> Iterator[QueryMatch | BadLine]:
        """What is found in the lines of ``[at, end)``; ``torn`` says that the last one goes on in what was dropped."""
        number = self._line_of(at) if at < end else 0
        while at < end:
            data = self._read(at, min(BLOCK, end - at))
            if at + len(data) < end:
                data = data[: data.rfind(self._terminator) + 1]
            if not data:  # a line that is longer than a block
                stop = self._end_of_line(at, end)
                cut_off = torn and stop == end and self._read(end - 1, 1) != self._terminator
                yield from self._line(at, stop, None, number, torn=cut_off)
                at, number = stop, number + 1
                continue
            start = 0
            while start < len(data):
                stop = data.find(self._terminator, start) + 1 or len(data)
                line = data[start:stop]
                cut_off = torn and at + stop == end and not line.endswith(self._terminator)
                yield from self._line(at + start, at + stop, line, number, torn=cut_off)
                start, number = stop, number + 1
            at += len(data)

    def _line(
        self, start: int, end: int, data: bytes | None, number: int, *, torn: bool
    ) -> Iterator[QueryMatch | BadLine]:
        """What is found in one line; without ``data`` it is longer than a block."""
        if data is not None and not data.strip(WHITESPACE):
            return
        if torn:
            yield BadLine(number, "its end was dropped")
            return
        self._context.spend(1)
        try:
            if data is None:
                found = self._run(start, end)
            else:
                value = json_values.decode(data)
                self._context.begin(value)
                found = nodes(self._context, value, None, self._plan.segments)
            yield from self._told(found, start, number)
        except MalformedError as error:
            at = error.at if data is None else start + error.at
            yield BadLine(number, f"{error.reason} at byte {at}: {self._excerpt(at, end)}")
        except RecursionError:
            yield BadLine(number, _DEEP)
        except QueryLimitError as error:
            if error.seconds is not None:
                raise
            yield BadLine(number, str(error))

    def _hole(self) -> tuple[int, int]:
        """The bytes of the view that were dropped; nothing, at its end, where none were."""
        hole = self._artifact.info.view(self._stream).hole
        if hole is not None:
            self._last_dropped = hole.last_line
            return hole.start, hole.end
        return self._size, self._size

    # --- where lines are, and what they hold --------------------------------------------------------------

    def _start_of(self, line: int) -> int:
        byte = self._artifact.locate(line=line, stream=self._stream, holes="skip").byte
        if byte >= self._size > 0:
            raise RangeError(f"start_line is {line}, and there are fewer lines; the first is 1")
        return byte

    def _line_of(self, byte: int) -> int:
        return self._artifact.locate(byte=byte, stream=self._stream, holes="skip").line

    def _end_of_line(self, at: int, end: int) -> int:
        """The byte behind the line end that comes next."""
        while at < end:
            data = self._read(at, min(BLOCK, end - at))
            found = data.find(self._terminator)
            if found >= 0:
                return at + found + 1
            at += len(data)
        return end

    def _has_lines(self) -> bool:
        """Whether each line is a document."""
        kind = (self._info.content_type or "").split(";")[0].strip().lower()
        if kind in _LINES_TYPES:
            return True
        try:
            low, _ = self._hole()
            present = low if self._start < low else self._size
            begin, _ = self._reader(self._start, present).behind(self._start)
            next_line = self._line_of(begin) + 1
            end = self._artifact.locate(line=next_line, stream=self._stream, holes="skip").byte
            more = end < present and self._reader(end, present).behind(end)[0] < present
            return more and self._reader(begin, end).is_whole()
        except (DroppedRangeError, RecursionError):
            return False

    # --- what is no JSON --------------------------------------------------------------------------------

    def _no_json(self, error: MalformedError) -> NotJSONError:
        line = self._line_of(error.at)
        where = f"{self._stream} of {self._info.id}" if self._stream != "combined" else self._info.id
        near = self._excerpt(error.at, self._size)
        hints = [f"near {near}"] if near else []
        if error.at >= self._size and self._state != "sealed":
            hints.append(
                "it is still being written" if self._state == "open" else "what printed it was interrupted"
            )
        if "\\x1b" in near:
            hints.append("it is coloured; have it printed without colours")
        begins = self._begins_at(line)
        if begins is not None:
            hints.append(f"JSON may begin at line {begins}: start_line={begins}")
        return NotJSONError(
            f"{where} is no JSON at byte {error.at} of {self._size} (line {line}): {'; '.join([error.reason, *hints])}",
            byte=error.at,
            line=line,
        )

    def _excerpt(self, at: int, end: int) -> str:
        data = self._glance(at, min(_SHOWN, end - at))
        return repr(data.split(b"\n")[0].decode(errors="backslashreplace")) if data else ""

    def _glance(self, start: int, size: int) -> bytes:
        """Bytes for a message, of which some may be missing."""
        end = start + max(0, size)
        return self._artifact.read_bytes(start, end, stream=self._stream, holes="skip", max_bytes=end - start)

    def _begins_at(self, line: int) -> int | None:
        """The first line, behind the one that JSON does not begin with, that looks as if it did."""
        first = self._line_of(self._start)
        if line > first + _BANNER:
            return None
        data = self._glance(self._start, min(_HINT_BYTES, self._size - self._start))
        for number, each in enumerate(data.split(self._terminator), first):
            if number > first and _BEGINS.match(each):
                return number
        return None


class _BadLines:
    """How many there are, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[BadLine] = []

    def add(self, line: BadLine) -> None:
        self.count += 1
        if len(self.first) < _BAD_LINES:
            self.first.append(line)

    def join(self, other: _BadLines) -> None:
        """Take over those of another, which has none then."""
        self.count += other.count
        self.first = [*self.first, *other.first][:_BAD_LINES]
        other.count, other.first = 0, []
