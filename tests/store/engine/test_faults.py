"""Real processes, killed at random moments; many at once; full disks and quotas."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from support import NO_FLOORS, ROUNDS, dice, locked, outlive, tries

from spillstore import Store
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ArtifactTooLargeError,
    DiskFullError,
    LockedError,
    RateLimitError,
    SessionDeletedError,
    SessionQuotaError,
    SpillstoreError,
    StorageError,
)
from spillstore.runtime import workers

VICTIM = """
import sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0).session("test")
whole = session.put(b"earlier\\n" * 50_000)
writer = session.create(policy=sys.argv[2], limit=int(sys.argv[3]))
print(whole.id, writer.id, flush=True)
line = 0
while True:
    writer.write(b"".join(b"line %09d\\n" % n for n in range(line, line + 200)))
    if line % 2000 == 0:
        writer.write(b"error %09d\\n" % line, stream="stderr")
    line += 200
"""


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize(("policy", "limit"), [("stop", 2**30), ("roll", 2_000_000)])
def test_kill_9_loses_nothing_that_was_committed(root, seed, policy, limit):
    """At any moment: what is readable verifies, is a prefix of what was written, and earlier artifacts are whole."""
    noise = dice(seed)
    process = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(root), policy, str(limit)], stdout=subprocess.PIPE, text=True
    )
    whole_id, running_id = process.stdout.readline().split()
    time.sleep(noise.random() * 1.2)
    process.kill()
    process.wait()
    process.stdout.close()
    store = Store(root, **NO_FLOORS)
    outlive(store)
    for read_only in (True, False):
        with store.session("test", read_only=read_only) as session:
            whole, running = session.artifact(whole_id), session.artifact(running_id)
            assert ("sealed", "interrupted") == (whole.info.state, running.info.state)
            whole.verify()
            running.verify()
            assert b"earlier\n" * 50_000 == whole.read_bytes(0, 10**6)
            info = running.info
            lines = running.read_bytes(0, 10**9, stream="stdout", holes="skip", max_bytes=2**30).split(b"\n")
            if info.hole is None:
                assert [b"line %09d" % n for n in range(len(lines) - 1)] == lines[:-1]
                assert (b"line %09d" % (len(lines) - 1)).startswith(
                    lines[-1]
                )  # a commit may end inside a line
            else:
                assert info.kept <= limit
                assert [b"line %09d" % n for n in range(100)] == lines[:100]
            session.check()


def kill_while_deleting(root):
    script = """
import sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0)
print(flush=True)
while True:
    with store.session("test") as session:
        for _ in range(3):
            session.put(b"x" * 500_000).delete()
            session.put(b"y" * 100_000)
        session.delete()
"""
    process = subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_kill_9_while_making_and_deleting_leaves_a_sound_store(root, tmp_path, seed):
    """Creating, deleting artifacts and deleting sessions: whatever moment it dies, the store is sound and usable."""
    process = kill_while_deleting(tmp_path)
    time.sleep(dice(seed).random() * 0.5)
    process.kill()
    process.wait()
    process.stdout.close()
    store = Store(root, **NO_FLOORS)
    store.check()
    with store.session("test") as session:
        session.put(b"afterwards")
        session.check()
    store.collect(older_than=-1e9)
    assert [] == list(store.sessions())


WRITER = """
import sys
from spillstore import Store
with Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0).session("shared") as session:
    for number in range(20):
        with session.create(source=sys.argv[2]) as writer:
            for line in range(300):
                writer.write(f"{sys.argv[2]} {number} {line} {'x' * 40}\\n")
        print(writer.id)
"""


@pytest.mark.slow
def test_eight_processes_write_into_one_session(root, tmp_path):
    """20 artifacts each: none lost, no lock error, each whole."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root), f"process-{n}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(8)
    ]
    outputs = [process.communicate() for process in processes]
    assert [(0, "")] * 8 == [(p.returncode, err) for p, (_, err) in zip(processes, outputs, strict=True)]
    with Store(root, **NO_FLOORS).session("shared", read_only=True) as session:
        for n, (printed, _) in enumerate(outputs):
            ids = printed.split()
            assert 20 == len(ids)
            for number, artifact_id in enumerate(ids):
                expected = f"process-{n} {number} 299 {'x' * 40}\n".encode()
                assert expected == session.artifact(artifact_id).tail(1)
        assert 160 == session.check().artifacts


