"""Which sessions go when a store is collected, and what the quota of a store does."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, ROUNDS, dice, examples, make_old, outlive, tries

from spillstore import Store
from spillstore.engine.sqlite import soft_delete, usage_cache
from spillstore.engine.sqlite.backend import FolderBackend
from spillstore.engine.sqlite.usage_cache import size_of
from spillstore.exceptions import InvalidSettingError, SpillstoreError, StoreQuotaError
from spillstore.info import SessionInfo
from spillstore.ingest.session_pool import SessionPool
from spillstore.limits.retention import plan

DAY = 86400.0


def fill(store, name, size=1000, *, age=0.0, project=None):
    """A session that was last written ``age`` seconds ago."""
    # Making a session must not collect the others.
    with Store(store.address, **NO_FLOORS, retention=1e9, store_quota=0).session(name, project) as session:
        session.put(os.urandom(size))
    make_old(session, age)
    return session


def folder_of(session):
    return session.root / (session.project or "_") / session.id


def names(fates):
    return [(fate.session.id, fate.why) for fate in fates]


def du(root):
    """What the files of all folders take on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in root.glob("*/*/*") if path.is_file())


# --- what is chosen ---------------------------------------------------------------------------------------


@given(
    sessions=st.lists(st.tuples(st.booleans(), st.integers(0, 20), st.integers(0, 50)), max_size=12),
    before=st.integers(0, 20),
    keep=st.none() | st.integers(0, 300),
)
@examples(200)
def test_the_plan_keeps_what_it_must(sessions, before, keep):
    """Property: no live session goes, all old ones do, and of the others only the oldest, until the rest fits."""
    infos = [
        SessionInfo(id=str(number), project=None, live=live, used=float(used), disk_size=size)
        for number, (live, used, size) in enumerate(sessions)
    ]
    gone, spared = plan(infos, used_before=float(before), keep_bytes=keep)
    assert sorted(info.id for info in infos) == sorted(fate.session.id for fate in [*gone, *spared])
    assert {fate.session.id for fate in spared if fate.why == "live"} == {
        info.id for info in infos if info.live
    }
    assert {fate.session.id for fate in gone if fate.why == "age"} == {
        info.id for info in infos if not info.live and info.used <= before
    }
    room = [fate.session for fate in gone if fate.why == "room"]
    young = [fate.session for fate in spared if fate.why == "young"]
    assert all(going.used <= staying.used for going in room for staying in young)
    left = sum(fate.session.disk_size for fate in spared)
    if keep is None:
        assert [] == room
    else:
        assert left <= keep or not young
        assert not room or left + room[-1].disk_size > keep  # not one more than needed


@pytest.mark.files
def test_old_and_large_ones_go_and_all_is_told(make_store):
    """Age first, then the oldest until what stays fits; a live one stays; ``dry_run`` names the same and does nothing."""
    store = make_store()
    plain = Store(store.address, **NO_FLOORS)
    for name, size, age in (("old", 10_000, 9 * DAY), ("b", 400_000, 3 * DAY), ("c", 400_000, 2 * DAY)):
        fill(plain, name, size, age=age)
    fill(plain, "new", 400_000)
    fill(plain, "live", 400_000, age=8 * DAY)
    with plain.session("live"):
        for dry_run in (True, False):
            before = du(store.root)
            report = store.collect(keep_bytes=1_500_000, dry_run=dry_run)
            assert [("old", "age"), ("b", "room")] == names(report.deleted)
            assert {("live", "live"), ("c", "young"), ("new", "young")} == set(names(report.spared))
            assert dry_run is report.dry_run
            assert (before - du(store.root)) == (0 if dry_run else report.freed)
            assert report.freed > 400_000
            assert report.left == sum(fate.session.disk_size for fate in report.spared)
    assert {"c", "new", "live"} == {info.id for info in plain.sessions()}


@pytest.mark.files
def test_one_project_alone(make_store):
    """With ``project``, sessions of others neither go nor count."""
    store = make_store()
    for project in ("web", None):
        fill(store, "old", age=30 * DAY, project=project)
    assert [("old", "age")] == names(store.collect(project="web").deleted)
    assert [None] == [info.project for info in store.sessions()]


