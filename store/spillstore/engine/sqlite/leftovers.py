"""Folders that no session has: begun by a process that died, or left by a power cut."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import TYPE_CHECKING, Final

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import owner_locks, partial_sessions
from spillstore.engine.sqlite.archive_file import DAMAGED
from spillstore.engine.sqlite.database import DATABASE
from spillstore.engine.sqlite.folder_names import is_folder_name
from spillstore.engine.sqlite.folders import open_project, open_root
from spillstore.engine.sqlite.session_file import is_open
from spillstore.engine.sqlite.soft_delete import DELETED_PREFIX, IMPORT_PREFIX, NEW_PREFIX, PARTIAL_PREFIX
from spillstore.exceptions import NotASessionError, SessionBusyError, UnsafeRootError

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.engine.sqlite.folders import Folder

_UNFINISHED: Final = 60.0  # seconds after which a folder that is being made is one that was not finished


def remove(
    root_path: Path, retention: float, now: float, *, dry_run: bool
) -> tuple[int, int, tuple[str, ...]]:
    """Unlink the leftovers in a store; see ``FolderBackend.remove_leftovers``.

    Args:
        root_path: the store's folder.
        retention: seconds for which parts of a session that a power cut has left are kept.
        now: the time.
        dry_run: unlink nothing.
    """
    with translated(f"looking at {root_path}"), contextlib.ExitStack() as stack:
        try:
            root = stack.enter_context(open_root(root_path))
        except FileNotFoundError:
            return 0, 0, ()
        count = freed = 0
        damaged: list[str] = []
        for name in root.names():
            if name.startswith("."):
                continue
            with (
                contextlib.suppress(FileNotFoundError, UnsafeRootError),
                open_project(root, name) as project,
            ):
                if not dry_run:
                    _clear_all(project)
                names = project.names()
                if not dry_run and any(each.startswith((DELETED_PREFIX, IMPORT_PREFIX)) for each in names):
                    project.sync()  # who renamed or exchanged them may have died; see ``remove_trash``
                damaged += [str(project.path / each) for each in names if DAMAGED.fullmatch(each)]
                for each in names:
                    if _is_leftover(project, each, retention, now):
                        count += 1
                        freed += project.usage(each) if dry_run else project.remove(each)
    return count, freed, tuple(damaged)


def _is_leftover(project: Folder, name: str, retention: float, now: float) -> bool:
    """Whether that is a folder that no session has, and that nobody is making now or may want to look into."""
    if name.startswith(DELETED_PREFIX):
        return True
    if name.startswith(IMPORT_PREFIX):
        return is_abandoned(project, name)
    status = project.stat(name) if name.startswith((NEW_PREFIX, PARTIAL_PREFIX)) else None
    if status is None or not stat.S_ISDIR(status.st_mode):
        return False
    if name.startswith(NEW_PREFIX):
        return abs(time.time() - status.st_mtime) > _UNFINISHED
    return now - status.st_ctime > retention


def is_abandoned(project: Folder, name: str) -> bool:
    """Whether whoever filled a session in that folder has died; as long as they live they hold a claim in it."""
    status = project.stat(name)
    if status is None or not stat.S_ISDIR(status.st_mode):
        return False
    folder = project.path / name
    try:
        names = os.listdir(folder)  # noqa: PTH208  # as a list
    except FileNotFoundError:
        return False  # it has become a session, or somebody else removes it
    claims = [each for each in names if owner_locks.is_owner_name(each)]
    if claims:  # one that is gone by now was moved with its folder
        return not any(owner_locks.alive(folder, each) for each in claims)
    return abs(time.time() - status.st_mtime) > _UNFINISHED


def _clear_all(project: Folder) -> None:
    """Move what a power cut has left of new sessions out of the way."""
    for name in project.names():
        if name.startswith("."):
            continue
        with contextlib.suppress(FileNotFoundError, UnsafeRootError), project.folder(name) as session:
            if not session.names():
                # All names in it were lost; or it never had any, and is somebody else's.
                if is_folder_name(project.path.name) and is_folder_name(name):
                    with contextlib.suppress(OSError):  # it has become a session
                        project.remove_empty(name)
                continue
            status = session.stat(DATABASE)
            if status is not None and status.st_size:
                continue
            if not is_open(session.path / DATABASE):
                with contextlib.suppress(NotASessionError, SessionBusyError):  # not ours to touch
                    partial_sessions.clear(session.path, failed=False)
