"""Session files that somebody has tampered with, and everything that can be asked of them; run as a program, many.

``python hostile.py FILE FIRST COUNT`` damages copies of a session's file, one for each seed, and does with each what can be
done. Anything but an error of ours, too much memory or too much time ends the program with the seed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import sqlite3
import sys
from pathlib import Path

from spillstore import Store
from spillstore.engine.sqlite import sql
from spillstore.exceptions import SpillstoreError
from spillstore.format import chunk_codec
from spillstore.format.digests import Algorithm
from spillstore.model import records

SECONDS = 20
MEMORY = 3 * 1024**3  # address space: a mapped gigabyte, the libraries, and what a read may take
ODD = (
    None, 0, 1, -1, 2, 7, 8, 255, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), 1.5, float("inf"), -0.0, "", "x", "null", "-1",
    "9" * 5000, "[" * 5000, "{}", '{"seq": 1}', "art_1_0", "../../../../tmp/x", "\x00", b"", b"x", b"\xff" * 32, b"\x00" * 70_000,
)  # fmt: skip


def make_session(root):
    """A session with all kinds of artifacts; returns its file and what each artifact holds."""
    store = Store(root, free_disk_floor=0, artifacts_per_minute=0)
    with store.session("test") as session:
        first = session.put(b"".join(b"line %d\n" % number for number in range(20_000)), source="one")
        with session.create(source="two", command="make", policy="roll", limit=10_000) as rolled:
            for number in range(3000):
                rolled.write(b"out %d\n" % number)
                if number % 7 == 0:
                    rolled.write(b"err %d\n" % number, stream="stderr")
        document = session.put(
            json.dumps([{"a": number} for number in range(200)]), content_type="application/json"
        )
        session.put(b"one\rtwo\rthree\r")
        first.read_lines(1, 2)
    return store.root / "_" / "test" / "session.db", [first.id, rolled.id, document.id]


def make_earlier(path):
    """Make a file of the first schema of one of today's that has no gram filter."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in (
            "ALTER TABLE chunk DROP COLUMN grams",
            "UPDATE alembic_version SET version_num = '0001'",
            "PRAGMA user_version = 1",
            "PRAGMA wal_checkpoint(TRUNCATE)",
        ):
            connection.execute(statement)
    finally:
        connection.close()


def exercise(session, wanted=()):
    """Ask everything; every answer is right or an error of ours."""
    for act in (
        lambda: list(session.artifacts()),
        lambda: session.infos(state="sealed"),
        lambda: session.infos(source="two", limit=1),
        session.events,
        lambda: session.matching("art_"),
        session.check,
    ):
        with contextlib.suppress(SpillstoreError):
            act()
    names = set(wanted)
    with contextlib.suppress(SpillstoreError):
        names.update(session.matching("", 10))
    for name in names:
        for act in (
            lambda artifact: artifact.info,
            lambda artifact: artifact.read_bytes(0, 10**7, holes="skip"),
            lambda artifact: artifact.read_bytes(70_000, 70_100),
            lambda artifact: artifact.read_bytes(0, 10**7, stream="stderr", holes="skip"),
            lambda artifact: artifact.read_lines(1, 10**6, holes="skip"),
            lambda artifact: artifact.read_lines(5, 9, stream="stdout", holes="skip"),
            lambda artifact: artifact.read_time(0, 10**6, holes="skip"),
            lambda artifact: artifact.tail(3, holes="skip"),
            lambda artifact: sum(map(len, artifact.chunks(holes="skip"))),
            lambda artifact: artifact.search("9+", limit=5),
            lambda artifact: artifact.query("$[3].a"),
            lambda artifact: artifact.verify(),
        ):
            with contextlib.suppress(SpillstoreError):
                act(session.artifact(name))


