"""A preview of lines that are much alike: what they are, the first ones, some from the middle, the last ones."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.parts import Note, length_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.strategies.ends import beginning, ending
from spillstore_tools.preview.strategies.fit import fitted, marker_width, merged, with_marker
from spillstore_tools.preview.strategies.novelty import Novelty
from spillstore_tools.preview.text.clean import clean_length
from spillstore_tools.preview.text.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.ends import End
    from spillstore_tools.preview.strategies.request import Request

_WIDEST = 300  # code points of a line
_SHARE = 0.3  # of the room, for either end
_FEW = 5  # rare lines
WORDS = 900  # code points of a note at most


class Pick(NamedTuple):
    """A line from the middle that may be shown, and the code points before it."""

    line: Line
    chars_before: int
    note: str = ""


class Picker:
    """Makes picks of lines of blocks, which come in order."""

    def __init__(self) -> None:
        self._chars = 0  # before the block
        self._block: Block | None = None

    def begin(self, block: Block) -> None:
        """Go on to the next block."""
        if self._block is not None:
            self._chars += self._block.chars
        elif block.start:
            self._chars = 1  # a byte order mark
        self._block = block

    def pick(self, start: int) -> Pick:
        """The line of the block that begins at this byte of it."""
        block = self._block
        assert block is not None  # ``begin`` came first
        end = block.raw.find(block.terminator, start) + 1 or len(block.raw)
        number = block.first_line + block.raw.count(block.terminator, 0, start)
        before = clean_length(block.raw[:start], block.terminator) if block.counted else 0
        line = Line(number, block.start + start, block.raw[start:end], block.terminator)
        return Pick(line, self._chars + before)


def rows_of(form: bytes) -> Any:
    """A pattern of as many lines of a form as follow each other, for ``odd_lines``; it gives nothing back, so it is fast."""
    return re.compile(rb"(?>(?:" + form + rb")(?:\n|\Z))*+")


def odd_lines(rows: Any, raw: bytes, start: int = 0, *, blank: bool = False) -> Iterator[int]:
    r"""Where the lines begin that have not the form; blank ones count if they are asked for.

    Example:
        >>> list(odd_lines(rows_of(rb"a[0-9]"), b"a1\na2\nb1\n\na3"))
        [6]
    """
    while start < len(raw):
        start = rows.match(raw, start).end()
        if start < len(raw):
            end = raw.find(b"\n", start) + 1 or len(raw)
            if blank or not raw[start:end].isspace():
                yield start
            start = end


def distinct(picks: list[Pick]) -> list[Pick]:
    """The picks that tell something new."""
    novelty = Novelty()
    return [pick for pick in picks if not novelty.known(pick.line)]


def rare(overview: Overview) -> list[Pick]:
    """Lines of kinds that stand hardly anywhere, where they are few."""
    finder = overview.observer
    found = [each for each in finder.best() if each.rare] if isinstance(finder, CandidateFinder) else []
    return [Pick(each.line, each.chars_before) for each in found] if len(found) <= _FEW else []


def excerpts(
    overview: Overview,
    request: Request,
    words: str,
    picks: Iterable[Pick],
    *,
    first: int = 6,
    last: int = 4,
    most: int = 2400,
    widest: int = _WIDEST,
) -> list[Part]:
    """The parts: a note, the first and the last lines, and picks between them, by their numbers.

    Args:
        overview: of the output.
        request: its limit and its markers.
        words: the note, without brackets.
        picks: the lines, those before others that are shown rather.
        first: lines of the beginning at most.
        last: lines of the end at most.
        most: code points of picks at most.
        widest: code points of a pick at most; it takes no more than half of what is left for others, unless it is short.
    """
    note = Note(f"[{words[: min(WORDS, request.limit // 3)]}]\n")
    line_limit = min(request.line_limit or _WIDEST, _WIDEST)
    small = dataclasses.replace(
        request, limit=request.limit - len(note.text), line_limit=line_limit, repeats=True
    )
    chosen = list(picks)

    def attempt(room: int) -> list[Part]:
        head = beginning(overview, int(room * _SHARE), small, most=first)
        tail = ending(overview, int(room * _SHARE), small, head.position, most=last)
        left = min(most, room - head.length - tail.length)
        shown: list[tuple[Pick, list[Part]]] = []
        taken: set[int] = set()
        for pick in chosen:
            if (
                pick.line.number in taken
                or pick.line.start < head.position.byte
                or pick.line.end > tail.position.byte
            ):
                continue
            label = Note(f"{pick.line.number + request.first_line - 1}: ")
            wide = max(line_limit, min(widest, left // 2))
            parts = [label, *pick.line.clipped(wide, small.clip_marker)]
            if pick.note:
                parts.append(Note(pick.note))
            cost = length_of(parts) + marker_width(overview, small)
            if cost <= left:
                left -= cost
                taken.add(pick.line.number)
                shown.append((pick, parts))
        return _joined(overview, small, head, sorted(shown, key=_place), tail)

    return [note, *fitted(overview, small, attempt)]


def _place(shown: tuple[Pick, list[Part]]) -> int:
    return shown[0].line.start


def _joined(
    overview: Overview, request: Request, head: End, shown: Sequence[tuple[Pick, list[Part]]], tail: End
) -> list[Part]:
    parts: list[Part] = list(head.parts)
    place, chars = head.position, head.chars

    def gap(high: Position, count: int) -> None:
        if place.byte < high.byte:
            parts.append(with_marker(overview.gap(place, high, count), overview, request.marker))

    for pick, own in shown:
        line = pick.line
        gap(Position(line.start, line.number), pick.chars_before - chars)
        parts += own
        place, chars = Position(line.end, line.number + 1), pick.chars_before + line.chars
    gap(tail.position, overview.chars - tail.chars - chars)
    return merged([*parts, *tail.parts])
