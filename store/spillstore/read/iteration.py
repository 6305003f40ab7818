"""Long reads in flat memory: each few chunks are one short transaction, and none is held between them.

So an abandoned iterator costs nothing. Above four batches the next ones are prefetched on the workers.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, TypeVar

from spillstore import info as infos
from spillstore.exceptions import IntegrityError, RangeTooLargeError
from spillstore.format.chunk_codec import segments_of
from spillstore.model.arguments import byte_position, whole_number
from spillstore.model.records import STREAMS, VIEWS, view_of
from spillstore.read.block_reader import block_of
from spillstore.read.blocks import runs
from spillstore.read.prefetch import prefetch
from spillstore.read.ranges import RangeReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.segment_map import Segment as StoredSegment
    from spillstore.info import Holes, Segment, Stream
    from spillstore.model.records import ArtifactRow, View
    from spillstore.read.blocks import Block, Run
    from spillstore.read.handle import ArtifactHandle

BLOCKS = 16  # chunks that are fetched in one short transaction: a batch
_AHEAD = 4  # batches from which on the next ones are prefetched
T = TypeVar("T")


def batches(
    handle: ArtifactHandle,
    start: int,
    end: int | None,
    stream: Stream,
    holes: Holes,
    make: Callable[[Iterator[Run]], T],
) -> Iterator[T]:
    """Apply ``make`` to the bytes ``[start, end)``, a batch of chunks at a time.

    ``make`` runs on the workers where the next batches can be prefetched, and has to use up what it is given.
    """
    view = view_of(stream)
    start = byte_position(start, "start", "chunks(0, 65536)")
    record = handle.row()
    size = record.view_size(view)
    end = size if end is None else min(whole_number(end, "end", "chunks(0, 65536)", least=None), size)
    batch = BLOCKS * record.chunk_size
    # Where a position tells its chunk, what comes next is known before the last batch is there.
    whole = view.stream is None or record.view_size(VIEWS["combined"]) == size
    soon = end
    if whole and end - start > _AHEAD * batch:
        soon = start - start % batch + 2 * batch
    while start < soon:
        rows = handle.read(stream, holes, RangeReader.rows, start, soon, BLOCKS)
        if not rows:
            break
        yield make(runs(_decoded(handle, rows, view, record), start, soon, record.terminator()))
        start = _end(rows[-1], view, record)

    def read(low: int, high: int) -> T:
        return make(_in_turn(handle, low, high, view, holes, record))

    makers = (functools.partial(read, at, min(at + batch, end)) for at in range(soon, end, batch))
    yield from prefetch(makers, handle.session.check_usable)


def _in_turn(
    handle: ArtifactHandle, start: int, end: int, view: View, holes: Holes, record: ArtifactRow
) -> Iterator[Run]:
    """The bytes ``[start, end)``, each batch when those before have been used."""
    while start < end:
        rows = handle.read(view.name, holes, RangeReader.rows, start, end, BLOCKS)
        if not rows:
            return
        yield from runs(_decoded(handle, rows, view, record), start, end, record.terminator())
        start = _end(rows[-1], view, record)


def _decoded(
    handle: ArtifactHandle, rows: list[ChunkRow], view: View, record: ArtifactRow
) -> Iterator[Block]:
    """Chunks decoded one by one, outside of any transaction: who is done with one before the next needs memory for one."""
    for row in rows:
        try:
            block = block_of(row, view, record.chunk_size)
        except IntegrityError as error:
            handle.session.audit.damaged(handle.artifact_id, error)
            raise
        yield block


def _end(row: ChunkRow, view: View, record: ArtifactRow) -> int:
    return sum(view.place(row, record.chunk_size)[:2])


def chunks(
    handle: ArtifactHandle, start: int, end: int | None, stream: Stream, holes: Holes
) -> Iterator[bytes]:
    """The bytes ``[start, end)`` in blocks of at most one chunk."""
    for batch in batches(handle, start, end, stream, holes, list):
        for run in batch:
            yield run.data


def follow(handle: ArtifactHandle, start: int, stream: Stream, poll: float, holes: Holes) -> Iterator[bytes]:
    """The blocks from ``start`` on, waiting for new ones until the artifact ends; it polls every ``poll`` seconds."""
    while True:
        record = handle.row()
        size = record.view_size(view_of(stream))
        yield from chunks(handle, start, size, stream, holes)
        start = max(start, size)
        if record.state != "open":
            return
        time.sleep(poll)


def lines(handle: ArtifactHandle, stream: Stream, holes: Holes, max_bytes: int) -> Iterator[bytes]:
    """The lines of a view, none longer than ``max_bytes``; at a hole a line ends."""
    ending = handle.row().terminator()
    begun: list[bytes] = []  # the parts of a line that goes on in the next chunk
    size = position = number = 0
    for batch in batches(handle, 0, None, stream, holes, list):
        for run in batch:
            if run.start != position and begun:  # the rest of this line was dropped
                yield b"".join(begun)
                begun, size = [], 0
            *whole, rest = run.data.split(ending)
            number, position = run.line, run.start + len(run.data)
            for part in whole:
                if size + len(part) >= max_bytes:
                    raise _long_line(handle, number, max_bytes)
                yield b"".join((*begun, part, ending))
                begun, size, number = [], 0, number + 1
            if rest:
                begun.append(rest)
                size += len(rest)
                if size > max_bytes:
                    raise _long_line(handle, number, max_bytes)
    if begun:
        yield b"".join(begun)


def _long_line(handle: ArtifactHandle, number: int, max_bytes: int) -> RangeTooLargeError:
    return RangeTooLargeError(
        f"line {number} of {handle.artifact_id} has more than max_bytes={max_bytes} bytes; raise that, or iterate with "
        "chunks()"
    )


def segments(handle: ArtifactHandle, holes: Holes) -> Iterator[Segment]:
    """Both streams in the order of the sequence."""
    start, size = 0, handle.row().view_size(VIEWS["combined"])
    while start < size:
        found = handle.read("combined", holes, _blocks_with_segments, start, size)
        if not found:
            return
        for block, stored in found:
            at = 0
            for stream, length, time_us in stored:
                data = block.data[at : min(at + length, size - block.start)]
                at += length
                if data:
                    yield infos.Segment(STREAMS[stream], time_us / 1e6, data)
        start = found[-1][0].end


def _blocks_with_segments(
    ranges: RangeReader, start: int, end: int
) -> list[tuple[Block, list[StoredSegment]]]:
    return [(block, segments_of(block.row)) for block in ranges.blocks(start, end, BLOCKS)]
