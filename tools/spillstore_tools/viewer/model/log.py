r"""The rows of an artifact, a window at a time.

>>> import tempfile
>>> from spillstore import Store
>>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
...     log = Log(session.put("one\ntwo\nthree\n", source="doc"))
...     [(row.number, row.data) for row in log.rows(1, 2)], log.total
([(2, b'two'), (3, b'three')], 3)
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from spillstore_tools.output.media_type import kind_of
from spillstore_tools.output.rendering import head_of
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.viewer.model.blocks import ROWS, hex_block, line_block
from spillstore_tools.viewer.model.footprint import Footprint
from spillstore_tools.viewer.model.rows import HEX_BYTES, hex_layout, line_layout

if TYPE_CHECKING:
    from spillstore import Artifact, ArtifactInfo
    from spillstore.info import Stream
    from spillstore_tools.viewer.model.blocks import Block
    from spillstore_tools.viewer.model.rows import Layout, Row

_CACHED = 8 * 1024 * 1024  # bytes of blocks that are kept


class Log:
    """One view of an artifact as rows. Flat memory, safe from any thread.

    Args:
        artifact: open, sealed or interrupted.
        stream: the view.
        tool: the name of the viewer in the audit log, whose actor is ``viewer``.
        binary: whether bytes are shown as hex; None for those that are no UTF-8 text.

    Attributes:
        artifact: what is read; reads of it are not recorded one by one.
        stream: the view.
        info: the artifact as it was when ``refresh`` was called last.
        is_hex: whether rows are 16 bytes of binary content.
        footprint: records what was read.

    Raises:
        SpillstoreError: it cannot be read.
    """

    def __init__(
        self,
        artifact: Artifact,
        stream: Stream = "combined",
        *,
        tool: str = "view",
        binary: bool | None = None,
    ) -> None:
        self.artifact = artifact.unrecorded()
        self.stream: Stream = stream
        self.footprint = Footprint(artifact, tool)
        self._given = binary
        self._lock = threading.RLock()
        self._blocks: OrderedDict[tuple[int, int], Block] = OrderedDict()
        self._held = 0
        self.info: ArtifactInfo = self.artifact.info
        self.is_hex = self._find_hex()
        self._layout = self._find_layout()

    # --- how much there is ------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """Rows of all kinds, when ``refresh`` was called last."""
        return self._layout.total

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self.info.state == "open"

    @property
    def hole(self) -> Row | None:
        """The row that stands for what was dropped, or None."""
        return self._layout.hole

    def refresh(self) -> bool:
        """Look whether there is more, or less, by now; returns whether anything is. Cost: one indexed row while it is open."""
        with self._lock:
            before = self.info
            self.info = self.artifact.info
            if self.info == before:
                return False
            if before.size < HEAD_BYTES and self._given is None:
                self.is_hex = self._find_hex()
            hole = self._layout.hole
            self._layout = self._find_layout()
            # A state is final but for the numbers of lines, which may change when it is sealed.
            if (before.newline, before.state) != (self.info.newline, self.info.state) or (
                hole != self._layout.hole
            ):
                self._blocks.clear()
                self._held = 0
            return True

    # --- rows -------------------------------------------------------------------------------------------

    def rows(self, first: int, count: int) -> list[Row]:
        """Up to ``count`` rows from index ``first`` on, from 0; fewer at the end.

        Cost: a chunk or two for each 64 rows that are not cached, for long lines two for each; a row has at most 4 KiB.

        Raises:
            SpillstoreError: it was deleted, or is damaged.
        """
        first = max(0, first)
        with self._lock:
            found = self._rows(first, count)
            if len(found) < min(count, self.total - first) and self.refresh():
                found = self._rows(first, count)
        numbers = [row.number for row in found if row.kind == "line"]
        if numbers:
            self.footprint.read(self.stream, numbers[0], numbers[-1], lines=True)
        elif found and self.is_hex:
            self.footprint.read(self.stream, found[0].start, found[-1].end, lines=False)
        return found

    def piece(self, number: int, start: int, size: int) -> bytes:
        """Bytes of a line from its byte ``start`` on, at most ``size``, without its ending: the rest of a long one."""
        row = self.rows(self.row_of_line(number), 1)[0]
        low = min(row.start + start, row.end)
        data = self.artifact.read_bytes(low, min(low + size, row.end), stream=self.stream, holes="skip")
        return data.removesuffix(self.info.terminator) if low + size >= row.end else data

    def row_of_line(self, number: int) -> int:
        """The index of the row of a line, from 1; of the nearest one where there is no such line."""
        if self.is_hex:
            byte = self.artifact.locate(line=max(1, number), stream=self.stream, holes="skip").byte
            return self.row_of_byte(byte)
        hole = self._layout.hole
        *_, region = self._layout.regions
        for each in self._layout.regions:
            if number < each.number + each.rows:
                region = each
                break
        if hole is not None and region.index > hole.index and number < region.number:
            return hole.index
        return self._nearest(region.index + max(0, number - region.number))

    def row_of_byte(self, byte: int) -> int:
        """The index of the row that a byte of the view stands in. Cost: a chunk."""
        hole = self._layout.hole
        if hole is not None and hole.start <= byte < hole.end:
            return hole.index
        if not self.is_hex:
            return self.row_of_line(self.artifact.locate(byte=byte, stream=self.stream, holes="skip").line)
        region = next((each for each in self._layout.regions if byte < each.end), self._layout.regions[-1])
        return self._nearest(region.index + max(0, byte - region.start) // HEX_BYTES)

    def row_of_percent(self, share: float) -> int:
        """The index of the row at 0 to 100 per cent of all rows."""
        return self._nearest(round((self.total - 1) * min(max(share, 0.0), 100.0) / 100))

    def row_of_time(self, seconds: float) -> int:
        """The index of the first row that came so many seconds after the artifact began, or later. Cost: two chunks."""
        found = self.artifact.locate(time=max(0.0, seconds), stream=self.stream, holes="skip")
        return self.row_of_byte(found.byte) if self.is_hex else self.row_of_line(found.line)

    def line_of_row(self, index: int) -> int:
        """The number of the line at a row; of a hole, the first that is gone; of hex, the line that its first byte is in."""
        index = self._nearest(index)
        hole = self._layout.hole
        if hole is not None and index == hole.index:
            return hole.number
        region = next(each for each in reversed(self._layout.regions) if index >= each.index)
        if not self.is_hex:
            return region.number + index - region.index
        byte = region.start + (index - region.index) * HEX_BYTES
        return self.artifact.locate(byte=byte, stream=self.stream, holes="skip").line

    def last_line_of_row(self, index: int) -> int:
        """The number of the last line that a row stands for: of a hole, the last that is gone."""
        hole = self._layout.hole
        if hole is not None and index == hole.index:
            view = self.info.view(self.stream).hole
            return hole.number if view is None else view.last_line
        return self.line_of_row(index)

    # --- bytes, for what goes through all of them ----------------------------------------------------------

    def spans(self) -> list[tuple[int, int]]:
        """The bytes that are there: from the beginning to the end, or around what was dropped."""
        return [(each.start, each.end) for each in self._layout.regions]

    def start_of(self, number: int, low: int, high: int) -> int:
        """Where a line begins, within ``[low, high]``. Cost: a chunk."""
        at = self.artifact.locate(line=max(1, number), stream=self.stream, holes="skip").byte
        return min(max(at, low), high)

    def block_start(self, byte: int, low: int, high: int) -> int:
        """Where a line begins at a byte or soon behind it, but before ``high``; else where that long line begins."""
        if byte <= low:
            return low
        number = self.artifact.locate(byte=byte, stream=self.stream, holes="skip").line
        start = self.start_of(number, low, high)
        behind = start if start == byte else self.start_of(number + 1, low, high)
        return behind if behind < high else start

    def whole_lines(self, start: int, end: int, high: int) -> tuple[int, int]:
        """Where the last line that begins before ``end`` ends, at most ``high``, and the number of the line at ``start``."""
        number = self.artifact.locate(byte=start, stream=self.stream, holes="skip").line
        if end >= high or end <= start:
            return min(end, high), number
        last = self.artifact.locate(byte=end - 1, stream=self.stream, holes="skip").line
        return self.start_of(last + 1, end, high), number

    def close(self) -> None:
        """Record what was read last."""
        self.footprint.flush()

    # --- inside -----------------------------------------------------------------------------------------

    def _nearest(self, index: int) -> int:
        return max(0, min(index, self.total - 1))

    def _find_hex(self) -> bool:
        if self._given is not None:
            return self._given
        return kind_of(head_of(self.artifact), self.info.size) is not None

    def _find_layout(self) -> Layout:
        return (hex_layout if self.is_hex else line_layout)(self.artifact, self.stream)

    def _rows(self, first: int, count: int) -> list[Row]:
        found: list[Row] = []
        end = min(first + count, self.total)
        hole = self._layout.hole
        for number, region in enumerate(self._layout.regions):
            low, high = max(first, region.index), min(end, region.index + region.rows)
            if low < high:
                last = (high - 1 - region.index) // ROWS
                for block in range((low - region.index) // ROWS, last + 1):
                    found += [row for row in self._block(number, block).rows if low <= row.index < high]
            if number == 0 and hole is not None and first <= hole.index < end:
                found.append(hole)
        return found

    def _block(self, number: int, block: int) -> Block:
        key = (number, block)
        if (known := self._blocks.get(key)) is not None:
            self._blocks.move_to_end(key)
            return known
        region = self._layout.regions[number]
        if self.is_hex:
            found = hex_block(self.artifact, self.stream, region, block)
        else:
            before = self._blocks.get((number, block - 1))
            start = None if before is None else before.end
            found = line_block(self.artifact, self.stream, region, block, start)
        full = len(found.rows) == ROWS and found.rows[-1].ended
        if full or not self.is_open:
            self._keep(key, found)
        return found

    def _keep(self, key: tuple[int, int], block: Block) -> None:
        self._blocks[key] = block
        self._held += block.size
        while self._held > _CACHED and len(self._blocks) > 1:
            _, old = self._blocks.popitem(last=False)
            self._held -= old.size