OPENER = """
import sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    with store.session(f"session-{number}") as session:
        session.put(b"x\\n" * 2000)
"""


@pytest.mark.long
def test_processes_make_and_close_the_same_sessions_at_once(root, tmp_path):
    """Who comes first makes it, who leaves last checkpoints it; nobody is told that it is locked."""
    count = tries(20)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(root), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(5)
    ]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate() for process in processes]
    assert [(0, "", "")] * 5 == [(p.returncode, *out) for p, out in zip(processes, outputs, strict=True)]
    store = Store(root, **NO_FLOORS)
    assert count == store.check()
    for number in range(count):
        with store.session(f"session-{number}", read_only=True) as session:
            assert 5 == len(session.artifacts())


def test_threads_share_a_session_and_a_writer(plain_store):
    """Twenty threads with writers of their own, and one writer shared by all: nothing lost, nothing torn."""
    with plain_store.session("test") as session:
        shared = session.create(source="shared")
        failures = []

        def work(n):
            try:
                with session.create(source=str(n)) as writer:
                    for line in range(2000):
                        writer.write(b"%d %d\n" % (n, line))
                        if line % 10 == 0:
                            shared.write(b"%d %d\n" % (n, line), stream="stderr" if n % 2 else "stdout")
                assert b"%d 1999\n" % n == session.artifact(writer.id).tail(1)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shared.close()
        assert [] == failures
        lines = session.artifact(shared.id).read_bytes(0, 10**7).splitlines()
        assert sorted(b"%d %d" % (n, line) for n in range(20) for line in range(0, 2000, 10)) == sorted(lines)


@pytest.mark.files
@pytest.mark.slow
def test_a_reader_that_stops_halfway_does_not_hold_back_the_checkpoint(plain_store):
    """An abandoned iterator holds no transaction: the WAL stays small while 120 MB are written."""
    with plain_store.session("test") as session:
        artifact = session.put(os.urandom(3_000_000))
        abandoned = artifact.chunks()
        next(abandoned)
        with session.create() as writer:
            for _ in range(120):
                writer.write(os.urandom(1_000_000))
        wal = plain_store.root / "_" / "test" / "session.db-wal"
        assert wal.stat().st_size < 40_000_000
        assert 3_000_000 - 65536 == sum(map(len, abandoned))


@pytest.mark.files
@pytest.mark.slow
def test_the_wal_stays_bounded_where_no_other_checkpoint_comes_to_an_end(plain_store, monkeypatch):
    """As on a disk so slow that the checkpoint beside the writers is always at work, and SQLite's own is refused for it."""
    monkeypatch.setattr(workers, "submit_slow", lambda _job: None)
    with plain_store.session("test") as session:
        session._engine.store._pool.writer().execute("PRAGMA wal_autocheckpoint = 0")
        with session.create() as writer:
            for _ in range(80):
                writer.write(os.urandom(1_000_000))
        wal = plain_store.root / "_" / "test" / "session.db-wal"
        assert wal.stat().st_size < 30_000_000


# --- limits -----------------------------------------------------------------------------------------------


def test_reject_discards_and_names_both_sizes(session):
    """The ``reject`` policy fails the write that passes the limit; nothing of the artifact stays."""
    with (
        pytest.raises(ArtifactTooLargeError, match=r"1001 bytes .* 1000"),
        session.create(policy="reject", limit=1000) as w,
    ):
        w.write(b"x" * 1000)
        w.write(b"y")
    with pytest.raises(ArtifactNotFoundError):
        session.artifact(w.id)
    with pytest.raises(ArtifactTooLargeError):
        w.write(b"z")
    assert 1000 == session.put(b"x" * 1000, policy="reject", limit=1000).read_bytes(0, 2000).count(b"x")


