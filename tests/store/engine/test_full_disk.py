"""A disk that takes not one byte more: what is stored can be read, and deleted to make room."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from support import NO_FLOORS, small_disk

from spillstore import Settings, Store
from spillstore.engine.base import SessionRef
from spillstore.engine.sqlite import owner_locks
from spillstore.engine.sqlite.database import connect_alone
from spillstore.engine.sqlite.free_space import check_free_space
from spillstore.engine.sqlite.soft_delete import bury
from spillstore.exceptions import DiskFullError

DATA = random.Random(7).randbytes(200_000)  # in which no secret seems to be
# A process that may make no file longer than nothing: each write fails, in SQLite and outside it.
FILLED = """
import contextlib, os
with contextlib.suppress(OSError), open(os.path.join(sys.argv[1], "..", "fill"), "wb", buffering=0) as file:
    while True:
        file.write(bytes(4096))
"""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"


@pytest.fixture(params=["limit", "mounted"])
def full(request, tmp_path):
    """A store, and what runs code that sees it as ``store`` while its disk is full; that prints what it returns."""
    root = tmp_path / "disk" / "root"
    root.parent.mkdir()
    mounted = request.param == "mounted"

    def run(code, *, before="", **settings):
        options = {**NO_FLOORS, "busy_timeout": 0.2, **settings}
        script = (
            f"import sys; from spillstore import Store; store = Store(sys.argv[1], **{options})\n{before}\n"
        )
        script += (FILLED if mounted else LIMITED) + f"\n{code}"
        result = subprocess.run(
            [sys.executable, "-c", script, root], capture_output=True, text=True, check=False
        )
        assert "" == result.stderr
        return result.stdout.split()

    with small_disk(root.parent, "6m") if mounted else contextlib.nullcontext():
        for name in ("one", "two"):
            with Store(root, **NO_FLOORS).session(name) as session:
                session.put(DATA)
        yield Store(root, **NO_FLOORS), run, mounted


def names(store):
    return sorted(info.id for info in store.sessions())


@pytest.mark.long
def test_it_is_read(full):
    """Sessions are listed, and content is read to the byte, without SQLite's files beside the database."""
    _, run, _ = full
    code = """
session = store.session("one", read_only=True)
[artifact] = session.artifacts()
print(len(list(store.sessions())), artifact.info.size, len(artifact.read_bytes(0, 10**6)), session.check().artifacts)
"""
    assert ["2", "200000", "200000", "1"] == run(code)


@pytest.mark.long
def test_a_session_is_deleted(full):
    """By its name, though nothing can be claimed or recorded; nothing is left of it."""
    store, run, _ = full
    run("store.delete('one')")
    assert ["two"] == names(store)
    assert ["two"] == sorted(os.listdir(store.root / "_"))


@pytest.mark.long
def test_a_session_that_is_open_is_deleted(full):
    """By who has it open, and has claimed it before the disk ran full."""
    store, run, _ = full
    run("session.delete()", before="session = store.session('one')")
    assert ["two"] == names(store)


@pytest.mark.long
def test_sessions_are_collected(full):
    """Those that are too old go, and what was freed is told."""
    store, run, _ = full
    assert ["2", "True"] == run("r = store.collect(older_than=-1); print(len(r.deleted), r.freed > 400_000)")
    assert [] == names(store)


@pytest.mark.long
def test_an_artifact_is_deleted_where_little_is_free(full):
    """A large one needs no more room than a small one, without a reserve: its chunks go one by one where all do not fit."""
    store, run, mounted = full
    if not mounted:
        pytest.skip("needs a small disk of its own, which this user may not mount")
    with store.session("large") as session:
        session.put(os.urandom(1_500_000))
    [reserve] = store.root.glob(".reserve-*")
    reserve.unlink()
    code = """
os.truncate(os.path.join(sys.argv[1], "..", "fill"), os.path.getsize(os.path.join(sys.argv[1], "..", "fill")) - 320 * 1024)
with store.session("large") as session:
    [artifact] = session.artifacts()
    artifact.delete()
    print(len(session.artifacts()), session.check().chunks)
"""
    assert ["0", "0"] == run(code)
    assert 200_000 > (store.root / "_" / "large" / "session.db").stat().st_size


