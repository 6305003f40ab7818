"""Matching lines of a block of whole lines: found in one call of the engine, which no match takes across a line end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.search.line_blocks import Block
from spillstore.search.long_line import LongLine
from spillstore.search.match_page import TEXT, match_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.search.context_lines import ContextLines
    from spillstore.search.long_line import LongLineMatcher
    from spillstore.search.match_page import MatchPage
    from spillstore.search.native_search import Finder, Text
    from spillstore.search.searched_text import SearchedText

_FEW = 8  # lines of a block that are looked at one by one; where more may match, all are looked at together


class BlockMatcher:
    """Searches blocks.

    Args:
        searched: the pattern, and what text is made of lines.
        page: takes what is found.
        context: gives it the lines around.
        long_lines: goes on with a line inside which the time is over.
        invert: lines that do not match are looked for.
    """

    def __init__(
        self,
        searched: SearchedText,
        page: MatchPage,
        context: ContextLines,
        long_lines: LongLineMatcher,
        *,
        invert: bool,
    ) -> None:
        self._searched = searched
        self._page = page
        self._context = context
        self._long_lines = long_lines
        self._invert = invert
        self._only_counts = not page.limit and not invert
        self._known = (-1, 0)  # where a line begins, and its number

    def prepare(self, start: int, line: int, text: Text, first: int, last: int) -> Block:
        """A block of whole lines; without its bytes if nothing in it is looked for, or all is counted. On any thread.

        Args:
            start: where the text begins in the view.
            line: number of the first whole line.
            text: what is stored.
            first: where in it the whole lines begin.
            last: where those end.
        """
        place = (start + first, start + last, line)
        if first == last:
            return Block(*place, b"", b"")
        searched = self._searched
        if not searched.is_stored(text.view[: text.size]):
            lines = text.part(first, last)
            shown = searched.of(lines)
            return self._block(place, lines, shown, self._counts(shown))
        finder = None if self._invert else searched.finder_for(text.view[first:last])
        counts = has_match = None
        if finder is not None and not (finder.pattern.exact and self._only_counts):
            has_match = self._has_match(finder, text, first, last)
        if self._only_counts and has_match is not False:
            counts = searched.counts(text.view[first:last], text.address, first, last)
        if counts is not None or has_match is False:
            return Block(*place, b"", b"", counts=counts)
        lines = text.part(first, last)
        return self._block(place, lines, lines, has_match=has_match)

    def _has_match(self, finder: Finder, text: Text, first: int, last: int) -> bool | None:
        """Whether any of these lines matches; None where a look at the few lines that might cannot tell."""
        for _ in range(_FEW):
            hit = finder.first(text.address, first, last)
            if hit < 0:
                return False if hit == -1 else None
            if finder.pattern.exact:
                return True
            begin, end = text.rfind(b"\n", first, hit) + 1 or first, text.find(b"\n", hit, last) + 1 or last
            if self._searched.has_match(text.part(begin, end)):
                return True
            first = end
        return None

    def _block(
        self,
        place: tuple[int, int, int],
        lines: bytes,
        text: bytes,
        counts: tuple[int, int] | None = None,
        *,
        has_match: bool | None = None,
    ) -> Block:
        """A block; without its bytes if nothing in its text is looked for, or all is counted.

        Args:
            place: its first three fields.
            lines: its bytes.
            text: its lines as they are searched.
            counts: matching lines and matches, where they are known.
            has_match: whether a line matches, where that is known.
        """
        if not self._invert and (counts is not None or not (has_match or self._searched.has_match(text))):
            return Block(*place, b"", b"", counts=counts)
        return Block(*place, lines, text)

    def _counts(self, text: bytes) -> tuple[int, int] | None:
        """Matching lines and matches, where nothing else is looked for and they can be counted without RE2."""
        return self._searched.counts(text, text, 0, len(text)) if self._only_counts else None

    def search(self, block: Block) -> int | None:
        """Search a block; where to go on, if the page is full or its time over."""
        text, counts = block.text, block.counts
        if text is None:  # not prepared, so not counted either
            text = self._searched.of(block.data)
            counts = self._counts(text)
        if counts is not None:
            lines, matches = counts
            self._page.lines += lines
            self._page.matches += matches
            return None
        lines_of = _BlockLines(block, text, self._searched)
        run = self._other_lines if self._invert else self._matching_lines
        if self._only_counts and not self._page.timed and self._searched.finder is not None:
            run = self._counted_lines
        for low, high, pattern in self._searched.runs(text):
            stop = run(lines_of, low, high, pattern)
            if stop is not None:
                return stop
        return None

    def _matching_lines(self, lines: _BlockLines, position: int, high: int, pattern: Any) -> int | None:
        """Take the matching lines of ``[position, high)``, which is in one encoding."""
        text, page = lines.text, self._page
        while position < high:
            found = pattern.search(text, position, high)
            if found is None or ((hit := found.start()) == high and text.endswith(b"\n", 0, high)):
                break
            begin = text.rfind(b"\n", 0, hit) + 1
            position = text.find(b"\n", hit, high) + 1 or high
            count, left = self._matches_in(pattern, text, found, position, may_stop=lines.as_stored)
            if left is not None:
                self._long_lines.line = self._left_inside(
                    lines.block, text, begin, hit, position, left, count
                )
                return lines.block.start + left
            page.lines += 1
            page.matches += count
            self._take(lines, begin, hit)
            if page.full or page.late():
                return lines.behind(begin)
        return None

    def _counted_lines(self, lines: _BlockLines, position: int, high: int, pattern: Any) -> None:
        """Count what ``_matching_lines`` would, in half the time: for patterns that match nothing empty, where nobody waits."""
        text, page = lines.text, self._page
        line_end = position
        for found in pattern.finditer(text, position, high):
            start = found.start()
            if start >= line_end:
                page.lines += 1
                line_end = text.find(b"\n", start, high) + 1 or high
            page.matches += 1

    def _other_lines(self, lines: _BlockLines, position: int, high: int, pattern: Any) -> int | None:
        """Take the lines of ``[position, high)`` that do not match."""
        text, page = lines.text, self._page
        while position < high:
            found = pattern.search(text, position, high)
            hit = high if found is None else found.start()
            first = text.rfind(b"\n", 0, hit) + 1 if found is not None else high
            for begin in _line_starts(text, position, first):
                page.lines += 1
                page.matches += 1
                self._take(lines, begin, begin)
                if page.full or page.late():
                    return lines.behind(begin)
            position = text.find(b"\n", hit, high) + 1 or high
        return None

    def _left_inside(
        self, block: Block, text: bytes, begin: int, hit: int, end: int, left: int, count: int
    ) -> LongLine:
        """A line whose matches could not all be counted in time; ``left`` is where that goes on."""
        low = max(begin, hit - TEXT // 4)
        shown = text[low : min(end, low + TEXT)].rstrip(b"\n")
        return LongLine(
            block.start + begin,
            self._line_of(block, begin),
            seen=block.start + left,
            matches=count,
            first=(block.start + hit, shown, hit - low),
        )

    def _matches_in(
        self, pattern: Any, text: bytes, found: Any, line_end: int, *, may_stop: bool
    ) -> tuple[int, int | None]:
        """Matches of a line, from its first one on; and where the time was over, if it may stop there."""
        count = 0
        ends = line_end - (text[line_end - 1 : line_end] == b"\n")
        while found is not None:
            start, end = found.span()
            if start >= line_end or (count and start == end == ends < line_end):
                break  # of the next line, or nothing in front of this one's end
            count += 1
            position = end if end > start else end + 1
            if position >= line_end:
                break
            if may_stop and self._page.late():
                return count, position
            found = pattern.search(text, position, line_end)
        return count, None

    def _take(self, lines: _BlockLines, begin: int, hit: int) -> None:
        """Put a line on the page; ``begin`` and ``hit`` are in the text."""
        if not self._page.limit:
            return
        block, text = lines.block, lines.text
        end = text.find(b"\n", begin)
        line = text[begin : end if end >= 0 else len(text)]
        column = hit - begin
        if lines.as_stored:
            start, offset = begin, hit
        else:
            start, stop = lines.stored(begin)
            offset = start + self._offset(block.data[start:stop], line, column)
        match = match_of(self._line_of(block, start), block.start + offset, line, column)
        self._page.found.append(self._context.of_block(match, block, text, begin))

    def _offset(self, stored: bytes, line: bytes, column: int) -> int:
        """The byte of a stored line that shows a place in its text."""
        cleaner = self._searched.cleaner
        if not column or cleaner is None or stored[:column] == line[:column]:
            return column
        return cleaner.offset(stored, self._searched.terminator, len(line[:column].decode(errors="replace")))

    def _line_of(self, block: Block, start: int) -> int:
        """The number of the line that begins at a place in a block; counted on from the one before in it."""
        known, line = self._known
        if not block.start <= known <= block.start + start:
            known, line = block.start, block.line
        line += block.data.count(self._searched.terminator, known - block.start, start)
        self._known = (block.start + start, line)
        return line


class _BlockLines:
    """The lines of a block as text, and where each is in the stored bytes.

    Attributes:
        as_stored: whether the text is the stored bytes.
    """

    def __init__(self, block: Block, text: bytes, searched: SearchedText) -> None:
        self.block = block
        self.text = text
        self.as_stored = text is block.data
        self._line_end = searched.line_end
        self._starts: list[int] = []

    def stored(self, begin: int) -> tuple[int, int]:
        """Where the line that begins there in the text begins and ends in the stored bytes."""
        data, starts = self.block.data, self._starts
        if not starts:
            starts.append(0)
            while (at := data.find(self._line_end, starts[-1])) >= 0:
                starts.append(at + len(self._line_end))
        number = self.text.count(b"\n", 0, begin)
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(data)

    def behind(self, begin: int) -> int:
        """The byte of the view behind a line."""
        if self.as_stored:
            return self.block.start + (self.text.find(b"\n", begin) + 1 or len(self.text))
        return self.block.start + self.stored(begin)[1]


def _line_starts(text: bytes, start: int, end: int) -> Iterator[int]:
    """Where the lines that begin in ``[start, end)`` do."""
    while start < end:
        yield start
        start = text.find(b"\n", start) + 1 or len(text)
