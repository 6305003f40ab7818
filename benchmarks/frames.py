"""The peer of reads: the least that could answer. 64 KiB frames in a flat file, an index in memory, no check at all."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from pathlib import Path

FRAME = 64 * 1024
_STEP = 4096


class Frames:
    """A file of frames, and where each begins: in bytes, in line ends, and in the file."""

    def __init__(self, source: Path, target: Path) -> None:
        self.starts: list[int] = []
        self.line_starts: list[int] = []
        self._places: list[tuple[int, int]] = []
        self.size = self.lines = 0
        self._make(source, target)
        self._file = os.open(target, os.O_RDONLY)
        self._engine = zstandard.ZstdDecompressor()

    def _make(self, source: Path, target: Path) -> None:
        engine = zstandard.ZstdCompressor(level=1)
        place = 0
        with source.open("rb") as incoming, target.open("wb") as outgoing:
            while raw := incoming.read(FRAME):
                frame = engine.compress(raw)
                outgoing.write(frame)
                self.starts.append(self.size)
                self.line_starts.append(self.lines)
                self._places.append((place, len(frame)))
                place += len(frame)
                self.size += len(raw)
                self.lines += raw.count(b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _frame(self, number: int) -> bytes:
        place, length = self._places[number]
        return self._engine.decompress(os.pread(self._file, length, place))

    def read_bytes(self, start: int, end: int) -> bytes:
        """Bytes ``[start, end)``, within the file."""
        first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end) - 1
        low = start - self.starts[first]
        if first == last:
            return self._frame(first)[low : end - self.starts[first]]
        parts = [self._frame(first)[low:]]
        parts += [self._frame(number) for number in range(first + 1, last)]
        parts.append(self._frame(last)[: end - self.starts[last]])
        return b"".join(parts)

    def read_lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``, 1-based and inclusive, within the file."""
        begin = bisect_left(self.line_starts, first - 1) - 1 if first > 1 else 0
        end = bisect_left(self.line_starts, last) - 1
        head = self._frame(begin)
        low = _after_line(head, first - 1 - self.line_starts[begin])
        if begin == end:
            return head[low : _after_line(head, last - self.line_starts[end])]
        parts = [head[low:]]
        parts += [self._frame(number) for number in range(begin + 1, end)]
        tail = self._frame(end)
        parts.append(tail[: _after_line(tail, last - self.line_starts[end])])
        return b"".join(parts)


def _after_line(data: bytes, count: int) -> int:
    """The offset behind the ``count``-th line end, as fast as Python finds it."""
    start = 0
    while (inside := data.count(b"\n", start, start + _STEP)) < count:
        count -= inside
        start += _STEP
    for _ in range(count):
        start = data.index(b"\n", start) + 1
    return start
