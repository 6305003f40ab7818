"""Events that outlive their session: ``audit.db`` in the store's folder, where ``audit_keep`` is set.

They are copied when a session is deleted, before its folder goes, and copied again by whoever finishes a deletion that
broke off; so none is missing, and none is there twice. The same limits hold as for a session: the oldest go.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from typing import TYPE_CHECKING

from spillstore import _sql
from spillstore import info as infos
from spillstore._database import SESSION_KEY, translated
from spillstore.exceptions import InvalidSettingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from spillstore._records import SessionRow
    from spillstore.info import Event, Page
    from spillstore.settings import Settings

KEPT = "audit.db"
_LARGEST = 2**62
_CURSOR = re.compile(r"(\d{1,18})-([0-9a-f]{1,64})-(\d{1,18})", re.ASCII)
_AT_ONCE = 1000  # rows of a statement
_DDL = """
CREATE TABLE IF NOT EXISTS event (
    session_uid TEXT NOT NULL, event_key INTEGER NOT NULL, session_id TEXT NOT NULL, project_id TEXT, at_us INTEGER NOT NULL,
    kind TEXT NOT NULL, artifact_id TEXT, actor TEXT, tool_call_id TEXT, detail TEXT,
    PRIMARY KEY (session_uid, event_key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ix_event_at ON event (at_us);
CREATE INDEX IF NOT EXISTS ix_event_session ON event (session_id, project_id, at_us);
"""
_INSERT = (
    "INSERT OR IGNORE INTO event (session_uid, session_id, project_id, event_key, at_us, kind, artifact_id, actor, "
    "tool_call_id, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_PAGE = (
    "SELECT event_key, at_us, kind, artifact_id, actor, tool_call_id, detail, session_uid FROM event "
    "WHERE session_id = :session_id AND project_id IS :project_id AND at_us >= :since_us "
    "AND (at_us, session_uid, event_key) < (:before_us, :before_uid, :before_key) "
    "AND (:kind IS NULL OR kind = :kind) AND (:actor IS NULL OR actor = :actor) "
    "AND (:artifact_id IS NULL OR artifact_id = :artifact_id) "
    "AND (:tool_call_id IS NULL OR tool_call_id = :tool_call_id) "
    "ORDER BY at_us DESC, session_uid DESC, event_key DESC LIMIT :limit"
)


def keep(
    source: sqlite3.Connection, session: SessionRow, path: Path, settings: Settings, now_us: int
) -> None:
    """Copy the events of a session that is about to go.

    Args:
        source: the session's own connection.
        session: its row.
        path: the file; made, readable by its owner alone, if it is not there.
        settings: how many events are kept, and for how long.
        now_us: the time.

    Raises:
        StorageError: they cannot be kept.
    """
    with (
        translated(f"keeping the events of {session.session_id!r}"),
        contextlib.closing(_open(path, settings)) as kept,
    ):
        kept.executescript(_DDL)
        kept.execute("BEGIN IMMEDIATE")
        try:
            after = -1
            while True:
                key = {"session_key": SESSION_KEY, "after": after, "limit": _AT_ONCE}
                rows = source.execute(_sql.EVENTS_AFTER, key).fetchall()
                if not rows:
                    break
                after = rows[-1][0]
                names = (session.uid, session.session_id, session.project_id)
                kept.executemany(_INSERT, [(*names, *row) for row in rows if row[2] != "rendered"])
            _rotate(kept, settings, now_us)
            kept.execute("COMMIT")
        except BaseException:
            if kept.in_transaction:
                kept.execute("ROLLBACK")
            raise


def _rotate(kept: sqlite3.Connection, settings: Settings, now_us: int) -> None:
    if settings.audit_age:
        kept.execute("DELETE FROM event WHERE at_us < ?", (now_us - int(settings.audit_age * 1e6),))
    (count,) = kept.execute("SELECT count(*) FROM event").fetchone()
    if count > settings.audit_events:
        kept.execute(
            "DELETE FROM event WHERE (session_uid, event_key) IN "
            "(SELECT session_uid, event_key FROM event ORDER BY at_us LIMIT ?)",
            (count - settings.audit_events,),
        )


def page(
    path: Path,
    settings: Settings,
    session_id: str,
    project: str | None,
    filters: Mapping[str, str | None],
    since: float | None,
    until: float | None,
    limit: int,
    cursor: str | None,
) -> Page[Event]:
    """See ``Store.deleted_events``."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidSettingError(f"limit must be a whole number from 1, not {limit!r}")
    before = (_LARGEST if until is None else int(until * 1e6), "", 0)
    if cursor is not None:
        match = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
        if match is None:
            raise InvalidSettingError(f"{cursor!r} is no cursor; take it from the page before")
        before = (int(match[1]), match[2], int(match[3]))
    if not path.is_file():
        return infos.Page([], None)
    parameters = {
        **filters,
        "session_id": session_id,
        "project_id": project,
        "since_us": 0 if since is None else int(since * 1e6),
        **dict(zip(("before_us", "before_uid", "before_key"), before, strict=True)),
        "limit": min(limit, _LARGEST - 1) + 1,
    }
    with translated(f"reading {path}"), contextlib.closing(_open(path, settings)) as kept:
        rows = kept.execute(_PAGE, parameters).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    following = None if last is None else f"{last[1]}-{last[7]}-{last[0]}"
    return infos.Page([infos.event_of(row[:7]) for row in rows[:limit]], following)


def _open(path: Path, settings: Settings) -> sqlite3.Connection:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.close(descriptor)
    connection = sqlite3.connect(path, timeout=settings.busy_timeout, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection
