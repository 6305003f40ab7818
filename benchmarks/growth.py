"""What grows with what is stored: a session of many artifacts, a root of many sessions, one artifact of many gigabytes.

Each is filled at several sizes first; then every size is asked the same in turn, so that a busy machine slows all of them
alike. A time that grows by more than the logarithm of the size misses its target. Nothing is redacted while filling: reads
do not know the difference, and it takes hours otherwise. Memory is that of a fresh process that opens, lists, reads,
searches and creates once.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import process
from benchmarks.data import MIB
from benchmarks.row import Row, compare
from benchmarks.samples import interleaved, median, percentile
from spillstore import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.workspace import Workspace

GIB = 1024 * MIB
SETTINGS: dict[str, Any] = {
    "artifacts_per_minute": 0,
    "free_disk_floor": 0,
    "redact": False,
    "artifact_limit": 64 * GIB,
    "session_quota": 64 * GIB,
    "store_quota": 128 * GIB,
}
_LINES = 120  # of each small artifact
_ASKED = 100  # lines
_PAGE = 50
_BLOCK = 64 * 1024
_KEPT_FREE = 4 * GIB  # of the disk, whatever is measured
_SHARE = 0.4  # of a large text, that it takes at most on the disk
_STAMP = b"request_id="


class _Sizes(NamedTuple):
    """How large what grows is, and how often each is asked."""

    artifacts: tuple[int, ...]
    sessions: tuple[int, ...]
    bytes: tuple[int, ...]
    rounds: int


_FULL = _Sizes((1_000, 10_000, 100_000), (200, 2_000, 20_000), (16 * MIB, 256 * MIB, 2 * GIB, 10 * GIB), 500)
_QUICK = _Sizes((100, 500, 2_000), (50, 150, 500), (16 * MIB, 64 * MIB, 256 * MIB), 100)

_Calls = dict[str, "Callable[[int], object]"]


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    sizes = _QUICK if space.quick else _FULL
    return [
        *_session(space, sizes.artifacts, sizes.rounds),
        *_root(space, sizes.sessions, sizes.rounds // 5),
        *_artifact(space, sizes.bytes, sizes.rounds),
    ]


def small_text(number: int) -> bytes:
    """The output of a small artifact; each differs."""
    line = b"2026-03-01T10:00:%02dZ INFO [worker-%d] GET /v1/users/%d status=200 duration_ms=%d\n"
    return b"".join(
        line % (each % 60, number % 16, number * 7919 % 5003, each * number % 977) for each in range(_LINES)
    )


def _part(text: bytes, first: int) -> bytes:
    """Lines ``first`` to ``first + _ASKED - 1``."""
    return b"".join(text.splitlines(keepends=True)[first - 1 : first - 1 + _ASKED])


# --- a session --------------------------------------------------------------------------------------------


def _session(space: Workspace, sizes: tuple[int, ...], rounds: int) -> list[Row]:
    store = Store(space.fresh("growing"), **SETTINGS)
    ids = {size: _filled(store, size) for size in sizes}
    wrong: set[str] = set()
    with contextlib.ExitStack() as stack:
        sessions = {size: stack.enter_context(store.session(f"of-{size}")) for size in sizes}
        places = random.Random(1)
        numbers = {size: [places.randrange(size) for _ in range(rounds)] for size in sizes}

        def create(size: int, number: int) -> str:
            with sessions[size].create(source="benchmark") as writer:
                writer.write(small_text(number))
            return writer.id

        def chosen(size: int, number: int) -> Any:
            return sessions[size].artifact(ids[size][numbers[size][number]])

        calls = {
            "create and seal": create,
            "list, first page": lambda size, _: sessions[size].infos(limit=_PAGE),
            "100 lines": lambda size, number: chosen(size, number).read_lines(3, _ASKED + 2),
            "search, first page": lambda size, number: chosen(size, number).search("status=200", limit=_PAGE),
            "open": lambda size, _: store.session(f"of-{size}", read_only=True),
        }

        def check(name: str, size: int, number: int, answer: Any) -> None:
            text = small_text(numbers[size][number])
            if name == "open":
                answer.close()
            elif name == "create and seal":
                ids[size].append(answer)
                _expect(wrong, name, sessions[size].artifact(answer).read() == small_text(number))
            elif name == "list, first page":
                _expect(wrong, name, [info.id for info in answer] == ids[size][: -_PAGE - 1 : -1])
            elif name == "100 lines":
                _expect(wrong, name, answer == _part(text, 3))
            else:
                _expect(wrong, name, len(answer.matches) == _PAGE)

        times = _asked(calls, sizes, rounds, check)
    rows = _rows("a session", "artifacts", sizes, times, wrong)
    return [*rows, _memory("a session", "artifacts", sizes, store, [f"of-{size}" for size in sizes])]


def _filled(store: Store, size: int) -> list[str]:
    ids = []
    with store.session(f"of-{size}") as session:
        for number in range(size):
            with session.create(source="benchmark", command="make test") as writer:
                writer.write(small_text(number))
            ids.append(writer.id)
    return ids


# --- a root -----------------------------------------------------------------------------------------------


def _root(space: Workspace, sizes: tuple[int, ...], rounds: int) -> list[Row]:
    stores = {}
    for size in sizes:
        stores[size] = Store(space.fresh(f"root-{size}"), **SETTINGS)
        for number in range(size):
            with stores[size].session(f"chat-{number}") as session:
                session.put(small_text(number), source="benchmark")
    wrong: set[str] = set()
    places = random.Random(2)
    numbers = {size: [places.randrange(size) for _ in range(rounds)] for size in sizes}
    known = {size: {f"chat-{number}" for number in range(size)} for size in sizes}
    calls = {
        "create": lambda size, number: stores[size].session(f"new-{number}"),
        "open": lambda size, number: stores[size].session(f"chat-{numbers[size][number]}"),
        "list, first page": lambda size, _: list(itertools.islice(stores[size].sessions(), _PAGE)),
    }

    def check(name: str, size: int, number: int, answer: Any) -> None:
        if name == "list, first page":
            _expect(wrong, name, len({info.id for info in answer} & known[size]) == _PAGE)
            return
        if name == "create":
            known[size].add(answer.id)
            _expect(wrong, name, not answer.infos())
        else:
            (info,) = answer.infos()
            _expect(wrong, name, answer.artifact(info.id).read() == small_text(numbers[size][number]))
        answer.close()

    times = _asked(calls, sizes, rounds, check)
    whole = _asked({"list, all": lambda size, _: list(stores[size].sessions())}, sizes, 3, lambda *_: None)
    each = {key: [seconds / key[1] for seconds in found] for key, found in whole.items()}
    return [
        *_rows("a root", "sessions", sizes, times, wrong),
        *_rows("a root", "sessions", sizes, each, wrong, note=", time for each session"),
    ]


# --- an artifact ------------------------------------------------------------------------------------------


class _Text:
    """A text of any size from a pool of log lines: the mark of each line says which time the pool is repeated."""

    def __init__(self, pool: bytes) -> None:
        self.pool = pool[: pool.rindex(b"\n") + 1]
        self.starts = [0, *itertools.accumulate(map(len, self.pool.splitlines(keepends=True)))]
        self.lines = len(self.starts) - 1

    def blocks(self, size: int) -> Iterator[bytes]:
        """The text from its beginning, whole pools until there are ``size`` bytes."""
        for time in range(-(-size // len(self.pool))):
            stamped = self.pool.replace(_STAMP, b"rq%08d=" % time)
            yield from (stamped[start : start + MIB] for start in range(0, len(stamped), MIB))

    def read(self, start: int, end: int) -> bytes:
        """Bytes ``[start, end)``."""
        time, low = divmod(start, len(self.pool))
        high = low + end - start
        if high > len(self.pool):
            border = (time + 1) * len(self.pool)
            return self.read(start, border) + self.read(border, end)
        margin = len(_STAMP)
        first = max(0, low - margin)
        return self.pool[first : high + margin].replace(_STAMP, b"rq%08d=" % time)[low - first : high - first]

    def read_lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        return self.read(self._offset(first - 1), self._offset(last))

    def _offset(self, lines: int) -> int:
        time, rest = divmod(lines, self.lines)
        return time * len(self.pool) + self.starts[rest]


def _artifact(space: Workspace, wanted: tuple[int, ...], rounds: int) -> list[Row]:
    text = _Text(space.source("log", 16 * MIB).path.read_bytes())
    sizes = _that_fit(space.folder, wanted)
    store = Store(space.fresh("large"), **SETTINGS)
    sources = {}
    for size in sizes:
        with store.session(f"of-{size}") as session, session.create(source="benchmark") as writer:
            for block in text.blocks(size):
                writer.write(block)
        sources[size] = writer.id
    wrong: set[str] = set()
    with contextlib.ExitStack() as stack:
        artifacts = {
            size: stack.enter_context(store.session(f"of-{size}", read_only=True)).artifact(sources[size])
            for size in sizes
        }
        places = random.Random(3)
        starts = {size: [places.randrange(size - _BLOCK) for _ in range(rounds)] for size in sizes}
        count = {size: artifacts[size].info.lines for size in sizes}
        firsts = {size: [places.randrange(1, count[size] - _ASKED) for _ in range(rounds)] for size in sizes}
        calls = {
            "64 KiB at random": lambda size, number: artifacts[size].read_bytes(
                starts[size][number], starts[size][number] + _BLOCK
            ),
            "100 lines at random": lambda size, number: artifacts[size].read_lines(
                firsts[size][number], firsts[size][number] + _ASKED - 1
            ),
            "search, first page": lambda size, _: artifacts[size].search("status=503", limit=_PAGE),
            # Not as it is open already: what this process has open it has at once.
            "open": lambda size, _: store.session(f"of-{size}"),
        }

        def check(name: str, size: int, number: int, answer: Any) -> None:
            start, first = starts[size][number], firsts[size][number]
            if name == "open":
                _expect(wrong, name, answer.artifact(sources[size]).info.lines == count[size])
                answer.close()
            elif name == "64 KiB at random":
                _expect(wrong, name, answer == text.read(start, start + _BLOCK))
            elif name == "100 lines at random":
                _expect(wrong, name, answer == text.read_lines(first, first + _ASKED - 1))
            else:
                _expect(wrong, name, len(answer.matches) == _PAGE)

        times = _asked(calls, sizes, rounds, check)
    rows = _rows("an artifact", "bytes", sizes, times, wrong)
    return [*rows, _memory("an artifact", "bytes", sizes, store, [f"of-{size}" for size in sizes])]


def _that_fit(folder: Path, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Those sizes for which the disk has room; the others are named."""
    room = shutil.disk_usage(folder).free - _KEPT_FREE
    sizes = [size for size in wanted if sum(wanted[: wanted.index(size) + 1]) * _SHARE < room]
    if left := wanted[len(sizes) :]:
        print(f"the disk has no room for an artifact of {', '.join(f'{size // MIB} MiB' for size in left)}")
    return tuple(sizes)


