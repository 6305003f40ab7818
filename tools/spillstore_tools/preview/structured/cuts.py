"""Cuts of a text by its structure: the cut itself, how much to keep, where a string may be divided.

A preview that is too long can lose four things: the middles of strings, elements of arrays, members of objects, depth.
Which of them goes first has no right answer, so all four follow from one number, the *level*: it is the room of a
string, and the other limits are fractions of it that reach their smallest values in the order in which a reader misses
them. Length grows with the level but for a few characters of markers, so the largest level that fits is found by
doubling and then halving, which never looks at much more of the text than ends up shown. Sharing the room out from the top,
part by part, would fill it more closely and show equal records at unequal detail.

A cut that would not make the text shorter is not made.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEEPEST = 64  # levels of nesting that are ever looked into; bounds recursion and the passes over one text
SHORTEST = 20  # no marker is this short, so nothing of this length is worth a cut

_FEWEST_MEMBERS = 8
_TWO_ENDS = 8  # the level from which on a last element is shown beside the first
_PER_DEPTH = 16
_PER_ELEMENT = 32
_PER_MEMBER = 4
_FARTHEST = 256  # units in one cluster; more is no script of people, and walking it would be slow

_JOINERS = re.compile("[\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")  # ZWJ, skin tones, tags
_REFERENCE = re.compile(r"\\u([0-9A-Fa-f]{4})|&#x0*([0-9A-Fa-f]+);|&#0*([0-9]+);")
_HIGH = re.compile("[\ud800-\udbff]")
_LOW = re.compile("[\udc00-\udfff]")


class NotStructured(ValueError):  # noqa: N818  # an answer, not a failure: the caller goes on with plain text
    """The text is no JSON or XML: malformed, or refused for the reason in the message."""


@dataclass(frozen=True, slots=True)
class TextCut:
    """A range left out of a text.

    Attributes:
        start: character offset of the first one left out.
        end: the offset after the last.
        text: what stands in its place.
        elements: array items, members or child elements left out; 0 where a string or text was shortened.
    """

    start: int
    end: int
    text: str
    elements: int


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a text is kept.

    Attributes:
        strings: characters of one string or text node.
        first: elements at the start of an array.
        last: elements at its end.
        depth: levels of nesting; the outermost one is 1.
        members: members of an object.
    """

    strings: int
    first: int
    last: int
    depth: int
    members: int

    def at(self, level: int) -> Detail:
        """The part of this detail that a level leaves.

        Example:
            >>> Detail(strings=9999, first=5, last=5, depth=3, members=9999).at(100)
            Detail(strings=100, first=3, last=3, depth=3, members=25)
        """
        ends = max(1, level // _PER_ELEMENT)
        return Detail(
            strings=min(self.strings, level),
            first=min(self.first, ends),
            last=min(self.last, ends if level >= _TWO_ENDS else 0),
            depth=min(self.depth, max(level // _PER_DEPTH, 1 if level else 0)),
            members=min(self.members, max(level // _PER_MEMBER, min(level, _FEWEST_MEMBERS))),
        )

    def omitted(self, number: int) -> tuple[int, int]:
        """Which of so many elements are one run too many; never just one, which could stand there itself.

        Example:
            >>> detail = Detail(strings=9, first=2, last=1, depth=3, members=9)
            >>> detail.omitted(5), detail.omitted(4)
            ((2, 4), (4, 4))
        """
        return (self.first, number - self.last) if number > self.first + self.last + 1 else (number, number)


class Sequences(Protocol):
    """The sequences that must not be divided in the source of a string: escape sequences, character references."""

    def opening(self, text: str, low: int, pos: int) -> int:
        """Where the last such sequence before ``pos`` begins, if it may reach beyond it; else ``pos``."""

    def closing(self, text: str, pos: int) -> int:
        """The end of the sequence or character that begins at ``pos``."""


def apply_cuts(text: str, cuts: Iterable[TextCut]) -> str:
    """The text with every cut's range replaced.

    Args:
        text: the original.
        cuts: disjoint and ascending.

    Example:
        >>> apply_cuts("0123456789", [TextCut(2, 8, "..", 0)])
        '01..89'
    """
    pieces: list[str] = []
    pos = 0
    for cut in cuts:
        pieces += text[pos : cut.start], cut.text
        pos = cut.end
    return "".join([*pieces, text[pos:]])


def largest(text: str, limit: int, asked: Detail, render: Callable[[Detail], list[TextCut]]) -> list[TextCut]:
    """The cuts that bring the text down to the limit and keep the most.

    Args:
        text: the original.
        limit: characters of the result.
        asked: the most that is kept.
        render: the cuts of a detail; called about twice per doubling of what fits.

    Returns:
        The cuts, or the deepest there are if even those are not enough.
    """

    def fits(cuts: list[TextCut]) -> bool:
        return len(text) + sum(len(cut.text) - cut.end + cut.start for cut in cuts) <= limit

    everything = render(asked)
    if fits(everything):
        return everything
    low, best = 0, render(asked.at(0))
    if not fits(best):
        return best
    top = 1 + max(limit, _PER_ELEMENT * max(asked.first, asked.last), _PER_DEPTH * asked.depth)
    high = min(_PER_DEPTH, top)
    while fits(cuts := render(asked.at(high))) and high < top:
        low, best, high = high, cuts, min(2 * high, top)
    while high - low > 1:
        middle = (low + high) // 2
        cuts = render(asked.at(middle))
        if fits(cuts):
            low, best = middle, cuts
        else:
            high = middle
    return best


def shortened(text: str, low: int, high: int, keep: int, sequences: Sequences) -> TextCut | None:
    """The cut that takes the middle out of ``text[low:high]``, or None if that would not make it shorter.

    Args:
        text: where the string stands.
        low: the string's first character.
        high: the position after its last.
        keep: characters to leave, two thirds of them in front; fewer where that would part a character.
        sequences: the sequences that stand for one character there.
    """
    if high - low <= max(keep, SHORTEST):
        return None
    start = _back(text, low, low + keep - keep // 3, sequences)
    end = _forward(text, low, high, high - keep // 3, sequences)
    marker = f"... [{counted(end - start, 'char')} omitted] ..."
    return TextCut(start, end, marker, 0) if len(marker) < end - start else None


def _back(text: str, low: int, pos: int, sequences: Sequences) -> int:
    pos = _boundary(text, low, pos, sequences)
    for _ in range(_FARTHEST):
        if pos <= low:
            return low
        before = _boundary(text, low, pos - 1, sequences)
        if not _joined(text, before, pos, sequences):
            return pos
        pos = before
    return low


def _forward(text: str, low: int, high: int, pos: int, sequences: Sequences) -> int:
    before = _boundary(text, low, pos - 1, sequences)
    pos = sequences.closing(text, before)
    for _ in range(_FARTHEST):
        if pos >= high or not _joined(text, before, pos, sequences):
            return pos
        before, pos = pos, sequences.closing(text, pos)
    return high


def _boundary(text: str, low: int, pos: int, sequences: Sequences) -> int:
    """The nearest place from ``pos`` down that lies in no sequence."""
    start = sequences.opening(text, low, pos)
    return start if start < pos and sequences.closing(text, start) > pos else pos


def _joined(text: str, before: int, pos: int, sequences: Sequences) -> bool:
    """Whether the characters at ``before`` and at ``pos``, right after it, are read as one."""
    left = _character(text[before:pos])
    end = sequences.closing(text, pos)
    right = _character(text[pos:end])
    if _HIGH.match(left) and _LOW.match(right):
        return True
    if _HIGH.match(right):
        pair = right + _character(text[end : sequences.closing(text, end)])
        right = pair.encode("utf-16", "surrogatepass").decode("utf-16", "replace")[0]
    return left == "\u200d" or unicodedata.category(right)[0] == "M" or bool(_JOINERS.match(right))


def _character(unit: str) -> str:
    r"""The character of a unit; other escapes (``\n``, ``&amp;``) join nothing, so their first character will do."""
    match = _REFERENCE.fullmatch(unit)
    if match is None:
        return unit[:1]
    four, hexadecimal, decimal = match.groups()
    return chr(int(decimal) if decimal else int(four or hexadecimal, 16))
