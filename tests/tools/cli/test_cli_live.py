"""``spillstore run`` at a terminal: output as it comes, a summary in the end, signals as without it."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from support import alive, soon
from test_cli_terminal import Terminal

from spillstore_tools.process.output_reader import Process
from spillstore_tools.process.runners import start_program

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]


class Printed:
    """Takes output and leaves it."""

    def write(self, data, stream="stdout"):
        return len(data)


def only(store, session="default"):
    with store.session(session, read_only=True) as opened:
        (info,) = opened.infos()
        return info


@pytest.mark.long
def test_a_question_is_seen_before_it_is_answered(root):
    """A line that has not ended is shown, and what is typed goes to the command."""
    with Terminal(
        root, "run", "--", "sh", "-c", 'printf "sure? "; read answer; echo got $answer'
    ) as terminal:
        assert terminal.read(b"sure? ").endswith(b"sure? ")
        terminal.type(b"yes\n")
        assert b"got yes\n" in terminal.read()
        assert terminal.end() == 0


@pytest.mark.long
def test_output_is_seen_as_it_comes_and_a_summary_follows(root, store, tmp_path):
    """The first line is there while the command waits; the last line of all names the artifact and the exit code."""
    go = tmp_path / "go"
    script = f"echo first; while [ ! -e {go} ]; do sleep 0.05; done; echo last; exit 3"
    with Terminal(root, "run", "--", "sh", "-c", script) as terminal:
        assert b"first\n" in terminal.read(b"first\r\n")
        go.touch()
        seen = terminal.read().decode()
        assert terminal.end() == 3
    info = only(store)
    assert re.fullmatch(
        rf"first\nlast\nspillstore: {info.id}: 2 lines, 11 bytes, exit code 3, [^\n]+ s\n", seen
    )


@pytest.mark.parametrize(("before", "behind"), [(300, 600), (2000, 2000), (2000, 5)])
def test_the_summary_names_what_mattered(at_terminal, before, behind):
    """Of more than a screenful, the lines that matter are said once more, from the middle of what the preview leaves out, too."""
    script = f"seq {before}; echo 'ERROR: the disk is on fire'; seq {behind}; exit 1"
    seen = at_terminal("run", "--", "sh", "-c", script).text
    summary = seen[seen.index("spillstore: ") :]
    assert summary.splitlines()[1:] == ["spillstore:   ERROR: the disk is on fire"]


@pytest.mark.long
def test_streams_stay_apart(root, tmp_path):
    """What the command writes to stderr goes to ours, and nothing of our own to stdout."""
    master, slave = pty.openpty()
    done = subprocess.run(
        [*PROGRAM, "run", "--", "sh", "-c", "echo out; echo err >&2"],
        stdout=slave,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    os.close(slave)
    seen = os.read(master, 1000)
    os.close(master)
    assert seen == b"out\r\n"
    assert re.fullmatch(rb"err\nspillstore: art_\w+: 2 lines, [^\n]+\n", done.stderr)


@pytest.mark.parametrize("choice", [["--quiet"], ["--profile", "default"]], ids=["quiet", "profile"])
def test_a_preview_at_a_terminal_for_who_asks(at_terminal, choice):
    """Nothing is shown twice: the preview comes in the end."""
    seen = at_terminal("run", *choice, "--", "seq", "1", "20000").out
    assert b"a part is shown. All of it: spillstore show art_" in seen
    assert b"\n10000\n" not in seen


@pytest.mark.long
def test_silence_says_how_to_watch(root, store, tmp_path):
    """While nothing is shown, one line at the terminal names the call; it is not said twice, and not to a file."""
    go = tmp_path / "go"
    script = f"echo first; while [ ! -e {go} ]; do sleep 0.05; done"
    with Terminal(root, "run", "-q", "--", "sh", "-c", script) as terminal:
        seen = terminal.read(b"tail -f").decode() + terminal.read(b"\n").decode()
        go.touch()
        seen = terminal.read().decode()
    info = only(store)
    assert seen.count("tail -f") == 1
    assert f"spillstore: still running; to watch: spillstore tail -f {info.id}\n" in seen


def test_a_duration_begins_with_the_command(cli, store):
    """Not with the imports that come after it: it is never shorter than the command took."""
    found = cli("run", "--json", "--", "sh", "-c", "echo early; sleep 0.4; echo late").json
    assert found["duration"] >= 0.4
    info = only(store)
    assert info.duration >= 0.4


def test_a_duration_ends_with_the_command():
    """A command that ended before anybody looked after it took as long as it took."""
    started = start_program(["true"])
    started.wait()
    known = time.monotonic()
    process = Process(started)
    outcome = process.drain(Printed())
    assert outcome.duration == started.ended_at - started.began_at
    assert started.ended_at <= known


@pytest.mark.long
def test_ctrl_c_ends_a_loop_of_the_shell(root, tmp_path):
    """The shell sees the signal, so the next round does not begin."""
    rounds = tmp_path / "rounds"
    command = " ".join(PROGRAM)
    script = f"for i in 1 2 3; do echo $i >> {rounds}; {command} run -- sh -c 'echo up; exec sleep 60'; done"
    master, slave = pty.openpty()
    code = (
        "import fcntl, os, sys, termios\n"
        "os.setsid()\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "os.execvp('bash', ['bash', '-c', sys.argv[1]])"
    )
    shell = subprocess.Popen(
        [sys.executable, "-c", code, script], stdin=slave, stdout=slave, stderr=slave, env={**os.environ}
    )
    os.close(slave)
    seen = b""
    while b"up\r\n" not in seen:
        seen += os.read(master, 1000)
    os.write(master, b"\x03")
    try:
        while os.read(master, 1000):
            pass
    except OSError:  # the terminal is closed
        pass
    assert shell.wait(120) in {-signal.SIGINT, 130}
    os.close(master)
    assert rounds.read_text() == "1\n"


@pytest.mark.parametrize("stubborn", [False, True], ids=["heeds", "ignores"])
def test_sigterm_leaves_no_descendants(start, tmp_path, stubborn):
    """What the command has started in the background is ended with it, also what does not heed the signal."""
    pids = tmp_path / "pids"
    trap = "trap '' TERM; " if stubborn else ""
    child = f"sh -c '{trap}echo $$ > {pids}.part; mv {pids}.part {pids}; while :; do sleep 0.1; done'"
    process = start("run", "--", "bash", "-c", f"{child} & sleep 300")
    assert soon(pids.exists)
    pid = int(pids.read_text())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 143
    assert soon(lambda: not alive(pid))
