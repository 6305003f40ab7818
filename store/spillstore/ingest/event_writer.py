"""Writes events inside a transaction, and emits them to observers when it is committed.

Nothing here takes a lock, or begins or ends a transaction.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from spillstore.audit.actor import call_context
from spillstore.audit.event_detail import detail_text
from spillstore.engine.rows import NewEvent
from spillstore.events.catalogue import RENDERED
from spillstore.model.arguments import storable
from spillstore.model.records import SessionRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spillstore.audit.audit_log import Audit
    from spillstore.audit.event_buffer import Entry
    from spillstore.engine.rows import Transaction
    from spillstore.model.clock import Clock
    from spillstore.model.records import ArtifactRow
    from spillstore.settings import Settings

ROTATED_EVERY = 1000  # events
ROTATED_AT_ONCE = 2000  # rows that one transaction deletes


class EventWriter:
    """Writes events of one session."""

    def __init__(self, settings: Settings, clock: Clock, audit: Audit) -> None:
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self._written = ROTATED_EVERY  # events since the oldest were looked at
        self._uncommitted: list[
            tuple[str, str | None, Mapping[str, object]]
        ] = []  # of the transaction that goes on

    @contextlib.contextmanager
    def emitting(self) -> Iterator[None]:
        """Surround a transaction: the events that are recorded in it are emitted when it is committed."""
        try:
            yield
        except BaseException:
            self.forget_recorded()
            raise
        self.emit_recorded()

    def forget_recorded(self) -> None:
        """The transaction came to nothing, and so did its events."""
        self._uncommitted.clear()

    def emit_recorded(self) -> None:
        """Emit what was recorded and is committed now."""
        committed, self._uncommitted = self._uncommitted, []
        for kind, artifact_id, detail in committed:
            self.emit(kind, artifact_id, detail)

    def emit(self, kind: str, artifact_id: str | None, detail: Mapping[str, object]) -> None:
        """Emit an event that is not recorded."""
        self._audit.emit(kind, detail, artifact_id=artifact_id)

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        return int(self._clock.time() * 1e6)

    def record(
        self,
        tx: Transaction,
        kind: str,
        artifact_id: str | None,
        detail: Mapping[str, object],
        tool_call_id: str | None = None,
        actor: str | None = None,
        *,
        also: Mapping[str, object] | None = None,
        always: bool = False,
    ) -> None:
        """Write an event if the setting ``audit`` says so, and emit it in any case but ``RENDERED``.

        Args:
            tx: the transaction.
            kind: of the event.
            artifact_id: that it happened to.
            detail: what is recorded.
            tool_call_id: that it belongs to; None for that of ``acting``.
            actor: its actor; None for the current one.
            also: what is emitted besides and not recorded.
            always: write it whatever the setting says.
        """
        if kind != RENDERED:
            self._uncommitted.append((kind, artifact_id, detail if also is None else {**detail, **also}))
        if always or self._audit.wants(kind):
            self.write(tx, kind, artifact_id, detail, tool_call_id, actor)

    def write(
        self,
        tx: Transaction,
        kind: str,
        artifact_id: str | None,
        detail: Mapping[str, object],
        tool_call_id: str | None = None,
        actor: str | None = None,
    ) -> None:
        """Write an event that is not emitted."""
        actor, tool_call_id = call_context(actor, tool_call_id)
        event = NewEvent(
            self.now_us(),
            kind,
            artifact_id,
            storable(actor),
            storable(tool_call_id),
            json.dumps(detail),
            _shown(kind, detail),
        )
        tx.append_events([event])
        self._written += 1

    def write_all(self, tx: Transaction, entries: list[Entry]) -> None:
        """Write events that the audit log has taken, and remove the oldest rows from time to time."""
        if entries:
            tx.append_events(
                [
                    NewEvent(
                        at,
                        kind,
                        name,
                        storable(actor),
                        storable(call),
                        detail_text(detail),
                        _shown(kind, detail),
                    )
                    for at, kind, name, actor, call, detail in entries
                ]
            )
        self._written += len(entries)
        self.rotate(tx)

    def rotate(self, tx: Transaction) -> None:
        """Delete the oldest events if many were written since the last time; a few at once, so that no transaction is long."""
        if self._written < min(ROTATED_EVERY, max(1, self._settings.audit_events // 10)):
            return
        gone = 0
        if (last := tx.newest_event() - self._settings.audit_events) > 0:
            gone = tx.drop_events_through(last, ROTATED_AT_ONCE)
        before = self.now_us() - int(self._settings.audit_age * 1e6)
        row = tx.session_row()
        if self._settings.audit_age and row is not None and SessionRow(*row).created_us < before:
            gone = max(gone, tx.drop_events_before(before, ROTATED_AT_ONCE))
        if gone < ROTATED_AT_ONCE:  # else there may be more
            self._written = 0

    def limit(
        self,
        tx: Transaction,
        row: ArtifactRow,
        name: str,
        size: int,
        most: int,
        actor: str | None,
    ) -> None:
        """Record that an artifact has met a limit."""
        detail: dict[str, object] = {"limit": name, "tool": row.source, "size": size, "most": most}
        self.record(tx, "limit", row.artifact_id, detail, row.tool_call_id, actor)


def _shown(kind: str, detail: Mapping[str, object]) -> bytes | None:
    """The digest over what a read has shown."""
    digest = detail.get("digest") if kind == "read" else None
    try:
        return bytes.fromhex(digest) if isinstance(digest, str) else None
    except ValueError:  # somebody else's word
        return None
