"""Events of deleted sessions as earlier versions kept them, before there were archives: read, and never changed.

They had a table of their own, in one file for all projects (``audit.db`` in the root), and later in one for each project, in
the archive's place. A file that is not private, or whose schema is another, is not read, which the log says.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from spillstore.engine.errors import translated
from spillstore.engine.sqlite.archive_file import connected
from spillstore.engine.sqlite.folders import check_own
from spillstore.exceptions import SpillstoreError

if TYPE_CHECKING:
    from spillstore.engine.rows import Row
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.engine.sqlite.rows import SessionRows
    from spillstore.settings import Settings

_OF_ALL_PROJECTS: Final = "audit.db"
_DDL: Final = {
    (
        "CREATE TABLE event ( session_uid TEXT NOT NULL, event_key INTEGER NOT NULL, session_id TEXT NOT NULL, project_id TEXT, "
        "at_us INTEGER NOT NULL, kind TEXT NOT NULL, artifact_id TEXT, actor TEXT, tool_call_id TEXT, detail TEXT, "
        "PRIMARY KEY (session_uid, event_key) ) WITHOUT ROWID"
    ),
    "CREATE INDEX ix_event_at ON event (at_us)",
    "CREATE INDEX ix_event_session ON event (session_id, project_id, at_us)",
}
_EVENTS: Final = (
    "SELECT session_uid, session_id, project_id, event_key, at_us, kind, artifact_id, actor, tool_call_id, detail FROM event "
    "WHERE project_id IS ? ORDER BY session_uid, event_key"
)
_log = logging.getLogger("spillstore")


def earlier_events(
    own: SessionRows | None, root: Folder, project_id: str | None, settings: Settings
) -> list[Row] | None:
    """A project's events in an earlier form; None where it has an archive.

    Args:
        own: a connection to the project's file; None where there is none.
        root: the store's root.
        project_id: the project.
        settings: what is in force.
    """
    if own is not None and (form := _form(own)):
        return _events_in(own, project_id) if form == _DDL else None
    try:
        if root.stat(_OF_ALL_PROJECTS) is None:
            return []
        for suffix in ("-journal", "-wal", "-shm"):
            status = root.stat(f"{_OF_ALL_PROJECTS}{suffix}")
            if status is not None:
                check_own(root.path / f"{_OF_ALL_PROJECTS}{suffix}", status, root.status)
        with translated("reading it"), connected(root, _OF_ALL_PROJECTS, settings) as connection:
            if _form(connection) == _DDL:
                return _events_in(connection, project_id)
        why = "its schema is not ours"
    except (OSError, SpillstoreError) as error:
        why = str(error)
    _log.warning("events that were kept earlier cannot be read", extra={"error": why})
    return []


def _form(rows: SessionRows) -> set[str]:
    """The statements that made what is in a file."""
    found = rows.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 300")
    return {" ".join(str(statement).split()) for (statement,) in found}


def _events_in(rows: SessionRows, project_id: str | None) -> list[Row]:
    """The events of a project in a file of an earlier form, but for those that are damaged."""
    kinds = (str, str, int, int)  # of the columns uid, session, key and time
    return [
        row
        for row in rows.execute(_EVENTS, (project_id,))
        if tuple(map(type, (row[0], row[1], row[3], row[4]))) == kinds
    ]
