"""A session is deleted: a tombstone under the write lock, then a rename out of sight; or another one takes its place."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from spillstore.audit.event_buffer import Entry
from spillstore.exceptions import SessionBusyError

if TYPE_CHECKING:
    from spillstore.engine.base import Remains, SessionBackend, SessionImport
    from spillstore.engine.rows import Transaction
    from spillstore.ingest.ingest import Ingest
    from spillstore.ingest.session_record import SessionRecord
    from spillstore.settings import Settings


class SessionDeletion:
    """Deletes one session. The caller holds the committer's lock."""

    def __init__(
        self, store: SessionBackend, record: SessionRecord, settings: Settings, ingest: Ingest
    ) -> None:
        self._store = store
        self._record = record
        self._settings = settings
        self._ingest = ingest

    def delete(self, *, force: bool, unused_since: float | None) -> Remains:
        """Delete it; returns what is left of it. Arguments and errors as for ``SessionCore.delete_session``."""
        events, audit = self._ingest.rows.events, self._ingest.audit
        # The events that wait leave the buffer when the transaction is committed, not before.
        waiting = audit.drained() if self._settings.audit_keep else contextlib.nullcontext(list[Entry]())
        with waiting as entries, self._ingest.committer.recording("deleting the session") as tx:
            if not force:
                self._refuse_busy(tx)
            if unused_since is not None:
                self._refuse_used(tx, unused_since)
            row = self._record.update(tx, deleted_us=events.now_us())
            if self._settings.audit_keep:
                self._archive_events(tx, entries)
        return self._store.remove(row.uid)

    def replace(self, new: SessionImport) -> Remains:
        """Let a session that is complete take its place, in one step, unless somebody holds it; returns what is left of it."""

        def prepare(tx: Transaction) -> None:
            self._refuse_busy(tx)
            self._record.read(tx)
            if self._settings.audit_keep:
                self._archive_events(tx, entries)

        with self._ingest.audit.drained() as entries:
            return new.replace(self._store, prepare)

    def _refuse_busy(self, tx: Transaction) -> None:
        others = self._store.others(tx)
        if others or self._ingest.queue.pipelines:
            who = ", ".join(others) or "an open writer here"
            raise SessionBusyError(
                f"session {self._name!r} is held by {who}; close it, or force the deletion"
            )

    def _refuse_used(self, tx: Transaction, unused_since: float) -> None:
        since_us = int(unused_since * 1e6)
        until_us = self._ingest.rows.events.now_us()  # what the future holds is no use of a moment ago
        if tx.uses(since_us, until_us) or tx.artifacts_created(since_us, until_us):
            raise SessionBusyError(f"session {self._name!r} was used a moment ago")

    def _archive_events(self, tx: Transaction, entries: list[Entry]) -> None:
        """Copy the events of the session, and those that wait, to where the events of deleted sessions are."""
        events, audit = self._ingest.rows.events, self._ingest.audit
        events.write_all(tx, entries)
        if audit.wants("delete_session"):
            events.write(tx, "delete_session", None, {})
        self._store.archive_events(tx, self._record.read(tx), events.now_us())

    @property
    def _name(self) -> str:
        return self._ingest.rows.session.session_id
