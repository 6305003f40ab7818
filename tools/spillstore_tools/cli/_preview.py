"""The bounded view of a long output: its head, a notice of what is missing, its tail.

Nothing is left out unsaid. What is not shown is one range of bytes between head and tail, which lies between lines
wherever lines are short enough, and the middles of over-long lines, each of which names its bytes where it stands.
Lengths are in code points of cleaned text, and the limit includes every notice.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.cli._text import boundary, clean_line, clean_lines, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 8000
WHOLE = 256 * 1024  # up to here everything is read: much of it may be escape sequences and progress bars
WINDOW = 64 * 1024
_LINE = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Content:
    """What is there to be shown.

    Attributes:
        size: bytes in all.
        lines: lines in all, or None where nobody has counted them.
        head: the first bytes; all of them if there are few.
        tail: the last bytes; empty if ``head`` is everything.
    """

    size: int
    lines: int | None
    head: bytes
    tail: bytes

    @property
    def whole(self) -> bool:
        """Whether ``head`` is everything."""
        return len(self.head) == self.size


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gap:
    """What lies between head and tail.

    Attributes:
        start: first byte not shown.
        end: the byte after the last one.
        first_line: the line of the first one, or None where lines were not counted.
        last_line: the line of the last one.
        inside: whether one of its ends lies inside a line, so that only bytes tell it exactly.
    """

    start: int
    end: int
    first_line: int | None
    last_line: int | None
    inside: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Preview:
    """Text of at most the limit, and what it leaves out between head and tail."""

    text: str
    gap: Gap | None


def preview(
    content: Content,
    notice: Callable[[Gap], str],
    footer: str,
    *,
    limit: int = LIMIT,
    line_limit: int = _LINE,
) -> Preview:
    """Show all of it, or as much of both its ends as the limit allows.

    Args:
        content: what is there.
        notice: makes the lines that stand for a gap; larger numbers must not make it shorter.
        footer: lines that stand at the end.
        limit: code points in all.
        line_limit: code points of one line, unless everything fits.
    """
    if content.whole:
        text = _ended(clean_lines(content.head))
        if len(text) + len(footer) <= limit:
            return Preview(text=text + footer, gap=None)
        lines = split_lines(content.head)
        room = limit - len(footer) - 1
        short = _Head(room, max(line_limit, room // max(1, len(lines)) - 1))
        short.add_all(lines, complete=True)
        if short.end == content.size:
            return Preview(text=_ended("".join(short.texts)) + footer, gap=None)
    largest = Gap(
        start=content.size, end=content.size, first_line=content.lines, last_line=content.lines, inside=True
    )
    room = max(0, limit - len(footer) - len(notice(largest)) - 2)
    return _both_ends(content, notice, footer, room, min(line_limit, room // 2))


def _both_ends(
    content: Content, notice: Callable[[Gap], str], footer: str, room: int, line_limit: int
) -> Preview:
    head = _Head(room // 2, line_limit)
    head.add_all(split_lines(content.head), complete=content.whole)
    rest = content.head[head.end :] if content.whole else content.tail
    tail = _Tail(room - sum(map(len, head.texts)), line_limit, content)
    tail.add_all(split_lines(rest), aligned=content.whole and not head.inside)
    gap = Gap(
        start=head.end,
        end=tail.start,
        first_line=None if content.lines is None else head.lines + 1,
        last_line=None if content.lines is None else content.lines - tail.lines,
        inside=head.inside or tail.inside,
    )
    text = _ended("".join(head.texts)) + notice(gap) + _ended("".join(reversed(tail.texts))) + footer
    return Preview(text=text, gap=gap)


class _Head:
    """Lines from the first on, for as long as there is room."""

    def __init__(self, room: int, line_limit: int) -> None:
        self.texts: list[str] = []
        self.lines = 0  # those that are there from end to end, be it with a clipped middle
        self.end = 0
        self.inside = False
        self._room = room
        self._line_limit = line_limit

    def add_all(self, lines: list[bytes], *, complete: bool) -> None:
        """Add lines; the last one is only a beginning unless ``complete``."""
        for index, line in enumerate(lines):
            if not complete and index == len(lines) - 1:
                self._add_beginning(line)
                return
            text = _line(line, self._line_limit, self.lines + 1, self.end)
            if len(text) > self._room:
                return
            self.texts.append(text)
            self._room -= len(text)
            self.end += len(line)
            self.lines += 1

    def _add_beginning(self, line: bytes) -> None:
        cut = boundary(line, self._room)
        if cut:
            self.texts.append(clean_line(line[:cut]))
            self.end += cut
            self.inside = True


class _Tail:
    """Lines from the last on, for as long as there is room; ``texts`` is in reverse."""

    def __init__(self, room: int, line_limit: int, content: Content) -> None:
        self.texts: list[str] = []
        self.lines = 0
        self.start = content.size
        self.inside = False
        self._room = room
        self._line_limit = line_limit
        self._last = content.lines

    def add_all(self, lines: list[bytes], *, aligned: bool) -> None:
        """Add lines; the first one may be only an end unless ``aligned``."""
        for index, line in reversed(list(enumerate(lines))):
            if index == 0 and not aligned:
                if not self.texts:
                    self._add_end(line)
                return
            number = None if self._last is None else self._last - self.lines
            text = _line(line, self._line_limit, number, self.start - len(line))
            if len(text) > self._room:
                return
            self.texts.append(text)
            self._room -= len(text)
            self.start -= len(line)
            self.lines += 1

    def _add_end(self, line: bytes) -> None:
        rest = line[boundary(line, max(0, len(line) - self._room + 4)) :]
        if rest:
            self.texts.append(clean_line(rest))
            self.start -= len(rest)
            self.inside = True


def _line(line: bytes, limit: int, number: int | None, start: int) -> str:
    """A line, the middle left out if it is over-long; ``start`` is its first byte's position."""
    text = clean_line(line)
    if len(text) <= limit:
        return text
    of_line = "" if number is None else f" of line {number}"

    def marker(low: int, high: int) -> str:
        return f" [... bytes {low}-{high}{of_line} ...] "

    room = max(0, limit - len(marker(start + len(line), start + len(line))))
    low = boundary(line, room * 2 // 3)
    high = boundary(line, len(line) - room // 3 + 4)
    return clean_line(line[:low]) + marker(start + low, start + high) + clean_line(line[high:])


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"
