"""Lines that know where they stand, and how to be cut.

A line longer than a block is never held whole. Of what it shows in the end (the state after its last overwrite) a
``LongLine`` keeps the beginning and the end, and counts the rest.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from spillstore_tools.preview.clean import (
    STRING_LIMIT,
    Positions,
    clean,
    erased,
    joined,
    unerased,
    whole_cut,
)
from spillstore_tools.preview.parts import Gap, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.parts import Marker, Part

BLOCK = 64 * 1024
_HOLD = 1024 * 1024
_UNFINISHED = re.compile(
    rb"""
      (?:\x1b[\]PX^_]|\xc2[\x90\x98\x9d-\x9f]) (?:(?!\xc2\x9c)[^\x07\x1b\n])* \x1b? \Z
    | (?:\x1b\[|\xc2\x9b) [0-?]{0,256} [ -/]{0,16} \Z
    | \x1b [ -/]{0,16} \Z
    """,
    re.VERBOSE,
)


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
        self._raw = raw
        self._terminator = terminator

    @functools.cached_property
    def text(self) -> str:
        """Cleaned, with its ending."""
        return clean(self._raw, self._terminator)

    @property
    def chars(self) -> int:
        """Code points of the cleaned line."""
        return len(self.text)

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
        return Positions(self._raw, self._terminator)

    def prefix(self, room: int) -> tuple[str, int]:
        """The longest beginning of at most ``room`` code points that tears nothing, and the byte behind it."""
        if room >= self.chars:
            return self.text, self.end
        index = whole_cut(self.text, max(0, room))
        return (self.text[:index], self.start + self._positions.offset(index)) if index else ("", self.start)

    def suffix(self, room: int) -> tuple[str, int]:
        """The longest end of at most ``room`` code points that tears nothing, and its first byte."""
        if room >= self.chars:
            return self.text, self.start
        index = _cut_up(self.text, self.chars - max(0, room))
        if index == 0:  # only possible where ``room`` is the whole
            return self.text, self.start
        return self.text[index:], self.start + self._positions.offset(index)

    def byte_of(self, index: int) -> int:
        """The position of the byte at which code point ``index`` of the cleaned line begins."""
        return self.start + (self._positions.offset(index) if index else 0)

    def clipped(self, room: int, marker: Marker) -> list[Part]:
        """The line within ``room`` code points: two thirds of its beginning, one third of its end, a gap between."""
        if self.chars <= room and self.complete:
            return [Shown(self.text, self.start, self.end)]
        whole = self.gap(self.start, self.end, self.chars)
        space = max(0, room - len(marker(whole)))
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
        super().__init__(number, start, b"", terminator)
        self._carry = b""  # what may be the beginning of a character, an escape sequence or a line ending
        self._state = self._shown = _State(start)

    def add(self, piece: bytes, *, last: bool) -> None:
        """The next piece; with the last one comes the line's ending, if it has one."""
        data, at = self._carry + piece, self.end - len(self._carry)
        self.end += len(piece)
        ending = _ending(data, self._terminator) if last else b""
        settled = len(data) - len(ending) if last else _settled(data)
        self._carry = b"" if last else data[settled:]
        states = [data[:settled]] if self._terminator == b"\r" else data[:settled].split(b"\r")
        for index, state in enumerate(states):
            if index:
                self._overwrite(at)
            self._state.add(state, at)
            at += len(state) + 1
        if last:
            self._overwrite(self.end)
            self._shown.end(ending, self.end - len(ending))

    def _overwrite(self, at: int) -> None:
        if self._state.chars:
            self._shown = self._state
        self._state = _State(at)

    def byte_of(self, index: int) -> int:
        """As for a line."""
        return self.prefix(index)[1]

    @property
    def chars(self) -> int:
        """Code points of what it shows in the end."""
        return self._shown.chars

    @property
    def ended(self) -> bool:
        """Whether a line end stands at its end."""
        return self._shown.ended

    @property
    def complete(self) -> bool:
        """Whether ``text`` is all that it shows."""
        return self._shown.whole

    @property
    def text(self) -> str:
        """All that it shows, if that is no more than a block; else the beginning of it."""
        return self._shown.text

    def prefix(self, room: int) -> tuple[str, int]:
        """As for a line; no more than what was kept."""
        shown = self._shown
        if room >= shown.chars and shown.whole:
            return shown.text, self.end
        positions = Positions(shown.head)
        index = whole_cut(positions.text, min(max(0, room), len(positions.text)))
        if not index or shown.erases:
            return "", self.start
        return positions.text[:index], shown.start + positions.offset(index)

    def suffix(self, room: int) -> tuple[str, int]:
        """As for a line; no more than what was kept."""
        shown = self._shown
        if room >= shown.chars and shown.whole:
            return shown.text, self.start
        start, tail = shown.tail
        positions = Positions(tail, self._terminator)
        index = _cut_up(positions.text, max(1, len(positions.text) - max(0, room)))
        if index >= len(positions.text) - shown.ended or shown.erases:
            return "", self.end
        return positions.text[index:], start + positions.offset(index)


class _State:
    """What a long line shows since its last overwrite: both ends, and how much it is."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.chars = 0
        self.text = ""  # all of it while that is less than a block
        self.erases = False  # a backspace is in it, so that places inside it are not told
        self.ended = False
        self.head = b""
        self._pieces: list[tuple[int, bytes]] = []

    @property
    def whole(self) -> bool:
        return self.chars == len(self.text)

    @property
    def tail(self) -> tuple[int, bytes]:
        """The last pieces, and where they begin."""
        return self._pieces[0][0], b"".join(data for _, data in self._pieces)

    def add(self, data: bytes, at: int) -> None:
        if not data:
            return
        text = unerased(data)
        if self.whole and self.chars < BLOCK:
            self.text = erased(self.text + text)
            self.chars = len(self.text)
        else:
            self.chars += len(erased(text))
        self.erases = self.erases or "\b" in text
        if len(self.head) < BLOCK:
            self.head += data
        self._pieces = [*self._pieces[-1:], (at, data)]

    def end(self, ending: bytes, at: int) -> None:
        """Add the line's ending, once."""
        if not ending:
            return
        self.ended = True
        self.text += "\n" if self.whole else ""
        self.chars += 1
        if len(self.head) + self.start == at:
            self.head += ending
        self._pieces.append((at, ending))  # what was overwritten in between belongs to no cut


def clean_blocks(blocks: Iterable[bytes], terminator: bytes = b"\n") -> Iterator[str]:
    """Cleaned text of data that comes in blocks, in flat memory: of a line above a megabyte each megabyte is cleaned alone."""
    held = b""
    for block in blocks:
        held += block
        end = held.rfind(terminator) + 1
        if not end and len(held) >= _HOLD:
            end = _settled(held)
        if end:
            yield clean(held[:end], terminator)
            held = held[end:]
    if held:
        yield clean(held, terminator)


def _ending(data: bytes, terminator: bytes) -> bytes:
    if not data.endswith(terminator):
        return b""
    return b"\r\n" if data.endswith(b"\r\n") else terminator


def _settled(data: bytes) -> int:
    """How much of ``data`` can be cleaned now: what follows cannot change what its bytes mean."""
    end = len(data)
    for back in range(1, min(4, end) + 1):
        byte = data[end - back]
        if byte >= 0xC0:  # noqa: PLR2004  # the first byte of a character that may be unfinished
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004
            end -= back if back < wanted else 0
            break
        if byte < 0x80:  # noqa: PLR2004  # ASCII
            break
    while data.endswith(b"\r", 0, end):  # a CR may belong to the ending
        end -= 1
    found = _UNFINISHED.search(data, max(0, end - STRING_LIMIT), end)
    return found.start() if found else end


def _cut_up(text: str, index: int) -> int:
    """The nearest place from ``index`` up that tears nothing."""
    for place in range(index, min(len(text), index + 32) + 1):
        if not joined(text, place):
            return place
    return index
