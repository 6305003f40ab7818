"""All that a store holds, as bytes: files as they are, every value of every table, and what is compressed in them."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import zstandard

_MAGIC = b"\x28\xb5\x2f\xfd"


def everything(root) -> bytes:
    """Every byte below a folder, names of files included, and every compressed value as it was before.

    Of the URL of a server: every value of every table of the database.
    """
    if str(root).startswith("postgresql"):
        return b"\n".join(_rows_of_server(str(root)))
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


def _rows_of_server(url: str) -> list[bytes]:
    import psycopg  # an extra of the package

    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'spillstore'"
    with psycopg.connect(url) as connection:
        return [
            _bytes_of(value)
            for (table,) in connection.execute(tables).fetchall()
            for row in connection.execute(f"SELECT * FROM spillstore.{table}")
            for value in row
        ]


def _values(path: Path) -> list[bytes]:
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return [
            _bytes_of(value)
            for (table,) in tables
            for row in connection.execute(f'SELECT * FROM "{table}"')
            for value in row
        ]


def _bytes_of(value) -> bytes:
    if isinstance(value, bytes) and value.startswith(_MAGIC):
        return zstandard.ZstdDecompressor().decompress(value, max_output_size=64 * 1024 * 1024)
    return value if isinstance(value, bytes) else str(value).encode()
