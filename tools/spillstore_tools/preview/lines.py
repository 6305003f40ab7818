"""Lines that know where they stand, and how to be cut.

A line longer than a block is never held whole. Of what it shows in the end a ``LongLine`` keeps the beginning, the bytes
at both ends of its last state (what was drawn behind the last CR), and counts the rest.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, ClassVar

from spillstore_tools.preview.clean import (
    ERASERS,
    Positions,
    Screen,
    clean,
    ended_by_lf,
    joined,
    leading_regionals,
    redrawn,
    shows,
    unescaped,
    whole_cut,
)
from spillstore_tools.preview.clean_stream import settled_length
from spillstore_tools.preview.parts import Gap, Shown, marker_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.parts import Marker, Part

BLOCK = 64 * 1024
_REPEATED = 3  # lines that show the same from which on one stands for all


class Line:
    r"""One line of a view.

    Attributes:
        number: from 1.
        start: its first byte.
        end: the byte after its ending.

    Example:
        >>> line = Line(7, 100, b"\x1b[31mred\x1b[0m\n")
        >>> line.text, line.end, line.prefix(2)
        ('red\n', 113, ('re', 107))
    """

    def __init__(self, number: int, start: int, raw: bytes, terminator: bytes = b"\n") -> None:
        self.number = number
        self.start = start
        self.end = start + len(raw)
        self._raw = ended_by_lf(raw, terminator)

    @property
    def held(self) -> int:
        """About how many bytes of memory it takes."""
        return len(self._raw)

    @functools.cached_property
    def text(self) -> str:
        """Cleaned, with its ending."""
        return clean(self._raw)

    @property
    def chars(self) -> int:
        """Code points of the cleaned line."""
        return len(self.text)

    @property
    def redrawn(self) -> int:
        """Characters that were drawn over or erased."""
        return redrawn(self._raw)

    @property
    def ended(self) -> bool:
        """Whether a line end stands at its end."""
        return self.text.endswith("\n")

    @property
    def complete(self) -> bool:
        """Whether ``text`` is all of it."""
        return True

    @functools.cached_property
    def _positions(self) -> Positions:
        return Positions(self._raw)

    def same_as(self, other: Line) -> bool:
        """Whether both show the same."""
        return self._raw == other._raw or self.text == other.text

    def prefix(self, room: int) -> tuple[str, int]:
        """The longest beginning of at most ``room`` code points that tears nothing, and the byte behind it."""
        if room >= self.chars:
            return self.text, self.end
        index = _cut_down(self._positions, max(0, room))
        return (self.text[:index], self.start + self._positions.offset(index)) if index else ("", self.start)

    def suffix(self, room: int) -> tuple[str, int]:
        """The longest end of at most ``room`` code points that tears nothing, and its first byte."""
        if room >= self.chars:
            return self.text, self.start
        index = _cut_up(self._positions, self.chars - max(0, room))
        if index == 0:  # only possible where ``room`` is the whole
            return self.text, self.start
        return self.text[index:], self.start + self._positions.offset(index)

    def byte_of(self, index: int) -> int:
        """The position of the byte at which code point ``index`` of the cleaned line begins.

        Raises:
            LookupError: something was drawn over there, so that no byte divides the line in two.
        """
        if not self._positions.divides(index):
            raise LookupError(
                f"line {self.number} cannot be divided before character {index}: it was drawn over"
            )
        return self.start + (self._positions.offset(index) if index else 0)

    def clipped(self, room: int, marker: Marker) -> list[Part]:
        """The line within ``room`` code points: two thirds of its beginning, one third of its end, a gap between.

        Where there is no room for the marker it is all there is, unless the line is shorter than that.
        """
        if self.chars <= room and self.complete:  # nearly all of them
            return [Shown(self.text, self.start, self.end)]
        words = marker_room(marker, end=self.end, line=self.number, lines=1, chars=self.chars)
        if self.chars <= max(room, words) and self.complete:
            return [Shown(self.text, self.start, self.end)]
        space = max(0, room - words)
        head, low = self.prefix(space * 2 // 3)
        tail, high = self.suffix(space - len(head)) if space > len(head) else ("", self.end)
        if high <= low:
            low, head = self.start, ""
        gap = self.gap(low, high, self.chars - len(head) - len(tail)).marked(marker)
        ends = (Shown(head, self.start, low), gap, Shown(tail, high, self.end))
        return [part for part in ends if part.end > part.start]

    def gap(self, start: int, end: int, chars: int) -> Gap:
        """A gap inside this line, or all of it."""
        inside = (start, end) != (self.start, self.end)
        return Gap(start, end, self.number, self.number, 0 if inside else 1, chars, inside)


class LongLine(Line):
    """A line that comes in pieces of ``BLOCK`` bytes, counted from its beginning; only the last piece is shorter."""

    def __init__(self, number: int, start: int, terminator: bytes = b"\n") -> None:
        super().__init__(number, start, b"")
        self._terminator = terminator
        self._carry = b""  # what may be the beginning of a character, an escape sequence or a line ending
        self._screen = Screen(BLOCK)
        self._state = _State(start)
        self._ended = False
        self._anew = False  # a CR stands behind the state

    def add(self, piece: bytes, *, last: bool) -> None:
        """The next piece; with the last one comes the line's ending, if it has one."""
        data = self._carry + ended_by_lf(piece, self._terminator)
        at = self.end - len(self._carry)
        self.end += len(piece)
        ending = _ending(data) if last else b""
        settled = len(data) - len(ending) if last else settled_length(data)
        self._carry = data[settled:] if not last else b""
        self._draw(data[:settled], at)
        if ending:
            self._ended = True
            self._state.end(ending, self.end - len(ending))

    def _draw(self, data: bytes, at: int) -> None:
        """Draw the next bytes, none of which is the beginning of what has not ended; of the last state keep both ends."""
        texts = unescaped(data).split("\r")
        states = data.split(b"\r")  # as many, for no escape sequence holds a CR
        moves = self._screen.moves
        drawing = max((number for number, text in enumerate(texts) if shows(text)), default=None)
        for number, (text, state) in enumerate(zip(texts, states, strict=True)):
            self._anew = self._anew or number > 0
            if number == drawing and self._anew:
                erased = text.startswith(ERASERS)
                self._state, self._anew = _State(at, 0 if erased else self._screen.size), False
                moves = self._screen.moves + (erased and self._screen.size > 0)
            self._screen.draw(text, anew=number > 0)
            if not self._anew:
                self._state.add(state, at, moves=self._screen.moves > moves)
            at += len(state) + 1

    @property
    def held(self) -> int:
        """As for a line."""
        return self._screen.held + self._state.held

    def same_as(self, other: Line) -> bool:
        """As for a line; what is not held is not compared."""
        return self is other

    @property
    def chars(self) -> int:
        """Code points of what it shows in the end."""
        return self._screen.size + self._ended

    @property
    def redrawn(self) -> int:
        """Characters that were drawn over or erased."""
        return self._screen.hidden

    @property
    def ended(self) -> bool:
        """Whether a line end stands at its end."""
        return self._ended

    @property
    def complete(self) -> bool:
        """Whether ``text`` is all that it shows."""
        return self._screen.size <= BLOCK

    @property
    def text(self) -> str:
        """All that it shows, if that is no more than a block; else the beginning of it."""
        return self._screen.text + ("\n" if self._ended and self.complete else "")

    def prefix(self, room: int) -> tuple[str, int]:
        """As for a line; no more than what was kept."""
        state, room = self._state, max(0, room)
        if room >= self.chars and self.complete:
            return self.text, self.end
        positions = Positions(state.head)
        index = _cut_down(positions, max(0, min(room, len(positions.text) - 1)))
        if not index or index < state.covered or state.moves:
            return "", self.start
        return positions.text[:index], state.start + positions.offset(index)

    def suffix(self, room: int) -> tuple[str, int]:
        """As for a line; no more than what was kept."""
        state, room = self._state, max(0, room)
        if room >= self.chars and self.complete:
            return self.text, self.start
        start, tail = state.tail
        positions = Positions(tail)
        # Of flags that may have begun before what was kept, nobody knows which halves belong together.
        first = max(1, leading_regionals(positions.text), state.covered - self.chars + len(positions.text))
        index = _cut_up(positions, max(first, len(positions.text) - room))
        if index >= len(positions.text) - self._ended or state.moves:
            return "", self.end
        return positions.text[index:], start + positions.offset(index)

    def byte_of(self, index: int) -> int:
        """Raise: of a line that is not held, only ``prefix`` and ``suffix`` know where characters stand."""
        raise LookupError(
            f"where character {index} of line {self.number} stands is not known: it is not held whole"
        )


