"""What is on its way into one session: the inboxes of the artifacts that this process writes, and the batches made of them.

``write`` puts bytes into an artifact's inbox. A *pump* takes some of an inbox, runs filters and chunker over it
(``Pipeline.pump``) and leaves a batch that is ready to be committed. Who pumps: a worker when enough has come together, the
committer when a trickle is due, the caller of ``flush`` and ``close``, and a writer itself where there are no workers.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from spillstore.exceptions import ClosedError, SpillstoreError, StorageError
from spillstore.ingest.pipeline import (
    BATCH_BYTES,
    PUMP_SECONDS,
    SLICE,
    Batch,
    Ending,
    Item,
    Pipeline,
    TakenError,
)
from spillstore.runtime import workers
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.exceptions import LockedError
    from spillstore.settings import Settings

_FULL_QUEUES = (
    4  # artifacts that are written at once and may each have ``queue_bytes`` waiting; more of them share that
)
_LEAST_QUEUE = 256 * KIB
_TRICKLE = 16 * KIB  # what the committer filters itself: 50 ms of the slowest text
_DUE_AFTER = 0.4  # of ``commit_interval``: the rest is for filters and the commit itself
_DUE_WITH = 0.2
Work = list[tuple[Pipeline, list[Batch]]]  # batches for one transaction


class IngestQueue:
    """The artifacts that are written. Safe from any thread; its lock is held for microseconds, and taken last of all."""

    def __init__(
        self,
        settings: Settings,
        check_usable: Callable[[], None],
        failed: Callable[[Pipeline, SpillstoreError], None],
    ) -> None:
        """Begin with no artifact.

        Args:
            settings: what is in force.
            check_usable: raises what keeps anything from being written any more.
            failed: told of an artifact that cannot be stored any further, and why.
        """
        self._settings = settings
        self._check_usable = check_usable
        self._failed = failed
        self._guard = threading.Lock()  # protects what follows, and the fields of pipelines down to ``error``
        self._changed = threading.Condition(self._guard)  # a batch is ready or committed, or will never be
        self._room = threading.Condition(self._guard)  # for writers: in a queue, or there will never be any
        self._tick = threading.Condition(self._guard)  # for the committer alone
        self._pipelines: list[Pipeline] = []
        self._queue_bytes = settings.queue_bytes  # that one artifact may have uncommitted
        self._ready_bytes = 0
        self._asleep = False  # the committer waits for an artifact to be opened
        self._hurried = False  # it is not to wait for its next tick
        self._stopping = False

    @property
    def stopping(self) -> bool:
        """Whether nothing more is to be begun."""
        return self._stopping

    @property
    def pipelines(self) -> list[Pipeline]:
        """The artifacts that are written."""
        with self._guard:
            return list(self._pipelines)

    # --- artifacts ----------------------------------------------------------------------------------------

    def add(self, pipeline: Pipeline) -> None:
        """Begin to take an artifact's bytes."""
        with self._guard:
            self._pipelines.append(pipeline)
            self._share_queues()
            if self._asleep:
                self._tick.notify()

    def forget(self, pipeline: Pipeline) -> None:
        """Nothing more is to be committed of an artifact."""
        with self._guard:
            if pipeline in self._pipelines:
                self._pipelines.remove(pipeline)
                self._share_queues()

    def _share_queues(self) -> None:
        """Divide what may wait in all queues among the artifacts that are written; the caller holds ``_guard``."""
        most = self._settings.queue_bytes
        share = _FULL_QUEUES * most // max(len(self._pipelines), 1)
        self._queue_bytes = min(most, max(share, _LEAST_QUEUE))

    def stop(self, *, forget: bool = False) -> list[Pipeline]:
        """Let the committer end; returns the artifacts that are still written.

        Args:
            forget: nothing of them is to be committed.
        """
        with self._guard:
            self._stopping = True
            self._tick.notify_all()
            pipelines = list(self._pipelines)
            if forget:
                self._pipelines.clear()
                self._share_queues()
        return pipelines

    def close(self, pipeline: Pipeline) -> bool | None:
        """Take nothing more for an artifact.

        Returns:
            Whether it was closed before and is not all committed yet; None if it is.
        """
        with self._guard:
            again = pipeline.ended
            if again and pipeline not in self._pipelines:
                return None
            pipeline.ended = True
            return again

    def fail(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """An artifact cannot be stored any further: forget what is queued, tell its writer at its next call."""
        with self._guard:
            if pipeline.error is None:
                pipeline.error = error
            self._ready_bytes -= pipeline.ready_bytes
            pipeline.drop_all()
            self._changed.notify_all()
            self._room.notify_all()
        self._failed(pipeline, error)

    def refuse_ended(self, pipeline: Pipeline) -> None:
        """Raise what keeps an artifact from being written."""
        if pipeline.error is not None:
            raise pipeline.error
        self._check_usable()
        if pipeline.ended:
            raise ClosedError(f"the writer of {pipeline.row.artifact_id} was closed before")

    # --- writing ------------------------------------------------------------------------------------------

    def write(self, pipeline: Pipeline, stream: int, data: bytes) -> None:
        """Put bytes into an artifact's inbox; blocks while its queue is full."""
        while not self._accept(pipeline, stream, data):
            self._pump(pipeline, brief=True)

    def _accept(self, pipeline: Pipeline, stream: int, data: bytes) -> bool:
        """Wait for room and put bytes into the inbox; False if the caller must make the room, for want of other threads."""
        size = len(data)
        with self._guard:
            self.refuse_ended(pipeline)
            while self._full(pipeline, size):
                self._schedule(pipeline, at_least=1)
                if pipeline.inbox and not workers.working():
                    return False
                pipeline.waiting += 1
                self._room.wait()
                pipeline.waiting -= 1
                self.refuse_ended(pipeline)
            pipeline.inbox.append((stream, data, pipeline.now()))
            pipeline.inbox_bytes += size
            pipeline.received += size
            pipeline.uncommitted += size
            if pipeline.dirty_since is None:
                pipeline.dirty_since = time.monotonic()
            if pipeline.inbox_bytes >= pipeline.pumped_at_once:
                self._schedule(pipeline, at_least=pipeline.pumped_at_once)
            return True

    def room(self, pipeline: Pipeline, size: int) -> bool:
        """Whether a write of that many bytes would not have to wait; for callers that must not block."""
        with self._guard:
            return not self._full(pipeline, size)

    def _full(self, pipeline: Pipeline, size: int) -> bool:
        """Whether a write must wait: for this artifact's filters, or for its bytes to be committed. Never for another's."""
        if pipeline.inbox_bytes + size > pipeline.unfiltered and pipeline.filtered and pipeline.inbox:
            return True
        return pipeline.uncommitted + size > self._queue_bytes and pipeline.uncommitted > 0

    # --- pumps --------------------------------------------------------------------------------------------

    def _schedule(self, pipeline: Pipeline, at_least: int) -> None:
        """Ask the workers for as many pumps as the inbox is worth; the caller holds ``_guard``."""
        unit = pipeline.pumped_at_once
        while (
            pipeline.inbox_bytes - pipeline.scheduled * unit >= at_least
            and pipeline.scheduled <= workers.COUNT
        ):
            pipeline.scheduled += 1
            workers.submit(lambda: self._pump_scheduled(pipeline))

    def _pump_scheduled(self, pipeline: Pipeline) -> None:
        with contextlib.suppress(SpillstoreError):  # kept in pipeline.error, which the writer raises
            self._pump(pipeline, scheduled=True, brief=True)
        with self._guard:
            self._schedule(pipeline, at_least=1 if pipeline.waiting else pipeline.pumped_at_once)

    def pump_all(self, pipeline: Pipeline, ending: Ending | None = None) -> int:
        """Turn all of an inbox into batches, beside the workers; returns the number of the last one."""
        while pipeline.inbox_bytes > pipeline.pumped_at_once:
            self._pump(pipeline, brief=True)
        return self._pump(pipeline, partial=True, flush=True, ending=ending)

    def pump_due(self, pipeline: Pipeline) -> None:
        """See to it that what waits is committed; what takes longer is for the workers, so that others need not wait."""
        if pipeline.inbox_bytes <= _TRICKLE or not workers.working():
            try:
                self._pump(pipeline, wait=False, brief=True, partial=True)
            except TakenError:
                pass  # a worker is at it, and is told below to give all there is
            except SpillstoreError:
                return  # kept in pipeline.error, which the writer raises
            else:
                if pipeline.holding():
                    with self._guard:
                        pipeline.dirty_since = pipeline.dirty_since or time.monotonic()
                return
        with self._guard:
            pipeline.due = True
            if not pipeline.scheduled:
                self._schedule(pipeline, at_least=1)

    def _pump(
        self,
        pipeline: Pipeline,
        *,
        wait: bool = True,
        brief: bool = False,
        scheduled: bool = False,
        partial: bool = False,
        flush: bool = False,
        ending: Ending | None = None,
    ) -> int:
        """Turn what is in an inbox into a batch that is ready to commit; returns its number.

        Args:
            pipeline: whose inbox.
            wait: until nobody else takes from it.
            brief: leave the rest where it is a lot, or where filters take long.
            scheduled: the call that ``_schedule`` has asked for.
            partial: give the unfinished chunk, too.
            flush: let through what is held back.
            ending: how the artifact ends.

        Raises:
            TakenError: somebody else takes from it, and this was not to wait.
        """

        def begin() -> tuple[Iterator[Item], bool] | None:
            with self._guard:
                pipeline.scheduled -= scheduled
                if pipeline.finished or (scheduled and not pipeline.inbox):
                    return None  # nothing may come after the batch that ends
                all_of_it = partial or pipeline.due
                pipeline.due = False
            return self._taken(pipeline, brief=brief, all_of_it=all_of_it), all_of_it

        try:
            number, batch = pipeline.pump(begin, wait=wait, flush=flush, ending=ending)
        except TakenError:
            raise
        except Exception as error:
            failure = (
                error if isinstance(error, SpillstoreError) else StorageError(f"storing failed: {error!r}")
            )
            self.fail(pipeline, failure)
            raise failure from error
        if batch is None:
            return number
        with self._guard:
            if pipeline.error is None:
                pipeline.add_ready(batch)
                self._ready_bytes += batch.raw_bytes
                if self._urgent(pipeline):
                    self._hurried = True
                    self._tick.notify()
            self._changed.notify_all()
        return number

    def _taken(self, pipeline: Pipeline, *, brief: bool, all_of_it: bool) -> Iterator[Item]:
        """Items of an inbox, a few at a time where filters may be slow; the caller holds ``taking``.

        Args:
            pipeline: whose inbox.
            brief: end when they are enough for a batch, or after ``PUMP_SECONDS``.
            all_of_it: what is taken is given whole, so that nothing is left to commit if nothing is left here.
        """
        now = time.monotonic()
        until = now + PUMP_SECONDS
        left: int | None = None
        while True:
            at_once = min(SLICE, pipeline.unfiltered) if pipeline.filtered else BATCH_BYTES
            with self._guard:
                left = (BATCH_BYTES if brief else pipeline.inbox_bytes) if left is None else left
                items, size = pipeline.take(min(at_once, left) if brief else at_once)
                left -= size
                ends = not items or left <= 0 or (brief and pipeline.filtered and now >= until)
                if ends and all_of_it:
                    pipeline.dirty_since = now if pipeline.inbox else None
                if pipeline.waiting and pipeline.filtered:
                    self._room.notify_all()
            yield from items
            if ends:
                return
            before, now = now, time.monotonic()
            pipeline.pace(size, now - before)

    def _urgent(self, pipeline: Pipeline) -> bool:
        """Whether what is ready is not to wait for the next tick; the caller holds ``_guard``."""
        enough = min(self._settings.commit_bytes, self._queue_bytes * 3 // 4)
        return (
            self._ready_bytes >= self._settings.commit_bytes
            or pipeline.ready_bytes >= enough
            or (
                pipeline.waiting > 0
                and not pipeline.inbox
                and 2 * pipeline.ready_bytes >= pipeline.uncommitted
            )
        )

    # --- what the committer takes -------------------------------------------------------------------------

    def wait_for_due(self) -> list[Pipeline] | None:
        """Wait until something is to be committed; returns artifacts whose writes are due, or None to end."""
        with self._guard:
            if not self._hurried and not self._stopping:
                self._asleep = not self._pipelines
                self._tick.wait(None if self._asleep else self._until_due())
                self._asleep = False
            if self._stopping:
                return None
            self._hurried = False
            return self._due()

    def _until_due(self) -> float:
        """Seconds until the oldest write that is not committed must be; the caller holds ``_guard``."""
        interval = self._settings.commit_interval
        oldest = [p.dirty_since for p in self._pipelines if p.dirty_since is not None and not p.ended]
        latest = min(oldest) + interval * _DUE_AFTER - time.monotonic() if oldest else interval
        return min(max(latest, 0.0), interval * _DUE_AFTER)

    def _due(self) -> list[Pipeline]:
        """Artifacts whose writes are to be committed now: with the oldest go those that would be next."""
        limit = time.monotonic() - self._settings.commit_interval * _DUE_WITH
        return [
            p for p in self._pipelines if p.dirty_since is not None and p.dirty_since <= limit and not p.ended
        ]

    def any_ready(self) -> bool:
        """Whether there is anything to commit."""
        with self._guard:
            return any(pipeline.ready for pipeline in self._pipelines)

    def next_work(self) -> Work:
        """Batches for a transaction, those of the smallest first: a trickle does not wait for a flood."""
        work: Work = []
        size = 0
        with self._guard:
            for pipeline in sorted(self._pipelines, key=lambda pipeline: pipeline.ready_bytes):
                if work and size + pipeline.ready_bytes > self._settings.commit_bytes:
                    self._hurried = True  # the rest comes next
                    self._tick.notify()
                    break
                if batches := pipeline.take_ready():
                    work.append((pipeline, batches))
                    size += sum(batch.raw_bytes for batch in batches)
        return work

    def finish(self, work: Work) -> None:
        """A transaction with these batches is over, whatever came of it."""
        with self._guard:
            self._ready_bytes -= sum(batch.raw_bytes for _, batches in work for batch in batches)
            self._changed.notify_all()
            if any(pipeline.waiting for pipeline, _ in work):
                self._room.notify_all()

    def committed(self, pipeline: Pipeline, batches: list[Batch]) -> None:
        """These batches of an artifact are stored."""
        with self._guard:
            pipeline.uncommitted -= sum(batch.raw_bytes for batch in batches)

    def put_back(self, work: Work, error: LockedError) -> None:
        """What could not be committed now waits for the next time, unless a writer waits for room already."""
        for pipeline, batches in work:
            if pipeline.waiting:
                self.fail(pipeline, error)
            else:
                with self._guard:
                    for batch in batches:
                        pipeline.add_ready(batch)
                        self._ready_bytes += batch.raw_bytes

    def wait_until_ready(self, pipeline: Pipeline, number: int) -> None:
        """Wait until the next batch of an artifact can be committed, or that of a number was, or none will be.

        An earlier batch may still be being compressed, or the committer may have taken this one along.
        """
        with self._guard:
            self._changed.wait_for(
                lambda: (
                    pipeline.error is not None
                    or pipeline.next_commit > number
                    or pipeline.next_commit in pipeline.ready
                )
            )
