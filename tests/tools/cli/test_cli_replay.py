"""``spillstore replay``: what a command printed, in its own time."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import NO_FLOORS, ManualClock

from spillstore import Store
from spillstore_tools.cli.commands import replay

STEP = 0.1  # seconds from each line to the next


@pytest.fixture
def recorded(store, clock):
    """A command that took a little over a second."""
    store = Store(store.address, clock=clock, **NO_FLOORS)
    with store.session("default") as session, session.create(source="bash") as writer:
        for n in range(6):
            writer.write(b"out %d\n" % n)
            clock.advance(STEP)
            writer.write(b"err %d\n" % n, "stderr")
            clock.advance(STEP)


@pytest.fixture
def slept(monkeypatch):
    """How long it waits each time, in place of waiting."""
    clock, slept = ManualClock(0.0), []

    def sleep(seconds):
        slept.append(seconds)
        clock.advance(seconds)

    monkeypatch.setattr(replay, "time", SimpleNamespace(monotonic=clock.monotonic, sleep=sleep))
    return slept


def test_both_streams_come_back_apart(program, recorded):
    """Each stream to its own, to the byte."""
    answer = program("replay", "@last", "--speed", "inf")
    assert answer.out == b"".join(b"out %d\n" % n for n in range(6))
    assert answer.err == "".join(f"err {n}\n" for n in range(6))
    assert answer.code == 0


@pytest.mark.parametrize(
    ("arguments", "wait"),
    [
        ((), STEP),
        (("--speed", "5"), STEP / 5),
        (("--max-wait", "0.01"), 0.01),
        (("--speed", "inf"), 0.0),
        (("--speed", "1e-320"), 1e8),
    ],
)
def test_the_timing_is_the_command_s(cli, recorded, slept, arguments, wait):
    """Before each piece but the first it waits as long as the command did, or for a part of that."""
    assert cli("replay", "@last", *arguments).code == 0
    assert slept == pytest.approx([0.0] + [wait] * 11, abs=1e-5)


def test_both_streams_in_turn(program, recorded):
    """Where both go to one place they are in the order in which they came."""
    command = [sys.executable, "-m", "spillstore_tools.cli", "replay", "@last", "--max-wait", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        arrived = list(process.stdout)
    assert arrived == [line for n in range(6) for line in (b"out %d\n" % n, b"err %d\n" % n)]


@pytest.mark.parametrize("speed", ["0", "-1", "fast", "nan"])
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


def test_binary_output_and_none_at_all(cli):
    """Bytes are bytes; nothing is nothing."""
    cli("run", "--", "printf", r"\000\377\033[31m")
    assert cli("replay", "@last").out == b"\0\xff\x1b[31m"
    cli("run", "--", "true")
    assert cli("replay", "@last").out == b""


def test_pieces_as_json(cli, recorded, store):
    """Each with its time and stream; text where it is text."""
    pieces = [json.loads(line) for line in cli("replay", "@last", "--json").text.splitlines()]
    assert [(each["stream"], each["text"]) for each in pieces] == [
        each for n in range(6) for each in (("stdout", f"out {n}\n"), ("stderr", f"err {n}\n"))
    ]
    assert [each["time"] for each in pieces] == pytest.approx([STEP * n for n in range(12)], abs=1e-5)
    cli("run", "--", "printf", r"\377")
    assert json.loads(cli("replay", "@last", "--json").text)["base64"] == "/w=="
