"""Runners: bash here, other words in front of the command, and one that starts no process at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from support import wait_until

from spillstore_tools.agent.bash import bash_sync
from spillstore_tools.process.runners import LocalRunner, StartError


class Thread:
    """A "command" that a thread of this process performs; signals reach it as a number."""

    pid = 1
    mark = ""

    def __init__(self, command: str, env) -> None:
        self.stdout, self._out = os.pipe()
        self.stderr, self._err = os.pipe()
        self._signal = 0
        self._end = threading.Event()
        self._status = 0
        self._thread = threading.Thread(target=self._work, args=(command, env))
        self._thread.start()

    def _work(self, command, env):
        os.write(self._out, f"{command} in {env['SPILLSTORE_SESSION']}\n".encode())
        os.write(self._err, b"done\n")
        if command == "wait":
            self._end.wait(120)
        os.close(self._out)
        os.close(self._err)
        self._status = -self._signal if self._signal else 7

    def wait(self):
        self._thread.join()
        return self._status

    def send_signal(self, number):
        self.signal_all(number)

    def signal_all(self, number):
        if number and self._thread.is_alive():
            self._signal = number
            self._end.set()
        return int(self._thread.is_alive())

    def close(self):
        self._thread.join()


class ThreadRunner:
    """The second runner."""

    def start(self, command, *, cwd, env):
        if command == "fail":
            raise StartError("there is no such machine", 127)
        return Thread(command, env)


def test_a_runner_of_one_s_own(plain_store):
    """Streams, exit code, time-out, news, kill and a failure to start: all through the protocol alone."""
    with plain_store.session("chat") as session:
        result = bash_sync(session, command="hello", runner=ThreadRunner())
        assert (result.text, result.exit_code) == ("hello in chat\ndone\n[exit code 7]\n", 7)
        failed = bash_sync(session, command="fail", runner=ThreadRunner())
        assert (failed.text, failed.is_error) == ("there is no such machine\n[exit code 127]\n", True)
        waiting = bash_sync(session, command="wait", timeout=0, runner=ThreadRunner())
        assert waiting.state == "running"
        killed = bash_sync(session, kill_pid=waiting.pid)
        assert (killed.state, killed.signal) == ("ended", "SIGTERM")


def test_words_in_front_of_the_command(plain_store):
    """``docker exec``, ``ssh`` and the like are a prefix; here ``env``, which has a small environment."""
    runner = LocalRunner(["env", "-i", "COLOUR=green", "bash", "-c"])
    with plain_store.session("chat") as session:
        result = bash_sync(session, command="echo $COLOUR; echo ${SPILLSTORE_SESSION-none}", runner=runner)
        assert result.text == "green\nnone\n[exit code 0]\n"


def test_a_command_without_its_mark_is_ended_all_the_same(plain_store):
    """A tree that has dropped its environment is found by group and parents."""
    runner = LocalRunner(["env", "-i", "bash", "-c"])
    script = "sleep 100 & echo $!; setsid sleep 100 & echo $!; wait"
    with plain_store.session("chat") as session:
        result = bash_sync(session, command=script, timeout=0, runner=runner)
        wait_until(lambda: session.artifact(result.artifact_id).info.lines == 2)
        pids = [int(line) for line in session.artifact(result.artifact_id).read_lines(1, 2).split()]
        bash_sync(session, kill_pid=result.pid)
        wait_until(lambda: not any(map(running, pids)))


EXHAUSTED = """
import os, resource, sys, threading
from spillstore import Store
from spillstore_tools.agent.bash import BashTool
session = Store(sys.argv[1], free_disk_floor=0).session("chat")
tool = BashTool(session)
tool.call_sync({"command": "seq 1 20000"})
start = threading.Thread.start
for left in range(4):
    def few(thread, left=[left]):
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(thread)
    threading.Thread.start = few
    result = tool.call_sync({"command": "sleep 0.05; seq 1 20000"})
    threading.Thread.start = start
    print("threads", result.exit_code, result.is_error)
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
filled = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
resource.setrlimit(resource.RLIMIT_NOFILE, (filled[-1] + 1, hard))
for _ in range(16):
    result = tool.call_sync({"command": "sleep 0.05; seq 1 20000", "timeout": 20000})
    print("files", result.exit_code, result.is_error)
    os.close(filled.pop())
resource.setrlimit(resource.RLIMIT_NOFILE, (filled[0] + 200, hard))
session.close()
print("closed")
"""


@pytest.mark.long
def test_what_is_not_to_be_had_is_told(plain_store):
    """Without threads or descriptors a command is not run, or ended again, and its result says why."""
    done = subprocess.run(
        [sys.executable, "-c", EXHAUSTED, plain_store.address],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 21, done.stderr
    assert lines[0] == "threads 126 True"
    assert lines[3] == "threads 0 False"
    assert lines[4] == "files 126 True"
    assert lines[-2:] == ["files 0 False", "closed"]
    assert {line.split(" ", 1)[1] for line in lines[:-1]} == {"126 True", "0 False"}


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
