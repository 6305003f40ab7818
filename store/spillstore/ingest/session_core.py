"""One session as one process has it open: its rows, the artifacts that it writes, and their committer.

There is one core per process and session, however many ``Session`` objects look at it. Locks, in the order in which they may
be taken:

- ``SessionBackend.using``: what a fork waits for.
- ``_commit``: held while rows are written; protects the committed state of each artifact.
- ``Sequencer.filtering`` and then its ``ordering``: the order of one artifact's bytes.
- ``IngestQueue.guard``: inboxes, queue budget, batches that are ready. Held for microseconds.

A writer that spools takes the lock of its ``Spool`` before any of them.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from spillstore.audit.audit_log import Audit
from spillstore.engine.errors import translated
from spillstore.events.catalogue import EVICT
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ClosedError,
    ForkError,
    ReadOnlyError,
    SessionDeletedError,
    SpillstoreError,
)
from spillstore.format.digests import keyed_digest
from spillstore.ingest.committer import CommitLock
from spillstore.ingest.event_recorder import EventRecorder
from spillstore.ingest.open_sessions import open_sessions
from spillstore.ingest.session_record import SessionRecord
from spillstore.model.validation import read_artifact_row

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from spillstore.engine.base import Remains, SessionBackend, SessionImport
    from spillstore.engine.rows import Snapshot
    from spillstore.ingest.ingest import Ingest
    from spillstore.ingest.pipeline import Pipeline
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow
    from spillstore.settings import Settings


class SessionCore:
    """One open session, shared by all ``Session`` objects of the process. Safe from any thread."""

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
        """Open a session on rows that an engine has opened.

        Args:
            store: where its rows are.
            settings: what is in force.
            clock: where to read the time.
            foreign: it is in no store of ours, and reads of it are not recorded there.
            key: the store's digest key.
            expected: the ids that the session and its project must have; None for any.

        Raises:
            SessionDeletedError: the session was deleted.
            IntegrityError: it is another one, or its row is damaged.
        """
        self.store = store
        self.settings = settings
        self.clock = clock
        self.read_only = store.read_only
        self.users = 0  # Session objects; protected by the store's registry
        self._pid = os.getpid()
        self._foreign = foreign
        self.record = SessionRecord(store.name, key, expected)
        self._ingest: Ingest | None = None  # where the session may be written
        self._begin_anew(foreign=foreign)
        self._unusable: SpillstoreError | None = None
        with store.using:
            try:
                self._open()
            except BaseException:
                store.close()
                raise
            open_sessions.add(self)

    def _open(self) -> None:
        if self.read_only:
            with self.store.snapshot("opening the session") as rows:
                self.row = self.record.read(rows)
                self.record.check_fresh(rows)
                if self.row.digest_algorithm.key is not None:
                    for row in rows.unfinished():  # one that is marked as deleted is listed nowhere
                        read_artifact_row(row, self.row.digest_algorithm)
        else:
            self._take_over()
        self.audit.session = self.row.session_id
        self._begin_events(foreign=self._foreign)
        if not self.still_there():  # deleted, by its rename alone, while this waited for its lock
            raise SessionDeletedError("the session was deleted")

    def _begin_anew(self, *, foreign: bool) -> None:
        self._commit = CommitLock(self.store.using)
        self.audit = Audit(self.settings, self.clock, self._flush_events, self._commit.emit, foreign=foreign)

    def _flush_events(self) -> None:
        self.events.flush()

    def _begin_events(self, *, foreign: bool) -> None:
        self.events = EventRecorder(
            self.store, self.settings, self.clock, self.audit, self.row, foreign=foreign
        )
        if self._ingest is not None and not foreign:
            self.events.writing = self._ingest.committer, self._ingest.rows.events

    def disown(self) -> None:
        """In a forked child: refuse everything. The locks are new, since their holders may not exist here."""
        self.store.disown()
        self._begin_anew(foreign=True)
        self._begin_events(foreign=True)
        if self._ingest is not None:
            self._ingest.queue.begin_anew()
        self._unusable = ForkError(
            "this session was opened by a parent process; open it again in this one with Store.session(...)"
        )

    # --- opening and closing ----------------------------------------------------------------------------

    def still_there(self) -> bool:
        """Whether the session is still the one that this engine holds."""
        return self._unusable is None and self.store.still_there()

    def _take_over(self) -> None:
        """Read the session's row under the write lock, and finish what dead owners left.

        The write lock orders this against a deletion: either the deleter sees our claim, or we see that it is deleted.
        """
        from spillstore.ingest.ingest import Ingest  # noqa: PLC0415  # who only reads does without the write path

        with self.store.transaction("opening the session") as tx:
            self.row = self.record.read(tx)
            self.audit.session = self.row.session_id
            self.record.check_fresh(tx)
            ingest = self._ingest = Ingest(
                self.store,
                self.row,
                self.settings,
                self.clock,
                self.audit,
                lock=self._commit,
                find=self.artifact_row,
                check_usable=self._refuse_reader,
                deleted=self.note_deletion,
            )
            unfinished = ingest.interrupt_dead(tx)
        ingest.clear_up(unfinished)

    def shutdown(self, reason: str = "its writer was not closed") -> None:
        """Commit everything, interrupt what is still open, give up the claim. Idempotent."""
        if self._pid != os.getpid():
            return
        if self._ingest is not None:
            from spillstore.ingest.pipeline import Ending  # noqa: PLC0415  # imported with the write path

            for pipeline in self._ingest.queue.stop():
                with contextlib.suppress(SpillstoreError):  # its writer raises it
                    self._ingest.end(pipeline, Ending("interrupted", reason, output_goes_on=True))
            self._ingest.committer.join()
        self.audit.close()
        self._unusable = self._unusable or ClosedError(
            "the session was closed; open it again with Store.session"
        )
        self.abandon()
        open_sessions.discard(self)

    def check_usable(self) -> None:
        """Raise what makes this engine useless: closed, deleted, or inherited by a fork, which ``disown`` has noted."""
        if self._unusable is not None:
            raise self._unusable

    def _refuse_reader(self) -> None:
        """Raise where nothing may be written."""
        self.check_usable()
        if self.read_only:
            raise ReadOnlyError("the session was opened for reading; open it with read_only=False to write")

    @property
    def ingest(self) -> Ingest:
        """The write path.

        Raises:
            ReadOnlyError, ClosedError, SessionDeletedError, ForkError: nothing may be written.
        """
        self._refuse_reader()
        assert self._ingest is not None, "a session that may be written has one"
        return self._ingest

    @property
    def pipelines(self) -> list[Pipeline]:
        """The artifacts that are being written here."""
        return [] if self._ingest is None else self._ingest.queue.pipelines

    def note_deletion(self, error: SpillstoreError) -> None:
        """The session was deleted by somebody else: refuse everything from now on."""
        self._unusable = self._unusable or error

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
        """The borrowed rows, or new ones in their place if those show an old state."""
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
            raise not_found(
                artifact_id, self.row.session_id, was_evicted=bool(rows.events_of(artifact_id, EVICT, 1))
            )
        return with_derived_state(record, self.store, rows)

    # --- ending and deleting ----------------------------------------------------------------------------

    def end_session(self) -> None:
        """Record that the session has ended."""
        ingest = self.ingest
        with self._commit, ingest.committer.recording("ending the session") as tx:
            self.row = self.record.update(tx, ended_us=ingest.rows.events.now_us())
            ingest.rows.events.record(tx, "end", None, {})

    def sign(self, data: bytes) -> str:
        """See ``Session.sign``."""
        self.check_usable()
        # With a digest key, who can read the file can still not sign.
        return keyed_digest(self.row.digest_algorithm.key or self.row.uid.encode("ascii"), data)

    def delete_session(
        self, *, force: bool, unused_since: float | None = None, successor: SessionImport | None = None
    ) -> Remains:
        """Tombstone, then rename out of sight; returns what is left of it.

        Args:
            force: delete it even though others have it open.
            unused_since: only if nothing was done with it after this time.
            successor: a session that takes its place in one step, where nothing is forced.

        Raises:
            SessionBusyError: somebody alive holds it, or an artifact is being written here, unless forced; or it was used.
            SessionDeletedError, UnsupportedError: of ``SessionImport.replace``.
        """
        ingest = self.ingest
        with translated("deleting the session"):  # an import opens files
            from spillstore.ingest.session_deletion import SessionDeletion  # noqa: PLC0415  # few delete

        with self._commit:
            deletion = SessionDeletion(self.store, self.record, self.settings, ingest)
            if successor is None:
                remains = deletion.delete(force=force, unused_since=unused_since)
            else:
                remains = deletion.replace(successor)
            self.audit.emit("delete_session", {})
            self._unusable = error = SessionDeletedError(f"session {self.row.session_id!r} was deleted")
        for pipeline in ingest.queue.stop(forget=True):
            ingest.queue.fail(pipeline, error)
        ingest.committer.join()
        open_sessions.discard(self)
        return remains

    def abandon(self) -> None:
        """Close the files; what is still to be recorded of a deleted session is dropped."""
        self.audit.drop()
        with self.store.using, self._commit:
            self.store.close()


def with_derived_state(record: ArtifactRow, store: SessionBackend, rows: Snapshot) -> ArtifactRow:
    """The row of an artifact; ``interrupted`` if it is open and its owner died, which the next writer makes permanent."""
    if record.state != "open" or record.owner == store.owner or store.alive(record.owner, rows):
        return record
    # The owner may have sealed it behind the snapshot, and gone then.
    if not store.is_left_open(record.artifact_id):
        return record
    return record._replace(state="interrupted", reason="its process ended")


def not_found(artifact_id: str, session_id: str, *, was_evicted: bool = False) -> ArtifactNotFoundError:
    """The error for an id that a session does not hold, or not any more."""
    if was_evicted:
        return ArtifactNotFoundError(
            f"artifact {artifact_id!r} was evicted from session {session_id!r}, which was full; make its output "
            "again, or raise SPILLSTORE_SESSION_QUOTA"
        )
    return ArtifactNotFoundError(
        f"no artifact {artifact_id!r} in session {session_id!r}; Session.artifacts() lists what there is"
    )


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
