"""The artifacts that this process writes into one session, and their batches that are ready to be committed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from spillstore.exceptions import ClosedError
from spillstore.ingest.pipeline import Batch, Ending, Pipeline
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.exceptions import LockedError, SpillstoreError
    from spillstore.settings import Settings

_FULL_QUEUES = (
    4  # artifacts that are written at once and may each have ``queue_bytes`` waiting; more of them share that
)
_LEAST_QUEUE = 256 * KIB
_DUE_AFTER = 0.4  # of ``commit_interval``: the rest is for filters and the commit itself
_DUE_WITH = 0.2
_ASKED_AGAIN = 0.1  # of it, until a worker that was asked for a write is asked again: it may wait for a tap
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
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget everything, and use new locks: in a forked child, nobody may be there who would let go of the old ones."""
        self.guard = threading.Lock()  # protects what follows, and the fields of pipelines down to ``error``
        self._changed = threading.Condition(self.guard)  # a batch is ready or committed, or will never be
        self.room = threading.Condition(self.guard)  # for writers: in a queue, or there will never be any
        self._tick = threading.Condition(self.guard)  # for the committer alone
        self._pipelines: list[Pipeline] = []
        self.queue_bytes = self._settings.queue_bytes  # that one artifact may have uncommitted
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
        with self.guard:
            return list(self._pipelines)

    # --- artifacts ----------------------------------------------------------------------------------------

    def add(self, pipeline: Pipeline) -> None:
        """Begin to take an artifact's bytes."""
        with self.guard:
            self._pipelines.append(pipeline)
            self._share_queues()
            if self._asleep:
                self._tick.notify()

    def forget(self, pipeline: Pipeline) -> None:
        """Nothing more is to be committed of an artifact."""
        with self.guard:
            if pipeline in self._pipelines:
                self._pipelines.remove(pipeline)
                self._share_queues()

    def stop(self, *, forget: bool = False) -> list[Pipeline]:
        """Let the committer end; returns the artifacts that are still written.

        Args:
            forget: nothing of them is to be committed.
        """
        with self.guard:
            self._stopping = True
            self._tick.notify_all()
            pipelines = list(self._pipelines)
            if forget:
                self._pipelines.clear()
                self._share_queues()
        return pipelines

    def close(self, pipeline: Pipeline, ending: Ending | None = None) -> bool:
        """Take nothing more for an artifact.

        Args:
            pipeline: takes its bytes.
            ending: how it ends, unless it was closed before.

        Returns:
            Whether there may be something to commit still: False if it was closed before, and all of it is committed.
        """
        with self.guard:
            if pipeline.ended:
                return pipeline in self._pipelines
            pipeline.ended = True
            pipeline.ending = ending
            return True

    def fail(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """An artifact cannot be stored any further: ``drop`` it, and tell observers."""
        self.drop(pipeline, error)
        self._failed(pipeline, error)

    def drop(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """Forget what is queued of an artifact; the next call of its writer raises ``error``."""
        with self.guard:
            if pipeline.error is None:
                pipeline.error = error
            self._ready_bytes -= pipeline.ready_bytes
            pipeline.drop_all()
            self._changed.notify_all()
            self.room.notify_all()

    def refuse_ended(self, pipeline: Pipeline) -> None:
        """Raise what keeps an artifact from being written."""
        if pipeline.error is not None:
            raise pipeline.error
        self._check_usable()
        if pipeline.ended:
            raise ClosedError(f"the writer of {pipeline.row.artifact_id} was closed before")

    def _share_queues(self) -> None:
        """Divide what may wait in all queues among the artifacts that are written; the caller holds ``guard``."""
        most = self._settings.queue_bytes
        share = _FULL_QUEUES * most // max(len(self._pipelines), 1)
        self.queue_bytes = min(most, max(share, _LEAST_QUEUE))

    # --- batches ------------------------------------------------------------------------------------------

    def add_batch(self, pipeline: Pipeline, batch: Batch) -> None:
        """A batch is ready to be committed; one of an artifact that has failed is forgotten."""
        with self.guard:
            if pipeline.error is None:
                pipeline.add_ready(batch)
                self._ready_bytes += batch.raw_bytes
                if not self._hurried and self._urgent(pipeline):
                    self._hurried = True
                    self._tick.notify()
            self._changed.notify_all()

    def _urgent(self, pipeline: Pipeline) -> bool:
        """Whether what is ready is not to wait for the next tick; the caller holds ``guard``."""
        enough = min(self._settings.commit_bytes, self.queue_bytes * 3 // 4)
        return (
            self._ready_bytes >= self._settings.commit_bytes
            or pipeline.ready_bytes >= enough
            or (
                pipeline.waiting > 0
                and not pipeline.inbox
                and 2 * pipeline.uncommitted >= self.queue_bytes  # else it waits for filters
                and 2 * pipeline.ready_bytes >= pipeline.uncommitted
            )
        )

    # --- what the committer takes -------------------------------------------------------------------------

    def wait_for_due(self) -> list[Pipeline] | None:
        """Wait until something is to be committed; returns artifacts whose writes are due, or None to end."""
        with self.guard:
            if not self._hurried and not self._stopping:
                self._asleep = not self._pipelines
                self._tick.wait(None if self._asleep else self._until_due())
                self._asleep = False
            if self._stopping:
                return None
            self._hurried = False
            return self._due()

    def _until_due(self) -> float:
        """Seconds until the oldest write that is not committed must be; the caller holds ``guard``."""
        interval = self._settings.commit_interval
        now = time.monotonic()
        waits = [
            max(p.dirty_since + interval * _DUE_AFTER - now, interval * _ASKED_AGAIN if p.due else 0.0)
            for p in self._pipelines
            if p.dirty_since is not None and not p.ended
        ]
        return min([*waits, interval * _DUE_AFTER])

    def _due(self) -> list[Pipeline]:
        """Artifacts whose writes are to be committed now: with the oldest go those that would be next."""
        limit = time.monotonic() - self._settings.commit_interval * _DUE_WITH
        return [
            p for p in self._pipelines if p.dirty_since is not None and p.dirty_since <= limit and not p.ended
        ]

    def any_ready(self) -> bool:
        """Whether there is anything to commit."""
        with self.guard:
            return any(pipeline.ready for pipeline in self._pipelines)

    def next_work(self) -> Work:
        """Batches for a transaction, those of the smallest first: a trickle does not wait for a flood."""
        work: Work = []
        size = 0
        with self.guard:
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
        with self.guard:
            self._ready_bytes -= sum(batch.raw_bytes for _, batches in work for batch in batches)
            self._changed.notify_all()
            if any(pipeline.waiting for pipeline, _ in work):
                self.room.notify_all()

    def committed(self, pipeline: Pipeline, batches: list[Batch]) -> None:
        """These batches of an artifact are stored."""
        with self.guard:
            pipeline.uncommitted -= sum(batch.raw_bytes for batch in batches)

    def put_back(self, work: Work, error: LockedError) -> None:
        """Keep batches that could not be committed for the next attempt, unless a writer already waits for room."""
        for pipeline, batches in work:
            if pipeline.waiting:
                self.fail(pipeline, error)
            else:
                with self.guard:
                    for batch in batches:
                        pipeline.add_ready(batch)
                        self._ready_bytes += batch.raw_bytes

    def wait_until_ready(self, pipeline: Pipeline, number: int) -> None:
        """Wait until the next batch of an artifact can be committed, or that of a number was, or none will be.

        An earlier batch may still be being compressed, or the committer may have taken this one along.
        """
        with self.guard:
            self._changed.wait_for(
                lambda: (
                    pipeline.error is not None
                    or pipeline.next_commit > number
                    or pipeline.next_commit in pipeline.ready
                )
            )
