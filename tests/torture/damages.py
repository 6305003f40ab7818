"""Kinds of damage to a session's file: each is a function of the file, of dice, and of the folder of what was built."""

from __future__ import annotations

import contextlib
import functools
import random
import shutil
import sqlite3
import struct
from pathlib import Path

ODD = (None, 0, 1, -1, 2, 255, 2**31, 2**62, -(2**63), 1.5, "", "x", "art_1_0", "\x00", b"", b"x", b"\xff" * 32, b"\0" * 70_000,
       "sealed", "open", "deleted", "lf", "cr")  # fmt: skip
FRAME = 24  # bytes of a frame's header in a journal


def _page_size(raw):
    size = struct.unpack_from(">H", raw, 16)[0]
    return 65536 if size == 1 else size or 4096


def _of_bytes(function):
    """Damage of a file's bytes."""

    @functools.wraps(function)
    def apply(database, dice, base):
        raw = bytearray(database.read_bytes())
        database.write_bytes(function(raw, dice, base))

    return apply


@_of_bytes
def flip(raw, dice, base):
    """A few bits."""
    for _ in range(dice.choice((1, 1, 1, 2, 4, 8))):
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return raw


@_of_bytes
def burst(raw, dice, base):
    """A run of zeros, ones or noise."""
    at, size = dice.randrange(len(raw)), dice.choice((4, 64, 512, 2048, 5000))
    size = min(size, len(raw) - at)
    raw[at : at + size] = dice.choice((bytes(size), b"\xff" * size, dice.randbytes(size)))
    return raw


