"""Making room in a session that is full: ended artifacts go, so that what comes can be stored.

The order: what nobody has read, the oldest first; then what was read, that which was not looked at for longest first. So
what somebody is reading right now goes last. An artifact that is being written is never chosen.

An artifact is marked ``deleted`` in a short transaction that also records the event ``evict``; from then on nobody can read
it. Its chunks are dropped in steps, each in a transaction of its own, and only as many as are needed now: the rest goes when
more room is needed, or when the next writer opens the session. What is dropped is not given back to the disk, because what
needs the room takes it at once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from spillstore.events.catalogue import EVICT
from spillstore.exceptions import IntegrityError
from spillstore.model.validation import read_artifact_row

if TYPE_CHECKING:
    from spillstore.engine.base import SessionBackend
    from spillstore.engine.rows import Snapshot
    from spillstore.ingest.row_writer import RowWriter
    from spillstore.model.records import ArtifactRow
    from spillstore.settings import Settings

_STEP_CHUNKS = 512
_CANDIDATES = 256


class Evictor:
    """Makes room in one session. Whoever calls holds the engine's ``_commit``, and no transaction."""

    def __init__(self, store: SessionBackend, rows: RowWriter, settings: Settings) -> None:
        self._store = store
        self._rows = rows
        self._settings = settings
        self._row: ArtifactRow | None = None  # marked; its chunks from _next on are still there
        self._next = 0
        self._queue: deque[tuple[str, bool]] = deque()  # ids, and whether somebody has read them
        self._damaged: set[str] = set()  # evidence, and nobody could say what went

    def make_room(self, new_bytes: int) -> bool:
        """Evict until so many bytes fit into the session's quota; False if nothing is left that may go.

        Cost where there is room: two look-ups. Else a look at every artifact, and what is dropped.

        Raises:
            SessionDeletedError, LockedError, StorageError: it cannot be done.
        """
        self._queue.clear()
        while True:
            with self._store.reader() as rows:
                if not self.is_full(rows, new_bytes):
                    return True
            if self._row is None and not self._mark_next():
                return False
            self._drop_some()

    def is_full(self, rows: Snapshot, new_bytes: int) -> bool:
        """Whether so many bytes do not fit."""
        return rows.used() + new_bytes > self._settings.session_quota

    def _mark_next(self) -> bool:
        """Choose an artifact and mark it; False if there is none."""
        while True:
            if not self._queue:
                with self._store.reader() as rows:
                    found = rows.to_evict(_CANDIDATES)
                self._queue.extend((name, bool(read)) for name, read in found if name not in self._damaged)
                if not self._queue:
                    return False
            artifact_id, was_read = self._queue.popleft()
            try:
                self._mark(artifact_id, was_read=was_read)
            except IntegrityError as error:
                self._damaged.add(artifact_id)
                self._rows.events.emit("unevictable", artifact_id, {"error": type(error).__name__})
            if self._row is not None:
                return True

    def _mark(self, artifact_id: str, *, was_read: bool) -> None:
        """Take it out of sight, unless another process was first."""
        with self._rows.events.emitting(), self._store.transaction("evicting an artifact") as tx:
            found = tx.artifact_row(artifact_id)
            if found is None:
                return
            row = read_artifact_row(found, self._rows.session.digest_algorithm)
            if row.state == "deleted":
                return
            row = self._rows.update(tx, row._replace(state="deleted"))
            detail: dict[str, object] = {
                "why": "session_quota",
                "quota": self._settings.session_quota,
                "kept": row.kept,
                "stored": row.stored_size,
                "read": was_read,
            }
            # Whatever is audited: who looks for it is to be told.
            self._rows.events.record(tx, EVICT, artifact_id, detail, row.tool_call_id, always=True)
        self._row, self._next = row, 0

    def _drop_some(self) -> None:
        """Drop the next chunks of what is marked; another process may have dropped them before."""
        row = self._row
        assert row is not None, "make_room has marked one"
        following = self._next + _STEP_CHUNKS
        with self._store.transaction("freeing space") as tx:
            tx.drop_chunks(row.artifact_key, self._next, following)
            if following >= row.chunks:
                self._rows.remove(tx, row)
        self._row, self._next = (None, 0) if following >= row.chunks else (row, following)
