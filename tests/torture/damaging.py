"""Session files that are damaged in all ways, and what they answer: what is right, an error, of an older state, or wrong.

``build`` makes what is damaged, always the same with a seed: a session's file with artifacts of all kinds; the same file as it
was earlier; the session as a killed process left it, with a journal; and another session, whose rows are put where they do not
belong. ``play`` damages copies, one after the other, asks everything, and says what came of each.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
import json
import os
import random
import resource
import shutil
import sqlite3
import struct
import subprocess
import traceback
from pathlib import Path

from scenes import KEY, NO_FLOORS

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, SpillstoreError

MEMORY = 4 * 1024**3  # address space
SETTINGS = {**NO_FLOORS, "redact": False}
ODD = (None, 0, 1, -1, 2, 255, 2**31, 2**62, -(2**63), 1.5, "", "x", "art_1_0", "\x00", b"", b"x", b"\xff" * 32, b"\0" * 70_000,
       "sealed", "open", "deleted", "lf", "cr")  # fmt: skip
FRAME = 24  # bytes of a frame's header in a journal


class _Clock:
    """Time that goes on by a millisecond whenever it is read."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def time(self):
        self.now += 0.001
        return self.now

    monotonic = time


def _lines(tag, count, end=b"\n"):
    return b"".join(
        b"%s line %09d %s%s" % (tag, number, b"abcdefghijklmnopqrst"[: number % 20], end)
        for number in range(count)
    )


def answers(artifact):
    """What an artifact answers, by what it was asked; of each a function."""
    return {
        "info": lambda: repr(artifact.info),
        "all": lambda: artifact.read_bytes(0, 10**9, holes="skip", max_bytes=10**9),
        "stdout": lambda: artifact.read_bytes(0, 10**9, stream="stdout", holes="skip", max_bytes=10**9),
        "stderr": lambda: artifact.read_bytes(0, 10**9, stream="stderr", holes="skip", max_bytes=10**9),
        "lines": lambda: artifact.read_lines(3, 9, holes="skip"),
        "last lines of stderr": lambda: artifact.read_lines(90, 10**6, stream="stderr", holes="skip"),
        "a middle": lambda: artifact.read_bytes(66_000, 66_100, holes="skip"),
        "time": lambda: artifact.read_time(0, 10**6, holes="skip"),
        "some time": lambda: artifact.read_time(0.05, 10**6, holes="skip"),
        "tail": lambda: artifact.tail(3, holes="skip"),
        "search": lambda: repr([(each.line, each.byte) for each in artifact.search("9+5", limit=5).matches]),
        "count": lambda: artifact.search("line").total_matches,
        "chunks": lambda: b"".join(artifact.chunks(holes="skip")),
        "origin": lambda: repr(artifact.origin()),
        "verify": lambda: repr(artifact.verify()),
    }


def _hash(value):
    return hashlib.blake2b(
        value if isinstance(value, bytes) else repr(value).encode(), digest_size=12
    ).hexdigest()


def answered(say, calls, folder, name, keyed):
    """Say what all artifacts of one of the files that were built answer, to who only reads."""
    folder = Path(folder)
    path = folder / f"asked-{name}" / "_" / "s" / "session.db"
    path.parent.mkdir(parents=True, mode=0o700)
    for suffix in ("", "-wal"):
        if (folder / f"{name}.db{suffix}").exists():
            shutil.copy(folder / f"{name}.db{suffix}", f"{path}{suffix}")
    store = Store(path.parents[2], digest_key=KEY if keyed else None, **SETTINGS)
    with store.session("s", read_only=True) as session:
        session.check()
        found = {
            info.id: {
                what: _hash(ask())
                for what, ask in answers(session.artifact(info.id)).items()
                if what != "verify"
            }
            for info in session.infos(limit=100)
        }
    say(answered=found)


