"""A line of a view: its number, its bytes, and how it is cut to a length."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Gap, Shown, marker_room
from spillstore_tools.preview.text.clean import clean, ended_by_lf, redrawn
from spillstore_tools.preview.text.graphemes import grapheme_boundary, leading_regionals, splits_grapheme
from spillstore_tools.preview.text.offsets import ByteOffsets

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore_tools.preview.parts import Marker, Part

BLOCK = 64 * 1024
_BEGINNING = 60  # code points of a line that are shown where it is cut around what tells
_BEFORE, _BEHIND = 40, 80  # code points around what tells that are wanted at least
_LEAST = 120  # code points of what tells, below which it is cut as any line


class Line:
    r"""One line of a view.

    Attributes:
        number: from 1.
        start: its first byte.
        end: the byte after its ending.
        telling: finds the index of what tells most in a text, for who cuts the line; None where nothing does.

    Example:
        >>> line = Line(7, 100, b"\x1b[31mred\x1b[0m\n")
        >>> line.text, line.end, line.prefix(2)
        ('red\n', 113, ('re', 107))
    """

    telling: Callable[[str], int | None] | None = None

    def __init__(
        self, number: int, start: int, raw: bytes, terminator: bytes = b"\n", *, is_clean: bool = False
    ) -> None:
        """Take a line; ``is_clean`` if it is known to be ASCII without control characters, and LF ends it."""
        self.number = number
        self.start = start
        self.end = start + len(raw)
        self._raw = raw if is_clean else ended_by_lf(raw, terminator)
        # Not a ``cached_property``, which takes a lock and three times as long: a preview has thousands of lines.
        self._text = raw.decode() if is_clean else None

    @property
    def held(self) -> int:
        """About how many bytes of memory the line takes."""
        return len(self._raw)

    @property
    def text(self) -> str:
        """The cleaned line with its ending."""
        text = self._text
        if text is None:
            text = self._text = clean(self._raw)
        return text

    @property
    def chars(self) -> int:
        """Code points of the cleaned line."""
        return len(self.text)

    @property
    def redrawn(self) -> int:
        """Characters of the line that were overwritten or erased."""
        return redrawn(self._raw)

    @property
    def ended(self) -> bool:
        """Whether the line has its ending."""
        return self.text.endswith("\n")

    @property
    def complete(self) -> bool:
        """Whether ``text`` is all of the line."""
        return True

    @functools.cached_property
    def _positions(self) -> ByteOffsets:
        return ByteOffsets(self._raw)

    def same_as(self, other: Line) -> bool:
        """Whether both lines show the same text."""
        return self._raw == other._raw or self.text == other.text

    def prefix(self, room: int) -> tuple[str, int]:
        """The longest beginning of at most ``room`` code points that splits nothing, and the byte behind it."""
        if room >= self.chars:
            return self.text, self.end
        index = cut_down(self._positions, max(0, room))
        return (self.text[:index], self.start + self._positions.offset(index)) if index else ("", self.start)

    def suffix(self, room: int) -> tuple[str, int]:
        """The longest end of at most ``room`` code points that splits nothing, and its first byte."""
        if room >= self.chars:
            return self.text, self.start
        index = cut_up(self._positions, self.chars - max(0, room))
        if index == 0:  # only possible where ``room`` is the whole
            return self.text, self.start
        return self.text[index:], self.start + self._positions.offset(index)

    def byte_of(self, index: int) -> int:
        """The position of the byte at which code point ``index`` of the cleaned line begins.

        Raises:
            LookupError: text was overwritten there, so that no byte divides the line in two.
        """
        if not self._positions.divides(index):
            raise LookupError(
                f"line {self.number} cannot be divided before character {index}: it was overwritten"
            )
        return self.start + (self._positions.offset(index) if index else 0)

    def clipped(self, room: int, marker: Marker) -> list[Part]:
        """The line within ``room`` code points: two thirds of its beginning, one third of its end, a gap between.

        Where what tells most stands between them, a short beginning and what stands around that. Where there is no room for the
        marker, only the marker; the line as it is if that is shorter.
        """
        if len(text := self.text) <= room and self.complete:  # nearly all of them
            return [Shown(text, self.start, self.end)]
        words = marker_room(marker, end=self.end, line=self.number, lines=1, chars=self.chars)
        if self.chars <= max(room, words) and self.complete:
            return [Shown(self.text, self.start, self.end)]
        space = max(0, room - words)
        if (told := self._told) is not None and (parts := self._around(*told, space, words, marker)):
            return parts
        head = self.prefix(space * 2 // 3)
        return self._joined(head, marker, self.suffix(space - len(head[0])) if space > len(head[0]) else None)

    @functools.cached_property
    def _told(self) -> tuple[Line, int, int] | None:
        """A stretch of the line, the code points before it, and the index in it of what tells most; None if nothing does."""
        place = self.telling(self.text) if self.telling is not None else None
        return None if place is None else (self, 0, place)

    @property
    def telling_byte(self) -> int | None:
        """The position of what tells most in it; None if nothing does."""
        if self._told is None:
            return None
        stretch: Line = self._told[0]
        return stretch.start + stretch._positions.offset(self._told[2])

    def _ending(self) -> tuple[str, int]:
        """The line's ending and its first byte."""
        return self.suffix(1) if self.ended else ("", self.end)

    def _joined(
        self, head: tuple[str, int], marker: Marker, tail: tuple[str, int] | None = None
    ) -> list[Part]:
        """Both ends of the line, as ``prefix`` and ``suffix`` give them, and the gap between them."""
        (text, low), (last, high) = head, tail or ("", self.end)
        if high <= low:
            low, text = self.start, ""
        gap = self.gap(low, high, self.chars - len(text) - len(last)).marked(marker)
        ends = (Shown(text, self.start, low), gap, Shown(last, high, self.end))
        return [part for part in ends if part.end > part.start]

    def _around(
        self, stretch: Line, before: int, index: int, space: int, words: int, marker: Marker
    ) -> list[Part]:
        """The line cut around what tells, which stands at ``index`` of a stretch that ``before`` code points precede.

        Nothing where that is shown anyway, or where there is no room for it.
        """
        place = before + index
        if place + _BEHIND <= space * 2 // 3 or place - _BEFORE >= self.chars - space // 3:
            return []
        if place + _BEHIND < space:
            return self._joined(self.prefix(space - 1), marker, self._ending())
        head, low = self.prefix(_BEGINNING)
        low = low if head else self.start
        if place - _BEFORE >= self.chars - space + len(head):
            return self._joined((head, low), marker, self.suffix(space - len(head)))
        room = space - words - 1
        if room < _LEAST:
            return []
        if room - len(head) < _LEAST:
            head, low = "", self.start
        room -= len(head)
        positions = stretch._positions  # another line
        first = max(index - room // 3, leading_regionals(stretch.text), 1 if before else 0)
        first = cut_up(positions, first)
        last = cut_down(positions, min(first + room, len(stretch.text) - stretch.ended))
        start, end = (stretch.start + positions.offset(each) for each in (first, last))
        ending, behind = self._ending()
        if not low < start < end < behind:
            return []
        return [
            *([Shown(head, self.start, low)] if head else []),
            self.gap(low, start, before + first - len(head)).marked(marker),
            Shown(stretch.text[first:last], start, end),
            self.gap(end, behind, self.chars - before - last - len(ending)).marked(marker),
            *([Shown(ending, behind, self.end)] if ending else []),
        ]

    def gap(self, start: int, end: int, chars: int) -> Gap:
        """A gap inside this line, or all of it."""
        inside = (start, end) != (self.start, self.end)
        return Gap(start, end, self.number, self.number, 0 if inside else 1, chars, inside)


def cut_down(positions: ByteOffsets, index: int) -> int:
    """The nearest index from ``index`` down at which a cut splits nothing and the line may be divided."""
    index = grapheme_boundary(positions.text, index)
    while index > 0 and not positions.divides(index):
        index = grapheme_boundary(positions.text, index - 1)
    return index


def cut_up(positions: ByteOffsets, index: int) -> int:
    """The nearest index from ``index`` up at which a cut splits nothing and the line may be divided."""
    text = positions.text
    last = min(len(text), index + 32)
    while index < len(text) and (
        not positions.divides(index) or (index <= last and splits_grapheme(text, index))
    ):
        index += 1
    return index