@pytest.mark.files
def test_what_died_processes_left_goes_and_foreign_folders_stay(plain_store):
    """Trash and folders that were never finished go and are counted; what is no session is not touched."""
    fill(plain_store, "kept")
    trash = plain_store.root / "_" / ".gone-0123"
    torn = plain_store.root / "_" / ".new-0123"
    foreign = plain_store.root / "_" / "notes"
    fresh = plain_store.root / "_" / ".new-4567"
    for folder in (trash, torn, foreign, fresh):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * 10_000)
    for folder in (torn, foreign):
        os.utime(folder, (1, 1))
    before = du(plain_store.root)
    assert 2 == plain_store.collect(dry_run=True).leftovers
    report = plain_store.collect()
    assert (2, before - du(plain_store.root)) == (report.leftovers, report.freed)
    assert [False, False, True, True] == [folder.exists() for folder in (trash, torn, foreign, fresh)]


def test_a_deletion_that_broke_off_is_finished(plain_store):
    """A session that is marked as deleted, and that whoever died has not taken away, goes, and its room is counted."""
    with plain_store.session("test") as session:
        session.put(os.urandom(100_000))
        with session._engine.store.transaction("a test") as tx:
            session._engine.record.update(tx, deleted_us=7)
    report = plain_store.collect(older_than=0)
    assert [("test", "age")] == names(report.deleted)
    assert report.freed > 100_000
    assert [] == list(plain_store.sessions())


@pytest.mark.files
def test_a_link_in_place_of_a_deleted_folder_is_not_followed(plain_store, tmp_path):
    """Nothing behind a link is emptied, and what else goes, goes."""
    fill(plain_store, "old", age=10)
    precious = tmp_path / "elsewhere" / "precious"
    precious.mkdir(parents=True)
    (plain_store.root / "_" / ".gone-0123").symlink_to(tmp_path / "elsewhere")
    (plain_store.root / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / ".gone-4567").mkdir()
    assert [("old", "age")] == names(plain_store.collect(older_than=0).deleted)
    assert [".gone-4567", "precious"] == sorted(os.listdir(tmp_path / "elsewhere"))


@pytest.mark.files
def test_an_unreadable_session_is_named_and_stays(plain_store):
    """What cannot be opened is spared with the reason, and the others go all the same."""
    fill(plain_store, "fine", age=30 * DAY)
    torn = fill(plain_store, "torn")
    folder = folder_of(torn)
    (folder / "session.db").write_bytes(b"no database" * 1000)
    make_old(torn, 30 * DAY)
    report = plain_store.collect()
    (folder / "session.db").unlink()
    assert [("fine", "age")] == names(report.deleted)
    assert [("torn", "unreadable")] == names(report.spared)
    assert "no SQLite database" in report.spared[0].detail


@pytest.mark.parametrize("wrong", [{"older_than": float("nan")}, {"keep_bytes": "5G"}, {"keep_bytes": True}])
def test_numbers_that_mean_nothing_are_refused(plain_store, wrong):
    """Before anything is looked at."""
    with pytest.raises(InvalidSettingError, match="must be a number"):
        plain_store.collect(**wrong)


# --- beside others ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_only", [True, False])
def test_what_this_process_reads_or_writes_stays(plain_store, read_only):
    """A session that is open here is spared, whichever way, even one opened for reading, which nobody else could know."""
    fill(plain_store, "test")
    with plain_store.session("test", read_only=read_only) as session:
        make_old(session, 30 * DAY)
        report = plain_store.collect()
        assert () == report.deleted
        assert 1 == len(session.infos())
    assert {"busy" if read_only else "live"} == {fate.why for fate in report.spared}


@pytest.mark.parametrize("audit", ["full", "off"])
def test_what_was_used_after_the_look_stays(plain_store, monkeypatch, audit):
    """Somebody opens, writes and closes an old session between the look at it and its deletion: it stays."""
    fill(plain_store, "test", age=30 * DAY)
    delete = SessionPool.delete_unused

    def late(self, ref, since):
        with Store(self.backend.address, **NO_FLOORS, audit=audit).session("test") as session:
            session.put(b"fresh")
        return delete(self, ref, since)

    monkeypatch.setattr(SessionPool, "delete_unused", late)
    assert ["busy"] == [fate.why for fate in plain_store.collect().spared]
    with plain_store.session("test", create=False) as session:
        assert 2 == len(session.infos())


