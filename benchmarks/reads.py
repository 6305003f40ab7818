"""Ranges from random places, against bare frames; at three sizes, to show that what is stored besides does not matter, and in
ten kinds of text, whose lines have 20 bytes or 60,000.

Every round takes one place in each artifact and asks the peer, the store, and the store with its digest check patched
out, in turn, everything in the page cache. Answers are compared with the source file.
"""

from __future__ import annotations

import contextlib
import random
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.data import MIB
from benchmarks.frames import FRAME, Frames
from benchmarks.row import Row, compare
from benchmarks.samples import interleaved, percentile
from benchmarks.texts import TEN
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore.format import chunk_codec

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workspace import Workspace
    from spillstore import Artifact

_LINES = 100
_WARM_UP = 50
_LIMITS = {"64 KiB": 1.25, "100 lines": 1.3}
_FLAT = 1.2
_OF_EACH = 20 * MIB
_CHECK = 1.15
_verify = chunk_codec.verify


class _Case:
    """One artifact, its peer, and the places to read."""

    def __init__(
        self, space: Workspace, kind: str, size: int, rounds: int, stack: contextlib.ExitStack
    ) -> None:
        self.size = size
        source = space.source(kind, size)
        root, report = space.stored(kind, size)
        self.frames = Frames(source.path, space.fresh(f"frames-{kind}-{size // MIB}"))
        stack.callback(self.frames.close)
        session = stack.enter_context(Store(root).session(SESSION, read_only=True))
        self.artifact: Artifact = session.artifact(report["artifact"])
        self.file = stack.enter_context(source.path.open("rb"))
        rng = random.Random(size)
        self.starts = [rng.randrange(size - FRAME) for _ in range(rounds)]
        self.lines = [rng.randrange(1, self.frames.lines - _LINES) for _ in range(rounds)]
        self.offsets = _line_offsets(self.file, self.frames, self.lines)

    def variants(self, kind: str) -> dict[str, Callable[[int], object]]:
        """The three ways to one answer."""
        ours = self._our_bytes if kind == "64 KiB" else self._our_lines
        peer = self._peer_bytes if kind == "64 KiB" else self._peer_lines
        return {"peer": peer, "ours": ours, "unchecked": partial(_unchecked, ours)}

    def _our_bytes(self, number: int) -> bytes:
        start = self.starts[number]
        return self.artifact.read_bytes(start, start + FRAME)

    def _peer_bytes(self, number: int) -> bytes:
        start = self.starts[number]
        return self.frames.read_bytes(start, start + FRAME)

    def _our_lines(self, number: int) -> bytes:
        first = self.lines[number]
        return self.artifact.read_lines(first, first + _LINES - 1)

    def _peer_lines(self, number: int) -> bytes:
        first = self.lines[number]
        return self.frames.read_lines(first, first + _LINES - 1)

    def expected(self, kind: str, number: int) -> bytes:
        """The slice of the source file."""
        start, end = (
            (self.starts[number], self.starts[number] + FRAME) if kind == "64 KiB" else self.offsets[number]
        )
        self.file.seek(start)
        return self.file.read(end - start)


def _line_offsets(file: Any, frames: Frames, lines: list[int]) -> list[tuple[int, int]]:
    """Where the wanted lines stand in the source, found by walking it from one end to the other."""
    wanted = sorted({*lines, *(first + _LINES for first in lines)})
    found: dict[int, int] = {}
    file.seek(0)
    position, line, at = 0, 1, 0
    for number, start in enumerate(frames.starts):
        following = frames.line_starts[number + 1] if number + 1 < len(frames.starts) else frames.lines
        if at < len(wanted) and wanted[at] <= following + 1:
            file.seek(start)
            raw = file.read(FRAME)
            position, line = 0, frames.line_starts[number] + 1
            while at < len(wanted) and wanted[at] <= following + 1:
                while line < wanted[at]:
                    position = raw.index(b"\n", position) + 1
                    line += 1
                found[wanted[at]] = start + position
                at += 1
    return [(found[first], found[first + _LINES]) for first in lines]


def _unchecked(call: Callable[[int], object], number: int) -> object:
    """The library has no switch for this; the patch itself costs two assignments."""
    chunk_codec.verify = lambda row, start, algorithm: None  # noqa: ARG005
    try:
        return call(number)
    finally:
        chunk_codec.verify = _verify


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 500 if space.quick else 3000
    sizes = [1 * MIB, 50 * MIB, space.large]
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        cases = {size: _Case(space, "log", size, rounds, stack) for size in sizes}
        for kind in _LIMITS:
            rows += _rows(kind, cases, rounds)
    for text in TEN:
        with contextlib.ExitStack() as stack:
            case = _Case(space, text, _OF_EACH, rounds // 10, stack)
            for kind in _LIMITS:
                times, wrong = _timed(kind, {_OF_EACH: case}, rounds // 10)
                rows.append(_against_peer(kind, _OF_EACH, times, wrong, f", {text}"))
    return rows


def _rows(kind: str, cases: dict[int, _Case], rounds: int) -> list[Row]:
    """Each size against the peer; the largest against the one in the middle, and against no check."""
    times, wrong = _timed(kind, cases, rounds)
    rows = [_against_peer(kind, size, times, wrong) for size in cases]
    _, middle, large = cases
    flat = compare(
        f"{kind} at {large // MIB} MiB against {middle // MIB} MiB",
        times[f"ours {large}"],
        times[f"ours {middle}"],
        f"{middle // MIB} MiB",
        unit="us",
        limit=_FLAT,
        correct=not wrong,
    )
    checked = compare(
        f"{kind}, checked against unchecked",
        times[f"ours {large}"],
        times[f"unchecked {large}"],
        "no digest check",
        unit="us",
        limit=_CHECK,
        correct=not wrong,
    )
    return [*rows, flat, checked]


def _timed(kind: str, cases: dict[int, _Case], rounds: int) -> tuple[dict[str, list[float]], set[str]]:
    """Seconds of each way at each size, and those whose answers were wrong."""
    variants = {
        f"{name} {size}": call for size, case in cases.items() for name, call in case.variants(kind).items()
    }
    wrong: set[str] = set()
    expected: dict[tuple[int, int], bytes] = {}

    def check(name: str, number: int, answer: object) -> None:
        size = int(name.split()[1])
        if (size, number) not in expected:
            expected.clear() if len(expected) >= len(cases) else None
            expected[size, number] = cases[size].expected(kind, number)
        if answer != expected[size, number]:
            wrong.add(name)

    interleaved(variants, min(rounds, _WARM_UP), check)
    return interleaved(variants, rounds, check), wrong


def _against_peer(
    kind: str, size: int, times: dict[str, list[float]], wrong: set[str], what: str = ""
) -> Row:
    ours, peer = times[f"ours {size}"], times[f"peer {size}"]
    return compare(
        f"{kind} from a random place of {size // MIB} MiB{what}",
        ours,
        peer,
        "bare frames",
        unit="us",
        limit=_LIMITS[kind],
        correct=not {f"ours {size}", f"peer {size}"} & wrong,
        p99_us=round(percentile(ours, 0.99) * 1e6, 1),
        peer_p99_us=round(percentile(peer, 0.99) * 1e6, 1),
    )
