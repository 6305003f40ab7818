"""A process's connections to one session's file, and its owner lock."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import fork_safety, owner_locks, reserve, sql
from spillstore.engine.sqlite.connection_pool import ConnectionPool, LentConnection
from spillstore.engine.sqlite.database import WAL_AT_MOST, WAL_BYTES
from spillstore.engine.sqlite.free_space import check_free_space
from spillstore.engine.sqlite.schema_check import checked_schema
from spillstore.engine.sqlite.soft_delete import Buried, bury
from spillstore.engine.sqlite.transactions import ReadTransaction, WriteTransaction
from spillstore.exceptions import SchemaTooOldError, SessionDeletedError, SpillstoreError, StorageError
from spillstore.model.records import ArtifactRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from spillstore.engine.rows import Snapshot, Transaction
    from spillstore.engine.sqlite.connection import Connection
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_READER_PATIENCE: Final = (
    2.0  # seconds that who only reads waits for the write lock, to record what it has read
)
_PAGES_FACTOR: Final = 1.125  # pages that chunks take, to their stored bytes, at most
_PAGES_BESIDES: Final = 32 * 1024  # what else a commit of one artifact takes in pages, at most
_ROWS_BYTES: Final = 80 * 1024  # about what a commit of one artifact takes in the WAL besides its chunks


class SessionFile:
    """One process's hold on one session file: ``SessionBackend`` of ``engine.base``, which says what the methods do. Safe from any thread."""

    longest_pause = 0.0
    using: contextlib.AbstractContextManager[None] = fork_safety.using

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
            foreign: besides, it is in no store of ours, and reads of it are not recorded there.
            alone: for deleting where nothing can be claimed, while nobody else has the file open.

        Raises:
            SchemaTooNewError, SchemaTooOldError, NotASessionError, IntegrityError: it cannot be used as it is.
            StorageError: it cannot be opened.
        """
        self.path = path
        self.read_only = read_only
        self._alone = alone
        self._folder = path.parent
        self._settings = settings
        self._owner: owner_locks.Owner | None = None
        self._pool = ConnectionPool(path, settings, immutable=immutable, foreign=foreign, alone=alone)
        # The pool's own, since a small read cannot afford another call.
        self.borrow = self._pool.borrow
        self.current = self._pool.current
        self.give_back = self._pool.give_back
        self._wal_bytes = 0  # about what was committed since the last checkpoint was due
        self._not_copied = 0  # and since one is known to have copied all
        with self.using:
            try:
                if not read_only:
                    self._claim(alone=alone)
                connection = self._pool.open(read_only=read_only)
                _check_schema(connection, path, read_only=read_only)
                self._pool.identify(connection)
                self._check_claim()
            except BaseException:
                self.close()
                raise
            fork_safety.holders.add(self._pool)
            _open_files.add(self)

    def _claim(self, *, alone: bool) -> None:
        with translated(f"claiming {self._folder}"):
            if alone:  # until it is closed: who waits for SQLite's lock does so with this one
                self._pool.lock.acquire(self._settings.busy_timeout)
            else:
                self._owner = owner_locks.Owner(self._folder)

    def _check_claim(self) -> None:
        """Check that the claim lies beside the file: the folder may have been exchanged between the two."""
        with translated(f"claiming {self._folder}"):
            if self._owner is not None and not self._owner.in_place():
                raise SessionDeletedError(f"the session of {self._folder} was replaced while it was opened")

    def close(self) -> None:
        """Close all connections and give up the claim. Nobody uses them any more, and nobody will."""
        try:
            self._pool.close()
            if self._owner is not None:
                self._owner.release()
                self._owner = None
        finally:
            _open_files.discard(self)

    def disown(self) -> None:
        """In a forked child: let go of what the parent could not close."""
        self._pool.disown()

    # --- reading ------------------------------------------------------------------------------------------

    def reader(self) -> LentConnection:
        """Rows for reading, each call on its own snapshot."""
        return LentConnection(self._pool)

    @contextlib.contextmanager
    def snapshot(self, doing: str) -> Iterator[Snapshot]:
        """Rows for reading, all calls on one snapshot. Short, because an open one holds back the checkpoint."""
        with self.reader() as rows, self.together(rows, doing):
            yield rows

    def together(self, rows: Any, doing: str) -> ReadTransaction:
        """One snapshot for several calls on what was borrowed."""
        return ReadTransaction(rows, doing)

    # --- writing ------------------------------------------------------------------------------------------

    def transaction(self, doing: str, *, patient: bool = True) -> WriteTransaction:
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
        connection = self._pool.writer()
        timeout = self._settings.busy_timeout
        return WriteTransaction(connection, timeout, doing, patient=patient, renew=self._pool.renewed)

    @contextlib.contextmanager
    def separate_transaction(self, doing: str) -> Iterator[Transaction]:
        """``transaction`` for a session that is open for reading alone, on a connection that is closed after it."""
        patience = min(self._settings.busy_timeout, _READER_PATIENCE)
        with (
            self.using,
            contextlib.closing(self._pool.connect_again(read_only=False)) as connection,
            WriteTransaction(connection, patience, doing) as rows,
        ):
            yield rows

    def check_room(self) -> None:
        """Check that the disk has its floor of free space.

        Raises:
            DiskFullError: it is not.
            SessionDeletedError: the session is gone.
        """
        try:
            check_free_space(self._folder, self._settings)
        except StorageError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            raise SessionDeletedError("the session was deleted; nothing more can be stored in it") from None

    def space_for(self, stored: int, artifacts: int) -> int:
        """An upper bound of what ``stored`` bytes of chunks, of ``artifacts`` artifacts, add to ``used``."""
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
        new = stored + batches * _ROWS_BYTES
        self._wal_bytes += new
        self._not_copied += new
        if self._not_copied >= WAL_AT_MOST:
            # On a slow disk a checkpoint beside the writers never comes to the WAL's end, which only then begins anew.
            with contextlib.suppress(SpillstoreError):
                self.settle()
        due = self._wal_bytes >= WAL_BYTES
        if due:
            self._wal_bytes = 0
        return due

    def maintain(self, wanted: Callable[[], bool]) -> None:
        """Copy the WAL into the database on a connection of its own: no caller waits for it, nor it for them.

        What fails here is tried again by the commit that finds the WAL at its limit.

        Args:
            wanted: asked once nobody else does this: whether it is to be done still.
        """
        with (
            self.using,
            self._pool.checkpointing,
            contextlib.suppress(SpillstoreError),
            translated("checkpointing"),
        ):
            if not wanted():
                return
            with self._pool.lock.briefly():
                self._pool.checkpointer().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def release_space(self) -> None:
        """Give what was freed back to the disk, as far as that needs no copying; the caller writes, as for ``transaction``."""
        with translated("freeing space"):
            # A script, because execute() takes one step of this statement, and each step frees one page.
            self._pool.writer().executescript("PRAGMA incremental_vacuum")

    def give_reserve(self) -> bool:
        """Give the reserve's room to the disk, for use at once; False if there was none."""
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
        with self._pool.checkpointing, translated("freeing space"):
            _, frames, copied = self._pool.writer().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        # Who reads may keep it from the WAL's end: then it is tried again when the next one is due.
        self._not_copied = 0 if copied == frames else WAL_AT_MOST - WAL_BYTES

    def structure_problems(self, rows: Any) -> list[str]:
        """The findings of SQLite's integrity check. Cost: reading the whole file."""
        lines = rows.execute("PRAGMA integrity_check").fetchall()
        return [f"SQLite says: {line}" for (line,) in lines if line != "ok"]

    # --- who is alive -------------------------------------------------------------------------------------

    @property
    def owner(self) -> str:
        """The name of this process's claim; "" if it is open for reading alone."""
        return self._owner.name if self._owner else ""

    def alive(self, owner: str, rows: Snapshot | None = None) -> bool:  # noqa: ARG002  # for servers
        """Whether the process with that claim still lives."""
        with translated("looking for other processes"):
            return owner_locks.is_owner_name(owner) and owner_locks.alive(self._folder, owner)

    def is_left_open(self, artifact_id: str) -> bool:
        """Whether an artifact is open now: claims lie beside the file, so no snapshot has both."""
        if self._alone:  # what is open has the file to itself, and sees all of it
            return True
        with self.reader() as rows:
            row = rows.artifact_row(artifact_id)
        return row is not None and ArtifactRow(*row).state == "open"

    def others(self, rows: Snapshot | None = None) -> list[str]:  # noqa: ARG002  # for servers
        """The other living owners, as a person would like to read them."""
        with translated("looking for other processes"):
            names = owner_locks.live_owners(self._folder, but=self.owner)
        return [owner_locks.describe(self._folder, name) for name in names]

    def remove_dead(self) -> None:
        """Forget the claims of processes that are gone."""
        with translated("looking for other processes"):
            owner_locks.remove_dead(self._folder)

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self.path)

    def still_there(self) -> bool:
        """Whether the session's path still leads to the file that this holds."""
        try:
            status = self.path.stat()
        except OSError:  # it is gone, or cannot be reached any more: opening it anew says why
            return False
        return (status.st_dev, status.st_ino) == self._pool.file

    def remove(self, uid: str) -> Buried:
        """Take the session out of sight, by one rename."""
        return self.moved(bury(self._folder, uid))

    def moved(self, gone: Path) -> Buried:
        """Its folder lies out of sight now."""
        if self._owner is not None:
            self._owner.moved(gone)
        return Buried(gone, durable=self._settings.durability == "full")


def _check_schema(connection: Connection, path: Path, *, read_only: bool) -> None:
    number = checked_schema(connection, path)
    if number == sql.SCHEMA_NUMBER:
        return
    if not read_only:
        raise SchemaTooOldError(
            f"{path} has schema {number}, older than {sql.SCHEMA_NUMBER}, and must be upgraded to be written"
        )
    with translated(f"reading the schema of {path}"):
        connection.present_earlier(number)


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
