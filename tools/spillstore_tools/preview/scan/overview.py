"""The result of a pass over a view: its sizes, and the lines that were kept of both ends."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Gap
from spillstore_tools.preview.scan.position import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.scan.block import Block, Observer
    from spillstore_tools.preview.text.lines import Line


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The result of a pass.

    Attributes:
        size: bytes.
        lines: lines; an unended last one counts.
        chars: code points of the cleaned text.
        head: the first blocks.
        tail: the last blocks, none of which is in ``head``.
        whole: whether ``head`` and ``tail`` are all blocks.
        terminator: what ends a line.
        observer: the observer that received the blocks, if any.
        counted: whether ``chars`` is exact.
        redrawn: characters that were overwritten or erased in their lines, so that no text shows them.
        redrawn_span: the bytes ``[start, end)`` from the first such line to the last one.
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
    redrawn_span: tuple[int, int] = (0, 0)

    def forward(self, after: Position | None = None) -> Iterator[Line]:
        """Lines from the first on, as far as they were kept; from the line that begins at ``after``."""
        for block in self._from_first:
            if after is None or block.end > after.byte:
                yield from self._pointed(block.forward(after))

    def backward(self, before: Position | None = None) -> Iterator[Line]:
        """Lines from the last on, as far as they were kept; from the line that ends at ``before``."""
        for block in reversed(self._to_last):
            if before is None or block.start < before.byte:
                yield from self._pointed(block.backward(before))

    def _pointed(self, lines: Iterator[Line]) -> Iterator[Line]:
        """The lines, each of which knows how to find what tells most in it, if the observer does."""
        telling = getattr(self.observer, "telling", None)
        for line in lines:
            line.telling = telling
            yield line

    @property
    def first(self) -> Block | None:
        """The block in which the output begins, if it was kept."""
        return next(iter(self._from_first), None)

    @property
    def last(self) -> Block | None:
        """The block in which the output ends, if it was kept."""
        return next(reversed(self._to_last), None)

    @property
    def kept(self) -> list[tuple[int, int]]:
        """From where to where blocks were kept at each end."""
        return [(blocks[0].start, blocks[-1].end) for blocks in (self.head, self.tail) if blocks]

    @property
    def _from_first(self) -> tuple[Block, ...]:
        return (*self.head, *(self.tail if self.whole else ()))

    @property
    def _to_last(self) -> tuple[Block, ...]:
        return (*(self.head if self.whole else ()), *self.tail)

    def text(self) -> str | None:
        """All of the cleaned text, or None if not all of it was kept. Made by blocks, several times as fast as by lines."""
        if not self.complete:
            return None
        return "".join(block.text for block in (*self.head, *self.tail))

    @property
    def complete(self) -> bool:
        """Whether all of the cleaned text was kept."""
        longs = (block.long for block in self.head + self.tail if block.long is not None)
        return self.whole and all(line.complete for line in longs)

    @property
    def end(self) -> Position:
        """The position behind the last byte."""
        last = self.tail[-1] if self.tail else self.head[-1] if self.head else None
        if last is None or (last.long.ended if last.long else last.raw.endswith(self.terminator)):
            return Position(self.size, self.lines + 1)
        return Position(self.size, self.lines, inside=True)

    def everything(self, *, inside: bool = False) -> Gap:
        """The gap that covers all of the output."""
        return Gap(0, self.size, 1, max(1, self.lines), self.lines, self.chars, inside)

    def gap(self, low: Position, high: Position, chars: int) -> Gap:
        """The gap between two positions, of ``chars`` code points."""
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
