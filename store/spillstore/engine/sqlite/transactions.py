"""Transactions on a session's file, as context managers.

Every write goes through ``WriteTransaction``: ``BEGIN IMMEDIATE`` at once, because a transaction that reads first and writes
later fails when another writer came in between. Writers of the store wait for each other at a lock beside SQLite's, with an
own jittered retry, which cut the worst wait of eight processes from 81 to 28 ms against SQLite's ``busy_timeout``; see
``connection``. Both are classes, since two generators a transaction take a twentieth of storing a small text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.errors import raise_translated
from spillstore.exceptions import SessionDeletedError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from types import TracebackType

    from spillstore.engine.sqlite.connection import Connection, FileLock


class WriteTransaction:
    """A ``BEGIN IMMEDIATE`` transaction that commits at the end of the block and rolls back on any exception.

    Raises, when the block is entered or left:
        SessionDeletedError: the session was deleted, or nobody would find what was committed.
        StaleError: nobody would find what was committed, because the WAL was removed.
        LockedError: others have written for longer than ``busy_timeout``.
        StorageError: it cannot be stored.
    """

    __slots__ = ("_busy_timeout", "_connection", "_doing", "_lock", "_patient", "_renew")

    def __init__(
        self,
        connection: Connection,
        busy_timeout: float,
        doing: str,
        *,
        patient: bool = True,
        renew: Callable[[], Connection] | None = None,
    ) -> None:
        """Prepare the transaction; nothing is locked yet.

        Args:
            connection: to the file; it names the lock of the process.
            busy_timeout: the connection's, in seconds.
            doing: what the transaction is for, as an error will say.
            patient: False to try only once where others hold the lock.
            renew: opens another connection with the same lock in place of one whose WAL was removed; None to raise
                ``StaleError`` then.
        """
        lock = connection.lock
        assert lock is not None, "who writes names the lock"
        self._connection = connection
        self._lock: FileLock = lock
        self._busy_timeout = busy_timeout
        self._doing = doing
        self._patient = patient
        self._renew = renew

    def __enter__(self) -> Connection:
        try:
            self._lock.acquire(self._busy_timeout if self._patient else 0)
            try:
                return self._begun()
            except BaseException:
                self._lock.release()
                raise
        except Exception as error:
            raise_translated(error, self._doing)
            raise

    def _begun(self) -> Connection:
        connection = self._connection
        if self._renew is not None and connection.is_stale():
            connection = self._connection = self._renew()
        if self._patient:
            connection.execute("BEGIN IMMEDIATE")
        else:
            self._begin_at_once(connection)
        try:
            self.check(connection)
        except BaseException:
            _roll_back(connection)
            raise
        return connection

    @staticmethod
    def check(connection: Connection) -> None:
        """Without this, a writer whose file was renamed and unlinked would go on committing into nowhere."""
        if connection.deleted_us() is not None:
            raise SessionDeletedError("the session was deleted; nothing more can be stored in it")

    def _begin_at_once(self, connection: Connection) -> None:
        """Take SQLite's lock or fail. Where ours works, only programs that know nothing of it can have it."""
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute("BEGIN IMMEDIATE")
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout * 1000)}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._connection
        try:
            try:
                if error is not None:
                    _roll_back(connection)
                    raise_translated(error, self._doing)
                    return
                try:
                    connection.execute("COMMIT")
                except BaseException:
                    _roll_back(connection)
                    raise
                connection.check_in_place()
            finally:
                self._lock.release()
        except Exception as failure:
            raise_translated(failure, self._doing)
            raise


def _roll_back(connection: Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


class ReadTransaction:
    """One snapshot for several statements; short, because an open one holds back the checkpoint."""

    __slots__ = ("_connection", "_doing")

    def __init__(self, connection: sqlite3.Connection, doing: str) -> None:
        self._connection = connection
        self._doing = doing

    def __enter__(self) -> None:
        try:
            self._connection.execute("BEGIN")
        except Exception as error:
            raise_translated(error, self._doing)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        except Exception as failure:
            raise_translated(failure, self._doing)
            raise
        if error is not None:
            raise_translated(error, self._doing)
