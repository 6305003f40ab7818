"""Peers of small things: the same bytes, compressed alike, in a plain file or one bare SQLite table."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from typing import TYPE_CHECKING

import zstandard

from benchmarks.frames import FRAME

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def frames_of(data: bytes, engine: zstandard.ZstdCompressor) -> list[bytes]:
    """Frames of 64 KiB."""
    return [engine.compress(data[start : start + FRAME]) for start in range(0, len(data), FRAME)]


def write_file(path: Path, data: bytes, engine: zstandard.ZstdCompressor, *, sync: bool) -> None:
    """Compress and write one file."""
    with path.open("xb", buffering=0) as file:
        file.write(b"".join(frames_of(data, engine)))
        if sync:
            os.fsync(file.fileno())


def temporary_file(data: bytes, folder: Path) -> None:
    """What a program writes that keeps output in a file for itself; it goes with the folder."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(data)


class Table:
    """One table of blobs in WAL mode, one transaction an artifact."""

    def __init__(self, path: Path, *, make: bool = False) -> None:
        self._connection = sqlite3.connect(path, timeout=30, isolation_level=None)
        self._engine = zstandard.ZstdCompressor(level=1)
        if make:
            self._connection.execute("PRAGMA page_size = 2048")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute(
                "CREATE TABLE chunk (id TEXT, seq INTEGER, data BLOB, PRIMARY KEY (id, seq))"
            )
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def put(self, name: str, data: bytes) -> None:
        """Store one artifact."""
        self.put_frames(name, frames_of(data, self._engine))

    def put_frames(self, name: str, frames: Iterable[bytes]) -> None:
        """Store one artifact that is compressed already."""
        rows = [(name, seq, frame) for seq, frame in enumerate(frames)]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO chunk VALUES (?, ?, ?)", rows)
        self._connection.execute("COMMIT")

    def get(self, name: str) -> bytes:
        """Read one artifact back."""
        engine = zstandard.ZstdDecompressor()
        rows = self._connection.execute(
            "SELECT data FROM chunk WHERE id = ? ORDER BY seq", (name,)
        ).fetchall()
        return b"".join(engine.decompress(data) for (data,) in rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
