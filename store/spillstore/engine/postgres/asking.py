"""Statements for themselves, and snapshots: on a connection that is taken when something is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from spillstore.engine.errors import raise_translated
from spillstore.engine.postgres import control
from spillstore.engine.postgres.connections import lost
from spillstore.engine.postgres.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self, TypeVar

    from spillstore.engine.postgres.connections import Connection, Connections, Statement
    from spillstore.engine.rows import Row

    T = TypeVar("T")


class Asking:
    """Asks a server, as a context manager that gives its connection back.

    What is asked may be asked twice, where the connection was lost: so it is what does no harm then.

    Raises, from every method:
        StorageError: the server cannot be reached, or does not do it.
    """

    def __init__(self, connections: Connections, doing: str, *, patience: float | None = None) -> None:
        """Prepare; no connection is taken.

        Args:
            connections: to the server.
            doing: what it is for, as an error will say.
            patience: seconds to wait for a server that is away; None for what the connections have.
        """
        self._connections = connections
        self._patience = patience
        self._connection: Connection | None = None
        self.doing = doing
        # Of a snapshot, in which all answers are of one state: what is asked along with its first question.
        self._first: Statement | None = None
        self._begun = False
        self._state: list[Row] | None = None  # what was asked along has found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end_snapshot()
        self.give_back()

    def ask(self, sql: str, **values: Any) -> list[Row]:
        """The rows that a statement gives, in one round trip; none for one that gives no rows."""
        return self.fetch(sql, values)[0]

    def fetch(self, sql: str, values: dict[str, Any]) -> tuple[list[Row], list[Row] | None]:
        """The rows of a statement, and those of what was asked along with it if it began a snapshot."""
        if self._first is None:
            return self._twice(lambda connection: connection.fetch(sql, values)), None
        if not self._begun:
            rows, self._state = self._begin(self._first, sql, values)
            return rows, self._state
        assert self._connection is not None, "a snapshot that was begun has one"
        try:
            return self._connection.fetch(sql, values), None
        except psycopg.Error as error:
            if not self._state or not lost(error, self._connection):
                raise_translated(error, self.doing)
                raise
            self._connection.close()
        self._begun = False
        rows, state = self._begin(self._first, sql, values)
        if state != self._state:
            raise ServerError(
                f"{self.doing} failed: the connection was lost, and the session was written to since: try again"
            )
        return rows, None

    def _begin(self, first: Statement, sql: str, values: dict[str, Any]) -> tuple[list[Row], list[Row]]:
        """Begin a snapshot with its first question, or go on with one whose connection was lost."""
        statements: list[Statement] = [(control.BEGIN_READING, {}), (sql, values), first]
        _, found, state = self._twice(lambda connection: connection.run(statements))
        self._begun = True
        return found.fetchall(), state.fetchall()

    def run(self, *statements: Statement) -> list[psycopg.Cursor[Any]]:
        """Run statements in one round trip; a cursor for each."""
        return self._twice(lambda connection: connection.run(statements))

    def _twice(self, do: Callable[[Connection], T]) -> T:
        connection = self._connection
        if connection is None:
            connection = self._connection = self._connections.take(self._patience)
        try:
            try:
                return do(connection)
            except psycopg.Error as error:
                if self._begun or not lost(error, connection):
                    raise
            connection = self._connection = self._connections.replaced(connection, self._patience)
            return do(connection)
        except psycopg.Error as error:
            raise_translated(error, self.doing)
            raise

    def begin_snapshot(self, first: Statement) -> None:
        """From now on all answers are of one state, as it is when the first is given; ``first`` is asked along with that.

        Where the connection is lost, the snapshot goes on with another one if ``first`` finds the same there.
        """
        self._begun, self._first = False, first

    def end_snapshot(self) -> None:
        """From now on each answer is of its own state."""
        connection = self._connection
        if self._begun and connection is not None:
            try:
                connection.end_reading()
            except psycopg.Error:
                connection.close()
        self._begun, self._first = False, None

    def give_back(self) -> None:
        """Give the connection back; there may be none."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._connections.give_back(connection)
