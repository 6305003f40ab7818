"""Forked children: nothing of SQLite is inherited, whatever parent and child do afterwards, and in which order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from support import NO_FLOORS, tries

from spillstore import Store
from spillstore.engine.sqlite import fork_safety
from spillstore.exceptions import ForkError

# A parent that has the session open and an artifact under way forks children, which open it anew and seal artifacts.
# Everybody says on standard output what was acknowledged.
FAMILY = """
import json, os, signal, sys, threading
from spillstore import Store

root, parent_goes, child_goes = sys.argv[1:]
store = Store(root, free_disk_floor=0, artifacts_per_minute=0)
session = store.session("test", project="family")
writer = session.create()
writer.write(b"begun before the fork\\n")
writer.flush()
told = os.pipe()

def say(kind, artifact):
    os.write(told[1], (json.dumps([kind, artifact.id]) + "\\n").encode())

say("parent", session.put(b"before the fork\\n"))
go_read, go_write = os.pipe()
children = []
for number in range(3):
    pid = os.fork()
    if pid:
        children.append(pid)
        continue
    os.close(go_write)
    own = store.session("test", project="family")
    say("child", own.put(b"%d first\\n" % number))
    os.read(go_read, 1)  # the parent has gone, or will
    for count in range(5):
        say("child", own.put(b"%d %d\\n" % (number, count) * 20_000))
    if child_goes == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if child_goes == "exit":
        sys.exit(0)
    own.close()
    os._exit(0)
say("parent", session.put(b"after the fork\\n"))
if parent_goes == "killed":
    writer.flush()
if parent_goes == "first":
    writer.close()
    session.close()
os.close(go_write)
if parent_goes == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
for pid in children:
    os.waitpid(pid, 0)
if parent_goes == "last":
    say("parent", session.put(b"after the children\\n"))
    writer.close()
    session.close()
os.close(told[1])
"""


def acknowledged(script, *arguments):
    """Run a script and its children to their end; what they said."""
    read, write = os.pipe()
    process = subprocess.Popen(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            script.replace("told = os.pipe()", f"told = (None, {write})"),
            *arguments,
        ],
        pass_fds=[write],
        stderr=subprocess.PIPE,
    )
    os.close(write)
    with os.fdopen(read) as said:
        lines = [json.loads(line) for line in said]
    errors = process.communicate()[1]
    return lines, process.returncode, errors.decode()


@pytest.mark.long
@pytest.mark.parametrize(
    ("parent_goes", "child_goes"),
    [
        pytest.param(parent, child, marks=() if (place + number) % 3 == 0 else pytest.mark.slow)
        for place, parent in enumerate(("first", "last", "killed"))
        for number, child in enumerate(("closed", "exit", "killed"))
    ],
)
def test_what_parent_and_children_seal_stays(plain_store, parent_goes, child_goes):
    """Everything that was sealed before and after a fork is there, for every order in which they end."""
    said, code, errors = acknowledged(FAMILY, plain_store.address, parent_goes, child_goes)
    assert ("", -signal.SIGKILL if parent_goes == "killed" else 0) == (errors, code)
    assert 3 * 6 == sum(kind == "child" for kind, _ in said)
    with plain_store.session("test", project="family") as session:
        states = {session.artifact(artifact_id).info.state for _, artifact_id in said}
        assert {"sealed"} == states
        session.check()


@pytest.mark.long
def test_a_third_process_sees_all_of_a_forked_child_while_it_writes(plain_store):
    """A process that opens and closes the session beside a child takes nothing of it along."""
    script = """
import os, sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0)
session = store.session("test")
session.put(b"before\\n")
if not os.fork():
    own = store.session("test")
    for line in sys.stdin:
        print(own.put(line.encode()).id, flush=True)
    os._exit(0)
session.close()
os.wait()
"""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script, plain_store.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        for number in range(20):
            process.stdin.write(f"line {number}\n")
            process.stdin.flush()
            artifact_id = process.stdout.readline().strip()
            with plain_store.session("test") as session:
                assert b"line %d\n" % number == session.artifact(artifact_id).read_lines(1, 9)
                session.put(b"of a third\n", source="third")
    finally:
        process.communicate()
    with plain_store.session("test") as session:
        assert 20 == len(session.artifacts(source="third"))
        assert 41 == len(session.artifacts())


@pytest.mark.long
def test_a_fork_amid_the_writes_of_other_threads_gives_children_that_can_open(plain_store):
    """Every child opens the session and stores, whatever other threads were doing in it; the parent's writes go on."""
    script = """
import os, sys, threading
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0)
session = store.session("test")
stop = threading.Event()
def busy():
    while not stop.is_set():
        session.put(os.urandom(50_000), source="parent").read_bytes(0, 10)
        session.artifacts()
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for number in range(int(sys.argv[2])):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            with store.session("test") as own:
                own.put(b"child\\n", source="child")
                own.artifacts(source="parent")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
assert len(session.artifacts(source="child")) == int(sys.argv[2])
session.check()
session.close()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, plain_store.address, str(tries(15))],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.long
def test_a_fork_lets_threads_out_that_need_the_lock_of_logging():
    """A fork holds that lock, too, but takes it only when nobody uses a session any more, whatever was imported first."""
    script = """
