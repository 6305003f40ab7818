"""A search of a log that goes on while it is looked at: counts that grow, a map of where hits are, the next one and the last.

It begins where the reader is, goes to the end and then on from the beginning. Of hits it keeps how many there are in each of at
most 1,024 equal parts of the artifact, never the hits themselves; the one next to a line is found by searching a part again.

Where hits are many they are counted a block at a time, by the native library, and not looked at one by one, which takes some 30 us for each.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Literal

from spillstore.search.cursor import Cursor
from spillstore.search.searched_text import SearchedText
from spillstore_tools.agent.search_artifact import TextCleaner
from spillstore_tools.preview.text.encoded import encoding_of
from spillstore_tools.viewer.model.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from spillstore.info import Match, SearchResult
    from spillstore_tools.viewer.model.log import Log

_PARTS = 1024
_PART = 64 * 1024  # bytes of the smallest part
_PAGE = 500  # hits that are held at once
_STRETCH = 2 * 1024 * 1024  # bytes: where so many have as many hits as a page, hits are many
_BLOCK = 1024 * 1024  # bytes that are counted at once, and the rest of a line
_LONGEST_BLOCK = 4 * 1024 * 1024
_NEAR = (
    4 * 1024,
    32 * 1024,
    256 * 1024,
)  # bytes before a place in which the hit before it is looked for first
_PAGES_BACK = (64, 8, 1)  # hits that are held while the last one is looked for
_SHORTEST, _LONGEST = (
    0.1,
    1.0,
)  # seconds of a step: the first ones are short, so that the first hits are soon there


class _GivenUpError(Exception):
    """Ends a page of the search that nobody wants any more."""


class Hits:
    """The lines of a log that match a pattern (RE2, as ``spillstore search`` has it), counted a step at a time.

    Args:
        log: what is searched.
        pattern: matched within lines, as a reader sees them.
        ignore_case: whether letters of either case are the same.
        literal: whether the pattern is text.
        start: the byte of the view from which on it is searched first.

    Attributes:
        log, pattern, ignore_case, literal: as given.
        lines: matching lines so far.
        matches: matches in them.
        scanned: bytes that were searched.
        size: bytes that there are to search.

    Raises:
        PatternError: no expression, or one with look-around or back-references; raised by ``run``.
    """

    def __init__(
        self, log: Log, pattern: str, *, ignore_case: bool = False, literal: bool = False, start: int = 0
    ) -> None:
        self.log = log
        self.pattern = pattern
        self.ignore_case = ignore_case
        self.literal = literal
        self.lines = self.matches = self.scanned = 0
        self.size = self._end()
        self._width = _PART
        while self._width * _PARTS < self.size:
            self._width *= 2
        self._counts = array("q", [0]) * (_PARTS + 1)
        # Where the line of each part's first hit begins, -1 where there is none.
        self._firsts = array("q", [-1]) * (_PARTS + 1)
        self._text: SearchedText | None = None
        self._start = log.block_start(min(start, self.size), 0, self.size + 1) if start else 0
        self._done: list[tuple[int, int]] = []  # what was searched: from where to where
        self._steps = Steps(self._work())
        self._is_recorded = False
        self._pages = 0
        self._given_up = False

    @property
    def complete(self) -> bool:
        """Whether all was searched, so that the counts are the totals."""
        return self._steps.done and not self._given_up

    @property
    def progress(self) -> float:
        """How much was searched, from 0 to 1."""
        return 1.0 if self.complete else self.scanned / max(1, self.size)

    def run(self, seconds: float | None = None) -> bool:
        """Search for about so many seconds, up to one more, or to the end; returns whether it is over.

        Of a growing log, it is over when what there was is searched; a later call goes on with what has come.

        Raises:
            PatternError: see the class.
            SpillstoreError: the artifact was deleted, or is damaged.
        """
        if self.complete and self._end() > self.size:
            self._steps = Steps(self._go_on())
        try:
            over = self._steps.run(seconds)
        except _GivenUpError:
            over = True
        if over:
            self._record(complete=self.complete)
        return over

    def cancel(self) -> None:
        """Give it up, soon: the block that is searched now is the last."""
        self._given_up = not self._steps.done

    def map(self, buckets: int) -> list[int]:
        """How many hits were found in each of so many equal parts of the view, by bytes."""
        found = [0] * buckets
        for part, count in enumerate(self._counts):
            if count:
                at = min(part * self._width + self._width // 2, self.size - 1)
                found[min(buckets - 1, at * buckets // max(1, self.size))] += count
        return found

    def after(self, line: int) -> int | Literal["searching"] | None:
        """The first hit behind a line, by its number; None if there is none, ``searching`` while that is not known.

        Cost: searching a part of the artifact, 1 MiB of it where that has 1 GiB.
        """
        at = self._byte_of(line + 1)
        for part in range(self._part(at), _PARTS + 1):
            low = max(at, part * self._width)
            if low >= self.size:
                return None
            if self._counts[part]:
                # Of a line that began before the part the hit may be in it.
                begin = str(Cursor(self.log.stream, max(at, self._firsts[part]), 0, 0))
                page = self._page_until(begin, 1, (part + 1) * self._width)
                if page is not None and page.matches:
                    hit = page.matches[0]
                    return hit.line if self._is_searched(low, hit.byte) else "searching"
            if not self._is_searched(low, (part + 1) * self._width):
                return "searching"
        return None

    def before(self, line: int) -> int | Literal["searching"] | None:
        """The last hit before a line, likewise."""
        at = self._byte_of(line)
        for part in range(self._part(at), -1, -1):
            if not self._is_searched(part * self._width, min(at, (part + 1) * self._width)):
                return "searching"
            count, first = self._counts[part], self._firsts[part]
            if 0 < count <= _PAGE:
                page = self._page(str(Cursor(self.log.stream, first, 0, 0)), count, None, None)
                numbers = [match.line for match in page.matches if match.line < line]
                if numbers:
                    return numbers[-1]
            elif count:
                stop = min(at, (part + 1) * self._width)
                if (found := self._last_between(first, stop, line)) is not None:
                    return found
        return None

    # --- inside -----------------------------------------------------------------------------------------

    def _end(self) -> int:
        """Where what can be searched ends: of a growing log, behind its last whole line."""
        log = self.log
        view = log.info.view(log.stream)
        if not log.is_open or not view.lines:
            return view.size
        behind = log.artifact.locate(byte=view.size, stream=log.stream, holes="skip").line
        return view.size if behind > view.lines else log.start_of(behind, 0, view.size)

    def _part(self, byte: int) -> int:
        return min(byte // self._width, _PARTS)

    def _byte_of(self, line: int) -> int:
        return self.log.start_of(line, 0, max(self.size, self.log.info.view(self.log.stream).size))

    def _is_searched(self, low: int, high: int) -> bool:
        high = min(high, self.size)
        return low >= high or any(start <= low and high <= end for start, end in self._done)

    def _work(self) -> Generator[float, None, None]:
        yield from self._search(self._start, self.size)
        if self._start:
            yield from self._search(0, self._start)

    def _go_on(self) -> Generator[float, None, None]:
        """What has come since."""
        before, self.size = self.size, self._end()
        while self._width * _PARTS < self.size:
            self._halve()
        yield from self._search(before, self.size)

    def _halve(self) -> None:
        """Parts of twice the size."""
        self._width *= 2
        counts, firsts = self._counts, self._firsts
        self._counts = array("q", [0]) * (_PARTS + 1)
        self._firsts = array("q", [-1]) * (_PARTS + 1)
        for part, (count, first) in enumerate(zip(counts, firsts, strict=True)):
            self._counts[part // 2] += count
            known = self._firsts[part // 2]
            if first >= 0 and not 0 <= known < first:
                self._firsts[part // 2] = first

    def _search(self, start: int, end: int) -> Generator[float, None, None]:
        """Count the hits of lines that begin in ``[start, end)``."""
        log = self.log
        is_end = end >= self.size and not log.is_open
        last_line = None if is_end else log.artifact.locate(byte=end, stream=log.stream, holes="skip").line
        self._done.append((start, start))
        cursor: str | None = str(Cursor(log.stream, start, 0, 0))
        before = 0
        while cursor is not None:
            here = self._done[-1][1]
            seconds = min(_LONGEST, _SHORTEST * 2 ** min(self._pages, 8))
            page = self._page(cursor, _PAGE, seconds, self._look)
            self._pages += 1
            found = [each for each in page.matches if last_line is None or each.line < last_line]
            self._count(found)
            at = min(page.scanned, end)
            if (
                0 < len(found) < len(page.matches)
            ):  # the others stand behind the end, and their matches with them
                self.matches += self._page(cursor, len(found), None, self._look).total_matches - before
            elif found or not page.matches:
                self.matches += page.total_matches - before
            before = page.total_matches
            self.scanned += at - self._done[-1][1]
            self._done[-1] = (start, at)
            yield self.progress
            cursor = page.cursor if at < end else None
            if cursor is not None and len(page.matches) == _PAGE and at - here < _STRETCH:
                at = yield from self._count_many(at, end)
                cursor = str(Cursor(log.stream, at, 0, 0)) if at < end else None
                before = 0
        self._done[-1] = (start, end)
        joined: list[tuple[int, int]] = []
        for low, high in sorted(self._done):
            if joined and low <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
            else:
                joined.append((low, high))
        self._done = joined

    def _count_many(self, start: int, end: int) -> Generator[float, None, int]:
        """Count the hits of whole lines from ``start`` on as long as they are many; returns where that ended."""
        at = start
        while at < end:
            low, many = at, 0
            while at < min(end, low + _STRETCH):
                found = self._counted_block(at, end)
                if found is None:
                    return at
                behind, lines, matches = found
                part = self._part(at)
                if lines and self._firsts[part] < 0:
                    self._firsts[part] = at
                elif lines:
                    self._firsts[part] = min(self._firsts[part], at)
                self._counts[part] += lines
                self.lines += lines
                self.matches += matches
                many += lines
                self.scanned += behind - at
                self._done[-1] = (self._done[-1][0], behind)
                at = behind
                self._look()
                yield self.progress
            if many < _PAGE:
                break
        return at

    def _counted_block(self, at: int, end: int) -> tuple[int, int, int] | None:
        """Where the lines that begin in a part from ``at`` on end, how many match, and how often; None if a search has to tell."""
        log = self.log
        low, high = next((span for span in log.spans() if span[0] <= at < span[1]), (0, 0))
        high = min(high, end)
        if not low <= at < high:
            return None
        behind, _ = log.whole_lines(at, min(at + _BLOCK, (self._part(at) + 1) * self._width, high), high)
        if not at < behind <= at + _LONGEST_BLOCK:
            return None
        if self._text is None:
            self._text = SearchedText(
                self.pattern,
                ignore_case=self.ignore_case,
                literal=self.literal,
                cleaner=TextCleaner(encoding_of(log.artifact, log.stream)),
                terminator=log.info.terminator,
            )
        text = self._text.of(log.artifact.read_bytes(at, behind, stream=log.stream, holes="skip"))
        counts = self._text.counts(text, text, 0, len(text))
        return None if counts is None else (behind, *counts)

    def _last_between(self, first: int, stop: int, line: int) -> int | None:
        """The last hit before ``line`` from ``first`` on, where a line begins, of those before the byte ``stop`` at least."""
        for near in (*_NEAR, stop):
            low = first if stop - near <= first else self.log.block_start(stop - near, first, stop)
            found = self._last_from(low, stop, line)
            if found is not None or low == first:
                return found
        return None

    def _last_from(self, low: int, stop: int, line: int) -> int | None:
        """The same, looked for from a line's beginning on: page by page, the last page in smaller ones."""
        found = None
        cursor = str(Cursor(self.log.stream, low, 0, 0))
        for limit in _PAGES_BACK:
            while (page := self._page_until(cursor, limit, stop)) is not None:
                numbers = [match.line for match in page.matches if match.line < line]
                found = numbers[-1] if numbers else found
                if len(numbers) < limit or page.cursor is None:
                    return found
                cursor = page.cursor
        return found

    def _page_until(self, cursor: str, limit: int, stop: int) -> SearchResult | None:
        """So many hits; None if there are fewer up to the byte ``stop``, or to the end of its block."""

        def look(at: int, _: int) -> None:
            if at >= stop:
                raise _GivenUpError

        try:
            return self._page(cursor, limit, None, look)
        except _GivenUpError:
            return None

    def _count(self, matches: list[Match]) -> None:
        for each in matches:
            part = self._part(each.byte)
            if self._firsts[part] < 0 or each.byte < self._firsts[part]:
                self._firsts[part] = self._byte_of(each.line)
            self._counts[part] += 1
        self.lines += len(matches)

    def _look(self, *_: int) -> None:
        if self._given_up:
            raise _GivenUpError

    def _page(
        self, cursor: str, limit: int, seconds: float | None, look: Callable[[int, int], object] | None
    ) -> SearchResult:
        return self.log.artifact.search(
            self.pattern,
            stream=self.log.stream,
            limit=limit,
            cursor=cursor,
            ignore_case=self.ignore_case,
            literal=self.literal,
            cleaner=TextCleaner(encoding_of(self.log.artifact, self.log.stream)),
            seconds=seconds,
            on_progress=look,
        )

    def _record(self, *, complete: bool) -> None:
        if not self._is_recorded:
            self._is_recorded = True
            detail: dict[str, object] = {"stream": self.log.stream, "lines": self.lines}
            self.log.footprint.record("search", {**detail, "matches": self.matches, "complete": complete})
