"""Artifacts are removed: out of sight at once, and their space freed in small steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.errors import may_be_full
from spillstore.exceptions import DiskFullError, IntegrityError, SessionBusyError, StorageError
from spillstore.model.validation import is_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.engine.base import SessionBackend
    from spillstore.engine.rows import Snapshot
    from spillstore.ingest.committer import Committer
    from spillstore.ingest.row_writer import RowWriter
    from spillstore.model.records import ArtifactRow

_PURGE_CHUNKS = 512


class ArtifactRemover:
    """Removes artifacts of one session."""

    def __init__(
        self,
        store: SessionBackend,
        committer: Committer,
        rows: RowWriter,
        find: Callable[[Snapshot, str], ArtifactRow],
        check_writable: Callable[[], None],
    ) -> None:
        """Begin.

        Args:
            store: where the rows are.
            committer: gives transactions.
            rows: changes rows.
            find: the row of an artifact.
            check_writable: raises what keeps anything from being written.
        """
        self._store = store
        self._committer = committer
        self._rows = rows
        self._find = find
        self._check_writable = check_writable

    def remove(self, artifact_id: str, *, why: str = "deleted") -> ArtifactRow:
        """Make an artifact unreadable at once, then free its space in small steps; the reserve helps on a full disk."""
        try:
            row = self._mark_deleted(artifact_id, why)
        except StorageError as error:
            if not (may_be_full(error) and self._store.give_reserve()):
                raise
            row = self._mark_deleted(artifact_id, why)
        try:
            self.purge(row)
        except DiskFullError as error:
            raise DiskFullError(
                f"{artifact_id} is deleted, but its space is not free yet: {error}"
            ) from error
        return row

    def _mark_deleted(self, artifact_id: str, why: str) -> ArtifactRow:
        with self._committer.lock, self._committer.recording("deleting an artifact") as tx:
            row = self._find(tx, artifact_id)
            if row.state == "open" and why == "deleted":
                raise SessionBusyError(f"artifact {artifact_id} is being written; close its writer first")
            row = self._rows.update(tx, row._replace(state="deleted"))
            self._rows.events.record(
                tx, "delete", artifact_id, {"kept": row.kept, "why": why}, row.tool_call_id
            )
        return row

    def purge(self, row: ArtifactRow) -> None:
        """Free the space of an artifact marked ``deleted``; a crash in between is finished by the next writer.

        On a disk that is too full for that, one chunk is freed at a time, and the journal, which says what is in the freed
        pages, is used again for the next. Where even that does not fit, the reserve makes room for it.
        """
        most = _PURGE_CHUNKS
        left = True
        try:
            while left:  # from one chunk that is there to the next: a row may say that there are 2**60
                try:
                    left = self._purge_some(row, most)
                except StorageError as error:
                    if not may_be_full(error) or (most == 1 and not self._store.give_reserve()):
                        raise
                    most = 1
                if most == 1:
                    self._checkpoint_freed()
            self._checkpoint_freed()
        finally:
            self._store.keep_reserve()

    def _purge_some(self, row: ArtifactRow, most: int) -> bool:
        """Free ``most`` chunks, or the row when there are none; whether there are more."""
        with self._committer.lock:
            with self._committer.recording("freeing space") as tx:
                first = tx.first_chunk(row.artifact_key)
                left = first is not None
                if left and not is_count(first):
                    raise IntegrityError(f"a chunk of {row.artifact_id} has no place: {repr(first)[:30]}")
                if first is not None:
                    tx.drop_chunks(row.artifact_key, first, first + most)
                else:
                    self._rows.remove(tx, row)
            self._store.release_space()
        return left

    def _checkpoint_freed(self) -> None:
        with self._committer.lock:
            self._check_writable()
            self._store.settle()
