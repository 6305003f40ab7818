"""A line that is longer than a block, and never held whole.

Of what it shows in the end the beginning is kept, and the bytes at both ends of its last state, which is what was
written since the last carriage return. The rest is counted.
"""

from __future__ import annotations

import functools

from spillstore_tools.preview.text.clean import ended_by_lf
from spillstore_tools.preview.text.control import ERASERS, decode, has_visible, without_escapes
from spillstore_tools.preview.text.graphemes import leading_regionals
from spillstore_tools.preview.text.lines import BLOCK, Line, cut_down, cut_up
from spillstore_tools.preview.text.offsets import ByteOffsets
from spillstore_tools.preview.text.screen import Screen
from spillstore_tools.preview.text.stream import settled_length


class LongLine(Line):
    """A line that comes in pieces of ``BLOCK`` bytes, counted from its beginning; only the last piece is shorter.

    Attributes:
        written: the position of the bytes that were written last, the bytes, and the code points before them. They end in no
            unfinished character or escape sequence.
        stretch: the bytes that it is cut around, as a line, and the code points before them; what tells is looked for in them.
    """

    def __init__(self, number: int, start: int, terminator: bytes = b"\n") -> None:
        super().__init__(number, start, b"")
        self._terminator = terminator
        self._carry = b""  # the beginning of a character, an escape sequence or a line ending that may go on
        self._screen = Screen(BLOCK)
        self._state = _State(start)
        self._ended = False
        self._end_bytes = 0  # of its ending
        self._returned = False  # a CR stands behind the last state
        self.written = (start, b"", 0)
        self.stretch: tuple[Line, int] | None = None

    def add(self, piece: bytes, *, last: bool) -> None:
        """The next piece; with the last one comes the line's ending, if it has one."""
        data = self._carry + ended_by_lf(piece, self._terminator)
        at = self.end - len(self._carry)
        self.end += len(piece)
        ending = _ending(data) if last else b""
        settled = len(data) - len(ending) if last else settled_length(data)
        self._carry = data[settled:] if not last else b""
        written = data[:settled]
        self.written = (at, written, self._screen.size)
        self._write(written, at)
        if ending:
            self._ended, self._end_bytes = True, len(ending)
            self._state.end(ending, self.end - len(ending))

    def _write(self, data: bytes, at: int) -> None:
        """Write the next bytes, which end in no unfinished character or sequence; keep both ends of the last state."""
        texts = without_escapes(decode(data)).split("\r")
        states = data.split(b"\r")  # as many, for no escape sequence holds a CR
        moves = self._screen.moves
        writing = max((number for number, text in enumerate(texts) if has_visible(text)), default=None)
        for number, (text, state) in enumerate(zip(texts, states, strict=True)):
            self._returned = self._returned or number > 0
            if number == writing and self._returned:
                erased = text.startswith(ERASERS)
                self._state, self._returned = _State(at, 0 if erased else self._screen.size), False
                moves = self._screen.moves + (erased and self._screen.size > 0)
            self._screen.write(text, from_start=number > 0)
            if not self._returned:
                self._state.add(state, at, moves=self._screen.moves > moves)
            at += len(state) + 1

    @property
    def held(self) -> int:
        """As for any line."""
        return self._screen.held + self._state.held

    @functools.cached_property
    def _told(self) -> tuple[Line, int, int] | None:
        """As for any line; None where anything was overwritten."""
        moved = self._screen.moves or self._returned or self._state.start != self.start
        if self.stretch is None or self.telling is None or moved:
            return None
        line, before = self.stretch
        place = self.telling(line.text)
        return None if place is None else (line, before, place)

    def _ending(self) -> tuple[str, int]:
        """As for any line."""
        return ("\n", self.end - self._end_bytes) if self._ended else ("", self.end)

    def same_as(self, other: Line) -> bool:
        """Whether it is the same line; texts that are not held are not compared."""
        return self is other

    @property
    def chars(self) -> int:
        """Code points that the line shows in the end."""
        return self._screen.size + self._ended

    @property
    def redrawn(self) -> int:
        """Characters of the line that were overwritten or erased."""
        return self._screen.hidden

    @property
    def ended(self) -> bool:
        """Whether the line has its ending."""
        return self._ended

    @property
    def complete(self) -> bool:
        """Whether ``text`` is all that the line shows."""
        return self._screen.size <= BLOCK

    @property
    def text(self) -> str:
        """All that the line shows, if that is no more than a block; else its beginning."""
        return self._screen.text + ("\n" if self._ended and self.complete else "")

    def prefix(self, room: int) -> tuple[str, int]:
        """As for any line, but no more than the bytes that were kept."""
        state, room = self._state, max(0, room)
        if room >= self.chars and self.complete:
            return self.text, self.end
        positions = ByteOffsets(state.head)
        index = cut_down(positions, max(0, min(room, len(positions.text) - 1)))
        if not index or index < state.covered or state.moves:
            return "", self.start
        return positions.text[:index], state.start + positions.offset(index)

    def suffix(self, room: int) -> tuple[str, int]:
        """As for any line, but no more than the bytes that were kept."""
        state, room = self._state, max(0, room)
        if room >= self.chars and self.complete:
            return self.text, self.start
        start, tail = state.tail
        positions = ByteOffsets(tail)
        # Where flags may have begun before the bytes that were kept, it is not known which halves belong together.
        first = max(1, leading_regionals(positions.text), state.covered - self.chars + len(positions.text))
        index = cut_up(positions, max(first, len(positions.text) - room))
        if index >= len(positions.text) - self._ended or state.moves:
            return "", self.end
        return positions.text[index:], start + positions.offset(index)

    def byte_of(self, index: int) -> int:
        """Raise LookupError: where characters stand is known only at both ends, by ``prefix`` and ``suffix``."""
        raise LookupError(
            f"where character {index} of line {self.number} stands is not known: it is not held whole"
        )


class _State:
    """Both ends of the bytes that a long line has written since its last CR.

    Attributes:
        start: the first byte.
        covered: characters that stood there before; no cut may stand before all of them are overwritten.
        moves: a backspace or an eraser is among them, so that no offset inside is known.
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
        """The first byte of the last pieces, and the pieces."""
        return (self._pieces[0][0] if self._pieces else self.start), b"".join(
            data for _, data in self._pieces
        )

    def add(self, data: bytes, at: int, *, moves: bool) -> None:
        """Add bytes, which end in no unfinished character or escape sequence."""
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


def _ending(data: bytes) -> bytes:
    return b"\r\n" if data.endswith(b"\r\n") else data[-1:] if data.endswith(b"\n") else b""
