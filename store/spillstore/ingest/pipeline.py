"""One artifact being written: from the inbox to ordered batches of rows.

``write`` only appends to the inbox. Whoever pumps (a worker when enough has come together, the committer when a trickle
is due, or the caller of ``flush`` and ``close`` itself, which saves two thread switches on small outputs) takes from
the inbox, gets a batch number, sends what it took through the sequencer into the chunker, and compresses without a lock.
The sequencer's locks keep the order, and two threads can work on one artifact. Batches are committed in the order of
their numbers.

What a filter does to a byte may cost a thousand times what everything else does. So of bytes that go through one, only
``UNFILTERED`` wait in the inbox, fewer while the filter is slow, more while it is fast; they are taken a few at a time, and a
pump ends when that has taken ``PUMP_SECONDS``. Then what was accepted is committed within a second, and others get their turn.
(Where few may wait, two threads wake each other for every write, which takes more time than to redact an ordinary log.)
"""

from __future__ import annotations

import contextvars
import dataclasses
import time
from collections import deque
from typing import TYPE_CHECKING

from spillstore.format import chunk_codec
from spillstore.format.chunk import COMBINED_BIT, Totals
from spillstore.format.chunker import Chunker
from spillstore.format.digests import new_digest
from spillstore.settings import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from spillstore.exceptions import SpillstoreError
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Algorithm
    from spillstore.ingest.sequencer import Item, Sequencer
    from spillstore.model.records import ArtifactRow

BATCH_BYTES = 2 * MIB
PUMPED = 128 * KIB  # where they go through filters
UNFILTERED_FAST = MIB
UNFILTERED = 256 * KIB
UNFILTERED_SLOW = 64 * KIB
FAST = 16 * MIB  # bytes a second of a filter
SLOW = (
    2 * MIB
)  # bytes a second of a filter; text that costs as little as a log takes a hundredth of that time
PUMP_SECONDS = 0.05


