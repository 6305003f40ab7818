"""Inboxes: the bytes of each artifact that are written and not sequenced yet, and the pumps that empty them.

``write`` puts bytes into an artifact's inbox. A *pump* takes some of an inbox, sends it through filters and chunker
(``Pipeline.pump``) and leaves a batch that is ready to be committed. Who pumps: a worker when enough has come together, the
committer when a trickle is due, the caller of ``flush`` and ``close``, and a writer itself where there are no workers.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from spillstore.engine.errors import storing_failed
from spillstore.exceptions import SpillstoreError
from spillstore.ingest.pipeline import BATCH_BYTES, PUMP_SECONDS, TakenError
from spillstore.ingest.sequencer import SLICE
from spillstore.runtime import workers
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.ingest.ingest_queue import IngestQueue
    from spillstore.ingest.pipeline import Ending, Pipeline
    from spillstore.ingest.sequencer import Item

_TRICKLE = 16 * KIB  # what the committer filters itself: 50 ms of the slowest text


class Inboxes:
    """The inboxes of the artifacts in a queue. Safe from any thread; the queue's lock protects them."""

    def __init__(self, queue: IngestQueue) -> None:
        self._queue = queue

    # --- writing ------------------------------------------------------------------------------------------

    def write(self, pipeline: Pipeline, stream: int, data: bytes, at: float | None = None) -> None:
        """Put bytes into an artifact's inbox; blocks while its queue is full. ``at`` says when they came, if that was before."""
        while not self._accept(pipeline, stream, data, at):
            self._pump(pipeline, brief=True)

    def _accept(self, pipeline: Pipeline, stream: int, data: bytes, at: float | None) -> bool:
        """Wait for room and put bytes into the inbox; False if the caller must make the room, for want of other threads."""
        size = len(data)
        with self._queue.guard:
            self._queue.refuse_ended(pipeline)
            while self._full(pipeline, size):
                self._schedule(pipeline, at_least=1)
                if pipeline.inbox and not workers.working():
                    return False
                pipeline.waiting += 1
                self._queue.room.wait()
                pipeline.waiting -= 1
                self._queue.refuse_ended(pipeline)
            pipeline.inbox.append((stream, data, pipeline.now(at)))
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
        with self._queue.guard:
            return not self._full(pipeline, size)

    def _full(self, pipeline: Pipeline, size: int) -> bool:
        """Whether a write must wait: for this artifact's filters, or for its bytes to be committed. Never for another's."""
        if pipeline.inbox_bytes + size > pipeline.unfiltered and pipeline.filtered and pipeline.inbox:
            return True
        return pipeline.uncommitted + size > self._queue.queue_bytes and pipeline.uncommitted > 0

    # --- pumps --------------------------------------------------------------------------------------------

    def _schedule(self, pipeline: Pipeline, at_least: int) -> None:
        """Ask a worker for a pump if the inbox is worth one and nobody takes from it; the caller holds the queue's lock."""
        if pipeline.inbox_bytes >= at_least and not pipeline.scheduled and not pipeline.taking:
            pipeline.scheduled = True
            workers.submit(lambda: self._pump_scheduled(pipeline))

    def _pump_scheduled(self, pipeline: Pipeline) -> None:
        """A worker does not wait for another one that takes: it may search what that one is about to filter."""
        with contextlib.suppress(SpillstoreError):  # kept in pipeline.error, which the writer raises
            try:
                self._pump(pipeline, wait=False, scheduled=True, brief=True)
            except TakenError:
                with self._queue.guard:
                    pipeline.scheduled = False
                    if (
                        not pipeline.sequencer.filtering.locked()
                    ):  # who has taken meanwhile saw that one was asked for
                        self._schedule_next(pipeline)

    def _schedule_next(self, pipeline: Pipeline) -> None:
        """Ask for a pump of what is left, or has come since; the caller holds the queue's lock."""
        if pipeline.error is None and not pipeline.finished:
            hurried = pipeline.waiting or pipeline.due
            self._schedule(pipeline, at_least=1 if hurried else pipeline.pumped_at_once)

    def pump_all(self, pipeline: Pipeline, ending: Ending | None = None) -> int:
        """Turn all of an inbox into batches, beside the workers; returns the number of the last one."""
        while pipeline.inbox_bytes > pipeline.pumped_at_once and not pipeline.finished:
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
                if pipeline.sequencer.holding:
                    with self._queue.guard:
                        pipeline.dirty_since = pipeline.dirty_since or time.monotonic()
                return
        with self._queue.guard:
            pipeline.due = True
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
            with self._queue.guard:
                pipeline.taking = True
                if scheduled:
                    pipeline.scheduled = False
                if pipeline.finished or (scheduled and not pipeline.inbox):
                    return None  # nothing may come after the batch that ends
                all_of_it = partial or pipeline.due
                pipeline.due = False
            return self._taken(pipeline, brief=brief, all_of_it=all_of_it), all_of_it

        def taken() -> None:
            with self._queue.guard:
                pipeline.taking = False
                self._schedule_next(pipeline)

        try:
            number, batch = pipeline.pump(begin, taken, wait=wait, flush=flush, ending=ending)
        except TakenError:
            raise
        except Exception as error:
            failure = storing_failed(error)
            self._queue.fail(pipeline, failure)
            raise failure from error
        if batch is None:
            return number
        self._queue.add_batch(pipeline, batch)
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
            with self._queue.guard:
                left = (BATCH_BYTES if brief else pipeline.inbox_bytes) if left is None else left
                items, size = pipeline.take(min(at_once, left) if brief else at_once)
                left -= size
                ends = not items or left <= 0 or (brief and pipeline.filtered and now >= until)
                if ends and all_of_it:
                    pipeline.dirty_since = now if pipeline.inbox else None
                # A writer that is woken writes more than once.
                if pipeline.waiting and pipeline.filtered and 2 * pipeline.inbox_bytes <= pipeline.unfiltered:
                    self._queue.room.notify_all()
            yield from items
            if ends:
                return
            before, now = now, time.monotonic()
            pipeline.pace(size, now - before)
