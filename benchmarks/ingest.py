"""How fast bytes go in: a file through ``Writer.write`` in pieces of 1 MiB, against one zstd stream at level 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import process, stream
from benchmarks.row import Row, absolute, compare

if TYPE_CHECKING:
    from benchmarks.data import Source
    from benchmarks.workspace import Workspace

_LIMITS = {"log": (1.0, 1.4), "tool": (1.25, 1.8)}
_MEMORY_MB = 80
_DURABILITIES = ("normal", "full")


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rows: list[Row] = []
    for kind in _LIMITS:
        rows += _kind(space, space.source(kind, space.large), 2 if space.quick else 3)
    return rows


def _kind(space: Workspace, source: Source, rounds: int) -> list[Row]:
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in ("peer", *_DURABILITIES)}
    _ = sum(len(block) for block in source.path.open("rb"))  # into the page cache
    for number in range(rounds):
        names = list(reports)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            reports[name].append(_peer(space, source) if name == "peer" else _ours(space, source, name))
    return [*_rows(source, reports), _memory(space, source, reports["normal"])]


def _peer(space: Workspace, source: Source) -> dict[str, Any]:
    target = space.fresh("peer.zst")
    cost = process.run(stream.command(source.path, target))
    return {"wall": cost.wall, "cpu": cost.cpu, "digest": stream.read_back(target)}


def _ours(space: Workspace, source: Source, durability: str) -> dict[str, Any]:
    root = space.fresh("ingest")
    report = process.python("worker", "write", source.path, root, durability)
    if durability == "normal":
        space.keep(source.kind, source.size, root, report)
    return report


def _rows(source: Source, reports: dict[str, list[dict[str, Any]]]) -> list[Row]:
    wall_limit, cpu_limit = _LIMITS[source.kind]
    rows = []
    for name in _DURABILITIES:
        for key, limit in (("wall", wall_limit), ("cpu", cpu_limit)):
            ours, peer = reports[name], reports["peer"]
            rows.append(
                compare(
                    f"ingest {key}, {name}: {source.label}",
                    [report[key] for report in ours],
                    [report[key] for report in peer],
                    "zstd -1",
                    unit="s",
                    limit=limit if name == "normal" else None,
                    correct={report["digest"] for report in ours + peer} == {source.digest},
                    mib_per_second=round(source.size / 2**20 / min(report["wall"] for report in ours)),
                    samples=[round(report[key], 3) for report in ours],
                    peer_samples=[round(report[key], 3) for report in peer],
                )
            )
    return rows


def _memory(space: Workspace, source: Source, reports: list[dict[str, Any]]) -> Row:
    idle = process.python("worker", "open", space.fresh("idle"))["peak"]
    return absolute(
        f"ingest memory above imports: {source.label}",
        max(report["peak"] for report in reports) - idle,
        unit="MB",
        limit=_MEMORY_MB,
        correct=all(report["digest"] == source.digest for report in reports),
        imports_mb=round(idle / 1e6, 1),
    )