@pytest.mark.long
@pytest.mark.files
def test_roll_keeps_the_file_flat(plain_store):
    """80 MB through a cap of 4 MB: head and tail stay, the file takes little more than the cap."""
    with plain_store.session("test") as session:
        noise = os.urandom(1_000_000)
        with session.create(policy="roll", limit=4_000_000) as writer:
            for _ in range(80):
                writer.write(noise)
        info = session.artifact(writer.id).info
        assert (80_000_000, True) == (info.size, info.kept <= 4_000_000)
        assert 3_800_000 < info.kept
        assert noise[:900_000] == session.artifact(writer.id).read_bytes(0, 900_000)
        assert noise[-900_000:] == session.artifact(writer.id).read_bytes(79_100_000, 80_000_000)
        session._engine.store._pool._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert (plain_store.root / "_" / "test" / "session.db").stat().st_size < 12_000_000


def test_the_session_quota_stops_the_writer_that_passes_it(make_store):
    """A session that is full refuses with both numbers and the way out; what was committed stays readable."""
    store = make_store(session_quota=2_000_000)
    with store.session("test") as session:
        small = session.put(b"small\n")
        with pytest.raises(SessionQuotaError, match=r"may take 2000000.*spillstore rm"):
            session.put(os.urandom(5_000_000))
        info = session.infos().items[0]
        assert "interrupted" == info.state
        assert "2000000" in info.reason
        assert b"small\n" == small.read_lines(1, 1)
        session.artifact(info.id).delete()
        session.put(b"fits again")


@pytest.mark.files
def test_the_disk_floor_is_kept(make_store):
    """Less free than the floor: DiskFullError with both numbers, before anything is written."""
    store = make_store(free_disk_floor=2**61)
    with store.session("test") as session, pytest.raises(DiskFullError, match="must stay free"):
        session.put(b"x")


def test_too_many_artifacts_a_minute_are_refused(make_store, clock):
    """The rate limit names itself and passes with time."""
    store = make_store(artifacts_per_minute=3, clock=clock)
    with store.session("test") as session:
        for _ in range(3):
            session.put(b"x")
        with pytest.raises(RateLimitError, match="3 are allowed"):
            session.put(b"x")
        clock.advance(61)
        session.put(b"x")


@pytest.mark.long
@pytest.mark.files
def test_a_full_disk_is_reported_and_what_was_committed_stays(root, tmp_path):
    """A real file-size limit in place of a full disk: StorageError, and the earlier artifact reads and verifies."""
    script = """
import os, resource, signal, sys
from spillstore import Store
from spillstore.exceptions import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(sys.argv[1], free_disk_floor=0)
session = store.session("test")
whole = session.put(os.urandom(200_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
writer = session.create()
try:
    for _ in range(200):
        writer.write(os.urandom(100_000))
    writer.close()
except StorageError as error:
    print(type(error).__name__, whole.id, writer.id, flush=True)
else:
    print("no error", flush=True)
whole.verify()
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=True
    )
    kind, whole_id, failed_id = done.stdout.split()
    assert kind in {"DiskFullError", "StorageError"}
    with Store(root, **NO_FLOORS).session("test") as session:
        session.artifact(whole_id).verify()
        assert "interrupted" == session.artifact(failed_id).info.state
        session.artifact(failed_id).verify()
        session.check()


def test_a_database_locked_by_another_is_named(plain_store):
    """Locked longer than ``busy_timeout``: LockedError, and the store works again afterwards."""
    with plain_store.session("test") as session:
        impatient = Store(plain_store.address, busy_timeout=0.2, **NO_FLOORS)
        session.close()
        with impatient.session("test") as held:
            with locked(held), pytest.raises(LockedError):
                held.put(b"x")
            assert b"y" == held.put(b"y").read_bytes(0, 9)


def test_a_failing_filter_or_tap_fails_its_artifact_alone(plain_store):
    """An error in the caller's own code is raised by the writer and touches no other artifact."""
    with plain_store.session("test") as session:

        def tap(stream, data):
            if b"x" in data:
                raise ZeroDivisionError("in the tap")

        good = session.create()
        writer = session.create(tap=tap)
        writer.write(b"kept\n")
        writer.flush()
        writer.write(b"x\n")
        with pytest.raises(StorageError) as caught:
            writer.close()
        assert str(caught.value) == (
            "storing failed: ZeroDivisionError('in the tap'); what was committed before is kept and can be read, what came "
            "after is lost: store it again as a new artifact"
        )
        assert b"kept\n" == session.artifact(writer.id).read_bytes(0, 100)
        good.write(b"fine\n")
        good.close()
        assert b"fine\n" == session.artifact(good.id).read_lines(1, 1)
        assert "interrupted" == session.artifact(writer.id).info.state


