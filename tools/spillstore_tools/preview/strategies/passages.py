"""Where in a long line words stand that tell something, and how much the text around each of them matters.

A line of a log is scored by its beginning. What is longer, a command line with a compiler's message at its end say, is looked at
around the telling words, wherever they stand: a bounded number of them, so that a line of any length takes no longer than reading it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.preview.strategies.actionable import Hints, score
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.lines import Line
from spillstore_tools.preview.text.stream import settled_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.text.long_line import LongLine

BEGINNING = 400  # characters that are looked at in any case
_BEFORE, _BEHIND = 160, 240  # bytes around a word that are looked at
_AT_END = 800  # bytes of the end that are looked at, however many words stand before
_MOST, _MOST_AT_END = 16, 2
_PIECES = ((8, 16), (64, 4), (1 << 62, 1))  # up to this piece of a line, so many words of a piece
_KEPT_BEFORE, _KEPT_BEHIND = 4096, 8192  # bytes around a word that are kept of a line that comes in pieces
_GOES_ON = "\u2026"  # so that no border of a passage is taken for that of a line


class Passage(NamedTuple):
    """A part of a line.

    Attributes:
        points: how much it matters, as ``score`` has it.
        place: the index in the line's UTF-8 of the word that tells.
        text: what was looked at.
    """

    points: float
    place: int
    text: str


class _Places(Hints):
    """Finds where in a line the hints stand."""

    def next(self, text: bytes, start: int) -> int:
        """Where the first hint at or behind a place begins; -1 if there is none."""
        found = self._search.pattern.search(text, start) if self._search is not None else None
        return -1 if found is None else found.start()


_places = functools.cache(_Places)


def best_passage(text: str, most: int = _MOST) -> Passage:
    """The passage of a cleaned line that matters most, the first one of equals; of a short line all of it.

    Args:
        text: the line.
        most: how many words are looked at, and a few more at its end.

    Example:
        >>> best_passage("cc " + "-I/usr/include " * 99 + "a.c:3:1: error: no such name").place
        1496
        >>> best_passage("cc " + "-I/usr/include " * 99).points
        0
    """
    text = text.rstrip("\n")
    start = text[:BEGINNING]
    found = [Passage(score(start), 0, start)]
    if len(text) > BEGINNING:
        found = [*passages(text.encode("utf-8", "replace"), most), *found]
    return max(found, key=lambda passage: passage.points)


def passages(line: bytes, most: int) -> Iterator[Passage]:
    """What stands around the first telling words of cleaned text, ``most`` of them, and around a few at its end."""
    start = 0
    for low, count in ((0, most), (len(line) - _AT_END, _MOST_AT_END)):
        start = max(start, low)
        for _ in range(count):
            place = _places().next(line, start)
            if place < 0:
                return
            yield _around(line, place)
            start = place + _BEHIND


def place_in(text: str) -> int | None:
    """The index of the word in a cleaned line that tells most; None where none tells anything."""
    best = best_passage(text)
    if best.points < 1:
        return None
    place = best.place or max(0, _places().next(best.text.encode("utf-8", "replace"), 0))
    return len(text.encode("utf-8", "replace")[:place].decode("utf-8", "ignore"))


def _around(line: bytes, place: int) -> Passage:
    low, high = max(0, place - _BEFORE), place + _BEHIND
    text = clean(line[low:high])
    text = (f"{_GOES_ON} " if low else "") + text + (f" {_GOES_ON}" if high < len(line) else "")
    return Passage(score(text), place, text)


class LongPassages:
    """The passages of a line that comes in pieces, in flat memory.

    Attributes:
        best: the one that matters most so far.
    """

    def __init__(self) -> None:
        self.best = Passage(0, 0, "")
        self._pieces = 0
        self._before = b""  # the end of the last piece, in which a word may begin

    def add(self, line: LongLine) -> None:
        """Look at what was written to the line last; it is cut around the best passage."""
        at, data, chars = line.written
        most = next(most for pieces, most in _PIECES if self._pieces < pieces)
        if not self._pieces:
            beginning = clean(data[:BEGINNING])
            self._better(Passage(score(beginning), 0, beginning))
        self._pieces += 1
        before, data = self._before, self._before + data
        for each in passages(data, most):
            if self._better(each):
                low = settled_length(data[: max(0, each.place - _KEPT_BEFORE)])
                high = settled_length(data[: each.place + _KEPT_BEHIND])
                stretch = Line(line.number, at - len(before) + low, data[low:high])
                shown = chars - len(clean(before)) + len(clean(data[:low]))
                line.stretch = stretch, shown
        self._before = data[settled_length(data[: max(0, len(data) - _AT_END)]) :]

    def _better(self, passage: Passage) -> bool:
        better = passage.points > self.best.points
        if better:
            self.best = passage
        return better
