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
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.text.long_line import LongLine

BEGINNING = 400  # characters that are looked at in any case
_BEFORE, _BEHIND = 160, 240  # bytes around a word that are looked at
_AT_END = 800  # bytes of the end that are looked at, however many words stand before
_MOST, _MOST_AT_END = 16, 2
_PIECES = ((8, 16), (64, 2), (1 << 62, 1))  # up to this piece of a line, so many words of a piece
_WORD, _STRETCH = 64, 4096  # bytes that a word has at most, and that are searched at once
_ALIKE, _KNOWN = 32, 512  # bytes by which passages of one line are told apart, and how many are known
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
        """Where the first hint at or behind a place begins; -1 if there is none. A stretch at a time: most have none."""
        if self._search is None:
            return -1
        for at in range(start, len(text), _STRETCH - _WORD):
            stretch = text[at : at + _STRETCH]
            if any(True for _ in self.lines(stretch, b"\n")):
                found = self._search.pattern.search(stretch)
                if found is not None:
                    return at + int(found.start())
        return -1


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
        data = text.encode("utf-8", "replace")
        found = [*passages(data, most), *passages(data, _MOST_AT_END, max(0, len(data) - _AT_END)), *found]
    return max(found, key=lambda passage: passage.points)


def passages(line: bytes, most: int, start: int = 0, known: set[bytes] | None = None) -> Iterator[Passage]:
    """What stands around the first telling words of cleaned text from a place on, ``most`` of them; of those that are ``known``, nothing."""
    for _ in range(most):
        place = _places().next(line, start)
        if place < 0:
            return
        start = place + _BEHIND
        if known is not None:
            key = line[place : place + _ALIKE].translate(None, b"0123456789")
            if key in known:
                continue
            if len(known) < _KNOWN:
                known.add(key)
        yield _around(line, place)


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
        self._known: set[bytes] = set()
        self._before = b""  # the end of the last piece, in which a word may begin
        self._start = 0  # its first byte

    def add(self, line: LongLine) -> None:
        """Look at what was written to the line last; it is cut around the best passage."""
        at, data, chars = line.written
        most = next(most for pieces, most in _PIECES if self._pieces < pieces)
        if not self._pieces:
            beginning = clean(data[:BEGINNING])
            self.best = Passage(score(beginning), 0, beginning)
        self._pieces += 1
        data = self._before + data
        start, shown = at - len(self._before), chars - len(clean(self._before))
        begin = max(0, len(self._before) - _WORD)
        self._look(line, data, start, shown, passages(data, most, begin, self._known))
        low = max(0, len(data) - _AT_END)
        if b"\x1b" in data or not data.isascii():
            low = settled_length(data[:low])
        self._before, self._start = data[low:], start + low

    def end(self, line: LongLine) -> None:
        """Look at the end of the line."""
        shown = line.chars - line.ended - len(clean(self._before))
        self._look(line, self._before, self._start, shown, passages(self._before, _MOST_AT_END))

    def _look(self, line: LongLine, data: bytes, start: int, shown: int, found: Iterable[Passage]) -> None:
        """Take the best of the passages of bytes that begin at ``start``, which ``shown`` code points precede."""
        for each in found:
            if each.points > self.best.points:
                self.best = each
                low = settled_length(data[: max(0, each.place - _KEPT_BEFORE)])
                high = settled_length(data[: each.place + _KEPT_BEHIND])
                stretch = Line(line.number, start + low, data[low:high])
                line.stretch = stretch, shown + len(clean(data[:low]))
