"""What the columns of a table hold: numbers, one of a few words, phrases that differ in their digits, or any text."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

OTHERS = 0.04  # of the cells may be odd
_FEW = 6  # different words in a column of few words
_SHARE = 0.02  # of the rows that each of them must have
_MASKS = 32  # phrases with digits of certain lengths
_SPREAD = 3  # numbers from so many digits to so many more are of any size
_FORM = rb"[-+$]?(\d+)[\d.,:]*(?:[eE][-+]?\d+)?[%KMGTB]?i?B?"
_NUMBER = re.compile(_FORM)
_PLAIN = re.compile(rb"[-+$]?[\d,]+\.?\d*(?:[eE][-+]?\d+)?[%KMGTB]?i?B?")  # no time, no version, no address
_DIGITS = re.compile(rb"\d+")


def is_number(cell: bytes) -> bool:
    """Whether a cell is a number, with a unit perhaps."""
    return _NUMBER.fullmatch(cell) is not None


@dataclasses.dataclass(slots=True)
class Column:
    """What the cells of a column are.

    Attributes:
        name: from the header, if there is one.
        kind: ``number``, ``words``, ``phrases`` (few, digits apart), ``word`` (any, without a blank), or ``text``.
        words: the few words, or the phrases with ``0`` in the place of all digits.
        masks: phrases with ``0`` in the place of each digit, as they stood in the first rows.
        empty: whether a cell may be empty.
        plain: whether its numbers are no times, versions or addresses.
        digits: how many digits a number has before its point, at least and at most; None where that tells nothing.
    """

    name: bytes
    kind: str
    words: list[bytes] = dataclasses.field(default_factory=list)
    masks: list[bytes] = dataclasses.field(default_factory=list)
    empty: bool = False
    plain: bool = False
    digits: tuple[int, int] | None = None

    @property
    def typed(self) -> bool:
        """Whether it holds something that not every cell is."""
        return self.kind not in ("word", "text")

    def relax(self) -> None:
        """Expect any text."""
        self.kind, self.words, self.masks, self.digits = "text", [], [], None

    def fits(self, cell: bytes) -> bool:
        """Whether a cell, without blanks around it, is what the others are."""
        if self.kind == "text" or (not cell and self.empty):
            return True
        if self.kind == "number":
            return is_number(cell)
        if self.kind == "word":
            return bool(cell) and not any(cell.count(blank) for blank in (b" ", b"\t"))
        return (cell if self.kind == "words" else _DIGITS.sub(b"0", cell)) in self.words

    def is_unusual(self, cell: bytes) -> bool:
        """Whether it is a number of more or fewer digits than nearly all others."""
        found = _NUMBER.fullmatch(cell) if self.digits else None
        if found is None or self.digits is None:
            return False
        low, high = self.digits
        return not low <= len(found[1]) <= high

    def pattern(self, text: bytes, by: bytes = b"") -> bytes:
        """A pattern of a cell; ``text`` is that of any, and ``by`` a sign that stands in none."""
        if self.kind == "word":
            return rb"[^ \t\n]++"
        if self.kind == "text":
            return text
        if self.kind == "number":
            inside = self._number(by)
        else:
            digits = rb"\d++" if self.kind == "phrases" else b"0"
            inside = rb"|".join(re.escape(each).replace(b"0", digits) for each in self.words)
        return rb"(?:" + inside + (rb"|" if self.empty else rb"") + rb")"

    def padded(self, width: int, sign: bytes) -> bytes:
        """A pattern of a cell that blanks fill up to so many characters, each of them a ``sign``."""
        wide = b"{%d}" % width
        if not self.typed:
            return sign + wide
        if self.kind == "number":
            inside = [rb"(?=[ ]*+" + self._number(b"") + rb"[ ])[-+$\d.,:eE%KMGTBi ]" + wide]
        else:
            inside = [each for word in self.masks or self.words for each in self._padded(word, width)]
        return rb"(?:" + rb"|".join([*inside, rb"[ ]" + wide] if self.empty else inside or [rb"(?!)"]) + rb")"

    def _padded(self, word: bytes, width: int) -> Iterator[bytes]:
        """A word with blanks behind it, and before it."""
        blanks = width - len(word.decode(errors="replace"))
        if blanks >= 0:
            form = re.escape(word).replace(b"0", rb"\d") if self.masks else re.escape(word)
            pad = b"[ ]{%d}" % blanks
            yield form + pad
            yield pad + form

    def _number(self, by: bytes) -> bytes:
        digits = rb"\d++" if self.digits is None else rb"\d{%d,%d}+(?!\d)" % self.digits
        inner = rb"[\d.:]*+" if by == b"," else rb"[\d.,:]*+"
        return rb"[-+$]?" + digits + inner + rb"(?:[eE][-+]?\d++)?[%KMGTB]?i?B?"

    def __str__(self) -> str:
        name = self.name.decode(errors="replace") or "?"
        if self.kind == "words":
            return f"{name} ({'|'.join(word.decode(errors='replace') for word in self.words)})"
        return f"{name} (number)" if self.kind == "number" and self.plain else name


def column(name: bytes, cells: Sequence[bytes]) -> Column:
    """What a column is, told by its first cells, without blanks around them."""
    empty = not all(cells)
    full = [cell for cell in cells if cell]
    if full and sum(map(is_number, full)) >= (1 - OTHERS) * len(full):
        plain = sum(_PLAIN.fullmatch(cell) is not None for cell in full) >= (1 - OTHERS) * len(full)
        return Column(name, "number", empty=empty, plain=plain, digits=_usual(full))
    if words := _few(full):
        return Column(name, "words", words, empty=empty)
    if any(b" " in cell for cell in full) and (words := _few([_DIGITS.sub(b"0", cell) for cell in full])):
        shapes = (re.compile(rb"\d").sub(b"0", cell) for cell in full if _DIGITS.sub(b"0", cell) in words)
        masks = Counter(shapes)
        return Column(name, "phrases", words, [mask for mask, _ in masks.most_common(_MASKS)], empty=empty)
    return Column(name, "text", empty=empty)


def _few(cells: Sequence[bytes]) -> list[bytes]:
    """The few words that nearly all cells are; none if there are more."""
    words = Counter(cells)
    frequent = [word for word, times in words.most_common() if times > max(1, _SHARE * len(cells))]
    enough = sum(words[word] for word in frequent) >= (1 - OTHERS) * len(cells)
    return frequent if 0 < len(frequent) <= _FEW and enough else []


def _usual(cells: Iterable[bytes]) -> tuple[int, int] | None:
    """How many digits numbers have; None of those that only grow, as counters do, and of those that have many sizes."""
    found = [match for match in map(_NUMBER.fullmatch, cells) if match]
    if any(b"," in match[0] for match in found):
        return None
    values = [int(match[1]) for match in found]
    if all(low < high for low, high in pairwise(values)) or all(low > high for low, high in pairwise(values)):
        return None
    lengths = _frequent([len(match[1]) for match in found])
    if not lengths or max(lengths) - min(lengths) >= _SPREAD:
        return None
    return min(lengths), max(lengths)


def _frequent(lengths: Sequence[int]) -> list[int]:
    return [each for each, times in Counter(lengths).items() if times > max(1, _SHARE * len(lengths))]