def _fill(session, tag):
    """Artifacts of several kinds."""
    session.put(_lines(b"one" + tag, 6000), source="one", command="make")
    with session.create(source="two", command="two streams") as writer:
        for number in range(900):
            writer.write(b"out %06d\n" % number)
            if number % 3 == 0:
                writer.write(b"err %06d\n" % number, stream="stderr")
            if number % 100 == 0:
                writer.flush()
    with session.create(source="rolls", policy="roll", limit=150_000) as writer:
        for number in range(20):
            writer.write(_lines(b"roll %d" % number, 800))
            writer.flush()
    session.put(_lines(b"cr", 50, b"\r"), source="cr")
    session.put(json.dumps([{"a": number} for number in range(300)]), content_type="application/json")
    return session.put(_lines(b"gone", 5000), source="gone").id


def build(say, calls, folder, seed, keyed):
    """Make what is damaged; says what it answers."""
    folder = Path(folder)
    numbers = random.Random(f"base {seed}")
    os.urandom = numbers.randbytes  # so that ids, and with them all bytes, are those of the seed
    store = Store(folder / "base", clock=_Clock(), digest_key=KEY if keyed else None, **SETTINGS)
    path = folder / "base" / "_" / "s" / "session.db"
    with store.session("o") as session:
        _fill(session, b"o")
    with store.session("s") as session:
        gone = _fill(session, b"s")
        grows = session.create(source="grows")
        grows.write(_lines(b"grows", 100))
        grows.flush()
        _copied(path, folder / "older.db")
        grows.write(_lines(b"grows", 3000)[len(_lines(b"grows", 100)) :])
        grows.close(exit_code=4)
        session.artifact(gone).delete()
        session.put(b"", source="empty")
    shutil.copy(path, folder / "whole.db")
    shutil.copy(folder / "base" / "_" / "o" / "session.db", folder / "foreign.db")
    session = store.session("s")
    young = [session.put(_lines(b"young %d" % number, 2500), source="young").id for number in range(2)]
    going = next(iter(session.artifacts(source="cr"))).id
    session.artifact(going).delete()
    writer = session.create(source="youngest")
    for _ in range(3):
        writer.write(_lines(b"youngest", 500))
        writer.flush()
    _copied(path, folder / "live.db")
    young.append(writer.id)
    content = {
        young[0]: _lines(b"young 0", 2500),
        young[1]: _lines(b"young 1", 2500),
        young[2]: _lines(b"youngest", 500) * 3,
    }
    young = {key: value.decode() for key, value in content.items()}
    say(built={"gone": [gone], "going": [going], "young": young, "grew": [grows.id, writer.id]})
    os._exit(0)  # what the journal holds stays there


def _copied(path, to):
    """A copy of a file that is in use, by another program: this process would drop its locks, and a fork closes the file."""
    for suffix in ("", "-wal"):
        if os.path.exists(f"{path}{suffix}"):
            subprocess.run(["cp", f"{path}{suffix}", f"{to}{suffix}"], check=True)


# --- damage -----------------------------------------------------------------------------------------------


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
# Of what may give an older state that nobody can tell: without a key, and with one.
MAY_BE_OLDER = {False: {"stale", "replayed", "journal", "whole"}, True: {"journal", "whole"}}
# Of what may take whole artifacts away, so that nobody can tell: without a key, whoever changes rows; with one, older states alone.
MAY_LOSE = {False: {"journal", "whole", "replayed", "cells", "removed", "moved"}, True: {"journal", "whole"}}


def drawn(seed, number):
    """The dice of a damage, its kind, and how it is opened."""
    dice = random.Random(f"{seed} damage {number}")
    return dice, dice.choice(_BAG), dice.choice(("read", "read", "write", "file"))


