"""How large a PostgreSQL server must be for so many sessions: ``python -m benchmarks.server_sizing [--sessions N ...]``.

A model, not a measurement: it multiplies what was measured on one small store by what is asked for, and prints the table
of ``docs/server_operations.md``. Every input stands here, with where it comes from.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, fields

# --- What a row takes, in bytes. PostgreSQL 18.4, this version's tables with `data` in STORAGE EXTERNAL, 2026-11-23: 40 sessions of
# 20 artifacts, each 300,000 bytes of the benchmarks' log (4.9 times smaller when compressed) with five events; the sessions' keys
# random, their artifacts stored in turn, so that index pages are half full as those of many small sessions are; then VACUUM.
CHUNK_SIZE = 65_536  # raw, settings.py
CHUNK_DATA = 12_168  # what of it is stored, on average over 4 whole ones and a short one
CHUNK_HEAP, CHUNK_INDEXES = 223, 365
CHUNK_TOAST, CHUNK_TOAST_INDEX = 13_107, 150
CHUNK_TOAST_ROWS = 6.4
ARTIFACT_HEAP, ARTIFACT_INDEXES = 400, 379
EVENT_HEAP, EVENT_INDEXES = 168, 192
SESSION_HEAP, SESSION_INDEXES = 205, 410
EVENTS = 5  # an artifact: created, sealed, a read or two, a search
MEASURED_ARTIFACT = 300_000

# --- Log of the server for a byte of data, same run: COPY of one artifact at a time; DELETE of one session at a time, the first after a
# checkpoint, as it is when retention comes days later; VACUUM of all. The last was 0.1 with 800 artifacts and 1.0 with 2,400.
WAL_INSERT, WAL_DELETE, WAL_VACUUM = 1.20, 1.11, (0.1, 1.0)

# --- Processor time of the server, all its processes: 200 artifacts as above written in pieces of 8 KB by one process over a unix socket,
# then 1,000 reads at random places of them; PostgreSQL 18.4, psycopg 3.3, data in memory, the last two of three runs, one of two
# cores of an AMD EPYC, 2026-11-23. Transactions are those that the server counted.
READ_SECONDS = 0.000_095  # 64 KiB: two chunks by their key
SPILL_SECONDS = 0.000_9
TRANSACTIONS = 4  # of an artifact that is written

# --- What is assumed, and may be given as an option where it is about the load.
CONNECTIONS = 2  # of a process that writes and reads; 4 at most
BEAT_SECONDS = 10  # a third of the setting `lease`
VACUUM_BYTES_A_SECOND = 100_000_000
SHARDS = 32  # of Citus; one table without it

# --- Limits of PostgreSQL: its manual, appendix K; of the identifiers of out-of-line values, 32 bits for each table.
TOAST_VALUES = 2**32
TABLE_BYTES = 32 * 2**40

DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a server has to hold.

    Attributes:
        sessions: how many are there at a time.
        artifacts: of each session.
        size: bytes of an artifact, raw, of text as compressible as a log.
        days: how long a session stays.
        processes: how many have sessions open at a time.
    """

    sessions: int = 1_000_000
    artifacts: int = 20
    size: int = 300_000
    days: int = 7
    processes: int = 10_000


