"""One session file through plain ``sqlite3``: opening, pragmas, transactions, errors.

Statements come from ``_sql.py``. Every foreign exception is turned into one of ours here (``translated``), and every
write goes through ``write_transaction``: ``BEGIN IMMEDIATE`` at once, because a transaction that reads first and writes
later fails when another writer came in between; waiting is our own jittered retry, which cut the worst wait of eight
processes from 81 to 28 ms against SQLite's ``busy_timeout``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import sqlite3
import time
import urllib.parse
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillstore import _places, _shape, _sql
from spillstore.exceptions import (
    DiskFullError,
    IntegrityError,
    LockedError,
    NotASessionError,
    ReadOnlyError,
    SpillstoreError,
    StorageError,
    UnsupportedError,
)
from spillstore.settings import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.settings import Settings

DATABASE = "session.db"
SESSION_KEY = 1
OLDEST_SQLITE = (3, 37, 0)
WAL_BYTES = 4 * MIB  # committed, as estimated, between two checkpoints
_WAL_AT_MOST = 16 * MIB  # wal_autocheckpoint counts pages, so small pages need a larger number
_WAL_VERSION_OFFSET = (
    18  # two header bytes: 1 rollback journal, 2 WAL (https://www.sqlite.org/fileformat.html)
)
_WRITER_CACHE_BYTES = 8 * MIB  # a bulk commit must fit, or its pages are written twice
_MMAP_BYTES = 1024 * MIB  # address space, not memory; takes a third off the time of fetching two chunks
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "lustre"}
)


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn ``sqlite3``'s exceptions into ours.

    Raises:
        DiskFullError, LockedError, ReadOnlyError, IntegrityError, StorageError: by SQLite's result code.
    """
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:
        raise translation(error, doing) from error
    except OSError as error:
        if isinstance(error, SpillstoreError):
            raise
        raise _os_translation(error, doing) from error


def _os_translation(error: OSError, doing: str) -> StorageError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiskFullError(
            f"{doing} failed: {error}; free some space, or delete sessions with `spillstore clean`"
        )
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return ReadOnlyError(
            f"{doing} failed: {error}; read_only=True opens a session that cannot be written"
        )
    return StorageError(f"{doing} failed: {error}")


def translation(error: sqlite3.Error | UnicodeDecodeError | MemoryError, doing: str) -> SpillstoreError:
    """Our exception for one of ``sqlite3``'s, which decodes damaged names and texts without any care."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return LockedError(
            f"{doing} failed: the session's database is locked by another process; try again later"
        )
    if code == sqlite3.SQLITE_FULL:
        return DiskFullError(
            f"{doing} failed: the disk is full; free some space, or delete sessions with `spillstore clean`"
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return ReadOnlyError(f"{doing} failed: the session's database cannot be written")
    if code == sqlite3.SQLITE_NOTADB:
        return NotASessionError(f"{doing} failed: the file is no SQLite database")
    if isinstance(error, UnicodeDecodeError) or code in {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_ERROR,
    }:
        # SQLite calls damaged, too, what the disk does not give.
        unread = ", or its disk cannot be read" if code == sqlite3.SQLITE_CORRUPT else ""
        return IntegrityError(f"{doing} failed: the session's database is damaged{unread} ({error})")
    most = f"; a row may have {_shape.MOST_ROW_BYTES} bytes" if code == sqlite3.SQLITE_TOOBIG else ""
    what = "there is not enough memory" if isinstance(error, MemoryError) else f"{error}{most}"
    return StorageError(f"{doing} failed: {what}")


@lru_cache(maxsize=1)
def _empty_image() -> bytes:
    """An empty database at head, byte for byte; made once a process, because copying it is twice as fast as DDL."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size = {_sql.PAGE_SIZE}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA application_id = {_sql.APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_sql.SCHEMA_NUMBER}")
        for statement in _sql.DDL:
            connection.execute(statement)
        # The table and the row by which Alembic knows where a file stands.
        connection.execute(_shape.ALEMBIC_TABLE)
        connection.execute("INSERT INTO alembic_version VALUES (?)", (_sql.REVISION,))
        return connection.serialize()
    finally:
        connection.close()


def new_image(session_row: dict[str, Any], *, wal: bool) -> bytes:
    """The bytes of a new session file that holds its session row and nothing else."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.deserialize(_empty_image())
        connection.execute(_sql.SESSION_INSERT, session_row)
        image = bytearray(connection.serialize())
    finally:
        connection.close()
    image[_WAL_VERSION_OFFSET : _WAL_VERSION_OFFSET + 2] = b"\x02\x02" if wal else b"\x01\x01"
    return bytes(image)


def check_platform() -> None:
    """Raise UnsupportedError where no store can be."""
    if os.name != "posix":
        raise UnsupportedError(
            f"Spillstore needs POSIX file locks; {os.name!r} has none (Linux and macOS do)"
        )
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise UnsupportedError(
            f"Spillstore needs SQLite {needed}, Python was built with {sqlite3.sqlite_version}"
        )


def wal_allowed(root: Path) -> bool:
    """Whether the file system can hold a WAL; on a network file system it cannot, which is said once a root."""
    kind = file_system(str(root))
    return kind not in _NETWORK_FILE_SYSTEMS


@lru_cache(maxsize=64)
def file_system(root: str) -> str:
    """The type of the file system a folder lies on; "" where the system does not say (macOS)."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in mounts:
        _device, point, this, *_rest = line.split(" ")
        point = point.replace("\\040", " ")
        inside = point in ("/", root) or root.startswith(point + "/")
        if inside and len(point) >= len(best):
            best, kind = point, this
    if kind in _NETWORK_FILE_SYSTEMS:
        warnings.warn(
            f"{root} lies on a network file system ({kind}): sessions use a rollback journal instead of WAL, "
            "which is slower, and depend on the file system's locks",
            stacklevel=2,
        )
    return kind


