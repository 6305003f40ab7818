"""A session's own row: read, compared with what it must be, and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.errors import translated
from spillstore.exceptions import IntegrityError
from spillstore.format.digests import stored_algorithm
from spillstore.format.rollback_guard import check_sum
from spillstore.model.validation import read_session_row

if TYPE_CHECKING:
    from spillstore.engine.rows import Snapshot, Transaction
    from spillstore.model.records import SessionRow


class SessionRecord:
    """Reads the row of one session.

    Args:
        name: where the session is, as messages say it.
        key: the store's digest key.
        expected: the ids that the session and its project must have; None for any.
    """

    def __init__(self, name: str, key: bytes | None, expected: tuple[str, str | None] | None) -> None:
        self._name = name
        self._key = key
        self._expected = expected

    def read(self, rows: Snapshot) -> SessionRow:
        """The row.

        Raises:
            IntegrityError: it is damaged, or another session's.
        """
        with translated("reading the session"):
            row = read_session_row(rows.session_row(), self._key)
        if self._expected is not None and self._expected != (row.session_id, row.project_id):
            raise IntegrityError(
                f"{self._name} holds session {row.session_id!r} of project {row.project_id!r}: a file of another place, "
                "moved, copied or linked here; Store.open_file reads it"
            )
        return row

    def check_fresh(self, rows: Snapshot) -> None:
        """With a digest key, compare the artifacts' rows with their sum; inside a transaction.

        Raises:
            IntegrityError: a row was put back or taken away.
        """
        row = self.read(rows)
        if row.digest_algorithm.key is not None:
            check_sum(row.digest_algorithm, row.artifacts_sum, rows.artifact_digests())

    def update(self, tx: Transaction, **changes: int) -> SessionRow:
        """Change the row; returns the new one."""
        row = self.read(tx)._replace(**changes).sealed()  # type: ignore[arg-type]  # two int columns
        tx.update_session(row)
        return row


def check_key(row: SessionRow, key: bytes | None) -> None:
    """Compare the digest key of a session that is open with the key of another ``Store`` that opens it.

    Raises:
        DigestKeyError: it is another key.
    """
    stored_algorithm(str(row.digest_algorithm), row.uid, key)