@_of_bytes
def cut(raw, dice, base):
    """The end is missing."""
    at = dice.randrange(len(raw))
    return raw[: dice.choice((at, at // _page_size(raw) * _page_size(raw)))]


@_of_bytes
def pages(raw, dice, base):
    """Two pages exchanged, one written over another, or one of zeros."""
    size = _page_size(raw)
    one, other = (dice.randrange(len(raw) // size) * size for _ in range(2))
    first, second = bytes(raw[one : one + size]), bytes(raw[other : other + size])
    kind = dice.randrange(3)
    raw[one : one + size] = bytes(size) if kind == 2 else second
    if kind == 0:
        raw[other : other + size] = first
    return raw


@_of_bytes
def stale(raw, dice, base):
    """Some pages as they were: a disk has lost writes."""
    size = _page_size(raw)
    old = (base / "older.whole").read_bytes()
    for _ in range(dice.randint(1, 5)):
        at = dice.randrange(min(len(raw), len(old)) // size) * size
        raw[at : at + size] = old[at : at + size]
    return raw


def _of_rows(function):
    """Damage of rows, through SQLite."""

    @functools.wraps(function)
    def apply(database, dice, base):
        connection = sqlite3.connect(database, isolation_level=None)
        try:
            with contextlib.suppress(sqlite3.Error):  # a constraint of ours that holds
                function(connection, dice, base)
        finally:
            connection.close()

    return apply


def _columns(connection, table):
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


@_of_rows
def cells(connection, dice, base):
    """Other values in one or two cells."""
    for _ in range(dice.randint(1, 2)):
        table = dice.choice(("session", "artifact", "artifact", "chunk", "chunk", "chunk", "event"))
        column = dice.choice(_columns(connection, table))
        key = dice.choice([key for (key,) in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")])
        (old,) = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (key,)).fetchone()
        new = dice.choice(ODD)
        if isinstance(old, int) and dice.random() < 0.6:
            new = max(min(old + dice.choice((-1, 1, 65536, -65536)), 2**62), -(2**62))
        elif isinstance(old, bytes) and old and dice.random() < 0.6:
            spoilt = bytearray(old)
            spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
            new = bytes(spoilt)
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, key))


@_of_rows
def removed(connection, dice, base):
    """Rows that are gone: chunks, artifacts, events."""
    table = dice.choice(("chunk", "chunk", "chunk", "artifact", "event"))
    keys = [key for (key,) in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    for key in dice.sample(keys, min(len(keys), dice.choice((1, 1, 2, 5)))):
        connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (key,))


@_of_rows
def moved(connection, dice, base):
    """Chunks where others belong, of this session or another, whole or in part; keys of artifacts exchanged."""
    connection.execute("ATTACH ? AS other", (str(base / "foreign.db"),))
    rowids = [key for (key,) in connection.execute("SELECT rowid FROM chunk ORDER BY rowid")]
    one, two = dice.sample(rowids, 2)
    places = ("session_key", "artifact_key", "seq")
    every = [name for name in _columns(connection, "chunk") if name not in places]
    columns = dice.choice((("data",), ("data", "segments"), ("data", "segments", "digest"), every))
    names, marks = ", ".join(columns), ", ".join(f"{name} = ?" for name in columns)
    kind = dice.randrange(4)
    if kind == 3:
        table = dice.choice(("artifact", "chunk"))
        first, second = dice.sample(
            [key for (key,) in connection.execute("SELECT artifact_key FROM artifact ORDER BY 1")], 2
        )
        for before, after in ((first, 9999), (second, first), (9999, second)):
            connection.execute(f"UPDATE {table} SET artifact_key = ? WHERE artifact_key = ?", (after, before))
        return
    read = f"SELECT {names} FROM chunk WHERE rowid = ?"
    first, second = (connection.execute(read, (each,)).fetchone() for each in (one, two))
    if kind == 2:
        second = dice.choice(connection.execute(f"SELECT {names} FROM other.chunk ORDER BY rowid").fetchall())
    connection.execute(f"UPDATE chunk SET {marks} WHERE rowid = ?", (*second, one))
    if kind == 0:
        connection.execute(f"UPDATE chunk SET {marks} WHERE rowid = ?", (*first, two))


@_of_rows
def replayed(connection, dice, base):
    """Rows as they were: a session's own, of artifacts, of chunks, of events."""
    connection.execute("ATTACH ? AS older", (str(base / "older.whole"),))
    tables = dice.choice((("chunk",), ("artifact",), ("session",), ("event",), ("chunk", "artifact")))
    for table in tables:
        names = _columns(connection, table)
        rows = connection.execute(f"SELECT {', '.join(names)} FROM older.{table} ORDER BY rowid").fetchall()
        for row in dice.sample(rows, min(len(rows), dice.choice((1, 1, 3, 100)))):
            with contextlib.suppress(sqlite3.Error):
                connection.execute(
                    f"INSERT OR REPLACE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                    row,
                )


@_of_rows
def schema(connection, dice, base):
    """Another schema: a trigger, a missing index, roots of tables exchanged, other numbers."""
    connection.execute("PRAGMA writable_schema = ON")
    objects = [name for (name,) in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
    connection.execute(
        *dice.choice(
            (
                ("CREATE TRIGGER more AFTER INSERT ON event BEGIN DELETE FROM chunk; END",),
                (
                    "UPDATE sqlite_master SET rootpage = ? WHERE name = ?",
                    (dice.randrange(300), dice.choice(objects)),
                ),
                ("DELETE FROM sqlite_master WHERE name = ?", (dice.choice(objects),)),
                (
                    "UPDATE sqlite_master SET sql = ? WHERE name = ?",
                    ("CREATE TABLE chunk AS SELECT 1", "chunk"),
                ),
                (f"PRAGMA user_version = {dice.choice((0, 1, 2, 99, -1))}",),
                (f"PRAGMA application_id = {dice.randrange(1 << 31)}",),
            )
        )
    )


def journal(database, dice, base):
    """A session as a killed process left it: its journal flipped, cut, exchanged, with or without right sums."""
    shutil.copy(base / "live.db", database)
    raw = bytearray((base / "live.db-wal").read_bytes())
    size = FRAME + struct.unpack_from(">I", raw, 8)[0]
    frames = (len(raw) - 32) // size
    one, other = (32 + dice.randrange(frames) * size for _ in range(2))
    kind = dice.randrange(6)
    if kind == 0:
        for _ in range(dice.choice((1, 3))):
            raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    elif kind == 1:
        del raw[dice.randrange(len(raw)) :]
    elif kind == 2:
        raw[one : one + size], raw[other : other + size] = raw[other : other + size], raw[one : one + size]
    elif kind == 3:
        del raw[one:]  # to the end of a frame: a state that was
    elif kind == 4:
        raw[one + FRAME + dice.randrange(size - FRAME)] ^= 1 << dice.randrange(8)
        _sum_up(raw, size)
    else:
        struct.pack_into(">I", raw, one + dice.choice((0, 4)), dice.randrange(400))
        _sum_up(raw, size)
    Path(f"{database}-wal").write_bytes(raw)


def _sum_up(raw, size):
    """Compute the sums of all frames again, as whoever has the file can."""
    order = ">" if struct.unpack_from(">I", raw, 0)[0] & 1 else "<"

    def add(data, sums):
        first, second = sums
        for one, two in struct.iter_unpack(f"{order}II", data):
            first = (first + one + second) & 0xFFFFFFFF
            second = (second + two + first) & 0xFFFFFFFF
        return first, second

    sums = add(bytes(raw[:24]), (0, 0))
    for at in range(32, len(raw) - size + 1, size):
        sums = add(bytes(raw[at : at + 8]), sums)
        sums = add(bytes(raw[at + FRAME : at + size]), sums)
        struct.pack_into(">II", raw, at + 16, *sums)


def whole(database, dice, base):
    """The whole file as it once was, or its journal; nothing without knowledge from outside can tell."""
    if dice.random() < 0.5:
        shutil.copy(base / "older.whole", database)
    else:
        shutil.copy(base / "live.db", database)
        shutil.copy(base / "older.db-wal", f"{database}-wal")


# Kinds and how often each of them is drawn.
KINDS = {
    flip: 6,
    burst: 2,
    cut: 2,
    pages: 3,
    stale: 3,
    cells: 3,
    removed: 2,
    moved: 3,
    replayed: 2,
    journal: 3,
    schema: 1,
    whole: 1,
}
_BAG = [kind.__name__ for kind, count in KINDS.items() for _ in range(count)]


def drawn(seed, number):
    """The dice of a damage, its kind, and how the file is opened."""
    dice = random.Random(f"{seed} damage {number}")
    return dice, dice.choice(_BAG), dice.choice(("read", "read", "write", "file"))


def apply(kind, database, dice, base):
    """Damage a file in one of the ways, by its name."""
    next(each for each in KINDS if each.__name__ == kind)(database, dice, base)
