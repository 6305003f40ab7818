"""What a process holds of one session: its rows, the artifacts that it writes, and who commits them.

There is one core per process and session, however many ``Session`` objects look at it. Locks, in the order in which they may
be taken:

- ``SessionBackend.using``: what a fork waits for.
- ``_commit``: held by who writes rows, and protects what the database holds of each artifact.
- ``Pipeline._taking``, and within the pipeline its ``_sequencing``: the order of one artifact's bytes.
- ``IngestQueue._guard``: inboxes, queue budget, batches that are ready. Held for microseconds.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from spillstore.audit.audit_log import Audit
from spillstore.engine.errors import may_be_full, translated
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ClosedError,
    ForkError,
    IntegrityError,
    LockedError,
    ReadOnlyError,
    SessionBusyError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
)
from spillstore.format.digests import keyed_digest, stored_algorithm
from spillstore.format.rollback_guard import check_sum
from spillstore.ingest.committer import CommitLock, Committer
from spillstore.ingest.event_writer import EventWriter
from spillstore.ingest.eviction import EVICT, Evictor
from spillstore.ingest.ingest_queue import IngestQueue
from spillstore.ingest.pipeline import Ending, Pipeline
from spillstore.ingest.quotas import refuse_rate
from spillstore.ingest.row_writer import RowWriter
from spillstore.model.validation import is_count, read_artifact_row, read_session_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from spillstore.engine.base import Remains, SessionBackend
    from spillstore.engine.rows import Snapshot, Transaction
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow, SessionRow
    from spillstore.settings import Settings

_log = logging.getLogger("spillstore")
_PURGE_CHUNKS = 512


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
        self._committer: Committer | None = None  # None for who only reads
        self._begin_anew(foreign=foreign)
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

    def _begin_anew(self, *, foreign: bool) -> None:
        self._commit = CommitLock(self.store.using)
        self.audit = Audit(self.settings, self.clock, self._flush_events, self._commit.emit, foreign=foreign)
        self._flushing = threading.Lock()  # one writes the events of a reader at a time
        self.queue = IngestQueue(self.settings, self.check_usable, self._failed)

    def disown(self) -> None:
        """In a forked child: refuse everything. The locks are new, since their holders may not exist here."""
        self.store.disown()
        self._begin_anew(foreign=True)
        self._committer = None
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
            self._rows = RowWriter(
                self.row, self.settings, EventWriter(self.settings, self.clock, self.audit)
            )
            self._committer = Committer(
                self.store,
                self.settings,
                self.queue,
                self._rows,
                Evictor(self.store, self._rows, self.settings),
                lock=self._commit,
                audit=self.audit,
                check_writable=self._refuse_reader,
                deleted=self.note_deletion,
            )
            unfinished = self._unfinished(tx)
            for record in unfinished:
                if record.state == "open" and not self.store.alive(record.owner):
                    self._rows.interrupt(tx, record, "its process ended")
        self._rows.events.emit_recorded()
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
        for pipeline in self.queue.stop():
            with contextlib.suppress(SpillstoreError):  # the writer raises it; here nobody could act on it
                self.end(pipeline, Ending("interrupted", reason))
        if self._committer is not None:
            self._committer.join()
        self.audit.close()
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

    def _writer(self) -> Committer:
        """Who commits.

        Raises:
            ReadOnlyError: nobody does.
        """
        self._refuse_reader()
        assert self._committer is not None, "who may write has one"
        return self._committer

    def note_deletion(self, error: SpillstoreError) -> None:
        """The session was deleted by somebody else: refuse everything from now on."""
        self._gone = self._gone or error

    # --- reading ----------------------------------------------------------------------------------------

    def reader(self) -> _Reading:
        """Rows for reading, each call on its own snapshot."""
        return _Reading(self, self.store.reader())

    def snapshot(self, doing: str) -> _Reading:
        """Rows for reading, all calls on one snapshot."""
        return _Reading(self, self.store.snapshot(doing))

    def borrow(self) -> Snapshot:
        """``reader`` without what costs a tenth of a small read; the same thread gives it back to ``store``."""
        self.check_usable()
        try:
            return self.store.borrow()
        except SessionDeletedError as error:
            self.note_deletion(error)
            raise

    def current(self, rows: Snapshot) -> Snapshot:
        """What was borrowed, or other rows in its place if it shows an old state."""
        try:
            return self.store.current(rows)
        except SessionDeletedError as error:
            self.note_deletion(error)
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
        committer = self._writer()
        committer.start()
        with self._commit, committer.recording("creating an artifact") as tx:
            with committer.limits(source):
                self.store.check_room()
                refuse_rate(tx, self.settings, self._rows.events.now_us())
            row = self._rows.insert(tx, make_row(tx.next_artifact_key(), self.store.owner))
            self._rows.events.record(
                tx, "create", row.artifact_id, {"source": row.source, **detail}, row.tool_call_id
            )
        pipeline = make_pipeline(row)
        self.queue.add(pipeline)
        return pipeline

    def limits(self, source: str) -> AbstractContextManager[None]:
        """Record what is refused for a limit."""
        return self._writer().limits(source)

    def flush(self, pipeline: Pipeline) -> None:
        """Commit everything written so far, lines without an end included."""
        self.check_usable()
        self.queue.refuse_ended(pipeline)
        self._writer().commit_through(pipeline, self.queue.pump_all(pipeline))

    def end(self, pipeline: Pipeline, ending: Ending) -> None:
        """Commit everything and end the artifact. A second call does nothing, unless the first one found the session locked."""
        self.check_usable()
        again = self.queue.close(pipeline)
        if again is None:
            return
        failed = pipeline.error
        try:
            if failed is not None:
                raise failed
            number = pipeline.newest_batch if again else self.queue.pump_all(pipeline, ending)
            self._writer().commit_through(pipeline, number)
        except SpillstoreError as error:
            if pipeline.error is None and isinstance(error, LockedError):
                raise  # the committer goes on trying
            with self._commit:
                self._writer().record_failure(pipeline, error)
            self.queue.forget(pipeline)
            raise
        self.queue.forget(pipeline)

    def discard(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        """Drop an artifact that may not be; later calls of its writer raise ``error``."""
        self.queue.fail(pipeline, error)
        self.queue.close(pipeline)
        self.queue.forget(pipeline)
        self.delete_artifact(pipeline.row.artifact_id, why="rejected")

    def _failed(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        self.audit.emit("failure", {"error": type(error).__name__}, artifact_id=pipeline.row.artifact_id)

    def _recording(self, doing: str) -> AbstractContextManager[Transaction]:
        return self._writer().recording(doing)

    # --- ending and deleting ----------------------------------------------------------------------------

    def end_session(self) -> None:
        """Record that the session has ended."""
        with self._commit, self._recording("ending the session") as tx:
            self._update_session(tx, ended_us=self._rows.events.now_us())
            self._rows.events.record(tx, "end", None, {})

    def record(self, kind: str, artifact_id: str, detail: dict[str, object]) -> None:
        """Write an event. Where only reading was asked for, it is tried on a connection of its own, and no more."""

        def write(transaction: AbstractContextManager[Transaction], events: EventWriter) -> None:
            with transaction as tx:
                events.record_always(tx, kind, artifact_id, detail)

        if self.read_only:
            self._write_beside(write)
            return
        with self._commit:
            write(self._recording("recording an event"), self._rows.events)

    def _flush_events(self) -> None:
        """Write what the audit holds. Never raises: what cannot be written waits, or is dropped where it never can."""
        try:
            if self.read_only:
                with self._flushing:
                    self._write_beside(self._write_events)
            else:
                with self._commit:
                    self._write_events(self._recording("recording events"), self._rows.events)
        except Exception as error:  # noqa: BLE001  # it runs on threads that must go on
            if isinstance(error, (ClosedError, ForkError, ReadOnlyError, SessionDeletedError)):
                self.audit.drop()
            _log.debug("events not recorded", extra=self._failure(error))

    def _write_events(self, transaction: AbstractContextManager[Transaction], events: EventWriter) -> None:
        """Write what the audit holds."""
        with self.audit.taken() as entries, transaction as tx:
            events.write_all(tx, entries)

    def _write_beside(
        self, write: Callable[[AbstractContextManager[Transaction], EventWriter], None]
    ) -> None:
        """Write as who only reads; where that cannot be, nothing is recorded any more."""
        if self._foreign or self._pid != os.getpid():
            return
        events = EventWriter(self.settings, self.clock, self.audit)
        try:
            with events.emitting():
                write(self.store.transaction_beside("recording events"), events)
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
            row = self._rows.update(tx, row._replace(state="deleted"))
            self._rows.events.record(
                tx, "delete", artifact_id, {"kept": row.kept, "why": why}, row.tool_call_id
            )
        return row

    def _purge(self, row: ArtifactRow) -> None:
        """Free the space of an artifact marked ``deleted``; a crash in between is finished by the next writer.

        On a disk that is too full for that, one chunk is freed at a time, and the journal, which says what is in the freed
        pages, is used again for the next. Where even that does not fit, the reserve makes room for it.
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
                    self._rows.remove(tx, row)
            self.store.release_space()
        return left

    def _checkpoint_freed(self) -> None:
        with self._commit:
            self._refuse_reader()
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
            writing = self.queue.pipelines
            with self._recording("deleting the session") as tx:
                others = self.store.others()
                if (others or writing) and not force:
                    who = ", ".join(others) or "an open writer here"
                    raise SessionBusyError(
                        f"session {self.row.session_id!r} is held by {who}; close it, or force the deletion"
                    )
                if unused_since is not None:
                    since_us = int(unused_since * 1e6)
                    until_us = self._rows.events.now_us()  # what the future holds is no use of a moment ago
                    if tx.uses(since_us, until_us) or tx.artifacts_created(since_us, until_us):
                        raise SessionBusyError(f"session {self.row.session_id!r} was used a moment ago")
                self._update_session(tx, deleted_us=self._rows.events.now_us())
                if self.settings.audit_keep:
                    self._keep_events(tx)
            gone = self.store.remove(self.row.uid)
            self.audit.emit("delete_session", {})
            self._gone = SessionDeletedError(f"session {self.row.session_id!r} was deleted")
            error = self._gone
        for pipeline in self.queue.stop(forget=True):
            self.queue.fail(pipeline, error)
        if self._committer is not None:
            self._committer.join()
        _engines.discard(self)
        return gone

    def _keep_events(self, tx: Transaction) -> None:
        """Copy the events of a session that goes."""
        with self.audit.taken() as entries:
            self._rows.events.write_all(tx, entries)
            if self.audit.wants("delete_session"):
                self._rows.events.write(tx, "delete_session", None, {})
        self.store.archive_events(tx, self.row, self._rows.events.now_us())

    def abandon(self) -> None:
        """Close the files of a deleted session."""
        self.audit.drop()
        self._close_store()

    def _update_session(self, tx: Transaction, **changes: int) -> None:
        self.row = self._session_row(tx)._replace(**changes).sealed()  # type: ignore[arg-type]  # two int columns
        tx.update_session(self.row)


class _Reading:
    """Rows that the engine lends for the length of a block. A session that turns out to be deleted is noted."""

    __slots__ = ("_core", "_rows")

    def __init__(self, core: SessionCore, rows: AbstractContextManager[Snapshot]) -> None:
        self._core = core
        self._rows = rows

    def __enter__(self) -> Snapshot:
        self._core.check_usable()
        try:
            return self._rows.__enter__()
        except SessionDeletedError as error:
            self._core.note_deletion(error)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._rows.__exit__(kind, error, trace)
        finally:
            if isinstance(error, SessionDeletedError):
                self._core.note_deletion(error)


# --- the end of the process, and its children -------------------------------------------------------------


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
    pipelines = [pipeline for engine in engines for pipeline in engine.queue.pipelines]
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
