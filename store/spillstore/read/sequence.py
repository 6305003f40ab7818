"""The chunks of one artifact, one after the other: every read of chunks goes through here.

The artifact's row says which chunks there are: 0 to ``chunks - 1``, without those of the hole. So a walk knows of each
chunk where it has to begin before it has seen it, and none can be missing, come twice or stand in another's place
unnoticed: the bytes and line ends that a chunk counts before itself must be those at which the one before has ended, from
0 or the end of the hole on, and at the start of the hole and at the end those of the artifact's row. A walk over one stream
leaves out the chunks without bytes of it and is held against the counters of that stream.

A look-up by line, byte or time is one descent of an index and finds the wrong chunk where the right one is missing. So it
is only a hint: the caller compares what the chunk counts with what was looked for, or walks on from it.

On one snapshot and one artifact row; a batch of rows is one statement that is finished before the first is handed out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spillstore.exceptions import IntegrityError
from spillstore.format import chunk_codec
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import COMBINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.engine.rows import Snapshot
    from spillstore.format.digests import Algorithm
    from spillstore.model.records import ArtifactRow, View

FETCH = (
    32  # rows a statement brings at most, so that a long read holds 2 MiB, not its whole answer compressed
)


class Sequence:
    """The chunks of an artifact as its row says they must be."""

    __slots__ = ("_algorithm", "_chunk_size", "_key", "_prefix", "_record", "_snapshot", "hole")

    def __init__(self, snapshot: Snapshot, record: ArtifactRow, algorithm: Algorithm) -> None:
        self._snapshot = snapshot
        self._record = record
        self._algorithm = algorithm
        self.hole = record.parsed_hole()
        self._prefix = chunk_codec.prefix(record.artifact_id, record.newline)
        self._key = record.artifact_key
        self._chunk_size = record.chunk_size

    def before_line(self, view: View, line: int) -> ChunkRow | None:
        """The last chunk of a view that is there and counts fewer line ends: a hint, since the right one may be missing."""
        values = self._snapshot.chunk_before_line(self._key, view.stream, line)
        return None if values is None else self._verified(values)

    def before_time(self, time_us: int) -> ChunkRow | None:
        """The last chunk that is there and begins before that time: likewise a hint."""
        values = self._snapshot.chunk_before_time(self._key, time_us)
        return None if values is None else self._verified(values)

    def _at_byte(self, stream: int, position: int) -> ChunkRow | None:
        """The last chunk that is there and whose part of a stream begins at that byte or before it: likewise a hint."""
        values = self._snapshot.chunk_at_byte(self._key, stream, position)
        return None if values is None else self._verified(values)

    def walk(
        self,
        view: View,
        start: int,
        end: int,
        *,
        head: ChunkRow | None = None,
        tail: ChunkRow | None = None,
        begins: bool = False,
        few: int = FETCH,
        wanted: int | None = None,
    ) -> Iterator[ChunkRow]:
        """The chunks that hold bytes ``[start, end)`` of a view, none of which lies in the hole, in their order.

        Args:
            view: whose positions they are.
            start: the first byte.
            end: the byte after the last; within the view.
            head: the first of these chunks, if it is known; it is not fetched again.
            tail: the last of them and not ``head``, likewise.
            begins: whether a chunk's part of the view is known to begin at ``start``, which saves a look-up.
            few: chunks that are fetched at once.
            wanted: where those that are surely wanted end; behind it they are fetched one by one.

        Raises:
            IntegrityError: names the chunk that is missing, damaged or does not go on where the one before it ends.
        """
        place, chunk_size = view.place, self._chunk_size
        stop = end if tail is None else place(tail, chunk_size)[0]
        position = start
        if view.stream is None:
            position -= start % chunk_size
        elif head is None and not begins:
            head = self._at_byte(view.stream, start)
        if head is not None:
            position = self._begin(view, head, start)
        lines, last = None if position and self.hole is None else self._lines_at(view, position), None
        rows = [head] if head is not None else self._fetch(view, position, stop, few, wanted)
        while rows:
            for row in rows:
                begin, size, before, inside = place(row, chunk_size)
                if (
                    begin != position
                    or (lines is not None and lines != before)
                    or (last is not None and _apart(last, row))
                ):
                    raise self._wrong(view, position, row)
                position, lines, last = begin + size, before + inside, row
            if position >= end and self._lines_at(view, position) not in {None, lines}:
                raise self._wrong(view, position, rows[-1])
            yield from rows
            if position < stop:
                rows = self._fetch(view, position, stop, few, wanted)
            else:
                rows, stop, tail = [] if tail is None else [tail], end, None
        if position < end:
            raise self._missing(view, position)

    def one(self, seq: int) -> ChunkRow:
        """Chunk ``seq`` of an artifact without a hole: ``walk`` for what lies in one chunk, in half the time.

        Raises:
            IntegrityError: it is missing, damaged or does not count what its artifact does.
        """
        rows = self._snapshot.chunks(self._key, None, seq - 1, seq, 1)
        try:
            values = next(rows, None)
        finally:
            rows.close()
        if values is None:
            raise self._missing(COMBINED, seq * self._chunk_size)
        row = self._verified(values)
        if seq == 0 or seq == self._record.chunks - 1:
            self.check_borders(COMBINED, row)
        return row

    def check_borders(self, view: View, row: ChunkRow) -> None:
        """Compare the line ends that a chunk counts with the artifact's, where its row says them: at its ends and a hole's.

        Raises:
            IntegrityError: they differ.
        """
        begin, size, before, inside = view.place(row, self._chunk_size)
        for position, lines in ((begin, before), (begin + size, before + inside)):
            if self._lines_at(view, position) not in {None, lines}:
                raise self._wrong(view, begin, row)

    def _begin(self, view: View, head: ChunkRow, start: int) -> int:
        """Where the chunk begins that must hold byte ``start``."""
        begin, size, _, _ = view.place(head, self._chunk_size)
        if not begin <= start < begin + size:
            raise self._missing(view, start)
        return begin

    def chunks(self, first: int, end: int) -> list[ChunkRow]:
        """The chunks ``[first, end)``, none of them in the hole; fewer at the end of the artifact.

        Raises:
            IntegrityError: as for ``walk``.
        """
        size = self._chunk_size
        return list(self.walk(COMBINED, first * size, min(end * size, self._record.size)))

    def with_grams(self, first: int, end: int, before: ChunkRow | None) -> list[ChunkRow]:
        """The chunks ``[first, end)``, none of them in the hole, without their segments and data.

        Of a chunk with a gram filter, all that comes before these is verified by that. Of one without, nothing is.

        Args:
            first: number of the first.
            end: the number behind the last.
            before: the chunk before the first, if it is known.

        Raises:
            IntegrityError: names the chunk that is missing, has a damaged filter or does not go on where the one before ends.
        """
        fetched = self._snapshot.chunk_grams(self._key, first - 1, end - 1, end - first)
        try:
            rows = list(map(ChunkRow._make, fetched))
        finally:
            fetched.close()
        for expected, row in enumerate(rows, first):
            if row.seq != expected:
                raise self._missing(COMBINED, expected * self._chunk_size)
            if row.grams is not None:
                chunk_codec.verify_grams(row, self._prefix, self._algorithm)
                self._check_size(row)
                if before is not None and before.grams is not None and _apart(before, row):
                    raise self._wrong(COMBINED, row.seq * self._chunk_size, row)
            before = row
        if len(rows) < end - first:
            raise self._missing(COMBINED, (first + len(rows)) * self._chunk_size)
        return rows

    def stray(self, first: int, last: int) -> int | None:
        """The first chunk from ``first`` to ``last``, where none should be; None if there is none."""
        rows = self._snapshot.chunks(self._key, None, first - 1, last, 1)
        try:
            return next((row[0] for row in rows), None)
        finally:
            rows.close()

    def _missing(self, view: View, position: int) -> IntegrityError:
        name = self._record.artifact_id
        if view is COMBINED:
            return IntegrityError(f"chunk {position // self._chunk_size} of {name} is missing")
        return IntegrityError(f"the chunk that holds byte {position} of {view.name} of {name} is missing")

    def _wrong(self, view: View, position: int, row: ChunkRow) -> IntegrityError:
        """The error for a chunk that does not go on at ``position``, where the one before it ends."""
        if view.place(row, self._chunk_size)[0] > position:
            return self._missing(view, position)
        return IntegrityError(
            f"chunk {row.seq} of {self._record.artifact_id} counts other bytes or lines than its artifact and the chunk "
            "before it"
        )

    def _lines_at(self, view: View, position: int) -> int | None:
        """The line ends of a view before a border of chunks, where the artifact's row says so."""
        if position == 0:
            return 0
        if self.hole is not None:
            span = self.hole.span(view)
            if position == span.start:
                return span.line_ends_before
            if position == span.end:
                return span.line_ends_after
        return self._record.view_line_ends(view) if position == self._record.view_size(view) else None

    def _fetch(self, view: View, position: int, stop: int, few: int, wanted: int | None) -> list[ChunkRow]:
        """Up to ``few`` verified rows from ``position`` on, in the order of the view's index."""
        if wanted is not None:
            stop, few = (min(stop, wanted), few) if position < wanted else (stop, 1)
        after, last = position - 1, stop - 1
        if view.stream is None:
            after, last = position // self._chunk_size - 1, last // self._chunk_size
        most = min(few, last - after)
        rows = self._snapshot.chunks(self._key, view.stream, after, last, most)
        try:
            # One by one: what is too large for a chunk is refused before the next is fetched.
            return [self._verified(values) for values in rows]
        finally:
            rows.close()  # one that is not finished would hold back the checkpoint

    def _verified(self, values: tuple[Any, ...]) -> ChunkRow:
        row = ChunkRow._make(values)
        chunk_codec.verify(row, self._prefix, self._algorithm)
        chunk_codec.verify_grams(row, self._prefix, self._algorithm)
        self._check_size(row)
        if self.hole is not None and self.hole.first_seq <= row.seq < self.hole.last_seq:
            raise IntegrityError(
                f"chunk {row.seq} of {self._record.artifact_id} was dropped, and is still there"
            )
        return row

    def _check_size(self, row: ChunkRow) -> None:
        expected = min(self._chunk_size, self._record.size - row.seq * self._chunk_size)
        if row.size != expected:
            # Right once, perhaps: the unfinished last chunk as it was before it grew.
            raise IntegrityError(
                f"chunk {row.seq} of {self._record.artifact_id} has {row.size} bytes where its artifact has {expected}"
            )


def _apart(before: ChunkRow, row: ChunkRow) -> bool:
    """Whether a chunk cannot come after another; the counters of the view are compared besides."""
    if row.seq != before.seq + 1:
        return row.seq <= before.seq or row.time_start < before.time_end
    return (
        row.stdout_start != before.stdout_start + before.stdout_size
        or row.stdout_line_start != before.stdout_line_start + before.stdout_lines
        or row.time_start < before.time_end
    )