def test_filters_stand_before_everything_else(plain_store):
    """A filter that holds back across writes: the store, its counters and the tap see only what it let through."""

    class Secret:
        def __init__(self):
            self.held = b""

        def feed(self, data):
            data = self.held + data
            keep = len(b"secret") - 1
            out = data.replace(b"secret", b"******")
            self.held = out[-keep:]
            return out[:-keep]

        def finish(self):
            return self.held

    seen = []
    with plain_store.session("test") as session:
        with session.create(
            filters=lambda stream: Secret(), tap=lambda stream, data: seen.append((stream, data))
        ) as writer:
            for piece in (b"my sec", b"ret is se", b"cret\n"):
                writer.write(piece)
            writer.write(b"no ", stream="stderr")
            writer.write(b"secret\n", stream="stderr")
        artifact = session.artifact(writer.id)
        assert b"my ****** is ******\n" == artifact.read_bytes(0, 99, stream="stdout")
        assert b"no ******\n" == artifact.read_bytes(0, 99, stream="stderr")
        assert artifact.read_bytes(0, 99) == b"".join(data for _, data in seen)
        assert 30 == artifact.info.received


@pytest.mark.slow
def test_back_pressure_bounds_memory(root):
    """A producer faster than the disk waits: 400 MB through one writer grow the process by little."""
    script = """
import os, resource, sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("test")
block = os.urandom(1_000_000)
session.put(block)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with session.create() as writer:
    for _ in range(400):
        writer.write(block)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
session.delete()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * (1 if sys.platform == "darwin" else 1024) < 90_000_000


@pytest.mark.long
def test_a_killed_reader_hurts_nobody(plain_store):
    """A reader that dies in the middle leaves nothing that others trip over."""
    with plain_store.session("test") as session:
        artifact_id = session.put(b"x\n" * 500_000).id
        script = (
            "import sys\nfrom spillstore import Store\n"
            "session = Store(sys.argv[1]).session('test', read_only=True)\nprint(flush=True)\n"
            "while True: session.artifact(sys.argv[2]).read_bytes(0, 10**6)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script, plain_store.address, artifact_id], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        session.put(b"y")
        session.check()


@pytest.mark.files
def test_errors_of_the_system_are_translated(plain_store, monkeypatch):
    """An I/O error while measuring the disk is one of ours."""
    with plain_store.session("test") as session:

        def broken(path):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "statvfs", broken)
        with pytest.raises(SpillstoreError, match="Input/output"):
            session.put(b"x")
        monkeypatch.undo()


@pytest.mark.files
def test_a_file_that_cannot_be_looked_at_is_not_taken_for_a_deleted_one(tmp_path, monkeypatch):
    """Once an OSError came out of opening and of reading, when looking whether the file was gone failed as well."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    with store.session("test") as session:
        session.put(b"x")
    file, stat = tmp_path / "root" / "_" / "test" / "session.db", os.stat

    def broken(path, *args, **options):
        if str(path).startswith(str(file)):
            raise OSError(errno.EIO, "Input/output error", str(path))
        return stat(path, *args, **options)

    with store.session("test", read_only=True) as session:
        session._engine.store._pool.close_connections()
        monkeypatch.setattr(os, "stat", broken)
        for use in (
            session.infos,
            lambda: store.session("test"),
            lambda: store.session("test", read_only=True),
            lambda: Store.open_file(file),
        ):
            with pytest.raises(StorageError, match="Input/output error") as caught:
                use()
            assert not isinstance(caught.value, SessionDeletedError)
        monkeypatch.undo()
        assert 1 == len(session.infos())


def test_nothing_comes_after_the_batch_that_ends(plain_store):
    """A trickle commit that was due in the very moment of ``close`` finds the sequence closed."""
    with plain_store.session("test") as session:
        writer = session.create()
        writer.write(b"one\ntwo")
        writer.close()
        last = writer._pipeline.newest_batch
        for options in ({"partial": True}, {"partial": True, "flush": True}, {"scheduled": True}):
            assert last == session._engine.ingest.inboxes._pump(writer._pipeline, **options)
        assert {} == writer._pipeline.ready
        session.artifact(writer.id).verify()
