"""Blocks of whole lines, the unit in which output passes through a scan."""

from __future__ import annotations

import dataclasses
from codecs import BOM_UTF8
from typing import TYPE_CHECKING, Protocol

from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore_tools.preview.scan.position import Position
    from spillstore_tools.preview.text.long_line import LongLine


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
        is_clean: whether it is known to be ASCII without control characters but tab and LF, which ends lines.
    """

    start: int
    first_line: int
    raw: bytes
    lines: int
    chars: int
    long: LongLine | None = None
    counted: bool = True
    terminator: bytes = b"\n"
    is_clean: bool = False

    @property
    def end(self) -> int:
        """The byte after the last one."""
        return self.start + len(self.raw) if self.long is None else self.long.end

    @property
    def held(self) -> int:
        """About how many bytes of memory the block takes."""
        return len(self.raw) if self.long is None else self.long.held

    @property
    def text(self) -> str:
        """The cleaned text; of a long line the part that is held."""
        return clean(self.raw, self.terminator) if self.long is None else self.long.text

    def unmarked(self) -> Block:
        """The block without the byte order mark that an output in UTF-8 may begin with."""
        if self.start or not self.raw.startswith(BOM_UTF8):
            return self
        mark = len(BOM_UTF8)
        chars = self.chars - (1 if self.counted else mark)
        return dataclasses.replace(self, start=mark, raw=self.raw[mark:], chars=chars)

    def forward(self, after: Position | None = None) -> Iterator[Line]:
        """The lines from the first on, or from the line that begins at ``after``, made one at a time."""
        if self.long is not None:
            yield self.long
            return
        number, start, raw = self.first_line, 0, self.raw
        if after is not None and after.byte > self.start:
            number, start = after.line, after.byte - self.start
        while start < len(raw):
            end = raw.find(self.terminator, start) + 1 or len(raw)
            yield Line(number, self.start + start, raw[start:end], self.terminator, is_clean=self.is_clean)
            number, start = number + 1, end

    def backward(self, before: Position | None = None) -> Iterator[Line]:
        """The lines from the last on, or from the line that ends at ``before``."""
        if self.long is not None:
            yield self.long
            return
        number, end, raw = self.first_line + self.lines - 1, len(self.raw), self.raw
        if before is not None and before.byte < self.end:
            number, end = before.line - 1, before.byte - self.start
        while end > 0:
            start = raw.rfind(self.terminator, 0, end - 1) + 1
            yield Line(number, self.start + start, raw[start:end], self.terminator, is_clean=self.is_clean)
            number, end = number - 1, start


class Observer(Protocol):
    """Receives every block once, in order.

    One that has a method ``piece(line, data)`` receives the bytes of lines that are not held, too: the line so far, and
    its last bytes, before the block that the line is. One that has a function ``telling`` finds what a long line is cut around,
    as ``Line`` has it.
    """

    def ahead(self, start: int, line: int, data: bytes, terminator: bytes, cuts: Sequence[int]) -> None:
        """See the bytes that the next blocks are cut from, so that all of them can be searched at once.

        Args:
            start: the first byte's position.
            line: the number of the line that begins there.
            data: the bytes; blocks follow of some or all of them, or a long line that began before. The last line may go on.
            terminator: what ends a line.
            cuts: where in ``data`` the next blocks end, up to the first line that is too long for one.
        """

    def block(self, block: Block) -> None:
        """Take the next block."""
