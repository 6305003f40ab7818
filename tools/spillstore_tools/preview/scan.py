"""One pass over a view of output: how much it is, its beginning, its end, and everything if that is little.

The sequence is cut into blocks of about 64 KiB of whole lines, at places that depend on its bytes alone, never on how
they were handed over. So a pass over stored chunks sees what a pass over the live output saw, and a preview made again
is the same text. Memory: the two windows, whatever is fed.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import TYPE_CHECKING, Protocol

from spillstore_tools.preview.clean import clean_length, split_lines
from spillstore_tools.preview.lines import BLOCK, Line, LongLine
from spillstore_tools.preview.parts import Gap

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTED = 256 * 1024
WINDOW_BYTES = 4 * 1024 * 1024  # of the end, however little its bytes show


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, or one long one.

    Attributes:
        start: the first byte's position.
        first_line: the number of its first line.
        raw: the bytes; empty for a long line.
        lines: lines in it; an unended last one counts.
        chars: code points when cleaned.
        long: the long line.
        counted: whether ``chars`` is exact.
    """

    start: int
    first_line: int
    raw: bytes
    lines: int
    chars: int
    long: LongLine | None = None
    counted: bool = True

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.start + len(self.raw) if self.long is None else self.long.end

    def split(self, terminator: bytes) -> list[Line]:
        """Its lines."""
        if self.long is not None:
            return [self.long]
        found, start = [], self.start
        for number, raw in enumerate(split_lines(self.raw, terminator), self.first_line):
            found.append(Line(number, start, raw, terminator))
            start += len(raw)
        return found


