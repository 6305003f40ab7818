"""The parts of a preview: pieces of output, gaps, and words of our own.

Pieces and gaps of one view follow each other without a break from byte 0 to its end. So the law of notices holds by
construction and can be checked: replace each gap by ``clean`` of its bytes, leave out our own words, and the result is the
whole cleaned output.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

View: TypeAlias = Literal["combined", "stdout", "stderr"]
VIEWS: tuple[View, ...] = ("combined", "stdout", "stderr")


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """Output that is shown: ``clean`` of the bytes ``[start, end)``."""

    text: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True, slots=True)
class Gap:
    """Output that is not shown, and the marker in its place.

    Attributes:
        start: first byte.
        end: the byte after the last.
        first_line: the line that byte ``start`` is in, from 1.
        last_line: the line that the last byte is in.
        lines: lines of which nothing is shown.
        chars: code points of cleaned text, or None if they were not counted.
        inside: whether the gap begins or ends inside a line, so that only bytes are exact.
        elements: array items, members or nodes that are left out, where it was cut by elements.
        text: the marker.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    lines: int
    chars: int | None
    inside: bool = False
    elements: int = 0
    text: str = ""

    def marked(self, marker: Marker) -> Gap:
        """The same gap with its marker."""
        return dataclasses.replace(self, text=marker(self))


@dataclasses.dataclass(frozen=True, slots=True)
class Note:
    """Words that are not output: a notice, a heading."""

    text: str


Part: TypeAlias = Shown | Gap | Note


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """A gap and where its marker stands in a preview.

    Attributes:
        at: code points before the marker.
        length: code points of the marker.
        stream: the view that bytes and lines refer to.
        start, end: bytes ``[start, end)``.
        first_line, last_line: from 1, inclusive.
        lines: whole lines that are missing.
        chars: code points of cleaned text that are missing, or None if they were not counted.
        exact_lines: whether the range is whole lines, so that ``read_lines`` returns it; else only bytes are exact.
        dropped: whether the bytes cannot be read any more, because the artifact was rolled.
    """

    at: int
    length: int
    stream: View
    start: int
    end: int
    first_line: int
    last_line: int
    lines: int
    chars: int | None
    exact_lines: bool
    dropped: bool = False


Marker: TypeAlias = "Callable[[Gap], str]"


def marker_room(marker: Marker, *, end: int, line: int, lines: int, chars: int | None) -> int:
    """Code points that a marker takes at most, for any gap up to this byte and this line.

    The numbers of a gap that begins late have more digits than those of one that begins at 0 and is larger.
    """
    late = Gap(end, 2 * end, line, line, lines, chars)
    return max(len(marker(late)), len(marker(dataclasses.replace(late, inside=True))))


def text_of(parts: Sequence[Part]) -> str:
    """The parts as one text."""
    return "".join(part.text for part in parts)


def length_of(parts: Sequence[Part]) -> int:
    """Code points of the parts."""
    if len(parts) == 1:  # nearly always
        return len(parts[0].text)
    return sum([len(part.text) for part in parts])


def gaps_of(parts: Sequence[Part]) -> list[Gap]:
    """The gaps alone."""
    return [part for part in parts if isinstance(part, Gap)]


def omissions_of(parts: Sequence[Part], stream: View, at: int = 0) -> list[Omission]:
    """The omissions of gaps, by their positions in the text of ``parts``, which begins at ``at``."""
    found = []
    for part in parts:
        if isinstance(part, Gap):
            found.append(
                Omission(
                    at=at,
                    length=len(part.text),
                    stream=stream,
                    start=part.start,
                    end=part.end,
                    first_line=part.first_line,
                    last_line=part.last_line,
                    lines=part.lines,
                    chars=part.chars,
                    exact_lines=not part.inside,
                )
            )
        at += len(part.text)
    return found
