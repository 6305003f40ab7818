"""What a user gets who changes no setting, by kind of text: redaction, previews and the audit log are on.

A file through ``Writer.write``, through ``spillstore run -- cat`` and through ``spillstore put``, and through the redactor
alone, each in a process of its own, in turn with one zstd stream at level 1 on one thread.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from benchmarks import process, stream
from benchmarks.data import MIB, digest_of, read_blocks
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import median
from benchmarks.texts import TEN, texts
from spillstore import Store
from spillstore.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.workspace import Workspace

_MADE = 8 * MIB  # of each kind; the file repeats it
_MEMORY_MB = 80
_PEER = "zstd -1"
_WORKER = functools.partial(process.python, "defaults_worker")

# What is measured: its name, against what, and the targets: of the wall's time for each kind and for the median of all kinds, and of
# the processor's for each kind.
_MEASURED = {
    "writer": ("Writer.write, defaults", _PEER, 1.6, 1.3, None),
    "plain": ("Writer.write, redaction off", _PEER, 0.9, None, 1.2),
    "run": ("spillstore run -- cat", _PEER, 2.5, 2.0, None),
    "put --profile": ("spillstore put --profile default", "put", 1.4, None, None),
    "redactor": ("the redactor alone", _PEER, None, None, 1.5),
}


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds, size = (1, 32 * MIB) if space.quick else (3, 256 * MIB)
    rows: dict[str, list[Row]] = {name: [] for name in _MEASURED}
    others: list[Row] = []
    for kind, data in texts(_MADE, TEN):
        path = space.fresh("text")
        with path.open("wb") as file:
            for _ in range(size // len(data)):
                file.write(data)
        for name, found in _kind(space, kind, path, rounds).items():
            rows.get(name, others).extend(found)
    medians = [row for name in rows if (row := _median_of_kinds(name, rows[name])) is not None]
    return [*medians, *(row for found in rows.values() for row in found), *others]


def _kind(space: Workspace, kind: str, path: Path, rounds: int) -> dict[str, list[Row]]:
    """The rows of one kind, by what was measured."""
    expected = digest_of(read_blocks(path)), digest_of(_redacted(path))
    calls: dict[str, Callable[[Path], dict[str, Any]]] = {
        _PEER: lambda _: _compressed(space, path),
        "writer": lambda root: _WORKER("writer", path, root),
        "plain": lambda root: _WORKER("plain", path, root),
        "run": lambda root: _command(root, "run", "--root", root, "--", "cat", path),
        "put": lambda root: _command(root, "put", "--root", root, path),
        "put --profile": lambda root: _command(root, "put", "--root", root, "--profile", "default", path),
        "redactor": lambda _: _WORKER("redactor", path, ""),
    }
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in calls}
    for number in range(rounds):
        names = list(calls)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            reports[name].append(calls[name](space.fresh("defaults")))
    rows = {name: _rows(name, kind, reports, expected) for name in _MEASURED}
    idle = _WORKER("idle", path, space.fresh("idle"))["peak"]
    rows["memory"] = [
        absolute(
            f"memory above imports, {name}: {kind}",
            max(report["peak"] for report in reports[name]) - idle,
            unit="MB",
            limit=_MEMORY_MB,
            correct=True,
        )
        for name in ("writer", "run")
    ]
    return rows


def _redacted(path: Path) -> Iterator[bytes]:
    """What is stored of a file where redaction is on."""
    redactor = Redactor()
    for block in read_blocks(path):
        yield redactor.feed(block)
    yield redactor.finish()


def _compressed(space: Workspace, path: Path) -> dict[str, Any]:
    cost = process.run(stream.command(path, space.fresh("peer.zst")))
    return {"wall": cost.wall, "cpu": cost.cpu}


def _command(root: Path, *arguments: object) -> dict[str, Any]:
    """The command line as a user calls it; what it has stored is read back afterwards."""
    cost = process.run([sys.executable, "-m", "benchmarks.defaults_worker", "command", *map(str, arguments)])
    peak = int(cost.output.rsplit("\n", 2)[-2])
    store = Store(root)
    (found,) = store.sessions()
    with store.session(found.id, project=found.project, read_only=True) as session:
        (info,) = session.infos()
        digest = digest_of(session.artifact(info.id).chunks())
    return {"wall": cost.wall, "cpu": cost.cpu, "peak": peak, "digest": digest}


def _rows(
    name: str, kind: str, reports: dict[str, list[dict[str, Any]]], expected: tuple[str, str]
) -> list[Row]:
    what, peer, wall, _, cpu = _MEASURED[name]
    right = {report["digest"] for report in reports[name]} == {expected[name != "plain"]}
    return [
        compare(
            f"{what}, {key}: {kind}",
            [report[key] for report in reports[name]],
            [report[key] for report in reports[peer]],
            peer,
            unit="s",
            limit=limit,
            correct=right,
            samples=[round(report[key], 3) for report in reports[name]],
            peer_samples=[round(report[key], 3) for report in reports[peer]],
        )
        for key, limit in (("wall", wall), ("cpu", cpu))
    ]


def _median_of_kinds(name: str, rows: list[Row]) -> Row | None:
    """The ratio in the middle, of the wall's time; None where there is no target for it."""
    what, peer, _, limit, _ = _MEASURED[name]
    ratios = [row.ratio for row in rows if row.ratio is not None and ", wall: " in row.what]
    if limit is None or not ratios:
        return None
    return absolute(
        f"{what}, wall: median of {len(ratios)} kinds against {peer}",
        median(ratios),
        unit="x",
        limit=limit,
        correct=all(row.correct for row in rows),
        worst=max(ratios),
    )
