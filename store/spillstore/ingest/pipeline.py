"""One artifact being written: from the inbox to ordered batches of rows.

``write`` only appends to the inbox. Whoever pumps (a worker when enough has come together, the committer when a trickle
is due, or the caller of ``flush`` and ``close`` itself, which saves two thread switches on small outputs) takes from
the inbox, gets a batch number and runs filters and redactors under ``_taking``, runs interleaver and chunker under
``sequencing``, and compresses without a lock. It takes the second lock before it lets the first one go, so batches keep
their order, and two threads can work on one artifact. Batches are committed in the order of their numbers.

What a filter does to a byte may cost a thousand times what everything else does. So of bytes that go through one, only
``UNFILTERED`` wait in the inbox, fewer while the filter is slow; they are taken a few at a time, and a pump ends when that
has taken ``PUMP_SECONDS``. Then what was accepted is committed within a second, and others get their turn. (Half as many
take a third more processor time for ordinary logs: two threads that wake each other for every write.)
"""

from __future__ import annotations

import contextvars
import dataclasses
import itertools
import operator
import threading
from collections import deque
from typing import TYPE_CHECKING

from spillstore.format import chunk_codec
from spillstore.format.chunk import COMBINED_BIT, SEGMENT_US, Totals
from spillstore.format.chunker import Chunker
from spillstore.format.digests import new_digest
from spillstore.ingest.interleaver import Interleaver
from spillstore.model.records import STREAMS
from spillstore.settings import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from spillstore.exceptions import SpillstoreError
    from spillstore.format.chunk import Piece
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Algorithm
    from spillstore.ingest.stream_filters import StreamFilter, Tap
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow
    from spillstore.redaction import Redactor

BATCH_BYTES = 2 * MIB
UNFILTERED = 256 * KIB
UNFILTERED_SLOW = 64 * KIB
SLOW = (
    2 * MIB
)  # bytes a second of a filter; text that costs as little as a log takes a hundredth of that time
SLICE = 128 * KIB
PUMP_SECONDS = 0.05
Item = tuple[int, bytes, int]  # stream, bytes, microseconds since the artifact began


@dataclasses.dataclass(slots=True)
class Ending:
    """How an artifact ends."""

    state: str
    reason: str | None = None
    exit_code: int | None = None
    newline: str = "lf"
    content_digest: bytes | None = None
    redactions: dict[str, int] = dataclasses.field(default_factory=dict)  # how many secrets, by kind


@dataclasses.dataclass(slots=True)
class Batch:
    """Consecutive rows and the counters behind them."""

    number: int
    rows: list[ChunkRow]
    partial: bool  # the last row is a chunk that will be written again when it has grown
    totals: Totals
    received: int
    raw_bytes: int
    ending: Ending | None

    @property
    def stored_bytes(self) -> int:
        """Bytes of the compressed chunks and their maps."""
        return sum(row.stored_size for row in self.rows)


class TakenError(Exception):
    """Somebody else takes from the inbox."""


