"""Artifacts that are being written into one session: begun, flushed, ended or discarded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.exceptions import LockedError, SpillstoreError
from spillstore.ingest.committer import Committer
from spillstore.ingest.event_writer import EventWriter
from spillstore.ingest.eviction import Evictor
from spillstore.ingest.inboxes import Inboxes
from spillstore.ingest.ingest_queue import IngestQueue
from spillstore.ingest.quotas import refuse_rate
from spillstore.ingest.removal import ArtifactRemover
from spillstore.ingest.row_writer import RowWriter
from spillstore.model.validation import read_artifact_row

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from spillstore.audit.audit_log import Audit
    from spillstore.engine.base import SessionBackend
    from spillstore.engine.rows import Snapshot, Transaction
    from spillstore.ingest.committer import CommitLock
    from spillstore.ingest.pipeline import Ending, Pipeline
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow, SessionRow
    from spillstore.settings import Settings


class Ingest:
    """The writing side of a session. Safe from any thread.

    Attributes:
        queue: the artifacts that are written.
        inboxes: what was written of them and is not sequenced yet.
        rows: writes their rows.
        committer: commits them.
        remover: removes artifacts.
    """

    def __init__(
        self,
        store: SessionBackend,
        session: SessionRow,
        settings: Settings,
        clock: Clock,
        audit: Audit,
        *,
        lock: CommitLock,
        find: Callable[[Snapshot, str], ArtifactRow],
        check_usable: Callable[[], None],
        deleted: Callable[[SpillstoreError], None],
    ) -> None:
        """Begin with no artifact.

        Args:
            store: where the rows go.
            session: the session's row.
            settings: what is in force.
            clock: where to read the time.
            audit: whose events are written along.
            lock: what is held while rows are written.
            find: the row of an artifact that can be read.
            check_usable: raises what keeps anything from being written.
            deleted: told that the session was deleted by somebody else.
        """
        self.audit = audit
        self.check_usable = check_usable
        self._store = store
        self._settings = settings
        self._algorithm = session.digest_algorithm
        self.queue = IngestQueue(settings, check_usable, self._failed)
        self.inboxes = Inboxes(self.queue)
        self.rows = RowWriter(session, settings, EventWriter(settings, clock, audit))
        self.committer = Committer(
            store,
            settings,
            self.queue,
            self.inboxes,
            self.rows,
            Evictor(store, self.rows, settings),
            lock=lock,
            audit=audit,
            check_writable=check_usable,
            deleted=deleted,
        )
        self.remover = ArtifactRemover(store, self.committer, self.rows, find, check_usable)

    @property
    def owner(self) -> str:
        """The owner of the artifacts that are written here: this process's claim on the session."""
        return self._store.owner

    def interrupt_dead(self, tx: Transaction) -> list[ArtifactRow]:
        """Interrupt artifacts whose process has ended; returns all that are neither sealed nor gone, for ``clear_up``."""
        unfinished = [read_artifact_row(row, self._algorithm) for row in tx.unfinished()]
        for record in unfinished:
            if record.state == "open" and not self._store.alive(record.owner, tx):
                self.rows.interrupt(tx, record, "its process ended")
        return unfinished

    def clear_up(self, unfinished: list[ArtifactRow]) -> None:
        """After that transaction: finish the deletions that dead owners began, and forget these owners."""
        self.rows.events.emit_recorded()
        self._store.remove_dead()
        for record in unfinished:
            if record.state == "deleted":
                self.remover.purge(record)

    def begin(self, pipeline: Pipeline, detail: dict[str, object]) -> None:
        """Insert an artifact's row, and from then on commit what is written. Returns after the commit.

        What the sequencer keeps in memory is committed with what comes next, at the latest after ``commit_interval``.

        Args:
            pipeline: takes its bytes.
            detail: of the event ``create``, besides the source.
        """
        self.check_usable()
        self.committer.start()
        row = pipeline.row
        with self.committer.lock:
            with self.committer.recording("creating an artifact") as tx:
                with self.limits(row.source):
                    self._store.check_room()
                    refuse_rate(tx, self._settings, self.rows.events.now_us())
                inserted = self.rows.insert(tx, row._replace(artifact_key=tx.next_artifact_key()))
                self.rows.events.record(
                    tx,
                    "create",
                    row.artifact_id,
                    {"source": row.source, **detail},
                    row.tool_call_id,
                    pipeline.actor,
                )
            # Before observers are called, which may write to it.
            pipeline.begin()
            self.queue.add(pipeline)
            pipeline.row = inserted  # other threads see now that it has begun

    def limits(self, source: str) -> contextlib.AbstractContextManager[None]:
        """Record what is refused for a limit."""
        return self.committer.limits(source)

    def flush(self, pipeline: Pipeline) -> None:
        """Commit everything written so far, lines without an end included."""
        self.check_usable()
        self.queue.refuse_ended(pipeline)
        self.committer.commit_through(pipeline, self.inboxes.pump_all(pipeline))

    def end(self, pipeline: Pipeline, ending: Ending) -> None:
        """Commit everything and end the artifact, as the first call says.

        A call after that has succeeded or failed does nothing; one before waits for the same, and so does one after the
        session was found locked.
        """
        self.check_usable()
        if not self.queue.close(pipeline, ending):
            return
        failed = pipeline.error
        try:
            if failed is not None:
                raise failed
            self.committer.commit_through(pipeline, self.inboxes.pump_all(pipeline, pipeline.ending))
        except SpillstoreError as error:
            if pipeline.error is None and isinstance(error, LockedError):
                raise  # the committer goes on trying
            with self.committer.lock:
                self.committer.record_failure(pipeline, error)
            self.queue.forget(pipeline)
            raise
        self.queue.forget(pipeline)

    def drop(self, pipeline: Pipeline, error: SpillstoreError, why: str) -> None:
        """Remove an artifact that is written; later calls of its writer raise ``error``.

        Args:
            pipeline: takes its bytes.
            error: what its writer is to be told.
            why: it is removed, as the event ``delete`` says; ``rejected`` is a failure that observers learn of.
        """
        if why == "rejected":
            self.queue.fail(pipeline, error)
        else:
            self.queue.drop(pipeline, error)
        self.queue.close(pipeline)
        self.queue.forget(pipeline)
        if pipeline.begun:
            self.remover.remove(pipeline.row.artifact_id, why=why)

    def _failed(self, pipeline: Pipeline, error: SpillstoreError) -> None:
        self.audit.emit("failure", {"error": type(error).__name__}, artifact_id=pipeline.row.artifact_id)
