"""What redaction costs: logs and tool output through the filter, beside storing them; 100 KB; input made to be slow."""

from __future__ import annotations

import functools
import random
import time
from typing import TYPE_CHECKING

import zstandard

from benchmarks import redaction_names
from benchmarks.data import MIB
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved, median
from benchmarks.texts import texts
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore.redaction import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.workspace import Workspace

_PIECE = 2 * MIB  # what a pump takes at once
_BLOCK, _WRITTEN = MIB // 4, MIB // 2  # what is compressed at once, and what a writer gives a filter at once
_SMALL = 100_000
# What a kind may take: so many times as long as compressing it, or so fast where compressing is faster than that, in MB/s.
_MOST, _FAST_ENOUGH, _FAST = 2.0, 250, 500
_HOSTILE = {
    "assignments in a row": b"password=",
    "names without values": b"password secret token key auth\n",
    "annotations": b"password: str\n",
    "secrets in a row": b"password=a1b2 ",
    "beginnings of tokens": b"eyJ",
    "beginnings of keys": b"-----BEGIN",
    "one letter": b"a",
}


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 3 if space.quick else 10
    size = 2 * MIB if space.quick else 8 * MIB
    # Before anything is stored: then there are workers, which search parts of a text ahead, and two threads side by side take more
    # processor time than one; the peer has one.
    kinds = [_kind(name, data, rounds) for name, data in (*texts(size), *redaction_names.texts(size))]
    rows: list[Row] = []
    for kind in ("log", "tool"):
        data = space.source(kind, 50 * MIB).path.read_bytes()
        rows += _beside_storing(space, kind, data, rounds)
        rows.append(_small(kind, data[:_SMALL], rounds * 10))
    hostile = [_hostile(name, unit, rounds) for name, unit in _HOSTILE.items()]
    return [*rows, *kinds, *hostile]


def _filtered(data: bytes, _number: int = 0) -> bytes:
    redactor = Redactor()
    pieces = [redactor.feed(data[first : first + _PIECE]) for first in range(0, len(data), _PIECE)]
    return b"".join([*pieces, redactor.finish()])


def _passed(blocks: list[bytes]) -> int:
    """How many bytes come out, in pieces, as a writer takes them."""
    redactor = Redactor()
    return sum(sum(map(len, redactor.pieces(block))) for block in blocks) + len(redactor.finish())


def _stored(root: Path, data: bytes, number: int, *, redact: bool) -> str | None:
    store = Store(root, artifacts_per_minute=0, free_disk_floor=0, redact=redact)
    with store.session(f"{SESSION}-{number}") as session:
        digest = session.put(data, source="benchmark").info.digest
        session.end()
    return digest


def _beside_storing(space: Workspace, kind: str, data: bytes, rounds: int) -> list[Row]:
    """Storing with redaction takes at most twice as long as without; and the filter alone beside that."""
    root = space.fresh(f"redaction-{kind}")
    answers: dict[str, set[object]] = {"filter": set(), "on": set(), "off": set()}

    def check(name: str, _number: int, answer: object) -> None:
        answers[name].add(answer == data if name == "filter" else answer)

    calls = {
        "filter": functools.partial(_filtered, data),
        "on": functools.partial(_stored, root, data, redact=True),
        "off": functools.partial(_stored, root, data, redact=False),
    }
    times = interleaved(calls, rounds, check)
    return [
        compare(
            f"50 MiB of {kind} stored with redaction, against without",
            times["on"],
            times["off"],
            "without",
            unit="s",
            limit=2.0,
            correct=len(answers["on"] | answers["off"]) == 1,  # neither has secrets, so they are the same
        ),
        compare(
            f"50 MiB of {kind} through the filter alone",
            times["filter"],
            times["off"],
            "storing without",
            unit="s",
            limit=None,
            correct=answers["filter"] == {True},
            speed=len(data) / median(times["filter"]) / 1e6,
        ),
    ]


def _kind(name: str, data: bytes, rounds: int) -> Row:
    """Processor time of the filter beside that of ``zstd -1`` for the same bytes; right if pieces of other sizes give the same.

    What comes out is not kept: on its way into a store it is passed on, and to collect it would cost as much as the filter does.
    """
    pieces = [data[first : first + _BLOCK] for first in range(0, len(data), _BLOCK)]
    blocks = [data[first : first + _WRITTEN] for first in range(0, len(data), _WRITTEN)]
    sizes: set[object] = set()

    def stream() -> int:
        engine = zstandard.ZstdCompressor(level=1).compressobj()
        return sum(len(engine.compress(piece)) for piece in pieces) + len(engine.flush())

    def check(variant: str, _number: int, answer: object) -> None:
        if variant == "filter":
            sizes.add(answer)

    times = interleaved(
        {
            "filter": lambda _number: _passed(blocks),
            "zstd": lambda _number: stream(),
        },
        rounds,
        check,
        time.process_time,
    )
    redactor = Redactor()
    cut = b"".join([*map(redactor.feed, pieces), redactor.finish()])
    row = compare(
        f"{len(data) // MIB} MiB of {name} through the filter alone, processor time",
        times["filter"],
        times["zstd"],
        "zstd -1, one stream",
        unit="ms",
        limit=_MOST,
        correct=_filtered(data) == cut and sizes == {len(cut)},
        speed=len(data) / min(times["filter"]) / 1e6,
        peer_speed=len(data) / min(times["zstd"]) / 1e6,
    )
    if row.extra["peer_speed"] > _FAST and row.verdict == "MISS":
        row.limit, row.of_ratio = len(data) / _FAST_ENOUGH / 1e3, False
    return row


def _small(kind: str, data: bytes, rounds: int) -> Row:
    answers: set[bytes] = set()
    times = interleaved(
        {kind: functools.partial(_filtered, data)}, rounds, lambda _name, _number, answer: answers.add(answer)
    )[kind]
    return absolute(
        f"100 KB of {kind} through the filter",
        median(times),
        unit="ms",
        limit=10.0,
        correct=answers == {data},
        rounds=rounds,
    )


def _hostile(name: str, unit: bytes, rounds: int) -> Row:
    """A megabyte; right if the answer is the same in pieces of any size."""
    data = unit * (MIB // len(unit))
    answers: list[bytes] = []
    times = interleaved(
        {name: functools.partial(_filtered, data)},
        rounds,
        lambda _name, _number, answer: answers.append(answer),
    )[name]
    redactor = Redactor()
    places = sorted(random.Random(1).sample(range(len(data)), 50))
    pieces = [
        redactor.feed(data[first:last])
        for first, last in zip([0, *places], [*places, len(data)], strict=True)
    ]
    return absolute(
        f"1 MiB of {name}",
        median(times),
        unit="ms",
        limit=None,
        correct=set(answers) == {b"".join([*pieces, redactor.finish()])},
        rounds=rounds,
    )
