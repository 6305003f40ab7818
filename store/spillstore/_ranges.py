"""Ranges out of chunks: lines, bytes and times, of either stream or both, holes and all.

Every function here works on one connection and one artifact row, so that a bounded read sees one snapshot. The cost of
a read is the chunks that hold its answer, plus at most one at each end that only holds the line end before it; what is
stored besides never matters. Nothing is returned from a chunk whose digest, position and counters were not checked.

A read goes in two steps: find the chunk in which it begins and the one in which it ends (each look-up one descent of an
index), then walk from one to the other. In a rolled artifact a border can lie in the hole; it is then moved to the
hole's edge, after the hole itself was reported or skipped.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from spillstore import _codec, _sql
from spillstore._codec import ChunkRow
from spillstore._database import SESSION_KEY
from spillstore.exceptions import DroppedRangeError, IntegrityError, RangeError, RangeTooLargeError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from spillstore._digests import Algorithm
    from spillstore._records import ArtifactRow, Hole, View
    from spillstore.info import Holes

_FETCH = (
    32  # rows a statement brings at most, so that a long read holds 2 MiB, not its whole answer compressed
)
_STEP = 4096


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


class Run(NamedTuple):
    """Bytes of a view that stand in one chunk: the first one's place and line, and the line ends in them."""

    start: int
    line: int
    line_ends: int
    data: bytes


def runs(blocks: list[Block], start: int, end: int, terminator: bytes) -> Iterator[Run]:
    """The part of blocks that lies in ``[start, end)``."""
    for block in blocks:
        if block.start >= start and block.end <= end:
            yield Run(block.start, block.line_ends_before + 1, block.line_ends, block.data)
        else:
            low = max(0, start - block.start)
            data = block.data[low : end - block.start]
            line = block.line_ends_before + block.data.count(terminator, 0, low) + 1
            yield Run(block.start + low, line, data.count(terminator), data)


