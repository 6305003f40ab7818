"""Salvaging: whatever was done to a session's file, what is got is what was stored, and every chunk whose pages are whole is got."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import examples

from spillstore import Store
from spillstore.exceptions import (
    DigestKeyError,
    SessionBusyError,
    SessionExistsError,
    SessionNotFoundError,
    SpillstoreError,
    UnsupportedError,
    UsageError,
)

pytestmark = pytest.mark.files

KEY = bytes(range(32))
PAGE = 2048
OPTIONS = {"free_disk_floor": 0, "redact": False, "artifacts_per_minute": 0}


def lines(tag, count):
    return b"".join(b"%s %d %s\n" % (tag, number, b"x" * (number % 37)) for number in range(count))


def fill(session):
    """Artifacts of all kinds; for each its chunks' raw bytes by their numbers, and those of its streams."""
    dice = random.Random(5)
    noise = dice.randbytes(300_000)
    session.put(lines(b"long", 30_000), source="long", command="make all", tool_call_id="call_1")
    session.put(noise, source="binary")
    session.put(b"small\n", source="small")
    session.put(b"", source="empty")
    session.put(b"one\rtwo\rthree\r" * 9000, source="cr")
    with session.create(source="two") as writer:
        for number in range(4000):
            writer.write(b"out %d\n" % number, "stdout")
            writer.write(b"err %d\n" % number, "stderr")
    session.put(lines(b"roll", 60_000), source="roll", limit=400_000, policy="roll")
    gone = session.put(lines(b"gone", 20_000), source="gone")
    gone.delete()
    session.put(lines(b"last", 9000), source="last")


def stored(path, key=None):
    """What a file holds: of each artifact its info, its size in a chunk, and its bytes where they are."""
    out = {}
    with Store.open_file(path, digest_key=key) as session:
        for artifact in session.artifacts():
            info = artifact.info
            ranges = (
                [(0, info.size)] if info.hole is None else [(0, info.hole.start), (info.hole.end, info.size)]
            )
            out[info.id] = (info, [(start, artifact.read_bytes(start, end)) for start, end in ranges])
    return out


@pytest.fixture(scope="module", params=[None, KEY], ids=["plain", "keyed"])
def base(request, tmp_path_factory):
    """A session's file, what it holds, and the digest key."""
    root = tmp_path_factory.mktemp("base")
    with Store(root, digest_key=request.param, **OPTIONS).session("chat", "web") as session:
        fill(session)
    path = root / "web" / "chat" / "session.db"
    return path, stored(path, request.param), request.param


def salvaged(path, key, root, **named):
    """The report of a salvage, and what is in the new session, which was checked."""
    named = named or {"salvaged_as": "new"}
    before = path.read_bytes()
    store = Store(root, digest_key=key, **OPTIONS)
    report = store.salvage(path, **named)
    assert path.read_bytes() == before
    with store.session(report.session, report.project, read_only=True) as session:
        session.check()
        return report, {each.id: each for each in session.infos()}, list(session.events(limit=1000))


def held(report, path_of_new, key):
    """The bytes of each artifact that are in the new session, by their places in the old one."""
    new = stored(path_of_new, key)
    out = defaultdict(list)
    for each in report.artifacts:
        out[each.id] += new[each.id][1]
        for part in each.parts:
            ((start, raw),) = new[part.id][1]
            assert len(raw) == part.range.end - part.range.start
            out[each.id].append((part.range.start + start, raw))
    return out


def check(report, path_of_new, key, was):
    """Nothing is there that was not stored, and what is missing is said to the byte."""
    for name, pieces in held(report, path_of_new, key).items():
        _info, whole = was[name]
        for start, raw in pieces:
            assert any(
                at <= start
                and start + len(raw) <= at + len(text)
                and text[start - at : start - at + len(raw)] == raw
                for at, text in whole
            ), (name, start, len(raw))
        (each,) = [each for each in report.artifacts if each.id == name]
        there = sorted((start, start + len(raw)) for start, raw in pieces if raw)
        gone = sorted((gap.start, gap.end) for gap in each.missing)
        wanted = sorted((at, at + len(text)) for at, text in whole if text)
        if each.known:
            assert merged(there + gone) == merged(wanted), (name, there, gone, wanted)
        assert each.complete == (each.known and not gone)
        assert each.size == sum(end - start for start, end in there)