def table(load: Load) -> str:
    """The table, in Markdown."""
    artifacts = load.sessions * load.artifacts
    chunks = artifacts * math.ceil(load.size / CHUNK_SIZE)
    data = artifacts * CHUNK_DATA * 5 * load.size // MEASURED_ARTIFACT
    toast = data * CHUNK_TOAST // CHUNK_DATA
    toast_index = data * CHUNK_TOAST_INDEX // CHUNK_DATA
    events = artifacts * EVENTS
    of_chunks = chunks * (CHUNK_HEAP + CHUNK_INDEXES) + toast + toast_index
    of_artifacts = artifacts * (ARTIFACT_HEAP + ARTIFACT_INDEXES)
    of_events = events * (EVENT_HEAP + EVENT_INDEXES)
    stored = of_chunks + of_artifacts + of_events + load.sessions * (SESSION_HEAP + SESSION_INDEXES)
    raw = artifacts * load.size
    indexes = {
        "chunk": chunks * CHUNK_INDEXES,
        "event": events * EVENT_INDEXES,
        "TOAST": toast_index,
        "artifact": artifacts * ARTIFACT_INDEXES,
    }
    seconds = load.days * DAY
    a_second = artifacts / seconds
    written = data / seconds
    wal = [written * (WAL_INSERT + WAL_DELETE + vacuum) for vacuum in WAL_VACUUM]
    values = TOAST_VALUES / (chunks / seconds)
    spill = SPILL_SECONDS * max(1, load.size / MEASURED_ARTIFACT)
    a_pass = toast / VACUUM_BYTES_A_SECOND
    rows = [
        _row("raw", _bytes(raw)),
        _row(
            "on disk",
            f"**{_bytes(stored)}**: chunks {_bytes(of_chunks)}, events {_bytes(of_events)}, artifacts {_bytes(of_artifacts)}",
            f"{raw / stored:.1f} times smaller than raw",
        ),
        _row("chunks, artifacts, events", ", ".join(_count(each) for each in (chunks, artifacts, events))),
        _row(
            "indexes",
            f"{_bytes(sum(indexes.values()))}: "
            + ", ".join(f"{name} {_bytes(size)}" for name, size in indexes.items()),
            f"of one day, which should stay in memory: **{_bytes(sum(indexes.values()) / load.days)}**",
        ),
        _row(
            f"in and out, at {load.days} days of retention",
            f"{_number(a_second)} artifacts, {_number(chunks / seconds)} chunks, {_number(a_second * TRANSACTIONS)} transactions and "
            f"{_bytes(stored / seconds)} a second, on average over day and night",
        ),
        _row(
            "log of the server (WAL)",
            f"{' to '.join(_bytes(each) for each in wal)} a second, {' to '.join(_bytes(each * DAY) for each in wal)} a day of archive",
        ),
        _row(
            "reads of 64 KiB",
            f"{_number(1 / READ_SECONDS)} a second and core, one round trip and {_bytes(2 * CHUNK_DATA)} each",
        ),
        _row(f"artifacts of {_bytes(load.size)} stored", f"{_number(1 / spill)} a second and core"),
        _row(
            f"connections of {_count(load.processes)} processes",
            f"**{load.processes * CONNECTIONS:,}**",
            "a server likes 200 to 500",
        ),
        _row("their heartbeats", f"{_number(load.processes / BEAT_SECONDS)} updates of one row a second"),
        _row(
            "identifiers of TOAST values",
            f"{_percent(chunks / TOAST_VALUES)} of those of one table, {_percent(chunks / TOAST_VALUES / SHARDS)} in each of {SHARDS} shards",
            f"their counter comes round after {_number(values / DAY)} days",
        ),
        _row("largest table", f"{_bytes(toast)} of {_bytes(TABLE_BYTES)}"),
        _row(
            "vacuum",
            f"{_number(chunks / seconds)} dead chunks and {_number(chunks / seconds * CHUNK_TOAST_ROWS)} dead TOAST rows a second",
            f"a pass over all at {_bytes(VACUUM_BYTES_A_SECOND)} a second takes {_time(a_pass)}, in {SHARDS} shards {_time(a_pass / SHARDS)} each",
        ),
        _row("a backup", f"{_bytes(stored)}, and {_bytes(wal[-1] * DAY)} for each day since"),
    ]
    return "".join(["| | |\n", "|---|---|\n", *rows])


def _row(name: str, *said: str) -> str:
    return f"| {name} | {'; '.join(said)} |\n"


def _bytes(number: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if number >= size:
            return f"{_number(number / size)} {unit}"
    return f"{number:.0f} B"


def _number(number: float) -> str:
    """Three digits at least, and no more than are meant."""
    if number >= 1000:
        return f"{round(number, 2 - math.floor(math.log10(number))):,.0f}"
    return f"{number:.3g}"


def _time(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{max(1, seconds / 60):.0f} minutes"


def _count(number: int) -> str:
    return f"{number / 1e6:,.0f} M" if number >= 10_000_000 else f"{number:,}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def main() -> None:
    parser = argparse.ArgumentParser(description="How large a PostgreSQL server must be.")
    for field in fields(Load):
        parser.add_argument(f"--{field.name}", type=int, default=field.default)
    sys.stdout.write(table(Load(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
