"""What a command prints before there is anything that takes it."""

from __future__ import annotations

import os
import sys
import time

import pytest
from support import wait_until

from spillstore_tools.process import read_ahead as module
from spillstore_tools.process.output_reader import Process
from spillstore_tools.process.read_ahead import ReadAhead
from spillstore_tools.process.runners import start_program


class Sink(list):
    """What was written, and when it came."""

    def write(self, data, stream="stdout", *, at=None):
        self.append((stream, data, at))


@pytest.fixture
def pipes():
    """Two pipes: the ends that are read, and those that are written."""
    made = os.pipe(), os.pipe()
    yield made[0][0], made[1][0], made[0][1], made[1][1]
    for number in {*made[0], *made[1]}:
        os.close(number)


def test_the_order_of_both_streams(pipes):
    """Each piece has the time at which it came; what comes behind ``take`` waits in the pipes."""
    out, err, to_out, to_err = pipes
    began = time.monotonic()
    ahead = ReadAhead({out: "stdout", err: "stderr"})
    for number, target in enumerate([to_err, to_out, to_err, to_out]):
        os.write(target, b"%d" % number)
        wait_until(lambda number=number: len(ahead._pieces) > number)
    pieces = ahead.take()
    os.write(to_out, b"later")
    assert [("stderr", b"0"), ("stdout", b"1"), ("stderr", b"2"), ("stdout", b"3")] == [
        each[:2] for each in pieces
    ]
    times = [began, *(each.at for each in pieces), time.monotonic()]
    assert times == sorted(times)
    assert ahead.take() == []
    assert os.read(out, 100) == b"later"


def test_much_waits(pipes, monkeypatch):
    """Only so much is kept in memory."""
    monkeypatch.setattr(module, "_MOST", 10)
    out, err, to_out, to_err = pipes
    ahead = ReadAhead({out: "stdout", -1: "stderr"})
    os.write(to_out, b"x" * 20)
    wait_until(lambda: not ahead._thread.is_alive())
    os.write(to_out, b"y")
    assert [each.data for each in ahead.take()] == [b"x" * 20]
    assert os.read(out, 100) == b"y"
    assert err != to_err


def test_without_a_thread_all_of_it_waits(pipes, monkeypatch):
    """As it would without reading ahead."""

    def refuse(*_arguments, **_options):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(module.threading.Thread, "start", refuse)
    out, err, to_out, _ = pipes
    ahead = ReadAhead({out: "stdout", err: "stderr"})
    os.write(to_out, b"all")
    assert ahead.take() == []
    assert os.read(out, 100) == b"all"


def test_a_reader_gets_all_of_it_once():
    """What was read ahead, and what comes behind it; sizes count both, and the end is met again."""
    program = (
        "import os, sys; os.write(1, b'one'); os.write(2, b'two'); sys.stdin.read(); os.write(1, b'three')"
    )
    low, high = os.pipe()
    started = start_program([sys.executable, "-c", program], stdin=low, read_ahead=True)
    os.close(low)
    wait_until(lambda: len(started.ahead._pieces) == 2)
    process, sink = Process(started), Sink()
    os.close(high)
    outcome = process.drain(sink)
    assert [("stdout", b"one"), ("stderr", b"two"), ("stdout", b"three")] == [each[:2] for each in sink]
    assert [True, True, False] == [at is not None for *_, at in sink]
    assert (outcome.stdout, outcome.stderr, outcome.exit_code) == (8, 3, 0)


def test_all_was_read_ahead():
    """Of a command that has ended by then."""
    started = start_program(["sh", "-c", "echo hello"], read_ahead=True)
    wait_until(lambda: started.ahead._pieces)
    sink = Sink()
    assert Process(started).drain(sink).stdout == 6
    assert b"".join(data for _, data, _ in sink) == b"hello\n"
