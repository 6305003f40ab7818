"""Folders of sessions that are not there: being made, deleted, or kept aside.

A session's folder appears and disappears by one rename within its project's folder, to or from a name that begins with a
dot, which no session's has. So it is there or not, and off the disk when there is time. What is removed lies under such a
name, in a project's folder that is trusted, and is reached by descriptors alone (``folders``): whatever somebody puts in
place of the root, of a project or of what was deleted, nothing else is emptied. A trash of its own in the root would have a
name that somebody else can take first.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from spillstore.engine.errors import translated
from spillstore.engine.sqlite.connection import FileLock
from spillstore.engine.sqlite.database import DATABASE
from spillstore.engine.sqlite.folders import open_root, project_of
from spillstore.exceptions import StorageError

if TYPE_CHECKING:
    from pathlib import Path

NEW_PREFIX: Final = ".new-"  # being made
IMPORT_PREFIX: Final = ".copy-"  # being filled with the rows of another store's session
DELETED_PREFIX: Final = ".gone-"  # deleted
PARTIAL_PREFIX: Final = ".torn-"  # a new session that a power cut took a part of; what is left of it
_log = logging.getLogger("spillstore")


def bury(folder: Path, uid: str) -> Path:
    """Rename a session's folder out of sight; atomic, and fine if somebody else did it already.

    Not while another process opens or closes the session's file: who closes it as the last one removes the WAL that the path leads
    to, which would be that of a new session.

    Returns:
        Where it lies now.
    """
    gone = folder.with_name(f"{DELETED_PREFIX}{uid}")
    lock = FileLock(folder / DATABASE)
    with (
        translated(f"deleting {folder}"),
        contextlib.suppress(FileNotFoundError),
        project_of(folder) as project,
        contextlib.closing(lock),
        lock.briefly(),
    ):
        project.rename(folder.name, gone.name)
    return gone


def remove_trash(gone: Path, *, durable: bool) -> int:
    """Unlink what was buried; another process may be doing the same.

    Args:
        gone: where it lies.
        durable: not before its name survives a power cut: a folder that came back under its old one, without the journal
            that says it was deleted, would be a session again.

    Returns:
        Bytes that it took on the disk and does not take any more.
    """
    try:
        with project_of(gone) as project:
            if durable:
                project.sync()
            return project.remove(gone.name)
    except (OSError, StorageError) as error:  # it is out of sight; the next collection finds it
        _log.debug("a deleted session is still on the disk", extra={"error": type(error).__name__})
        return 0


def disk_usage(folder: Path) -> int:
    """Bytes that the files of a session's folder take on the disk; 0 if it is gone or cannot be read."""
    try:
        with project_of(folder) as project:
            return project.usage(folder.name)
    except (OSError, StorageError):
        return 0


class Buried(NamedTuple):
    """A deleted session's folder: ``Remains`` of ``engine.base``."""

    path: Path
    durable: bool  # see ``remove_trash``

    def size(self) -> int:
        """Bytes that its files take on the disk."""
        return disk_usage(self.path)

    def free(self) -> int:
        """Unlink them; returns how many bytes that has freed."""
        return remove_trash(self.path, durable=self.durable)


def remove_at_exit(folder: Path) -> None:
    """Remove a folder when this process ends, after all that is open in it was drained."""
    _doomed.append((os.getpid(), folder))


def _remove_doomed() -> None:
    for pid, folder in _doomed:
        if pid == os.getpid():  # not in a forked child
            with contextlib.suppress(OSError, StorageError), open_root(folder.parent) as parent:
                parent.remove(folder.name)


_doomed: list[tuple[int, Path]] = []
# What is registered first runs last; the engine, which drains, imports this module before it registers anything.
atexit.register(_remove_doomed)
