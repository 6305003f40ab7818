"""Deleting an artifact on a disk that takes not one byte more, with the room that is kept for it in the store's root."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest
from support import FACTOR, NO_FLOORS, dice, fill, small_disk

from spillstore import Store
from spillstore.engine.sqlite import reserve as _reserve
from spillstore.exceptions import ArtifactNotFoundError, StorageError
from spillstore.settings import KIB

BYTES = random.Random(11)
KEPT, GONE, ALSO = (BYTES.randbytes(size) for size in (200_000, 700_000, 300_000))  # which nothing compresses
MOMENTS = max(2, round(8 * FACTOR))


class Disk:
    """A small disk with a store on it, which holds a session of three artifacts."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.store = Store(folder / "root", busy_timeout=0.2, **NO_FLOORS)
        self.session = self.store.root / "_" / "one"
        with self.store.session("one") as session:
            self.kept, self.gone, self.also = (session.put(data).id for data in (KEPT, GONE, ALSO))

    def fill(self):
        fill(self.folder)
        assert 0 == os.statvfs(self.folder).f_bavail

    @property
    def reserve(self):
        return self.store.root / f".reserve-{os.geteuid()}"

    def check(self, *ids):
        """The session is whole, and holds these artifacts to the byte, and no trace of others."""
        with self.store.session("one", read_only=True) as session:
            session.check()
            contents = {self.kept: KEPT, self.gone: GONE, self.also: ALSO}
            found = {info.id for info in session.infos()}
            assert set(ids) == found
            assert all(contents[each] == session.artifact(each).read_bytes(0, 10**6) for each in found)


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, "6m"):
        yield Disk(folder)


@contextmanager
def running(code, *arguments):
    """A process that has come to ``print`` and goes on when this ends, until its standard input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout.readline()
        yield process
        process.stdin.close()
    assert 0 == process.returncode


def test_it_is_made_with_the_first_session(tmp_path):
    """A file of zeros that has its blocks, for its owner alone, and that counts in no session and in no listing."""
    store = Store(tmp_path, **NO_FLOORS)
    store.session("one").close()
    [path] = tmp_path.glob(".*serve*")
    status = path.stat()
    assert (path.name, path.read_bytes()) == (f".reserve-{os.geteuid()}", bytes(512 * KIB))
    assert status.st_blocks * 512 >= 512 * KIB
    assert 0o600 == status.st_mode & 0o777
    [info] = store.sessions()
    assert info.disk_size < 512 * KIB
    store.collect(older_than=-1)
    assert path.exists()


def test_it_is_made_once(tmp_path):
    """Another session finds it as it is."""
    store = Store(tmp_path, **NO_FLOORS)
    store.session("one").close()
    [path] = tmp_path.glob(".reserve-*")
    before = path.stat()
    store.session("two").close()
    assert before == path.stat()


@pytest.mark.long
def test_a_session_is_made_without_it(tmp_path):
    """Where it cannot be made, nothing of it is left and sessions are as ever; it is made when it can be."""
    code = """
import resource, sys
from spillstore import Store
resource.setrlimit(resource.RLIMIT_FSIZE, (262144, 262144))
with Store(sys.argv[1], free_disk_floor=0).session("one") as session:
    print(session.put(b"content").info.size)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False
    )
    assert ("7\n", "") == (result.stdout, result.stderr)
    assert [] == list(tmp_path.glob(".reserve-*"))
    Store(tmp_path, **NO_FLOORS).session("two").close()
    assert 1 == len(list(tmp_path.glob(".reserve-*")))


def _link(path, victim):
    path.symlink_to(victim)


def _hard_link(path, victim):
    path.hardlink_to(victim)


def _pipe(path, _):
    os.mkfifo(path)


def _folder(path, _):
    path.mkdir()


@pytest.mark.parametrize("put", [_link, _hard_link, _pipe, _folder])
def test_what_lies_in_its_place_is_left_alone(tmp_path, put):
    """Nothing is written through it, nothing is removed, and sessions are made."""
    root, victim = tmp_path / "root", tmp_path / "victim"
    root.mkdir(0o700)
    victim.write_bytes(b"precious")
    path = root / f".reserve-{os.geteuid()}"
    put(path, victim)
    with Store(root, **NO_FLOORS).session("one") as session:
        session.put(b"content")
    assert not _reserve.give_back(root)
    _reserve.lend(root / "_" / "one")
    assert os.path.lexists(path)
    assert b"precious" == victim.read_bytes()
    assert not (root / "_" / "one" / "session.db-wal").exists()