def merged(ranges):
    out = []
    for start, end in sorted(ranges):
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], end)
        else:
            assert not out or out[-1][1] < start
            out.append((start, end))
    return out


def pages_of_chunks(path):
    """For each chunk of each artifact all pages that it lies on; and the pages of all other tables' rows."""
    chunks, others = {}, set()
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        names = connection.execute(
            "SELECT artifact_id, seq FROM chunk JOIN artifact USING (session_key, artifact_key) ORDER BY chunk.rowid"
        ).fetchall()
        pages = connection.execute(
            "SELECT name, path, pageno, pagetype, ncell FROM dbstat ORDER BY path"
        ).fetchall()
    rest = iter(names)
    of_cell = {}
    for name, place, number, kind, cells in pages:
        if name == "chunk" and kind == "leaf":
            for cell in range(cells):
                chunk = next(rest)
                chunks[chunk] = {number}
                of_cell[f"{place}{cell:03x}"] = chunk
        elif name in {"artifact", "session"}:
            others.add(number)
    for name, place, number, kind, _cells in pages:
        if name == "chunk" and kind == "overflow":
            chunks[of_cell[place.partition("+")[0]]].add(number)
    assert next(rest, None) is None
    return chunks, others


def test_a_whole_session_is_got_as_it_is(base, tmp_path):
    """With the same ids, digests, events and times; what was deleted stays deleted."""
    path, was, key = base
    report, there, _ = salvaged(path, key, tmp_path)
    assert report.complete and {each.id for each in report.artifacts} == set(was) == set(there)
    for name, (info, whole) in stored(tmp_path / "_" / "new" / "session.db", key).items():
        old, old_whole = was[name]
        assert whole == old_whole
        assert (info.digest, info.chunks_digest, info.state, info.created, info.hole) == (
            old.digest, old.chunks_digest, old.state, old.created, old.hole,
        )  # fmt: skip
    report, *_ = salvaged(path, key, tmp_path / "named", session_id=None)
    assert (report.session, report.project) == ("chat", "web")
    with pytest.raises(SessionExistsError):
        Store(tmp_path / "named", digest_key=key, **OPTIONS).salvage(path)


@pytest.mark.parametrize("what", ["header", "schema", "indexes", "map", "root pages", "free list"])
def test_what_only_leads_to_the_rows_is_not_needed(base, tmp_path, what):
    """Where SQLite refuses the file, all of it is got."""
    path, was, key = base
    raw = bytearray(path.read_bytes())
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        kinds = connection.execute("SELECT name, pageno, pagetype FROM dbstat").fetchall()
    wanted = {
        "header": [],
        "schema": [page for name, page, _ in kinds if name == "sqlite_schema"],
        "indexes": [page for name, page, _ in kinds if name.startswith(("ix_", "sqlite_autoindex"))],
        "map": [2],
        "root pages": [page for name, page, kind in kinds if kind == "internal"],
        "free list": [],
    }[what]
    for page in wanted:
        raw[(page - 1) * PAGE : page * PAGE] = b"\xff" * PAGE
    if what == "header":
        raw[:100] = bytes(100)
    if what == "free list":
        raw[32:40] = b"\x00\x00\x00\x05\x7f\xff\xff\xff"
    damaged = tmp_path / "session.db"
    damaged.write_bytes(raw)
    report, *_ = salvaged(damaged, key, tmp_path / "new")
    check(report, tmp_path / "new" / "_" / "new" / "session.db", key, was)
    assert report.complete and {each.id for each in report.artifacts} == set(was)


