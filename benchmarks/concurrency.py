"""Eight processes that store small outputs in one session at once, against eight on one bare SQLite table."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING, Any

from benchmarks import plain
from benchmarks.data import MIB
from benchmarks.row import Row, compare
from benchmarks.workspace import SESSION
from spillstore import Store

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.workspace import Workspace

_PROCESSES = 8
_ARTIFACTS = 20
_SIZE = 97_000
_SETTINGS = {"artifacts_per_minute": 0, "free_disk_floor": 0}


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    data = space.source("log", 50 * MIB).path
    ours: list[float] = []
    peer: list[float] = []
    errors: list[str] = []
    lost = 0
    worst = 0.0
    for _ in range(2 if space.quick else 5):
        seconds, failed, waits = _together(_writer, space.fresh("concurrent"), data)
        ours.append(seconds)
        errors += failed
        worst = max(worst, waits)
        lost += _missing(space.folder / "concurrent", data)
        table = space.fresh("concurrent.db")
        plain.Table(table, make=True).close()
        seconds, failed, _waits = _together(_table_writer, table, data)
        peer.append(seconds)
        errors += failed
    total = _PROCESSES * _ARTIFACTS
    row = compare(
        f"{_PROCESSES} processes x {_ARTIFACTS} artifacts of 97 KB",
        ours,
        peer,
        "bare table",
        unit="s",
        limit=None,
        correct=not errors and not lost,
        artifacts_per_second=round(total / sorted(ours)[len(ours) // 2]),
        peer_artifacts_per_second=round(total / sorted(peer)[len(peer) // 2]),
        worst_artifact_ms=round(worst * 1e3, 1),
        errors=errors[:3],
        lost=lost,
    )
    return [row]


def _together(target: Any, path: Path, data: Path) -> tuple[float, list[str], float]:
    """Start all, let them go at once: seconds until the last one ends, errors, the longest artifact."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(_PROCESSES), context.Queue()
    children = [
        context.Process(target=_child, args=(target, path, data, number, barrier, queue))
        for number in range(_PROCESSES)
    ]
    for child in children:
        child.start()
    answers = [queue.get(timeout=120) for _ in children]
    for child in children:
        child.join()
    begin, end = min(answer[0] for answer in answers), max(answer[1] for answer in answers)
    return (
        end - begin,
        [error for answer in answers for error in answer[2]],
        max(answer[3] for answer in answers),
    )


def _child(target: Any, path: Path, data: Path, number: int, barrier: Any, queue: Any) -> None:
    inputs = [_input(data, number, count) for count in range(_ARTIFACTS)]
    put, close = target(path, number)
    errors: list[str] = []
    worst = 0.0
    barrier.wait()
    begin = time.monotonic()
    for count, raw in enumerate(inputs):
        started = time.monotonic()
        try:
            put(count, raw)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
        worst = max(worst, time.monotonic() - started)
    end = time.monotonic()
    close()
    queue.put((begin, end, errors, worst))


def _writer(root: Path, number: int) -> tuple[Any, Any]:
    session = Store(root, **_SETTINGS).session(SESSION)

    def put(count: int, raw: bytes) -> None:
        with session.create(source="benchmark", tool_call_id=f"{number}-{count}") as writer:
            writer.write(raw)

    return put, session.close


def _table_writer(path: Path, number: int) -> tuple[Any, Any]:
    table = plain.Table(path)
    return lambda count, raw: table.put(f"{number}-{count}", raw), table.close


def _input(data: Path, number: int, count: int) -> bytes:
    with data.open("rb") as file:
        file.seek((number * _ARTIFACTS + count) * 100_003)
        return file.read(_SIZE)


def _missing(root: Path, data: Path) -> int:
    """Artifacts that are not there, or not what was written."""
    found: set[str] = set()
    with Store(root).session(SESSION, read_only=True) as session:
        for artifact in session.artifacts(state="sealed", limit=_PROCESSES * _ARTIFACTS):
            call = artifact.info.tool_call_id or ""
            number, count = map(int, call.split("-"))
            if artifact.read_bytes(0, _SIZE + 1) == _input(data, number, count):
                found.add(call)
    return _PROCESSES * _ARTIFACTS - len(found)
