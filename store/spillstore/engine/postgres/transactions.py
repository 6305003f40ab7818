"""A write transaction on a session of a server: what it reads and writes, under the lock of ``locking``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import psycopg

from spillstore.engine.errors import raise_translated
from spillstore.engine.postgres import control
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.postgres.locking import SessionLock
from spillstore.engine.postgres.rows import AnsweredRows
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import SessionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from spillstore.engine.postgres.connections import Connections
    from spillstore.engine.postgres.locking import Claim
    from spillstore.engine.rows import NewEvent, Row
    from spillstore.settings import Settings

# Chunks in one call. Beside the server COPY is faster from 8 on, and takes two trips more.
_COPY_FROM: Final = 32


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
        self._doing = doing
        self._lock = SessionLock(connections, session_key, claim, settings.durability, doing, patience)
        self._added = 0  # bytes that ``stored_bytes`` is to grow by, besides what ``CHUNKS_DROP`` takes off
        self._dropped = False

    def __enter__(self) -> Self:
        try:
            self._lock.begin()
        except Exception as error:
            raise_translated(error, self._doing)
            raise
        self._session = self._lock.found.session
        self._newest: int | None = self._lock.found.newest_event
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._lock.commit(self._added)
        except Exception as failure:
            raise_translated(failure, self._doing)
            raise
        finally:
            self._lock.release()

    # --- reading --------------------------------------------------------------------------------------------

    def _fetch(self, sql: str, **values: Any) -> list[Row]:
        cursor = self._translated(lambda: self._lock.ask(sql, values))
        return cursor.fetchall() if cursor.description else []

    def _translated(self, ask: Callable[[], psycopg.Cursor[Any]]) -> psycopg.Cursor[Any]:
        try:
            return ask()
        except psycopg.Error as error:
            raise_translated(error, self._doing)
            raise

    def session_row(self) -> Row | None:
        """The session's own row."""
        return tuple(self._session)

    def unfinished(self) -> Sequence[Row]:
        """The rows of artifacts that are ``open`` or ``deleted``."""
        found = self._lock.found.unfinished
        return super().unfinished() if found is None or self._lock.has_written else found

    def newest_event(self) -> int:
        """The largest key of an event."""
        if self._newest is None:
            self._newest = super().newest_event()
        return self._newest

    def used(self) -> int:
        """The bytes that the session takes."""
        if self._dropped:  # nobody here knows how much that was
            return super().used() + self._added
        return self._lock.found.stored + self._added

    # --- writing --------------------------------------------------------------------------------------------

    def write(self, sql: str, **values: Any) -> None:
        """Write with a statement, sooner or later."""
        self._lock.write(sql, values)

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
        if len(rows) >= _COPY_FROM and self._lock.copies:
            self._lock.write_chunks([(self._session_key, artifact_key, *row) for row in rows])
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
        gone = self._translated(self._lock.send).rowcount
        self._added -= control.EVENT_BYTES * gone
        self._newest = None
        return gone
