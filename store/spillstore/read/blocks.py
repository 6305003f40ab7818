"""Decoded chunks of one view, and lines in them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from spillstore.exceptions import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore.format.chunk_codec import ChunkRow

_STEPS = 4096, 512  # bytes


@dataclasses.dataclass(slots=True)
class Block:
    """The bytes of a view in one chunk, and where they stand in it: the byte, line ends before and in them."""

    row: ChunkRow
    start: int
    data: bytes
    line_ends_before: int
    line_ends: int

    @property
    def end(self) -> int:
        """The position after the last byte."""
        return self.start + len(self.data)

    def ends_line(self, number: int) -> bool:
        """Whether the end of that line of the view is in it."""
        return self.line_ends_before < number <= self.line_ends_before + self.line_ends


class Run(NamedTuple):
    """Bytes of a view that stand in one chunk: the first one's place and line, and the line ends in them."""

    start: int
    line: int
    line_ends: int
    data: bytes


def runs(blocks: Iterable[Block], start: int, end: int, terminator: bytes) -> Iterator[Run]:
    """The part of blocks that lies in ``[start, end)``."""
    for block in blocks:
        if block.start >= start and block.end <= end:
            yield Run(block.start, block.line_ends_before + 1, block.line_ends, block.data)
        else:
            low = max(0, start - block.start)
            data = block.data[low : end - block.start]
            line = block.line_ends_before + block.data.count(terminator, 0, low) + 1
            yield Run(block.start + low, line, data.count(terminator), data)


def after_nth(data: bytes, terminator: bytes, count: int, start: int = 0) -> int:
    r"""The offset behind the ``count``-th terminator from ``start`` on: counted in steps, then found one by one.

    Example:
        >>> after_nth(b"one\ntwo\nthree", b"\n", 2)
        8
        >>> after_nth(b"one\ntwo\nthree", b"\n", 1, 4)
        8
    """
    for step in _STEPS:
        while (inside := data.count(terminator, start, start + step)) < count:
            count -= inside
            start += step
            if start > len(data):
                raise IntegrityError("a chunk holds fewer line ends than its row says")
    for _ in range(count):
        start = data.index(terminator, start) + 1
    return start
