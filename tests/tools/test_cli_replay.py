"""``spillstore replay``: what a command printed, in its own time."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from conftest import PROGRAM

SCRIPT = (
    "import sys, time\n"
    "for n in range(6):\n"
    "    print('out', n, flush=True)\n"
    "    time.sleep(0.1)\n"
    "    print('err', n, file=sys.stderr, flush=True)\n"
    "    time.sleep(0.1)\n"
)


@pytest.fixture
def recorded(cli):
    """A command that took a little over a second."""
    cli("run", "--", sys.executable, "-c", SCRIPT)


def test_both_streams_come_back_apart(program, recorded):
    """Each stream to its own, to the byte."""
    answer = program("replay", "@last", "--speed", "inf")
    assert answer.out == b"".join(b"out %d\n" % n for n in range(6))
    assert answer.err == "".join(f"err {n}\n" for n in range(6))
    assert answer.code == 0


def test_the_timing_is_the_command_s(recorded, root):
    """Both streams arrive in turn, spread over the command's time, or over a part of it."""
    took = []
    for arguments in ((), ("--speed", "5")):
        command = [*PROGRAM, "replay", "@last", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            arrived = [(line, time.monotonic()) for line in process.stdout]
        assert [line for line, _ in arrived] == [
            line for n in range(6) for line in (b"out %d\n" % n, b"err %d\n" % n)
        ]
        took.append(arrived[-1][1] - arrived[0][1])
    assert took[0] >= 1.0
    assert 0.2 <= took[1] < took[0]


def test_silence_can_be_cut_short(cli, recorded):
    """No pause is longer than what is asked for."""
    took = []
    for arguments in ((), ("--max-wait", "0.01")):
        started = time.monotonic()
        cli("replay", "@last", *arguments)
        took.append(time.monotonic() - started)
    assert took[1] < took[0]


@pytest.mark.parametrize("speed", ["0", "-1", "fast"])
def test_a_speed_that_is_none(cli, recorded, speed):
    """A wrong speed is told."""
    answer = cli("replay", "@last", "--speed", speed)
    assert answer.code == 2
    assert "--speed" in answer.err


def test_what_was_dropped(cli, rolled):
    """A hole is refused, or left out and told of."""
    refused = cli("replay", rolled, "--speed", "inf")
    assert (refused.code, refused.out) == (125, b"")
    told = cli("replay", rolled, "--speed", "inf", "--skip-holes")
    assert told.out.startswith(b"line 0000001\n")
    assert told.out.endswith(b"line 0001000\n")
    assert "missing here" in told.err


def test_binary_output_and_none_at_all(program):
    """Bytes are bytes; nothing is nothing."""
    program("run", "--", "printf", r"\000\377\033[31m")
    assert program("replay", "@last").out == b"\0\xff\x1b[31m"
    program("run", "--", "true")
    assert program("replay", "@last").out == b""


def test_pieces_as_json(cli, recorded, store):
    """Each with its time and stream; text where it is text."""
    pieces = [json.loads(line) for line in cli("replay", "@last", "--json").text.splitlines()]
    assert [(each["stream"], each["text"]) for each in pieces] == [
        each for n in range(6) for each in (("stdout", f"out {n}\n"), ("stderr", f"err {n}\n"))
    ]
    times = [each["time"] for each in pieces]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.9
    cli("run", "--", "printf", r"\377")
    assert json.loads(cli("replay", "@last", "--json").text)["base64"] == "/w=="
