r"""Chunks as text, for sessions' files that are opened with Python's ``sqlite3`` or with Datasette.

    >>> import sqlite3, tempfile
    >>> from spillstore import Store
    >>> from spillstore import sqlite_functions
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with Store(root, free_disk_floor=0).session("demo") as session:
    ...         _ = session.put("one\ntwo\n", source="doc")
    ...     connection = sqlite3.connect(f"file:{root}/_/demo/session.db?mode=ro", uri=True)
    ...     sqlite_functions.register(connection)
    ...     sql = "SELECT spillstore_text(artifact_id, seq) FROM chunk JOIN artifact USING (session_key, artifact_key)"
    ...     connection.execute(sql).fetchall()
    ...     connection.close()
    [('one\ntwo\n',)]

A function is told which chunk, and not its ``data``: the digest that says whether these bytes are right covers the whole row
and the artifact's id. The row is looked up on the same connection, so in the snapshot of the statement that asks, checked and
decoded by the code that reads artifacts. What is damaged, or not there, is an error of the statement, and never other bytes.
SQLite says of it no more than that a function has failed; ``spillstore verify`` says which chunk, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.sqlite import sql
from spillstore.exceptions import IntegrityError
from spillstore.format import chunk_codec
from spillstore.format.digest_key import load_key
from spillstore.model.validation import read_session_row
from spillstore.settings import Settings

if TYPE_CHECKING:
    import os
    import sqlite3

    from spillstore.format.digests import Algorithm

_COLUMNS = ", ".join(f"chunk.{name}" for name in sql.CHUNK_COLUMNS if name != "grams")  # schema 1 has none
_CHUNK = (
    f"SELECT artifact.newline, {_COLUMNS} FROM artifact JOIN chunk USING (session_key, artifact_key) "  # noqa: S608  # constants
    "WHERE session_key = 1 AND artifact_id = ? AND state <> 'deleted' AND seq = ?"
)


class _Chunks:
    """Finds, checks and decodes the chunks of the session that a connection has open."""

    def __init__(self, connection: sqlite3.Connection, key: bytes | None) -> None:
        self._connection = connection
        self._key = key
        self._known: Algorithm | None = None

    def _algorithm(self) -> Algorithm:
        if self._known is None:
            row = self._connection.execute(sql.SESSION_GET, {"session_key": 1}).fetchone()
            self._known = read_session_row(row, self._key).digest_algorithm
        return self._known

    def spillstore_chunk(self, artifact_id: str | None, seq: int | None) -> bytes | None:
        """The bytes of a chunk; NULL for NULL.

        Raises:
            IntegrityError: it is damaged, or not there.
            DigestKeyError: the session has a digest key, and it is not given.
        """
        if artifact_id is None or seq is None:
            return None
        found = self._connection.execute(_CHUNK, (artifact_id, seq)).fetchone()
        if found is None:
            raise IntegrityError(f"{artifact_id!r:.100} has no chunk {seq!r:.30}")
        newline, *columns = found
        row = chunk_codec.ChunkRow._make((*columns, None))
        chunk_codec.verify(row, chunk_codec.prefix(artifact_id, newline), self._algorithm())
        return chunk_codec.decode(row)

    def spillstore_text(self, artifact_id: str | None, seq: int | None) -> str | None:
        """A chunk as text; invalid UTF-8, and a character that spans two chunks, become U+FFFD."""
        raw = self.spillstore_chunk(artifact_id, seq)
        return None if raw is None else raw.decode(errors="replace")


def register(
    connection: sqlite3.Connection, *, digest_key: bytes | str | os.PathLike[str] | None = None
) -> None:
    """Give a connection ``spillstore_chunk(artifact_id, seq)`` and ``spillstore_text(artifact_id, seq)``.

    The connection lives until it is closed. Cost: 0.1 ms for a chunk of 64 KiB.

    Args:
        connection: to a session's file.
        digest_key: that of ``Store``.
    """
    chunks = _Chunks(connection, load_key(digest_key, Settings.load().digest_key_file))
    for function in (chunks.spillstore_chunk, chunks.spillstore_text):
        connection.create_function(function.__name__, 2, function)
