"""What a preview costs: 100 KB by every strategy, small outputs that pass through, large ones on their way to the disk."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from benchmarks import process
from benchmarks.data import MIB
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, median
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore_tools.config import load
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.parts import Gap, Note, length_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workspace import Workspace
    from spillstore import Session

_LIMIT = 8000
_SIZE = 100_000
_STRATEGIES = ("head", "tail", "head_tail", "lines", "element", "smart")
_MS = {"smart": 30.0}
_STREAM = 200 * MIB


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 5 if space.quick else 30
    rows = _strategies(space, rounds)
    store = Store(space.fresh("truncation"), artifacts_per_minute=0, free_disk_floor=0)
    with store.session(SESSION) as session:
        rows += _sizes(space, session, rounds)
        rows += _passing(session, rounds * 20)
    for kind in ("log", "tool"):
        rows += _streams(space, kind, 2 if space.quick else 5)
    return rows


def _strategies(space: Workspace, rounds: int) -> list[Row]:
    inputs = {kind: space.source(kind, MIB).path.read_bytes()[:_SIZE] for kind in ("log", "tool")}
    inputs["json"] = _json(_SIZE)
    rows = []
    for kind, data in inputs.items():
        cuts = {name: functools.partial(_cut, name, data) for name in _STRATEGIES}
        wrong: set[str] = set()

        def check(name: str, _number: int, parts: Any, data: bytes = data, wrong: set[str] = wrong) -> None:
            if not _right(parts, data):
                wrong.add(name)

        times = interleaved(cuts, rounds, check)
        rows += [
            absolute(
                f"100 KB of {kind}, {name}",
                median(taken),
                unit="ms",
                limit=_MS.get(name, 10.0),
                correct=name not in wrong,
                rounds=rounds,
            )
            for name, taken in times.items()
        ]
    return rows


def _cut(name: str, data: bytes, _number: int = 0) -> Any:
    chosen = strategy(name)
    scan = Scan(
        head_chars=_LIMIT, tail_chars=_LIMIT, keep_bytes=chosen.keep_bytes, observer=chosen.observer()
    )
    scan.feed(data)
    overview = scan.finish()
    request = Request(limit=_LIMIT)
    return chosen.cut(overview, request) or strategy("head_tail").cut(overview, request)


def _right(parts: Any, data: bytes) -> bool:
    """Whether the gaps, filled in, give everything back, within the limit."""
    texts = [clean(data[part.start : part.end]) if isinstance(part, Gap) else part.text for part in parts]
    whole = "".join(text for text, part in zip(texts, parts, strict=True) if not isinstance(part, Note))
    return whole == clean(data) and length_of(parts) <= _LIMIT


def _json(size: int) -> bytes:
    items = [
        {"id": number, "name": f"Item {number}", "tags": ["a", "b"], "price": number / 7}
        for number in range(size // 60)
    ]
    return json.dumps(items).encode()


def _sizes(space: Workspace, session: Session, rounds: int) -> list[Row]:
    """Three bounds: 10 MB cut within 100 ms, 1 MB stored within 50, 50 KB of JSON cut within 15."""
    tool = space.source("tool", 50 * MIB).path.read_bytes()
    large = 10_485_759
    acode = TruncationProcessor(
        session,
        profile="acode",
        configuration=load(environment={}, artifact_threshold=50_000_000, max_artifact_size=60_000_000),
    )
    plain = TruncationProcessor(session, profile="acode", configuration=load(environment={}))
    cases: dict[str, tuple[Callable[[int], Any], float]] = {
        "10 MB cut by head_tail, in memory": (lambda _: _cut("head_tail", tool[:large]), 100.0),
        "10 MB cut by head_tail and stored": (lambda _: acode.process(tool[:large], "other"), 0.0),
        "1 MB stored and referred to": (lambda _: plain.process(tool[:MIB], "other"), 50.0),
        "50 KB of JSON cut": (lambda _: _cut("element", _json(50_000)), 15.0),
    }
    rows = []
    for name, (call, limit) in cases.items():
        times = interleaved({name: call}, max(3, rounds // 3), lambda *_: None)[name]
        rows.append(
            absolute(name, median(times), unit="ms", limit=limit or None, correct=True, rounds=len(times))
        )
    return rows


def _passing(session: Session, rounds: int) -> list[Row]:
    text = ("the quick brown fox jumps over the lazy dog\n" * 200)[:_LIMIT]
    rows = []
    for name in ("default", "acode", "opencode", "pipe", "omni"):
        processor = TruncationProcessor(session, profile=name)
        answers: set[str] = set()
        calls = {name: lambda _number, processor=processor: processor.process(text, "read_file").content}
        times = interleaved(
            calls, rounds, lambda _name, _number, answer, answers=answers: answers.add(answer)
        )[name]
        rows.append(
            absolute(
                f"8 KB that pass through, {name}",
                median(times),
                unit="us",
                limit=50.0,
                correct=answers == {text},
                rounds=rounds,
            )
        )
    return rows


def _streams(space: Workspace, kind: str, rounds: int) -> list[Row]:
    source = space.source(kind, 256 * MIB).path
    reports: dict[str, list[dict[str, Any]]] = {"store": [], "default": [], "omni": []}
    for _ in range(rounds):
        for name, found in reports.items():
            found.append(process.python("stream_worker", source, space.fresh("streams"), name, _STREAM))
    rows = [
        compare(
            f"200 MB of {kind} streamed, {name}, against storing alone",
            [report["wall"] for report in reports[name]],
            [report["wall"] for report in reports["store"]],
            "store alone",
            unit="s",
            limit=2.0,
            correct=all(report["right"] for report in reports[name]),
        )
        for name in ("default", "omni")
    ]
    extra = max(report["peak"] for report in reports["default"]) - max(
        report["peak"] for report in reports["store"]
    )
    rows.append(
        absolute(
            f"200 MB of {kind}, default, memory above storing alone", extra, unit="MB", limit=80, correct=True
        )
    )
    return rows
