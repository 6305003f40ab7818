"""A connection to a session's file, and locks beside SQLite's that nothing drops.

SQLite's locks belong to the process and the file. A program that opens ``session.db`` (or a file beside it) and closes it
again, to copy or to search it, drops those that SQLite holds in the same process, and SQLite does not notice
(https://www.sqlite.org/howtocorrupt.html, 2.2). Another process may then write at the same time, or take itself for the
last one that closes the file and remove its WAL, into which we go on to write. Locks of open descriptors do not suffer
from that, so there are three more things, all of which end with the process:

- ``FileLock.acquire``: ``flock`` on the session's folder, by writers, checkpoints, openers and closers. One process at a
  time does one of these. A folder needs no room on a disk that is full.
- ``FileLock.anchor`` (Linux): the shared locks that say somebody has the file open, taken once more by our own descriptors.
  No other program can then remove the WAL, nor begin the shared memory anew.
- ``Connection.check_in_place`` compares the file and its WAL as the path leads to them with those that the connection has
  open, behind each ``COMMIT``. What was committed is there for the next opener, or it is an error. That finds folders and
  files that were removed or exchanged, too. A WAL that was removed is noticed before a transaction, and nothing is lost.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.errors import NotStoredError, translated
from spillstore.engine.sqlite import fork_safety
from spillstore.engine.sqlite import sql as _sql
from spillstore.engine.sqlite.rows import SessionRows
from spillstore.exceptions import LockedError, SessionDeletedError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BRIEFLY = (
    1.0  # seconds that who opens or closes waits for a writer: one that was stopped would hold it up for ever
)
_NO_LOCKS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
# Bytes that SQLite locks for reading while a file is open (os_unix.c: SHARED_FIRST and SHARED_SIZE, UNIX_SHM_DMS).
_ANCHORS: Final = (("", 0x40000002, 510), ("-shm", 128, 1))


class StaleError(NotStoredError):
    """The file's WAL was removed under a connection; a new one finds everything that was committed before."""


class FileLock:
    """The lock of one process on one session's file. Safe from any thread; threads of the process share it."""

    def __init__(self, database: Path) -> None:
        """Name the file; nothing is opened before the lock is taken."""
        self._database = str(database)
        self._guard = threading.Lock()  # protects what follows
        self._folder: int | None = None  # a descriptor
        self._is_found = False  # whether that was the session's folder when the lock was had first
        self._holders = 0
        self._works = True  # False where the file system has no such locks
        self._anchors: list[int] = []  # descriptors
        self._raised: list[int] = []  # of anchors that hold no lock any more

    def acquire(self, patience: float) -> None:
        """Take the lock; ``release`` must follow. SQLite's own locks order the threads of a process.

        Args:
            patience: seconds to wait for another process.

        Raises:
            LockedError: another process has it for longer.
            OSError: the folder cannot be opened.
        """
        waiter = None
        while True:
            with self._guard:
                if self._holders or not self._works or self._take():
                    self._holders += 1
                    return
            waiter = waiter or _Waiter(patience)
            if not waiter.wait():
                raise LockedError(
                    f"{self._database} is locked: another process has been writing to it for {patience:g} s; try "
                    "again later, or raise SPILLSTORE_BUSY_TIMEOUT"
                )

    def _take(self) -> bool:
        folder = os.path.dirname(self._database)  # noqa: PTH120  # half the time
        if self._folder is None:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            self._folder = os.open(folder, flags)
            self._is_found = False
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            self._works = False  # a file system on a network: there SQLite's locks have to do
            return True
        if not self._is_found:
            stale = self._folder
            try:
                status = os.fstat(stale)
                self._is_found = file_at(folder) in {None, (status.st_dev, status.st_ino)}
            finally:
                if not self._is_found:
                    self._folder = None
                    os.close(stale)
        # Else another session has taken its place while this waited, and its writers know nothing of that lock.
        return self._is_found or self._take()

    def release(self) -> None:
        """Give back what ``acquire`` took."""
        with self._guard:
            self._holders -= 1
            if not self._holders and self._folder is not None and self._works:
                try:
                    fcntl.flock(self._folder, fcntl.LOCK_UN)
                except OSError:  # closing it gives the lock back in any case
                    folder, self._folder = self._folder, None
                    os.close(folder)

    @contextlib.contextmanager
    def briefly(self) -> Iterator[None]:
        """Hold the lock if it can be had within a second, as a courtesy to writers."""
        try:
            self.acquire(_BRIEFLY)
        except (LockedError, OSError):
            yield
            return
        try:
            yield
        finally:
            self.release()

    def anchor(self, connection: Connection) -> None:
        """Say to all other programs that the file is open, whatever becomes of the locks of this connection.

        Not without a WAL: there every commit wants to be the only one who has the file open.
        """
        if sys.platform != "linux" or not connection.has_wal:
            return
        with self._guard:
            if self._anchors:
                return
            for suffix, start, length in _ANCHORS:
                with contextlib.suppress(OSError):  # no WAL, or no such locks: the checks have to do
                    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                    self._anchors.append(os.open(self._database + suffix, flags))
                    lock = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, start, length, 0)
                    fcntl.fcntl(self._anchors[-1], fcntl.F_OFD_SETLK, lock)

    def weigh_anchor(self) -> None:
        """Before the connections are closed: the last one brings the WAL into the file, which nobody may have open."""
        with self._guard:
            anchors, self._anchors = self._anchors, []
            for descriptor in anchors:
                unlock = struct.pack("hhqqi", fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, unlock)
            self._raised += anchors

    def close(self) -> None:
        """Once the connections are closed: close the descriptors, for that would have dropped SQLite's locks."""
        with self._guard:
            folder, self._folder = self._folder, None
            descriptors = [*self._anchors, *self._raised, *([] if folder is None else [folder])]
            self._anchors, self._raised = [], []
            for descriptor in descriptors:
                os.close(descriptor)