@pytest.mark.long
def test_what_a_killed_writer_left_open_does_not_keep_its_session(plain_store):
    """The deleter marks the artifact of a dead process as interrupted, which is no use of the session."""
    script = (
        "import os, sys; from spillstore import Store; "
        "s = Store(sys.argv[1], free_disk_floor=0).session('test'); w = s.create(); w.write(b'x'); w.flush(); os._exit(9)"
    )
    assert 9 == subprocess.run([sys.executable, "-c", script, plain_store.address], check=False).returncode
    with plain_store.session("test", read_only=True) as session:
        make_old(session, 30 * DAY)
    outlive(plain_store)
    assert [("test", "age")] == names(plain_store.collect().deleted)


USER = """
import sys
from spillstore import Store
from spillstore.exceptions import SessionBusyError, SessionDeletedError
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0)
told = 0
print(flush=True)
for number in range(int(sys.argv[2])):
    try:
        with store.session(f"s{number % 3}") as session:
            artifact = session.put(b"x" * 1000)
            assert artifact.read_bytes(0, 1000) == b"x" * 1000
    except SessionDeletedError:
        told += 1
print(told)
"""


@pytest.mark.long
def test_sessions_that_are_opened_while_others_collect(plain_store):
    """Two collect without end what a third opens all the time: it gets its session or a clear error, never half of one."""
    command = [sys.executable, "-c", USER, plain_store.address, str(tries(150))]
    user = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    user.stdout.readline()
    ended = threading.Event()
    failures: list[BaseException] = []

    def collect():
        store = Store(plain_store.address, **NO_FLOORS)
        while not ended.is_set():
            try:
                store.collect(older_than=-10)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=collect) for _ in range(2)]
    for thread in threads:
        thread.start()
    _, errors = user.communicate(timeout=120)
    ended.set()
    for thread in threads:
        thread.join()
    assert (0, b"") == (user.returncode, errors)
    assert [] == failures


COLLECTOR = """
import sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0)
print(flush=True)
print(len(store.collect(older_than=0).deleted))
"""


