"""Who is alive: by lock, never by process id."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys

import pytest
from support import NO_FLOORS, wait_until

from spillstore import Store
from spillstore.engine.base import SessionRef
from spillstore.engine.sqlite import owner_locks
from spillstore.engine.sqlite.connection import FileLock
from spillstore.engine.sqlite.folders import project_of
from spillstore.exceptions import LockedError, StorageError


def run_python(script, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process):
    process.kill()
    process.communicate()


OWN = """
import sys
from pathlib import Path
from spillstore.engine.sqlite import owner_locks
owner = owner_locks.Owner(Path(sys.argv[1]))
print(owner.name, flush=True)
sys.stdin.readline()
"""


@pytest.mark.long
def test_an_owner_lives_as_long_as_its_process(tmp_path):
    """Alive while its process runs, dead the moment it is killed."""
    process = run_python(OWN, tmp_path)
    try:
        name = process.stdout.readline().strip()
        assert owner_locks.alive(tmp_path, name)
        assert [name] == owner_locks.live_owners(tmp_path)
    finally:
        finish(process)
    assert not owner_locks.alive(tmp_path, name)
    owner_locks.remove_dead(tmp_path)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.long
def test_asking_does_not_drop_the_askers_own_lock(tmp_path):
    """The trap of POSIX locks: a process that asks about itself stays alive in the eyes of others."""
    owner = owner_locks.Owner(tmp_path)
    assert owner_locks.alive(tmp_path, owner.name)
    assert "this process" == owner_locks.describe(tmp_path, owner.name)
    owner_locks.remove_dead(tmp_path)
    script = "import sys; from pathlib import Path; from spillstore.engine.sqlite import owner_locks\nprint(owner_locks.live_owners(Path(sys.argv[1])))"
    asker = run_python(script, tmp_path)
    assert f"['{owner.name}']\n" == asker.communicate()[0]
    owner.release()
    assert [] == owner_locks.live_owners(tmp_path)


def test_a_reused_pid_confuses_nobody(tmp_path):
    """A dead owner's file that names a living process is still a dead owner's."""
    name = "owner-0123456789abcdef.lock"
    (tmp_path / name).write_text(
        json.dumps({"pid": os.getpid(), "host": "h", "boot_id": owner_locks._boot_id()})
    )
    assert not owner_locks.alive(tmp_path, name)


@pytest.mark.long
def test_a_child_that_outlives_the_agent_does_not_keep_it_alive(tmp_path):
    """Neither a forked child nor a started one holds its dead parent's lock."""
    script = OWN.replace(
        "sys.stdin.readline()",
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'], close_fds=False, stdout=subprocess.DEVNULL)\n"
        "forked = os.fork()\n"
        "if not forked:\n"
        "    os.close(1)\n"
        "    time.sleep(60)\n"
        "    os._exit(0)\n"
        "print(child.pid, forked, flush=True)\n"
        "sys.stdin.readline()",
    )
    process = run_python(script, tmp_path)
    name = process.stdout.readline().strip()
    children = [int(pid) for pid in process.stdout.readline().split()]
    try:
        assert owner_locks.alive(tmp_path, name)
        process.kill()
        process.wait()
        assert not owner_locks.alive(tmp_path, name)
        for child in children:
            os.kill(child, 0)  # both still run
    finally:
        for child in children:
            os.kill(child, 9)
        finish(process)


def can_unshare():
    if shutil.which("unshare") is None:
        return False
    done = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.long
