"""Search: lines that match a regular expression, in time linear in what is read, a page at a time.

The engine is RE2, which never backtracks; line ends are taken out of every character class (``never_nl``), so a block of
many lines is searched in one call and no match crosses a line. A line above 16 MiB is searched in windows that overlap by
1 MiB, so a match of up to that size is found wherever it stands.

A page ends with a cursor: where the search goes on, and what was counted until there; so the last page, or a search that
only counts, has exact totals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.info import SearchResult
from spillstore.model.records import loss
from spillstore.search import line_blocks, searched_text
from spillstore.search.block_matcher import BlockMatcher
from spillstore.search.context_lines import ContextLines
from spillstore.search.cursor import Cursor
from spillstore.search.line_blocks import LineBlockReader, character_before
from spillstore.search.long_line import LongLine, LongLineMatcher
from spillstore.search.match_page import MatchPage
from spillstore.search.searched_text import SearchedText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.info import Cleaner, Stream
    from spillstore.read.byte_source import ByteSource
    from spillstore.search.line_blocks import Block


class Search:
    """One page of a search.

    Args:
        artifact: sealed or not; or a string in one.
        batches: its bytes; as ``read.iteration.batches``.
        pattern: an RE2 regular expression, matched within lines.
        stream: the view.
        context: lines before and after.
        limit: matching lines of a page; 0 to count alone, to the end.
        cursor: of the page before.
        ignore_case: letters of either case are the same.
        literal: the pattern is text.
        invert: lines that do not match.
        cleaner: what a reader sees of lines; None for stored bytes.
        seconds: time after which the page ends with what it has, that for the pattern included; None for no such limit.
        on_progress: called with the bytes that are searched and those that there are; None for nobody.
        path: where the string stands that is searched; None for an artifact.
    """

    def __init__(
        self,
        artifact: ByteSource,
        batches: Callable[..., Iterator[Any]],
        pattern: str,
        *,
        stream: Stream,
        context: int,
        limit: int,
        cursor: str | None,
        ignore_case: bool,
        literal: bool,
        invert: bool,
        cleaner: Cleaner | None,
        seconds: float | None,
        on_progress: Callable[[int, int], object] | None,
        path: str | None = None,
    ) -> None:
        self._artifact = artifact
        self._stream = stream
        self._on_progress = on_progress
        self._size, _ = artifact.extent(stream)
        where = (artifact.info.id, path)
        self._marked = repr((*where, pattern, ignore_case, literal, invert, cleaner is None))
        self._begin = begin = Cursor.parse(cursor, stream, self._marked, self._size)
        self._page = page = MatchPage(limit, begin.lines, begin.matches, seconds)
        terminator = artifact.info.terminator
        self._searched = searched = SearchedText(
            pattern, ignore_case=ignore_case, literal=literal, cleaner=cleaner, terminator=terminator
        )
        # As of now: more may have gone since the extent was read.
        info = artifact.info
        self._hole = info.view(stream).hole
        self._lost = loss(info.reason, "")
        around = ContextLines(artifact, stream, context, self._size, searched)
        self._long_lines = LongLineMatcher(artifact, stream, searched, page, around, invert=invert)
        if begin.line_start is not None:
            self._long_lines.line = LongLine(begin.line_start, 0, seen=begin.at, counted=begin.line_counted)
        self._blocks = BlockMatcher(searched, page, around, self._long_lines, invert=invert)
        rules = None if invert else searched.rules
        self._reader = LineBlockReader(
            batches, stream, terminator, searched.line_end, self._blocks.prepare, rules
        )

    def run(self) -> SearchResult:
        """The page."""
        page, long_lines = self._page, self._long_lines
        at = self._begin.at
        stopped = False
        for block in self._read():
            stop = long_lines.search(block) if block.window else self._blocks.search(block)
            if stop is not None:
                at, stopped = stop, True
                break
            at = block.end if long_lines.line is None else long_lines.line.seen
            if self._on_progress is not None:
                self._on_progress(at, self._size)
            if page.over:
                stopped = at < self._size
                break
        # Asked first, since it also counts what was found in the line that it is inside of.
        cursor = self._cursor(at) if stopped else None
        return SearchResult(
            matches=tuple(page.found),
            lines=page.lines,
            total_matches=page.matches,
            complete=not stopped,
            scanned=at,
            size=self._size,
            cursor=cursor,
            notes=tuple(self._notes()),
        )

    def _cursor(self, at: int) -> str:
        inside = self._long_lines.leave()
        return Cursor(self._stream, at, self._page.lines, self._page.matches, *inside).marked(self._marked)

    def _notes(self) -> Iterator[str]:
        """Notes on what could not be searched as usual."""
        if self._searched.asks_for_line_ends:
            yield "each line is searched by itself, so nothing matches a line end (\\n): search for one line, with context around it"
        if self._long_lines.has_windows:
            yield f"lines above {line_blocks.LONGEST} bytes were searched in overlapping windows"
        if self._searched.has_uncleaned:
            yield f"lines above {searched_text.CLEANED} bytes were searched as they are stored"
        if self._hole is not None:
            yield f"bytes {self._hole.start}-{self._hole.end} were {self._lost} and could not be searched"

    def _read(self) -> Iterator[Block]:
        """The blocks to search, from the end of the page before on."""
        low, high = (self._size, self._size) if self._hole is None else (self._hole.start, self._hole.end)
        yield from self._between(self._first(), min(low, self._size))
        yield from self._between(max(self._begin.at, high), self._size)

    def _between(self, start: int, end: int) -> Iterator[Block]:
        return self._reader.between(start, end, inside=self._long_lines.line is not None)

    def _first(self) -> int:
        """Where reading begins: inside a line with the character before, which says what ``^`` is not."""
        line, at = self._long_lines.line, self._begin.at
        if line is None or at <= line.start:
            return at
        low = max(line.start, at - line_blocks.LONGEST_CHARACTER)
        before = self._artifact.read_bytes(low, at, stream=self._stream, holes="skip")
        return low + character_before(before, len(before) - 1)