import os, threading, time
from spillstore.engine.sqlite import fork_safety
import logging
inside, outside = threading.Event(), threading.Event()
def work():
    with fork_safety.using:
        inside.set()
        while not fork_safety.using._closed:
            time.sleep(0.001)
        logging.getLogger("new")  # takes the lock
    outside.set()
threading.Thread(target=work, daemon=True).start()
inside.wait()
pid = os.fork()
if not pid:
    os._exit("new" not in logging.Logger.manager.loggerDict)
assert os.waitpid(pid, 0)[1] == 0
outside.wait()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.long
def test_a_fork_amid_the_first_write_waits_for_what_that_imports(plain_store):
    """The rules of redaction are imported by the first write: a child of that moment can import them, too."""
    script = """
import os, signal, sys, threading
from spillstore import Store
importing, forked = threading.Event(), threading.Event()
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "spillstore.redaction":
            importing.set()
            forked.wait(1)
store = Store(sys.argv[1], free_disk_floor=0)
session = store.session("test")
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=lambda: session.put("parent"))
thread.start()
importing.wait()
pid = os.fork()
if not pid:
    code = 1
    signal.alarm(60)
    try:
        with store.session("test") as own:
            own.put("child")
        code = 0
    finally:
        os._exit(code)
forked.set()
thread.join()
assert os.waitpid(pid, 0)[1] == 0
assert len(session.artifacts()) == 2
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
@pytest.mark.files
def test_a_child_has_no_file_of_a_session_open(plain_store):
    """A child inherits no descriptor of a session's database, and its parent goes on with new ones."""
    script = """
import os, sys
from pathlib import Path
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("test")
artifact = session.put(b"x" * 300_000)
artifact.read_bytes(0, 10)
Store.open_file(session.root / "_" / "test" / "session.db").artifacts()
if not os.fork():
    names = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    print([name for name in names if "session.db" in name], flush=True)
    os._exit(0)
os.wait()
assert artifact.read_bytes(0, 3) == b"xxx"
session.put(b"y")
session.close()
"""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not tell which files a process has open")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, plain_store.address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("[]\n", "") == (done.stdout, done.stderr)


@pytest.mark.long
@pytest.mark.files
def test_a_fork_from_inside_a_call_is_refused_in_the_child_alone(plain_store):
    """A signal handler that forks while its thread uses the session: the child may not open it, and the parent goes on."""
    script = """
import os, sys
from spillstore import Store
from spillstore.engine.sqlite import fork_safety as _forks
from spillstore.exceptions import ForkError
store = Store(sys.argv[1], free_disk_floor=0)
session = store.session("test")
with session._engine.reader():  # where a signal may come in
    pid = os.fork()
    if not pid:
        try:
            store.session("test")
        except ForkError as error:
            print(error, flush=True)
            with store.session("other") as other:  # nobody had that open
                other.put(b"x")
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
session.put(b"goes on\\n")
session.check()
session.close()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, plain_store.address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    assert "was in use in the parent process at the very moment of the fork" in done.stdout
    with plain_store.session("test", read_only=True) as session:
        assert b"goes on\n" == session.artifacts().items[0].read_lines(1, 1)


@pytest.mark.long
def test_workers_of_a_pool_share_a_session(tmp_path):
    """``multiprocessing`` with ``fork``: what the workers seal is there when the parent has closed first."""
    script = """
import multiprocessing, sys
from spillstore import Store
store = Store(sys.argv[1], free_disk_floor=0, artifacts_per_minute=0)
def work(number):
    with store.session("test") as own:
        return own.put(b"%d\\n" % number * 10_000).id
if __name__ == "__main__":
    session = store.session("test")
    session.put(b"parent\\n")
    with multiprocessing.get_context("fork").Pool(3) as pool:
        results = pool.map_async(work, range(24), chunksize=1)
        session.close()
        names = results.get()
        pool.close()
        pool.join()
    with store.session("test") as session:
        assert all(session.exists(name) for name in names), "lost"
        session.check()
    print(len(names))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert ("24\n", "") == (done.stdout, done.stderr)
    Store(tmp_path).check()


def test_a_child_of_a_process_that_died_amid_a_write_holds_up_nobody(tmp_path):
    """It lives on, and others write into the session: the lock that it has inherited is not its own."""
    store = Store(tmp_path / "root", busy_timeout=1.0, **NO_FLOORS)
    forked, may_end = os.pipe(), os.pipe()
    parent = os.fork()
    if not parent:
        status = 1
        try:
            held = store.session("test")._engine.store
            with held.using, held.transaction("a test"):  # where a signal may come in
                if os.fork():
                    os.read(forked[0], 1)
                else:
                    os.close(may_end[1])
                    os.write(forked[1], b"x")
                    os.read(may_end[0], 1)
                status = 0
                os._exit(status)  # as if it were killed
        finally:
            os._exit(status)
    os.close(may_end[0])
    try:
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1])
        os.close(forked[1])
        with store.session("test") as session:
            assert b"text" == session.put(b"text").read()
    finally:
        os.close(may_end[1])
        os.close(forked[0])


def test_a_file_that_could_not_be_closed_at_the_fork_is_refused(monkeypatch):
    """The child is told what to do instead, by the name that it asked for."""
    monkeypatch.setattr(fork_safety, "_inherited", {(5, 6)})
    fork_safety.refuse_inherited((5, 7), "other.db")
    with pytest.raises(ForkError, match=r"one\.db was in use in the parent process"):
        fork_safety.refuse_inherited((5, 6), "one.db")
