"""One pass over a view of output: how much it is, its beginning, its end, and everything if that is little.

The sequence is cut into blocks of about 64 KiB of whole lines, at places that depend on its bytes alone, never on how
they were handed over. So a pass over stored chunks sees what a pass over the live output saw, and a preview made again
is the same text. Memory: the two windows, whatever is fed.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections import deque
from typing import TYPE_CHECKING, Protocol

from spillstore_tools.preview.clean import clean, clean_length, redrawn
from spillstore_tools.preview.clean_stream import settled_length
from spillstore_tools.preview.lines import BLOCK, Line, LongLine
from spillstore_tools.preview.parts import Gap

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTED = 256 * 1024
_HIDING = (b"\x1b", b"\r", b"\b", b"\0")  # where one of them is, few of many bytes may be shown
_WIDEST = 4  # bytes of a character
# A bracket, and behind it what JSON has there: no line of a log that begins with a bracket.
_JSON = re.compile(
    rb"""(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*(?:[\[{\]"]|(?:-?\d[\d.eE+-]*|true|false|null)\s*[,\]]\s*[\[{"\d\-tfn]))"""
)
WINDOW_BYTES = 4 * 1024 * 1024  # of either end, however little its bytes show


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
        terminator: what ends a line.
    """

    start: int
    first_line: int
    raw: bytes
    lines: int
    chars: int
    long: LongLine | None = None
    counted: bool = True
    terminator: bytes = b"\n"

    @property
    def end(self) -> int:
        """The byte after the last."""
        return self.start + len(self.raw) if self.long is None else self.long.end

    @property
    def held(self) -> int:
        """About how many bytes of memory it takes."""
        return len(self.raw) if self.long is None else self.long.held

    @property
    def text(self) -> str:
        """Cleaned; of a long line what is held."""
        return clean(self.raw, self.terminator) if self.long is None else self.long.text

    def forward(self) -> Iterator[Line]:
        """Its lines, made when they are asked for."""
        if self.long is not None:
            yield self.long
            return
        number, start, raw = self.first_line, 0, self.raw
        while start < len(raw):
            end = raw.find(self.terminator, start) + 1 or len(raw)
            yield Line(number, self.start + start, raw[start:end], self.terminator)
            number, start = number + 1, end

    def backward(self) -> Iterator[Line]:
        """Its lines from the last on."""
        if self.long is not None:
            yield self.long
            return
        number, end, raw = self.first_line + self.lines - 1, len(self.raw), self.raw
        while end > 0:
            start = raw.rfind(self.terminator, 0, end - 1) + 1
            yield Line(number, self.start + start, raw[start:end], self.terminator)
            number, end = number - 1, start


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
        redrawn: characters that were drawn over or erased in their lines, and so are not shown by any text.
        drawn: from the first byte of the first such line to the byte behind the last one.
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
    redrawn: int = 0
    drawn: tuple[int, int] = (0, 0)

    def forward(self) -> Iterator[Line]:
        """Lines from the first on, for as far as they were kept."""
        for block in (*self.head, *(self.tail if self.whole else ())):
            yield from block.forward()

    def backward(self) -> Iterator[Line]:
        """Lines from the last on, for as far as they were kept."""
        for block in reversed((*(self.head if self.whole else ()), *self.tail)):
            yield from block.backward()

    def text(self) -> str | None:
        """All of the cleaned text, if all of it was kept; by blocks, several times as fast as by lines."""
        if not self.complete:
            return None
        return "".join(block.text for block in (*self.head, *self.tail))

    @property
    def complete(self) -> bool:
        """Whether all of the cleaned text was kept."""
        longs = (block.long for block in self.head + self.tail if block.long is not None)
        return self.whole and all(line.complete for line in longs)

    @property
    def end(self) -> Place:
        """Behind the last byte."""
        last = self.tail[-1] if self.tail else self.head[-1] if self.head else None
        if last is None or (last.long.ended if last.long else last.raw.endswith(self.terminator)):
            return Place(self.size, self.lines + 1)
        return Place(self.size, self.lines, inside=True)

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

    def moved(self, gap: Gap) -> Gap:
        """A gap whose positions count from here, with those that count from the beginning."""
        return dataclasses.replace(
            gap,
            start=gap.start + self.byte,
            end=gap.end + self.byte,
            first_line=gap.first_line + self.line - 1,
            last_line=gap.last_line + self.line - 1,
            inside=gap.inside or (self.inside and gap.start == 0),
        )


class Scan:
    r"""Takes the bytes of one view with ``feed``; ``finish`` gives the ``Overview``.

    Args:
        head_chars: code points of cleaned text to keep from the beginning, at least.
        tail_chars: likewise from the end.
        keep_bytes: keep everything up to this size.
        keep_json: likewise of what begins as JSON does.
        terminator: what ends a line.
        observer: told of every block.
        exact: count every code point; else only up to 256 KiB, and bytes from there on, which takes a third of the time,
            and a tenth where there is much to clean. Both windows are as large as ever.

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
        keep_json: int = 0,
        terminator: bytes = b"\n",
        observer: Observer | None = None,
        exact: bool = True,
    ) -> None:
        self._exact = exact
        self._counted = True
        self._head_room = head_chars
        self._tail_chars = tail_chars
        self._keep_bytes = keep_bytes
        self._keep_json = keep_json
        self._least_bytes = _WIDEST * (head_chars + tail_chars)  # of a long line that is kept whole
        self._terminator = terminator
        self._observer = observer
        self._buffer = bytearray()
        self._long: LongLine | None = None
        self._pieces: list[bytes] = []  # of the long line, while it is short enough to be kept whole
        self._position = 0  # of the buffer's first byte
        self._lines = 0
        self._redrawn = 0
        self._drawn: tuple[Block, Block] | None = (
            None  # the first and the last in which anything was drawn over
        )
        self.chars = 0
        self._head: list[Block] = []
        self._tail: deque[Block] = deque()
        self._head_bytes = self._tail_kept = self._tail_bytes = 0
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
            self.chars += cut or len(data)
            data = memoryview(data)[cut or len(data) :]
        if len(self._buffer) + len(data) < BLOCK:
            self._buffer += data
            return
        whole = b"".join(
            (self._buffer, data)
        )  # copied once: pages that are touched anew cost more than the rest
        self._buffer.clear()
        taken = 0
        while len(whole) - taken >= BLOCK:
            taken += self._take(whole, taken)
        self._buffer += memoryview(whole)[taken:]

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
        begun = self._position - (self._long.start if self._long else self._position)
        self.chars += begun + len(self._buffer) + size
        self._position += len(self._buffer) + size
        self._buffer.clear()
        self._long = None
        self._pieces.clear()
        self._tail.clear()
        self._tail_kept = self._tail_bytes = self._head_room = 0
        self._lines = lines
        self._torn = torn
        self._dropped = True

    def _take(self, data: bytes, at: int) -> int:
        """Make one block, or a piece of a long line, out of what begins at ``at``; returns its length."""
        limit = at + BLOCK
        if not self._position and _JSON.match(data, at):
            self._keep_bytes = max(self._keep_bytes, self._keep_json)
        if self._long is None:
            cut = data.rfind(self._terminator, at, limit) + 1
            if cut > at:
                self._lines_block(data[at:cut])
                return cut - at
            self._long = LongLine(self._lines + 1, self._position, self._terminator)
        cut = data.find(self._terminator, at, limit) + 1
        self._long_piece(data[at : cut or limit], last=bool(cut))
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
            redrawn=self._redrawn,
            drawn=_drawn_over(*self._drawn) if self._drawn else (0, 0),
        )

    def look(self) -> tuple[Overview, bytes]:
        """What there is so far, while more comes; and the last bytes, left out of it, if their meaning is still open."""
        settled = settled_length(self._buffer)
        rest = bytes(self._buffer[settled:])
        before = {
            **self.__dict__,
            "_head": list(self._head),
            "_tail": self._tail.copy(),
            "_long": copy.deepcopy(self._long),
            "_pieces": list(self._pieces),
        }
        self._buffer = self._buffer[:settled]
        self._observer = None  # it will see the last lines when they are whole
        overview = self.finish()
        self.__dict__.update(before)
        return dataclasses.replace(overview, observer=self._observer), rest

    def _lines_block(self, raw: bytes) -> None:
        lines = raw.count(self._terminator) + (not raw.endswith(self._terminator))
        counted = self._exact or self.chars < _COUNTED
        chars = clean_length(raw, self._terminator) if counted else len(raw)
        self._counted = self._counted and counted
        first = self._lines + 1
        block = Block(self._position, first, raw, lines, chars, counted=counted, terminator=self._terminator)
        self._count_redrawn(block, redrawn(raw, self._terminator))
        self._add(block)

    def _long_piece(self, piece: bytes, *, last: bool) -> None:
        long = self._long
        assert long is not None  # the callers made sure
        self._pieces.append(piece)
        self._position += len(piece)
        whole = self._position - long.start <= max(self._keep_bytes, self._least_bytes)
        if not whole:
            for each in self._pieces[:-1]:
                long.add(each, last=False)
            long.add(piece, last=last)
            self._pieces.clear()
        if last:
            self._position = long.start
            self._long = None
            if whole:
                self._lines_block(b"".join(self._pieces))
                self._pieces.clear()
            else:
                block = Block(long.start, long.number, b"", 1, long.chars, long, terminator=self._terminator)
                self._count_redrawn(block, long.redrawn)
                self._add(block)

    def _count_redrawn(self, block: Block, count: int) -> None:
        if count:
            self._redrawn += count
            self._drawn = (self._drawn[0] if self._drawn else block, block)

    def _add(self, block: Block) -> None:
        self._position = block.end
        self._lines += block.lines
        self.chars += block.chars
        if self._observer is not None:
            self._observer.block(block)
        if self._head_room > 0 and not self._dropped:
            self._head.append(block)
            self._head_bytes += block.held
            self._head_room -= _surely(block)
            if self._head_bytes >= WINDOW_BYTES + self._keep_bytes:
                self._head_room = 0
            return
        self._tail.append(block)
        self._tail_kept += _surely(block)
        self._tail_bytes += block.held
        while len(self._tail) > 1 and self._may_drop(self._tail[0]):
            first = self._tail.popleft()
            self._tail_kept -= _surely(first)
            self._tail_bytes -= first.held
            self._dropped = True

    def _may_drop(self, first: Block) -> bool:
        if not self._dropped and self._position <= self._keep_bytes:
            return False
        return (
            self._tail_kept - _surely(first) >= self._tail_chars
            or self._tail_bytes > WINDOW_BYTES + self._keep_bytes
        )


def _drawn_over(first: Block, last: Block) -> tuple[int, int]:
    """From where to where lines of these blocks were drawn over."""
    start = next(line.start for line in first.forward() if line.redrawn)
    return start, next(line.end for line in last.backward() if line.redrawn)


def _surely(block: Block) -> int:
    """Code points that a block has at least."""
    if block.counted:
        return block.chars
    return 0 if any(mark in block.raw for mark in _HIDING) else block.chars // _WIDEST
