"""A session of dictionaries that is filled before it is there: ``SessionImport`` of ``engine.base``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.memory.rows import EMPTY, MemoryTransaction
from spillstore.exceptions import SessionDeletedError, SessionExistsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillstore.engine.base import Remains, SessionBackend
    from spillstore.engine.memory.rows import State
    from spillstore.engine.rows import Row, Transaction
    from spillstore.model.records import SessionRow


class MemoryImport:
    """A state that becomes that of a session. It holds all rows, as the session will."""

    def __init__(
        self,
        row: SessionRow,
        put: Callable[[State], bool],
        put_instead: Callable[[State, SessionBackend], Remains | None],
    ) -> None:
        """Begin with the session's own row.

        Args:
            row: that row.
            put: makes a session of the state, unless one of that name is there.
            put_instead: likewise, in place of one, if that is there still.
        """
        self._session_id = row.session_id
        self._rows = MemoryTransaction(EMPTY)
        self._rows.insert_session(row)
        self._put = put
        self._put_instead = put_instead

    def add_artifacts(self, rows: Sequence[Row]) -> None:
        """Put rows of artifacts in."""
        for row in rows:
            self._rows.insert_artifact(row)

    def add_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Put rows of chunks in."""
        self._rows.insert_chunks(artifact_key, rows)

    def add_events(self, rows: Sequence[Row]) -> None:
        """Put rows of events in."""
        self._rows.state.events.update({row[0]: tuple(row) for row in rows})

    def commit(self) -> None:
        """Make a session of it."""
        if not self._put(self._rows.state):
            raise SessionExistsError(f"session {self._session_id!r} is there already")

    def replace(self, old: SessionBackend, prepare: Callable[[Transaction], None]) -> Remains:
        """Make a session of it in place of another one."""
        with old.transaction("storing a copy") as rows:
            prepare(rows)
            remains = self._put_instead(self._rows.state, old)
            if remains is None:
                raise SessionDeletedError(f"session {self._session_id!r} was deleted")
        return remains
