"""All that a folder holds, as bytes: files as they are, every value of every table, and what is compressed in them."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import zstandard

_MAGIC = b"\x28\xb5\x2f\xfd"


def everything(root) -> bytes:
    """Every byte below a folder, names of files included, and every compressed value once more as it was before."""
    found = []
    for path in sorted(Path(root).rglob("*")):
        found.append(str(path).encode())
        if not path.is_file():
            continue
        data = path.read_bytes()
        found.append(data)
        if data.startswith(b"SQLite format 3\0"):
            found += _values(path)
    return b"\n".join(found)


def _values(path: Path) -> list[bytes]:
    found = []
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, bytes) and value.startswith(_MAGIC):
                        found.append(
                            zstandard.ZstdDecompressor().decompress(value, max_output_size=64 * 1024 * 1024)
                        )
                    else:
                        found.append(value if isinstance(value, bytes) else str(value).encode())
    return found