def reseal(connection):
    """Compute every digest again, as whoever has the file can."""
    algorithm = Algorithm("blake3")
    for key, *values in connection.execute("SELECT rowid, * FROM session").fetchall():
        with contextlib.suppress(Exception):  # a row that has no digest keeps its old one
            row = records.SessionRow(*values[1:])._replace(digest_algorithm=algorithm)
            connection.execute("UPDATE session SET digest = ? WHERE rowid = ?", (row.computed_digest(), key))
    for key, *values in connection.execute("SELECT rowid, * FROM artifact").fetchall():
        with contextlib.suppress(Exception):
            row = records.ArtifactRow(*values[1:]).sealed(algorithm)
            connection.execute("UPDATE artifact SET digest = ? WHERE rowid = ?", (row.digest, key))
    names = dict(connection.execute("SELECT artifact_key, artifact_id FROM artifact").fetchall())
    newlines = dict(connection.execute("SELECT artifact_key, newline FROM artifact").fetchall())
    for key, _, artifact_key, *values in connection.execute("SELECT rowid, * FROM chunk").fetchall():
        with contextlib.suppress(Exception):
            row = chunk_codec.ChunkRow(*values)
            start = chunk_codec.prefix(names[artifact_key], newlines[artifact_key])
            digest = chunk_codec._digest(
                start, row[: chunk_codec._HEADER_COLUMNS], row.segments, row.data, algorithm
            )
            connection.execute("UPDATE chunk SET digest = ? WHERE rowid = ?", (digest, key))


def change_cells(path, noise):
    """Other values in some cells; mostly with right digests."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for _ in range(noise.randint(1, 3)):
            table = noise.choice(("session", "artifact", "artifact", "artifact", "chunk", "chunk", "event"))
            column = noise.choice([row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
            keys = [key for (key,) in connection.execute(f"SELECT rowid FROM {table}")]
            key = noise.choice(keys)
            (old,) = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (key,)).fetchone()
            new = noise.choice(ODD)
            if isinstance(old, int) and noise.random() < 0.5:
                new = max(min(old + noise.choice((-1, 1, 65536, -65536, 2**40)), 2**62), -(2**62))
            elif isinstance(old, bytes) and old and noise.random() < 0.5:
                spoilt = bytearray(old)
                spoilt[noise.randrange(len(spoilt))] ^= 1 << noise.randrange(8)
                new = bytes(spoilt)
            elif isinstance(old, str) and old.startswith("{") and noise.random() < 0.7:
                new = old.replace(
                    noise.choice("0123456789"), noise.choice(("0", "99999999999", "-5", "1e400", "null"))
                )
            with contextlib.suppress(sqlite3.Error):  # a constraint of ours that holds
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, key))
        if noise.random() < 0.8:
            reseal(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def change_bytes(path, noise):
    """Other bytes in the file, or fewer, or more."""
    raw = bytearray(path.read_bytes())
    kind = noise.randrange(5)
    if kind == 0:
        del raw[noise.randrange(len(raw)) :]
    elif kind == 1:
        raw += os.urandom(noise.randrange(5000))
    for _ in range(noise.choice((1, 1, 3, 50))):
        # Headers, of the file and of pages, are where there is most to spoil.
        at = noise.choice(
            (noise.randrange(100), noise.randrange(len(raw) // 2048 + 1) * 2048 + noise.randrange(40))
        )
        if kind == 2:
            at = noise.randrange(len(raw))
        if at < len(raw):
            raw[at] = noise.randrange(256)
    path.write_bytes(raw)


def one(original, folder, seed, wanted):
    """One damaged copy, opened as a sent file, and in a root for reading and for writing."""
    noise = random.Random(seed)
    root = folder / f"root-{seed}"
    path = root / "_" / "test" / "session.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(original)
    path.chmod(0o600)
    noise.choice((change_cells, change_bytes))(path, noise)
    with contextlib.suppress(SpillstoreError), Store.open_file(path) as session:
        exercise(session, wanted)
    store = Store(root, free_disk_floor=0, artifacts_per_minute=0, busy_timeout=0.5)
    for read_only in (True, False):
        with contextlib.suppress(SpillstoreError), store.session("test", read_only=read_only) as session:
            exercise(session, wanted)
            if not read_only:
                kept = session.put(b"kept")
                assert b"kept" == kept.read_bytes(0, 10)
                for name in wanted:
                    with contextlib.suppress(SpillstoreError):
                        session.artifact(name).delete()
    with contextlib.suppress(SpillstoreError):
        list(store.sessions())
    assert not list(folder.glob("x")), "something was written outside"


def main():
    original, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    wanted = sys.argv[4:]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    raw = original.read_bytes()
    folder = original.parent / f"work-{first}"
    folder.mkdir()
    for seed in range(first, first + count):
        print(seed, flush=True)
        signal.alarm(SECONDS)  # ends the program
        one(raw, folder, seed, wanted)
        signal.alarm(0)
    print("done")


if __name__ == "__main__":
    assert sql.SCHEMA_NUMBER
    main()
