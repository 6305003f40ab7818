"""The rows of a session that another one is about to replace, in the transaction that fills the other: both end with one COMMIT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.postgres.errors import ServerError
from spillstore.engine.postgres.locking import Claim, Found, SessionLock
from spillstore.engine.postgres.transactions import ServerTransaction

if TYPE_CHECKING:
    from spillstore.engine.postgres.connections import Connection, Connections, Statement
    from spillstore.settings import Settings


class _JoinedLock(SessionLock):
    """A session's lock in a transaction that somebody else has begun, and ends."""

    def join(self, connection: Connection) -> None:
        """Use that connection, whose transaction goes on."""
        self._connection = connection

    def begin(self) -> None:
        """Lock the session."""
        self._check(self._lock(resolving=False))

    def _opening(self) -> list[Statement]:
        """It is begun."""
        return []

    def commit(self, added: int) -> None:  # noqa: ARG002  # the rows are to go
        """Send what was written."""
        if self.has_written:
            self.send()

    def release(self) -> None:
        """Leave the connection to whose it is."""
        self._connection = None

    def _replace(self, deadline: float) -> None:  # noqa: ARG002  # nothing is waited for
        """With the connection all is lost that the other session was filled with."""
        raise ServerError(f"{self._doing} failed: the connection to the server was lost; nothing was stored")

    def _locked(self, deadline: float, *, resolving: bool = False) -> Found:  # noqa: ARG002  # likewise
        return self._lock(resolving=resolving)


class JoinedTransaction(ServerTransaction):
    """``ServerTransaction`` as a part of one that goes on after it.

    Args:
        connections: to the server.
        connection: the one with that transaction.
        session_key: whose rows.
        claim: of this process.
        settings: what is in force.
        doing: what it is for, as an error will say.
    """

    def __init__(
        self,
        connections: Connections,
        connection: Connection,
        session_key: int,
        claim: Claim | None,
        settings: Settings,
        doing: str,
    ) -> None:
        patience = settings.busy_timeout
        super().__init__(connections, session_key, claim, settings, doing, patience=patience)
        lock = _JoinedLock(connections, session_key, claim, settings.durability, doing, patience)
        lock.join(connection)
        self._lock = lock
