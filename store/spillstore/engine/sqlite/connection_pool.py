"""The connections of one process to one session's file.

There is one to write with, which writers take in turn (the caller sees to that), one for checkpoints, and a few for
reading that are lent out. They are closed before a fork and opened again when they are needed. Whoever uses one is inside
``fork_safety.using`` for as long, so that a fork waits; ``using`` comes before every lock that is held while a connection is used.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.errors import raise_translated, translated
from spillstore.engine.sqlite import fork_safety, sql
from spillstore.engine.sqlite.connection import FileLock
from spillstore.engine.sqlite.database import connect, connect_alone
from spillstore.engine.sqlite.path_safety import is_gone
from spillstore.exceptions import ClosedError, SessionDeletedError, StorageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from spillstore.engine.sqlite.connection import Connection
    from spillstore.settings import Settings

_IDLE_READERS: Final = 4
_TOUCHED: Final = (
    256  # chunks and other reads after which a connection lets go of the pages that it has mapped
)
_UID: Final = sql.SESSION_COLUMNS.index("uid")


class ConnectionPool:
    """Opens, lends and closes connections to one session's file. Safe from any thread; one at a time writes."""

    def __init__(
        self, path: Path, settings: Settings, *, immutable: bool, foreign: bool, alone: bool
    ) -> None:
        """Open nothing yet.

        Args:
            path: the file.
            settings: what is in force.
            immutable: nobody writes to the file.
            foreign: it is in no store of ours.
            alone: nobody else may have it open.
        """
        self.lock = FileLock(path)
        self.checkpointing = threading.Lock()  # held while a checkpoint runs
        self._closed = False
        self._path = path
        self._settings = settings
        self._immutable = immutable
        self._foreign = foreign
        self._alone = alone
        self._readers: list[Connection] = []
        self._writer: Connection | None = None
        self._checkpointer: Connection | None = None  # for the thread that does nothing else

    def open(self, *, read_only: bool) -> Connection:
        """Open the first connection; ``identify`` follows once it has been looked at."""
        connection = self._connect(read_only=read_only)
        if read_only:
            self._readers.append(connection)
        else:
            self._writer = connection
            self.lock.anchor(connection)
        return connection

    def identify(self, connection: Connection) -> None:
        """Remember which file it is, and which session."""
        self.file = connection.file
        with translated("reading the session"):
            self._uid = _uid_of(connection)

    def close(self) -> None:
        """Close all connections; what is given back from now on is closed."""
        self._closed = True
        with self.checkpointing:
            self.close_connections()

    def close_connections(self) -> None:
        """Close what is kept open, while nobody uses it. Before a fork, so that a child inherits nothing of SQLite."""
        self.lock.weigh_anchor()
        with self.lock.briefly():
            for connection in self._taken_connections():
                connection.close()
        self.lock.close()

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
        self.lock.close()  # its locks would outlive the parent here
        self.checkpointing = threading.Lock()

    def _connect(self, *, read_only: bool) -> Connection:
        if self._closed:
            raise ClosedError("the session was closed; open it again with Store.session")
        if self._alone:
            return connect_alone(self._path, self._settings, self.lock)
        return connect(
            self._path,
            self._settings,
            read_only=read_only,
            immutable=self._immutable,
            foreign=self._foreign,
            lock=None if self._foreign or self._immutable else self.lock,
        )

    def connect_again(self, *, read_only: bool) -> Connection:
        """One more connection to this session's file.

        Raises:
            SessionDeletedError: it is gone, or the path leads to another file: a later session, or a copy.
        """
        try:
            connection = self._connect(read_only=read_only)
        except StorageError:
            if not is_gone(self._path):
                raise
        else:
            try:
                with translated("reading the session"):
                    if connection.file == self.file and _uid_of(connection) == self._uid:
                        if read_only:
                            connection.present_earlier()
                        return connection
            except BaseException:
                connection.close()
                raise
            connection.close()
        raise SessionDeletedError(
            f"the session of {self._path} was deleted, or its file exchanged, by another program"
        )

    def writer(self) -> Connection:
        """The write connection, opened anew after a fork; nobody else writes now."""
        if self._writer is None:
            self._writer = self.connect_again(read_only=False)
            self.lock.anchor(self._writer)
        return self._writer

    def renewed(self) -> Connection:
        """A write connection in place of one whose WAL was removed; the caller has the file's lock.

        Nothing is lost: who removed the WAL had copied it into the file, or else the stale connection does so when it is
        closed; and we have committed into no other since.
        """
        self.lock.weigh_anchor()
        with self.checkpointing:
            stale = self._taken_connections()
        for connection in stale:
            connection.close()
        return self.writer()

    def checkpointer(self) -> Connection:
        """The connection for checkpoints; the caller holds ``checkpointing``."""
        if self._checkpointer is None:
            self._checkpointer = self.connect_again(read_only=False)
        return self._checkpointer

    # --- reading ------------------------------------------------------------------------------------------

    def borrow(self) -> Any:
        """A connection for reading; the same thread calls ``give_back``.

        Where the WAL was removed it shows what was there before that. Who finds nothing, or damage, asks for ``current``.
        """
        fork_safety.using.__enter__()
        try:
            try:
                return self._readers.pop()
            except IndexError:
                return self.connect_again(read_only=True)
        except BaseException:
            fork_safety.using.__exit__(None, None, None)
            raise

    def current(self, rows: Any) -> Any:
        """The borrowed connection, or a new one in its place if that shows an old state."""
        if not rows.is_stale():
            return rows
        fresh = self.connect_again(read_only=True)
        rows.close()
        return fresh

    def give_back(self, rows: Any) -> None:
        """Return what ``borrow`` or ``current`` gave. Now and then its pages are let go, so that memory does not grow with what is read."""
        try:
            rows.touched += 1
            if rows.touched >= _TOUCHED:
                rows.release_pages()
            if len(self._readers) < _IDLE_READERS:
                self._readers.append(rows)
            else:
                rows.close()
            while self._closed and self._readers:  # nobody else would close it
                self._readers.pop().close()
        finally:
            fork_safety.using.__exit__(None, None, None)


class LentConnection:
    """A connection that is lent for the length of a block."""

    __slots__ = ("_pool", "_rows")

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    def __enter__(self) -> Connection:
        pool = self._pool
        rows = pool.borrow()
        try:
            current: Connection = pool.current(rows)
        except BaseException:
            pool.give_back(rows)
            raise
        self._rows = current
        return current

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.give_back(self._rows)
        if error is not None:
            raise_translated(error, "reading")


def _uid_of(connection: Connection) -> object:
    """The identity of a session's file; a later session of the same name has another."""
    row = connection.session_row()
    return None if row is None else row[_UID]