class Pipeline:
    """The state of one writer. Fields down to ``error`` are protected by the lock of the ``IngestQueue``."""

    def __init__(
        self,
        row: ArtifactRow,
        *,
        algorithm: Algorithm,
        hold_us: int,
        clock: Clock,
        filters: tuple[StreamFilter, StreamFilter] | None,
        redactors: tuple[Redactor, Redactor] | None,
        redacted: Mapping[str, int],
        tap: Tap | None,
        actor: str | None = None,
        ago: float = 0.0,
    ) -> None:
        self.actor = actor  # who has begun it, and in what context; neither changes
        self.context = contextvars.copy_context()
        self.inbox: deque[Item] = deque()
        self.inbox_bytes = 0
        self.scheduled = 0  # pumps that workers have been asked for and not begun
        self.received = 0
        self.uncommitted = 0  # bytes of what was received
        self.waiting = 0  # writers, for room
        self.dirty_since: float | None = None  # when the oldest write was made that is not committed
        self.due = False  # whether the next pump gives the unfinished chunk too, so that all is committed
        self.ready: dict[int, Batch] = {}
        self.ready_bytes = 0
        self.next_commit = 0
        self.ended = False
        self.error: SpillstoreError | None = None

        # Protected by the lock of the ``Committer``: what the database holds of this artifact.
        self.row = row
        self.partial_size: int | None = None  # stored bytes of the unfinished chunk that was committed
        self.chunk_digests = new_digest(algorithm)  # over the digests of the finished chunks, in order

        self._taking = threading.Lock()  # protects what follows, and taking from the inbox
        self._newest_batch = -1
        self.finished = False  # the batch that ends was taken
        self._algorithm = algorithm
        self._prefix = chunk_codec.prefix(row.artifact_id, row.newline)
        self._clock = clock
        self._started = clock.monotonic() - ago
        self.filtered = filters is not None or redactors is not None
        self.pumped_at_once = SLICE if self.filtered else BATCH_BYTES  # about so many bytes
        self.unfiltered = UNFILTERED  # bytes that may wait for the filters
        self._filters = filters
        self._redactors = redactors
        self._redacted = redacted  # of what is no output: secrets that were taken out already, by kind
        self._taken = 0

        self._sequencing = threading.Lock()  # protects what follows
        self._tap = tap
        self._cap = row.size_limit if row.policy == "stop" else None
        self._chunker = Chunker(row.chunk_size, row.terminator(), new_digest(algorithm))
        self._interleaver = Interleaver(self._enter, hold_us)

    def take(self, most: int) -> tuple[list[Item], int]:
        """Items of the inbox, of ``most`` bytes or a little more, and their bytes; the caller holds the queue's lock."""
        inbox, size = self.inbox, self.inbox_bytes
        if size <= most:
            items = list(inbox)
            inbox.clear()
            self.inbox_bytes = 0
            return items, size
        items, size = [], 0
        while size < most:
            items.append(inbox.popleft())
            size += len(items[-1][1])
        self.inbox_bytes -= size
        return items, size

    def pace(self, size: int, seconds: float) -> None:
        """Learn how long the filters took for so many bytes."""
        self.unfiltered = UNFILTERED if size >= SLOW * seconds else UNFILTERED_SLOW

    def add_ready(self, batch: Batch) -> None:
        """Keep a batch until it is committed; the caller holds the queue's lock."""
        self.ready[batch.number] = batch
        self.ready_bytes += batch.raw_bytes

    def take_ready(self) -> list[Batch]:
        """The batches that may be committed next, in order; the caller holds the queue's lock."""
        batches: list[Batch] = []
        while (batch := self.ready.pop(self.next_commit + len(batches), None)) is not None:
            batches.append(batch)
            self.ready_bytes -= batch.raw_bytes
        return batches

    def drop_all(self) -> None:
        """Forget what is not committed; the caller holds the queue's lock."""
        self.inbox.clear()
        self.ready.clear()
        self.inbox_bytes = self.ready_bytes = self.uncommitted = 0
        self.dirty_since = None

    def now(self) -> int:
        """Microseconds since the artifact began."""
        return int((self._clock.monotonic() - self._started) * 1e6)

    def pump(
        self,
        begin: Callable[[], tuple[Iterable[Item], bool] | None],
        *,
        wait: bool,
        flush: bool,
        ending: Ending | None,
    ) -> tuple[int, Batch | None]:
        """Sequence what is taken from the inbox, and compress what is complete.

        Args:
            begin: called when nobody else takes from the inbox: gives the items, which are taken while the filters run, and
                whether the chunk that is not full yet is wanted, too; None if there is nothing to do.
            wait: until nobody else takes.
            flush: let through what is held back.
            ending: close the sequence for good.

        Returns:
            The number of the batch, and the batch; or that of the newest one, and None.

        Raises:
            TakenError: somebody else takes, and this was not to wait.
        """
        if not self._taking.acquire(blocking=wait):
            raise TakenError
        try:
            asked = begin()
            if asked is None:
                return self._newest_batch, None
            items, partial = asked
            self._newest_batch = number = self._newest_batch + 1
            self.finished = ending is not None
            before = self._taken
            passed = list(self._passed(items))
            now = self.now()
            if ending is not None:
                passed += [(stream, data, now) for stream, data in self._rest(ending)]
            received = self._taken
            self._sequencing.acquire()
        finally:
            self._taking.release()
        try:
            for stream, data, at in passed:
                self._interleaver.write(stream, data, at)
            if flush or ending is not None:
                self._interleaver.flush(now)
            else:
                self._interleaver.advance(now)
            chunks = self._chunker.take()
            last = None
            if ending is not None:
                last = self._chunker.finish()
                ending.content_digest = self._chunker.content.digest()
                ending.newline = self._newline(last.after() if last else self._chunker.totals)
            elif partial:
                last = self._chunker.partial()
            if last is not None:
                chunks.append(last)
            totals = chunks[-1].after() if chunks else self._chunker.totals
        finally:
            self._sequencing.release()
        rows = chunk_codec.encode(chunks, self._prefix, self._algorithm)
        whole = last is None or ending is not None
        return number, Batch(number, rows, not whole, totals, received, received - before, ending)

    def _passed(self, items: Iterable[Item]) -> Iterator[Item]:
        """What filters and redactors let through of writes."""
        for stream, data, now in _joined(items) if self._redactors else items:
            self._taken += len(data)
            passed = self._filters[stream].feed(data) if self._filters else data
            if passed and self._redactors:
                passed = self._redactors[stream].feed(passed)
            if passed:
                yield stream, passed, now

    def _rest(self, ending: Ending) -> Iterator[tuple[int, bytes]]:
        """What filters and redactors hold, stream by stream; the ending learns what was taken out."""
        for kind, count in self._redacted.items():
            ending.redactions[kind] = ending.redactions.get(kind, 0) + count
        for stream in range(len(STREAMS)):
            rest = self._filters[stream].finish() if self._filters else b""
            if self._redactors:
                redactor = self._redactors[stream]
                rest = redactor.feed(rest) + redactor.finish()
                for kind, count in redactor.counts.items():
                    ending.redactions[kind] = ending.redactions.get(kind, 0) + count
            if rest:
                yield stream, rest

    @property
    def newest_batch(self) -> int:
        """The number of the batch that was taken last."""
        return self._newest_batch

    def holding(self) -> bool:
        """Whether a partial line waits for its end or for silence."""
        return self._interleaver.holding

    def _newline(self, totals: Totals) -> str:
        if self.row.newline != "auto":
            return self.row.newline
        alone = not totals.lines or (totals.lines == 1 and totals.line_flags & COMBINED_BIT)
        return "cr" if self._chunker.saw_cr and alone else "lf"

    def _enter(self, stream: int, pieces: list[Piece], now: int) -> None:
        if self._cap is not None or self._tap is not None:
            data = b"".join(pieces)
            if self._cap is not None:
                data = data[: self._cap - self._chunker.size]
            if not data:
                return
            if self._tap is not None:
                self._tap(STREAMS[stream], data)
            pieces = [data]
        self._chunker.add(stream, pieces, now)


def _joined(items: Iterable[Item]) -> Iterator[Item]:
    """Writes that the chunker would give one time to, as one: a redactor takes its time for each."""
    for stream, writes in itertools.groupby(items, key=operator.itemgetter(0)):
        pieces: list[bytes] = []
        first = until = size = 0
        for _, data, now in writes:
            size += len(data)
            if pieces and (now >= until or size > SLICE):
                yield stream, b"".join(pieces), first
                pieces, size = [], len(data)
            if not pieces:
                first, until = now, now + SEGMENT_US
            pieces.append(data)
        yield stream, b"".join(pieces), first
