"""A session of a server that is filled before it is there: ``SessionImport`` of ``engine.base``.

Its rows are written under a key of their own, to which no name leads, in one transaction; the name comes last. So nobody
waits for it, two fill sessions of one name beside each other, and of a process that dies the server keeps nothing. Where it
replaces a session, that one loses the name in the same transaction.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Final

import psycopg

from spillstore.engine.errors import raise_translated
from spillstore.engine.postgres import citus, control
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.postgres.asking import Asking
from spillstore.engine.postgres.connections import lost
from spillstore.engine.postgres.errors import AlreadyThereError, is_unclear
from spillstore.engine.postgres.locking import copy_chunks, limits
from spillstore.engine.postgres.session import ServerSession, new_key
from spillstore.engine.rows import EVENT_FIELDS
from spillstore.exceptions import (
    ForkError,
    SessionExistsError,
    SpillstoreError,
    UnsupportedError,
)
from spillstore.format.chunk_codec import ChunkRow
from spillstore.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spillstore.engine.base import SessionBackend
    from spillstore.engine.postgres.connections import Connection, Connections, Statement
    from spillstore.engine.postgres.deletion import DoomedRows
    from spillstore.engine.rows import Row, Transaction
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_DOING: Final = "storing a copy"
_GATHERED: Final = 2 * MIB  # stored bytes of chunks that are sent at once, also those of many small artifacts
_MOST: Final = 1000  # chunks, likewise
_SAVEPOINT: Final = "SAVEPOINT filled"
_BACK: Final = "ROLLBACK TO SAVEPOINT filled"
_CHUNK: Final = ("session_key", "artifact_key", *_sql.CHUNK_COLUMNS)
_EVENT: Final = (*EVENT_FIELDS, "shown")


@contextlib.contextmanager
def importing(
    connections: Connections, settings: Settings, shown: str, name: str, row: SessionRow
) -> Iterator[ServerImport]:
    """Fill a session; see ``ServerBackend.importing``.

    Args:
        connections: to the server.
        settings: what is in force.
        shown: the store, for messages.
        name: the session's, as it will be found by.
        row: its own row.
    """
    new = ServerImport(connections, settings, shown, name, row)
    try:
        new.begin()
        yield new
    finally:
        new.close()


class ServerImport:
    """Rows in a transaction that ends with the session's name."""

    def __init__(
        self, connections: Connections, settings: Settings, shown: str, name: str, row: SessionRow
    ) -> None:
        """Take a connection; ``close`` gives it back."""
        self._connections = connections
        self._settings = settings
        self._shown = shown
        self._name = name
        self._row = row
        self._key = new_key()
        self._pid = os.getpid()
        self._chunks: list[Sequence[Any]] = []
        self._chunk_bytes = 0  # of those
        self._used = 0  # what the session takes besides its own row
        self._connection: Connection | None = connections.take()

    def begin(self) -> None:
        """Begin the transaction, which may wait for whoever is read for as long as that takes.

        The place comes first: where a role is confined to a project, it says whose the other rows are.
        """
        settings = limits(self._settings.busy_timeout, self._settings.durability, idle="0")
        values = self._values()
        first: list[Statement] = [(control.BEGIN, {}), (control.SET_LOCAL, settings)]
        if self._connections.found.citus:
            first += [(each, {}) for each in citus.limits(settings["lock_timeout"], settings["durable"])]
        self._run(*first, (control.PLACE_INSERT, values), (_sql.SESSION_INSERT, values))

    def _values(self) -> dict[str, Any]:
        return {**self._row._asdict(), "session_key": self._key, "name": self._name}

    def add_artifacts(self, rows: Sequence[Row]) -> None:
        """Write rows of artifacts, in one trip."""
        for row in rows:
            _refuse_nul(row, f"artifact {row[1]}")
        self._used += control.ARTIFACT_BYTES * len(rows)
        each = (dict(zip(_sql.ARTIFACT_COLUMNS, row, strict=True)) for row in rows)
        self._run(*((_sql.ARTIFACT_INSERT, {**values, "session_key": self._key}) for values in each))

    def add_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Gather rows of chunks, and send them when there are many."""
        sizes = [ChunkRow(*row).stored_size for row in rows]
        self._chunks += [(self._key, artifact_key, *row) for row in rows]
        self._chunk_bytes += sum(sizes)
        self._used += sum(map(control.chunk_bytes, sizes))
        if self._chunk_bytes >= _GATHERED or len(self._chunks) >= _MOST:
            self._send_chunks()

    def _send_chunks(self) -> None:
        chunks, self._chunks, self._chunk_bytes = self._chunks, [], 0
        if not chunks:
            return
        if self._connections.found.copies:
            with self._translated() as connection:
                copy_chunks(self._connections, connection, chunks, _DOING)
        else:
            each = (dict(zip(_CHUNK, row, strict=True)) for row in chunks)
            self._run(*((_sql.CHUNK_INSERT, values) for values in each))

    def add_events(self, rows: Sequence[Row]) -> None:
        """Write rows of events, in one trip."""
        for row in rows:
            _refuse_nul(row, f"event {row[0]} of the audit log")
        self._used += control.EVENT_BYTES * len(rows)
        each = (dict(zip(_EVENT, row, strict=True)) for row in rows)
        self._run(*((_sql.EVENTS_INSERT, {**values, "session_key": self._key}) for values in each))

    def commit(self) -> None:
        """Give the session its name, which fails if another one has it."""
        self._send_chunks()
        try:
            self._run((_SAVEPOINT, {}), (control.NAME_INSERT, self._values()))
        except AlreadyThereError:
            self._run((_BACK, {}))
            raise SessionExistsError(
                f"session {self._row.session_id!r} is there already: {self._shown}"
            ) from None
        self._finish()

    def replace(self, old: SessionBackend, prepare: Callable[[Transaction], None]) -> DoomedRows:
        """Give the session the name that another one has had until then."""
        assert isinstance(old, ServerSession), "it is one of this engine"
        self._send_chunks()
        self._run((_SAVEPOINT, {}))
        try:
            dooming = old.replaced(self._open, _DOING, prepare)
            self._run(*dooming, (control.NAME_INSERT, self._values()))
            self._finish()
        except BaseException:
            with contextlib.suppress(SpillstoreError):  # a connection that is lost has no locks
                self._run((_BACK, {}))  # who closes the old session waits for those on it
            raise
        return old.gone()

    def _finish(self) -> None:
        """Commit: the session has its name."""
        place = {"session_key": self._key, "token": os.urandom(16), "added": self._used}
        self._run((control.PLACE_UPDATE, place))
        connection = self._open
        try:
            connection.run([(control.COMMIT, {})])
        except psycopg.Error as error:
            if not (is_unclear(error) or lost(error, connection)) or not self._is_there():
                raise_translated(error, _DOING)
                raise

    def _is_there(self) -> bool:
        """Whether a COMMIT whose answer was lost was done."""
        try:
            with Asking(self._connections, _DOING) as server:
                found = server.ask(control.NAME_GET, name=self._name)
        except SpillstoreError:
            return False
        return bool(found) and found[0][0] == self._key

    def close(self) -> None:
        """Give the connection back; what was not committed is undone."""
        connection, self._connection = self._connection, None
        if connection is not None and self._pid == os.getpid():
            self._connections.give_back(connection)

    @property
    def _open(self) -> Connection:
        if self._pid != os.getpid():
            raise ForkError(
                "this copy was begun by a parent process, which goes on with it; begin another one"
            )
        assert self._connection is not None, "inside the block there is one"
        return self._connection

    def _run(self, *statements: Statement) -> None:
        with self._translated() as connection:
            connection.run(statements)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[Connection]:
        try:
            yield self._open
        except psycopg.Error as error:
            raise_translated(error, _DOING)
            raise


def _refuse_nul(row: Row, what: str) -> None:
    """Refuse a text that holds a NUL, which no text of the server can: without it, the row would not match its digest.

    Raises:
        UnsupportedError: there is one.
    """
    if any(isinstance(value, str) and "\0" in value for value in row):
        raise UnsupportedError(
            f"{what} has a text with a NUL character, which a server cannot store, so the session cannot be copied there; "
            "delete the artifact, or export what is needed"
        )
