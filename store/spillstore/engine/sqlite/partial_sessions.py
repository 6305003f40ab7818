"""New sessions that a power cut took a part of.

A new session's file is synced before its folder gets its name, whatever the durability; that took 0.5 ms on ext4. A disk
that loses what was synced, a file system that loses names, or a version that did not sync may still leave a folder without
``session.db``, or one that is empty or lacks parts. That name could never be opened again. So it is moved out of the way by the process that
opens it for writing, deletes it or collects: to the trash if it holds nothing, else aside, as ``.torn-``, for as long as a
session is kept.

What counts as such must never be somebody's own file, nor a session that was damaged otherwise. So there must be nothing
in the folder but what a session has, no living owner, and of ``session.db`` nothing but what every new session begins with:
each sector of 512 bytes is that of a new file, or zeros, or behind the end. The pages of the session's own row may be
anything. Nothing that anybody stored can look like that: it changes other pages.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sqlite3
import stat
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import fork_safety, owner_locks, sql
from spillstore.engine.sqlite.database import DATABASE, empty_image
from spillstore.engine.sqlite.folder_names import ID_FILE, needs_id_file
from spillstore.engine.sqlite.folders import project_of
from spillstore.engine.sqlite.soft_delete import DELETED_PREFIX, PARTIAL_PREFIX
from spillstore.exceptions import NotASessionError, SessionBusyError

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.engine.sqlite.folders import Folder

_SECTOR: Final = 512  # the least that a disk writes at once
_OURS: Final = re.compile(rf"{re.escape(DATABASE)}(-wal|-shm|-journal)?|\.?owner-[0-9a-f]{{16}}\.lock")
_JOURNALS: Final = (f"{DATABASE}-wal", f"{DATABASE}-journal")
# Of the first sector: how reading and writing it is done, and which SQLite wrote it last.
_VARIES: Final = (slice(18, 20), slice(24, 28), slice(92, 100))
_log = logging.getLogger("spillstore")


def clear(folder: Path, *, failed: bool) -> Path | None:
    """Move such a folder out of the way.

    Args:
        folder: of the session.
        failed: opening it has just failed, so its file may be read to see why. A file that SQLite may have open in this
            process must never be: closing it would drop SQLite's locks. Otherwise only one that is empty or gone counts.

    Returns:
        Where it lies now; None if there is nothing to be moved.

    Raises:
        NotASessionError: something else lies there, and no session.
        SessionBusyError: its session was removed under a process that lives.
        StorageError: it cannot be moved.
    """
    with (
        translated(f"looking at {folder}"),
        contextlib.suppress(FileNotFoundError),
        project_of(folder) as project,
    ):
        with project.locked(), project.folder(folder.name) as session:  # nobody else moves it meanwhile
            found = _look(session, failed=failed)
            if not found.torn or not project.leads_to(folder.name, session):
                return None
            new = f"{PARTIAL_PREFIX if found.holds else DELETED_PREFIX}{os.urandom(16).hex()}"
            project.rename(folder.name, new)
        kept = str(project.path / new) if found.holds else None
        _log.warning(
            "a session's file held nothing, as a power cut leaves it; it was moved out of the way",
            extra={"folder": str(folder), "kept_as": kept},
        )
        return project.path / new
    return None


class _Found(NamedTuple):
    torn: bool
    holds: bool  # something that was stored


def _look(session: Folder, *, failed: bool) -> _Found:
    names = session.names()
    status = session.stat(DATABASE)
    torn = status is None or (
        stat.S_ISREG(status.st_mode)
        and (not status.st_size or (failed and _is_torn(session, status.st_size)))
    )
    if not names or not torn:
        return _Found(
            torn=False, holds=False
        )  # an empty folder is replaced by the rename that makes a session
    for name in names:
        if _OURS.fullmatch(name) is None and not (name == ID_FILE and needs_id_file(session.path.name)):
            raise NotASessionError(
                f"{session.path} holds {name!r} and no session; move that away, or use another session id"
            )
    if owners := owner_locks.live_owners(session.path):
        raise SessionBusyError(
            f"the file of {session.path} is gone, and {owner_locks.describe(session.path, owners[0])} uses it; end that first"
        )
    journals = (session.stat(name) for name in _JOURNALS)
    return _Found(torn=True, holds=any(found is not None and found.st_size for found in journals))


def _is_torn(session: Folder, size: int) -> bool:
    """Whether a file is a part of a new one, and not the whole."""
    whole = empty_image()
    if size > len(whole):
        return False
    descriptor = session.open(DATABASE, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(size + 1)
    lacks = len(data) < len(whole)
    for at in range(0, len(data), _SECTOR):
        sector, wanted = data[at : at + _SECTOR], whole[at : at + _SECTOR]
        if not any(sector):
            lacks = lacks or any(wanted)
        elif at // sql.PAGE_SIZE + 1 not in _own_pages() and _same(sector, at) != _same(
            wanted[: len(sector)], at
        ):
            return False
    return lacks


def _same(sector: bytes, at: int) -> bytes:
    if at:
        return sector
    out = bytearray(sector)
    for part in _VARIES:
        out[part] = bytes(len(out[part]))
    return bytes(out)


@lru_cache(maxsize=1)
def _own_pages() -> frozenset[int]:
    """The pages of a new file that differ from session to session."""
    with fork_safety.using, contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(empty_image())
        rows = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'session'").fetchall()
    return frozenset(page for (page,) in rows)