def collector(root):
    process = subprocess.Popen([sys.executable, "-c", COLLECTOR, str(root)], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


@pytest.mark.long
def test_two_processes_collect_at_once(plain_store):
    """Nothing fails, and after one more collection all is gone."""
    for number in range(20):
        fill(plain_store, f"s{number}", age=10)
    processes = [collector(plain_store.address) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=120)
        assert 0 == process.returncode
    plain_store.collect(older_than=-10)
    assert [] == list(plain_store.sessions())
    assert plain_store.root is None or [] == list(plain_store.root.glob("*/.*"))


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_kill_9_while_collecting_leaves_only_trash(root, seed):
    """At any moment: each session is whole or gone, a live one is untouched, and the next collection cleans up."""
    store = Store(root, **NO_FLOORS)
    for number in range(30):
        fill(store, f"s{number}", 200_000, age=10)
    with store.session("live") as live:
        live.put(b"stays")
        process = collector(store.address)
        time.sleep(dice(seed).random() * 0.15)
        process.kill()
        process.communicate()
        outlive(store, but="live")
        store.check()
        for info in store.sessions():
            with store.session(info.id, read_only=True) as session:
                assert 1 == len(session.infos())
        store.collect(older_than=-10)
        assert ["live"] == [info.id for info in store.sessions()]
        assert store.root is None or [] == list(store.root.glob("*/.*"))


# --- the quota of a store ---------------------------------------------------------------------------------


@pytest.mark.files
def test_a_full_store_deletes_the_oldest_sessions(make_store, clock):
    """Under ``collect`` what is begun in a full store makes the oldest sessions go, and the live one grows."""
    store = make_store(store_quota=2_000_000, clock=clock)
    plain = Store(store.address, **NO_FLOORS, store_quota=0)
    for age in (4, 3, 2, 1):
        fill(plain, f"s{age}", 600_000, age=age * DAY)
    clock.now = time.time() + 2  # a size that was found a moment ago would do
    with store.session("new") as session:
        session.put(b"x")
    assert {"s1", "s2", "new"} == {info.id for info in plain.sessions()}


@pytest.mark.files
def test_a_full_store_that_can_free_nothing_refuses(make_store, clock):
    """Both numbers and the ways out are named; what is there stays, and room that is made is noticed."""
    clock.now = time.time()
    store = make_store(store_quota=1_000_000, clock=clock)
    with store.session("test") as session:
        first = session.put(os.urandom(1_500_000))
        clock.advance(61)
        with pytest.raises(StoreQuotaError, match=r"may take 1000000, and none .* `spillstore gc`"):
            session.put(b"x")
        with pytest.raises(StoreQuotaError):
            store.session("other")
        first.delete()
    clock.advance(61)
    with store.session("test") as session:  # opened anew, for a session that is open keeps its journal
        session.put(b"x")
    refusing = make_store(store_quota=100_000, store_policy="refuse", clock=clock)
    fill(store, "old", 300_000, age=30 * DAY)
    clock.advance(61)
    with pytest.raises(StoreQuotaError, match="SPILLSTORE_STORE_POLICY is refuse"):
        refusing.session("new")
    assert "old" in [info.id for info in Store(store.address).sessions()]


@pytest.mark.long
@pytest.mark.files
def test_the_size_of_a_store_is_looked_at_now_and_then(plain_store, clock, monkeypatch):
    """Far from the quota once a minute, for all processes; near it more often, for a second at least."""
    looks = []
    sessions = FolderBackend.sessions
    monkeypatch.setattr(FolderBackend, "sessions", lambda *args: looks.append(1) or sessions(*args))
    store = Store(plain_store.address, **NO_FLOORS, clock=clock)
    with store.session("test") as session:
        session.put(b"x")
        start = len(looks)
        for _ in range(5):
            session.put(b"x")
        script = "import sys; from spillstore.engine.sqlite import usage_cache as r; print(r._read(__import__('pathlib').Path(sys.argv[1])))"
        told = subprocess.run(
            [sys.executable, "-c", script, store.root], capture_output=True, text=True, check=True
        )
        assert "_Measured(size=" in told.stdout
        assert start == len(looks)
        clock.advance(61)
        session.put(b"x")
        assert start + 1 == len(looks)
    tight = Store(plain_store.address, **NO_FLOORS, clock=clock, store_quota=2**20)
    with tight.session("test") as session:
        clock.advance(1.1)
        session.put(b"x")
        assert start + 2 == len(looks)
        session.put(b"x")
        assert start + 2 == len(looks)


@pytest.mark.files
def test_a_deletion_that_fails_is_no_foreign_error(plain_store):
    """A root that cannot be listed gives one of our errors."""
    fill(plain_store, "test", age=30 * DAY)
    plain_store.root.rename(plain_store.root.with_name("moved"))
    plain_store.root.write_bytes(b"a file")
    with pytest.raises(SpillstoreError):
        plain_store.collect()
    plain_store.root.unlink()
    plain_store.root.with_name("moved").rename(plain_store.root)


def test_a_store_that_is_slow_to_measure_is_measured_seldom(tmp_path, clock):
    """Near its quota it is looked at again after ten times as long as looking took, not each second."""
    looks = []

    def measure():
        looks.append(clock.now)
        clock.advance(4.5)
        return 999

    start = clock.now
    while clock.now < start + 190:
        size_of(tmp_path, 1000, clock, measure)
        clock.advance(0.5)
    assert 4 == len(looks)


def test_room_that_a_deletion_makes_is_seen_at_once(plain_store, clock):
    """What was found before something was deleted does not keep anybody waiting."""
    clock.now = time.time()
    store = Store(plain_store.address, **NO_FLOORS, clock=clock, store_quota=1_000_000, store_policy="refuse")
    fill(plain_store, "old", 1_500_000)
    with pytest.raises(StoreQuotaError):
        store.session("new")
    store.delete("old")
    store.session("new").close()


@pytest.mark.files
def test_a_look_alone_notes_nothing(plain_store):
    """A session that was used in the future is given a time to age from, but not by who only looks."""
    with plain_store.session("ahead") as session:
        session.put(b"x")
    folder = plain_store.root / "_" / "ahead"
    (info,) = plain_store.sessions()
    before = (folder / "session.db").stat()
    ahead = dataclasses.replace(info, used=info.used + 1e6)
    assert info.used == usage_cache.aged(ahead, info.used, folder, dry_run=True).used
    assert before.st_atime_ns == (folder / "session.db").stat().st_atime_ns
    usage_cache.aged(ahead, info.used, folder, dry_run=False)
    assert int(info.used) == int((folder / "session.db").stat().st_atime)


def test_trash_that_is_gone_frees_nothing(tmp_path):
    """Another process was faster, or its project went, too."""
    for durable in (False, True):
        assert 0 == soft_delete.remove_trash(tmp_path / "gone" / ".deleted-1", durable=durable)
