"""What a process holds of one session: its rows, its open artifacts, and the committer.

There is one core per process and session, however many ``Session`` objects look at it. Locks, in the order in which
they may be taken:

- ``_commit``: the write connection and what the database holds of each open artifact. Whoever takes it commits what
  all artifacts have ready, in one short transaction; so twenty artifacts cost one commit, not twenty, and a caller
  of ``close`` commits on its own thread.
- ``Pipeline.taking``, and within the pipeline its ``_sequencing``: the order of one artifact's bytes.
- ``_guard``: inboxes, queue budget, batches that are ready. Held for microseconds.

The committer thread ticks twice per ``commit_interval`` while artifacts are open, so no write has to wake it.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from spillstore.audit.audit_log import Audit
from spillstore.engine.errors import NotStoredError, may_be_full, translated
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ClosedError,
    DiskFullError,
    ForkError,
    IntegrityError,
    LockedError,
    QuotaError,
    RateLimitError,
    ReadOnlyError,
    SessionBusyError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
    StoreQuotaError,
)
from spillstore.format.digests import keyed_digest, stored_algorithm
from spillstore.format.rollback_guard import check_sum
from spillstore.ingest.eviction import EVICT, Evictor
from spillstore.ingest.pipeline import BATCH_BYTES, PUMP_SECONDS, SLICE, Batch, Ending, Item, Pipeline
from spillstore.ingest.row_writer import Recorder
from spillstore.model.validation import is_count, read_artifact_row, read_session_row
from spillstore.observers import Happening, TellingLock, wanted
from spillstore.runtime import workers as _workers
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from spillstore.engine.base import Remains, SessionBackend, Snapshot, Transaction
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow, SessionRow
    from spillstore.settings import Settings

_log = logging.getLogger("spillstore")
_PURGE_CHUNKS = 512
_FULL_QUEUES = (
    4  # artifacts that are written at once and may each have ``queue_bytes`` waiting; more of them share that
)
_LEAST_QUEUE = 256 * KIB
_TRICKLE = 16 * KIB  # what the committer filters itself: 50 ms of the slowest text
_DUE_AFTER = 0.4  # of ``commit_interval``: the rest is for filters and the commit itself
_DUE_WITH = 0.2
_ATTEMPTS = 3  # to commit, where the WAL is taken away meanwhile
_LIMITS: dict[type[SpillstoreError], str] = {
    RateLimitError: "artifacts_per_minute",
    DiskFullError: "free_disk_floor",
    StoreQuotaError: "store_quota",
}


class _FilledError(Exception):
    """Another process has taken the room that was made."""


class SessionCore:
    """The process's hold on one session file. Safe from any thread."""

    def __init__(
        self,
        store: SessionBackend,
        settings: Settings,
        clock: Clock,
        *,
        foreign: bool = False,
        key: bytes | None = None,
        expected: tuple[str, str | None] | None = None,
    ) -> None:
        """Take hold of a session that was opened.

        Args:
            store: where its rows are.
            settings: what is in force.
            clock: where to read the time.
            foreign: it is in no store of ours, and who reads it is not recorded there.
            key: the store's digest key.
            expected: the ids that the session and its project must have; None for any.

        Raises:
            SessionDeletedError: the session was deleted.
            IntegrityError: it is another one, or its row is damaged.
        """
        self.store = store
        self.settings = settings
        self.clock = clock
        self.users = 0  # Session objects; protected by the store's registry
        self._pid = os.getpid()
        self._foreign = foreign
        self._key = key
        self._expected = expected
        self._make_locks()
        self.audit = Audit(settings, clock, self._flush_events, self._commit.tell, foreign=foreign)
        self._flushing = threading.Lock()  # one writes the events of a reader at a time
        self._pipelines: list[Pipeline] = []
        self._ready_bytes = 0
        self._committer: threading.Thread | None = None
        self._asleep = False  # the committer waits for an artifact to be opened
        self._hurried = False  # it is not to wait for its next tick
        self._stopping = False
        self._gone: SpillstoreError | None = None
        with store.using:
            try:
                self._open()
            except BaseException:
                store.close()
                raise
            _engines.add(self)

    @property
    def read_only(self) -> bool:
        """Whether it may only be read."""
        return self.store.read_only

    def _open(self) -> None:
        if self.read_only:
            with self.store.snapshot("opening the session") as rows:
                self.row = self._session_row(rows)
                self.check_fresh(rows)
        else:
            self._take_over()
        self.audit.session = self.row.session_id
        if not self.still_there():  # deleted, by its rename alone, while this waited for its lock
            raise SessionDeletedError("the session was deleted")

    def _make_locks(self) -> None:
        self._commit = _CommitLock(self.store.using)
        self._guard = threading.Lock()
        self._changed = threading.Condition(self._guard)  # a batch is ready or committed, or will never be
        self._room = threading.Condition(self._guard)  # for writers: in a queue, or there will never be any
        self._tick = threading.Condition(self._guard)  # for the committer alone

    def disown(self) -> None:
        """In a forked child: refuse everything. The locks are new, since their holders may not exist here."""
        self.store.disown()
        self._make_locks()
        self._flushing = threading.Lock()
        self.audit = Audit(self.settings, self.clock, self._flush_events, self._commit.tell, foreign=True)
        self._gone = _forked()

    # --- opening and closing ----------------------------------------------------------------------------

    def still_there(self) -> bool:
        """Whether the session is still the one that this engine holds."""
        return self._gone is None and self.store.still_there()

    def _take_over(self) -> None:
        """Read the session's row under the write lock, and finish what dead owners left.

        The write lock orders this against a deletion: either the deleter sees our claim, or we see that it is deleted.
        """
        with self.store.transaction("opening the session") as tx:
            self.row = self._session_row(tx)
            self.audit.session = self.row.session_id
            self.check_fresh(tx)
            self._recorder = Recorder(self.row, self.settings, self.clock, self.audit)
            self._evictor = Evictor(self.store, self._recorder, self.settings)
            unfinished = self._unfinished(tx)
            for record in unfinished:
                if record.state == "open" and not self.store.alive(record.owner):
                    self._recorder.interrupt(tx, record, "its process ended")
        self._recorder.tell_recorded()
        self.store.remove_dead()
        for record in unfinished:
            if record.state == "deleted":
                self._purge(record)

    def _unfinished(self, rows: Snapshot) -> list[ArtifactRow]:
        return [read_artifact_row(row, self.row.digest_algorithm) for row in rows.unfinished()]

    def _session_row(self, rows: Snapshot) -> SessionRow:
        with translated("reading the session"):
            row = read_session_row(rows.session_row(), self._key)
        if self._expected is not None and self._expected != (row.session_id, row.project_id):
            raise IntegrityError(
                f"{self.store.path} holds session {row.session_id!r} of project {row.project_id!r}: a file of another place, "
                "moved, copied or linked here; Store.open_file reads it"
            )
        return row

    def check_fresh(self, rows: Snapshot) -> None:
        """With a digest key: that no artifact's row was put back or taken away. Inside a transaction.

        Raises:
            IntegrityError: one was.
        """
        row = self._session_row(rows)
        if row.digest_algorithm.key is not None:
            check_sum(row.digest_algorithm, row.artifacts_sum, rows.artifact_digests())

    def check_key(self, key: bytes | None) -> None:
        """That whoever wants to share this engine has the same digest key.

        Raises:
            DigestKeyError: not so.
        """
        stored_algorithm(str(self.row.digest_algorithm), self.row.uid, key)

    def shutdown(self, reason: str = "its writer was not closed") -> None:
        """Commit everything, interrupt what is still open, give up the claim. Idempotent."""
        if self._pid != os.getpid():
            return
        with self._guard:
            self._stopping = True
            self._tick.notify_all()
            pipelines = list(self._pipelines)
        for pipeline in pipelines:
            with contextlib.suppress(SpillstoreError):  # the writer raises it; here nobody could act on it
                self.end(pipeline, Ending("interrupted", reason))
        committer = self._committer
        if committer is not None and committer is not threading.current_thread():
            committer.join()
        self.audit.close()
        with self._guard:
            self._gone = self._gone or ClosedError("the session was closed; open it again with Store.session")
        self._close_store()
        _engines.discard(self)

    def _close_store(self) -> None:
        with self.store.using, self._commit:
            self.store.close()

    def check_usable(self) -> None:
        """Raise what makes this engine useless: closed, deleted, or inherited by a fork, which ``disown`` has noted."""
        if self._gone is not None:
            raise self._gone

    def _refuse_reader(self) -> None:
        """Raise where nothing may be written."""
        self.check_usable()
        if self.read_only:
            raise ReadOnlyError("the session was opened for reading; open it with read_only=False to write")

    # --- reading ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reader(self) -> Iterator[Snapshot]:
        """Rows for reading, each call on its own snapshot."""
        with self._noting_deletion(), self.store.reader() as rows:
            yield rows

    @contextlib.contextmanager
    def snapshot(self, doing: str) -> Iterator[Snapshot]:
        """Rows for reading, all calls on one snapshot."""
        with self._noting_deletion(), self.store.snapshot(doing) as rows:
            yield rows

    def borrow(self) -> Snapshot:
        """``reader`` without what costs a tenth of a small read; the same thread gives it back to ``store``."""
        self.check_usable()
        try:
            return self.store.borrow()
        except SessionDeletedError as error:
            self._gone = self._gone or error
            raise

    @contextlib.contextmanager
    def _noting_deletion(self) -> Iterator[None]:
        self.check_usable()
        try:
            yield
        except SessionDeletedError as error:
            self._gone = self._gone or error
            raise

    def artifact_row(self, rows: Snapshot, artifact_id: str) -> ArtifactRow:
        """The verified row of an artifact; its state is ``interrupted`` if its owner is gone.

        Raises:
            ArtifactNotFoundError: there is none of that id.
        """
        row = rows.artifact_row(artifact_id)
        record = None if row is None else read_artifact_row(row, self.row.digest_algorithm)
        if record is None or record.state == "deleted":
            raise self._evicted(rows, artifact_id) or self.not_found(artifact_id)
        return self.with_derived_state(record)

    def with_derived_state(self, record: ArtifactRow) -> ArtifactRow:
        """``interrupted`` is what an open artifact is whose owner died; the next writer makes it permanent."""
        if record.state == "open" and record.owner != self.store.owner and not self.store.alive(record.owner):
            return record._replace(state="interrupted", reason="its process ended")
        return record

    def not_found(self, artifact_id: str) -> ArtifactNotFoundError:
        """The error for an id that this session does not hold."""
        return ArtifactNotFoundError(
            f"no artifact {artifact_id!r} in session {self.row.session_id!r}; Session.artifacts() lists what there is"
        )

    def _evicted(self, rows: Snapshot, artifact_id: str) -> ArtifactNotFoundError | None:
        """The error for an artifact that had to make room, or None if it is not gone for that."""
        if not rows.events_of(artifact_id, EVICT, 1):
            return None
        return ArtifactNotFoundError(
            f"artifact {artifact_id!r} was evicted from session {self.row.session_id!r}, which was full; make its output "
            "again, or raise SPILLSTORE_SESSION_QUOTA"
        )

    # --- writing: artifacts -----------------------------------------------------------------------------

    def create(
        self,
        make_row: Callable[[int, str], ArtifactRow],
        make_pipeline: Callable[[ArtifactRow], Pipeline],
        source: str,
        detail: dict[str, object],
    ) -> Pipeline:
        """Insert an artifact's row and begin to take its bytes. Returns after the commit.

        Args:
            make_row: makes the row, of its key and our claim.
            make_pipeline: makes what takes the bytes, of the row.
            source: whose output it is.
            detail: of the event, besides the source.
        """
        self._start_committer()
        with self._commit, self._recording("creating an artifact") as tx:
            with self.limits(source):
                self.store.check_room()
                self._recorder.refuse_rate(tx)
            row = self._recorder.insert(tx, make_row(tx.next_artifact_key(), self.store.owner))
            self._recorder.event(
                tx, "create", row.artifact_id, {"source": row.source, **detail}, row.tool_call_id
            )
        pipeline = make_pipeline(row)
        with self._guard:
            self._pipelines.append(pipeline)
            if self._asleep:
                self._tick.notify()
        return pipeline

    def _start_committer(self) -> None:
        """Before anything is begun that it would have to commit.

        Raises:
            StorageError: there can be no more threads.
        """
        with self._guard:
            if self._committer is not None or self._stopping:
                return
            committer = threading.Thread(target=self._run_committer, name="spillstore-committer", daemon=True)
            try:
                committer.start()
            except RuntimeError as error:
                raise StorageError(
                    f"nothing can be stored, because no thread can be started ({error}); end other threads or processes, "
                    "or raise the limit of them (ulimit -u)"
                ) from error
            self._committer = committer

    @contextlib.contextmanager
    def limits(self, source: str) -> Iterator[None]:
        """Record what is refused for a limit; the transaction that it was refused in is rolled back."""
        try:
            yield
        except (QuotaError, DiskFullError) as error:
            name = _LIMITS[type(error)]
            detail: dict[str, object] = {"limit": name, "tool": source, "most": getattr(self.settings, name)}
            self.audit.add("limit", None, detail)
            raise

    def write(self, pipeline: Pipeline, stream: int, data: bytes) -> None:
        """Put bytes into an artifact's inbox; blocks while its queue is full."""
        while not self._accept(pipeline, stream, data):
            self._pump(pipeline, brief=True)

    def _accept(self, pipeline: Pipeline, stream: int, data: bytes) -> bool:
        """Wait for room and put bytes into the inbox; False if the caller must make the room, for want of other threads."""
        with self._guard:
            self._refuse_ended(pipeline)
            while self._full(pipeline, len(data)):
                self._schedule(pipeline, at_least=1)
                if pipeline.inbox and not _workers.working():
                    return False
                pipeline.waiting += 1
                self._room.wait()
                pipeline.waiting -= 1
                self._refuse_ended(pipeline)
            pipeline.inbox.append((stream, data, pipeline.now()))
            pipeline.inbox_bytes += len(data)
            pipeline.received += len(data)
            pipeline.uncommitted += len(data)
            if pipeline.dirty_since is None:
                pipeline.dirty_since = time.monotonic()
            self._schedule(pipeline, at_least=pipeline.pumped_at_once)
            return True

    def room(self, pipeline: Pipeline, size: int) -> bool:
        """Whether a write of that many bytes would not have to wait; for callers that must not block."""
        with self._guard:
            return not self._full(pipeline, size)

    def _full(self, pipeline: Pipeline, size: int) -> bool:
        """Whether a write must wait: for this artifact's filters, or for its bytes to be committed. Never for another's."""
        if pipeline.filtered and pipeline.inbox and pipeline.inbox_bytes + size > pipeline.unfiltered:
            return True
        return pipeline.uncommitted > 0 and pipeline.uncommitted + size > self._queue_bytes()

    def _queue_bytes(self) -> int:
        """What one artifact may have uncommitted."""
        most = self.settings.queue_bytes
        share = _FULL_QUEUES * most // max(len(self._pipelines), 1)
        return min(most, max(share, _LEAST_QUEUE))

    def flush(self, pipeline: Pipeline) -> None:
        """Commit everything written so far, lines without an end included."""
        self.check_usable()
        with self._guard:
            self._refuse_ended(pipeline)
        self._commit_through(pipeline, self._pump_all(pipeline))

    def end(self, pipeline: Pipeline, ending: Ending) -> None:
        """Commit everything and end the artifact. A second call does nothing, unless the first one found the file locked."""
        self.check_usable()
        with self._guard:
            again = pipeline.ended
            if again and pipeline not in self._pipelines:
                return
            pipeline.ended = True
            failed = pipeline.error
        try:
            if failed is not None:
                raise failed
            number = pipeline.newest_batch if again else self._pump_all(pipeline, ending)
            self._commit_through(pipeline, number)
        except SpillstoreError as error:
            if pipeline.error is None and isinstance(error, LockedError):
                raise  # the committer goes on trying
            with self._commit:
                self._record_failure(pipeline, error)
            self._forget(pipeline)
            raise
        self._forget(pipeline)

    def _forget(self, pipeline: Pipeline) -> None:
        """Nothing more is to be committed of an artifact."""
        with self._guard:
            if pipeline in self._pipelines:
                self._pipelines.remove(pipeline)

    def discard(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """Drop an artifact that may not be; later calls of its writer raise ``error``."""
        self._fail(pipeline, error)
        with self._guard:
            pipeline.ended = True
        self._forget(pipeline)
        self.delete_artifact(pipeline.row.artifact_id, why="rejected")

    def _refuse_ended(self, pipeline: Pipeline) -> None:
        if pipeline.error is not None:
            raise pipeline.error
        self.check_usable()
        if pipeline.ended:
            raise ClosedError(f"the writer of {pipeline.row.artifact_id} was closed before")

    # --- writing: pumps ---------------------------------------------------------------------------------

    def _schedule(self, pipeline: Pipeline, at_least: int) -> None:
        """Ask the workers for as many pumps as the inbox is worth; the caller holds ``_guard``."""
        unit = pipeline.pumped_at_once
        while (
            pipeline.inbox_bytes - pipeline.scheduled * unit >= at_least
            and pipeline.scheduled <= _workers.COUNT
        ):
            pipeline.scheduled += 1
            _workers.submit(lambda: self._pump_scheduled(pipeline))

    def _pump_scheduled(self, pipeline: Pipeline) -> None:
        with contextlib.suppress(SpillstoreError):  # kept in pipeline.error, which the writer raises
            self._pump(pipeline, scheduled=True, brief=True)
        with self._guard:
            self._schedule(pipeline, at_least=1 if pipeline.waiting else pipeline.pumped_at_once)

    def _pump_all(self, pipeline: Pipeline, ending: Ending | None = None) -> int:
        """Turn all of an inbox into batches, beside the workers; returns the number of the last one."""
        while pipeline.inbox_bytes > pipeline.pumped_at_once:
            self._pump(pipeline, brief=True)
        return self._pump(pipeline, partial=True, flush=True, ending=ending)

    def _pump_due(self, pipeline: Pipeline) -> None:
        """See to it that what waits is committed; what takes longer is for the workers, so that others need not wait."""
        quick = pipeline.inbox_bytes <= _TRICKLE or not _workers.working()
        if quick and pipeline.taking.acquire(blocking=False):
            with contextlib.suppress(SpillstoreError):  # kept in pipeline.error, which the writer raises
                self._pump_taking(pipeline, brief=True, partial=True)
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
        brief: bool = False,
        scheduled: bool = False,
        partial: bool = False,
        flush: bool = False,
        ending: Ending | None = None,
    ) -> int:
        """Turn what is in an inbox into a batch that is ready to commit; returns its number.

        Args:
            pipeline: whose inbox.
            brief: leave the rest where it is a lot, or where filters take long.
            scheduled: the call that ``_schedule`` has asked for.
            partial: give the unfinished chunk, too.
            flush: let through what is held back.
            ending: how the artifact ends.
        """
        pipeline.taking.acquire()
        return self._pump_taking(
            pipeline, brief=brief, scheduled=scheduled, partial=partial, flush=flush, ending=ending
        )

    def _pump_taking(
        self,
        pipeline: Pipeline,
        *,
        brief: bool,
        scheduled: bool = False,
        partial: bool = False,
        flush: bool = False,
        ending: Ending | None = None,
    ) -> int:
        """``_pump``, by who has ``taking``. It is released by Pipeline.pump, when these bytes are sure of their place."""
        with self._guard:
            pipeline.scheduled -= scheduled
            idle = pipeline.finished or (scheduled and not pipeline.inbox)
            if not idle:
                partial = partial or pipeline.due
                pipeline.due = False
        if idle:  # nothing may come after the batch that ends
            pipeline.taking.release()
            return pipeline.newest_batch
        try:
            items = self._taken(pipeline, brief=brief, all_of_it=partial)
            batch = pipeline.pump(items, partial=partial, flush=flush, ending=ending)
        except Exception as error:
            failure = (
                error if isinstance(error, SpillstoreError) else StorageError(f"storing failed: {error!r}")
            )
            self._fail(pipeline, failure)
            raise failure from error
        with self._guard:
            if pipeline.error is None:
                pipeline.add_ready(batch)
                self._ready_bytes += batch.raw_bytes
                if self._urgent(pipeline):
                    self._hurried = True
                    self._tick.notify()
            self._changed.notify_all()
        return batch.number

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
        enough = min(self.settings.commit_bytes, self._queue_bytes() // 2)
        return (
            self._ready_bytes >= self.settings.commit_bytes
            or pipeline.ready_bytes >= enough
            or (
                pipeline.waiting > 0
                and not pipeline.inbox
                and 2 * pipeline.ready_bytes >= pipeline.uncommitted
            )
        )

    def _fail(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """An artifact cannot be stored any further: forget what is queued, tell its writer at its next call."""
        with self._guard:
            if pipeline.error is None:
                pipeline.error = error
            self._ready_bytes -= pipeline.ready_bytes
            pipeline.drop_all()
            self._changed.notify_all()
            self._room.notify_all()
        self.audit.tell("failure", {"error": type(error).__name__}, artifact_id=pipeline.row.artifact_id)

    # --- committing -------------------------------------------------------------------------------------

    def _run_committer(self) -> None:
        while True:
            with self._guard:
                if not self._hurried and not self._stopping:
                    self._asleep = not self._pipelines
                    self._tick.wait(None if self._asleep else self._until_due())
                    self._asleep = False
                if self._stopping:
                    return
                self._hurried = False
                due = self._due()
            # What is ready does not wait for what has to be filtered first.
            for pipeline in [None, *due]:
                if pipeline is not None:
                    self._pump_due(pipeline)
                if self._any_ready():
                    with self._commit:
                        self._commit_ready()

    def _until_due(self) -> float:
        """Seconds until the oldest write that is not committed must be; the caller holds ``_guard``."""
        interval = self.settings.commit_interval
        oldest = [p.dirty_since for p in self._pipelines if p.dirty_since is not None and not p.ended]
        latest = min(oldest) + interval * _DUE_AFTER - time.monotonic() if oldest else interval
        return min(max(latest, 0.0), interval * _DUE_AFTER)

    def _due(self) -> list[Pipeline]:
        """Artifacts whose writes are to be committed now: with the oldest go those that would be next."""
        limit = time.monotonic() - self.settings.commit_interval * _DUE_WITH
        return [
            p for p in self._pipelines if p.dirty_since is not None and p.dirty_since <= limit and not p.ended
        ]

    def _any_ready(self) -> bool:
        """Whether there is anything to commit."""
        with self._guard:
            return any(pipeline.ready for pipeline in self._pipelines)

    def _checkpoint(self) -> None:
        """On a thread of its own: no caller waits for it, nor it for them."""
        self.store.maintain(lambda: self._gone is None and not self._stopping)

    def _commit_through(self, pipeline: Pipeline, number: int) -> None:
        """Return when the batch of that number is committed; raise what kept it from being."""
        while True:
            locked = None
            with self._commit:
                if pipeline.error is None and pipeline.next_commit <= number:
                    locked = self._commit_ready()
                if pipeline.error is not None:
                    raise pipeline.error
                if pipeline.next_commit > number:
                    return
            if locked is not None:
                raise locked
            with (
                self._guard
            ):  # an earlier batch is still being compressed, or the committer has taken ours along
                self._changed.wait_for(
                    lambda: (
                        pipeline.error is not None
                        or pipeline.next_commit > number
                        or pipeline.next_commit in pipeline.ready
                    )
                )

    def _commit_ready(self) -> LockedError | None:
        """One transaction for batches that are ready and in order; the caller holds ``_commit``.

        Never raises: what fails is kept in ``Pipeline.error`` of those it concerns. Where the file was locked by another
        process for too long, what still has room is tried again later; the error is returned.
        """
        with self._guard:
            work = self._next_work()
        if not work:
            return None
        locked = None
        try:
            self._store(work)
        except LockedError as error:
            locked = error
            self._put_back(work, error)
        except Exception as error:  # noqa: BLE001  # whatever it is, a waiting writer must learn of it
            failure = (
                error if isinstance(error, SpillstoreError) else StorageError(f"storing failed: {error!r}")
            )
            if isinstance(failure, SessionDeletedError):
                self._gone = failure
            for pipeline, _ in work:
                self._fail(pipeline, failure)
                self._record_failure(pipeline, failure)
        finally:
            with self._guard:
                self._ready_bytes -= sum(batch.raw_bytes for _, batches in work for batch in batches)
                self._changed.notify_all()
                if any(pipeline.waiting for pipeline, _ in work):
                    self._room.notify_all()
        stored = [batch.stored_bytes for _, batches in work for batch in batches]
        if locked is None and self.store.committed(sum(stored), len(stored)) and not self._stopping:
            _workers.submit_slow(self._checkpoint)
        return locked

    def _next_work(self) -> list[tuple[Pipeline, list[Batch]]]:
        """Batches for a transaction, those of the smallest first: a trickle does not wait for a flood. Under ``_guard``."""
        work: list[tuple[Pipeline, list[Batch]]] = []
        size = 0
        for pipeline in sorted(self._pipelines, key=lambda pipeline: pipeline.ready_bytes):
            if work and size + pipeline.ready_bytes > self.settings.commit_bytes:
                self._hurried = True  # the rest comes next
                self._tick.notify()
                break
            if batches := pipeline.take_ready():
                work.append((pipeline, batches))
                size += sum(batch.raw_bytes for batch in batches)
        return work

    def _put_back(self, work: list[tuple[Pipeline, list[Batch]]], error: LockedError) -> None:
        """What could not be committed now waits for the next time, unless a writer waits for room already."""
        for pipeline, batches in work:
            if pipeline.waiting:
                self._fail(pipeline, error)
            else:
                with self._guard:
                    for batch in batches:
                        pipeline.add_ready(batch)
                        self._ready_bytes += batch.raw_bytes

    def _store(self, work: list[tuple[Pipeline, list[Batch]]]) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._store_once(work)
            except (
                NotStoredError
            ):  # the WAL was taken away: nothing of this was stored, and what was before is in the file
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _store_once(self, work: list[tuple[Pipeline, list[Batch]]]) -> None:
        if self.settings.session_policy == "evict":
            self._write_events(self._recording("recording events"), self._recorder)  # they say what was read
            new = sum(batch.stored_bytes for _, batches in work for batch in batches)
            pages = self.store.space_for(new, len(work))
            while self._evictor.make_room(pages):
                try:
                    self._store_batches(work, pages)
                except _FilledError:
                    continue
                return
        self._store_batches(work)

    def _store_batches(
        self,
        work: list[tuple[Pipeline, list[Batch]]],
        pages: int | None = None,
    ) -> None:
        """The transaction of ``_store``.

        Raises:
            _FilledError: there is no room for so many bytes of pages any more.
        """
        began = time.perf_counter()
        with self.audit.taken() as entries, self._recording("storing") as tx:
            if pages is not None and self._evictor.is_full(tx, pages):
                raise _FilledError
            with self.limits(work[0][0].row.source):
                self.store.check_room()
            self._recorder.events(tx, entries)
            stored = [self._recorder.store(tx, pipeline, batches) for pipeline, batches in work]
        for (pipeline, batches), now in zip(work, stored, strict=True):
            pipeline.row = now.row
            pipeline.partial_size = now.partial_size
            pipeline.chunk_digests = now.chunk_digests
            pipeline.next_commit += len(batches)
            with self._guard:
                pipeline.uncommitted -= sum(batch.raw_bytes for batch in batches)
            if now.error is not None:
                self._fail(pipeline, now.error)
            if batches[-1].ending is not None:
                self._forget(pipeline)
        self._tell_commit(work, began)

    def _tell_commit(self, work: list[tuple[Pipeline, list[Batch]]], began: float) -> None:
        """Tell of a transaction, in the context of the first artifact's writer: the committer has none of its own."""
        if not wanted("commit"):
            return
        batches = [batch for _, batches in work for batch in batches]
        detail: dict[str, object] = {
            "artifacts": len(work),
            "bytes": sum(batch.raw_bytes for batch in batches),
            "stored_size": sum(batch.stored_bytes for batch in batches),
        }
        seconds = time.perf_counter() - began
        self._commit.tell(Happening("commit", detail, self.row.session_id, None, seconds), work[0][0].context)

    @contextlib.contextmanager
    def _recording(self, doing: str, *, patient: bool = True) -> Iterator[Transaction]:
        """A transaction; what is recorded in it is told when it has been committed. The caller holds ``_commit``."""
        self._refuse_reader()
        with self._recorder.telling(), self.store.transaction(doing, patient=patient) as tx:
            yield tx

    def _record_failure(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """Best effort: what cannot be recorded now is derived once this process is gone. The caller holds ``_commit``."""
        if pipeline.row.state != "open":
            return
        with contextlib.suppress(SpillstoreError):
            with self._recording("recording a failure", patient=False) as tx:
                row = self._recorder.interrupt(tx, pipeline.row, str(error), pipeline.actor)
            pipeline.row = row

    # --- ending and deleting ----------------------------------------------------------------------------

    def end_session(self) -> None:
        """Record that the session has ended."""
        with self._commit, self._recording("ending the session") as tx:
            self._update_session(tx, ended_us=self._recorder.now_us())
            self._recorder.event(tx, "end", None, {})

    def record(self, kind: str, artifact_id: str, detail: dict[str, object]) -> None:
        """Write an event. Where only reading was asked for, it is tried on a connection of its own, and no more."""

        def write(transaction: AbstractContextManager[Transaction], recorder: Recorder) -> None:
            with transaction as tx:
                recorder.write_event(tx, kind, artifact_id, detail)

        if self.read_only:
            self._write_beside(write)
            return
        with self._commit:
            write(self._recording("recording an event"), self._recorder)

    def _flush_events(self) -> None:
        """Write what the audit holds. Never raises: what cannot be written waits, or is dropped where it never can."""
        try:
            if self.read_only:
                with self._flushing:
                    self._write_beside(self._write_events)
            else:
                with self._commit:
                    self._write_events(self._recording("recording events"), self._recorder)
        except Exception as error:  # noqa: BLE001  # it runs on threads that must go on
            if isinstance(error, (ClosedError, ForkError, ReadOnlyError, SessionDeletedError)):
                self.audit.drop()
            _log.debug("events not recorded", extra=self._failure(error))

    def _write_events(self, transaction: AbstractContextManager[Transaction], recorder: Recorder) -> None:
        with self.audit.taken() as entries, transaction as tx:
            recorder.events(tx, entries)

    def _write_beside(self, write: Callable[[AbstractContextManager[Transaction], Recorder], None]) -> None:
        """Write as who only reads; where that cannot be, nothing is recorded any more."""
        if self._foreign or self._pid != os.getpid():
            return
        recorder = Recorder(self.row, self.settings, self.clock, self.audit)
        try:
            with recorder.telling():
                write(self.store.transaction_beside("recording events"), recorder)
        except LockedError as error:
            _log.debug("events not recorded yet", extra=self._failure(error))
        except SpillstoreError as error:  # a file, a folder or a disk that cannot be written
            self.audit.drop()
            _log.debug("events not recorded", extra=self._failure(error))

    def _failure(self, error: Exception) -> dict[str, object]:
        return {"session": self.row.session_id, "error": type(error).__name__}

    def sign(self, data: bytes) -> str:
        """See ``Session.sign``."""
        self.check_usable()
        # With a digest key, who can read the file can still not sign.
        return keyed_digest(self.row.digest_algorithm.key or self.row.uid.encode("ascii"), data)

    def delete_artifact(self, artifact_id: str, *, why: str = "deleted") -> ArtifactRow:
        """Make an artifact unreadable at once, then free its space in small steps; the reserve helps on a full disk."""
        try:
            row = self._mark_deleted(artifact_id, why)
        except StorageError as error:
            if not (may_be_full(error) and self.store.give_reserve()):
                raise
            row = self._mark_deleted(artifact_id, why)
        self._purge(row)
        return row

    def _mark_deleted(self, artifact_id: str, why: str) -> ArtifactRow:
        with self._commit, self._recording("deleting an artifact") as tx:
            row = self.artifact_row(tx, artifact_id)
            if row.state == "open" and why == "deleted":
                raise SessionBusyError(f"artifact {artifact_id} is being written; close its writer first")
            row = self._recorder.update(tx, row._replace(state="deleted"))
            self._recorder.event(tx, "delete", artifact_id, {"kept": row.kept, "why": why}, row.tool_call_id)
        return row

    def _purge(self, row: ArtifactRow) -> None:
        """Free the space of an artifact marked ``deleted``; a crash in between is finished by the next writer.

        On a disk that is too full for that, one chunk is freed at a time, and the journal, which says what is in the freed
        pages, is used again for the next. Where even that does not fit, the reserve
        makes room for it.
        """
        most = _PURGE_CHUNKS
        left = True
        try:
            while left:  # from one chunk that is there to the next: a row may say that there are 2**60
                try:
                    left = self._purge_some(row, most)
                except StorageError as error:
                    if not may_be_full(error) or (most == 1 and not self.store.give_reserve()):
                        raise
                    most = 1
                if most == 1:
                    self._checkpoint_freed()
            self._checkpoint_freed()
        finally:
            self.store.keep_reserve()

    def _purge_some(self, row: ArtifactRow, most: int) -> bool:
        """Free ``most`` chunks, or the row when there are none; whether there are more."""
        with self._commit:
            with self._recording("freeing space") as tx:
                first = tx.first_chunk(row.artifact_key)
                left = first is not None
                if left and not is_count(first):
                    raise IntegrityError(f"a chunk of {row.artifact_id} has no place: {repr(first)[:30]}")
                if first is not None:
                    tx.drop_chunks(row.artifact_key, first, first + most)
                else:
                    self._recorder.remove(tx, row)
            self.store.release_space()
        return left

    def _checkpoint_freed(self) -> None:
        with self._commit:
            self.store.settle()

    def delete_session(self, *, force: bool, unused_since: float | None = None) -> Remains:
        """Tombstone, then rename out of sight; returns what is left of it.

        Args:
            force: whoever holds it.
            unused_since: only if nothing was done with it after this time.

        Raises:
            SessionBusyError: somebody alive holds it, or an artifact is being written here, unless forced; or it was used.
        """
        with self._commit:
            with self._guard:
                writing = len(self._pipelines)
            with self._recording("deleting the session") as tx:
                others = self.store.others()
                if (others or writing) and not force:
                    who = ", ".join(others) or "an open writer here"
                    raise SessionBusyError(
                        f"session {self.row.session_id!r} is held by {who}; close it, or force the deletion"
                    )
                if unused_since is not None:
                    since_us = int(unused_since * 1e6)
                    until_us = self._recorder.now_us()  # what the future holds is no use of a moment ago
                    if tx.uses(since_us, until_us) or tx.artifacts_created(since_us, until_us):
                        raise SessionBusyError(f"session {self.row.session_id!r} was used a moment ago")
                self._update_session(tx, deleted_us=self._recorder.now_us())
                if self.settings.audit_keep:
                    self._keep_events(tx)
            gone = self.store.remove(self.row.uid)
            self.audit.tell("delete_session", {})
            self._gone = SessionDeletedError(f"session {self.row.session_id!r} was deleted")
            error = self._gone
        with self._guard:
            pipelines = list(self._pipelines)
            self._pipelines.clear()
            self._stopping = True
            self._tick.notify_all()
        for pipeline in pipelines:
            self._fail(pipeline, error)
        if self._committer is not None:
            self._committer.join()
        _engines.discard(self)
        return gone

    def _keep_events(self, tx: Transaction) -> None:
        """Copy the events of a session that goes."""
        with self.audit.taken() as entries:
            self._recorder.events(tx, entries)
            if self.audit.wants("delete_session"):
                self._recorder.record(tx, "delete_session", None, {})
        self.store.archive_events(tx, self.row, self._recorder.now_us())

    def abandon(self) -> None:
        """Close the files of a deleted session."""
        self.audit.drop()
        self._close_store()

    def _update_session(self, tx: Transaction, **changes: int) -> None:
        self.row = self._session_row(tx)._replace(**changes).sealed()  # type: ignore[arg-type]  # two int columns
        tx.update_session(self.row)


# --- the end of the process, and its children -------------------------------------------------------------


class _CommitLock(TellingLock):
    """Taken by who writes rows, inside what a fork waits for."""

    def __init__(self, using: contextlib.AbstractContextManager[None]) -> None:
        super().__init__()
        self._using = using

    def __enter__(self) -> None:
        self._using.__enter__()
        super().__enter__()

    def released(self) -> None:
        """It was let go, and nothing was told yet."""
        self._using.__exit__(None, None, None)


_engines: set[SessionCore] = set()
_inherited: list[object] = []  # connections that a fork could not close; a child must not close them either


class Held(NamedTuple):
    """What this process holds.

    Attributes:
        sessions: that are open.
        artifacts: that are being written.
        queued: bytes that were written and are not committed yet.
    """

    sessions: int
    artifacts: int
    queued: int


def held() -> Held:
    """What this process holds now. Cost: a look at each session that is open."""
    engines = list(_engines)
    pipelines = [pipeline for engine in engines for pipeline in list(engine._pipelines)]  # noqa: SLF001  # one module
    return Held(len(engines), len(pipelines), sum(pipeline.uncommitted for pipeline in pipelines))


def drain() -> None:
    """Store what is still queued when the interpreter exits; what was left open becomes ``interrupted``."""
    for engine in list(_engines):
        engine.shutdown("the process ended before its writer was closed")


def _forked() -> ForkError:
    return ForkError(
        "this session was opened by a parent process; open it again in this one with Store.session(...)"
    )


def _forget_after_fork() -> None:
    for engine in _engines:
        engine.disown()
    _inherited.extend(_engines)
    _engines.clear()


atexit.register(drain)
os.register_at_fork(after_in_child=_forget_after_fork)
