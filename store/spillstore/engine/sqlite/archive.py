"""The archive: events of deleted sessions, in ``.audit.db`` of their project's folder, where ``audit_keep`` is set.

It is a file with the schema of a session's, today's or an earlier one, and three indexes more. Every key of that schema is led by the session, so one file
holds the rows of many; there are no artifacts in it. It is opened, checked and written as a session's file is, with the same
statements. The events of a session are
copied when it is deleted, before its folder goes, and copied again by the process that finishes a deletion that broke off; so none is
missing, and none is there twice. The same limits hold as for a session: the oldest go.

It is opened, used and closed within ``using``, by one thread of a process at a time, so no connection to it outlives a call:
closing any descriptor of a file drops all locks that SQLite holds on it in this process. A fork waits for it, as for every use
of SQLite (``forks``). A file that is damaged, or that is not ours to use, stops no deletion: it is moved aside under a name that
says so, and a new one is begun.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import operator
import re
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from spillstore import info as infos
from spillstore.engine.errors import translated
from spillstore.engine.sqlite import fork_safety
from spillstore.engine.sqlite import sql as _sql
from spillstore.engine.sqlite.archive_file import ARCHIVE, connected, provide, set_aside
from spillstore.engine.sqlite.database import create_schema
from spillstore.engine.sqlite.earlier_events import earlier_events
from spillstore.engine.sqlite.folders import open_project, open_root
from spillstore.engine.sqlite.rows import SessionRows
from spillstore.engine.sqlite.schema_check import checked_schema
from spillstore.engine.sqlite.transactions import ReadTransaction, WriteTransaction
from spillstore.events.catalogue import RENDERED
from spillstore.exceptions import (
    DamageError,
    IntegrityError,
    SessionDeletedError,
    SpillstoreError,
    UnsafeRootError,
)
from spillstore.format.digests import Algorithm
from spillstore.model.arguments import page_cursor
from spillstore.model.records import SessionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from spillstore.engine.base import SessionRef
    from spillstore.engine.rows import EventFilter, Row, Snapshot
    from spillstore.engine.sqlite.connection import Connection
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.info import Event, Page
    from spillstore.settings import Settings

    EventsAfter = Callable[[int], Sequence[Row]]
    """The next rows of a session's events behind that key, in order; none behind the last."""

using = threading.Lock()  # held while SQLite has any such file open in this process
_LARGEST: Final = 2**62
_CURSOR: Final = re.compile(r"(\d{1,18})-([0-9a-f]{1,64})-(\d{1,18})", re.ASCII)
_BATCH: Final = 1000  # events that are read at once


class _ArchiveTransaction(WriteTransaction):
    """A transaction on a file of sessions that are all deleted: no tombstone is looked for."""

    __slots__ = ()

    @staticmethod
    def check(connection: Connection) -> None:
        """Nothing is to be checked."""


class _SourceError(Exception):
    """A session's own events cannot be read: no damage of the archive."""

    def __init__(self, error: SpillstoreError) -> None:
        self.error = error


def events_of(session: Snapshot, session_id: str) -> EventsAfter:
    """Reads the events of a session for ``append``."""

    def events_after(key: int) -> Sequence[Row]:
        try:
            with translated(f"reading the events of {session_id!r}"):
                return session.events_after(key, _BATCH)
        except SpillstoreError as error:
            raise _SourceError(error) from error

    return events_after


def append(
    project: Path, session: SessionRow, events_after: EventsAfter, settings: Settings, now_us: int
) -> None:
    """Copy the events of a session that is about to go, or has just gone, into the archive; those that are there are left out.

    Args:
        project: the folder of its project.
        session: its row.
        events_after: reads its events; called anew if the archive turns out to be damaged.
        settings: how many events are kept, and for how long.
        now_us: the time.

    Raises:
        StorageError: they cannot be stored.
        IntegrityError: the session's own events cannot be read.
    """
    with (
        fork_safety.using,
        using,
        translated(f"keeping events in {project / ARCHIVE}"),
        open_root(project.parent) as root,
        open_project(root, project.name) as folder,
    ):
        inode = provide(folder)
        append_once = partial(_append, root, folder, session, events_after, settings, now_us)
        try:
            try:
                try:
                    append_once()
                except (
                    DamageError
                ):  # SQLite calls a read that has failed damage, too; it may have failed but once
                    append_once()
            except (DamageError, UnsafeRootError, SessionDeletedError) as error:
                # ``SessionDeletedError``: another process has moved it aside meanwhile.
                set_aside(folder, inode, error)
                provide(folder)
                append_once()
        except _SourceError as error:
            raise error.error from None


def _append(
    root: Folder,
    folder: Folder,
    session: SessionRow,
    events_after: EventsAfter,
    settings: Settings,
    now_us: int,
) -> None:
    with (
        connected(folder, ARCHIVE, settings) as connection,
        _ArchiveTransaction(connection, settings.busy_timeout, "keeping events") as rows,
    ):
        earlier = earlier_events(rows, root, session.project_id, settings)
        if earlier is None:
            checked_schema(rows, folder.path / ARCHIVE)
        else:
            _make(rows, earlier)
        key = _session_key(rows, session)
        (newest,) = rows.execute(_sql.EVENT_NEWEST, {"session_key": key}).fetchone()
        if type(newest) is not int:
            raise IntegrityError("the archive is damaged: the key of an event is no number")
        while batch := events_after(newest):
            newest = batch[-1][0]
            _insert(rows, key, [row for row in batch if row[2] != RENDERED])
        _rotate(rows, key, settings, now_us)


