"""What the tool ``bash`` costs above running the command, and above storing what it prints."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks import process
from benchmarks.data import MIB
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, median, percentile
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore_tools.agent.bash import bash, bash_sync

if TYPE_CHECKING:
    from benchmarks.workspace import Workspace
    from spillstore import Session

_SMALL = "printf '%s' 'twenty bytes of text'"
_END = f"exec {shlex.quote(sys.executable)} -S -c 'import time; print(time.time(), flush=True)'"
_LARGE_END = f"seq 1 200000; {_END}"


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 50 if space.quick else 300
    store = Store(space.fresh("bash"), artifacts_per_minute=0, free_disk_floor=0)
    with store.session(SESSION) as session:
        rows = [*_small(session, rounds), *_latency(session, rounds // 5)]
    for kind in ("log", "tool"):
        rows += _large(space, kind, 1 if space.quick else 3)
    return rows


def _small(session: Session, rounds: int) -> list[Row]:
    """A command of 20 bytes beside ``subprocess.run``."""
    right: dict[str, bool] = {}

    def peer(_: int) -> bytes:
        command = ["bash", "-c", _SMALL]
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True).stdout

    def check(name: str, _: int, answer: Any) -> None:
        found = answer if isinstance(answer, bytes) else answer.text.encode()
        right[name] = right.get(name, True) and found.startswith(b"twenty bytes of text")

    with asyncio.Runner() as runner:
        calls = {
            "subprocess.run": peer,
            "bash_sync": lambda _: bash_sync(session, command=_SMALL),
            "bash": lambda _: runner.run(bash(session, command=_SMALL)),
        }
        times = interleaved(calls, rounds, check)
    return [
        absolute(
            f"20 bytes, {name}, above subprocess.run",
            median(times[name]) - median(times["subprocess.run"]),
            unit="ms",
            limit=2.0,
            correct=right[name],
            rounds=rounds,
            peer_ms=median(times["subprocess.run"]) * 1e3,
        )
        for name in ("bash_sync", "bash")
    ]


def _latency(session: Session, rounds: int) -> list[Row]:
    """From the last thing that a process does to the result in hand; a part of it is the process's own end."""
    rows = []
    for name, command, limit in (("little output", _END, 5.0), ("1.3 MB of output", _LARGE_END, 10.0)):
        taken, peer = [], []
        for _ in range(rounds):
            result = bash_sync(session, command=command)
            now = time.time()
            taken.append(now - float(result.text.splitlines()[-2]))
            done = subprocess.run(["bash", "-c", _END], capture_output=True, check=True)
            peer.append(time.time() - float(done.stdout))
        rows.append(
            absolute(
                f"from a process's last print to the result, {name}",
                median(taken),
                unit="ms",
                limit=None,
                correct=True,
                rounds=rounds,
                p99=percentile(taken, 0.99) * 1e3,
            )
        )
        rows.append(
            absolute(
                f"the same, above subprocess.run, {name}",
                median(taken) - median(peer),
                unit="ms",
                limit=limit,
                correct=True,
                rounds=rounds,
                peer_ms=median(peer) * 1e3,
            )
        )
    return rows


def _large(space: Workspace, kind: str, rounds: int) -> list[Row]:
    """A large file printed by ``cat``, beside the same bytes written into a store."""
    size = 256 if space.quick else 1024
    source = space.source(kind, size * MIB).path
    reports: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("store", "capture", "pipe", "omni", "default")
    }
    for _ in range(rounds):
        for name, found in reports.items():
            found.append(process.python("bash_worker", source, space.fresh("large"), name))
    rows = [
        compare(
            f"{size} MiB of {kind} from cat, {name}, against storing alone",
            [report["wall"] for report in found],
            [report["wall"] for report in reports["store"]],
            "store alone",
            unit="s",
            limit=1.25,
            correct=all(report["right"] for report in found),
        )
        for name, found in reports.items()
        if name != "store"
    ]
    peak = max(report["peak"] for report in reports["default"])
    rows.append(
        absolute(
            f"{size} MiB of {kind} from cat, default, memory above imports",
            peak,
            unit="MB",
            limit=80,
            correct=True,
        )
    )
    return rows