class RangeReader:
    """Reads ranges of one view of one artifact, inside one transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        record: ArtifactRow,
        algorithm: Algorithm,
        view: View,
        holes: Holes,
    ) -> None:
        if holes not in {"raise", "skip"}:
            raise RangeError(f'holes must be "raise" or "skip", not {holes!r}')
        self._connection = connection
        self.record = record
        self._algorithm = algorithm
        self._view = view
        self._skip = holes == "skip"
        self._hole = record.parsed_hole()
        self._size = record.view_size(view)
        self._prefix = _codec.prefix(record.artifact_id, record.newline)
        self._key = (SESSION_KEY, record.artifact_key)

    # --- what callers ask for ---------------------------------------------------------------------------

    def read_lines(self, first: int, last: int, max_bytes: int) -> bytes:
        """Lines ``first`` to ``last``, inclusive, with their endings; clipped at the end."""
        total = self.record.view_lines(self._view)
        if first > total:
            return b""
        last = min(last, total)
        if self._hole is not None and not self._skip:
            self._refuse_lines(self._hole, first, last)
        begin = self._after_line_end(first - 1)
        if isinstance(begin, tuple) and self._ends_in(begin[0], last):
            finish: tuple[Block, int] | int = begin[0], self._offset(begin[0], last)
        else:
            finish = self._after_line_end(last)
        start = begin if isinstance(begin, int) else begin[0].start + begin[1]
        end = finish if isinstance(finish, int) else finish[0].start + finish[1]
        known = [side[0] for side in (begin, finish) if isinstance(side, tuple)]
        return self._join(start, end, max_bytes, known)

    def read_tail(self, lines: int, max_bytes: int) -> bytes:
        """The last ``lines`` lines."""
        total = self.record.view_lines(self._view)
        return self.read_lines(max(1, total - lines + 1), total, max_bytes) if total and lines else b""

    def read_bytes(self, start: int, end: int, max_bytes: int) -> bytes:
        """Bytes ``[start, end)``; clipped at the end."""
        end = min(end, self._size)
        if start >= end:
            return b""
        return self._join(start, end, max_bytes, [])

    def read_time(self, start_us: int, end_us: int, max_bytes: int) -> bytes:
        """Bytes whose segments have a time in ``[start_us, end_us)``."""
        record, hole = self.record, self._hole
        if not record.size or start_us >= end_us:
            return b""
        if hole is not None and not self._skip and start_us <= hole.time_end and end_us > hole.time_start:
            self._refuse(hole, f"seconds {start_us / 1e6:g} to {end_us / 1e6:g}")
        last = self._locate(_sql.TIME_COMBINED, end_us)
        if last is None:
            return b""
        first = self._locate(_sql.TIME_COMBINED, start_us)
        after = first.seq - 1 if first is not None else -1
        sql, stop = _sql.RANGE_COMBINED, last.seq
        if self._view.stream is not None:
            after = self._view_start(first) - 1 if first is not None else -1
            sql, stop = self._view.range_sql, self._view_start(last)
        parts: list[bytes] = []
        size = 0
        while after < stop:
            rows, after = self._fetch(sql, after, stop)
            for row in rows:
                found = self._during(row, start_us, end_us) if row.time_end >= start_us else []
                size += sum(map(len, found))
                parts += found
                if size > max_bytes:
                    raise _too_large(f"more than {size}", max_bytes)
        return b"".join(parts)

    def _during(self, row: ChunkRow, start_us: int, end_us: int) -> list[bytes]:
        """The view's bytes of a chunk's segments whose time is in ``[start_us, end_us)``."""
        raw, at = _codec.decode(row), 0
        parts = []
        for segment in _codec.segments_of(row):
            if self._view.stream in {None, segment.stream} and start_us <= segment.time < end_us:
                parts.append(raw[at : at + segment.length])
            at += segment.length
        return parts

    def blocks(self, start: int, end: int, limit: int) -> list[Block]:
        """Up to ``limit`` chunks that hold bytes of ``[start, end)``, from the first on, for long reads.

        A block may begin before ``start`` or end after ``end``. The list is empty where there is nothing left.
        """
        end = min(end, self._size)
        if start >= end:
            return []
        if self._hole is not None:
            span = self._hole.span(self._view)
            if start < span.end and end > span.start and start >= span.start:
                if not self._skip:
                    self._refuse(self._hole, f"bytes {start} to {end}")
                start = span.end
            elif start < span.start:
                end = min(end, span.start)
        if start >= end:
            return []
        return self._walk(start, end, [], limit)

    # --- where things stand ------------------------------------------------------------------------------

    def start_of_line(self, number: int) -> int:
        """The first byte of a line; the end for one past the last."""
        found = self._after_line_end(number - 1)
        if not isinstance(found, int):
            return found[0].start + found[1]
        if self._hole is not None and not self._skip and found == self._hole.span(self._view).end:
            self._refuse_lines(self._hole, number, number)
        return found

    def line_of(self, position: int) -> int:
        """The line that a byte is in; of the end, that of the byte which may come next."""
        if position >= self._size:
            return self.record.view_line_ends(self._view) + 1
        if self._hole is not None:
            span = self._hole.span(self._view)
            if span.start <= position < span.end:
                if not self._skip:
                    self._refuse(self._hole, f"byte {position}")
                return self._hole.lines(self._view)[1]
        (block,) = self._walk(position, position + 1, [], None)
        before, _ = self._line_counters(block.row)
        return before + block.data.count(self.record.terminator(), 0, position - block.start) + 1

    def start_of_time(self, time_us: int) -> int:
        """The first byte that entered the sequence at that time or later."""
        row = self._locate(_sql.TIME_COMBINED, time_us)
        after = row.seq - 1 if row is not None else -1
        last = self.record.size // self.record.chunk_size
        while after < last:
            rows, after = self._fetch(_sql.RANGE_COMBINED, after, last, 2)
            for each in rows:
                position = self._view_start(each)
                for segment in _codec.segments_of(each):
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
        row = self._locate(self._view.line_sql, count)
        if row is not None:
            block = self._block(row)
            if self._ends_in(block, count):
                return block, self._offset(block, count)
        if self._hole is None:
            raise IntegrityError(f"the chunk that holds line {count} of {self.record.artifact_id} is missing")
        return self._hole.span(self._view).end

    def _line_counters(self, row: ChunkRow) -> tuple[int, int]:
        """Line ends of the view before the chunk, and in it."""
        if self._view.stream is None:
            return row.line_start, row.stdout_lines + row.stderr_lines
        return (
            (row.stdout_line_start, row.stdout_lines),
            (row.stderr_line_start, row.stderr_lines),
        )[self._view.stream]

    def _ends_in(self, block: Block, count: int) -> bool:
        before, inside = self._line_counters(block.row)
        return before < count <= before + inside

    def _offset(self, block: Block, count: int) -> int:
        before, _ = self._line_counters(block.row)
        return after_nth(block.data, self.record.terminator(), count - before)

    # --- chunks -----------------------------------------------------------------------------------------

    def _join(self, start: int, end: int, max_bytes: int, known: list[Block]) -> bytes:
        """The bytes ``[start, end)``, the hole checked or skipped; ``known`` blocks are not decoded again."""
        if self._hole is not None:
            span = self._hole.span(self._view)
            if start < span.end and end > span.start:
                if not self._skip:
                    self._refuse(self._hole, f"bytes {start} to {end}")
                present = max(0, span.start - start) + max(0, end - span.end)
                if present > max_bytes:
                    raise _too_large(str(present), max_bytes)
                return self._piece(start, min(end, span.start), known) + self._piece(
                    max(start, span.end), end, known
                )
        if end - start > max_bytes:
            raise _too_large(str(end - start), max_bytes)
        return self._piece(start, end, known)

    def _piece(self, start: int, end: int, known: list[Block]) -> bytes:
        if start >= end:
            return b""
        if self._view.stream is None and not known:
            return self._straight(start, end)
        parts = []
        for block in self._walk(start, end, known, None):
            low, high = max(start - block.start, 0), end - block.start
            parts.append(block.data if low == 0 and high >= len(block.data) else block.data[low:high])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _straight(self, start: int, end: int) -> bytes:
        """What ``_walk`` gives of the combined view, joined.

        There a position says its chunk, so neither blocks nor their starts are needed: 0.1 of the time of reading 64 KiB.
        """
        size = self.record.chunk_size
        seq, last = start // size, (end - 1) // size
        low, high = start - seq * size, end - last * size
        parts: list[bytes | memoryview] = []
        while seq <= last:
            rows, _ = self._fetch(_sql.RANGE_COMBINED, seq - 1, last)
            for row in rows:
                if row.seq != seq or (row.size != size and seq != last):
                    raise self._missing(seq * size)
                parts.append(_codec.decode(row))
                seq += 1
            if not rows:
                raise self._missing(seq * size)
        if len(parts[-1]) < high:
            raise self._missing(last * size + len(parts[-1]))
        if len(parts) == 1:
            return bytes(parts[0][low:high])
        parts[0], parts[-1] = memoryview(parts[0])[low:], memoryview(parts[-1])[:high]
        return b"".join(parts)

    def _walk(self, start: int, end: int, known: list[Block], limit: int | None) -> list[Block]:
        """The blocks that cover ``[start, end)``, each checked to begin where the one before ended.

        ``known`` blocks at either side are used as they are. Up to ``limit`` blocks are found between them; if there are
        more, the walk ends there.
        """
        head = next((block for block in known if block.start <= start < block.end), None)
        tail = next((block for block in known if block.start < end <= block.end and block is not head), None)
        position = start if head is None else head.end
        walked = [] if head is None else [head]
        stop = end if tail is None else tail.start
        if position < stop:
            for block in self._between(position, stop, head, limit):
                if not block.start <= position < block.end or (block.start < position and position != start):
                    raise self._missing(position)
                position = block.end
                walked.append(block)
                if len(walked) == limit:
                    return walked
        if tail is not None and tail.start == position:
            position = tail.end
            walked.append(tail)
        if position < end:
            raise self._missing(position)
        return walked

    def _between(self, start: int, stop: int, head: Block | None, limit: int | None) -> list[Block]:
        """The blocks of the chunks that hold ``[start, stop)``; ``head`` is the one before them, if it is known."""
        found: list[Block] = []
        if self._view.stream is None:
            size = self.record.chunk_size
            after, last = start // size - 1, (stop - 1) // size
        else:
            last = stop - 1
            if head is not None:
                after = head.start
            else:
                located = self._locate(self._view.byte_sql, start)
                if located is None:
                    raise self._missing(start)
                found.append(self._block(located))
                after = self._view_start(located)
        while after < last and (limit is None or len(found) < limit):
            rows, after = self._fetch(self._view.range_sql, after, last, limit)
            found += [self._block(row) for row in rows]
        return found

    def _fetch(self, sql: str, after: int, last: int, limit: int | None = None) -> tuple[list[ChunkRow], int]:
        """A few verified rows with a key in ``(after, last]``, and where to go on; ``last`` if that was all."""
        combined = sql is _sql.RANGE_COMBINED
        few = min(_FETCH, limit or _FETCH, last - after)
        # One by one: what is too large for a chunk is refused before the next is fetched.
        rows = [
            self._verified(values) for values in self._connection.execute(sql, (*self._key, after, last, few))
        ]
        if len(rows) < few:
            return rows, last
        following = rows[-1].seq if combined else self._view_start(rows[-1])
        if following <= after:  # an index that contradicts its table would have us go round for ever
            raise IntegrityError(f"the chunks of {self.record.artifact_id} are not in order")
        return rows, following

    def _locate(self, sql: str, bound: int) -> ChunkRow | None:
        values = self._connection.execute(sql, (*self._key, bound)).fetchone()
        return None if values is None else self._verified(values)

    def _verified(self, values: tuple[Any, ...]) -> ChunkRow:
        row = ChunkRow._make(values)
        _codec.verify(row, self._prefix, self._algorithm)
        chunk_size = self.record.chunk_size
        expected = min(chunk_size, self.record.size - row.seq * chunk_size)
        if row.size != expected:
            # Right once, perhaps: the unfinished last chunk as it was before it grew.
            raise IntegrityError(
                f"chunk {row.seq} of {self.record.artifact_id} has {row.size} bytes where its artifact has {expected}"
            )
        return row

    def _block(self, row: ChunkRow) -> Block:
        raw = _codec.decode(row)
        if self._view.stream is not None:
            raw = _codec.stream_part(row, raw, self._view.stream)
        return Block(row, self._view_start(row), raw, *self._line_counters(row))

    def _view_start(self, row: ChunkRow) -> int:
        """Bytes of the view before a chunk."""
        if self._view.stream is None:
            return row.seq * self.record.chunk_size
        return (row.stdout_start, row.stderr_start)[self._view.stream]

    # --- refusals ---------------------------------------------------------------------------------------

    def _missing(self, position: int) -> IntegrityError:
        return IntegrityError(
            f"the chunk that holds byte {position} of {self._view.name} of {self.record.artifact_id} is missing"
        )

    def _refuse_lines(self, hole: Hole, first: int, last: int) -> None:
        low, high = hole.lines(self._view)
        if low <= high and first <= high and last >= low:
            self._refuse(hole, f"lines {first} to {last}")

    def _refuse(self, hole: Hole, what: str) -> None:
        span = hole.span(self._view)
        if span.start == span.end:
            return  # this view lost nothing
        low, high = hole.lines(self._view)
        lines = [
            f"{first}-{last}"
            for first, last in ((1, low - 1), (high + 1, self.record.view_lines(self._view)))
            if first <= last
        ]
        whole = f"Whole lines there are still {' and '.join(lines)}" if lines else "No line is still whole"
        raise DroppedRangeError(
            f"{what} of {self.record.artifact_id} touch what was dropped when it met its limit of "
            f"{self.record.size_limit} bytes: lines {low}-{high}, bytes {span.start}-{span.end} ({self._view.name}). "
            f'{whole}; bytes 0-{span.start} and {span.end}-{self._size}. Ask for those, or leave the gap out (holes="skip")',
            dropped_bytes=(span.start, span.end),
            dropped_lines=(low, high),
            before=(0, span.start),
            after=(span.end, self._size),
        )


def after_nth(data: bytes, terminator: bytes, count: int) -> int:
    r"""The offset behind the ``count``-th terminator: counted in steps, then found one by one.

    Example:
        >>> after_nth(b"one\ntwo\nthree", b"\n", 2)
        8
    """
    start = 0
    while (inside := data.count(terminator, start, start + _STEP)) < count:
        count -= inside
        start += _STEP
        if start > len(data):
            raise IntegrityError("a chunk holds fewer line ends than its row says")
    for _ in range(count):
        start = data.index(terminator, start) + 1
    return start


def _too_large(size: str, max_bytes: int) -> RangeTooLargeError:
    return RangeTooLargeError(
        f"the answer has {size} bytes and max_bytes is {max_bytes}; ask for less, raise max_bytes, or iterate with "
        "chunks() or open()"
    )
