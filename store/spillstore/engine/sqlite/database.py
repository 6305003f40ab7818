"""One session file through plain ``sqlite3``: opening, pragmas, errors. Statements come from ``sql.py``."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import urllib.parse
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spillstore.engine.errors import register, translated
from spillstore.engine.sqlite import fork_safety, path_safety, schema_check, sql
from spillstore.engine.sqlite.connection import Connection, file_at
from spillstore.engine.sqlite.rows import SessionRows
from spillstore.exceptions import (
    DiskFullError,
    IntegrityError,
    LockedError,
    NotASessionError,
    ReadOnlyError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
    UnsupportedError,
)
from spillstore.settings import KIB, MIB

if TYPE_CHECKING:
    from spillstore.engine.sqlite.connection import FileLock
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

DATABASE = "session.db"
OLDEST_SQLITE = (3, 37, 0)
WAL_BYTES = 4 * MIB  # committed, as estimated, between two checkpoints
WAL_AT_MOST = 16 * MIB  # committed, as estimated, until who commits copies it
_WAL_VERSION_OFFSET = (
    18  # two header bytes: 1 rollback journal, 2 WAL (https://www.sqlite.org/fileformat.html)
)
_WRITER_CACHE_BYTES = 8 * MIB  # a bulk commit must fit, or its pages are written twice
_MMAP_BYTES = (
    1024 * MIB
)  # address space; the pool bounds what is in memory. Takes a third off the time of fetching two chunks
_NO_ROOM = frozenset(  # how it shows that a -shm file cannot be made
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_SHMOPEN,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMMAP,
        sqlite3.SQLITE_IOERR_WRITE,
    }
)
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "lustre"}
)


_LOCKED: Final = (LockedError, "the session's database is locked by another process; try again later")
_UNWRITABLE: Final = (ReadOnlyError, "the session's database cannot be written")
_DAMAGED: Final = (IntegrityError, "the session's database is damaged ({error})")
_REASONS: Final[dict[int, tuple[type[SpillstoreError], str]]] = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: (
        DiskFullError,
        "the disk is full; free some space, or delete whole sessions with `spillstore clean`, which needs none",
    ),
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_NOTADB: (NotASessionError, "the file is no SQLite database"),
    sqlite3.SQLITE_CORRUPT: (  # so SQLite calls what the disk does not give, too
        IntegrityError,
        "the session's database is damaged, or its disk cannot be read ({error})",
    ),
    sqlite3.SQLITE_CONSTRAINT: _DAMAGED,
    sqlite3.SQLITE_MISMATCH: _DAMAGED,
    sqlite3.SQLITE_ERROR: _DAMAGED,
    sqlite3.SQLITE_TOOBIG: (StorageError, f"{{error}}; a row may have {schema_check.MOST_ROW_BYTES} bytes"),
}


def _translation(error: Exception, doing: str) -> SpillstoreError | None:
    """Our exception for one of ``sqlite3``'s."""
    if not isinstance(error, sqlite3.Error):
        return None
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    kind, why = _REASONS.get(code, (StorageError, "{error}"))
    return kind(f"{doing} failed: {why.format(error=error)}")


register(_translation)


