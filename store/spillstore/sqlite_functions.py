r"""Chunks as text, for sessions' files that are opened with Python's ``sqlite3`` or with Datasette.

    >>> import sqlite3, tempfile
    >>> from spillstore import Store
    >>> from spillstore import sqlite_functions
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with Store(root, free_disk_floor=0).session("demo") as session:
    ...         _ = session.put("one\ntwo\n", source="doc")
    ...     connection = sqlite3.connect(f"file:{root}/_/demo/session.db?mode=ro", uri=True)
    ...     sqlite_functions.register(connection)
    ...     connection.execute("SELECT spillstore_text(data) FROM chunk ORDER BY seq").fetchall()
    ...     connection.close()
    [('one\ntwo\n',)]

They decode, and check nothing: digests are checked by ``Artifact`` and by ``spillstore verify``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    import sqlite3

_MOST = 16 * 1024 * 1024  # bytes of a chunk: far more than ours have, and a frame may promise anything


def spillstore_chunk(data: bytes | None) -> bytes | None:
    """The bytes of a chunk's ``data``.

    Raises:
        ValueError: it is no chunk; SQLite makes that an error of the statement.
    """
    if data is None:
        return None
    decompressor = zstandard.ZstdDecompressor()  # a fresh one, since threads cannot share one
    try:
        if zstandard.frame_content_size(data) > _MOST:
            raise ValueError(f"a chunk of more than {_MOST} bytes is none of ours")
        return decompressor.decompress(data, max_output_size=_MOST)
    except zstandard.ZstdError as error:
        raise ValueError(f"no chunk: {error}") from None


def spillstore_text(data: bytes | None) -> str | None:
    """A chunk's content as text; invalid UTF-8 and a character that spans two chunks become U+FFFD."""
    raw = spillstore_chunk(data)
    return None if raw is None else raw.decode(errors="replace")


def register(connection: sqlite3.Connection) -> None:
    """Give a connection ``spillstore_chunk(data)`` and ``spillstore_text(data)``."""
    for function in (spillstore_chunk, spillstore_text):
        connection.create_function(function.__name__, 1, function, deterministic=True)