def test_it_replaces_no_journal(tmp_path):
    """A session that has a journal, even an empty one, keeps it."""
    store = Store(tmp_path, **NO_FLOORS)
    store.session("one").close()
    journal = tmp_path / "_" / "one" / "session.db-wal"
    journal.touch()
    before = journal.stat()
    _reserve.lend(journal.parent)
    assert before == journal.stat()
    assert 1 == len(list(tmp_path.glob(".reserve-*")))


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
def test_it_becomes_no_journal_of_somebody_else(tmp_path):
    """What is not theirs would keep them out of their own session."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    store.session("one").close()
    for path in (
        store.root,
        store.root / "_",
        store.root / "_" / "one",
        store.root / "_" / "one" / "session.db",
    ):
        os.chown(path, 12345, 12345)
    _reserve.lend(store.root / "_" / "one")
    assert not (store.root / "_" / "one" / "session.db-wal").exists()
    assert 1 == len(list(store.root.glob(".reserve-*")))


def test_an_artifact_is_deleted(disk):
    """In a session that nobody has open: its space is free, the others are whole, and it is recorded."""
    disk.fill()
    assert 700_000 < disk.store.delete_artifact("one", disk.gone) < 800_000
    assert os.statvfs(disk.folder).f_bavail * 4096 > 600_000
    assert 512 * KIB == disk.reserve.stat().st_size
    with disk.store.session("one", read_only=True) as session:
        [event] = session.events(kind="delete")
        assert (disk.gone, {"kept": 700_000, "why": "deleted"}) == (event.artifact_id, event.detail)
    disk.check(disk.kept, disk.also)


def test_one_after_the_other_is_deleted(disk):
    """Each makes room for the reserve that the next one needs, whatever else fills the disk."""
    for gone in (disk.gone, disk.also, disk.kept):
        disk.fill()
        disk.store.delete_artifact("one", gone)
    disk.check()


@pytest.mark.long
def test_nobody_else_can_take_the_room(disk):
    """Another process takes every byte that comes free, as soon as it does."""
    disk.fill()
    code = """
import select, sys
print("ready", flush=True)
with open(sys.argv[1], "ab", buffering=0) as file:
    while not select.select([sys.stdin], [], [], 0)[0]:
        try:
            file.write(bytes(4096))
        except OSError:
            pass
"""
    with running(code, disk.folder / "fill"):
        disk.store.delete_artifact("one", disk.gone)
    disk.check(disk.kept, disk.also)


HELD = """
import sys
from spillstore import Store
with Store(sys.argv[1], free_disk_floor=0).session("one", read_only=sys.argv[2] == "reads") as session:
    print(len(session.infos()), flush=True)
    sys.stdin.read()
"""


@pytest.mark.long
@pytest.mark.parametrize("how", ["reads", "writes"])
def test_an_artifact_is_deleted_that_somebody_has_open(disk, how):
    """The reserve is given back to the disk for the claim and the journal, which is there already."""
    with running(HELD, disk.store.root, how):
        disk.fill()
        disk.store.delete_artifact("one", disk.gone)
        disk.check(disk.kept, disk.also)
    disk.check(disk.kept, disk.also)
    assert 512 * KIB == disk.reserve.stat().st_size


def test_an_artifact_is_deleted_in_a_session_that_is_open_here(disk):
    """``Artifact.delete`` takes the reserve, too, and it is there again."""
    with disk.store.session("one") as session:
        disk.fill()
        session.artifact(disk.gone).delete()
        assert 512 * KIB == disk.reserve.stat().st_size
        disk.fill()
        session.artifact(disk.also).delete()
    disk.check(disk.kept)


@pytest.mark.long
def test_what_a_process_has_left_is_freed(disk):
    """An artifact whose deletion was not finished goes with the next one; one that is not there is told as such."""
    code = """
