"""Deleting a session on a disk that takes not one byte more, which is how it gets room again.

Deleting writes: a claim of ours, SQLite's index of the journal, a tombstone. Where that fails, the folder is renamed while
this process has the whole file to itself: SQLite's exclusive lock, with the index in memory (``locking_mode=EXCLUSIVE``), is
given only if nobody has the file open, and nobody opens it before it lies under another name. Who was waiting for it then
finds that out by the file's inode (``Engine``). So nobody writes into a deleted session, though it says nowhere that it is.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from spillstore.audit.actor import call_context
from spillstore.engine.errors import translated
from spillstore.engine.sqlite import fork_safety, owner_locks
from spillstore.engine.sqlite.database import DATABASE, connect_alone
from spillstore.engine.sqlite.soft_delete import bury, remove_trash
from spillstore.exceptions import (
    IntegrityError,
    LockedError,
    SessionBusyError,
    SpillstoreError,
)
from spillstore.model.validation import read_session_row

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.engine.rows import Row
    from spillstore.model.clock import Clock
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings


_log = logging.getLogger("spillstore")
_ALL = 2**62  # events; a session has no more than ``audit_events`` of them


def delete(
    folder: Path, expected: tuple[str, str | None], settings: Settings, key: bytes | None, clock: Clock
) -> Path:
    """Delete a session without writing anything first; what is to be kept of it is kept when there is room again.

    Args:
        folder: the session's.
        expected: the ids of the session and its project.
        settings: what is in force.
        key: the store's digest key.
        clock: where to read the time.

    Returns:
        Where its folder was when it was removed.

    Raises:
        SessionBusyError: somebody has it open.
        IntegrityError: it is another session, or damaged.
        StorageError: it cannot be renamed.
    """
    _refuse_held(folder, expected[0])  # at once; a holder has it open
    try:
        with fork_safety.using, contextlib.closing(connect_alone(folder / DATABASE, settings)) as connection:
            with translated(f"deleting {folder}"):
                connection.execute("BEGIN EXCLUSIVE")
                row = connection.session_row()
            session = read_session_row(row, key)
            if (session.session_id, session.project_id) != expected:
                raise IntegrityError(
                    f"{folder / DATABASE} holds session {session.session_id!r}: a file of another place"
                )
            _refuse_held(folder, session.session_id)
            with translated(f"reading the events of {session.session_id!r}"):
                kept = connection.events_after(-1, _ALL) if settings.audit_keep else []
            gone = bury(folder, session.uid)
            connection.execute("ROLLBACK")
    except LockedError as error:
        raise SessionBusyError(
            f"session {expected[0]!r} is open somewhere, and the disk has no room to record that it is deleted; close it "
            "first, or free some space"
        ) from error
    remove_trash(gone, durable=settings.durability == "full")
    if settings.audit_keep:
        _keep(folder.parent, session, kept, settings, int(clock.time() * 1e6))
    return gone


def _refuse_held(folder: Path, session_id: str) -> None:
    if owners := owner_locks.live_owners(folder):
        held = ", ".join(owner_locks.describe(folder, name) for name in owners)
        raise SessionBusyError(
            f"session {session_id!r} is held by {held}, and the disk has no room to record that it is deleted; close it "
            "first, or free some space"
        )


def _keep(project: Path, session: SessionRow, kept: list[Row], settings: Settings, now_us: int) -> None:
    """Keep the events of a session, and that it was deleted, now that its own space is free."""
    from spillstore.engine.sqlite import archive  # noqa: PLC0415  # few keep them

    newest = max((row[0] for row in kept if isinstance(row[0], int)), default=0)
    call = call_context()
    last = (newest + 1, now_us, "delete_session", None, call.actor, call.tool_call_id, "{}")
    rows: list[Row] = [*kept, last] if settings.audit != "off" else kept
    try:
        archive.append(project, session, lambda key: [row for row in rows if row[0] > key], settings, now_us)
    except SpillstoreError as error:
        _log.warning(
            "the events of a deleted session could not be kept",
            extra={"session": session.session_id, "error": str(error)},
        )