@lru_cache(maxsize=1)
def empty_image() -> bytes:
    """An empty database at head, byte for byte; made once a process, because copying it is twice as fast as DDL."""
    with (
        fork_safety.using,
        contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection,
    ):
        connection.execute(f"PRAGMA page_size = {sql.PAGE_SIZE}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        create_schema(connection)
        return connection.serialize()


def create_schema(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty database."""
    connection.execute(f"PRAGMA application_id = {sql.APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {sql.SCHEMA_NUMBER}")
    for statement in sql.DDL:
        connection.execute(statement)
    # The table and the row by which Alembic knows where a file stands.
    connection.execute(schema_check.ALEMBIC_TABLE)
    connection.execute("INSERT INTO alembic_version VALUES (?)", (sql.REVISION,))


def new_image(session: SessionRow, *, wal: bool) -> bytes:
    """The bytes of a new session file that holds its session row and nothing else."""
    with fork_safety.using, contextlib.closing(SessionRows(":memory:", isolation_level=None)) as connection:
        connection.deserialize(empty_image())
        connection.insert_session(session)
        image = bytearray(connection.serialize())
    image[_WAL_VERSION_OFFSET : _WAL_VERSION_OFFSET + 2] = b"\x02\x02" if wal else b"\x01\x01"
    return bytes(image)


def mark_wal(descriptor: int) -> None:
    """Say in a session's file, which nobody has open, that it is written through a WAL."""
    os.pwrite(descriptor, b"\x02\x02", _WAL_VERSION_OFFSET)


def check_version() -> None:
    """Raise UnsupportedError where SQLite is too old."""
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
    path: Path,
    settings: Settings,
    *,
    read_only: bool,
    immutable: bool = False,
    foreign: bool = False,
    lock: FileLock | None = None,
) -> Connection:
    """A connection with our pragmas. Cost: about 0.5 ms, so connections are kept. The caller is inside ``fork_safety.using``.

    Args:
        path: the file.
        settings: what is in force.
        read_only: for reading alone.
        immutable: a promise that nobody writes, so that SQLite makes no files beside the database.
        foreign: somebody else's file; it is not mapped into memory, where it would kill us by becoming shorter.
        lock: what orders those who write to the file; None for a reader without one.

    Raises:
        UnsafeRootError: the file, or one beside it, leads elsewhere.
        ForkError: a parent process had the file open and could not close it before it forked this one.
        SessionDeletedError: another file took its place meanwhile.
        StorageError: the file cannot be opened.
    """
    with translated(f"opening {path}"), contextlib.nullcontext() if lock is None else lock.briefly():
        path_safety.check_companion_files(path, writing=not read_only)
        before = file_at(str(path))
        try:
            connection = _opened(
                path, settings, read_only=read_only, immutable=immutable, foreign=foreign, lock=lock
            )
        except sqlite3.Error as error:
            if file_at(str(path)) in {None, before}:
                raise
            raise _exchanged(path) from error
        # SQLite finds the file and its WAL by the path: those of two sessions would be read, and written, as one.
        if not connection.is_in_place():
            connection.close()
            raise _exchanged(path)
    return connection


def _exchanged(path: Path) -> SessionDeletedError:
    return SessionDeletedError(f"{path} was removed or exchanged while it was opened; open it anew")


def _opened(
    path: Path, settings: Settings, *, read_only: bool, immutable: bool, foreign: bool, lock: FileLock | None
) -> Connection:
    connection = _connect(path, _mode(read_only=read_only, immutable=immutable), settings, lock)
    try:
        _configure(connection, settings, read_only=read_only, mapped=not foreign)
    except sqlite3.OperationalError as error:
        connection.close()
        if not read_only:
            raise
        # A WAL database where its -shm file cannot be made: on media that cannot be written nobody is writing to it.
        if os.access(path.parent, os.W_OK):
            _check_nobody_writes(path, error, None if lock is None else settings)
        connection = _connect(path, _mode(read_only=True, immutable=True), settings, lock)
        _configure(connection, settings, read_only=True, mapped=not foreign)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_nobody_writes(path: Path, error: sqlite3.OperationalError, settings: Settings | None) -> None:
    """Raise, unless a file whose -shm file cannot be made may be read as it lies there.

    Args:
        path: the file.
        error: what failed.
        settings: what is in force; None where nothing may be written.

    Raises:
        sqlite3.OperationalError: that is not what failed.
        DiskFullError: somebody writes to it, or what was committed last is in its journal still, and does not fit into the file.
    """
    if getattr(error, "sqlite_errorcode", 0) not in _NO_ROOM:
        raise error
    from spillstore.engine.sqlite import owner_locks  # noqa: PLC0415  # a disk is seldom full

    why = None
    if owners := owner_locks.live_owners(path.parent):
        why = f"{owner_locks.describe(path.parent, owners[0])} has it open, so it cannot be read without"
    elif _has_journal(path) and (settings is None or not _bring_in(path, settings)):
        why = "its last process died, so what that committed last can only be read with it"
    if why is not None:
        raise DiskFullError(
            f"opening {path} failed: the disk has no room for SQLite's index of the journal (32 KiB), and {why}; free some "
            "space, or delete another session with `spillstore clean`"
        ) from error


def _has_journal(path: Path) -> bool:
    return os.path.exists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0  # noqa: PTH110, PTH202  # no suffix of a Path


def _bring_in(path: Path, settings: Settings) -> bool:
    """Bring the journal that a process which is gone has left into the file, where that needs no room; whether it did."""
    with (
        contextlib.suppress(StorageError, sqlite3.Error),
        contextlib.closing(connect_alone(path, settings)) as connection,
    ):
        connection.execute("PRAGMA schema_version").fetchone()  # who closes it as the last one checkpoints
    return not _has_journal(path)


def connect_alone(path: Path, settings: Settings, lock: FileLock | None = None) -> Connection:
    """A connection that has the file to itself; the journal's index is in memory. The caller is inside ``fork_safety.using``.

    Raises:
        UnsafeRootError: the file, or one beside it, leads elsewhere.
        StorageError: the file cannot be opened. Whether somebody else has it open shows in the first statement.
    """
    with translated(f"opening {path}"):
        path_safety.check_companion_files(path, writing=True)
        connection = _connect(path, "rw", settings, lock)
        try:
            schema_check.distrust(connection)
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        except BaseException:
            connection.close()
            raise
    return connection


def _mode(*, read_only: bool, immutable: bool) -> str:
    return "rw" if not read_only else "ro&immutable=1" if immutable else "ro"


def _configure(connection: Connection, settings: Settings, *, read_only: bool, mapped: bool = False) -> None:
    schema_check.distrust(connection)
    connection.execute("PRAGMA schema_version").fetchone()  # the first look at the file; it may fail
    connection.hold_wal()
    if read_only:
        connection.map_file(_MMAP_BYTES if mapped else 0)
    else:
        connection.execute(f"PRAGMA synchronous = {settings.durability}")
        # What is stored is counted by who commits it (``SessionFile.committed``); this is for all else, such as events.
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_AT_MOST // sql.PAGE_SIZE}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_AT_MOST}")
        connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_BYTES // KIB}")


def _connect(path: Path, mode: str, settings: Settings, lock: FileLock | None) -> Connection:
    return Connection(
        f"file:{urllib.parse.quote(os.fsencode(path))}?mode={mode}",
        path=path,
        lock=lock,
        uri=True,
        timeout=settings.busy_timeout,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )
