"""Matches of a line that is too long to be searched as a whole: window by window, as it is stored."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore.search import line_blocks
from spillstore.search.line_blocks import character_before
from spillstore.search.match_page import TEXT, match_of
from spillstore.text_scan import chars

if TYPE_CHECKING:
    from spillstore.info import Stream
    from spillstore.read.byte_source import ByteSource
    from spillstore.search.context_lines import ContextLines
    from spillstore.search.line_blocks import Block
    from spillstore.search.match_page import MatchPage
    from spillstore.search.searched_text import SearchedText


@dataclasses.dataclass(slots=True)
class LongLine:
    """The state of the search inside one line: it is searched in windows, or a page ended in it.

    Attributes:
        start: its first byte.
        line: its number; 0 where a cursor does not say it.
        seen: the byte where its search goes on.
        matches: matches that are not counted yet.
        counted: whether the line was counted on a page before.
        first: its first match: the byte, text around it, and where in that.
    """

    start: int
    line: int
    seen: int
    matches: int = 0
    counted: bool = False
    first: tuple[int, bytes, int] | None = None


class LongLineMatcher:
    """Searches windows of long lines: every match counts once, the line once.

    Args:
        artifact: what is searched.
        stream: the view.
        searched: the pattern.
        page: takes what is found.
        context: gives it the lines around.
        invert: lines that do not match are looked for.

    Attributes:
        line: the line that the search is inside of; None between lines.
        has_windows: whether a line took more than one.
    """

    def __init__(
        self,
        artifact: ByteSource,
        stream: Stream,
        searched: SearchedText,
        page: MatchPage,
        context: ContextLines,
        *,
        invert: bool,
    ) -> None:
        self._artifact = artifact
        self._stream = stream
        self._searched = searched
        self._page = page
        self._context = context
        self._invert = invert
        self.line: LongLine | None = None
        self.has_windows = False

    def search(self, window: Block) -> int | None:
        """Search a window; where to go on, if the page is full or its time over."""
        self.has_windows |= not window.last
        if self.line is None:
            self.line = LongLine(window.start, window.line, seen=window.start)
        line = self.line
        line.line = line.line or window.line
        if not self._scan(window, line):
            return line.seen
        if not window.last:
            return None
        self.line = None
        matched = line.counted or line.first is not None
        if not self._invert:
            self._page.matches += line.matches
        if matched is not self._invert and not line.counted:
            self._page.matches += self._invert
            self._count(line)
        return window.end if self._page.full else None

    def leave(self) -> tuple[int | None, bool]:
        """The page ends: count what was found in the line that it is inside of.

        Returns:
            Where that line begins, None for no line; and whether it is counted.
        """
        line = self.line
        if line is None:
            return None, False
        if not self._invert:
            self._page.matches += line.matches
            if line.first is not None and not line.counted:
                self._count(line)
        return line.start, line.counted or line.first is not None

    def _scan(self, window: Block, line: LongLine) -> bool:
        """Note the matches of a window; whether there was time for all of them.

        What it begins or ends with is no beginning or end of the line, so it has a character more at either side.
        """
        terminator = self._searched.terminator
        data = window.data if terminator == b"\n" else window.data.replace(b"\n", b"\x0b")
        if window.last:
            data = data.removesuffix(terminator)
            end = last_start = len(data)
        else:
            end = character_before(data, len(data) - 1)
            # A match that begins in the overlap may be cut off here, and is found whole in the next window.
            last_start = len(data) - line_blocks.OVERLAP - 1
        pattern = self._searched.pattern_for(data[:end])
        position = line.seen - window.start
        while position <= last_start:
            found = pattern.search(data, position, end)
            start, stop = (end + 1, 0) if found is None else found.span()
            if start > last_start:
                break
            if line.first is None:
                low = max(0, start - TEXT // 4)
                line.first = (window.start + start, data[low : low + TEXT], start - low)
            line.matches += 1
            position = stop + (stop == start)
            line.seen = window.start + position
            if self._page.late():
                return False
        if not window.last:
            line.seen = max(line.seen, window.start + last_start + 1)
        return True

    def _count(self, line: LongLine) -> None:
        """Count a line, and put it on the page."""
        self._page.lines += 1
        if not self._page.limit:
            return
        byte, text, place = line.first or (line.start, b"", 0)
        before = self._artifact.chunks(line.start, byte, stream=self._stream, holes="skip")
        column = sum(map(chars, before)) + 1
        match = dataclasses.replace(match_of(line.line, byte, text, place), clipped=True, column=column)
        self._page.found.append(self._context.of(match))