@pytest.mark.long
def test_what_somebody_holds_stays(full):
    """A session that lives is neither read without its journal nor deleted, and who holds it is named."""
    store, run, _ = full
    with Store(store.address, **NO_FLOORS).session("one") as session:
        code = """
from spillstore.exceptions import SessionBusyError
try:
    store.delete("one", force=True)
except SessionBusyError as error:
    print(str(error).replace(" ", "-"))
"""
        assert "no-room-to-record" in run(code)[0]
        session.check()
    assert ["one", "two"] == names(store)


KILLED = """
import os, sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("one")
session.put(b"committed last")
os._exit(9)
"""


@pytest.mark.long
def test_what_is_in_a_journal_only_is_not_left_out(full):
    """A killed process has left a journal: it is brought into the file if it fits, or else reading says what it needs."""
    store, run, mounted = full
    subprocess.run([sys.executable, "-c", KILLED, store.root], check=False)
    code = """
from spillstore.exceptions import DiskFullError
try:
    with store.session("one", read_only=True) as session:
        print(session.check().artifacts, min(len(artifact.read_bytes(0, 100)) for artifact in session.artifacts()))
except DiskFullError as error:
    print(str(error).replace(" ", "-"))
"""
    # Its index is still there, too, and another process can use that where nothing must be written.
    for index in (store.root / "_" / "one").glob("*-shm"):
        index.unlink()
    if mounted:
        assert ["2", "14"] == run(code)
    else:
        assert "its-last-process-died" in run(code)[0]
    run("store.delete('one')")
    assert ["two"] == names(store)


@pytest.mark.long
def test_events_are_kept_when_there_is_room(full):
    """With ``audit_keep`` they are read before a session goes and written when its space is free."""
    store, run, mounted = full
    code = "store.delete('one'); print(*(event.kind for event in store.deleted_events('one')))"
    if mounted:
        assert ["delete_session", "seal", "create"] == run(code, audit_keep=True)
    else:
        assert [] == run(
            "import logging; logging.getLogger('spillstore').propagate = False;" + code, audit_keep=True
        )
    assert ["two"] == names(store)


def test_a_part_of_the_disk_must_stay_free(tmp_path):
    """Half of what is free is there; more than that is not, and counts though the floor in bytes is low."""
    disk = os.statvfs(tmp_path)
    free = disk.f_bavail / disk.f_blocks
    check_free_space(tmp_path, Settings(free_disk_floor=1, free_disk_floor_fraction=free / 2))
    with pytest.raises(DiskFullError, match=r"^\d+ bytes are free on the disk and \d+ must stay free"):
        check_free_space(tmp_path, Settings(free_disk_floor=1, free_disk_floor_fraction=(1 + free) / 2))
    check_free_space(tmp_path, Settings(free_disk_floor=0, free_disk_floor_fraction=1.0))


def test_where_nothing_can_be_recorded_an_artifact_is_deleted_while_nobody_has_its_session(plain_store):
    """In a folder as on a server; who has it open keeps it."""
    ref, pool = SessionRef("test", None), plain_store._pool
    with plain_store.session("test") as session:
        gone, stays = (session.put(DATA).id for _ in range(2))
        assert pool.delete_artifact_alone(ref, gone) is None
    assert len(DATA) < pool.delete_artifact_alone(ref, gone)
    with plain_store.session("test") as session:
        assert [stays] == [artifact.id for artifact in session.artifacts()]


def test_who_waits_for_a_session_that_is_renamed_gets_a_new_one(tmp_path):
    """Nobody writes into a session that was deleted by its rename alone while they waited for its lock."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    with store.session("test") as session:
        session.put(b"old")
    folder = tmp_path / "root" / "_" / "test"
    stored = []

    def use():
        with store.session("test") as session:
            stored.append(session.put(b"new").id)

    with closing(connect_alone(folder / "session.db", store.settings)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        thread = threading.Thread(target=use)
        thread.start()
        while thread.is_alive() and not any(owner_locks.is_owner_name(name) for name in os.listdir(folder)):
            pass
        bury(folder, "0" * 32)
        connection.execute("ROLLBACK")
    thread.join()
    with store.session("test", create=False) as session:
        assert stored == [artifact.id for artifact in session.artifacts()]
