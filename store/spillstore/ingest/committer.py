"""Commits what is ready: one transaction for all artifacts of a session that this process writes.

Whoever takes the lock commits what all artifacts have ready, so twenty artifacts cost one commit, not twenty, and a caller of
``close`` commits on its own thread. A thread of its own wakes when the oldest write is due.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from spillstore.engine.errors import NotStoredError, storing_failed
from spillstore.exceptions import (
    DiskFullError,
    LockedError,
    QuotaError,
    RateLimitError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
    StoreQuotaError,
)
from spillstore.observers import EmittedEvent, EmittingLock, is_observed
from spillstore.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from spillstore.audit.audit_log import Audit
    from spillstore.engine.base import SessionBackend
    from spillstore.engine.rows import Transaction
    from spillstore.ingest.event_writer import EventWriter
    from spillstore.ingest.eviction import Evictor
    from spillstore.ingest.inboxes import Inboxes
    from spillstore.ingest.ingest_queue import IngestQueue, Work
    from spillstore.ingest.pipeline import Pipeline
    from spillstore.ingest.row_writer import RowWriter
    from spillstore.settings import Settings

_ATTEMPTS = 3  # to commit, where the WAL is taken away meanwhile
_LIMITS: dict[type[SpillstoreError], str] = {
    RateLimitError: "artifacts_per_minute",
    DiskFullError: "free_disk_floor",
    StoreQuotaError: "store_quota",
}


class _FilledError(Exception):
    """Another process has taken the room that was made."""


class CommitLock(EmittingLock):
    """The lock held while rows are written; a fork waits for it."""

    def __init__(self, using: AbstractContextManager[None]) -> None:
        super().__init__()
        self._using = using

    def __enter__(self) -> None:
        self._using.__enter__()
        super().__enter__()

    def released(self) -> None:
        """Let forks go on."""
        self._using.__exit__(None, None, None)


class Recording:
    """A transaction of the committer. The events recorded in it are emitted when it is committed."""

    __slots__ = ("_deleted", "_doing", "_events", "_patient", "_store", "_transaction")

    def __init__(
        self,
        store: SessionBackend,
        events: EventWriter,
        deleted: Callable[[SpillstoreError], None],
        doing: str,
        *,
        patient: bool,
    ) -> None:
        """Prepare the transaction.

        Args:
            store: where the rows go.
            events: what records the events.
            deleted: called when the session turns out to be deleted.
            doing: what the transaction is for, as an error will say.
            patient: False to try only once where another process writes.
        """
        self._store = store
        self._events = events
        self._deleted = deleted
        self._doing = doing
        self._patient = patient

    def __enter__(self) -> Transaction:
        try:
            self._transaction = self._store.transaction(self._doing, patient=self._patient)
            return self._transaction.__enter__()
        except BaseException as error:
            self._failed(error)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._transaction.__exit__(kind, error, trace)
        except BaseException as failure:
            self._failed(failure)
            raise
        if error is None:
            self._events.emit_recorded()
        else:
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        """Nothing was stored."""
        self._events.forget_recorded()
        if isinstance(error, SessionDeletedError):
            self._deleted(error)


class LimitEvents:
    """Records an event for a limit that refuses what is done in a block."""

    __slots__ = ("_audit", "_settings", "_source")

    def __init__(self, audit: Audit, settings: Settings, source: str) -> None:
        """Prepare the event."""
        self._audit = audit
        self._settings = settings
        self._source = source

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (QuotaError, DiskFullError)):
            name = _LIMITS[type(error)]
            most = getattr(self._settings, name)
            self._audit.add("limit", None, {"limit": name, "tool": self._source, "most": most})


class Committer:
    """Writes rows of one session. Whoever writes holds ``lock``, which a fork waits for."""

    def __init__(
        self,
        store: SessionBackend,
        settings: Settings,
        queue: IngestQueue,
        inboxes: Inboxes,
        rows: RowWriter,
        evictor: Evictor,
        *,
        lock: CommitLock,
        audit: Audit,
        check_writable: Callable[[], None],
        deleted: Callable[[SpillstoreError], None],
    ) -> None:
        """Begin without a thread.

        Args:
            store: where the rows go.
            settings: what is in force.
            queue: whose batches are committed.
            inboxes: emptied when what is in them is due.
            rows: makes rows of them.
            evictor: makes room.
            lock: what is held while rows are written.
            audit: whose events are written along.
            check_writable: raises what keeps anything from being written.
            deleted: called when the session turns out to be deleted.
        """
        self.lock = lock
        self._store = store
        self._settings = settings
        self._queue = queue
        self._inboxes = inboxes
        self._rows = rows
        self._evictor = evictor
        self._audit = audit
        self._check_writable = check_writable
        self._deleted = deleted
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()  # protects _thread

    def start(self) -> None:
        """Start the thread, unless there is one; before anything is begun that it would have to commit.

        Raises:
            StorageError: there can be no more threads.
        """
        with self._starting:
            if self._thread is not None or self._queue.stopping:
                return
            thread = threading.Thread(target=self._run, name="spillstore-committer", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise StorageError(
                    f"nothing can be stored, because no thread can be started ({error}); end other threads or processes, "
                    "or raise the limit of them (ulimit -u)"
                ) from error
            self._thread = thread

    def join(self) -> None:
        """Wait for the thread to end, after ``IngestQueue.stop``."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while (due := self._queue.wait_for_due()) is not None:
            # What is ready does not wait for what has to be filtered first.
            for pipeline in [None, *due]:
                if pipeline is not None:
                    self._inboxes.pump_due(pipeline)
                if self._queue.any_ready():
                    with self.lock:
                        self._commit_ready()

    def recording(self, doing: str, *, patient: bool = True) -> Recording:
        """A transaction; the events that are recorded in it are emitted when it is committed. The caller holds ``lock``."""
        self._check_writable()
        return Recording(self._store, self._rows.events, self._deleted, doing, patient=patient)

    def limits(self, source: str) -> LimitEvents:
        """Record what is refused for a limit; the transaction that it was refused in is rolled back."""
        return LimitEvents(self._audit, self._settings, source)

    def commit_through(self, pipeline: Pipeline, number: int) -> None:
        """Return when the batch of that number is committed; raise what kept it from being."""
        while True:
            locked = None
            with self.lock:
                if pipeline.error is None and pipeline.next_commit <= number:
                    locked = self._commit_ready()
                if pipeline.error is not None:
                    raise pipeline.error
                if pipeline.next_commit > number:
                    return
            if locked is not None:
                raise locked
            self._queue.wait_until_ready(pipeline, number)

    def _commit_ready(self) -> LockedError | None:
        """One transaction for batches that are ready and in order; the caller holds ``lock``.

        Never raises: what fails is kept in ``Pipeline.error`` of those it concerns. Where the session was locked by another
        process for too long, what still has room is tried again later; the error is returned.
        """
        work = self._queue.next_work()
        if not work:
            return None
        locked = None
        try:
            self._store_work(work)
        except LockedError as error:
            locked = error
            self._queue.put_back(work, error)
        except BaseException as error:  # whatever it is, a waiting writer must learn of it
            failure = storing_failed(error)
            for pipeline, _ in work:
                self._queue.fail(pipeline, failure)
            if not isinstance(error, Exception):
                raise  # an interrupt of the keyboard ends what goes on, and the committer goes on without
            for pipeline, _ in work:
                self.record_failure(pipeline, failure)
        finally:
            self._queue.finish(work)
        stored = [batch.stored_bytes for _, batches in work for batch in batches]
        if locked is None and self._store.committed(sum(stored), len(stored)) and not self._queue.stopping:
            # On a thread of its own: no caller waits for it, nor it for them.
            workers.submit_slow(lambda: self._store.maintain(lambda: not self._queue.stopping))
        return locked

    def _store_work(self, work: Work) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._store_with_room(work)
            except NotStoredError:
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _store_with_room(self, work: Work) -> None:
        if self._settings.session_policy == "evict":
            with self._audit.drained() as entries, self.recording("recording events") as tx:
                self._rows.events.write_all(tx, entries)  # they say what was read
            new = sum(batch.stored_bytes for _, batches in work for batch in batches)
            pages = self._store.space_for(new, len(work))
            while self._evictor.make_room(pages):
                try:
                    self._store_batches(work, pages)
                except _FilledError:
                    continue
                return
        self._store_batches(work)

    def _store_batches(self, work: Work, pages: int | None = None) -> None:
        """The transaction of ``_store_work``.

        Raises:
            _FilledError: there is no room for so many bytes of pages any more.
        """
        began = time.perf_counter()
        with self._audit.drained() as entries, self.recording("storing") as tx:
            if pages is not None and self._evictor.is_full(tx, pages):
                raise _FilledError
            with self.limits(work[0][0].row.source):
                self._store.check_room()
            self._rows.events.write_all(tx, entries)
            stored = [self._rows.store(tx, pipeline, batches) for pipeline, batches in work]
        for (pipeline, batches), now in zip(work, stored, strict=True):
            pipeline.row = now.row
            pipeline.partial_size = now.partial_size
            pipeline.chunk_digests = now.chunk_digests
            pipeline.next_commit += len(batches)
            self._queue.committed(pipeline, batches)
            if now.error is not None:
                self._queue.fail(pipeline, now.error)
            if batches[-1].ending is not None:
                self._queue.forget(pipeline)
        self._emit_commit(work, began)

    def _emit_commit(self, work: Work, began: float) -> None:
        """Emit a transaction's event, in the context of the first artifact's writer: the committer has none of its own."""
        if not is_observed("commit"):
            return
        batches = [batch for _, batches in work for batch in batches]
        detail: dict[str, object] = {
            "artifacts": len(work),
            "bytes": sum(batch.raw_bytes for batch in batches),
            "stored_size": sum(batch.stored_bytes for batch in batches),
        }
        seconds = time.perf_counter() - began
        session = self._rows.session.session_id
        self.lock.emit(EmittedEvent("commit", detail, session, None, seconds), work[0][0].context)

    def record_failure(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """Best effort: what cannot be recorded now is derived once this process is gone. The caller holds ``lock``."""
        if pipeline.row.state != "open":
            return
        with contextlib.suppress(SpillstoreError):
            with self.recording("recording a failure", patient=False) as tx:
                if tx.artifact_digest(pipeline.row.artifact_key) != pipeline.row.digest:
                    return  # what failed was stored all the same; the row says how much
                row = self._rows.interrupt(tx, pipeline.row, str(error), pipeline.actor)
            pipeline.row = row
