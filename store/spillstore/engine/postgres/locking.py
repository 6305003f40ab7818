"""The lock on a session, under which a transaction writes: two round trips, and what was read in between.

The first trip begins it, locks the session's ``place`` and this process's ``claim``, and reads what nearly every transaction
asks. What is written is sent with the next question, or with the COMMIT. 32 chunks and more are sent with COPY, whose
protocol takes two trips of its own.

All that was written is kept until the COMMIT is answered. When the connection is lost, a new one locks the session again and
looks: the claim's ``token`` says whether the COMMIT was done. If it was not and nobody else has committed since (the place's
``version``), what was written is sent again. So nothing is there twice, and nothing is lost that was acknowledged.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import psycopg

from spillstore.engine.errors import NotStoredError
from spillstore.engine.postgres import citus, control
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.postgres.connections import lost
from spillstore.engine.postgres.errors import (
    STATEMENT_TIMEOUT,
    ServerError,
    is_transient,
    is_unclear,
    message_of,
)
from spillstore.engine.postgres.rows import deleted
from spillstore.exceptions import ClaimLostError
from spillstore.model.records import SessionRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore.engine.postgres.connections import Connection, Connections, Statement, Values
    from spillstore.engine.rows import Row

IDLE_TIMEOUT = "10s"  # of the server: whoever was stopped while it holds the lock loses it
_KNOWS_LONGEST: Final = 170_000  # the server's version
_TRIES: Final = 3  # after the server has rolled a transaction back for another one's sake
_COPY: Final = f"COPY spillstore.chunk (session_key, artifact_key, {', '.join(_sql.CHUNK_COLUMNS)}) FROM STDIN (FORMAT BINARY)"
_CHUNK_TYPES: Final = ["int8"] * 16 + ["bytea"] * 4


def limits(patience: float, durability: str, idle: str | None = None) -> Values:
    """The settings of a write transaction: how long it waits for a lock, and whether its COMMIT waits for the disk."""
    return {
        "lock_timeout": f"{max(1, int(patience * 1000))}ms",
        "statement_timeout": f"{STATEMENT_TIMEOUT}s",
        "idle_timeout": IDLE_TIMEOUT if idle is None else idle,
        "durable": "on" if durability == "full" else "off",
    }


def copy_chunks(
    connections: Connections, connection: Connection, rows: Sequence[Sequence[Any]], doing: str
) -> None:
    """Insert rows of chunks with COPY.

    Raises:
        NotStoredError: policies count for this role since a while, so that it may not COPY; it will insert next time.
    """
    try:
        connection.copy(_COPY, rows, _CHUNK_TYPES)
    except psycopg.errors.FeatureNotSupported as error:
        connections.found = connections.found._replace(copies=False)
        raise NotStoredError(f"{doing} failed: {message_of(error)}; try again") from None


class Claim:
    """A process's claim on one session: what its transactions prove, and whether it was lost.

    Args:
        owner: its name.
        about: who that is, for people.
        lease: seconds without a beat after which it is dead.
    """

    def __init__(self, owner: str, about: str, lease: float) -> None:
        self.owner = owner
        self.about = about
        self.lease = lease
        self.token: bytes | None = None  # of the last transaction that was committed
        self.doubt: bytes | None = (
            None  # of one whose COMMIT was not answered, if whether it was done is not known yet
        )
        self.made = False
        self.lost = False
        self.is_new = False  # whether it was made, and nobody has asked since whether the session is there
        self.dead: frozenset[str] = frozenset()  # owners whose claims were deleted when this one was made


class _Write(NamedTuple):
    """Something that was written: a statement with its values, or rows of chunks for COPY, which has none."""

    sql: str
    values: Values
    rows: Sequence[Sequence[Any]] | None = None


class Found(NamedTuple):
    """What the first trip finds of a session: the columns of its ``place``, its row, and the key of its newest event.

    Attributes:
        version: how many commits there were.
        token: of the last one.
        stored: bytes that the session takes.
        session: its row.
        newest_event: the largest key of an event.
        claimed: the token of this process's claim, in a tuple; None if there is no claim.
        unfinished: the rows of artifacts that are not ended, where this process has just claimed the session.
    """

    version: int
    token: bytes | None
    stored: int
    session: SessionRow
    newest_event: int
    claimed: tuple[bytes | None] | None
    unfinished: list[Row] | None


class SessionLock:
    """A transaction that holds a session's lock, from ``begin`` to ``commit`` or ``release``.

    Args:
        connections: to the server.
        session_key: which session.
        claim: of this process; None for who only reads.
        durability: whether the COMMIT waits for the disk, as the setting says.
        doing: what it is for, as an error will say.
        patience: seconds to wait for others, and for the server.
    """

    def __init__(
        self,
        connections: Connections,
        session_key: int,
        claim: Claim | None,
        durability: str,
        doing: str,
        patience: float,
    ) -> None:
        self._connections = connections
        self._connection: Connection | None = None
        self._key: Values = {"session_key": session_key}
        self._claim = claim
        self._durability = durability
        self._doing = doing
        self._patience = patience
        self._token = os.urandom(16)
        self._written: list[_Write] = []
        self._sent = 0  # of them, in the transaction that is open now
        self._found: Found | None = None

    @property
    def found(self) -> Found:
        """What was found when the session was locked first."""
        assert self._found is not None, "it was begun"
        return self._found

    @property
    def has_written(self) -> bool:
        """Whether something was written."""
        return bool(self._written)

    @property
    def _open(self) -> Connection:
        assert self._connection is not None, "it was begun"
        return self._connection

    def begin(self) -> None:
        """Lock the session.

        Raises:
            ClaimLostError: it may not be written to.
            psycopg.Error, StorageError: it cannot be locked.
        """
        self._connection = self._connections.take(self._patience)
        try:
            self._check(self._locked(time.monotonic() + self._patience))
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Undo what was not committed, and give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._connections.give_back(connection)
        if self._claim is not None and not self._claim.made:
            self._claim.dead = frozenset()

    def write(self, sql: str, values: Values) -> None:
        """Write with a statement, sooner or later."""
        self._written.append(_Write(sql, {**values, **self._key}))

    @property
    def copies(self) -> bool:
        """Whether the server lets this role COPY, as far as is known."""
        return self._connections.found.copies

    def write_chunks(self, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of chunks with COPY."""
        self._written.append(_Write("", {}, rows))

    def ask(self, sql: str, values: Values) -> psycopg.Cursor[Any]:
        """Send what was written, and a question; as often as the connection is lost."""
        return self._answered((sql, {**values, **self._key}))

    def send(self) -> psycopg.Cursor[Any]:
        """Send what was written; the cursor is that of the last statement."""
        return self._answered()

    def _answered(self, *last: Statement) -> psycopg.Cursor[Any]:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._send(*last)
            except psycopg.Error as error:
                if not lost(error, self._open):
                    raise
            self._replace(deadline)
            self._check(self._locked(deadline))

    def commit(self, added: int) -> None:
        """Commit, and find out whether that was done if its answer is lost.

        Args:
            added: how many bytes more the session takes, besides those that ``CHUNKS_DROP`` takes off.

        Raises:
            NotStoredError: nothing was stored, and it can be tried again.
            ClaimLostError: whether it was stored cannot be known, since others took this process for dead.
        """
        claim = self._claim
        if not self._written and (claim is None or claim.made):
            self._open.end_reading()
            return
        closing: list[Statement] = [
            (control.PLACE_UPDATE, {**self._key, "token": self._token, "added": added})
        ]
        if claim is not None:
            closing.append((control.CLAIM_UPDATE, {**self._key, "owner": claim.owner, "token": self._token}))
            claim.doubt = self._token
        closing.append((control.COMMIT, {}))
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._send(*closing)
                break
            except psycopg.Error as error:
                if not is_unclear(error) and not lost(error, self._open):
                    raise
            if self._was_committed(deadline):
                break
        if claim is not None:
            claim.token, claim.doubt = self._token, None
            claim.is_new = not claim.made
            claim.made = True

    def _was_committed(self, deadline: float) -> bool:
        """Whether a COMMIT whose answer was lost was done; if not, the session is locked again."""
        self._replace(deadline)
        found = self._locked(deadline, resolving=True)
        if self._token in {found.token, *(found.claimed or ())}:
            self._open.roll_back()
            return True
        known = self._claim is not None and self._claim.made
        if not known and found.version != self.found.version:
            raise ServerError(
                f"{self._doing} failed: the connection was lost while it was committed, and another process has written since; "
                "whether it was stored is not known"
            )
        if not known:  # a claim is made once more
            self._open.roll_back()
            found = self._locked(deadline)
        self._check(found)
        return False

    def _replace(self, deadline: float) -> None:
        self._connection = self._connections.replaced(self._open, deadline - time.monotonic())
        self._sent = 0

    def _locked(self, deadline: float, *, resolving: bool = False) -> Found:
        """Lock the session, on a new connection if this one is gone."""
        tries = 0
        while True:
            try:
                return self._lock(resolving=resolving)
            except psycopg.Error as error:
                tries += is_transient(error)
                if lost(error, self._open):
                    self._replace(deadline)
                elif is_transient(error) and tries < _TRIES:
                    self._open.roll_back()
                else:
                    raise

    def _lock(self, *, resolving: bool) -> Found:
        """The first trip. While a COMMIT is looked for, nothing is claimed."""
        claim = self._claim
        first = self._opening()
        statements: list[Statement] = [
            (control.PLACE_LOCK, self._key),
            (_sql.SESSION_GET, self._key),
            (_sql.EVENT_NEWEST, self._key),
        ]
        claims = claim is not None and not claim.made and not resolving
        if claim is not None:
            mine = {**self._key, "owner": claim.owner}
            if claims:
                statements += (
                    (control.CLAIMS_DELETE_DEAD, {**self._key, "lease": claim.lease}),
                    (control.CLAIM_INSERT, {**mine, "about": claim.about}),
                    (_sql.ARTIFACTS_UNFINISHED, self._key),  # what whoever opens a session asks
                )
            else:
                statements.append((control.CLAIM_LOCK, mine))
        place, session, newest, *more = self._open.run([*first, *statements])[len(first) :]
        found, row = place.fetchone(), session.fetchone()
        if found is None or row is None:
            raise deleted()
        version, token, stored = found
        ((newest_event,),) = newest.fetchall()
        claimed = unfinished = None
        if claim is not None and claims:
            claim.dead = frozenset(owner for (owner,) in more[0].fetchall())
            unfinished = more[-1].fetchall()
        elif claim is not None:
            claimed = more[0].fetchone()
        return Found(version, token, stored, SessionRow(*row), newest_event, claimed, unfinished)

    def _opening(self) -> list[Statement]:
        """What begins the transaction."""
        settings = limits(self._patience, self._durability)
        first: list[Statement] = [(control.BEGIN, {}), (control.SET_LOCAL, settings)]
        if self._connections.found.citus:
            first += [(each, {}) for each in citus.limits(settings["lock_timeout"], settings["durable"])]
        if self._open.raw.info.server_version >= _KNOWS_LONGEST:
            longest = f"{self._patience + STATEMENT_TIMEOUT:g}s"
            first.append((control.SET_LONGEST, {"longest": longest}))
        return first

    def _check(self, found: Found) -> None:
        """Refuse what may not be written to, and what has changed since it was locked first."""
        claim = self._claim
        if found.session.deleted_us is not None:
            raise deleted()
        if claim is not None and (claim.lost or (claim.made and found.claimed is None)):
            claim.lost = True
            raise ClaimLostError(
                "this process was away for longer than the setting lease, and another one has taken the session over; what "
                "was committed is there: open the session anew to go on writing"
            )
        if claim is not None and claim.made and claim.doubt is not None and found.claimed == (claim.doubt,):
            claim.token, claim.doubt = claim.doubt, None  # it was, and nobody here has waited for it
        if claim is not None and claim.made and found.claimed != (claim.token,):
            claim.lost = True
            raise ClaimLostError(
                "the server does not have what it had acknowledged: it has crashed, or an older copy took its place; what it "
                "has can be read: open the session anew to go on writing"
            )
        if self._found is None:
            self._found = found
        elif found.version != self._found.version:
            raise NotStoredError(
                f"{self._doing} failed: the connection was lost, and another process has written since; nothing was stored: "
                "try again"
            )

    def _send(self, *last: Statement) -> psycopg.Cursor[Any]:
        """Send what was written and not sent yet, and behind it other statements; returns the cursor of the last one."""
        group: list[Statement] = []
        for write in self._written[self._sent :]:
            if write.rows is None:
                group.append((write.sql, write.values))
                continue
            if group:
                self._open.run(group)
                group = []
            copy_chunks(self._connections, self._open, write.rows, self._doing)
        cursors = self._open.run([*group, *last])
        self._sent = len(self._written)
        return cursors[-1]
