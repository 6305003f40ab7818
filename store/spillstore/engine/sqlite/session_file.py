"""What a process holds of one session's file: its connections, and its claim.

There is one write connection, which who writes takes in turn (the caller sees to that), one for checkpoints, and a few for
reading that are lent out. They are closed before a fork and opened again when they are needed. Whoever uses one is inside
``using`` for as long, so that a fork waits; ``using`` comes before every lock that is held while a connection is used.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import forks, owner_locks, reserve, sql
from spillstore.engine.sqlite.connection import FileLock, Waiter
from spillstore.engine.sqlite.database import (
    WAL_BYTES,
    connect,
    connect_alone,
    read_transaction,
    schema_number,
    write_transaction,
)
from spillstore.engine.sqlite.schema_check import check_schema
from spillstore.engine.sqlite.soft_delete import Buried, bury
from spillstore.exceptions import (
    ClosedError,
    DiskFullError,
    SchemaTooNewError,
    SchemaTooOldError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from spillstore.engine.base import Snapshot, Transaction
    from spillstore.engine.sqlite.connection import Connection
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_IDLE_READERS: Final = 4
_READER_PATIENCE: Final = (
    2.0  # seconds that who only reads waits for the write lock, to record what it has read
)
_PAGES_FACTOR: Final = 1.125  # pages that chunks take, to their stored bytes, at most
_PAGES_BESIDES: Final = 32 * 1024  # what else a commit of one artifact takes in pages, at most
_ROWS_BYTES: Final = 80 * 1024  # about what a commit of one artifact takes in the WAL besides its chunks
_UID: Final = sql.SESSION_COLUMNS.index("uid")


class SessionFile:
    """One process's hold on one session file: ``SessionBackend`` of ``engine.base``, which says what the methods do. Safe from any thread."""

    using: contextlib.AbstractContextManager[None] = forks.using

    def __init__(
        self,
        path: Path,
        settings: Settings,
        *,
        read_only: bool,
        immutable: bool = False,
        foreign: bool = False,
        alone: bool = False,
    ) -> None:
        """Open the file, and claim it unless it is to be read alone.

        Args:
            path: the file.
            settings: what is in force.
            read_only: claim and write nothing.
            immutable: besides, nobody else writes to it, so no lock and no file beside it is needed.
            foreign: besides, it is in no store of ours, and who reads it is not recorded there.
            alone: for deleting where nothing can be claimed: nobody else may have the file open, and nothing is read but by
                who deletes.

        Raises:
            SchemaTooNewError, SchemaTooOldError, NotASessionError, IntegrityError: it cannot be read as it is.
            StorageError: it cannot be opened.
        """
        self.path = path
        self.read_only = read_only
        self._folder = path.parent
        self._settings = settings
        self._immutable = immutable
        self._foreign = foreign
        self._alone = alone
        self._closed = False
        self._checkpointing = threading.Lock()
        self._owner: owner_locks.Owner | None = None
        self._readers: list[Connection] = []
        self._writer: Connection | None = None
        self._checkpointer: Connection | None = None  # for the thread that does nothing else
        self._file_lock = FileLock(path)
        self._wal_bytes = 0  # about what was committed since the last checkpoint
        with self.using:
            try:
                self._open()
            except BaseException:
                self.close()
                raise
            forks.holders.add(self)
            _open_files.add(self)

    def _open(self) -> None:
        if self.read_only:
            connection = self._connect(read_only=True)
            self._readers.append(connection)
        else:
            with translated(f"claiming {self._folder}"):
                if self._alone:  # until it is closed: who waits for SQLite's lock does so with this one
                    self._file_lock.acquire(Waiter(self._settings.busy_timeout))
                else:
                    self._owner = owner_locks.Owner(self._folder)
            self._writer = connection = self._connect(read_only=False)
            self._file_lock.anchor(connection)
        self._check_schema(connection)
        self._file = connection.file
        with translated("reading the session"):
            self._uid = _uid_of(connection)

    def _check_schema(self, connection: Connection) -> None:
        number = schema_number(connection)
        if number > sql.SCHEMA_NUMBER:
            raise SchemaTooNewError(
                f"{self.path} has schema {number} and this version knows {sql.SCHEMA_NUMBER}; read it with a newer "
                "Spillstore"
            )
        if number < sql.SCHEMA_NUMBER:
            raise SchemaTooOldError(
                f"{self.path} has schema {number}, older than {sql.SCHEMA_NUMBER}; open it once for writing"
            )
        with translated(f"reading the schema of {self.path}"):
            check_schema(connection)

    def close(self) -> None:
        """Close all connections and give up the claim. Nobody uses them any more, and nobody will."""
        self._closed = True  # what is given back from now on is closed
        try:
            with self._checkpointing:
                self.close_connections()
            if self._owner is not None:
                self._owner.release()
                self._owner = None
        finally:
            _open_files.discard(self)

    def close_connections(self) -> None:
        """Close what is kept open, while nobody uses it. Before a fork, so that a child inherits nothing of SQLite."""
        self._file_lock.weigh_anchor()
        with self._file_lock.briefly():
            for connection in self._taken_connections():
                connection.close()
        self._file_lock.close()

    def _taken_connections(self) -> list[Connection]:
        """All connections that are kept open; they are forgotten here.

        The last one to be closed must be one that can write: it brings the WAL into the file and removes it.
        """
        kept = (*self._readers, self._checkpointer, self._writer)
        self._readers.clear()
        self._writer = self._checkpointer = None
        return [connection for connection in kept if connection is not None]

    def disown(self) -> None:
        """In a forked child: let go of what the parent could not close. The lock is new, its holder may not exist here."""
        self._file_lock.close()  # its locks would outlive the parent here
        self._checkpointing = threading.Lock()

    # --- connections --------------------------------------------------------------------------------------

    def _connect(self, *, read_only: bool) -> Connection:
        if self._closed:
            raise ClosedError("the session was closed; open it again with Store.session")
        if self._alone:
            return connect_alone(self.path, self._settings, self._file_lock)
        return connect(
            self.path,
            self._settings,
            read_only=read_only,
            immutable=self._immutable,
            foreign=self._foreign,
            lock=None if self._foreign or self._immutable else self._file_lock,
        )

    def _connect_again(self, *, read_only: bool) -> Connection:
        """One more connection to this session's file.

        Raises:
            SessionDeletedError: it is gone, or the path leads to another file: a later session, or a copy.
        """
        try:
            connection = self._connect(read_only=read_only)
        except StorageError:
            if self.path.exists():
                raise
        else:
            try:
                with translated("reading the session"):
                    if connection.file == self._file and _uid_of(connection) == self._uid:
                        return connection
            except BaseException:
                connection.close()
                raise
            connection.close()
        raise SessionDeletedError(
            f"the session of {self.path} was deleted, or its file exchanged, by another program"
        )

    def _write_connection(self) -> Connection:
        """The write connection, opened anew after a fork; nobody else writes now."""
        if self._writer is None:
            self._writer = self._connect_again(read_only=False)
            self._file_lock.anchor(self._writer)
        return self._writer

    def _renewed(self) -> Connection:
        """A write connection in place of one whose WAL was removed; the caller has the file's lock.

        Nothing is lost: who removed the WAL had copied it into the file, or else the stale connection does so when it is
        closed; and we have committed into no other since.
        """
        self._file_lock.weigh_anchor()
        with self._checkpointing:
            stale = self._taken_connections()
        for connection in stale:
            connection.close()
        return self._write_connection()

    # --- reading ------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reader(self) -> Iterator[Snapshot]:
        """Rows for reading, each call on its own snapshot."""
        rows = self.borrow()
        try:
            rows = self.current(rows)
            with translated("reading"):
                yield rows
        finally:
            self.give_back(rows)

    @contextlib.contextmanager
    def snapshot(self, doing: str) -> Iterator[Snapshot]:
        """Rows for reading, all calls on one snapshot. Short, because an open one holds back the checkpoint."""
        with self.reader() as rows, self.together(rows, doing):
            yield rows

    def borrow(self) -> Any:
        """``reader`` without what costs a tenth of a small read; to be given back by the same thread.

        Where the WAL was removed it shows what was there before that. Who finds nothing, or damage, asks for ``current``.
        """
        self.using.__enter__()
        try:
            try:
                return self._readers.pop()
            except IndexError:
                return self._connect_again(read_only=True)
        except BaseException:
            self.using.__exit__(None, None, None)
            raise

    def current(self, rows: Any) -> Any:
        """What was borrowed, or a new connection in its place if that shows a state of long ago."""
        if not rows.is_stale():
            return rows
        fresh = self._connect_again(read_only=True)
        rows.close()
        return fresh

    def together(self, rows: Any, doing: str) -> contextlib.AbstractContextManager[None]:
        """One snapshot for several calls on what was borrowed."""
        return read_transaction(rows, doing)

    def give_back(self, rows: Any) -> None:
        """Return what ``borrow`` or ``current`` gave."""
        try:
            if len(self._readers) < _IDLE_READERS:
                self._readers.append(rows)
            else:
                rows.close()
            while self._closed and self._readers:  # nobody else would close it
                self._readers.pop().close()
        finally:
            self.using.__exit__(None, None, None)

    # --- writing ------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def transaction(self, doing: str, *, patient: bool = True) -> Iterator[Transaction]:
        """Rows to be changed, all or none. The caller sees to it that one thread at a time is here, inside ``using``.

        Args:
            doing: what it is for, as an error will say.
            patient: False to try only once where another process writes.

        Raises:
            SessionDeletedError: the session was deleted.
            LockedError: others have written for longer than the setting ``busy_timeout`` allows.
            StaleError: nothing was stored, because the journal was taken away meanwhile; it can be tried again.
            StorageError: it cannot be stored.
        """
        writer = self._write_connection()
        timeout = self._settings.busy_timeout
        with write_transaction(writer, timeout, doing, patient=patient, renew=self._renewed) as rows:
            self._refuse_deleted(rows)
            yield rows

    @contextlib.contextmanager
    def transaction_beside(self, doing: str) -> Iterator[Transaction]:
        """``transaction`` for who has the session open for reading alone: on a connection for this once."""
        patience = min(self._settings.busy_timeout, _READER_PATIENCE)
        with (
            self.using,
            contextlib.closing(self._connect_again(read_only=False)) as connection,
            write_transaction(connection, patience, doing) as rows,
        ):
            self._refuse_deleted(rows)
            yield rows

    @staticmethod
    def _refuse_deleted(rows: Connection) -> None:
        """Without this, a writer whose file was renamed and unlinked would go on committing into nowhere."""
        if rows.deleted_us() is not None:
            raise SessionDeletedError("the session was deleted; nothing more can be stored in it")

    def check_room(self) -> None:
        """That as much of the disk is free as must stay free.

        Raises:
            DiskFullError: it is not.
        """
        with translated("measuring the disk"):
            disk = os.statvfs(self._folder)
        settings = self._settings
        free = disk.f_bavail * disk.f_frsize
        fraction = int(disk.f_blocks * disk.f_frsize * settings.free_disk_floor_fraction)
        floor = max(settings.free_disk_floor, fraction) if settings.free_disk_floor else 0
        if free < floor:
            raise DiskFullError(
                f"{free} bytes are free on the disk and {floor} must stay free; delete sessions with `spillstore clean`, "
                "or lower SPILLSTORE_FREE_DISK_FLOOR"
            )

    def space_for(self, stored: int, artifacts: int) -> int:
        """What so many bytes of chunks, of so many artifacts, add to ``used`` at most."""
        return int(_PAGES_FACTOR * stored) + _PAGES_BESIDES * artifacts

    def archive_events(self, tx: Transaction, session: SessionRow, now_us: int) -> None:
        """Copy the events of a session that is about to be deleted to where they stay."""
        with translated("keeping events"):  # an import opens files
            from spillstore.engine.sqlite import archive  # noqa: PLC0415  # few keep them

        events_after = archive.events_of(tx, session.session_id)
        archive.append(self._folder.parent, session, events_after, self._settings, now_us)

    # --- upkeep -------------------------------------------------------------------------------------------

    def committed(self, stored: int, batches: int) -> bool:
        """Count what a transaction has stored; returns whether ``maintain`` is due. The caller writes, as for ``transaction``."""
        self._wal_bytes += stored + batches * _ROWS_BYTES
        due = self._wal_bytes >= WAL_BYTES
        if due:
            self._wal_bytes = 0
        return due

    def maintain(self, wanted: Callable[[], bool]) -> None:
        """Copy the WAL into the database on a connection of its own: no caller waits for it, nor it for them.

        What fails here is tried again, and raised, by the commit that finds the WAL at its limit.

        Args:
            wanted: asked once nobody else does this: whether it is to be done still.
        """
        with (
            self.using,
            self._checkpointing,
            contextlib.suppress(SpillstoreError),
            translated("checkpointing"),
        ):
            if not wanted():
                return
            with self._file_lock.briefly():
                if self._checkpointer is None:
                    self._checkpointer = self._connect(read_only=False)
                self._checkpointer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def release_space(self) -> None:
        """Give what was freed back to the disk, as far as that needs no copying; the caller writes, as for ``transaction``."""
        with translated("freeing space"):
            # A script, because execute() takes one step of this statement, and each step frees one page.
            self._write_connection().executescript("PRAGMA incremental_vacuum")

    def give_reserve(self) -> bool:
        """Give the reserve's room to the disk, for who needs it at once; False if there was none."""
        return reserve.give_back(self._root)

    def keep_reserve(self) -> None:
        """Make the reserve anew, where there is room."""
        reserve.provide_in(self._root)

    @property
    def _root(self) -> Path:
        """The store's; only what is read may lie in none."""
        return self._folder.parent.parent

    def settle(self) -> None:
        """Copy the WAL into the database now; the caller writes, as for ``transaction``."""
        # Not beside the other checkpoint: SQLite lets one of the two go without having done anything.
        with self._checkpointing, translated("freeing space"):
            self._write_connection().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def structure_problems(self, rows: Any) -> list[str]:
        """What SQLite finds wrong with its file. Cost: reading all of it."""
        lines = [line for (line,) in rows.execute("PRAGMA integrity_check") if line != "ok"]
        return [f"SQLite says: {line}" for line in lines]

    # --- who is alive -------------------------------------------------------------------------------------

    @property
    def owner(self) -> str:
        """The name of this process's claim; "" for who only reads."""
        return self._owner.name if self._owner else ""

    def alive(self, owner: str) -> bool:
        """Whether the process with that claim still lives."""
        return owner_locks.is_owner_name(owner) and owner_locks.alive(self._folder, owner)

    def others(self) -> list[str]:
        """The other living owners, as a person would like to read them."""
        return [
            owner_locks.describe(self._folder, name)
            for name in owner_locks.live_owners(self._folder, but=self.owner)
        ]

    def remove_dead(self) -> None:
        """Forget the claims of processes that are gone."""
        owner_locks.remove_dead(self._folder)

    def still_there(self) -> bool:
        """Whether the session's path still leads to the file that this holds."""
        try:
            status = self.path.stat()
        except OSError:  # it is gone, or cannot be reached any more: who opens it anew is told why
            return False
        return (status.st_dev, status.st_ino) == self._file

    def remove(self, uid: str) -> Buried:
        """Take the session out of sight, by one rename."""
        gone = bury(self._folder, uid)
        if self._owner is not None:
            self._owner.moved(gone)
        return Buried(gone)


def _uid_of(connection: Connection) -> object:
    """What a later session of the same name does not have."""
    row = connection.session_row()
    return None if row is None else row[_UID]


_open_files: set[SessionFile] = set()  # of this process
_inherited: list[
    SessionFile
] = []  # of a parent; never let go of, because a child must not close what they hold


def is_open(path: Path) -> bool:
    """Whether this process has a session's file open."""
    return any(each.path == path for each in list(_open_files))


def _forget_after_fork() -> None:
    _inherited.extend(_open_files)
    _open_files.clear()


os.register_at_fork(after_in_child=_forget_after_fork)
