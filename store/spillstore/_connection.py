"""A connection to a session's file, and the lock that orders its writers.

SQLite's locks belong to the process and the file. A program that opens ``session.db`` (or a file beside it) and closes it
again, to copy or to search it, drops those that SQLite holds in the same process, and SQLite does not notice
(https://www.sqlite.org/howtocorrupt.html, 2.2). Another process may then write at the same time, or take itself for the
last one that closes the file and remove its WAL, into which we go on to write. Hence, beside SQLite's locks:

- A writer holds ``flock`` on the session's folder for as long as a transaction lasts, and so does who closes a connection.
  It belongs to the open descriptor, so nothing that others open and close drops it, and a folder needs no room on a disk.
- ``check_in_place`` compares the file and its WAL as the path leads to them with those that the connection has open:
  before a transaction, and again behind its ``COMMIT``. What was committed is there for whoever comes next, or it is an
  error. That finds folders and files that were removed or exchanged, too.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import random
import sqlite3
import time
from typing import TYPE_CHECKING, Any

from spillstore import _forks
from spillstore.exceptions import LockedError, SessionDeletedError, StorageError

if TYPE_CHECKING:
    from pathlib import Path

_CLOSING_PATIENCE = (
    1.0  # seconds that who closes waits for a writer: one that was stopped would hold it up for ever
)
_NO_LOCKS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})


class StaleError(StorageError):
    """The file's WAL was removed under a connection; a new one finds everything that was committed before."""


class Connection(sqlite3.Connection):
    """A ``sqlite3`` connection that knows its file. Made by ``_database.connect`` alone; closed once."""

    def __init__(self, database: str, *args: Any, path: Path, **options: Any) -> None:
        """As ``sqlite3.Connection``, for the file at ``path``.

        Raises:
            ForkError: the file was inherited from a parent process.
        """
        self._path = str(path)
        self._folder: int | None = None  # a descriptor
        status = path.stat()
        self.file = (status.st_dev, status.st_ino)
        self._wal: tuple[int, int] | None = None
        _forks.refuse_inherited(self.file, path)
        super().__init__(database, *args, **options)
        _forks.opened(self.file)
        self._counted = True

    def remember_wal(self) -> None:
        """Keep which WAL is in use, if there is one. Called once the connection has looked into the file."""
        self._wal = self._wal_now()

    def hold_folder(self) -> None:
        """Open the folder, for ``lock``.

        Raises:
            OSError: it cannot be opened.
        """
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
        self._folder = os.open(os.path.dirname(self._path), flags)  # noqa: PTH120  # a string all the way

    # --- still the same ---------------------------------------------------------------------------------

    def check_in_place(self) -> None:
        """That whoever opens the path now finds what this connection has open. Cost: two system calls.

        Raises:
            SessionDeletedError: the file was removed, with its folder or without, or another is in its place.
            StaleError: its WAL was.
        """
        try:
            status = os.stat(self._path)  # noqa: PTH116  # half the time
        except (FileNotFoundError, NotADirectoryError):
            status = None
        if status is None or (status.st_dev, status.st_ino) != self.file:
            raise SessionDeletedError(
                f"{self._path} was removed or exchanged by another program while it was open here; nothing can be stored "
                "in it any more: open the session anew"
            )
        if self.is_stale():
            raise StaleError(
                f"{self._path}-wal was removed while it was in use: a program here has opened and closed the session's files "
                "itself, which drops the locks on them; copy a session with `spillstore export`, or in another process"
            )

    def is_stale(self) -> bool:
        """Whether its WAL is another one by now."""
        return self._wal is not None and self._wal != self._wal_now()

    def _wal_now(self) -> tuple[int, int] | None:
        try:
            status = os.stat(f"{self._path}-wal")  # noqa: PTH116  # as above
        except OSError:
            return None
        return (status.st_dev, status.st_ino)

    # --- one writer at a time ---------------------------------------------------------------------------

    def lock(self, waiter: Waiter) -> None:
        """Take the lock of the session's writers; ``unlock`` gives it back.

        Args:
            waiter: for how long to wait for it.

        Raises:
            LockedError: somebody else has it for longer.
            OSError: the file system says why not.
        """
        if self._folder is None:
            return
        while True:
            try:
                fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not waiter.wait():
                    raise LockedError(
                        f"{self._path} is locked: another process has been writing to it for {waiter.patience:g} s; try "
                        "again later, or raise SPILLSTORE_BUSY_TIMEOUT"
                    ) from None
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
                os.close(self._folder)  # a file system on a network: there SQLite's locks have to do
                self._folder = None
                return
            else:
                return

    def unlock(self) -> None:
        """Give back what ``lock`` took."""
        if self._folder is not None:
            fcntl.flock(self._folder, fcntl.LOCK_UN)

    def disown(self) -> None:
        """In a forked child that has inherited it: let go of the lock, which would outlive the parent here."""
        folder, self._folder = self._folder, None
        if folder is not None:
            os.close(folder)

    def close(self) -> None:
        """Close it. The last one to close a file copies its WAL into it and removes that, so it waits for writers."""
        with contextlib.suppress(LockedError, OSError):
            self.lock(Waiter(_CLOSING_PATIENCE))
        try:
            super().close()
        finally:
            self.disown()
            counted, self._counted = self._counted, False
            if counted:
                _forks.closed(self.file)


class Waiter:
    """Waits with jitter, longer each time, until patience ends."""

    def __init__(self, patience: float) -> None:
        self.patience = patience  # seconds
        self._deadline: float | None = None
        self._pause = 0.0005

    def wait(self) -> bool:
        """Wait once; False where there is no time left."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self.patience
        if now >= self._deadline:
            return False
        time.sleep(self._pause * (0.5 + random.random()))  # noqa: S311  # jitter, no secret
        self._pause = min(self._pause * 1.5, 0.01)
        return True
