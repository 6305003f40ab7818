"""A session's beginning and its end: made from nothing, and deleted with a gigabyte in it."""

from __future__ import annotations

import os
import shutil
import threading
import time
from typing import TYPE_CHECKING

from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, median, percentile
from benchmarks.workspace import SESSION
from spillstore import Store

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.workspace import Workspace
    from spillstore import Session

_P50_MS, _P95_MS = 5.0, 10.0
_DELETE_MS = 20.0
_SETTINGS = {"artifacts_per_minute": 0, "free_disk_floor": 0}
_IMAGE = 40_960


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    return [*_new(space, 100 if space.quick else 500), *_delete(space, 2 if space.quick else 5)]


def _new(space: Workspace, rounds: int) -> list[Row]:
    store = Store(space.fresh("new"), **_SETTINGS)
    folder = space.fresh("plain-new")
    folder.mkdir()
    wrong = 0

    def check(name: str, number: int, answer: object) -> None:
        nonlocal wrong
        if name == "ours":
            session: Session = answer  # type: ignore[assignment]
            wrong += session.id != f"new-{number}" or len(session.artifacts()) != 0
            session.close()

    times = interleaved(
        {
            "ours": lambda number: store.session(f"new-{number}"),
            "peer": lambda number: _plain(folder / str(number)),
        },
        rounds,
        check,
    )
    correct = not wrong and sum(1 for _ in store.sessions()) == rounds
    ours = times["ours"]
    rows = [
        absolute(
            f"new session: {name}",
            percentile(ours, share),
            unit="ms",
            limit=limit,
            correct=correct,
            rounds=rounds,
        )
        for name, share, limit in (("p50", 0.5, _P50_MS), ("p95", 0.95, _P95_MS))
    ]
    peer = "folder, file, rename"
    return [
        *rows,
        compare(
            f"new session against a {peer}", ours, times["peer"], peer, unit="ms", limit=None, correct=correct
        ),
    ]


def _plain(folder: Path) -> None:
    """What the disk asks for the least that could be called a session."""
    hidden = folder.with_name(f".{folder.name}")
    hidden.mkdir()
    (hidden / "file").write_bytes(bytes(_IMAGE))
    hidden.rename(folder)


def _delete(space: Workspace, rounds: int) -> list[Row]:
    origin, _ = space.stored("log", space.large)
    calls, gone, freed, unlinked = [], [], [], []
    correct = True
    for _ in range(rounds):
        root = shutil.copytree(origin, space.fresh("delete"))
        peer = shutil.copy(next(root.glob("*/*/session.db")), space.fresh("delete-peer"))
        os.sync()
        begin = time.perf_counter()
        peer.unlink()
        unlinked.append(time.perf_counter() - begin)
        store = Store(root, **_SETTINGS)
        session = store.session(SESSION)
        correct &= [info.id for info in store.sessions()] == [SESSION]
        before = set(threading.enumerate())
        begin = time.perf_counter()
        session.delete()
        calls.append(time.perf_counter() - begin)
        correct &= not list(store.sessions())
        gone.append(time.perf_counter() - begin)
        freed.append(_until_free(begin, before))
        correct &= not any(path.name == "session.db" for path in root.rglob("*"))
    what = f"delete a session of {space.large >> 20} MiB"
    return [
        absolute(f"{what}: the call", median(calls), unit="ms", limit=None, correct=correct, rounds=rounds),
        absolute(
            f"{what}: gone from sight", max(gone), unit="ms", limit=_DELETE_MS, correct=correct, rounds=rounds
        ),
        compare(f"{what}: space free", freed, unlinked, "unlink", unit="ms", limit=None, correct=correct),
    ]


def _until_free(begin: float, before: set[threading.Thread]) -> float:
    """Seconds since ``begin`` until the store's own threads are done.

    The file's name goes at the beginning of ``unlink``, its blocks only at the end, so looking for it would lie.
    """
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
    return time.perf_counter() - begin
