"""``spillstore run`` that is ended from outside: nothing of what it has started stays behind."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import alive, wait_until

pytestmark = pytest.mark.long

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]
LONG = 600  # seconds that no test lasts

# A child, one that nohup protects, one in a session of its own, one whose parent is gone, too, and one that is stubborn.
FAMILY = f"""
cd "$1"
exec 3> pids
sleep {LONG} 3>&- & echo $! >&3
nohup sleep {LONG} 3>&- > nohup.out 2>&1 & echo $! >&3
setsid sleep {LONG} 3>&- & echo $! >&3
sh -c 'setsid sleep {LONG} > /dev/null 2>&1 3>&- & echo $! >&3'
sh -c 'trap "" TERM HUP; echo $$ >&3; exec 3>&-; while :; do sleep 1; done' &
echo $$ >&3
exec 3>&-
while [ $(wc -l < pids) -lt 6 ]; do sleep 0.01; done
mv pids up
wait
"""


def family(folder):
    """The processes that a command has written down, once all of them are there."""
    wait_until(lambda: (folder / "up").exists() and (folder / "up").read_text())
    return [int(pid) for pid in (folder / "up").read_text().split()]


@pytest.fixture
def folder(tmp_path):
    """Where ``FAMILY`` runs; what is left of it is ended with the test."""
    yield tmp_path
    for name in ("pids", "up"):
        if (tmp_path / name).exists():
            for pid in map(int, (tmp_path / name).read_text().split()):
                if alive(pid):
                    os.kill(pid, signal.SIGKILL)


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def watched(pid):
    """Wait until a ``run`` has its watchdog, which comes after its command."""
    wait_until(lambda: len(children(pid)) > 1)


def watchdog_of(process, folder):
    """The child of a ``run`` that is not its command."""
    (command,) = family(folder)
    watched(process.pid)
    (watchdog,) = set(children(process.pid)) - {command}
    return watchdog


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_nothing_is_left_of_a_command_whose_run_is_ended(start, folder, number):
    """However it is ended: children, those that left its session or ignore SIGHUP and SIGTERM, and the command itself."""
    process = start("run", "--", "sh", "-c", FAMILY, "sh", folder, start_new_session=True)
    pids = family(folder)
    watched(process.pid)
    process.send_signal(number)
    process.communicate(timeout=120)
    wait_until(lambda: not any(map(alive, pids)))


KILLED_WHEN_IT_HAS_A_WATCHDOG = f"""
import os, subprocess
from spillstore_tools.process import watchdog
from spillstore_tools.process.environment import MARK
from spillstore_tools.process.runners import start_program

started = start_program(["sleep", "{LONG}"], env={{**os.environ, MARK: "m"}}, mark="m")
print(started.pid, flush=True)

class Killed(subprocess.Popen):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        os.kill(os.getpid(), 9)

subprocess.Popen = Killed
watchdog.begins(started.pid, "m")
"""


def test_a_watchdog_knows_what_runs_when_it_starts():
    """Whoever has started it may be killed before it can write a line."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED_WHEN_IT_HAS_A_WATCHDOG], stdout=subprocess.PIPE
    ) as process:
        pid = int(process.stdout.readline())
        try:
            assert process.wait() == -signal.SIGKILL
            wait_until(lambda: not alive(pid))
        finally:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


def test_a_killed_run_inside_another_one_takes_its_command_along(start, store, folder):
    """The outer one goes on, and ends with its own command."""
    inner = shlex.join([*PROGRAM, "run", "--", "sh", "-c", FAMILY, "sh", str(folder)])
    script = f"{inner} & echo $! > {folder}/inner; wait $!; echo code $?"
    process = start("run", "--", "sh", "-c", script)
    pids = family(folder)
    inner_pid = int((folder / "inner").read_text())
    watched(inner_pid)
    os.kill(inner_pid, signal.SIGKILL)
    output = process.communicate(timeout=120)[0]
    killed = re.compile(r"(?:sh: .* )?Killed(?: .*)?")  # what some shells say on stderr, before or behind it
    first, *others = [line for line in output.decode().splitlines() if not killed.fullmatch(line)]
    assert first == "code 137"
    assert [re.sub(r"art_\w+", "ID", line) for line in others] == ["[artifact ID; exit code 0]"]
    wait_until(lambda: not any(map(alive, pids)))


def test_a_killed_run_takes_those_inside_it_along(start, folder):
    """They have its mark before their own."""
    inner = [*PROGRAM, "run", "--", "sh", "-c", FAMILY, "sh", str(folder)]
    process = start("run", "--", *inner)
    pids = family(folder)
    watched(process.pid)
    process.kill()
    process.communicate(timeout=120)
    wait_until(lambda: not any(map(alive, pids)))


def test_what_a_command_left_behind_when_it_ended_lives_on(start, folder):
    """As behind a command in a shell."""
    process = start("run", "--", "sh", "-c", f"setsid sleep {LONG} > /dev/null 2>&1 & echo $! > {folder}/up")
    assert process.communicate(timeout=120)[1] == b""
    assert process.returncode == 0
    assert [True] == [alive(pid) for pid in family(folder)]


def test_a_run_whose_watchdog_was_killed(start, folder):
    """The command and its exit code do not suffer from it, and nobody is left who waits."""
    process = start("run", "--", "sh", "-c", f"echo $$ > {folder}/up; read line; exit 7", stdin=-1)
    watchdog = watchdog_of(process, folder)
    os.kill(watchdog, signal.SIGKILL)
    process.communicate(b"\n", timeout=120)
    assert process.returncode == 7


def test_the_watchdog_has_ended_before_run_has(start, folder):
    """Where nobody reaps orphans, as in many containers, none is left behind by each command."""
    process = start("run", "--", "sh", "-c", f"echo $$ > {folder}/up; read line", stdin=-1)
    watchdog = watchdog_of(process, folder)
    process.communicate(b"\n", timeout=120)
    assert not Path(f"/proc/{watchdog}").exists()