def play(say, calls, folder, seed, first, count, built, keyed, work):
    """Damage copies and ask them; says of each what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    base, work = Path(folder), Path(work)
    for number in range(first, first + count):
        dice, kind, how = drawn(seed, number)
        say(damage=number, kind=kind, how=how)
        root = work / f"{number}"
        database = root / "_" / "s" / "session.db"
        database.parent.mkdir(parents=True, mode=0o700)
        for each in (root, root / "_"):
            each.chmod(0o700)
        shutil.copy(base / "whole.db", database)
        database.chmod(0o600)
        with contextlib.suppress(sqlite3.Error):
            globals()[kind](database, dice, base)
        for path in database.parent.iterdir():
            path.chmod(0o600)
        one = _Asked(built, kind, keyed)
        one.ask(root, database, how)
        for text in one.foreign:
            say(foreign=text[:80], at=f"{number} {kind} {how}", text=text)
        for text in one.wrong:
            say(wrong=text, at=f"{number} {kind} {how}")
        say(came=one.came(), kind=kind)
        shutil.rmtree(root)


class _Asked:
    """Everything asked of one damaged session, and what came of it."""

    def __init__(self, built, kind, keyed):
        self.built = built
        self.kind = kind
        self.keyed = keyed
        self.expected = built["live" if kind == "journal" else "whole"]
        self.wrong, self.foreign = [], []
        self.errors = collections.Counter()
        self.older = False
        self.lost = []
        self.checked = False

    def came(self):
        """One word."""
        if self.foreign or self.wrong:
            return "wrong or foreign"
        if self.lost:
            return "lost, and not told" if self.checked else "lost, and told"
        if self.errors:
            return "told"
        return "an older state" if self.older else "right"

    def act(self, what, function):
        """Ask; (answer,) or None for an error of ours."""
        try:
            return (function(),)
        except SpillstoreError as error:
            self.errors[type(error).__name__] += 1
        except BaseException as error:
            self.foreign.append(
                f"{type(error).__name__} from {what}\n{''.join(traceback.format_exception(error))[-2500:]}"
            )
        return None

    def ask(self, root, database, how):
        """Open it and ask everything."""
        key = KEY if self.keyed else None
        if how == "file":
            session = self.act("open", lambda: Store.open_file(database, digest_key=key))
        else:
            store = Store(root, digest_key=key, **SETTINGS)
            session = self.act("open", lambda: store.session("s", create=False, read_only=how == "read"))
        if session is None:
            return
        session = session[0]
        listed = self.act("list", lambda: {info.id for info in session.infos(limit=1000)})
        if listed is not None:
            missing = self.expected.keys() - listed[0]
            self.lost += sorted(missing)
            self._known(listed[0])
        for artifact_id, expected in self.expected.items():
            self._artifact(session, artifact_id, expected)
        self.act("events", session.events)
        self.checked = self.act("check", session.check) is not None
        if how == "write":
            self.act("put", lambda: session.put(b"kept").read_bytes(0, 10))
        self.act("close", session.close)
        if self.lost and self.checked and self.kind not in MAY_LOSE[self.keyed]:
            self.wrong.append(f"lost without a word: {self.lost}")
        if (
            self.lost
            and self.kind == "journal"
            and not set(self.lost) <= {*self.built["young"], *self.built["going"]}
        ):
            self.wrong.append(f"a journal's damage took {self.lost}")
        if self.older and self.kind not in MAY_BE_OLDER[self.keyed]:
            self.wrong.append("an older state")

    def _known(self, listed):
        """What is listed, but was not there any more."""
        more = listed - self.expected.keys()
        known = {*self.built["gone"], *self.built["going"]}
        if more - known:
            self.wrong.append(f"listed, and never there: {more - known}")
        elif more:
            self.older = True

    def _artifact(self, session, artifact_id, expected):
        try:
            artifact = session.artifact(artifact_id)
        except ArtifactNotFoundError:
            self.lost.append(artifact_id)
            return
        except SpillstoreError as error:
            self.errors[type(error).__name__] += 1
            return
        except BaseException as error:
            self.foreign.append(
                f"{type(error).__name__} from artifact\n{''.join(traceback.format_exception(error))[-2500:]}"
            )
            return
        young = self.built["young"].get(artifact_id) if self.kind == "journal" else None
        for what, ask in answers(artifact).items():
            answer = self.act(what, ask)
            if answer is None or what == "verify" or _hash(answer[0]) == expected[what]:
                continue
            if young is not None:
                if what == "all" and not young.encode().startswith(answer[0]):
                    self.wrong.append(f"{what} of {artifact_id}: no beginning of what was written")
                self.older = True
            elif (
                what == "info" and self.kind in MAY_BE_OLDER[self.keyed] and artifact_id in self.built["grew"]
            ):
                self.older = True  # who opens it for writing notes when it was interrupted
            elif _hash(answer[0]) == self.built["older"].get(artifact_id, {}).get(what):
                self.older = True
            else:
                self.wrong.append(f"{what} of {artifact_id}: {answer[0]!r:.200}")
