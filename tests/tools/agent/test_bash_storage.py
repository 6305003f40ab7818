"""The tool ``bash`` where storing fails: the command runs to its end, and its model is told."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support import NO_FLOORS, locked, soon, wait_until

from spillstore import Store
from spillstore_tools.agent.bash import BashTool, bash_sync

pytestmark = pytest.mark.everywhere

SCRIPT = (
    "for n in $(seq 1 40); do head -c 50000 /dev/urandom | base64 -w 99; done; touch {done}; echo end; exit 5"
)


def told(result, session, done):
    """What holds whatever fails."""
    assert done.exists()
    assert (result.state, result.exit_code) == ("ended", 5)
    assert result.stdout.size > 2_000_000
    assert result.storage_error
    assert len(result.text) <= 8000
    assert result.text.startswith("[NOT STORED COMPLETELY: ")
    assert result.text.endswith("\nend\n[exit code 5]\n") or "exit code 5]\n" in result.text
    if result.artifact_id is not None:
        artifact = session.artifact(result.artifact_id)
        info = artifact.info
        assert (info.state, info.reason is not None) == ("interrupted", True)
        assert f"the first {info.size} bytes are kept as artifact {info.id}" in result.text
        artifact.verify()
    else:
        assert "nothing of it was kept" in result.text


def test_a_quota_that_is_met_on_the_way(plain_store, tmp_path):
    """What was stored before stays, and the text says how much and why not more."""
    store = Store(plain_store.address, **NO_FLOORS, session_quota=1_000_000)
    with store.session("chat") as session:
        result = bash_sync(session, command=SCRIPT.format(done=tmp_path / "done"))
        told(result, session, tmp_path / "done")
        assert "quota" in result.storage_error.lower()


@pytest.mark.long
@pytest.mark.files
def test_a_disk_that_fills_up(plain_store, tmp_path):
    """SQLite's own error for a full disk, in a process whose files may not grow."""
    script = f"""
import resource, signal, sys
from spillstore import Store
from spillstore_tools.agent.bash import BashTool, bash_sync
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Store({plain_store.address!r}, free_disk_floor=0).session("full") as session:
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    result = bash_sync(session, command="ulimit -f unlimited; " + {SCRIPT.format(done=tmp_path / "done")!r})
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert result.exit_code == 5, result
    assert result.storage_error, result
    assert result.text.startswith("[NOT STORED COMPLETELY: "), result.text[:300]
    assert result.text.endswith("exit code 5]\\n"), result.text[-300:]
    print("told")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "told\n", done.stderr
    assert (tmp_path / "done").exists()


def test_a_session_opened_for_reading(plain_store, tmp_path):
    """Nothing can be stored, and the command runs all the same."""
    plain_store.session("chat").close()
    with plain_store.session("chat", read_only=True) as session:
        told(bash_sync(session, command=SCRIPT.format(done=tmp_path / "done")), session, tmp_path / "done")


def test_a_database_that_another_process_has_locked(plain_store, tmp_path):
    """Storing gives up after its time, the command does not."""
    store = Store(plain_store.address, **NO_FLOORS, busy_timeout=0.3)
    with store.session("chat") as session:
        with locked(session):
            result = bash_sync(session, command=SCRIPT.format(done=tmp_path / "done"))
        told(result, session, tmp_path / "done")
        assert "lock" in result.storage_error


def test_storage_that_fails_in_the_background(plain_store, tmp_path):
    """Checks go on to show what is new, each byte once, although nothing can be stored any more."""
    marks = [tmp_path / "one", tmp_path / "two"]
    waits = [f"while [ ! -e {mark} ]; do sleep 0.01; done" for mark in marks]
    noise = "head -c 2000000 /dev/urandom | base64 -w 99"
    script = f"echo begin; {waits[0]}; {noise}; echo middle; {waits[1]}; echo late; sleep 100"
    store = Store(plain_store.address, **NO_FLOORS, session_quota=300_000)
    seen = []
    with store.session("chat") as session:
        result = bash_sync(session, command=script, timeout=0, on_output=lambda _, data: seen.append(data))
        news = result.text
        while "begin\n" not in news:  # else it would be new behind the mark
            news = bash_sync(session, check_pid=result.pid).text
        marks[0].touch()
        wait_until(lambda: b"middle" in b"".join(seen))
        first = []  # a hook sees a piece a moment before a check does
        while not any("middle\n" in text for text in first):
            first.append(bash_sync(session, check_pid=result.pid).text)
            assert "begin" not in first[-1]
        assert first[-1].startswith("[NOT STORED COMPLETELY: ")
        marks[1].touch()
        wait_until(lambda: b"late" in b"".join(seen))
        told = []  # a hook sees a piece a moment before a check does
        while not any("late\n" in text for text in told):
            told.append(bash_sync(session, check_pid=result.pid).text)
            assert "middle" not in told[-1]
        assert sum(text.count("late") for text in told) == 1
        last = bash_sync(session, kill_pid=result.pid)
        assert (last.state, last.exit_code) == ("ended", 143)
        assert last.storage_error


@pytest.mark.files
def test_a_session_whose_folder_is_removed(plain_store, tmp_path):
    """Nothing of a command in the background is said to be kept when its session was removed; the text names the file."""
    go = tmp_path / "go"
    script = f"echo begin; while [ ! -e {go} ]; do sleep 0.01; done; echo late; exit 5"
    session = plain_store.session("chat")
    path = session.path
    result = bash_sync(session, command=script, timeout=0)
    assert result.artifact_id is not None
    shutil.rmtree(path.parent)
    quiet = bash_sync(session, check_pid=result.pid)
    go.touch()
    wait_until(lambda: bash_sync(session, check_pid=result.pid).state == "ended")
    for told_of in (quiet, bash_sync(session, check_pid=result.pid)):
        assert told_of.text.startswith(f"[NOT STORED COMPLETELY: the session of {path} was deleted")
        assert "nothing of it was kept" in told_of.text
        assert result.artifact_id not in told_of.text
        assert told_of.artifact_id is None
        assert told_of.storage_error
    session.close()


@pytest.mark.files
def test_cancelling_does_not_wait_for_the_store(plain_store):
    """A command whose output cannot be stored just now is ended at once all the same."""
    store = Store(plain_store.address, **NO_FLOORS, busy_timeout=20)
    with store.session("chat") as session:
        bash_sync(session, command="seq 1 20000")
        file = next(Path(store.root).rglob("session.db"))
        pids = []
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:

            async def main():
                tool = BashTool(session, on_output=lambda _, data: pids.append(int(data)))
                task = asyncio.create_task(tool.call({"command": "echo $$; exec sleep 100"}))
                assert await asyncio.to_thread(soon, lambda: pids)
                other.execute("BEGIN IMMEDIATE")
                try:
                    task.cancel()
                    assert await asyncio.to_thread(soon, lambda: not Path(f"/proc/{pids[0]}").exists())
                finally:
                    other.execute("ROLLBACK")
                with contextlib.suppress(asyncio.CancelledError):
                    await task

            asyncio.run(main())
        assert [artifact.info.size for artifact in session.artifacts()].count(len(str(pids[0])) + 1) == 1


@pytest.mark.repeat
@pytest.mark.slow
@pytest.mark.files
def test_a_producer_faster_than_the_store_is_held_back(plain_store):
    """Back-pressure: while nothing can be stored, little is read, and nothing piles up in memory."""
    store = Store(
        plain_store.root, **NO_FLOORS, busy_timeout=30, queue_bytes=1024 * 1024, commit_bytes=1024 * 1024
    )
    with store.session("chat") as session:
        file = next(Path(store.root).rglob("session.db"))
        seen = [0]

        def count(_, data):
            seen[0] += len(data)

        answers, locked = [], threading.Event()
        with contextlib.closing(
            sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        ) as other:
            thread = threading.Thread(
                target=lambda: answers.append(
                    bash_sync(
                        session,
                        command="head -c 100000000 /dev/zero",
                        on_output=count,
                        on_spill=lambda _: (other.execute("BEGIN IMMEDIATE"), locked.set()),
                    )
                )
            )
            thread.start()
            assert locked.wait(120)
            (pipeline,) = session._engine.ingest.queue.pipelines
            wait_until(
                lambda: pipeline.waiting and pipeline.uncommitted > 900_000
            )  # of the queue's 1,048,576
            assert seen[0] < 40_000_000
            other.execute("ROLLBACK")
            thread.join()
        (result,) = answers
        assert result.stdout.size == 100_000_000
        assert result.storage_error is None


@pytest.mark.slow
def test_memory_stays_flat(plain_store):
    """What a process needs for 20 MB of output does for 400 MB, in lines or in one."""
    script = """
import resource, sys
from spillstore import Store
from spillstore_tools.agent.bash import BashTool, bash_sync
with Store(sys.argv[1], free_disk_floor=0).session("memory") as session:
    def peak(command):
        bash_sync(session, command=command)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    for size in (20, 400):
        print(peak(f"seq 1 99999999 | head -c {size}000000"), peak(f"head -c {size}000000 /dev/zero | tr '\\\\0' y"))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, plain_store.address], capture_output=True, text=True, check=True
    )
    before, _, _, after = map(int, done.stdout.split())
    assert after - before < 60, done.stdout


@pytest.mark.parametrize("profile", ["opencode", "pipe"])
def test_fallbacks_of_the_documents(plain_store, profile, tmp_path):
    """``opencode`` leaves its location line out; ``pipe`` says that the file may be incomplete."""
    plain_store.session("chat").close()
    with plain_store.session("chat", read_only=True) as session:
        text = bash_sync(session, command="seq 1 50000", profile=profile).text
    assert "50000\n" in text
    if profile == "opencode":
        assert "Full output saved to" not in text
        assert "<stdout truncated: 50,000 lines total>" in text
    else:
        assert "Full output file may be incomplete" in text
