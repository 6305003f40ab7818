"""Events that outlive their session: ``.audit.db`` in its project's folder, where ``audit_keep`` is set.

They are copied when a session is deleted, before its folder goes, and copied again by whoever finishes a deletion that
broke off; so none is missing, and none is there twice. The same limits hold as for a session: the oldest go.

The file lies where nobody else can plant or exchange one, nor a journal beside it. It is opened, used and closed within
``using``, by one thread of a process at a time, so no connection to it outlives a call, and nobody opens it by any other
means: closing any descriptor of a file drops all locks that SQLite holds on it in this process. A fork waits for it, as
for every use of SQLite (``forks``).

A file that is damaged, or that is not ours to use, stops no deletion: it is moved aside under a name that says so, and a
new one is begun. Earlier versions had one file for all projects, ``audit.db`` in the root; where that is trustworthy it is
read, and a project's events are copied from it when the project's own file is made.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import threading
import urllib.parse
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from spillstore import info as infos
from spillstore.engine.errors import translated
from spillstore.engine.sqlite import forks
from spillstore.engine.sqlite.folders import check_own, open_project, open_root
from spillstore.engine.sqlite.path_safety import check_beside
from spillstore.engine.sqlite.schema_check import distrust
from spillstore.events.catalogue import RENDERED
from spillstore.exceptions import IntegrityError, InvalidSettingError, UnsafeRootError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from spillstore.engine.base import SessionRef
    from spillstore.engine.rows import EventFilter, Snapshot
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.info import Event, Page
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

    Rows = Iterable[list[tuple[object, ...]]]

KEPT: Final = ".audit.db"
DAMAGED: Final = ".audit-damaged-"  # what a file is called that was moved aside
_EARLIER: Final = "audit.db"
_DAMAGE: Final = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_ERROR,
    }
)
_log = logging.getLogger("spillstore")
using = threading.Lock()  # held while SQLite has any such file open in this process
_LARGEST = 2**62
_CURSOR = re.compile(r"(\d{1,18})-([0-9a-f]{1,64})-(\d{1,18})", re.ASCII)
_AT_ONCE = 1000  # rows of a statement
_DDL = (
    """CREATE TABLE event (
    session_uid TEXT NOT NULL, event_key INTEGER NOT NULL, session_id TEXT NOT NULL, project_id TEXT, at_us INTEGER NOT NULL,
    kind TEXT NOT NULL, artifact_id TEXT, actor TEXT, tool_call_id TEXT, detail TEXT,
    PRIMARY KEY (session_uid, event_key)
) WITHOUT ROWID""",
    "CREATE INDEX ix_event_at ON event (at_us)",
    "CREATE INDEX ix_event_session ON event (session_id, project_id, at_us)",
)
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name LIMIT 10"
_ALL = (
    "SELECT session_uid, session_id, project_id, event_key, at_us, kind, artifact_id, actor, tool_call_id, detail "
    "FROM event WHERE project_id IS ?"
)
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


class _DamagedError(IntegrityError):
    """The file holds something else than events that were kept."""


def keep(source: Snapshot, session: SessionRow, project: Path, settings: Settings, now_us: int) -> None:
    """Copy the events of a session that is about to go.

    Args:
        source: the session's rows.
        session: its row.
        project: the folder of its project.
        settings: how many events are kept, and for how long.
        now_us: the time.

    Raises:
        StorageError: they cannot be kept.
        IntegrityError: the session's own events cannot be read.
    """
    write(project, session.project_id, lambda: rows_of(source, session), settings, now_us)


def rows_of(source: Snapshot, session: SessionRow) -> Iterator[list[tuple[object, ...]]]:
    """The rows to be kept of a session's events, some at a time.

    Raises:
        IntegrityError: they cannot be read.
    """
    names = (session.uid, session.session_id, session.project_id)
    after = -1
    while True:
        # An error of its own, not to be taken for damage of what they are copied to.
        with translated(f"reading the events of {session.session_id!r}"):
            rows = source.events_after(after, _AT_ONCE)
        if not rows:
            return
        after = rows[-1][0]
        yield [(*names, *row) for row in rows if row[2] != RENDERED]


def write(
    project: Path, project_id: str | None, rows: Callable[[], Rows], settings: Settings, now_us: int
) -> None:
    """Add rows to what a project has kept.

    Args:
        project: its folder.
        project_id: its id.
        rows: makes them; asked again if what was there turns out to be damaged.
        settings: how many events are kept, and for how long.
        now_us: the time.

    Raises:
        StorageError: they cannot be kept.
    """
    with (
        forks.using,
        using,
        translated(f"keeping events in {project / KEPT}"),
        open_root(project.parent) as root,
        open_project(root, project.name) as folder,
    ):
        inode = _make(folder)
        try:
            _write(root, folder, project_id, rows, settings, now_us)
        except (sqlite3.DatabaseError, UnicodeDecodeError, UnsafeRootError, _DamagedError) as error:
            if not _is_damage(error):
                raise
            _set_aside(folder, inode, error)
            _make(folder)
            _write(root, folder, project_id, rows, settings, now_us)


def _is_damage(error: Exception) -> bool:
    return not isinstance(error, sqlite3.Error) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _make(folder: Folder) -> int:
    """Make the file, readable by its owner alone, if it is not there; returns its inode. ``using`` is held."""
    with contextlib.suppress(FileExistsError):
        os.close(folder.open(KEPT, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    status = folder.stat(KEPT)
    return 0 if status is None else status.st_ino


def _set_aside(folder: Folder, inode: int, error: Exception) -> None:
    """Give a damaged file another name, with its journal, unless somebody else has done so already."""
    name = f"{DAMAGED}{os.urandom(4).hex()}.db"
    with folder.locked():
        status = folder.stat(KEPT)
        if status is None or status.st_ino != inode:
            return
        folder.rename(KEPT, name)
        with contextlib.suppress(FileNotFoundError):
            folder.rename(f"{KEPT}-journal", f"{name}-journal")
    _log.warning(
        "kept events of deleted sessions are damaged; the file was moved aside and a new one is begun",
        extra={"kept_as": str(folder.path / name), "error": str(error)},
    )


def _write(
    root: Folder,
    folder: Folder,
    project_id: str | None,
    rows: Callable[[], Rows],
    settings: Settings,
    now_us: int,
) -> None:
    with contextlib.closing(_open(folder, KEPT, settings)) as kept:
        kept.execute("BEGIN IMMEDIATE")
        try:
            if _is_new(kept):
                for statement in _DDL:
                    kept.execute(statement)
                kept.executemany(_INSERT, _rows_of_earlier(root, project_id, settings))
            for some in rows():
                kept.executemany(_INSERT, some)
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
    folder: Path, settings: Settings, ref: SessionRef, wanted: EventFilter, limit: int, cursor: str | None
) -> Page[Event]:
    """See ``Store.deleted_events``."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidSettingError(f"limit must be a whole number from 1, not {limit!r}")
    before = (wanted.before_us, "", 0)
    if cursor is not None:
        match = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
        if match is None:
            raise InvalidSettingError(f"{cursor!r} is no cursor; take it from the page before")
        before = (int(match[1]), match[2], int(match[3]))
    parameters = {
        **wanted._asdict(),
        "session_id": ref.session_id,
        "project_id": ref.project,
        **dict(zip(("before_us", "before_uid", "before_key"), before, strict=True)),
        "limit": min(limit, _LARGEST - 1) + 1,
    }
    with translated(f"reading the events kept in {folder}"):
        rows = _read(folder, parameters, settings)
    last = rows[limit - 1] if len(rows) > limit else None
    following = None if last is None else f"{last[1]}-{last[7]}-{last[0]}"
    return infos.Page([infos.event_of(row[:7]) for row in rows[:limit]], following)


