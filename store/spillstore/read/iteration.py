"""Long reads in flat memory: each few chunks are one short transaction, and none is held between them.

So an abandoned iterator costs nothing. Above four batches the next ones are prefetched on the workers.
"""

from __future__ import annotations

import functools
import itertools
import time
from typing import TYPE_CHECKING, TypeVar

from spillstore import info as infos
from spillstore.exceptions import IntegrityError, RangeTooLargeError
from spillstore.format.chunk_codec import segments_of
from spillstore.model.arguments import byte_position, whole_number
from spillstore.model.records import STREAMS, VIEWS, view_of
from spillstore.read.block_reader import block_of
from spillstore.read.blocks import Run, runs
from spillstore.read.prefetch import prefetch
from spillstore.read.ranges import RangeReader
from spillstore.read.sieve import Part, sifted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.segment_map import Segment as StoredSegment
    from spillstore.info import Holes, Segment, Stream
    from spillstore.model.records import ArtifactRow, View
    from spillstore.read.blocks import Block
    from spillstore.read.handle import ArtifactHandle
    from spillstore.read.sieve import Rules

BLOCKS = 16  # chunks that are fetched in one short transaction: a batch
_SOON = 2  # batches that are made before any is prefetched: most searches end in the first page
_SCATTERED = 4  # parts; a batch of more is mostly look-ups, which hold the interpreter's lock: two threads take longer than one
_AHEAD = 4  # batches from which on the next ones are prefetched
T = TypeVar("T")


def batches(
    handle: ArtifactHandle,
    start: int,
    end: int | None,
    stream: Stream,
    holes: Holes,
    make: Callable[[Iterator[Run]], T],
    rules: Rules | None = None,
) -> Iterator[T]:
    """Apply ``make`` to the bytes ``[start, end)``, a batch of chunks at a time.

    ``make`` runs on the workers where the next batches can be prefetched, and has to use up what it is given.

    With ``rules``, whole lines may be left out: those in which what they look for cannot be, as gram filters tell. ``start`` is
    then where a line begins. Nothing is left out while the artifact is open, of a stream that is not all of it, and where
    lines end in CR.
    """
    view = view_of(stream)
    start = byte_position(start, "start", "chunks(0, 65536)")
    record = handle.row()
    size = record.view_size(view)
    end = size if end is None else min(whole_number(end, "end", "chunks(0, 65536)", least=None), size)
    batch = BLOCKS * record.chunk_size
    # Where a position tells its chunk, what comes next is known before the last batch is there.
    whole = view.stream is None or record.view_size(VIEWS["combined"]) == size
    if rules is not None and whole and record.state != "open" and record.terminator() == b"\n":
        parts = sifted(handle, record, start, end, rules, BLOCKS)
        yield from _sifted(handle, record, parts, view, make, rules)
        return
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


def _sifted(
    handle: ArtifactHandle,
    record: ArtifactRow,
    parts: Iterator[Part],
    view: View,
    make: Callable[[Iterator[Run]], T],
    rules: Rules,
) -> Iterator[T]:
    """Apply ``make`` to the whole lines of some parts, as many of them at once as are about a batch."""

    def read(some: list[Part]) -> T:
        return make(
            itertools.chain.from_iterable(_lines_of(handle, record, part, view, rules) for part in some)
        )

    packed = _packed(parts, BLOCKS * record.chunk_size)
    yield from map(read, itertools.islice(packed, _SOON))
    for are_scattered, several in itertools.groupby(packed, lambda some: len(some) > _SCATTERED):
        if are_scattered:
            yield from map(read, several)
        else:
            yield from prefetch(
                (functools.partial(read, some) for some in several), handle.session.check_usable
            )


def _lines_of(
    handle: ArtifactHandle, record: ArtifactRow, part: Part, view: View, rules: Rules
) -> Iterator[Run]:
    """The whole lines of a part; of those that reach in or out, the rest is read where they may hold what is looked for."""
    size = record.chunk_size
    runs = _in_turn(handle, part.start, part.end, view, "skip", record)
    last = next(runs, None)
    if last is None:
        return
    if part.before:
        head = last.data.find(b"\n") + 1
        if part.is_told_before and not rules.may_end_in_text(last.data[:head]):
            last = _from(last, head)
        else:
            (run,) = _in_turn(handle, part.start - size, part.start, view, "skip", record)
            yield _from(run, run.data.rindex(b"\n") + 1)
    for run in runs:
        yield last
        last = run
    if part.behind:
        tail = last.data.rfind(b"\n") + 1
        if part.is_told_behind and not rules.may_end_in_text(last.data[tail:]):
            last = _to(last, tail)
        else:
            yield last
            (last,) = _in_turn(handle, part.end, min(part.end + size, record.size), view, "skip", record)
            last = _to(last, last.data.index(b"\n") + 1)
    yield last


def _from(run: Run, low: int) -> Run:
    """A run without the bytes before a line's beginning."""
    ends = run.data.count(b"\n", 0, low)
    return Run(run.start + low, run.line + ends, run.line_ends - ends, run.data[low:])


def _to(run: Run, high: int) -> Run:
    """A run without the bytes behind a line's end."""
    return Run(run.start, run.line, run.data.count(b"\n", 0, high), run.data[:high])


def _packed(parts: Iterator[Part], size: int) -> Iterator[list[Part]]:
    """Parts that have that many bytes together; the last one of them may go beyond."""
    some: list[Part] = []
    room = size
    for part in parts:
        some.append(part)
        room -= part.end - part.start
        if room <= 0:
            yield some
            some, room = [], size
    if some:
        yield some


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


class Pauses:
    """How long to wait before an artifact is looked at again: ``poll`` seconds.

    Where each look is a round trip, twice as long each time that nothing came, up to the engine's ``longest_pause``.
    """

    def __init__(self, handle: ArtifactHandle, poll: float) -> None:
        self._poll = self._pause = poll
        self._longest = max(poll, handle.session.store.longest_pause)

    def next(self, *, came: bool) -> float:
        """Seconds; ``came`` says whether the look before has found something."""
        pause = self._poll if came else self._pause
        self._pause = min(2 * pause, self._longest)
        return pause


def follow(handle: ArtifactHandle, start: int, stream: Stream, poll: float, holes: Holes) -> Iterator[bytes]:
    """The blocks from ``start`` on, waiting for new ones until the artifact ends; see ``Pauses``."""
    pauses = Pauses(handle, poll)
    first = True  # which looks whether the arguments can be
    while True:
        record = handle.row()
        size = record.view_size(view_of(stream))
        came = first or size > start
        if came:
            yield from chunks(handle, start, size, stream, holes)
        start, first = max(start, size), False
        if record.state != "open":
            return
        time.sleep(pauses.next(came=came))


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


def segments(
    handle: ArtifactHandle, start: int, end: int | None, stream: Stream, holes: Holes
) -> Iterator[Segment]:
    """The bytes ``[start, end)`` of a view in the order of the sequence, each run with its stream and time."""
    view = view_of(stream)
    start = byte_position(start, "start", "segments(0, 65536)")
    record = handle.row()
    size = record.view_size(view)
    end = size if end is None else min(whole_number(end, "end", "segments(0, 65536)", least=None), size)
    while start < end:
        found = handle.read(stream, holes, _blocks_with_segments, start, end)
        if not found:
            return
        for block, stored in found:
            yield from _between(block, stored, view, record.chunk_size, start, end)
        start = found[-1][0].end


def _between(
    block: Block, stored: list[StoredSegment], view: View, chunk_size: int, start: int, end: int
) -> Iterator[Segment]:
    """The part of a block's segments that lies in ``[start, end)`` of the view."""
    row = block.row
    byte, own = row.seq * chunk_size, [row.stdout_start, row.stderr_start]
    at = block.start
    for stream, length, time_us in stored:
        if view.stream in {None, stream}:
            low, high = max(at, start), min(at + length, end)
            if low < high:
                data = block.data[low - block.start : high - block.start]
                yield infos.Segment(
                    STREAMS[stream], time_us / 1e6, data, byte + low - at, own[stream] + low - at
                )
            at += length
        byte += length
        own[stream] += length


def _blocks_with_segments(
    ranges: RangeReader, start: int, end: int
) -> list[tuple[Block, list[StoredSegment]]]:
    return [(block, segments_of(block.row)) for block in ranges.blocks(start, end, BLOCKS)]
