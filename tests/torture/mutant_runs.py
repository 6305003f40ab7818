"""Processes that are forked for a mutant or a part of the tests, and what they are given: a folder, and a server of PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import queue
import resource
import shutil
import signal
import tempfile
import time
from pathlib import Path

import postgres

IDLE = 25.0  # seconds without any work, after which a process will never end
LONG = 60.0  # seconds, besides ten times what it may use of a processor, after which it is stopped however little it uses
LOOK = 0.3  # seconds between two looks at what it does
MEMORY = 4 * 1024**3


@contextlib.contextmanager
def folder():
    """A folder in memory, where there is some."""
    parent = "/dev/shm" if Path("/dev/shm").is_dir() else None
    made = tempfile.mkdtemp(prefix="mutants-", dir=parent)
    yield Path(made)
    shutil.rmtree(made, ignore_errors=True)


class Places:
    """Where processes can run: as many as run at once, each with a server of its own, or none has one."""

    def __init__(self, count):
        self._stack = contextlib.ExitStack()
        self._free = queue.SimpleQueue()
        try:
            servers = self._stack.enter_context(postgres.Servers())
        except postgres.NoServerError as error:
            print(f"no server: {error}", flush=True)
            servers = None
        for _ in range(count):
            self._free.put(servers and servers.new())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stack.close()

    def forked(self, function, seconds, idle=IDLE):
        """Call a function with a file to write to in a process of its own; what it returns or how it was killed, and what it wrote.

        It is killed when it has used ``seconds`` of a processor since it has written something or has gone on for far longer than that,
        or has had nothing to do for ``idle`` seconds: that others keep the machine busy is no reason. What it leaves is removed:
        processes, files, databases.
        """
        server = self._free.get()
        try:
            with folder() as mine:
                return _forked(function, seconds, idle, mine, server)
        finally:
            if server:
                for (name,) in server.execute(
                    "SELECT datname FROM pg_database WHERE datname LIKE 'spillstore_test_%'"
                ):
                    server.drop_database(name)
            self._free.put(server)


def _forked(function, seconds, idle, mine, server):
    said = mine / "said"
    said.touch()
    pid = os.fork()
    if not pid:
        how = 1
        try:
            os.setsid()
            os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(mine)
            if server:  # one that is ours, which tests may make roles on
                os.environ["SPILLSTORE_TEST_POSTGRES"] = server.url("postgres")
                postgres.Databases = lambda _url: server
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            how = function(said)
        except BaseException as error:
            said.write_text(f"a mutant's process: {error!r}"[:500])
        finally:
            os._exit(how)
    began_with, used, told, done = 0.0, 0.0, -1, 0
    began = idle_since = looked = time.monotonic()
    while not done:
        done, status = os.waitpid(pid, os.WNOHANG)
        if (now := time.monotonic()) > looked + LOOK:
            looked, before = now, used
            used, ready = _taken(pid)
            if told != (told := said.stat().st_mtime_ns):
                began, began_with = now, used
            if ready or used != before:
                idle_since = now
            if used - began_with > seconds or now - began > LONG + 10 * seconds or now - idle_since > idle:
                break
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # and what the tests have started
    if not done:
        os.waitpid(pid, 0)
        return "killed, as it did not end", said.read_text()
    how = "killed by a signal" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return how, said.read_text()


def _taken(session):
    """Processor time of a session's processes, in seconds, and whether one of them would run if others let it."""
    used, ready = 0, False
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = _fields(process / "stat")
            if int(fields[3]) == session:
                used += sum(map(int, fields[11:15]))
                ready |= any(_fields(task)[0] in "RD" for task in process.glob("task/*/stat"))
    return used / os.sysconf("SC_CLK_TCK"), ready


def _fields(stat):
    """What stands behind the name: state, parent, group, session and so on."""
    return stat.read_text().rpartition(")")[2].split()