def _session_key(rows: SessionRows, session: SessionRow) -> int:
    """The key of a session in the archive, which begins with its row."""
    found = rows.execute(_sql.ARCHIVE_KEY, {"uid": session.uid}).fetchone()
    if found is None:
        found = rows.execute(_sql.ARCHIVE_NEXT_KEY).fetchone()
        rows.execute(_sql.SESSION_INSERT, {"session_key": found[0], **session._asdict()})
    key: int = found[0]
    return key


def _insert(rows: SessionRows, key: int, events: Sequence[Row]) -> None:
    rows.executemany(_sql.EVENTS_INSERT, [(key, *event, None) for event in events])


def _rotate(rows: SessionRows, key: int, settings: Settings, now_us: int) -> None:
    """Remove the oldest events, by the limits that a session has, and sessions that have none, the last one too."""
    dropped = [(key,)]
    if settings.audit_age:
        bound = {"before_us": now_us - int(settings.audit_age * 1e6)}
        dropped += rows.execute(_sql.ARCHIVE_DROP_OLD, bound)
    (count,) = rows.execute(_sql.ARCHIVE_COUNT).fetchone()
    if count > settings.audit_events:
        dropped += rows.execute(_sql.ARCHIVE_DROP_FIRST, {"limit": count - settings.audit_events})
    rows.executemany(_sql.ARCHIVE_DROP_SESSION, [{"session_key": key} for (key,) in set(dropped)])


# --- reading ------------------------------------------------------------------------------------------------


def page(
    project: Path, settings: Settings, ref: SessionRef, events: EventFilter, limit: int, cursor: str | None
) -> Page[Event]:
    """A page of the events of all deleted sessions of a name, the newest first; see ``Store.deleted_events``.

    Args:
        project: the folder of the project.
        settings: what is in force.
        ref: the name.
        events: which of them.
        limit: how many at most, from 1.
        cursor: of the page before.
    """
    match = page_cursor(limit, cursor, _CURSOR)
    # Time, session and key of the last event of the page before.
    last = (events.before_us, "", 0) if match is None else (int(match[1]), match[2], int(match[3]))
    with (
        translated(f"reading the events kept in {project}"),
        fork_safety.using,
        using,
        _for_reading(project, ref.project, settings) as rows,
        ReadTransaction(rows, "reading kept events"),
    ):
        limit = min(limit, _LARGEST)
        name = {"session_id": ref.session_id, "project_id": ref.project}
        sessions = rows.execute(_sql.ARCHIVE_SESSIONS, name).fetchall()
        each = (_events_before(rows, key, uid, last, events, limit + 1) for key, uid in sessions)
        merged = heapq.merge(*each, key=operator.itemgetter(0), reverse=True)
        found = list(itertools.islice(merged, limit + 1))
    cursor = "{}-{}-{}".format(*found[limit - 1][0]) if len(found) > limit else None
    return infos.Page([event for _, event in found[:limit]], cursor)


def _events_before(
    rows: SessionRows, key: int, uid: object, last: tuple[int, str, int], events: EventFilter, limit: int
) -> Iterator[tuple[tuple[int, str, int], Event]]:
    """A session's events behind the last one of the page before, each with its place in the order of all.

    Raises:
        IntegrityError: one of them is damaged.
    """
    if not isinstance(uid, str):
        raise IntegrityError("the archive is damaged: the uid of a session is none")
    at_us, last_uid, last_key = last
    before = (at_us, last_key) if uid == last_uid else (at_us + (uid < last_uid), 0)
    parameters = {
        **events._asdict(),
        "session_key": key,
        **dict(zip(("before_us", "before_key"), before, strict=True)),
        "limit": limit,
    }
    for row in rows.execute(_sql.EVENTS_PAGE, parameters):
        yield (row[1], uid, row[0]), infos.event_of(row)


@contextlib.contextmanager
def _for_reading(project: Path, project_id: str | None, settings: Settings) -> Iterator[SessionRows]:
    """The project's archive; where there is none yet, one in memory, of what earlier versions have kept."""
    with contextlib.ExitStack() as stack:
        own = earlier = None
        with contextlib.suppress(FileNotFoundError):
            root = stack.enter_context(open_root(project.parent))
            with contextlib.suppress(FileNotFoundError):
                folder = stack.enter_context(open_project(root, project.name))
                if folder.stat(ARCHIVE) is not None:
                    own = stack.enter_context(connected(folder, ARCHIVE, settings))
            earlier = earlier_events(own, root, project_id, settings)
        if own is not None and earlier is None:
            checked_schema(own, project / ARCHIVE)
            yield own
            return
        memory = stack.enter_context(contextlib.closing(SessionRows(":memory:", isolation_level=None)))
        _make(memory, earlier or [])
        yield memory


def _make(rows: SessionRows, earlier: list[Row]) -> None:
    """Make the tables of an archive, and put events of an earlier form into it."""
    rows.execute("DROP TABLE IF EXISTS event")
    create_schema(rows)
    for statement in _sql.ARCHIVE_DDL:
        rows.execute(statement)
    for (uid, session_id, project), events in itertools.groupby(earlier, key=operator.itemgetter(0, 1, 2)):
        of_session: list[Any] = [event[3:] for event in events]
        begun = SessionRow(
            session_id, project, uid, of_session[0][1], None, None, 1, Algorithm("blake3"), None, b""
        )
        _insert(rows, _session_key(rows, begun.sealed()), of_session)