class Observer(Protocol):
    """Sees every block once, in order."""

    def block(self, block: Block) -> None:
        """The next block."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What a pass has seen.

    Attributes:
        size: bytes.
        lines: lines; an unended last one counts.
        chars: code points of the cleaned text.
        head: the first blocks.
        tail: the last blocks, none of which is in ``head``.
        whole: whether ``head`` and ``tail`` are everything.
        terminator: what ends a line.
        observer: what watched.
        counted: whether ``chars`` is exact.
    """

    size: int
    lines: int
    chars: int
    head: tuple[Block, ...]
    tail: tuple[Block, ...]
    whole: bool
    terminator: bytes
    observer: Observer | None
    counted: bool = True

    def forward(self) -> Iterator[Line]:
        """Lines from the first on, for as far as they were kept."""
        for block in (*self.head, *(self.tail if self.whole else ())):
            yield from block.split(self.terminator)

    def backward(self) -> Iterator[Line]:
        """Lines from the last on, for as far as they were kept."""
        for block in reversed((*(self.head if self.whole else ()), *self.tail)):
            yield from reversed(block.split(self.terminator))

    def text(self) -> str | None:
        """All of the cleaned text, if all of it was kept."""
        if not self.whole or any(
            block.long is not None and not block.long.complete for block in self.head + self.tail
        ):
            return None
        return "".join(line.text for line in self.forward())

    def gap(self, low: Place, high: Place, chars: int) -> Gap:
        """The gap between two places; ``chars`` are the code points in it."""
        first_missing = low.line + 1 if low.inside else low.line
        return Gap(
            start=low.byte,
            end=high.byte,
            first_line=low.line,
            last_line=max(low.line, high.line if high.inside else high.line - 1),
            lines=max(0, high.line - first_missing),
            chars=chars if self.counted else None,
            inside=low.inside or high.inside,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Between two bytes: which line the byte behind it is in, and whether that line began before it."""

    byte: int
    line: int
    inside: bool = False


class Scan:
    r"""Takes the bytes of one view with ``feed``; ``finish`` gives the ``Overview``.

    Args:
        head_chars: code points of cleaned text to keep from the beginning, at least.
        tail_chars: likewise from the end.
        keep_bytes: keep everything up to this size.
        terminator: what ends a line.
        observer: told of every block.
        exact: count every code point; else only up to 256 KiB, and bytes from there on, which takes a third of the time.

    Example:
        >>> scan = Scan(head_chars=10, tail_chars=10)
        >>> scan.feed(b"one\ntwo\n")
        >>> overview = scan.finish()
        >>> overview.lines, overview.chars, overview.whole, [line.text for line in overview.forward()]
        (2, 8, True, ['one\n', 'two\n'])
    """

    def __init__(
        self,
        *,
        head_chars: int,
        tail_chars: int,
        keep_bytes: int = 0,
        terminator: bytes = b"\n",
        observer: Observer | None = None,
        exact: bool = True,
    ) -> None:
        self._exact = exact
        self._counted = True
        self._head_room = head_chars
        self._tail_chars = tail_chars
        self._keep_bytes = keep_bytes
        self._terminator = terminator
        self._observer = observer
        self._buffer = bytearray()
        self._long: LongLine | None = None
        self._position = 0  # of the buffer's first byte
        self._lines = 0
        self.chars = 0
        self._head: list[Block] = []
        self._tail: deque[Block] = deque()
        self._tail_kept = self._tail_bytes = 0
        self._dropped = False
        self._torn = False  # a line that began in a hole has not ended yet

    @property
    def size(self) -> int:
        """Bytes fed so far."""
        return self._position + len(self._buffer)

    def feed(self, data: bytes | memoryview) -> None:
        """The next bytes."""
        if self._torn:
            cut = bytes(data).find(self._terminator) + 1
            self._torn = not cut
            self._position += cut or len(data)
            data = memoryview(data)[cut or len(data) :]
        self._buffer += data
        taken = 0
        while len(self._buffer) - taken >= BLOCK:
            taken += self._take(taken)
        del self._buffer[:taken]

    def skip(self, size: int, lines: int, *, torn: bool) -> None:
        """Bytes that are not there. Lines of which a part is not there count as missing, too.

        Args:
            size: bytes.
            lines: lines of the view up to and with the last one of which a part is gone.
            torn: whether that line's end is still to come.
        """
        if self._long is None and (cut := self._buffer.rfind(self._terminator) + 1):
            self._lines_block(bytes(self._buffer[:cut]))
            del self._buffer[:cut]
        self._position += len(self._buffer) + size
        self._buffer.clear()
        self._long = None
        self._tail.clear()
        self._tail_kept = self._tail_bytes = self._head_room = 0
        self.chars += size
        self._lines = lines
        self._torn = torn
        self._dropped = True

    def _take(self, at: int) -> int:
        """Make one block, or a piece of a long line, out of the buffer; returns its length."""
        limit = at + BLOCK
        if self._long is None:
            cut = self._buffer.rfind(self._terminator, at, limit) + 1
            if cut:
                self._lines_block(bytes(self._buffer[at:cut]))
                return cut - at
            self._long = LongLine(self._lines + 1, self._position, self._terminator)
        cut = self._buffer.find(self._terminator, at, limit) + 1
        self._long_piece(bytes(self._buffer[at : cut or limit]), last=bool(cut))
        return (cut or limit) - at

    def finish(self) -> Overview:
        """What there is; call it once, when nothing more will be fed.

        Characters in a hole nobody can count; its bytes stand for them.
        """
        if self._long is not None:
            cut = self._buffer.find(self._terminator) + 1
            self._long_piece(bytes(self._buffer[: cut or len(self._buffer)]), last=True)
            del self._buffer[: cut or len(self._buffer)]
        if self._buffer:
            self._lines_block(bytes(self._buffer))
            self._buffer.clear()
        return Overview(
            size=self._position,
            lines=self._lines,
            chars=self.chars,
            head=tuple(self._head),
            tail=tuple(self._tail),
            whole=not self._dropped,
            terminator=self._terminator,
            observer=self._observer,
            counted=self._counted,
        )

    def _lines_block(self, raw: bytes) -> None:
        lines = raw.count(self._terminator) + (not raw.endswith(self._terminator))
        counted = self._exact or self.chars < _COUNTED or any(mark in raw for mark in (b"\x1b", b"\r", b"\b"))
        chars = clean_length(raw, self._terminator) if counted else len(raw)
        self._counted = self._counted and counted
        self._add(Block(self._position, self._lines + 1, raw, lines, chars, counted=counted))

    def _long_piece(self, piece: bytes, *, last: bool) -> None:
        long = self._long
        assert long is not None  # the callers made sure
        long.add(piece, last=last)
        if last:
            self._long = None
            self._position = long.start
            self._add(Block(long.start, long.number, b"", 1, long.chars, long))
        else:
            self._position += len(piece)

    def _add(self, block: Block) -> None:
        self._position = block.end
        self._lines += block.lines
        self.chars += block.chars
        if self._observer is not None:
            self._observer.block(block)
        if self._head_room > 0 and not self._dropped:
            self._head.append(block)
            self._head_room -= block.chars
            return
        self._tail.append(block)
        self._tail_kept += block.chars
        self._tail_bytes += len(block.raw)
        while len(self._tail) > 1 and self._may_drop(self._tail[0]):
            first = self._tail.popleft()
            self._tail_kept -= first.chars
            self._tail_bytes -= len(first.raw)
            self._dropped = True

    def _may_drop(self, first: Block) -> bool:
        if not self._dropped and self._position <= self._keep_bytes:
            return False
        return (
            self._tail_kept - first.chars >= self._tail_chars
            or self._tail_bytes > WINDOW_BYTES + self._keep_bytes
        )