@pytest.mark.files
@pytest.mark.skipif(not can_unshare(), reason="this user may not make a pid namespace")
def test_a_second_pid_namespace_sees_the_same_owners(plain_store, tmp_path):
    """A process that is pid 1 of its own namespace is alive for us, and we for it."""
    command = ["unshare", "--pid", "--fork", sys.executable, "-c", OWN, str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        name = process.stdout.readline().strip()
        assert 1 == json.loads((tmp_path / name).read_text())["pid"]
        assert owner_locks.alive(tmp_path, name)
        own = owner_locks.Owner(tmp_path)
        script = "import sys; from pathlib import Path; from spillstore.engine.sqlite import owner_locks\nprint(owner_locks.live_owners(Path(sys.argv[1])))"
        asker = subprocess.run(
            ["unshare", "--pid", "--fork", sys.executable, "-c", script, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert str(sorted([name, own.name])) + "\n" == asker.stdout
        own.release()
    finally:
        process.communicate("\n")
    wait_until(lambda: not owner_locks.alive(tmp_path, name))


@pytest.mark.long
def test_a_forked_child_gets_clear_errors_and_can_open_anew(plain_store):
    """Objects of the parent refuse in the child; the store itself works there; the parent goes on unharmed."""
    script = """
import os, sys
from spillstore import Store
from spillstore.exceptions import ForkError
store = Store(sys.argv[1], free_disk_floor=0)
session = store.session("test")
artifact = session.put(b"before\\n")
writer = session.create()
writer.write(b"parent\\n")
pid = os.fork()
if not pid:
    try:
        for call in (lambda: writer.write(b"x"), writer.flush, lambda: artifact.read_bytes(0, 1), session.check,
                     lambda: session.put(b"x")):
            try:
                call()
            except ForkError:
                pass
            else:
                os._exit(1)
        session.close()
        with store.session("test") as own:
            assert own.artifact(artifact.id).read_lines(1, 1) == b"before\\n"
            own.put(b"child\\n", source="child")
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(2)
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
writer.write(b"after\\n")
writer.close()
assert session.artifact(writer.id).read_lines(1, 9) == b"parent\\nafter\\n"
assert len(session.artifacts(source="child")) == 1
session.check()
session.close()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, plain_store.address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.long
def test_a_fork_in_the_middle_of_everything_does_not_hang_the_child(plain_store):
    """Whatever lock another thread holds at the moment of the fork, the child gets its error at once."""
    script = """
import os, sys, threading
from spillstore import Store
from spillstore.exceptions import ForkError
session = Store(sys.argv[1], free_disk_floor=0).session("test")
writer = session.create()
stop = threading.Event()
def busy():
    while not stop.is_set():
        writer.write(b"x" * 1000)
        writer.flush()
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(60):
    pid = os.fork()
    if not pid:
        for call in (lambda: writer.write(b"x"), writer.flush, writer.close, lambda: session.put(b"x"), session.delete):
            try:
                call()
            except ForkError:
                continue
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
writer.close()
session.check()
session.close()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, plain_store.address],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.long
def test_the_end_of_the_interpreter_drains(plain_store):
    """A script that ends without closing anything keeps all it wrote, as ``interrupted``."""
    script = """
import sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("test")
writer = session.create()
for number in range(100_000):
    writer.write(b"%d\\n" % number)
print(writer.id)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, plain_store.address], capture_output=True, text=True, check=True
    )
    with plain_store.session("test", read_only=True) as session:
        artifact = session.artifact(done.stdout.strip())
        assert ("interrupted", 100_000) == (artifact.info.state, artifact.info.lines)
        assert b"99999\n" == artifact.tail(1)
    assert [False] == [info.live for info in plain_store.sessions()]


# --- claims that fail, and what they leave ----------------------------------------------------------------


@pytest.mark.long
def test_a_claim_that_fails_is_forgotten(tmp_path):
    """Its file goes, and its inode, which another file may get, is that of no living owner."""
    folder = tmp_path / "folder"
    folder.mkdir()
    code = (
        "import resource, sys; from pathlib import Path; from spillstore.engine.sqlite import owner_locks\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "try:\n    owner_locks.Owner(Path(sys.argv[1]))\n"
        "except OSError:\n    print(owner_locks._held)"
    )
    result = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert "set()\n" == result.stdout
    assert [] == os.listdir(folder)


def test_a_claim_whose_file_cannot_go_is_given_up_all_the_same(tmp_path):
    """Closing raises nothing, and the file that stays is that of an owner who is gone."""
    before = set(owner_locks._held)
    owner = owner_locks.Owner(tmp_path)
    (tmp_path / owner.name).unlink()
    (tmp_path / owner.name).mkdir()
    owner.release()
    assert before == owner_locks._held
    assert [] == owner_locks.live_owners(tmp_path)


@pytest.mark.files
def test_claims_that_were_never_finished_are_removed(plain_store):
    """A process that was killed between making its file and locking it: the next writer removes it; a young one stays."""
    plain_store.session("test").close()
    folder = plain_store.root / "_" / "test"
    old, young = (folder / f".owner-{digit * 16}.lock" for digit in "01")
    for path in (old, young):
        path.write_bytes(b"")
    os.utime(old, (1, 1))
    plain_store.session("test").close()
    assert [young.name] == [name for name in os.listdir(folder) if "owner" in name]


def test_the_dead_of_a_folder_that_went_are_nobodys(tmp_path):
    """An opening beside a deletion: there is nothing to be removed any more."""
    owner_locks.remove_dead(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


@pytest.mark.long
@pytest.mark.files
def test_a_session_that_is_deleted_and_made_anew_while_it_is_opened_is_opened(plain_store, monkeypatch):
    """A folder that goes between two steps of an opening, and is there again when it has failed, is tried again."""
    with plain_store.session("test") as session:
        session.put(b"old")
    claim = owner_locks.Owner
    attempts = []

    def elsewhere(do):
        script = f"import sys; from spillstore import Store; {do}"
        subprocess.run([sys.executable, "-c", script, plain_store.address], check=True)

    def claim_in_vain(folder):
        attempts.append(folder)
        if len(attempts) > 1:
            return claim(folder)
        elsewhere("Store(sys.argv[1], free_disk_floor=0).delete('test')")
        try:
            return claim(folder)
        finally:
            elsewhere("Store(sys.argv[1], free_disk_floor=0).session('test').close()")

    monkeypatch.setattr(owner_locks, "Owner", claim_in_vain)
    with plain_store.session("test") as session:
        assert [] == session.artifacts().items
        session.put(b"new")
    assert 2 == len(attempts)


def test_a_folder_that_cannot_be_listed_is_told_as_ours(tmp_path, monkeypatch):
    """Once an OSError came out of ``copy_session`` and of deleting where no folder could be read."""
    store, other = Store(tmp_path / "root", **NO_FLOORS), Store(tmp_path / "other", **NO_FLOORS)
    with store.session("test") as session:
        session.put(b"x")
    listdir = os.listdir

    def broken(path):
        if str(path).endswith("/test"):
            raise OSError(errno.EIO, "Input/output error")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", broken)
    with pytest.raises(StorageError, match="looking for other processes failed"):
        store.copy_session("test", to=other)
    with pytest.raises(StorageError, match="looking for other processes failed"):
        store._backend.open_alone(SessionRef("test", None))
    with pytest.raises(StorageError, match="deleting the session failed"):
        store._backend.remove_unwritten(SessionRef("test", None))
    monkeypatch.undo()
    assert 1 == store.copy_session("test", to=other).artifacts


def test_an_owner_that_cannot_be_asked_counts_as_alive(tmp_path):
    """The file of another user, which may not be opened: what it belongs to is left alone."""
    owner = owner_locks.Owner(tmp_path)
    name = owner.name
    shutil.copy(tmp_path / name, tmp_path / "owner-0000000000000001.lock")  # nobody holds this one
    owner.release()
    (tmp_path / "owner-0000000000000001.lock").chmod(0)
    child = os.fork()
    if not child:
        status = 9
        try:
            if os.geteuid() == 0:  # who may open whatever there is
                os.setuid(65534)
            status = int(owner_locks.alive(tmp_path, "owner-0000000000000001.lock"))
        finally:
            os._exit(status)
    assert 1 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_file_describes_no_owner(tmp_path, kind):
    """A link is not followed and a pipe not waited for: both are told by their name alone."""
    name = "owner-1.lock"
    (tmp_path / "elsewhere").write_text(json.dumps({"pid": 7, "host": "there"}))
    if kind == "link":
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(tmp_path / name)
    assert f"the owner of {name}" == owner_locks.describe(tmp_path, name)


@pytest.mark.skipif(not os.path.exists("/proc/sys/kernel/random/boot_id"), reason="it is told by Linux alone")
def test_an_owner_s_file_says_when_the_machine_was_started(tmp_path):
    """With its process and its machine, for who looks at what a crash has left."""
    owner = owner_locks.Owner(tmp_path)
    try:
        (path,) = tmp_path.iterdir()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            expected = {"pid": os.getpid(), "host": os.uname().nodename, "boot_id": file.read().strip()}
        # Not by this process, which would drop its own lock.
        said = subprocess.run(["cat", path], capture_output=True, check=True).stdout
        assert expected == json.loads(said)
    finally:
        owner.release()


# --- folders whose names are exchanged ------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    """The folder of a session, and a function that exchanges its name with that of another one, where that can be done."""
    for root in ("root", "beside"):
        Store(tmp_path / root, **NO_FLOORS).session("s").close()
    project = tmp_path / "root" / "_"
    (tmp_path / "beside" / "_" / "s").rename(project / "other")

    def exchange():
        with project_of(project / "s") as folder:
            try:
                folder.exchange("s", "other")
            except OSError as error:
                if error.errno in {errno.EINVAL, errno.ENOSYS}:
                    pytest.skip("names cannot be exchanged here")
                raise

    return project / "s", exchange


@pytest.mark.parametrize("kind", ["link", "file"])
def test_the_lock_is_of_a_real_folder(tmp_path, kind):
    """What was put in its place, a link or a file, is not locked instead."""
    (tmp_path / "elsewhere").mkdir()
    if kind == "link":
        (tmp_path / "s").symlink_to("elsewhere")
    else:
        (tmp_path / "s").touch()
    lock = FileLock(tmp_path / "s" / "session.db")
    with pytest.raises(NotADirectoryError):
        lock.acquire(0)
    lock.close()


def test_the_lock_of_a_folder_that_was_exchanged_meanwhile_is_not_enough(two):
    """Who has waited for the lock of the old one takes that of the new one, which others see."""
    folder, exchange = two
    first, second, third = (FileLock(folder / "session.db") for _ in range(3))
    first.acquire(5)
    with pytest.raises(LockedError):
        second.acquire(0)  # it has the old folder open
    exchange()
    first.release()
    second.acquire(5)
    with pytest.raises(LockedError):
        third.acquire(0)
    second.release()
    third.acquire(0)
    third.release()
    for each in (first, second, third):
        each.close()


def test_a_claim_in_a_folder_that_was_exchanged_is_none(two):
    """Nobody would find it in the other one: whoever has claimed the old folder does not have the new one open."""
    folder, exchange = two
    owner = owner_locks.Owner(folder)
    assert owner.in_place()
    exchange()
    assert not owner.in_place()
    owner.moved(folder.with_name("other"))
    assert owner.in_place()
    owner.release()
    assert not owner.in_place()


def test_who_claims_one_folder_and_opens_the_file_of_another_begins_anew(two, monkeypatch):
    """An exchange between the two is noticed, and the session that is there then is opened and claimed."""
    folder, exchange = two
    claim = owner_locks.Owner.__init__
    exchanges = iter([exchange])

    def claimed(self, *arguments):
        claim(self, *arguments)
        for each in exchanges:
            each()

    monkeypatch.setattr(owner_locks.Owner, "__init__", claimed)
    with Store(folder.parents[1], **NO_FLOORS).session("s", create=False) as session:
        session.put(b"x")
        assert owner_locks.live_owners(folder)


def test_who_seals_and_goes_behind_a_snapshot_was_not_interrupted(tmp_path, monkeypatch):
    """What the snapshot shows was written by a process that lived then, and is sealed now."""
    store = Store(tmp_path, **NO_FLOORS)
    writing = store.session("s")
    writer = writing.create()
    writer.write(b"x")
    writer.flush()
    with Store(tmp_path, **NO_FLOORS).session("s", read_only=True) as reading:
        alive, found = reading._engine.store.alive, []

        def ended(owner, rows=None):
            if not found:
                found.append(owner)
                writer.close()
                writing.close()
            return alive(owner, rows)

        monkeypatch.setattr(reading._engine.store, "alive", ended)
        assert [info.state for info in reading.infos()] == ["open"]
        assert [info.state for info in reading.infos()] == ["sealed"]
    assert found
