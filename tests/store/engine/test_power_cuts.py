"""What a power cut can leave of a new session blocks no name, and nothing of anybody else's is thrown away."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.engine.base import SessionRef
from spillstore.exceptions import IntegrityError, NotASessionError, SessionBusyError

SECTOR = 512


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "root", **NO_FLOORS)


def new_file(store):
    """The folder of a session that nothing was stored in, as it lies there when its file was just made."""
    ref = SessionRef("test", None)
    store._pool.make(ref)
    return store.root / "_" / "test"


def hidden(store):
    return sorted(path.name.split("-")[0] for path in (store.root / "_").glob(".*"))


def lose(folder, kind):
    """Take something of a new session's file away."""
    file = folder / "session.db"
    data = bytearray(file.read_bytes())
    if kind == "empty":
        data = b""
    elif kind == "zeros":
        data = bytes(len(data))
    elif kind == "header":
        data[:SECTOR] = bytes(SECTOR)
    elif kind == "sectors":
        for at in range(SECTOR, len(data), 3 * SECTOR):
            data[at : at + SECTOR] = bytes(len(data[at : at + SECTOR]))
    elif kind == "end":
        data = data[: len(data) // 2]
    file.write_bytes(data)
    if kind in {"none", "journal"}:
        file.unlink()
    if kind == "journal":
        (folder / "session.db-wal").write_bytes(b"what was committed" * 100)
    if kind == "none":
        (folder / "owner-0123456789abcdef.lock").write_bytes(b"{}")


KINDS = ["empty", "zeros", "header", "sectors", "end", "none", "journal"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_writer_makes_the_session_anew(store, kind):
    """A file that is empty, lacks sectors or its end, or is not there: the name works; what a journal holds is kept aside."""
    lose(new_file(store), kind)
    with store.session("test") as session:
        session.put(b"new")
        session.check()
    assert ([".torn"] if kind == "journal" else []) == hidden(store)


def test_a_whole_new_session_is_no_part_of_one(store):
    """Where opening it has failed for another reason it stays, and so does one that lacks a byte that is nothing but zero."""
    folder = new_file(store)
    ref, file = SessionRef("test", None), folder / "session.db"
    for failed in (True, False):
        assert store._pool.backend.set_aside(ref, failed=failed) is None
    assert file.is_file()
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    assert store._pool.backend.set_aside(ref, failed=False) is None
    assert store._pool.backend.set_aside(ref, failed=True) is not None
    assert not folder.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_collected(store, kind, clock):
    """``collect`` removes it, and what was kept aside when it is as old as a session may be."""
    lose(new_file(store), kind)
    report = store.collect(older_than=-1)
    assert 1 == report.leftovers + len(report.deleted) + (kind == "journal")
    assert [] == list(store.sessions())
    assert [] == [path for path in (store.root / "_").iterdir() if not path.name.startswith(".")]
    clock.now = (store.root / "_").stat().st_mtime + store.settings.retention + 10
    Store(store.address, clock=clock, **NO_FLOORS).collect()
    assert [] == os.listdir(store.root / "_")


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_deleted_by_name(store, kind):
    """``Store.delete`` removes it, journal and all."""
    lose(new_file(store), kind)
    store.delete("test")
    assert [] == os.listdir(store.root / "_")


@pytest.mark.parametrize("content", ["text", "database", "damaged", "zeros"])
def test_what_is_no_part_of_a_new_session_stays(store, content):
    """Somebody's own text or database in its place, a session that was damaged otherwise, and a long file of zeros."""
    folder = new_file(store)
    file = folder / "session.db"
    if content == "text":
        file.write_bytes(b"somebody's own\n")
    elif content == "database":
        file.unlink()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE mine (x)")
    elif content == "damaged":
        with store.session("test") as session:
            session.put(b"x" * 1000)
        data = bytearray(file.read_bytes())
        data[:SECTOR] = bytes(SECTOR)
        file.write_bytes(data)
    else:
        file.write_bytes(bytes(10**6))
    before = file.read_bytes()
    with pytest.raises((IntegrityError, NotASessionError)):
        store.session("test")
    assert ["unreadable"] == [fate.why for fate in store.collect(older_than=-1).spared]
    with pytest.raises((IntegrityError, NotASessionError)):
        store.delete("test")
    assert before == file.read_bytes()
    assert [] == hidden(store)


def test_a_folder_with_something_else_in_it_is_named(store):
    """Without a session's file, but with somebody's own: the error says what to move away, and nothing is moved."""
    folder = new_file(store)
    (folder / "session.db").unlink()
    (folder / "notes.txt").write_bytes(b"mine")
    with pytest.raises(NotASessionError, match=r"holds 'notes\.txt' and no session; move that away"):
        store.session("test")
    store.collect(older_than=-1)
    assert b"mine" == (folder / "notes.txt").read_bytes()


HOLDER = """
import sys, time
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("test")
print(flush=True)
sys.stdin.read()
"""


def test_a_folder_that_lost_all_names_in_it_is_removed(store):
    """It is in nobody's way, and ``collect`` does not leave it behind."""
    folder = new_file(store)
    (folder / "session.db").unlink()
    store.collect(dry_run=True)
    assert folder.is_dir()
    store.collect()
    assert not folder.exists()


@pytest.mark.long
def test_a_file_that_went_under_a_living_process_is_not_replaced(store):
    """Its owner may be writing into it still; who it is is said."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, store.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        (store.root / "_" / "test" / "session.db").unlink()
        with pytest.raises(SessionBusyError, match=f"process {holder.pid} .* uses it"):
            store.session("test")
        holder.stdin.close()
    store.session("test").close()
