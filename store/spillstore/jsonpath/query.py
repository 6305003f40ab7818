"""Queries over an artifact: a document, or a document a line; pages of nodes, and where each of them ends.

A document of up to 16 MiB is decoded as a whole; a larger one, or one that breaks off, is gone through in flat memory
(``lazy_node``). Which of the two forms an artifact has follows from its content type, or from its first line, if that is a whole
document and not the last line. A cursor counts the nodes before it, from the beginning of the document or of a line; so
pages of a large document are paid for from its beginning, those of lines are not.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import (
    DroppedRangeError,
    NotJSONError,
    QueryLimitError,
    RangeError,
)
from spillstore.info import BadLine, QueryMatch, QueryResult
from spillstore.jsonpath.compiler import compiled
from spillstore.jsonpath.context import Context
from spillstore.jsonpath.document import is_document, nodes_of_document
from spillstore.jsonpath.iregexp import shown
from spillstore.jsonpath.lazy_node import LazyNode
from spillstore.jsonpath.nodes import nodes, normalized
from spillstore.jsonpath.queried_view import QueriedView
from spillstore.model import json_values
from spillstore.model.arguments import cursor_mark
from spillstore.model.json_values import WHITESPACE, MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import Stream
    from spillstore.jsonpath.document_reader import DocumentReader
    from spillstore.jsonpath.nodes import Location
    from spillstore.read.byte_source import ByteSource

WHOLE = 16 * 1024 * 1024  # bytes of a document that is decoded at once
_BAD_LINES = 20  # that a page tells
_SHOWN = 60
_DEEP = "nested more deeply than can be evaluated (about 900 levels)"
_LINES_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines",
                          "application/x-jsonlines", "application/json-lines"})  # fmt: skip
_CURSOR = re.compile(
    r"((combined|stdout|stderr):(document|lines):(\d{1,18})@(\d{1,18})\+(\d{1,18}))\.([0-9a-f]{8})", re.ASCII
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
        self._query = compiled(query)
        self._view = QueriedView(artifact, stream)
        self._marked = repr((self._view.info.id, query))
        self._context = Context(seconds=seconds)
        self._number = self._skip = 0  # nodes before, in all and in the document that comes first
        if cursor is None:
            self._start = self._view.start_of(start_line)
            self.lines = self._has_lines() if lines is None else lines
            return
        match = _CURSOR.fullmatch(cursor)
        if match is None or match[2] != stream or int(match[5]) > self._view.size:
            raise RangeError(f"{cursor[:_SHOWN]!r} is no cursor of this query; take it from the page before")
        if match[7] != cursor_mark(match[1], self._marked):
            raise RangeError(
                f"{cursor[:_SHOWN]!r} is no cursor of this query: the artifact and the query must be those of the page before; "
                "without a cursor a query begins anew"
            )
        self.lines = match[3] == "lines"
        self._number, self._start, self._skip = int(match[4]), int(match[5]), int(match[6])

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
            raise QueryLimitError(f"{shown(self._query.text)}, or the document: {_DEEP}") from None

    # --- a document -------------------------------------------------------------------------------------

    def _in_document(self) -> Iterator[QueryMatch]:
        low, high, _ = self._view.hole()
        end = low if low < high and self._start < high else self._view.size
        try:
            yield from self._matches(self._nodes_of(self._start, end), self._start)
        except MalformedError as error:
            if end == self._view.size or error.at < end:
                raise self._view.not_json(error, self._start) from None
        if end < self._view.size:
            self._view.raise_dropped(max(low, self._start))

    def _nodes_of(self, start: int, end: int) -> Iterator[tuple[Location, Any]]:
        return nodes_of_document(self._reader(start, end), self._query, WHOLE)

    def _reader(self, start: int, end: int) -> DocumentReader:
        return self._view.reader(start, end, self._context)

    def _matches(
        self, found: Iterator[tuple[Location, Any]], start: int, line: int | None = None
    ) -> Iterator[QueryMatch]:
        """Nodes in their public form; those before the cursor are passed over."""
        skipped, self._skip = self._skip, 0
        form = "document" if line is None else "lines"
        for number, (location, value) in enumerate(found, 1):
            if number <= skipped:
                continue
            self._number += 1
            cursor = f"{self._view.stream}:{form}:{self._number}@{start}+{number}"
            yield QueryMatch(
                path=normalized(location),
                value=value.build() if isinstance(value, LazyNode) else value,
                number=self._number,
                line=line,
                byte=start,
                cursor=f"{cursor}.{cursor_mark(cursor, self._marked)}",
            )

    # --- lines ------------------------------------------------------------------------------------------

    def _in_lines(self) -> Iterator[QueryMatch | BadLine]:
        low, high, last_dropped = self._view.hole()
        yield from self._lines_between(self._start, min(low, self._view.size), torn=low < high)
        begin = max(self._start, high)
        if low < high == begin < self._view.size and self._view.line_of(begin) <= last_dropped:
            yield BadLine(self._view.line_of(begin), f"its beginning was dropped (bytes {low}-{high})")
            begin = self._view.end_of_line(begin, self._view.size)
        if low < high:
            yield from self._lines_between(begin, self._view.size, torn=False)

    def _lines_between(self, at: int, end: int, *, torn: bool) -> Iterator[QueryMatch | BadLine]:
        """What is found in the lines of ``[at, end)``; ``torn`` says that the last one goes on in what was dropped."""
        number = self._view.line_of(at) if at < end else 0
        while at < end:
            data = self._view.block(at, end)
            if at + len(data) < end:
                data = data[: data.rfind(self._view.terminator) + 1]
            if not data:  # a line that is longer than a block
                stop = self._view.end_of_line(at, end)
                cut_off = torn and stop == end and self._view.read(end - 1, 1) != self._view.terminator
                yield from self._line(at, stop, None, number, torn=cut_off)
                at, number = stop, number + 1
                continue
            start = 0
            while start < len(data):
                stop = data.find(self._view.terminator, start) + 1 or len(data)
                line = data[start:stop]
                cut_off = torn and at + stop == end and not line.endswith(self._view.terminator)
                yield from self._line(at + start, at + stop, line, number, torn=cut_off)
                start, number = stop, number + 1
            at += len(data)

    def _line(
        self, start: int, end: int, data: bytes | None, number: int, *, torn: bool
    ) -> Iterator[QueryMatch | BadLine]:
        """The matches in one line; ``data`` is None for a line longer than a block. A byte order mark before a document is passed over."""
        mark = 0
        if data is not None and data.startswith(BOM_UTF8):
            mark = len(BOM_UTF8)
            data = data[mark:]
        if data is not None and not data.strip(WHITESPACE):
            return
        if torn:
            yield BadLine(number, "its end was dropped")
            return
        self._context.spend(1)
        try:
            if data is None:
                found = self._nodes_of(start, end)
            else:
                value = json_values.decode(data)
                self._context.begin(value)
                found = nodes(self._context, value, None, self._query.segments)
            yield from self._matches(found, start, number)
        except MalformedError as error:
            at = error.at if data is None else start + mark + error.at
            yield BadLine(number, f"{error.reason} at byte {at}: {self._view.excerpt(at, end)}")
        except RecursionError:
            yield BadLine(number, _DEEP)
        except QueryLimitError as error:
            if error.seconds is not None:
                raise
            yield BadLine(number, str(error))

    def _has_lines(self) -> bool:
        """Whether each line is a document."""
        kind = (self._view.info.content_type or "").split(";")[0].strip().lower()
        if kind in _LINES_TYPES:
            return True
        try:
            low, _, _ = self._view.hole()
            present = low if self._start < low else self._view.size
            begin, _ = self._reader(self._start, present).behind(self._start)
            next_line = self._view.line_of(begin) + 1
            end = self._view.byte_of(next_line)
            more = end < present and self._reader(end, present).behind(end)[0] < present
            return more and is_document(self._reader(begin, end))
        except (DroppedRangeError, RecursionError):
            return False


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
