"""The matches of one page: how many fit, how many there were, and how long it may take to find them."""

from __future__ import annotations

import time

from spillstore.info import Match

TEXT = 2000  # bytes of a line around its match that are given
CLOCK_EVERY = 64  # matches or lines after which the clock is read


class MatchPage:
    """A page that is being filled.

    Args:
        limit: matching lines that it holds; 0 to count alone, to the end.
        lines: matching lines of the pages before.
        matches: matches in them.
        seconds: after which it is late; None for never.

    Attributes:
        limit: as given.
        timed: whether it can become late.
        lines: matching lines up to here, those of the pages before included.
        matches: matches in them.
        found: the matching lines of this page.
    """

    def __init__(self, limit: int, lines: int, matches: int, seconds: float | None) -> None:
        self.limit = limit
        self.lines = lines
        self.matches = matches
        self.found: list[Match] = []
        self.timed = seconds is not None
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._calls = 0

    @property
    def full(self) -> bool:
        """Whether no more line fits."""
        return bool(self.limit) and len(self.found) >= self.limit

    @property
    def over(self) -> bool:
        """Whether its time is over."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def late(self) -> bool:
        """The same, but that it reads the clock once in ``CLOCK_EVERY`` calls."""
        if self._deadline is None:
            return False
        self._calls += 1
        return self._calls % CLOCK_EVERY == 0 and self.over


def match_of(number: int, byte: int, line: bytes, column: int) -> Match:
    """A matching line, or the part of it around its match.

    Args:
        number: of the line.
        byte: where its first match begins in the view.
        line: its text.
        column: where in that the match begins.
    """
    low = max(0, column - TEXT // 4) if len(line) > TEXT else 0
    while low and line[low] & 0xC0 == 0x80:  # noqa: PLR2004  # inside a character
        low -= 1
    shown = line[low : low + TEXT]
    return Match(
        line=number,
        byte=byte,
        column=len(line[:column].decode(errors="replace")) + 1,
        text=shown.decode(errors="replace"),
        clipped=len(shown) < len(line),
        text_column=len(line[low:column].decode(errors="replace")) + 1,
    )
