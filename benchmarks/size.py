"""What it takes on disk, against one zstd stream at level 1 over the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import stream
from benchmarks.row import Row, compare

if TYPE_CHECKING:
    from benchmarks.workspace import Workspace

_LIMITS = {"log": 1.2, "tool": 1.35}
_FILE_LIMIT = 1.09


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rows = []
    for kind, limit in _LIMITS.items():
        source = space.source(kind, space.large)
        _, report = space.stored(kind, space.large)
        streamed = space.compressed(kind, space.large)
        correct = report["digest"] == source.digest == stream.read_back(streamed)
        stored, size = report["stored"], streamed.stat().st_size
        ratio = round(source.size / stored, 2)
        rows += [
            compare(
                f"chunks: {source.label}",
                [stored],
                [size],
                "zstd -1",
                unit="MB",
                limit=limit,
                correct=correct,
                compression=ratio,
            ),
            compare(
                f"database file: {source.label}",
                [report["file"]],
                [stored],
                "its chunks",
                unit="MB",
                limit=_FILE_LIMIT,
                correct=correct,
            ),
        ]
    return rows
