"""Events that are written for themselves: those of readers, notes, and what the audit log has gathered."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import (
    ClosedError,
    ForkError,
    LockedError,
    ReadOnlyError,
    SessionDeletedError,
    SpillstoreError,
)
from spillstore.ingest.event_writer import EventWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from spillstore.audit.audit_log import Audit
    from spillstore.engine.base import SessionBackend
    from spillstore.engine.rows import Transaction
    from spillstore.ingest.committer import Committer
    from spillstore.model.clock import Clock
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_log = logging.getLogger("spillstore")


class EventRecorder:
    """Writes events of one session; of one that is only read, on a connection of its own and as well as that goes.

    Attributes:
        writing: what gives transactions, and what writes events in them; None where the session is only read.
    """

    def __init__(
        self,
        store: SessionBackend,
        settings: Settings,
        clock: Clock,
        audit: Audit,
        row: SessionRow,
        *,
        foreign: bool,
    ) -> None:
        """Begin as for a session that is open for reading.

        Args:
            store: where the rows are.
            settings: what is in force.
            clock: where to read the time.
            audit: what has gathered events.
            row: the session's.
            foreign: the session is in no store of ours, and reads of it are not recorded there.
        """
        self.writing: tuple[Committer, EventWriter] | None = None
        self._foreign = foreign
        self._store = store
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self._row = row
        self._pid = os.getpid()
        self._flushing = threading.Lock()  # one writes the events of a reader at a time

    def record(self, kind: str, artifact_id: str, detail: dict[str, object]) -> None:
        """Write an event at once."""

        def write(transaction: AbstractContextManager[Transaction], events: EventWriter) -> None:
            with transaction as tx:
                events.record(tx, kind, artifact_id, detail, always=True)
                events.rotate(tx)

        if self.writing is None:
            self._write_separately(write)
            return
        committer, events = self.writing
        with committer.lock:
            write(committer.recording("recording an event"), events)

    def flush(self) -> None:
        """Write what the audit holds. Never raises: what cannot be written waits, or is dropped where it never can."""
        try:
            if self.writing is None:
                with self._flushing:
                    self._write_separately(self._write_gathered)
            else:
                committer, events = self.writing
                with committer.lock:
                    self._write_gathered(committer.recording("recording events"), events)
        except Exception as error:  # noqa: BLE001  # it runs on threads that must go on
            if isinstance(error, (ClosedError, ForkError, ReadOnlyError, SessionDeletedError)):
                self._audit.drop()
            self._log("events not recorded", error)

    def _write_gathered(self, transaction: AbstractContextManager[Transaction], events: EventWriter) -> None:
        with self._audit.drained() as entries, transaction as tx:
            events.write_all(tx, entries)

    def _write_separately(
        self, write: Callable[[AbstractContextManager[Transaction], EventWriter], None]
    ) -> None:
        """Write on a connection of its own; where that fails, nothing is recorded any more."""
        if self._foreign or self._pid != os.getpid():
            return
        events = EventWriter(self._settings, self._clock, self._audit)
        try:
            with events.emitting():
                write(self._store.separate_transaction("recording events"), events)
        except LockedError as error:
            self._log("events not recorded yet", error)
        except SpillstoreError as error:  # a file, a folder or a disk that cannot be written
            self._audit.drop()
            self._log("events not recorded", error)

    def _log(self, message: str, error: Exception) -> None:
        _log.debug(message, extra={"session": self._row.session_id, "error": type(error).__name__})
