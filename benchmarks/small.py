"""One hundred kilobytes from first byte to sealed, in a session that is open: what an agent's tool call waits for."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import zstandard

from benchmarks import plain
from benchmarks.data import MIB
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, percentile
from benchmarks.workspace import SESSION
from spillstore import Store

if TYPE_CHECKING:
    from benchmarks.workspace import Workspace
    from spillstore import Session

_SIZE = 100_000
_PIECE = 8192
_P50_MS, _P99_MS = 1.0, 2.0
_TEMPORARY = 2.5  # times a temporary file


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 300 if space.quick else 2000
    data = space.source("log", 50 * MIB).path.read_bytes()
    inputs = [data[start : start + _SIZE] for start in range(0, rounds * 9973, 9973)]
    return [row for durability in ("normal", "full") for row in _durability(space, durability, inputs)]


def _durability(space: Workspace, durability: str, inputs: list[bytes]) -> list[Row]:
    folder = space.fresh("plain")
    folder.mkdir()
    engine = zstandard.ZstdCompressor(level=1)
    wrong = 0
    with contextlib.ExitStack() as stack:
        table = plain.Table(space.fresh("plain.db"), make=True)
        stack.callback(table.close)
        store = Store(space.fresh("small"), durability=durability, artifacts_per_minute=0, free_disk_floor=0)
        session = stack.enter_context(store.session(SESSION))

        def check(name: str, number: int, answer: object) -> None:
            nonlocal wrong
            if name == "ours":
                wrong += session.artifact(str(answer)).read_bytes(0, _SIZE + 1) != inputs[number]
            elif name == "table":
                wrong += table.get(str(number)) != inputs[number]

        times = interleaved(
            {
                "ours": lambda number: _store(session, inputs[number]),
                "file": lambda number: plain.write_file(
                    folder / str(number), inputs[number], engine, sync=durability == "full"
                ),
                "temporary": lambda number: plain.temporary_file(inputs[number], folder),
                "table": lambda number: table.put(str(number), inputs[number]),
            },
            len(inputs),
            check,
        )
    return _rows(durability, times, correct=not wrong)


def _store(session: Session, data: bytes) -> str:
    with session.create(source="benchmark") as writer:
        for start in range(0, len(data), _PIECE):
            writer.write(data[start : start + _PIECE])
    return writer.id


def _rows(durability: str, times: dict[str, list[float]], *, correct: bool) -> list[Row]:
    ours = times["ours"]
    target = durability == "normal"
    rows = [
        absolute(
            f"100 KB, first byte to sealed, {durability}: {name}",
            percentile(ours, share),
            unit="ms",
            limit=limit if target else None,
            correct=correct,
            rounds=len(ours),
        )
        for name, share, limit in (("p50", 0.5, _P50_MS), ("p99", 0.99, _P99_MS))
    ]
    peers = {
        "file": "plain file, fsync" if durability == "full" else "plain file",
        "table": "bare table",
        "temporary": "temporary file",
    }
    rows += [
        compare(
            f"100 KB, {durability}, against a {name}",
            ours,
            times[peer],
            name,
            unit="ms",
            limit=_TEMPORARY if peer == "temporary" else None,
            correct=correct,
            peer_p99_ms=round(percentile(times[peer], 0.99) * 1e3, 3),
        )
        for peer, name in peers.items()
        if peer == "file" or target
    ]
    return rows