import os, sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("one")
session._engine.ingest.remover.purge = lambda row: os._exit(9)
session.artifact(sys.argv[2]).delete()
"""
    subprocess.run([sys.executable, "-c", code, disk.store.root, disk.gone], check=False)
    disk.fill()
    disk.store.delete_artifact("one", disk.also)
    disk.check(disk.kept)
    assert (disk.session / "session.db").stat().st_size < 300_000
    disk.fill()
    with pytest.raises(ArtifactNotFoundError):
        disk.store.delete_artifact("one", disk.also)


@pytest.mark.long
def test_a_file_that_cannot_be_written(tmp_path):
    """Where not even the session's own file takes a byte, that is an error, and nothing is lost."""
    store = Store(tmp_path, **NO_FLOORS)
    with store.session("one") as session:
        artifact = session.put(GONE).id
    code = """
import resource, sys
from spillstore import Store
from spillstore.exceptions import StorageError
store = Store(sys.argv[1], free_disk_floor=0)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    store.delete_artifact("one", sys.argv[2])
except StorageError:
    print("refused")
"""
    result = subprocess.run(
        [sys.executable, "-c", code, tmp_path, artifact], capture_output=True, text=True, check=False
    )
    assert ("refused\n", "") == (result.stdout, result.stderr)
    with store.session("one", read_only=True) as session:
        session.check()
        assert GONE == session.artifact(artifact).read_bytes(0, 10**6)


# A process that deletes and dies, as by kill -9: before its so many-th call since it took the reserve, or when a timer ends,
# which may be within SQLite. It tells how many calls and seconds there are if it comes to the end.
DYING = """
import os, signal, sys, time
from spillstore import Store
root, artifact, kind, moment = *sys.argv[1:4], float(sys.argv[4])
calls, began = 0, 0.0

def watch(frame, event, _):
    global calls, began
    if not began and frame.f_code.co_name == "lend":
        began = time.monotonic()
        if kind == "time":
            sys.setprofile(None)
            signal.setitimer(signal.ITIMER_REAL, moment)
    if began:
        calls += 1
        if kind == "calls" and calls > moment:
            os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(watch)
Store(root, free_disk_floor=0).delete_artifact("one", artifact)
sys.setprofile(None)
signal.setitimer(signal.ITIMER_REAL, 0)
print(calls, time.monotonic() - began)
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["calls", "time"])
def test_a_process_that_is_killed(disk, kind, tmp_path):
    """At whatever moment: what is left is read on the full disk, whole, and deleting goes on."""
    shutil.copytree(disk.store.root, tmp_path / "copy")
    chosen = dice(1)

    def run(moment):
        (disk.folder / "fill").unlink(missing_ok=True)
        shutil.rmtree(disk.store.root)
        shutil.copytree(tmp_path / "copy", disk.store.root)
        disk.fill()
        result = subprocess.run(
            [sys.executable, "-c", DYING, disk.store.root, disk.gone, kind, str(moment)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "" == result.stderr
        return result

    whole = run(10**6).stdout.split()
    most = float(whole[kind == "time"])
    died = 0
    for _ in range(MOMENTS):
        moment = chosen.uniform(0.000_001, most)
        died += run(moment).returncode in {-signal.SIGKILL, -signal.SIGALRM}
        fill(disk.folder)
        with disk.store.session("one", read_only=True) as session:
            there = {info.id for info in session.infos()}
        assert {disk.kept, disk.also} <= there, moment
        disk.check(*there)
        with suppress(ArtifactNotFoundError):
            disk.store.delete_artifact("one", disk.gone)
        disk.check(disk.kept, disk.also)
        disk.store.delete_artifact("one", disk.also)
        disk.check(disk.kept)
        assert (disk.session / "session.db").stat().st_size < 300_000, moment
    assert died or kind == "time"  # a process may be faster than the one that was timed


def test_without_a_reserve_there_is_an_error(disk):
    """It says what to do, and what was stored is whole."""
    disk.reserve.unlink()
    disk.fill()
    with pytest.raises(StorageError, match="spillstore clean"):
        disk.store.delete_artifact("one", disk.gone)
    disk.check(disk.kept, disk.gone, disk.also)