@dataclasses.dataclass(slots=True)
class Ending:
    """How an artifact ends."""

    state: str
    reason: str | None = None
    exit_code: int | None = None
    newline: str = "lf"
    content_digest: bytes | None = None
    redactions: dict[str, int] = dataclasses.field(default_factory=dict)  # how many secrets, by kind
    output_goes_on: bool = False  # without the store, so filters keep what they hold back


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
    """The state of one writer. Fields from ``inbox`` to ``error`` are protected by the lock of the ``IngestQueue``."""

    def __init__(
        self,
        row: ArtifactRow,
        sequencer: Sequencer,
        *,
        algorithm: Algorithm,
        redacted: Mapping[str, int],
        actor: str | None = None,
        shared: bool = False,
    ) -> None:
        """Begin with nothing.

        Args:
            row: the artifact's; its key is not known before it is inserted.
            sequencer: makes one sequence of both streams.
            algorithm: of the digests.
            redacted: secrets that were taken out of what is no output, by kind.
            actor: who has begun it.
            shared: the sequencer is the caller's, who goes on with it when storing fails: nothing that was written may be
                forgotten before the tap has seen it.
        """
        self.actor = actor
        self.context = contextvars.copy_context()
        self.sequencer = sequencer
        self.shared = shared
        self.filtered = sequencer.filtered
        self.pumped_at_once = PUMPED if self.filtered else BATCH_BYTES  # about so many bytes
        self.now = sequencer.now

        self.inbox: deque[Item] = deque()
        self.inbox_bytes = 0
        self.unfiltered = UNFILTERED  # bytes that may wait for the filters
        self.scheduled = False  # whether a worker was asked for a pump that has not begun
        self.taking = (
            False  # whether a pump takes from the inbox, which sees to the next one when it has done so
        )
        self.received = sequencer.taken
        self.uncommitted = 0  # bytes of what was received
        self.waiting = 0  # writers, for room
        self.dirty_since: float | None = None  # when the oldest write was made that is not committed
        self.due = False  # whether the next pump gives the unfinished chunk too, so that all is committed
        self.ready: dict[int, Batch] = {}
        self.ready_bytes = 0
        self.next_commit = 0
        self.ended = False
        self.ending: Ending | None = None  # how, where that was said
        self.error: SpillstoreError | None = None

        # Protected by the lock of the ``Committer``: what the database holds of this artifact.
        self.row = row
        self.partial_size: int | None = None  # stored bytes of the unfinished chunk that was committed
        self.chunk_digests = new_digest(algorithm)  # over the digests of the finished chunks, in order

        # Protected by ``Sequencer.filtering``.
        self.newest_batch = -1
        self.finished = False  # the batch that ends was taken
        self._batched = 0  # bytes that went into batches
        self._redacted = redacted
        self._algorithm = algorithm
        self._prefix = chunk_codec.prefix(row.artifact_id, row.newline)

        # Protected by ``Sequencer.ordering``.
        self._chunker = Chunker(row.chunk_size, row.terminator(), new_digest(algorithm))

    def begin(self) -> None:
        """The artifact's row was inserted: cut the sequence into chunks, what the sequencer keeps in memory first."""
        self.sequencer.connect(self._chunker.add)
        if self.received:
            self.uncommitted = self.received
            self.dirty_since = time.monotonic()

    @property
    def begun(self) -> bool:
        """Whether the session has the artifact."""
        return self.row.artifact_key > 0

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
        self.unfiltered = (
            UNFILTERED_FAST
            if size >= FAST * seconds
            else UNFILTERED
            if size >= SLOW * seconds
            else UNFILTERED_SLOW
        )

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
        self.ready.clear()
        self.ready_bytes = 0
        self.dirty_since = None
        if not self.shared:
            self.inbox.clear()
            self.inbox_bytes = self.uncommitted = 0

    def pump(
        self,
        begin: Callable[[], tuple[Iterable[Item], bool] | None],
        taken: Callable[[], None],
        *,
        wait: bool,
        flush: bool,
        ending: Ending | None,
    ) -> tuple[int, Batch | None]:
        """Sequence what is taken from the inbox, and compress what is complete.

        Args:
            begin: called when nobody else takes from the inbox: gives the items, which are taken while the filters run, and
                whether the chunk that is not full yet is wanted, too; None if there is nothing to do.
            taken: called when others may take from the inbox, whatever came of it.
            wait: until nobody else takes.
            flush: let through what is held back.
            ending: close the sequence for good.

        Returns:
            The number of the batch, and the batch; or that of the newest one, and None.

        Raises:
            TakenError: somebody else takes, and this was not to wait.
        """
        sequencer = self.sequencer
        if not sequencer.filtering.acquire(blocking=wait):
            raise TakenError
        try:
            asked = begin()
            if asked is None:
                return self.newest_batch, None
            items, partial = asked
            self.newest_batch = number = self.newest_batch + 1
            self.finished = ending is not None
            passed = list(sequencer.filter(items))
            now = sequencer.now()
            if ending is not None and not (ending.output_goes_on and self.shared):
                passed += sequencer.finish_filters(now)
            filtered = sequencer.taken
            before, self._batched = self._batched, filtered
            sequencer.ordering.acquire()
        finally:
            sequencer.filtering.release()
            taken()
        try:
            sequencer.enter(passed, now, flush=flush or ending is not None)
            chunks = self._chunker.take()
            last = None
            if ending is not None:
                last = self._chunker.finish()
                ending.content_digest = self._chunker.content.digest()
                ending.newline = self._newline(last.after() if last else self._chunker.totals)
                self._count_redactions(ending)
            elif partial:
                last = self._chunker.partial()
            if last is not None:
                chunks.append(last)
            totals = chunks[-1].after() if chunks else self._chunker.totals
            received = filtered - sum(sequencer.behind)
        finally:
            sequencer.ordering.release()
        rows = chunk_codec.encode(chunks, self._prefix, self._algorithm)
        whole = last is None or ending is not None
        return number, Batch(number, rows, not whole, totals, received, filtered - before, ending)

    def sequence_rest(self) -> None:
        """Store nothing more: what waits in the inbox goes to the tap alone, and so does what comes after it."""
        sequencer = self.sequencer
        with sequencer.filtering:
            items = list(sequencer.filter(self.inbox))
            self.inbox.clear()
            self.inbox_bytes = 0
            now = sequencer.now()
            with sequencer.ordering:
                sequencer.enter(items, now)
        sequencer.disconnect()

    def _count_redactions(self, ending: Ending) -> None:
        for counts in (self._redacted, self.sequencer.redactions):
            for kind, count in counts.items():
                ending.redactions[kind] = ending.redactions.get(kind, 0) + count

    def _newline(self, totals: Totals) -> str:
        if self.row.newline != "auto":
            return self.row.newline
        alone = not totals.lines or (totals.lines == 1 and totals.line_flags & COMBINED_BIT)
        return "cr" if self._chunker.saw_cr and alone else "lf"
