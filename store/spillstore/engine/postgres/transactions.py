"""A write transaction on a session: two round trips, and what was read in between; a lost connection does no harm.

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

from spillstore.engine.errors import NotStoredError, raise_translated
from spillstore.engine.postgres import citus, control
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.postgres.connections import lost
from spillstore.engine.postgres.errors import is_transient, is_unclear, message_of
from spillstore.engine.postgres.rows import AnsweredRows, deleted
from spillstore.exceptions import ClaimLostError, StorageError
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import SessionRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from spillstore.engine.postgres.connections import Connection, Connections, Values
    from spillstore.engine.rows import NewEvent, Row
    from spillstore.settings import Settings

_COPY_FROM: Final = (
    32  # chunks; measured beside the server, COPY is faster from 8 on, and takes two trips more
)
_STATEMENT_TIMEOUT: Final = "120s"  # of the server: a statement that takes longer hangs
_IDLE_TIMEOUT: Final = "10s"  # of the server: whoever was stopped while it holds the lock loses it
_TRIES: Final = 3  # after the server has rolled a transaction back for another one's sake
_COPY: Final = f"COPY spillstore.chunk (session_key, artifact_key, {', '.join(_sql.CHUNK_COLUMNS)}) FROM STDIN (FORMAT BINARY)"
_CHUNK_TYPES: Final = ["int8"] * 16 + ["bytea"] * 4


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
        self.made = False
        self.lost = False


class _Write(NamedTuple):
    """Something that was written: a statement with its values, or rows for COPY."""

    sql: str
    values: Values
    rows: Sequence[Sequence[Any]] | None = None


class _Locked(NamedTuple):
    """What the first trip finds of a session: the columns of its ``place``, its row, its newest event, its claim's token in a tuple."""

    version: int
    token: bytes | None
    stored: int
    session: SessionRow
    newest_event: int
    claimed: tuple[bytes | None] | None