class _State:
    """The bytes of what a long line has drawn since its last CR: both ends.

    Attributes:
        start: where they begin.
        covered: characters that stood there before; no cut may stand before all of them are drawn over.
        moves: a backspace or an eraser is among them, so that places inside are not told.
    """

    def __init__(self, start: int, covered: int = 0) -> None:
        self.start = start
        self.covered = covered
        self.moves = False
        self.head = b""
        self._pieces: list[tuple[int, bytes]] = []

    @property
    def held(self) -> int:
        return len(self.head) + sum(len(data) for _, data in self._pieces)

    @property
    def tail(self) -> tuple[int, bytes]:
        """The last pieces, and where they begin."""
        return (self._pieces[0][0] if self._pieces else self.start), b"".join(
            data for _, data in self._pieces
        )

    def add(self, data: bytes, at: int, *, moves: bool) -> None:
        """What comes next; no piece ends in a character or an escape sequence that is not finished."""
        if not data:
            return
        self.moves = self.moves or moves
        if len(self.head) < BLOCK:
            self.head += data
        self._pieces = [*self._pieces[-1:], (at, data)]

    def end(self, ending: bytes, at: int) -> None:
        """Add the line's ending, once."""
        if len(self.head) + self.start == at:
            self.head += ending
        self._pieces.append((at, ending))  # what was overwritten in between belongs to no cut


