"""Reads that are recorded, against reads that are not: the same content in two sessions, in turn, in the page cache.

What a read adds to its own time is in the median; what writing the batches takes, on a thread beside, is in the mean, so
both are compared. Then reads that somebody observes, against reads that nobody does: an observer that does nothing,
OpenTelemetry's API without an SDK, Prometheus; twenty at a time, since observers are the whole process's. Answers are
compared with the content.
"""

from __future__ import annotations

import random
import statistics
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry

from benchmarks.row import Row, compare
from benchmarks.samples import interleaved
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore.observers import Observer, subscribe
from spillstore_tools import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workspace import Workspace
    from spillstore import Artifact

_SIZE = 64 * 1024
_LINES = 100
_TOTAL = 200_000
_WARM_UP = 100
_LIMIT = 1.1
_AT_ONCE = 20


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 2000 if space.quick else 10_000
    content = b"".join(
        b"2026-01-01T00:00:00 worker %07d finished step %x\n" % (n, n * n) for n in range(_TOTAL)
    )
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    rng = random.Random(_TOTAL)
    places = [rng.randrange(len(content) - _SIZE) for _ in range(rounds)]
    lines = [rng.randrange(1, _TOTAL - _LINES) for _ in range(rounds)]
    sessions = {
        level: Store(space.fresh(f"audit-{level}"), audit=level).session(SESSION) for level in ("full", "off")
    }
    try:
        artifacts = {level: session.put(content, source="log") for level, session in sessions.items()}
        rows: list[Row] = []
        for kind in ("64 KiB", "100 lines"):
            variants: dict[str, Callable[[int], object]] = {
                level: (
                    (lambda n, a=artifact: a.read_bytes(places[n], places[n] + _SIZE))
                    if kind == "64 KiB"
                    else (lambda n, a=artifact: a.read_lines(lines[n], lines[n] + _LINES - 1))
                )
                for level, artifact in artifacts.items()
            }
            rows += _rows(kind, variants, rounds, content, places, lines, starts)
        return rows + _observed(artifacts["full"], rounds // 10, content, places)
    finally:
        for session in sessions.values():
            session.close()


def _rows(
    kind: str,
    variants: dict[str, Callable[[int], object]],
    rounds: int,
    content: bytes,
    places: list[int],
    lines: list[int],
    starts: list[int],
) -> list[Row]:
    wrong: set[str] = set()

    def check(name: str, number: int, answer: object) -> None:
        if kind == "64 KiB":
            expected = content[places[number] : places[number] + _SIZE]
        else:
            expected = content[starts[lines[number] - 1] : starts[lines[number] + _LINES - 1]]
        if answer != expected:
            wrong.add(name)

    interleaved(variants, _WARM_UP, check)
    times = interleaved(variants, rounds, check)
    full, off = times["full"], times["off"]
    mean = statistics.fmean(full) / statistics.fmean(off)
    return [
        compare(
            f"{kind}, recorded against not",
            full,
            off,
            "audit off",
            unit="us",
            limit=_LIMIT,
            correct=not wrong,
            mean_ratio=round(mean, 3),
        )
    ]


def _observed(artifact: Artifact, rounds: int, content: bytes, places: list[int]) -> list[Row]:
    wrong: set[str] = set()

    def read(begin: Callable[[], Callable[[], object]], number: int) -> list[bytes]:
        end = begin()
        found = [
            artifact.read_bytes(place, place + _SIZE)
            for place in (places[(number * _AT_ONCE + each) % len(places)] for each in range(_AT_ONCE))
        ]
        end()
        return found

    def check(name: str, number: int, answers: object) -> None:
        for each, answer in enumerate(answers):
            place = places[(number * _AT_ONCE + each) % len(places)]
            if answer != content[place : place + _SIZE]:
                wrong.add(name)

    def prometheus() -> Callable[[], object]:
        return telemetry.prometheus(CollectorRegistry()).close

    variants: dict[str, Callable[[], Callable[[], object]]] = {
        "nobody": lambda: lambda: None,
        "an observer that does nothing": lambda: subscribe(Observer()),
        "OpenTelemetry without an SDK": telemetry.opentelemetry,
        "Prometheus": prometheus,
    }
    calls = {name: (lambda n, begin=begin: read(begin, n)) for name, begin in variants.items()}
    interleaved(calls, 5, check)
    times = {
        name: [value / _AT_ONCE for value in values]
        for name, values in interleaved(calls, rounds, check).items()
    }
    return [
        compare(
            f"64 KiB, {name}",
            times[name],
            times["nobody"],
            "nobody observes",
            unit="us",
            limit=_LIMIT if name.startswith("an observer") else None,
            correct=not wrong,
        )
        for name in variants
        if name != "nobody"
    ]