class ServerTransaction(AnsweredRows):
    """``Transaction`` of ``engine.rows``: commits at the end of a block, and rolls back on any exception.

    Raises, when the block is entered or left:
        SessionDeletedError: the session was deleted.
        ClaimLostError: others took this process for dead.
        LockedError: others have written for longer than ``busy_timeout``.
        NotStoredError: nothing was stored, and it can be tried again.
        StorageError: it cannot be stored.
    """

    def __init__(
        self,
        connections: Connections,
        session_key: int,
        claim: Claim | None,
        settings: Settings,
        doing: str,
        *,
        patience: float,
    ) -> None:
        """Prepare it; nothing is locked yet.

        Args:
            connections: to the server.
            session_key: whose rows.
            claim: of this process; None for who only reads.
            settings: what is in force.
            doing: what it is for, as an error will say.
            patience: seconds to wait for others, and for the server.
        """
        super().__init__(session_key)
        self._connections = connections
        self._connection: Connection | None = None
        self._claim = claim
        self._settings = settings
        self._doing = doing
        self._patience = patience
        self._token = os.urandom(16)
        self._written: list[_Write] = []
        self._sent = 0  # of them, in the transaction that is open now
        self._added = 0  # bytes that ``stored_bytes`` is to grow by, besides what ``CHUNKS_DROP`` takes off
        self._dropped = False
        self._first: _Locked | None = None  # what was found when the block was entered
        self._newest: int | None = None

    # --- beginning and ending -------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            self._connection = self._connections.take()
            try:
                self._begin(time.monotonic() + self._patience)
            except BaseException:
                self._let_go()
                raise
        except Exception as error:
            raise_translated(error, self._doing)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._commit()
            elif self._connection is not None and self._connection.usable:
                self._connection.roll_back()
        except Exception as failure:
            raise_translated(failure, self._doing)
            raise
        finally:
            self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._connections.give_back(connection)

    @property
    def _open(self) -> Connection:
        assert self._connection is not None, "inside the block there is one"
        return self._connection

    def _begin(self, deadline: float) -> None:
        """Lock the session, on a new connection if the one that was taken is gone."""
        tries = 0
        while True:
            try:
                locked = self._lock()
            except psycopg.Error as error:
                tries += is_transient(error)
                if lost(error, self._open):
                    self._connection = self._connections.replaced(self._open, deadline)
                elif is_transient(error) and tries < _TRIES:
                    self._open.roll_back()
                else:
                    raise
            else:
                break
        self._check(locked)

    def _lock(self) -> _Locked:
        """The first trip."""
        key: Values = {"session_key": self._session_key}
        claim = self._claim
        limits = self._limits()
        first: list[tuple[str, Values]] = [(control.BEGIN, {}), (control.SET_LOCAL, limits)]
        if self._connections.found.citus:
            first += [(each, {}) for each in citus.limits(limits["lock_timeout"], limits["durable"])]
        statements = [
            (control.PLACE_LOCK, key),
            (_sql.SESSION_GET, key),
            (_sql.EVENT_NEWEST, key),
        ]
        if claim is not None:
            mine = {**key, "owner": claim.owner}
            if claim.made:
                statements.append((control.CLAIM_LOCK, mine))
            else:
                statements.append((control.CLAIMS_DELETE_DEAD, {**key, "lease": claim.lease}))
                statements.append((control.CLAIM_INSERT, {**mine, "about": claim.about}))
        place, session, newest, *claims = self._open.run([*first, *statements])[len(first) :]
        found, row = place.fetchone(), session.fetchone()
        if found is None or row is None:
            raise deleted()
        ((last_event,),) = newest.fetchall()
        claimed = claims[0].fetchone() if claim is not None and claim.made else None
        version, token, stored = found
        return _Locked(version, token, stored, SessionRow(*row), last_event, claimed)

    def _check(self, locked: _Locked) -> None:
        """Refuse what may not be written to; take over what was read, or see whether it has changed since."""
        claim = self._claim
        if locked.session.deleted_us is not None:
            raise deleted()
        if claim is not None and (claim.lost or (claim.made and locked.claimed is None)):
            claim.lost = True
            raise ClaimLostError(
                "this process was away for longer than the setting lease, and another one has taken the session over; what "
                "was committed is there: open the session anew to go on writing"
            )
        if claim is not None and claim.made and locked.claimed != (claim.token,):
            claim.lost = True
            raise ClaimLostError(
                "the server does not have what it had acknowledged: it has crashed, or an older copy took its place; what it "
                "has can be read: open the session anew to go on writing"
            )
        if self._first is None:
            self._first = locked
            self._session, self._newest = locked.session, locked.newest_event
        elif locked.version != self._first.version:
            raise NotStoredError(
                f"{self._doing} failed: the connection was lost, and another process has written since; nothing was stored: "
                "try again"
            )

    def _limits(self) -> Values:
        return {
            "lock_timeout": f"{max(1, int(self._patience * 1000))}ms",
            "statement_timeout": _STATEMENT_TIMEOUT,
            "idle_timeout": _IDLE_TIMEOUT,
            "durable": "on" if self._settings.durability == "full" else "off",
        }

    def _again(self, deadline: float) -> None:
        """After the connection was lost before the COMMIT: lock the session anew; what was written is sent again.

        Raises:
            NotStoredError: others have committed meanwhile, so what was read here may not be so any more.
        """
        self._connection = self._connections.replaced(self._open, deadline)
        self._begin(deadline)
        self._sent = 0

    def _send(self, *last: tuple[str, Values]) -> psycopg.Cursor[Any]:
        """Send what was written and not sent yet, and behind it other statements; returns the cursor of the last one."""
        group: list[tuple[str, Values]] = []
        for write in self._written[self._sent :]:
            if write.rows is None:
                group.append((write.sql, write.values))
                continue
            if group:
                self._open.run(group)
                group = []
            try:
                self._open.copy(write.sql, write.rows, _CHUNK_TYPES)
            except psycopg.errors.FeatureNotSupported as error:  # since policies count for this role
                self._connections.found = self._connections.found._replace(copies=False)
                raise NotStoredError(
                    f"{self._doing} failed: {message_of(error)}; it is tried again without COPY"
                ) from None
        cursors = self._open.run([*group, *last])
        self._sent = len(self._written)
        return cursors[-1]

    def _commit(self) -> None:
        claim = self._claim
        if not self._written and (claim is None or claim.made):
            self._open.end_reading()
            return
        key = {"session_key": self._session_key}
        closing: list[tuple[str, Values]] = [
            (control.PLACE_UPDATE, {**key, "token": self._token, "added": self._added})
        ]
        if claim is not None:
            closing.append((control.CLAIM_UPDATE, {**key, "owner": claim.owner, "token": self._token}))
        closing.append((control.COMMIT, {}))
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._send(*closing)
            except psycopg.Error as error:
                if not is_unclear(error) and not lost(error, self._open):
                    raise
                if self._was_committed(deadline):
                    break
                self._sent = 0
            else:
                break
        if claim is not None:
            claim.token, claim.made = self._token, True

    def _was_committed(self, deadline: float) -> bool:
        """Whether a COMMIT whose answer was lost was done; if not, the session is locked again."""
        while True:
            self._connection = self._connections.replaced(self._open, deadline)
            try:
                locked = self._lock()
            except psycopg.Error as error:
                if not lost(error, self._open):
                    raise
            else:
                break
        if self._token in {locked.token, *(locked.claimed or ())}:
            self._open.roll_back()
            return True
        assert self._first is not None, "it was begun"
        if (self._claim is None or not self._claim.made) and locked.version != self._first.version:
            raise StorageError(
                f"{self._doing} failed: the connection was lost while it was committed, and another process has written since; "
                "whether it was stored is not known"
            )
        self._check(locked)
        return False

    # --- reading --------------------------------------------------------------------------------------------

    def _fetch(self, sql: str, **values: Any) -> list[Row]:
        cursor = self._answered((sql, {**values, "session_key": self._session_key}))
        return cursor.fetchall() if cursor.description else []

    def _answered(self, *last: tuple[str, Values]) -> psycopg.Cursor[Any]:
        """Send, and once more for each time that the connection is lost."""
        deadline = time.monotonic() + self._patience
        try:
            while True:
                try:
                    return self._send(*last)
                except psycopg.Error as error:
                    if not lost(error, self._open):
                        raise
                self._again(deadline)
        except psycopg.Error as error:
            raise_translated(error, self._doing)
            raise

    def session_row(self) -> Row | None:
        """The session's own row."""
        return tuple(self._session)

    def newest_event(self) -> int:
        """The largest key of an event."""
        if self._newest is None:
            self._newest = super().newest_event()
        return self._newest

    def used(self) -> int:
        """The bytes that the session takes."""
        if self._dropped:  # nobody here knows how much that was
            return super().used() + self._added
        assert self._first is not None, "inside the block it is known"
        return self._first.stored + self._added

    # --- writing --------------------------------------------------------------------------------------------

    def write(self, sql: str, **values: Any) -> None:
        """Write with a statement, sooner or later."""
        self._written.append(_Write(sql, {**values, "session_key": self._session_key}))

    def insert_session(self, row: Row) -> None:
        """Write the row of a new session."""
        self._session = SessionRow(*row)
        self.write(_sql.SESSION_INSERT, **self._session._asdict())

    def update_session(self, row: Row) -> None:
        """Replace the session's row."""
        key = self._session.next_artifact_key
        self._session = SessionRow(*row)._replace(next_artifact_key=key)
        self.write(_sql.SESSION_UPDATE, **self._session._asdict())

    def next_artifact_key(self) -> int:
        """A key that no artifact has had or will have."""
        key = self._session.next_artifact_key + 1
        self._session = self._session._replace(next_artifact_key=key)
        self.write(control.SESSION_KEY_SET, next_artifact_key=key)
        return key

    def insert_artifact(self, row: Row) -> None:
        """Write the row of a new artifact."""
        self._added += control.ARTIFACT_BYTES
        self.write(_sql.ARTIFACT_INSERT, **dict(zip(_sql.ARTIFACT_COLUMNS, row, strict=True)))

    def update_artifact(self, row: Row) -> None:
        """Replace an artifact's row, from ``state`` on."""
        self.write(_sql.ARTIFACT_UPDATE, **dict(zip(_sql.ARTIFACT_COLUMNS, row, strict=True)))

    def remove_artifact(self, artifact_key: int) -> None:
        """Remove an artifact's row."""
        self._added -= control.ARTIFACT_BYTES
        self.write(_sql.ARTIFACT_REMOVE, artifact_key=artifact_key)

    def insert_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Write rows of new chunks."""
        self._added += sum(control.chunk_bytes(ChunkRow(*row).stored_size) for row in rows)
        if len(rows) >= _COPY_FROM and self._connections.found.copies:
            copied = [(self._session_key, artifact_key, *row) for row in rows]
            self._written.append(_Write(_COPY, {}, copied))
            return
        for row in rows:
            self.write(
                _sql.CHUNK_INSERT,
                artifact_key=artifact_key,
                **dict(zip(_sql.CHUNK_COLUMNS, row, strict=True)),
            )

    def drop_chunks(self, artifact_key: int, first: int, end: int) -> None:
        """Remove chunks."""
        self._dropped = True
        self.write(control.CHUNKS_DROP, artifact_key=artifact_key, first=first, last=end)

    def append_events(self, events: Sequence[NewEvent]) -> None:
        """Write events, with keys that follow the largest one."""
        key = self.newest_event()
        for event in events:
            key += 1
            self.write(_sql.EVENTS_INSERT, event_key=key, **event._asdict())
        self._newest = key
        self._added += control.EVENT_BYTES * len(events)

    def drop_events_through(self, event_key: int, limit: int) -> int:
        """Remove the first events."""
        return self._drop(_sql.EVENTS_DROP_FIRST, last=event_key, limit=limit)

    def drop_events_before(self, at_us: int, limit: int) -> int:
        """Remove the oldest events."""
        return self._drop(_sql.EVENTS_DROP_OLD, before_us=at_us, limit=limit)

    def _drop(self, sql: str, **values: Any) -> int:
        self.write(sql, **values)
        gone = self._answered().rowcount
        self._added -= control.EVENT_BYTES * gone
        self._newest = None
        return gone