@dataclasses.dataclass(slots=True)
class Run:
    """A line and those right behind it that show the same.

    Attributes:
        lines: all of them, unless they are more than ``MOST``; then the first and the last.
        count: how many they are.
    """

    MOST: ClassVar[int] = 256

    lines: list[Line]
    count: int = 1

    def add(self, line: Line) -> None:
        """One more; lines come in order, or all of them in reverse."""
        self.count += 1
        self.lines.append(line)
        if self.count > self.MOST:
            del self.lines[1:-1]

    @property
    def chars(self) -> int:
        """Code points of all."""
        return self.count * self.lines[0].chars

    @property
    def first(self) -> Line:
        """The line with the lowest number."""
        return min(self.lines[0], self.lines[-1], key=_number)

    @property
    def last(self) -> Line:
        """The line with the highest number."""
        return max(self.lines[0], self.lines[-1], key=_number)

    def rest(self, marker: Marker) -> Gap | None:
        """The gap that takes the place of all but the first line, where they are three and it is shorter than they are."""
        first, last = self.first, self.last
        if self.count < _REPEATED:
            return None
        chars = (self.count - 1) * first.chars
        gap = Gap(first.end, last.end, first.number + 1, last.number, self.count - 1, chars).marked(marker)
        return gap if len(gap.text) < chars or self.count > self.MOST else None


def runs(lines: Iterable[Line]) -> Iterator[Run]:
    """Lines, those together that follow each other and show the same; in order or in reverse."""
    run: Run | None = None
    for line in lines:
        if run is not None and abs(line.number - run.lines[-1].number) == 1 and line.same_as(run.lines[-1]):
            run.add(line)
            continue
        if run is not None:
            yield run
        run = Run([line])
    if run is not None:
        yield run


def _number(line: Line) -> int:
    return line.number


def _ending(data: bytes) -> bytes:
    return b"\r\n" if data.endswith(b"\r\n") else data[-1:] if data.endswith(b"\n") else b""


def _cut_down(positions: Positions, index: int) -> int:
    """The nearest place from ``index`` down that tears nothing, and at which the line may be divided."""
    index = whole_cut(positions.text, index)
    while index > 0 and not positions.divides(index):
        index = whole_cut(positions.text, index - 1)
    return index


def _cut_up(positions: Positions, index: int) -> int:
    """The nearest place from ``index`` up that tears nothing, and at which the line may be divided."""
    text = positions.text
    last = min(len(text), index + 32)
    while index < len(text) and (not positions.divides(index) or (index <= last and joined(text, index))):
        index += 1
    return index
