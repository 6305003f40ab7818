"""Room kept for deleting: a file of zeros in a store's root, whose blocks a deletion gets on a disk that is full.

Deleting an artifact needs a journal that says what is in its freed pages; without one, a crash would damage the session. So
the room for a journal is taken beforehand, once a root and user. Each user has a file of their own, because a root may be
shared and a journal must belong to the owner of the session. Its name begins with a dot, so it is no project's, and its size
counts in no session's. The file is never read: its blocks become a session's journal by a rename, which nobody else who
fills the disk can forestall, or are given back to the disk. SQLite takes a journal (WAL) of zeros for an empty one, and
writes over its blocks. Nothing ever becomes a reserve by a rename, so it holds zeros and no journal of another session.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from spillstore.engine.sqlite.database import DATABASE, wal_allowed
from spillstore.engine.sqlite.folders import open_root, project_of
from spillstore.exceptions import UnsafeRootError
from spillstore.settings import KIB

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore.engine.sqlite.folders import Folder

# Freeing a chunk of 64 KiB that cannot be compressed, with its pages wiped, takes 160 KiB of journal; other rows come besides.
BYTES: Final = 512 * KIB


def provide(root: Folder) -> None:
    """Make this user's reserve if it is not there; where it cannot be made, there is none. Cost: a look, if it is there."""
    name = _name()
    status = root.stat(name)
    if (status is not None and status.st_size >= BYTES) or not hasattr(os, "posix_fallocate"):
        return
    # There is no room, no such call in this file system, or somebody else's file.
    with contextlib.suppress(OSError, UnsafeRootError):
        descriptor = root.own(name, os.O_WRONLY | os.O_CREAT)
        try:
            # Harmless should another process make a journal of the file meanwhile: what is there stays as it is.
            os.posix_fallocate(descriptor, 0, BYTES)
        except OSError:
            root.unlink(name)
        finally:
            os.close(descriptor)


def provide_in(root: Path) -> None:
    """``provide``, by the root's path."""
    with contextlib.suppress(OSError, UnsafeRootError), open_root(root) as folder:
        provide(folder)


def give_back(root: Path) -> bool:
    """Give the reserve's room to the disk, for use at once; False if there was none."""
    try:
        with open_root(root) as folder:
            os.close(folder.own(_name(), os.O_RDONLY))
            folder.unlink(_name())
    except (OSError, UnsafeRootError):
        return False
    return True


def lend(session: Path) -> None:
    """Make the reserve the journal of a session that has none, if that can be.

    Args:
        session: the session's folder. Who opens it meanwhile has an empty journal.
    """
    root = session.parent.parent
    if not wal_allowed(root):
        return
    with (
        contextlib.suppress(OSError, UnsafeRootError),
        open_root(root) as folder,
        project_of(session) as project,
        project.folder(session.name) as within,
    ):
        descriptor = folder.own(_name(), os.O_RDONLY)
        try:
            ours, database = os.fstat(descriptor), within.stat(DATABASE)
        finally:
            os.close(descriptor)
        # A journal that the session's owner cannot open would keep them out of it.
        if database is not None and ours.st_uid == database.st_uid:
            folder.move_new(_name(), within, f"{DATABASE}-wal")


def _name() -> str:
    return f".reserve-{os.geteuid()}"
