"""The file of an archive: made, opened and moved aside.

It lies where nobody else can plant or exchange one, nor a journal beside it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from typing import TYPE_CHECKING, Final

from spillstore.engine.sqlite import sql as _sql
from spillstore.engine.sqlite.connection import FileLock
from spillstore.engine.sqlite.database import connect
from spillstore.engine.sqlite.folders import check_own
from spillstore.exceptions import StorageError, UnsafeRootError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.engine.sqlite.connection import Connection
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.settings import Settings

ARCHIVE: Final = ".audit.db"
_ASIDE: Final = ".audit-damaged-{}.db"  # the name of a file that was moved aside
DAMAGED: Final = re.compile(_ASIDE.replace(".", r"\.").format("[0-9a-f]{8}"))
_log = logging.getLogger("spillstore")


@contextlib.contextmanager
def connected(folder: Folder, name: str, settings: Settings) -> Iterator[Connection]:
    """A connection to a private file in a folder, in the way of a session's file.

    Raises:
        UnsafeRootError: it is not private, or not ours to use.
        StorageError: it cannot be opened.
    """
    path = folder.path / name
    status = folder.stat(name)
    if status is None:
        raise StorageError(f"{path} is gone")
    check_own(path, status, folder.status)
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise UnsafeRootError(f"this user cannot read and write {path}")
    lock = FileLock(path)
    try:
        with contextlib.closing(connect(path, settings, read_only=False, lock=lock)) as connection:
            connection.execute(f"PRAGMA page_size = {_sql.PAGE_SIZE}")  # of a file that is empty
            yield connection
    finally:
        lock.close()


def provide(folder: Folder) -> int:
    """Make the file, readable by its owner alone, if it is not there; returns its inode."""
    with contextlib.suppress(FileExistsError):
        os.close(folder.open(ARCHIVE, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    status = folder.stat(ARCHIVE)
    return 0 if status is None else status.st_ino


def set_aside(folder: Folder, inode: int, error: Exception) -> None:
    """Give a damaged file another name, with its journal, unless somebody else has done so already."""
    name = _ASIDE.format(os.urandom(4).hex())
    with folder.locked():
        status = folder.stat(ARCHIVE)
        if status is None or status.st_ino != inode:
            return
        folder.rename(ARCHIVE, name)
        with contextlib.suppress(FileNotFoundError):
            folder.rename(f"{ARCHIVE}-journal", f"{name}-journal")
    _log.warning(
        "kept events of deleted sessions are damaged; the file was moved aside and a new one is begun",
        extra={"kept_as": str(folder.path / name), "error": str(error)},
    )
