"""A store on a server against a store in a folder: the same calls on the same data, in turn, over a unix socket of this machine.

Where ``SPILLSTORE_TEST_POSTGRES`` names a running server, that one is used; else one of the wheel's, with ``fsync`` on. Over
a network each round trip takes as long as the network does; ``tests/store/engine/test_server_trips.py`` counts them.
"""

from __future__ import annotations

import contextlib
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import MIB
from benchmarks.row import Row, absolute, compare
from benchmarks.samples import interleaved
from benchmarks.workspace import SESSION
from spillstore import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.workspace import Workspace
    from spillstore import Session

_SMALL = 100_000
_PIECE = 8192
_FOLDER = "the same in a folder"


@contextlib.contextmanager
def _server() -> Iterator[Any]:
    """Databases of a server, as tests start it."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import os

    import postgres

    if url := os.environ.get("SPILLSTORE_TEST_POSTGRES"):
        databases = postgres.Databases(url)
        yield databases
        databases.drop_all()
        return
    with postgres.Servers() as servers:
        yield servers.new(fsync=True)


def measure(space: Workspace) -> list[Row]:
    """All rows; none where no server can be started."""
    try:
        with _server() as server:
            name = server.new_database()
            rows = _measured(space, server, name)
    except Exception as error:
        if type(error).__name__ != "NoServerError":
            raise
        print(f"no server: {error}", file=sys.stderr)
        return []
    return rows


def _measured(space: Workspace, server: Any, name: str) -> list[Row]:
    options: dict[str, Any] = {"artifacts_per_minute": 0, "free_disk_floor": 0, "session_quota": 2**40}
    stores = {
        "folder": Store(space.fresh("folder"), **options),
        "server": Store(server.url(name), **options),
    }
    rows = _ingest(space, stores)
    with contextlib.ExitStack() as stack:
        sessions = {where: stack.enter_context(store.session(SESSION)) for where, store in stores.items()}
        rows += _reads(space, sessions)
        rows += _small(space, sessions)
    rows += _new(space, stores)
    return [*rows, _size(server, name)]


def _pair(what: str, times: dict[str, list[float]], limit: float, *, unit: str = "ms", correct: bool) -> Row:
    return compare(what, times["server"], times["folder"], _FOLDER, unit=unit, limit=limit, correct=correct)


def _ingest(space: Workspace, stores: dict[str, Store]) -> list[Row]:
    """A log in pieces of 1 MiB, from the first byte to sealed, with and without redaction."""
    return _ingested(space, stores, redact=True) + _ingested(space, stores, redact=False)


def _ingested(space: Workspace, stores: dict[str, Store], *, redact: bool) -> list[Row]:
    size = (64 if space.quick else 1024) * MIB
    path = space.source("log", size).path
    wrong = 0
    processor: dict[str, list[float]] = {where: [] for where in stores}

    def store(where: str) -> int:
        with stores[where].session(f"ingest-{redact}") as session, path.open("rb") as file:
            begin = time.process_time()
            with session.create(source="benchmark", redact=redact) as writer:
                while piece := file.read(MIB):
                    writer.write(piece)
            processor[where].append(time.process_time() - begin)
            stored = session.artifact(writer.id).info.size
            session.delete()
        return stored

    def check(_name: str, _number: int, answer: object) -> None:
        nonlocal wrong
        wrong += answer != size if not redact else not answer

    calls = {where: lambda _, where=where: store(where) for where in stores}
    times = interleaved(calls, 3 if space.quick else 5, check)
    what = f"{size // MIB} MiB of log, redaction {'on' if redact else 'off'}"
    return [
        _pair(f"{what}, wall", times, 1.25, unit="s", correct=not wrong),
        _pair(f"{what}, processor time of the client", processor, 1.1, unit="s", correct=not wrong),
    ]


def _reads(space: Workspace, sessions: dict[str, Session]) -> list[Row]:
    data = space.source("log", 256 * MIB).path.read_bytes()[: 64 * MIB if space.quick else 256 * MIB]
    artifacts = {
        where: session.put(data, source="benchmark", redact=False) for where, session in sessions.items()
    }
    lines = data.count(b"\n")
    rng = random.Random(1)
    wrong = 0
    rounds = 200 if space.quick else 1000
    places = [rng.randrange(len(data) - 65536) for _ in range(rounds)]
    numbers = [rng.randrange(1, lines - 100) for _ in range(rounds)]
    calls: dict[str, tuple[Callable[[str, int], object], Callable[[int, Any], bool]]] = {
        "64 KiB from a random place": (
            lambda where, n: artifacts[where].read_bytes(places[n], places[n] + 65536),
            lambda n, answer: answer == data[places[n] : places[n] + 65536],
        ),
        "100 lines from a random place": (
            lambda where, n: artifacts[where].read_lines(numbers[n], numbers[n] + 99),
            lambda _, answer: answer.count(b"\n") == 100,
        ),
    }
    rows = []
    for what, (call, right) in calls.items():

        def check(_name: str, number: int, answer: object, right: Any = right) -> None:
            nonlocal wrong
            wrong += not right(number, answer)

        times = interleaved(
            {where: lambda n, where=where, call=call: call(where, n) for where in sessions}, rounds, check
        )
        rows.append(_pair(what, times, 2.0, correct=not wrong))
    return rows


def _small(space: Workspace, sessions: dict[str, Session]) -> list[Row]:
    data = space.source("log", 50 * MIB).path.read_bytes()
    wrong = 0

    def store(where: str, number: int) -> str:
        text = data[number * 9973 : number * 9973 + _SMALL]
        with sessions[where].create(source="benchmark", redact=False) as writer:
            for start in range(0, _SMALL, _PIECE):
                writer.write(text[start : start + _PIECE])
        return writer.id

    def check(name: str, number: int, answer: object) -> None:
        nonlocal wrong
        text = data[number * 9973 : number * 9973 + _SMALL]
        wrong += sessions[name].artifact(str(answer)).read_bytes(0, _SMALL + 1) != text

    times = interleaved(
        {where: lambda n, where=where: store(where, n) for where in sessions},
        200 if space.quick else 1000,
        check,
    )
    return [_pair("100 KB, first byte to sealed", times, 3.0, correct=not wrong)]


def _new(space: Workspace, stores: dict[str, Store]) -> list[Row]:
    times = interleaved(
        {where: lambda n, where=where: stores[where].session(f"new-{n}").close() for where in stores},
        50 if space.quick else 300,
        lambda *_: None,
    )
    row = _pair("a new session, made, opened and closed", times, 0.0, correct=True)
    row.limit = None
    return [row]


def _size(server: Any, name: str) -> Row:
    """Pages of chunks, with their indexes, against the bytes of chunks."""
    server.execute("VACUUM FULL spillstore.chunk", name)
    ((pages, stored),) = server.execute(
        "SELECT pg_total_relation_size('spillstore.chunk'),"
        " (SELECT sum(length(data) + length(segments) + coalesce(length(grams), 0)) FROM spillstore.chunk)",
        name,
    )
    row = absolute(
        "bytes on the server's disk for each byte of chunks",
        float(pages) / float(stored),
        unit="x",
        limit=1.15,
        correct=True,
    )
    row.of_ratio = False
    return row
