"""Ranges out of chunks: lines, bytes and times, of either stream or both, holes and all.

Every function here works on one snapshot and one artifact row. The cost of
a read is the chunks that hold its answer, plus at most one at each end that only holds the line end before it; what is
stored besides never matters. Nothing is returned from a chunk whose digest, position and counters were not checked.

A read goes in two steps: find the chunk in which it begins and the one in which it ends (each look-up one descent of an
index), then walk from one to the other. In a rolled artifact a border can lie in the hole; it is then moved to the
hole's edge, after the hole itself was reported or skipped.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from spillstore.exceptions import IntegrityError, RangeError
from spillstore.format import chunk_codec
from spillstore.model.records import COMBINED
from spillstore.read.block_reader import BlockReader, too_large
from spillstore.read.blocks import after_nth
from spillstore.read.dropped import refuse, refuse_lines
from spillstore.read.sequence import FETCH, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.engine.rows import Snapshot
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Algorithm
    from spillstore.info import Holes
    from spillstore.model.records import ArtifactRow, View
    from spillstore.read.blocks import Block


class RangeReader:
    """Reads ranges of one view of one artifact, inside one transaction."""

    __slots__ = ("_blocks", "_hole", "_sequence", "_size", "_skip", "_view", "record")

    def __init__(
        self,
        snapshot: Snapshot,
        record: ArtifactRow,
        algorithm: Algorithm,
        view: View,
        holes: Holes,
    ) -> None:
        if holes not in {"raise", "skip"}:
            raise RangeError(f'holes must be "raise" or "skip", not {holes!r}')
        self.record = record
        self._sequence = Sequence(snapshot, record, algorithm)
        self._view = view
        self._skip = holes == "skip"
        self._hole = self._sequence.hole
        self._size = record.view_size(view)
        self._blocks = BlockReader(self._sequence, record, view, skip=self._skip)

    # --- what callers ask for ---------------------------------------------------------------------------

    def read_lines(self, first: int, last: int, max_bytes: int) -> bytes:
        """Lines ``first`` to ``last``, inclusive, with their endings; clipped at the end."""
        total = self.record.view_lines(self._view)
        if first > total:
            return b""
        last = min(last, total)
        if self._hole is not None and not self._skip:
            refuse_lines(self.record, self._view, self._hole, first, last)
        begin = self._after_line_end(first - 1)
        if isinstance(begin, tuple) and begin[0].ends_line(last):
            return self._lines_of(*begin, last - first + 1, max_bytes)
        finish = self._after_line_end(last)
        start = begin if isinstance(begin, int) else begin[0].start + begin[1]
        end = finish if isinstance(finish, int) else finish[0].start + finish[1]
        known = [side[0] for side in (begin, finish) if isinstance(side, tuple)]
        return self._blocks.join(start, end, max_bytes, known)

    def _lines_of(self, block: Block, start: int, count: int, max_bytes: int) -> bytes:
        """So many lines of a block, from a byte in it on; they end in it."""
        self._sequence.check_borders(self._view, block.row)
        end = after_nth(block.data, self.record.terminator(), count, start)
        if end - start > max_bytes:
            raise too_large(str(end - start), max_bytes)
        return block.data[start:end]

    def read_tail(self, lines: int, max_bytes: int) -> bytes:
        """The last ``lines`` lines."""
        total = self.record.view_lines(self._view)
        return self.read_lines(max(1, total - lines + 1), total, max_bytes) if total and lines else b""

    def read_bytes(self, start: int, end: int, max_bytes: int) -> bytes:
        """Bytes ``[start, end)``; clipped at the end."""
        end = min(end, self._size)
        if start >= end:
            return b""
        return self._blocks.join(start, end, max_bytes, [])

    def read_time(self, start_us: int, end_us: int, max_bytes: int) -> bytes:
        """Bytes whose segments have a time in ``[start_us, end_us)``."""
        hole = self._hole
        if start_us >= end_us:
            return b""
        if hole is not None and not self._skip and start_us <= hole.time_end and end_us > hole.time_start:
            refuse(self.record, self._view, hole, f"seconds {start_us / 1e6:g} to {end_us / 1e6:g}")
        parts: list[bytes] = []
        size = 0
        for row in self._since(self._view, start_us, end_us):
            if row.time_start >= end_us:
                break
            found = self._during(row, start_us, end_us) if row.time_end >= start_us else []
            size += sum(map(len, found))
            parts += found
            if size > max_bytes:
                raise too_large(f"more than {size}", max_bytes)
            if row.time_end >= end_us:  # and so is what comes behind it
                break
        return b"".join(parts)

    def _since(self, view: View, start_us: int, end_us: int) -> Iterator[ChunkRow]:
        """The chunks that hold bytes of a view, from the first on that may hold some of ``start_us`` or later.

        The look-up may find a chunk too early where the right one is missing, and never one too late. Whoever walks on from
        there to the first chunk of ``end_us`` or later, which is fetched for this alone, meets the gap.
        """
        first, last = (
            self._sequence.before_time(time_us) if time_us else None for time_us in (start_us, end_us)
        )
        begin, size = (0, 0) if first is None else view.place(first, self.record.chunk_size)[:2]
        wanted = 0 if last is None else sum(view.place(last, self.record.chunk_size)[:2])
        for low, high in self._blocks.parts(begin, self.record.view_size(view), view):
            head = first if size and low == begin else None
            yield from self._sequence.walk(view, low, high, head=head, begins=True, wanted=wanted)

    def _during(self, row: ChunkRow, start_us: int, end_us: int) -> list[bytes]:
        """The view's bytes of a chunk's segments whose time is in ``[start_us, end_us)``."""
        raw, at = chunk_codec.decode(row), 0
        parts = []
        for segment in chunk_codec.segments_of(row):
            if self._view.stream in {None, segment.stream} and start_us <= segment.time < end_us:
                parts.append(raw[at : at + segment.length])
            at += segment.length
        return parts

    def blocks(self, start: int, end: int, limit: int) -> list[Block]:
        """Up to ``limit`` chunks that hold bytes of ``[start, end)``, from the first on, for long reads.

        A block may begin before ``start`` or end after ``end``. The list is empty where there is nothing left.
        """
        return list(map(self._blocks.block, self.rows(start, end, limit)))

    def rows(self, start: int, end: int, limit: int) -> list[ChunkRow]:
        """The chunks of ``blocks``, verified and not decoded."""
        end = min(end, self._size)
        if start >= end:
            return []
        if self._hole is not None:
            span = self._hole.span(self._view)
            if start < span.end and end > span.start and start >= span.start:
                if not self._skip:
                    refuse(self.record, self._view, self._hole, f"bytes {start} to {end}")
                start = span.end
            elif start < span.start:
                end = min(end, span.start)
        if start >= end:
            return []
        walk = self._sequence.walk(self._view, start, end, few=min(FETCH, limit))
        return list(itertools.islice(walk, limit))

    def with_grams(self, first: int, end: int, before: ChunkRow | None) -> list[ChunkRow]:
        """The chunks ``[first, end)``, none of them in the hole, without segments and data; see ``Sequence.with_grams``."""
        return self._sequence.with_grams(first, end, before)

    # --- where things stand ------------------------------------------------------------------------------

    def start_of_line(self, number: int) -> int:
        """The first byte of a line; the end for one past the last."""
        found = self._after_line_end(number - 1)
        if not isinstance(found, int):
            return found[0].start + found[1]
        if self._hole is not None and not self._skip and found == self._hole.span(self._view).end:
            refuse_lines(self.record, self._view, self._hole, number, number)
        return found

    def line_of(self, position: int) -> int:
        """The line that a byte is in; of the end, that of the byte which may come next."""
        if position >= self._size:
            return self.record.view_line_ends(self._view) + 1
        if self._hole is not None:
            span = self._hole.span(self._view)
            if span.start <= position < span.end:
                if not self._skip:
                    refuse(self.record, self._view, self._hole, f"byte {position}")
                return self._hole.lines(self._view)[1]
        (block,) = self._blocks.walk(position, position + 1, [])
        inside = block.data.count(self.record.terminator(), 0, position - block.start)
        return block.line_ends_before + inside + 1

    def start_of_time(self, time_us: int) -> int:
        """The first byte that entered the sequence at that time or later."""
        for row in self._since(COMBINED, time_us, 0):
            position = self._view.place(row, self.record.chunk_size)[0]
            for segment in chunk_codec.segments_of(row) if row.time_end >= time_us else ():
                if segment.time >= time_us:
                    return position
                position += segment.length if self._view.stream in {None, segment.stream} else 0
        return self._size

    # --- positions --------------------------------------------------------------------------------------

    def _after_line_end(self, count: int) -> tuple[Block, int] | int:
        """Where the ``count``-th line end of the view ends: a block and an offset in it, or a position.

        A position stands for the beginning, the end, or (in a rolled artifact) an edge of the hole.
        """
        if count == 0:
            return 0
        if count > self.record.view_line_ends(self._view):
            return self._size
        row = self._sequence.before_line(self._view, count)
        if row is not None:
            block = self._blocks.block(row)
            if block.ends_line(count):
                behind = count - block.line_ends_before
                return block, after_nth(block.data, self.record.terminator(), behind)
        if self._hole is not None:
            span = self._hole.span(self._view)
            if span.line_ends_before < count <= span.line_ends_after:
                return span.end
        what = f"the end of line {count} of {self._view.name} of {self.record.artifact_id}"
        if self._view.stream is None:  # the next one would have been found if it were there
            seq = 0 if row is None else row.seq + 1
            seq = self._hole.last_seq if self._hole is not None and seq == self._hole.first_seq else seq
            raise IntegrityError(f"chunk {seq}, which holds {what}, is missing")
        raise IntegrityError(f"the chunk that holds {what} is missing")