# --- what all three share ---------------------------------------------------------------------------------


def _expect(wrong: set[str], name: str, right: bool) -> None:  # noqa: FBT001  # what is expected
    if not right:
        wrong.add(name)


def _asked(
    calls: dict[str, Callable[[int, int], object]],
    sizes: tuple[int, ...],
    rounds: int,
    check: Callable[[str, int, int, Any], None],
) -> dict[tuple[str, int], list[float]]:
    """Seconds of each call at each size, in turn."""
    keys = {f"{name}/{size}": (name, size) for name in calls for size in sizes}
    variants: _Calls = {key: partial(calls[name], size) for key, (name, size) in keys.items()}
    times = interleaved(variants, rounds, lambda key, number, answer: check(*keys[key], number, answer))
    return {keys[key]: found for key, found in times.items()}


def _rows(
    what: str,
    unit: str,
    sizes: tuple[int, ...],
    times: dict[tuple[str, int], list[float]],
    wrong: set[str],
    note: str = "",
) -> list[Row]:
    """One row a call: the largest against the smallest; all sizes go along for the plots."""
    return [
        compare(
            f"{what} of {amount(sizes[-1], unit)} against {amount(sizes[0], unit)}: {name}{note}",
            times[name, sizes[-1]],
            times[name, sizes[0]],
            amount(sizes[0], unit),
            unit="us",
            limit=_limit(sizes),
            correct=name not in wrong,
            growing=what,
            call=name,
            sizes=sizes,
            p50_us=[round(median(times[name, size]) * 1e6, 1) for size in sizes],
            p99_us=[round(percentile(times[name, size], 0.99) * 1e6, 1) for size in sizes],
        )
        for name in dict.fromkeys(name for name, _ in times)
    ]


def _limit(sizes: tuple[int, ...]) -> float:
    """What the logarithm of the size grows by."""
    return round(math.log(sizes[-1]) / math.log(sizes[0]), 2)


def _memory(what: str, unit: str, sizes: tuple[int, ...], store: Store, sessions: list[str]) -> Row:
    reports = [process.python("growth_worker", store.root, session) for session in sessions]
    peaks = [report["peak"] for report in reports]
    return compare(
        f"{what} of {amount(sizes[-1], unit)} against {amount(sizes[0], unit)}: memory of a process",
        [peaks[-1]],
        [peaks[0]],
        amount(sizes[0], unit),
        unit="MB",
        limit=_limit(sizes),
        correct=all(report["right"] for report in reports),
        growing=what,
        call="memory",
        sizes=sizes,
        peak_mb=[round(peak / 1e6, 1) for peak in peaks],
    )


def amount(size: int, unit: str) -> str:
    """A size in words."""
    if unit != "bytes":
        return f"{size:,} {unit}"
    return f"{size // GIB} GiB" if size >= GIB else f"{size // MIB} MiB"
