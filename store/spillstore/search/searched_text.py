"""The form in which stored lines are searched, and its pattern: cleaned or raw, UTF-8 or single bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.search.automaton import counter
from spillstore.search.gram_patterns import gram_rules
from spillstore.search.native_search import finder
from spillstore.search.patterns import asks_for_line_ends, compiled
from spillstore.text_scan import is_utf8, kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import Cleaner
    from spillstore.search.native_search import Finder

CLEANED = 1024 * 1024  # bytes of a line that is cleaned; longer ones are searched as they are stored


class SearchedText:
    """Makes text of stored lines, with LF behind each, and knows which pattern finds something in it.

    Args:
        pattern: an RE2 regular expression, matched within lines.
        ignore_case: letters of either case are the same.
        literal: the pattern is text.
        cleaner: what a reader sees of lines; None for stored bytes.
        terminator: what ends a stored line.

    Attributes:
        pattern: the pattern for text in UTF-8.
        asks_for_line_ends: whether the pattern has line ends in it, which nothing matches.
        rules: what gram filters can tell of matches; None if nothing.
        counter: counts matches where ``finder`` cannot; None if it cannot either.
        line_end: what ends a line of text, of which ``terminator`` may be a part.
        finder: looks for the sequences of bytes that matches hold, faster; None if they are not known.
        has_uncleaned: whether a line was too long to be cleaned.
    """

    def __init__(
        self, pattern: str, *, ignore_case: bool, literal: bool, cleaner: Cleaner | None, terminator: bytes
    ) -> None:
        self.pattern, self._latin = (
            compiled(pattern, ignore_case=ignore_case, literal=literal, latin=latin)
            for latin in (False, True)
        )
        self.rules = gram_rules(pattern, ignore_case=ignore_case, literal=literal, cleaner=cleaner)
        self.finder = finder(pattern, ignore_case=ignore_case, literal=literal)
        self.counter = None if literal else counter(pattern, ignore_case=ignore_case)
        self.asks_for_line_ends = asks_for_line_ends(pattern, literal=literal)
        self.cleaner = cleaner
        self.terminator = terminator
        self.line_end: bytes = getattr(cleaner, "line_end", None) or terminator
        self.has_uncleaned = False

    def of(self, data: bytes) -> bytes:
        """The text of stored lines."""
        if self.cleaner is None:
            return self.as_stored(data)
        if _has_line_above(data, self.line_end, CLEANED):
            self.has_uncleaned = True
            return data
        text = self.cleaner.text(data, self.terminator)
        if not data.endswith((self.terminator, self.line_end)) and (not text or text.endswith(b"\n")):
            return text + b"\n"  # of a last line that shows nothing and has no end, there would be no trace
        return text

    def is_stored(self, data: memoryview) -> bool:
        """Whether the text of any lines between LFs in these bytes is what is stored."""
        return self.terminator == b"\n" and (self.cleaner is None or self.cleaner.is_clean(data))

    def finder_for(self, text: bytes | memoryview) -> Finder | None:
        """What looks for the sequences of bytes that matches in this text hold; None if they are not known."""
        if self.finder is None or not self.finder.pattern.folds or kind(text) in {0, 1}:
            return self.finder
        return None

    def counts(
        self, text: bytes | memoryview, at: int | bytes, low: int, high: int
    ) -> tuple[int, int] | None:
        """Matching lines and matches of a text, which stands at ``[low, high)`` of an address or of bytes; None if RE2 has to tell."""
        finder = self.finder_for(text)
        if finder is not None and finder.pattern.exact:
            return finder.count(at, low, high)
        if self.counter is None or kind(text) not in self.counter.kinds:
            return None
        return self.counter.count(at, low, high)

    def as_stored(self, data: bytes) -> bytes:
        """The text of stored lines that are not cleaned: byte for byte in the same place."""
        return data if self.terminator == b"\n" else data.replace(b"\n", b"\x0b").replace(b"\r", b"\n")

    def pattern_for(self, text: bytes) -> Any:
        """The pattern for a text: for UTF-8, or else for single bytes."""
        return self.pattern if is_utf8(text) else self._latin

    def runs(self, text: bytes) -> Iterator[tuple[int, int, Any]]:
        """Runs of whole lines that are in UTF-8, or are not, and the pattern for each: ``[low, high)``."""
        if is_utf8(text):
            yield 0, len(text), self.pattern
            return
        low = at = 0
        good = True
        for line in text.split(b"\n"):
            is_good = line.isascii() or is_utf8(line)
            if is_good is not good:
                if low < at:
                    yield low, at, self.pattern if good else self._latin
                low, good = at, is_good
            at += len(line) + 1
        if low < len(text):
            yield low, len(text), self.pattern if good else self._latin

    def has_match(self, text: bytes) -> bool:
        """Whether any line of a text matches."""
        return any(pattern.search(text, low, high) for low, high, pattern in self.runs(text))


def _has_line_above(data: bytes, terminator: bytes, size: int) -> bool:
    """Whether a line is longer than that. Most blocks need a few looks: such a line covers a whole half of ``size``."""
    half = size // 2
    if all(data.find(terminator, at, at + half) >= 0 for at in range(0, len(data) - half + 1, half)):
        return False
    return max(map(len, data.split(terminator))) > size
