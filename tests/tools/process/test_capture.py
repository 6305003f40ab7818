"""Capturing a process: both streams, its end, its orphans, a sink that fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support import wait_until

from spillstore_tools.process.output_reader import Process
from spillstore_tools.process.runners import StartError


class Memory:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.data = {"stdout": b"", "stderr": b""}

    def write(self, data, stream="stdout"):
        self.data[stream] += data
        return len(data)


def sh(script, **options):
    return Process.start(["sh", "-c", script], **options)


def end_group(process):
    """End what a process has left behind in its group."""
    os.killpg(process.pid, signal.SIGKILL)


def text(process):
    sink = Memory()
    process.drain(sink)
    return sink.data["stdout"].decode()


def test_both_streams_reach_the_sink_apart():
    """What a process prints arrives whole, each stream under its name."""
    sink = Memory()
    outcome = sh("printf 'a\\0b'; printf '\\377' >&2").drain(sink)
    assert sink.data == {"stdout": b"a\0b", "stderr": b"\xff"}
    assert (outcome.stdout, outcome.stderr, outcome.received) == (3, 1, 4)


def test_no_output():
    """A process that prints nothing leaves nothing."""
    outcome = Process.start(["true"]).drain(Memory())
    assert (outcome.exit_code, outcome.received) == (0, 0)
    assert outcome.held_open == ()


@pytest.mark.parametrize("code", [0, 1, 125, 255])
def test_exit_code(code):
    """The exit code is the process's own."""
    assert sh(f"exit {code}").drain(Memory()).exit_code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_signal(number):
    """Death by signal n is exit code 128 + n, and the signal has a name."""
    outcome = sh(f"kill -{int(number)} $$").drain(Memory())
    assert (outcome.exit_code, outcome.signal) == (128 + number, number.name)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["no-such-command-here"], 127, "command not found"),
        (["./no/such/file"], 127, "command not found"),
        ([""], 127, "command not found"),
        (["/"], 126, "Permission denied"),
        (["/etc/passwd"], 126, "Permission denied"),
        (["a\0b"], 126, "null byte"),
    ],
)
def test_what_cannot_be_started(command, code, words):
    """A command that is not there is 127, one that cannot be executed 126, as in a shell."""
    with pytest.raises(StartError, match=words) as caught:
        Process.start(command)
    assert caught.value.exit_code == code


def test_script_without_interpreter(tmp_path):
    """A file without a #! line is told from one whose interpreter is not there."""
    script = tmp_path / "script"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    with pytest.raises(StartError, match="no #! line") as caught:
        Process.start([str(script)])
    assert caught.value.exit_code == 126
    script.write_text("#!/no/such/interpreter\n")
    with pytest.raises(StartError, match="interpreter") as caught:
        Process.start([str(script)])
    assert caught.value.exit_code == 126


def test_folder_that_is_not_there(tmp_path):
    """A missing working folder is not reported as a missing command."""
    with pytest.raises(StartError, match="nowhere"):
        Process.start(["true"], cwd=tmp_path / "nowhere")


def test_large_output_is_whole():
    """Not a byte is lost, however much there is."""
    sink = Memory()
    outcome = Process.start(["seq", "1", "300000"]).drain(sink)
    assert sink.data["stdout"] == b"".join(b"%d\n" % number for number in range(1, 300001))
    assert outcome.received == len(sink.data["stdout"])


def test_slow_sink_holds_the_process_back():
    """A sink that blocks fills the pipe and the process waits; nothing piles up in memory."""
    release = threading.Event()

    class Blocked(Memory):
        def write(self, data, stream="stdout"):
            release.wait(120)
            return super().write(data, stream)

    process = sh("seq 1 2000000; echo finished >&2")
    timer = threading.Timer(0.3, lambda: (running.append(process._ended_at is None), release.set()))
    running: list[bool] = []
    timer.start()
    sink = Blocked()
    process.drain(sink)
    timer.join()
    assert running == [True]
    assert sink.data["stderr"] == b"finished\n"


def test_output_is_handed_on_as_it_comes(tmp_path):
    """A line reaches the sink while the process still runs."""
    seen, mark = [], tmp_path / "seen"

    class Watching(Memory):
        def write(self, data, stream="stdout"):
            seen.append(process._ended_at is None)
            mark.touch()
            return super().write(data, stream)

    process = sh(f"echo early; while [ ! -e {mark} ]; do sleep 0.01; done")
    process.drain(Watching())
    assert seen == [True]