class Connection(SessionRows):
    """A ``sqlite3`` connection that knows its file. Made by ``database.connect`` alone; closed once."""

    def __init__(self, database: str, *args: Any, path: Path, lock: FileLock | None, **options: Any) -> None:
        """As ``sqlite3.Connection``, for the file at ``path``.

        Raises:
            ForkError: the file was inherited from a parent process.
        """
        self.lock = lock
        self._path = str(path)
        self._wal_path = f"{path}-wal"
        self._wal: int | None = (
            None  # a descriptor; SQLite has no lock on this file that closing it would drop
        )
        self._wal_file: tuple[int, int] | None = None  # its device and inode
        self._mapped = 0  # bytes
        self._earlier: int | None = None  # the file's schema, where views stand before its tables
        status = path.stat()
        self.file = (status.st_dev, status.st_ino)
        fork_safety.refuse_inherited(self.file, path)
        super().__init__(database, *args, **options)
        fork_safety.opened(self.file)
        self._counted = True

    def close(self) -> None:
        """Close it."""
        super().close()
        wal, self._wal = self._wal, None
        if wal is not None:
            os.close(wal)
        counted, self._counted = self._counted, False
        if counted:
            fork_safety.closed(self.file)

    def map_file(self, size: int) -> None:
        """Read the first ``size`` bytes of the file by mapping them into memory; 0 reads it all into a cache."""
        self._mapped = size
        self.execute(f"PRAGMA mmap_size = {size}")

    def release_pages(self) -> None:
        """Have no part of the file in memory but what the cache holds; it is mapped again. Cost: 30 us; no statement is unfinished."""
        self.touched = 0
        if self._mapped:
            self.execute("PRAGMA mmap_size = 0")
            self.map_file(self._mapped)

    def hold_wal(self) -> None:
        """Open the WAL that is in use, if there is one. Called once the connection has looked into the file."""
        with contextlib.suppress(FileNotFoundError):
            self._wal = os.open(self._wal_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            status = os.fstat(self._wal)
            self._wal_file = (status.st_dev, status.st_ino)

    @property
    def has_wal(self) -> bool:
        """Whether it writes into a WAL."""
        return self._wal is not None

    def is_stale(self) -> bool:
        """Whether its WAL was removed, or the file upgraded behind its views. Cost: a microsecond; three more of an earlier schema."""
        if self._earlier is not None and self._schema() != self._earlier:
            return True
        if self._wal is None:
            return False
        try:
            return not os.fstat(self._wal).st_nlink
        except OSError as error:
            raise StorageError(f"{self._wal_path} cannot be looked at: {error}") from error

    def present_earlier(self, number: int | None = None) -> None:
        """Make the tables of a file of an earlier schema look like today's; to who only reads.

        Args:
            number: of the file's schema, if it is known. One of today's stays as it is.
        """
        number = self._schema() if number is None else number
        if number < _sql.SCHEMA_NUMBER:
            from spillstore.engine.sqlite import earlier_schemas  # noqa: PLC0415  # few files are of one

            earlier_schemas.present(self, number)
            self._earlier = number

    def _schema(self) -> int:
        """The number of the file's schema, now."""
        with translated("reading the schema's version"):
            return self._number("PRAGMA user_version")

    def is_in_place(self) -> bool:
        """Whether the path still leads to the file that this connection has open."""
        return file_at(self._path) == self.file

    def check_in_place(self) -> None:
        """Check that the path still leads to the file that this connection has open. Cost: two system calls, six microseconds.

        Raises:
            SessionDeletedError: the file was removed, with its folder or without, or another is in its place.
            StaleError: its WAL was.
        """
        if not self.is_in_place():
            raise SessionDeletedError(
                f"{self._path} was removed or exchanged by another program while it was open here; nothing can be stored "
                "in it any more: open the session anew"
            )
        if self._wal is not None and file_at(self._wal_path) != self._wal_file:
            raise StaleError(
                f"{self._wal_path} was removed while it was in use: a program here has opened and closed the session's files "
                "itself, which drops the locks on them; copy a session with `spillstore export`, or in another process"
            )


def file_at(path: str) -> tuple[int, int] | None:
    """Device and inode of the file that a path leads to."""
    try:
        status = os.stat(path)  # noqa: PTH116  # half the time of a Path's
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


class _Waiter:
    """Waits with jitter, longer each time, until so many seconds have passed."""

    def __init__(self, patience: float) -> None:
        self._deadline = time.monotonic() + patience
        self._pause = 0.0005

    def wait(self) -> bool:
        """Wait once; False where there is no time left."""
        if time.monotonic() >= self._deadline:
            return False
        time.sleep(self._pause * (0.5 + os.urandom(1)[0] / 256))
        self._pause = min(self._pause * 1.5, 0.01)
        return True
