"""Programs that read a session's files in the process that has it open, or exchange them under it."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import threading

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.engine.sqlite import connection, database, fork_safety
from spillstore.engine.sqlite.connection import FileLock
from spillstore.engine.sqlite.soft_delete import bury
from spillstore.exceptions import SessionDeletedError, StorageError
from spillstore.settings import Settings

pytestmark = pytest.mark.files

OPEN_AND_CLOSE = """
import sys
from spillstore import Store
with Store(sys.argv[1], free_disk_floor=0).session("test") as session:
    print(session.put(sys.argv[2].encode(), source="other").id)
"""
WRITE_AND_DIE = """
import os, shutil, signal, sys
from pathlib import Path
from spillstore import Store
root, reads = sys.argv[1:]
session = Store(root, free_disk_floor=0, artifacts_per_minute=0).session("test")
session.put(b"first\\n")
folder = Path(root, "_", "test")
for path in sorted(folder.iterdir()):
    if reads == "all" or path.name == reads:
        path.read_bytes()
print("read", flush=True)
sys.stdin.readline()  # another process opens the session and closes it
for number in range(20):
    print(session.put(b"%d\\n" % number).id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def other_process(root, text):
    """Another process opens the session, stores, and closes it; the artifact's id."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN_AND_CLOSE, str(root), text], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.long
@pytest.mark.parametrize("reads", ["session.db", "session.db-wal", "session.db-shm", "all"])
def test_reading_ones_own_files_loses_nothing_that_is_sealed_afterwards(plain_store, reads):
    """A copy made in the process itself, another process that closes the file, ``kill -9``: all is there."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_AND_DIE, plain_store.address, reads],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert "read\n" == process.stdout.readline()
    names = [other_process(plain_store.root, "theirs")]
    names += process.communicate("\n")[0].split()
    assert 21 == len(names)
    with plain_store.session("test") as session:
        assert [True] * 21 == [session.exists(name) for name in names]
        session.check()


@pytest.mark.long
def test_two_writers_one_of_which_reads_its_own_files(plain_store):
    """Both find all that they have sealed, though one drops SQLite's locks again and again."""
    folder = plain_store.root / "_" / "test"
    script = """
import sys
from spillstore import Store

for _ in range(10):
    with Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0).session("test") as session:
        for _ in range(10):
            print(session.put(b"theirs " * 5000).id)
"""
    with plain_store.session("test") as session:
        session.put(b"first\n")
        process = subprocess.Popen(
            [sys.executable, "-c", script, plain_store.address], stdout=subprocess.PIPE, text=True
        )
        mine = []
        while process.poll() is None or len(mine) < 50:
            mine.append(session.put(b"mine " * 5000).id)
            for name in ("session.db", "session.db-wal", "session.db-shm"):
                if (folder / name).exists():
                    (folder / name).read_bytes()
        theirs = process.communicate()[0].split()
    with plain_store.session("test") as session:
        assert 100 == len(theirs)
        assert [True] * (len(mine) + 100) == [session.exists(name) for name in mine + theirs]
        session.check()


@pytest.mark.long
def test_readers_see_what_comes_after_their_wal_was_removed(plain_store):
    """A reader whose locks were dropped finds what another process has stored since."""
    with plain_store.session("test") as writer:
        writer.put(b"first\n")
    reader = Store(plain_store.address, **NO_FLOORS).session("test", read_only=True)
    with reader:
        assert 1 == len(reader.artifacts())
        for path in (plain_store.root / "_" / "test").iterdir():
            path.read_bytes()
        name = other_process(plain_store.root, "theirs")
        assert b"theirs" == reader.artifact(name).read_bytes(0, 10)
        assert 2 == len(reader.artifacts())


def remove_file(folder):
    (folder / "session.db").unlink()


def remove_folder(folder):
    shutil.rmtree(folder)


def make_anew(folder):
    shutil.rmtree(folder)
    other_process(folder.parent.parent, "anew")


def restore(folder):
    """A backup is put in its place: the same rows in another file, as of some time ago."""
    shutil.copytree(folder, folder.with_name("copy"))
    shutil.rmtree(folder)
    folder.with_name("copy").rename(folder)


@pytest.mark.long
@pytest.mark.parametrize("exchange", [remove_file, remove_folder, make_anew, restore])
def test_nothing_is_acknowledged_in_a_file_that_nobody_will_find(tmp_path, exchange):
    """Each call that promises to have stored something fails once the file is another one, or none."""
    store = Store(tmp_path, **NO_FLOORS)
    session = store.session("test")
    writer = session.create()
    writer.write(b"before\n")
    writer.flush()
    exchange(tmp_path / "_" / "test")
    writer.write(b"after\n")
    for call in (writer.flush, writer.close, lambda: session.put(b"x"), session.artifacts):
        with pytest.raises(SessionDeletedError):
            call()
    session.close()


def test_an_exchange_in_the_middle_of_a_transaction_is_noticed(tmp_path):
    """What was committed into a file that went meanwhile is not acknowledged."""
    session = Store(tmp_path, **NO_FLOORS).session("test")
    engine = session._engine
    with (
        pytest.raises(SessionDeletedError, match="removed or exchanged"),
        engine._commit,
        engine.ingest.committer.recording("a test"),
    ):
        os.rename(tmp_path / "_" / "test", tmp_path / "_" / "elsewhere")
    session.close()


@pytest.mark.long
def test_a_lock_that_cannot_be_given_back_is_dropped(tmp_path, monkeypatch):
    """Once an OSError came out of ``close``, and the folder stayed locked for all other processes."""
    flock, refused = fcntl.flock, []

    def broken(descriptor, operation):
        if operation == fcntl.LOCK_UN:
            refused.append(descriptor)
            raise OSError(errno.EIO, "Input/output error")
        return flock(descriptor, operation)

    with Store(tmp_path, **NO_FLOORS).session("test") as session:
        monkeypatch.setattr(fcntl, "flock", broken)
        session.put(b"x")
        assert refused
        other = [sys.executable, "-c", OPEN_AND_CLOSE, tmp_path, "y"]
        subprocess.run(other, check=True, capture_output=True, timeout=300)
        session.put(b"z")
    monkeypatch.undo()
    with Store(tmp_path, **NO_FLOORS).session("test") as session:
        assert 3 == session.check().artifacts


def test_a_journal_that_cannot_be_looked_at_is_told_as_ours(tmp_path, monkeypatch):
    """Once an OSError came out of reads, and a call of the tool ``bash`` ended with it and showed nothing."""

    def broken(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    with Store(tmp_path, **NO_FLOORS).session("test") as session:
        artifact = session.put(b"x")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fstat", broken)
            with pytest.raises(StorageError, match="Input/output error"):
                session.artifact(artifact.id)
            with pytest.raises(StorageError, match="Input/output error"):
                session.put(b"y")
        assert b"x" == session.artifact(artifact.id).read()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(("module", "moment"), [(fork_safety, "refuse_inherited"), (database, "_configure")])
def test_the_file_of_one_session_is_not_read_with_the_journal_of_another(
    tmp_path, monkeypatch, module, moment, read_only
):
    """Where the folder is exchanged while a session is opened, before its file is or before its journal; and the new one stays whole."""
    store = Store(tmp_path, **NO_FLOORS)
    old, new = (tmp_path / "_" / name for name in ("test", "next"))
    with store.session("test") as session:
        session.put(b"old\n")
    kept = store.session("next")
    for number in range(5):
        kept.put(b"new %d\n" % number)  # in its WAL, which is open

    step, moved = getattr(module, moment), []

    def exchanged(*arguments, **options):
        if not moved:
            moved.append(old.rename(tmp_path / "_" / ".gone-old"))
            new.rename(old)
        return step(*arguments, **options)

    monkeypatch.setattr(module, moment, exchanged)
    lock = FileLock(old / "session.db")
    with pytest.raises(SessionDeletedError, match="exchanged while it was opened"):
        database.connect(old / "session.db", Settings(), read_only=read_only, lock=lock)
    lock.close()
    kept.close()
    with sqlite3.connect(old / "session.db") as rows:
        assert rows.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rows.execute("SELECT count(*) FROM artifact").fetchone() == (5,)


def test_a_session_does_not_go_while_its_file_is_closed(tmp_path, monkeypatch):
    """Who closes it last removes its WAL by its path, which must not lead to that of a new session by then."""
    monkeypatch.setattr(connection, "_BRIEFLY", 300)
    folder = tmp_path / "_" / "test"
    with Store(tmp_path, **NO_FLOORS).session("test") as session:
        session.put(b"x")
    waits = threading.Event()
    wait = connection._Waiter.wait
    monkeypatch.setattr(connection._Waiter, "wait", lambda waiter: waits.set() or wait(waiter))
    closing = FileLock(folder / "session.db")
    closing.acquire(0)
    burying = threading.Thread(target=bury, args=(folder, "0"))
    burying.start()
    assert waits.wait(300)
    assert folder.exists()
    closing.release()
    burying.join()
    closing.close()
    assert not folder.exists()


def test_storing_in_a_session_that_goes_says_so(tmp_path):
    """Also where its folder is missed first by who measures the disk."""
    with Store(tmp_path, artifacts_per_minute=0).session("test") as session:
        (tmp_path / "_" / "test").rename(tmp_path / "_" / ".gone-test")
        with pytest.raises(SessionDeletedError):
            session.put(b"x")