def test_silent_heir_does_not_keep_us():
    """A process left in the background that holds the pipes costs the grace period, no more, and is reported."""
    process = sh("echo out; exec 3>&2; sleep 1000 & exit 4")
    outcome = process.drain(Memory(), grace=0.2)
    assert (outcome.exit_code, outcome.stdout) == (4, 4)
    assert outcome.held_open == ("stdout", "stderr")
    end_group(process)


def test_talking_heir_does_not_keep_us():
    """A process left in the background that never stops printing is cut off."""
    outcome = sh("(while :; do echo noise; done) & exit 0").drain(Memory(), grace=0.2, linger=0.5)
    assert "stdout" in outcome.held_open


def test_what_the_process_itself_printed_is_read_before_giving_up():
    """What lies in the pipe when the process ends is read even though the time for its orphans is up."""

    class Slow(Memory):
        def write(self, data, stream="stdout"):
            time.sleep(0.02)
            return super().write(data, stream)

    sink = Slow()
    outcome = sh("sleep 3 & head -c 900000 /dev/zero").drain(sink, grace=0, linger=0)
    assert len(sink.data["stdout"]) == outcome.stdout == 900_000


def test_heir_on_one_stream_alone():
    """Only the stream that something else holds is reported."""
    process = sh("sleep 1000 2>/dev/null & echo out")
    outcome = process.drain(Memory(), grace=0.1)
    assert outcome.held_open == ("stdout",)
    end_group(process)


def test_process_that_closes_its_streams_is_waited_for():
    """The end is the process's, not that of its streams."""
    outcome = sh("exec >&- 2>&-; sleep 0.2; exit 9").drain(Memory())
    assert outcome.exit_code == 9


def test_duration_is_the_process_s_own():
    """A process that was long over when it was drained ran no longer for that."""
    began = time.monotonic()
    process = Process.start(["true"])
    wait_until(lambda: process.ended)
    seen = time.monotonic()  # what comes behind it is not part of it
    assert 0 < process.drain(Memory()).duration <= seen - began


def test_stdin_is_empty_or_ours():
    """By default a process that reads its stdin finds the end."""
    assert Process.start(["cat"]).drain(Memory()).received == 0


def test_environment_and_folder(tmp_path):
    """Environment and folder are what was asked for."""
    process = sh("pwd; echo $COLOUR", cwd=tmp_path, env={**os.environ, "COLOUR": "blue"})
    assert text(process).split() == [str(tmp_path.resolve()), "blue"]


@pytest.mark.parametrize("own_group", [True, False])
def test_process_group(own_group):
    """A process gets a session of its own, or stays in our group in the terminal's foreground."""
    process = sh("sleep 5", own_group=own_group)
    assert (os.getpgid(process.pid) == process.pid) is own_group
    process.send_signal(signal.SIGKILL)
    assert process.drain(Memory(), grace=0).signal == "SIGKILL"


def test_signal_reaches_the_whole_group():
    """A process with its own group is signalled with its children, so that none of them holds a pipe."""
    process = sh("sleep 1000 & echo $!; sleep 1000; echo never")

    class Ending(Memory):
        def write(self, data, stream="stdout"):
            process.send_signal(signal.SIGTERM)  # when the child is there
            return super().write(data, stream)

    sink = Ending()
    outcome = process.drain(sink)
    assert (outcome.signal, outcome.held_open, sink.data["stdout"].count(b"\n")) == ("SIGTERM", (), 1)


def test_signal_to_one_that_has_ended():
    """A signal that comes too late does nothing."""
    process = Process.start(["true"])
    process.drain(Memory())
    process.send_signal(signal.SIGKILL)
    assert (process.outcome().exit_code, process.outcome().signal) == (0, None)


def test_no_descriptor_is_left():
    """After draining, every pipe is closed, also where an heir still holds its other end."""
    before = set(Path("/dev/fd").iterdir())
    process = sh("sleep 5 & echo hi")
    process.drain(Memory(), grace=0)
    process.close()
    del process
    assert len(set(Path("/dev/fd").iterdir())) == len(before)


@pytest.mark.long
def test_starting_imports_nothing_heavy():
    """To start a process, neither the store nor anything that it needs is imported."""
    heavy = {"spillstore", "sqlite3", "zstandard", "sqlalchemy", "alembic", "click", "platformdirs", "rich"}
    script = (
        "import sys\nfrom spillstore_tools.process.output_reader import Process\nprocess = Process.start(['true'])\n"
        f"print(sorted({heavy!r} & set(sys.modules)))\nprocess.close()"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out == "[]\n"