def connect(
    path: Path, settings: Settings, *, read_only: bool, immutable: bool = False, foreign: bool = False
) -> sqlite3.Connection:
    """A connection with our pragmas. Cost: about 0.5 ms, so connections are kept.

    Args:
        path: the file.
        settings: what is in force.
        read_only: for reading alone.
        immutable: a promise that nobody writes, so that SQLite makes no files beside the database.
        foreign: somebody else's file; it is not mapped into memory, where it would kill us by becoming shorter.

    Raises:
        UnsafeRootError: the file, or one beside it, leads elsewhere.
        StorageError: the file cannot be opened.
    """
    with translated(f"opening {path}"):
        _places.check_beside(path, writing=not read_only)
        connection = _connect(path, _mode(read_only=read_only, immutable=immutable), settings)
        try:
            _configure(connection, settings, read_only=read_only, mapped=not foreign)
        except sqlite3.OperationalError:
            connection.close()
            if not read_only or os.access(path.parent, os.W_OK):
                raise
            # A WAL database on media where its -shm file cannot be made: nobody can be writing to it.
            connection = _connect(path, _mode(read_only=True, immutable=True), settings)
            _configure(connection, settings, read_only=True, mapped=not foreign)
        except BaseException:
            connection.close()
            raise
    return connection


def _mode(*, read_only: bool, immutable: bool) -> str:
    return "rw" if not read_only else "ro&immutable=1" if immutable else "ro"


def _configure(
    connection: sqlite3.Connection, settings: Settings, *, read_only: bool, mapped: bool = False
) -> None:
    _shape.distrust(connection)
    if read_only:
        connection.execute("PRAGMA schema_version").fetchone()  # the first look at the file; it may fail
        connection.execute(f"PRAGMA mmap_size = {_MMAP_BYTES if mapped else 0}")
    else:
        connection.execute(f"PRAGMA synchronous = {settings.durability}")
        # The committer checkpoints beside the writers every ``WAL_BYTES``; this is for when it cannot keep up.
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_AT_MOST // _sql.PAGE_SIZE}")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_AT_MOST}")
        connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_BYTES // KIB}")


def _connect(path: Path, mode: str, settings: Settings) -> sqlite3.Connection:
    uri = f"file:{urllib.parse.quote(str(path))}?mode={mode}"
    return sqlite3.connect(
        uri,
        uri=True,
        timeout=settings.busy_timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )


@contextlib.contextmanager
def write_transaction(
    connection: sqlite3.Connection, busy_timeout: float, doing: str, *, patient: bool = True
) -> Iterator[None]:
    """A ``BEGIN IMMEDIATE`` transaction that commits at the end and rolls back on any exception.

    ``busy_timeout`` is the connection's; who is not ``patient`` tries only once.
    """
    with translated(doing):
        _begin(connection, busy_timeout if patient else 0, busy_timeout)
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _begin(connection: sqlite3.Connection, patience: float, busy_timeout: float) -> None:
    """Take the write lock; while another process holds it, try again with jitter.

    SQLite's own waiting is switched off meanwhile. It stays on for everything else: a file that is being recovered, or
    checkpointed by the last process that closes it, is busy for any statement.
    """
    pause = 0.0005
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        deadline = None
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                now = time.monotonic()
                deadline = now + patience if deadline is None else deadline
                if now >= deadline:
                    raise
                time.sleep(pause * (0.5 + random.random()))  # noqa: S311  # jitter, no secret
                pause = min(pause * 1.5, 0.01)
            else:
                return
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(busy_timeout * 1000)}")


@contextlib.contextmanager
def read_transaction(connection: sqlite3.Connection, doing: str) -> Iterator[None]:
    """One snapshot for several statements; short, because an open one holds back the checkpoint."""
    with translated(doing):
        connection.execute("BEGIN")
        try:
            yield
        finally:
            if connection.in_transaction:
                connection.execute("COMMIT")


def schema_number(connection: sqlite3.Connection) -> int:
    """The schema's number of an open file.

    Raises:
        NotASessionError: the file is a database, but none of ours.
    """
    with translated("reading the schema's version"):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (number,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _sql.APPLICATION_ID:
        raise NotASessionError("the file is a SQLite database, but no Spillstore session")
    return int(number)
