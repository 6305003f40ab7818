"""The blocks that a pass keeps: those at the beginning and at the end of the output."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillstore_tools.preview.scan.block import Block

WINDOW_BYTES = 4 * 1024 * 1024  # of either end, however little its bytes show
WIDEST = 4  # bytes of a character
_HIDING = (b"\x1b", b"\r", b"\b")  # where one of them is, few of many bytes may be shown


class Windows:
    """Two windows of blocks: one of the head that fills up, one of the tail that slides.

    Args:
        head_chars: code points of cleaned text to keep from the beginning, at least.
        tail_chars: likewise from the end.
        keep_bytes: keep all blocks of output up to this size.

    Attributes:
        head: the first blocks.
        tail: the last blocks, none of which is in ``head``.
        dropped: whether blocks between them are gone.
    """

    def __init__(self, head_chars: int, tail_chars: int, keep_bytes: int) -> None:
        self.keep_bytes = keep_bytes
        self.head: list[Block] = []
        self.tail: deque[Block] = deque()
        self.dropped = False
        self._head_room = head_chars
        self._tail_chars = tail_chars
        self._head_bytes = self._tail_kept = self._tail_bytes = 0

    def copy(self) -> Windows:
        """Windows over the same blocks that may go on by themselves."""
        other = Windows.__new__(Windows)
        other.__dict__.update(self.__dict__, head=list(self.head), tail=self.tail.copy())
        return other

    def add(self, block: Block) -> None:
        """Keep the next block, and drop the first ones of the tail that are not needed any more."""
        if self._head_room > 0 and not self.dropped:
            self.head.append(block)
            self._head_bytes += block.held
            self._head_room -= _least_chars(block)
            if self._head_bytes >= WINDOW_BYTES + self.keep_bytes:
                self._head_room = 0
            return
        self.tail.append(block)
        self._tail_kept += _least_chars(block)
        self._tail_bytes += block.held
        while len(self.tail) > 1 and self._may_drop(self.tail[0], block.end):
            first = self.tail.popleft()
            self._tail_kept -= _least_chars(first)
            self._tail_bytes -= first.held
            self.dropped = True

    def close_head(self) -> None:
        """Forget the tail and keep nothing more in the head: bytes that do not exist follow."""
        self.tail.clear()
        self._tail_kept = self._tail_bytes = self._head_room = 0
        self.dropped = True

    def _may_drop(self, first: Block, end: int) -> bool:
        if not self.dropped and end <= self.keep_bytes:
            return False
        enough = self._tail_kept - _least_chars(first) >= self._tail_chars
        return enough or self._tail_bytes > WINDOW_BYTES + self.keep_bytes


def _least_chars(block: Block) -> int:
    """Code points that a block has at least."""
    if block.counted:
        return block.chars
    hides = not block.is_clean and any(mark in block.raw for mark in _HIDING)
    return 0 if hides else block.chars // WIDEST