def damage(raw, dice):
    """Damage some pages in one way; returns which."""
    kind = dice.choice(["flip", "zero", "swap", "cut", "noise", "double"])
    count = len(raw) // PAGE
    pages = set(dice.sample(range(1, count + 1), min(count, dice.choice([1, 2, 5, 20]))))
    if kind == "cut":
        at = dice.randrange(len(raw))
        del raw[at:]
        return set(range(at // PAGE + 1, count + 1))
    order = sorted(pages)
    if kind in {"swap", "double"}:
        old = {page: bytes(raw[(page - 1) * PAGE : page * PAGE]) for page in order}
        for page, other in zip(order, order[1:] + order[:1], strict=True):
            if kind == "swap" or page == order[0]:
                raw[(page - 1) * PAGE : page * PAGE] = old[other]
        return pages if kind == "swap" else {order[0]}
    for page in order:
        start = (page - 1) * PAGE
        if kind == "flip":
            raw[start + dice.randrange(PAGE)] ^= 1 << dice.randrange(8)
        else:
            raw[start : start + PAGE] = bytes(PAGE) if kind == "zero" else dice.randbytes(PAGE)
    return pages


@pytest.mark.long
@given(seed=st.integers(0, 2**32))
@examples(25)
def test_every_chunk_whose_pages_are_whole_is_got(base, tmp_path_factory, seed):
    """And never other bytes, whatever was flipped, zeroed, exchanged or cut off."""
    path, was, key = base
    chunks, others = pages_of_chunks(path)
    folder = tmp_path_factory.mktemp("damaged")
    raw = bytearray(path.read_bytes())
    hit = damage(raw, random.Random(seed))
    damaged = folder / "session.db"
    damaged.write_bytes(raw)
    try:
        report, *_ = salvaged(damaged, key, folder / "new")
    except DigestKeyError:
        assert key is not None and hit & others  # the session's own row, without which the key is none
        return
    new = folder / "new" / "_" / "new" / "session.db"
    check(report, new, key, was)
    pieces = held(report, new, key)
    if not hit & others:
        for (name, seq), pages in chunks.items():
            if not pages & hit:
                start = seq * was[name][0].chunk_size
                assert any(at <= start < at + len(text) for at, text in pieces[name]), (name, seq)
    shutil.rmtree(folder)


@pytest.mark.long
def test_one_gap_is_a_hole_and_more_make_parts(base, tmp_path):
    """Reads of the artifact say what is missing, at every place of the gap; its reason and an event do, too."""
    path, was, key = base
    chunks, _ = pages_of_chunks(path)
    name = next(name for name, (info, _) in was.items() if info.source == "long")
    text, size, count = was[name][1][0][1], was[name][0].chunk_size, was[name][0].chunks
    assert count > 8
    for number, seqs in enumerate(
        [{3}, {0}, {0, 1}, {count - 1}, {2, 3, 6}, {0, 4, count - 1}, set(range(count))]
    ):
        raw = bytearray(path.read_bytes())
        for seq in seqs:
            page = max(chunks[name, seq])
            raw[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
        damaged = tmp_path / f"{number}.db"
        damaged.write_bytes(raw)
        report, there, events = salvaged(damaged, key, tmp_path / str(number), salvaged_as="new")
        check(report, tmp_path / str(number) / "_" / "new" / "session.db", key, was)
        (each,) = [each for each in report.artifacts if each.id == name]
        lost = {seq for gap in each.missing for seq in range(gap.start // size, -(-gap.end // size))}
        assert seqs <= lost  # a leaf may hold rows of two
        for gap in each.missing:
            before = text[: gap.start].count(b"\n") + 1
            behind = text[: gap.end].count(b"\n") + (text[gap.end - 1 : gap.end] != b"\n")
            assert (gap.first_line, gap.last_line) == (before, max(before, behind))
        info = there[name]
        assert (info.state, info.source, info.command) == ("interrupted", "long", "make all")
        assert "missing" in info.reason
        (event,) = [event for event in events if event.kind == "salvage" and event.artifact_id == name]
        assert event.detail["missing"] == [
            [gap.start, gap.end, gap.first_line, gap.last_line] for gap in each.missing
        ]
        with Store(tmp_path / str(number), digest_key=key, **OPTIONS).session(
            "new", read_only=True
        ) as session:
            artifact = session.artifact(name)
            assert artifact.read(holes="skip") == b"".join(
                raw for _, raw in stored(session.path, key)[name][1]
            )
            assert artifact.tail(3, holes="skip") or not info.size
            list(artifact.lines(holes="skip"))
            if info.hole is not None:
                assert artifact.read_lines(1, 5, holes="skip") is not None
                assert artifact.search("long 29", limit=5).lines >= 0
                list(artifact.segments(holes="skip"))


def test_an_artifact_whose_row_is_lost_keeps_its_id_and_its_bytes(base, tmp_path):
    """Its digests say whose its chunks are; what nobody knows is not said."""
    path, was, key = base
    raw = bytearray(path.read_bytes())
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        pages = [page for (page,) in connection.execute("SELECT pageno FROM dbstat WHERE name = 'artifact'")]
    for page in pages:
        raw[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    damaged = tmp_path / "session.db"
    damaged.write_bytes(raw)
    report, there, _ = salvaged(damaged, key, tmp_path / "new")
    wanted = {name for name, (info, _) in was.items() if info.size}
    assert {each.id for each in report.artifacts} == wanted and not report.complete
    pieces = held(report, tmp_path / "new" / "_" / "new" / "session.db", key)
    for name in wanted:
        assert sorted(piece for piece in pieces[name] if piece[1]) == [
            piece for piece in was[name][1] if piece[1]
        ]
        assert there[name].state == "interrupted" and "row is lost" in there[name].reason


def test_a_session_whose_row_is_lost_has_the_name_of_its_folder(base, tmp_path):
    """Or the one that is given; with a digest key nothing can be told without it."""
    path, was, key = base
    raw = bytearray(path.read_bytes())
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        (page,) = connection.execute("SELECT pageno FROM dbstat WHERE name = 'session'").fetchone()
    raw[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    damaged = tmp_path / "old" / "web" / "chat" / "session.db"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(raw)
    elsewhere = tmp_path / "elsewhere.db"
    elsewhere.write_bytes(raw)
    store = Store(tmp_path / "new", digest_key=key, **OPTIONS)
    if key is not None:
        with pytest.raises(DigestKeyError, match="uid"):
            store.salvage(damaged)
        return
    report = store.salvage(damaged)
    assert (report.session, report.project, report.known) == ("chat", "web", False)
    assert {each.id for each in report.artifacts if each.complete} == set(was)
    with pytest.raises(UsageError, match="name"):
        store.salvage(elsewhere)
    assert store.salvage(elsewhere, salvaged_as="other").session == "other"
    assert store.check() == 2


KILLED = """
import os, sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, redact=False)
session = store.session("s")
for number in range(20):
    session.put((f"line {number}\\n" * 9000).encode(), source=str(number))
os._exit(9)
"""


@pytest.mark.long
def test_a_file_with_a_journal_and_without_it(tmp_path):
    """What a killed process left in its journal is got; without the journal, what the file has; of a damaged one, what is whole."""
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], check=False)
    path = tmp_path / "a" / "_" / "s" / "session.db"
    wal = path.with_name("session.db-wal")
    assert wal.stat().st_size > 100_000
    whole = (path.read_bytes(), wal.read_bytes())
    names = {str(number) for number in range(20)}

    def got(folder, journal):
        damaged = tmp_path / folder / "session.db"
        damaged.parent.mkdir()
        damaged.write_bytes(whole[0])
        if journal is not None:
            damaged.with_name("session.db-wal").write_bytes(journal)
        _report, there, _ = salvaged(damaged, None, tmp_path / folder / "new")
        sealed = {info.source: info.id for info in there.values() if info.state == "sealed"}
        with Store(tmp_path / folder / "new").session("new", read_only=True) as session:
            for source, name in sealed.items():
                assert session.artifact(name).read_text() == f"line {source}\n" * 9000
        return set(sealed)

    assert got("both", whole[1]) == names
    assert got("alone", None) <= names
    broken = bytearray(whole[1])
    broken[40_000] ^= 1
    assert len(got("broken", bytes(broken))) >= 15


def test_what_may_not_be_salvaged(tmp_path):
    """A session that is open, that was deleted, that is not there, that is on a server or nowhere."""
    store = Store(tmp_path / "a", **OPTIONS)
    to = Store(tmp_path / "b", **OPTIONS)
    with store.session("s") as session:
        session.put(b"x\n", source="x")
        with pytest.raises(SessionBusyError, match="close"):
            to.salvage(session.path)
    with pytest.raises(SessionNotFoundError):
        to.salvage(store.root, session_id="nothing")
    with pytest.raises(SessionNotFoundError):
        to.salvage(tmp_path / "nothing.db")
    with pytest.raises(UsageError, match="server"):
        to.salvage("postgresql://host/db")
    with pytest.raises(UnsupportedError, match="dictionaries"):
        to.salvage("dict:salvage", session_id="s")
    path = tmp_path / "a" / "_" / "s" / "session.db"
    with closing(sqlite3.connect(path)) as connection:
        (digest,) = connection.execute("SELECT deleted_us FROM session").fetchone()
    assert digest is None
    with Store.open_file(path) as session:
        row = session._engine.row._replace(deleted_us=5).sealed()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE session SET deleted_us = 5, digest = ?", (row.digest,))
    with pytest.raises(SessionNotFoundError, match="deleted"):
        to.salvage(path)
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(os.urandom(50_000))
    report = to.salvage(garbage, salvaged_as="garbage")
    assert (report.artifacts, report.known) == ((), False)
    assert json.loads(json.dumps(report.complete)) is False
    with pytest.raises(SpillstoreError):
        to.salvage(tmp_path)


def test_a_middle_that_was_dropped_is_not_missing(base, tmp_path):
    """Also where nothing else is left of an artifact but its row."""
    path, was, key = base
    chunks, _ = pages_of_chunks(path)
    name, whole = next((name, whole) for name, (info, whole) in was.items() if info.hole is not None)
    raw = bytearray(path.read_bytes())
    for page in {page for (of, _), pages in chunks.items() if of == name for page in pages}:
        raw[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    damaged = tmp_path / "session.db"
    damaged.write_bytes(raw)
    report, *_ = salvaged(damaged, key, tmp_path / "new")
    check(report, tmp_path / "new" / "_" / "new" / "session.db", key, was)
    (each,) = [each for each in report.artifacts if each.id == name]
    assert [(start, start + len(text)) for start, text in whole] == [
        (gap.start, gap.end) for gap in each.missing
    ]


def test_an_artifact_of_which_nothing_is_left_is_told_of(base, tmp_path):
    """An empty one has its row alone: the audit log says that it was made, and with a key the session's sum that a row is missing."""
    path, was, key = base
    (empty,) = [name for name, (info, _) in was.items() if info.source == "empty"]
    damaged = tmp_path / "session.db"
    shutil.copy(path, damaged)
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("DELETE FROM artifact WHERE artifact_id = ?", (empty,))
    report, *_ = salvaged(damaged, key, tmp_path / "new")
    assert ((empty,), key is None, False) == (report.lost, report.all_rows, report.complete)
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("DELETE FROM event")
    report, *_ = salvaged(damaged, key, tmp_path / "without events")
    assert ((), key is None) == (report.lost, report.complete)


def test_a_file_without_its_end_is_not_called_complete(base, tmp_path):
    """Whatever was in it; where a key proves that no artifact's row was, and all chunks are there, it is."""
    path, was, key = base
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        (last,) = connection.execute("SELECT max(pageno) FROM dbstat WHERE name = 'session'").fetchone()
    raw = path.read_bytes()
    damaged = tmp_path / "session.db"
    damaged.write_bytes(raw[: last * PAGE])
    report, *_ = salvaged(damaged, key, tmp_path / "new")
    assert (True, False, False) == (report.known, report.all_rows, report.complete)
    damaged.write_bytes(raw)
    report, *_ = salvaged(damaged, key, tmp_path / "whole")
    assert (True, True) == (report.all_rows, report.complete)
    assert set(was) == {each.id for each in report.artifacts}