def _read(project: Path, parameters: Mapping[str, object], settings: Settings) -> list[Any]:
    """A page's rows, from the project's own file; where there is none yet, from that of all projects."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(forks.using)
        stack.enter_context(using)
        try:
            root = stack.enter_context(open_root(project.parent))
        except FileNotFoundError:
            return []
        kept = None
        with contextlib.suppress(FileNotFoundError):
            folder = stack.enter_context(open_project(root, project.name))
            if folder.stat(KEPT) is not None:
                kept = stack.enter_context(contextlib.closing(_open(folder, KEPT, settings)))
        if kept is None or _is_new(kept):
            kept = _open_earlier(root, settings)
            if kept is None:
                return []
            stack.enter_context(contextlib.closing(kept))
        return kept.execute(_PAGE, parameters).fetchall()


def _open_earlier(root: Folder, settings: Settings) -> sqlite3.Connection | None:
    """The file of all projects, if there is one that can be trusted; one that cannot be is told of and left alone."""
    try:
        if root.stat(_EARLIER) is None:
            return None
        for suffix in ("", "-journal", "-wal", "-shm"):
            status = root.stat(f"{_EARLIER}{suffix}")
            if status is not None:
                check_own(root.path / f"{_EARLIER}{suffix}", status, root.status)
        connection = _open(root, _EARLIER, settings)
        try:
            new = _is_new(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, UnicodeDecodeError, OSError, UnsafeRootError, IntegrityError) as error:
        _log.warning("events that were kept earlier cannot be read", extra={"error": str(error)})
        return None
    if new:
        connection.close()
        return None
    return connection


def _rows_of_earlier(root: Folder, project_id: str | None, settings: Settings) -> list[tuple[object, ...]]:
    earlier = _open_earlier(root, settings)
    if earlier is None:
        return []
    with contextlib.closing(earlier):
        try:
            return earlier.execute(_ALL, (project_id,)).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            _log.warning("events that were kept earlier cannot be read", extra={"error": str(error)})
            return []


def _open(folder: Folder, name: str, settings: Settings) -> sqlite3.Connection:
    path = folder.path / name
    status = folder.stat(name)
    if status is None:
        raise FileNotFoundError(f"{path} is gone")
    check_own(path, status, folder.status)
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise UnsafeRootError(f"this user cannot read and write {path}")
    check_beside(path, writing=True)
    uri = f"file:{urllib.parse.quote(str(path))}?mode=rw"
    connection = sqlite3.connect(uri, uri=True, timeout=settings.busy_timeout, isolation_level=None)
    try:
        distrust(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_new(connection: sqlite3.Connection) -> bool:
    """Whether nothing was written yet.

    Raises:
        _DamagedError: the schema is none of ours, so what it would execute is not, either.
    """
    found = connection.execute(_SCHEMA).fetchall()
    if found and found != _expected():
        raise _DamagedError(
            f"what was kept of deleted sessions has a schema that is not ours: {str(found)[:200]}"
        )
    return not found


@lru_cache(maxsize=1)
def _expected() -> list[tuple[object, ...]]:
    with forks.using, contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for statement in _DDL:
            connection.execute(statement)
        return connection.execute(_SCHEMA).fetchall()
