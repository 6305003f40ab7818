"""A session is deleted: its name, its row and its claims go in one transaction, its other rows in steps afterwards."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.postgres import control
from spillstore.engine.postgres.asking import Asking
from spillstore.exceptions import SpillstoreError

if TYPE_CHECKING:
    from spillstore.engine.postgres.connections import Connections, Statement

_FREEING: Final = "freeing what is left of a session"
_STEP: Final = 512  # rows that are removed at once
_STEPS: Final = (control.DOOMED_CHUNKS, control.DOOMED_ARTIFACTS, control.DOOMED_EVENTS)


def doom(connections: Connections, name: str, session_key: int) -> None:
    """Take a session out of sight: one transaction of two round trips, whatever its size. Fine if somebody was first."""
    lock: Statement = (control.PLACE_LOCK, {"session_key": session_key})
    with Asking(connections, "deleting the session") as server:
        server.run((control.BEGIN, {}), lock, *dooming(name, session_key), (control.COMMIT, {}))


def dooming(name: str, session_key: int) -> list[Statement]:
    """What takes a session out of sight, in a transaction that has its lock."""
    values: dict[str, Any] = {"session_key": session_key, "name": name}
    return [
        (control.PLACE_DOOM, values),
        (control.PLACE_DELETE, values),
        (control.NAME_DELETE, values),
        (control.CLAIMS_DELETE, values),
        (control.SESSION_ROW_DELETE, values),
    ]


class DoomedRows:
    """``Remains`` of a deleted session: the rows that nobody can find any more.

    Args:
        connections: to the server.
        session_key: the key of the rows.
    """

    def __init__(self, connections: Connections, session_key: int) -> None:
        self._connections = connections
        self._key = session_key

    def size(self) -> int:
        """Bytes that they take still; 0 where that cannot be asked."""
        try:
            with Asking(self._connections, "measuring what is left of a session") as server:
                found = server.ask(control.DOOMED_SIZE, session_key=self._key)
        except SpillstoreError:
            return 0
        return found[0][0] if found else 0

    def free(self) -> int:
        """Remove them, some hundred at a time; returns how many bytes went. What is left is for who collects next."""
        before = self.size()
        with contextlib.suppress(SpillstoreError):
            for step in _STEPS:
                while self._freed(step) == _STEP:
                    pass
            with Asking(self._connections, _FREEING) as server:
                # What another process is removing is left if that dies: then it goes with who collects next.
                if not server.ask(control.DOOMED_LEFT, session_key=self._key):
                    server.ask(control.DOOMED_DELETE, session_key=self._key)
            return before
        return before - self.size()

    def _freed(self, step: str) -> int:
        """Remove some rows, on a connection that others may have between two steps; returns how many."""
        with Asking(self._connections, _FREEING) as server:
            ((count, freed),) = server.ask(step, session_key=self._key, limit=_STEP)
            if freed:
                server.ask(control.DOOMED_FREED, session_key=self._key, freed=int(freed))
        return int(count)
