"""The sequencer by itself: what is kept, what only the tap sees, what is counted, and where it goes."""

from __future__ import annotations

import pytest
from support import ManualClock

from spillstore.ingest.sequencer import Sequencer


class Upper:
    """A filter that holds back one byte and gives it at the end."""

    def __init__(self):
        self.held = b""

    def feed(self, data):
        data = (self.held + data).upper()
        self.held = data[-1:]
        return data[:-1]

    def finish(self):
        return self.held + b"!"


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def tapped():
    """What a tap has seen, by stream."""
    return {"stdout": b"", "stderr": b""}


@pytest.fixture
def tap(tapped):
    def tap(stream, data):
        tapped[stream] += data

    return tap


class Sink:
    """What would be stored: runs of a stream, bytes and microseconds."""

    def __init__(self):
        self.runs = []

    def __call__(self, stream, pieces, now):
        self.runs.append((stream, b"".join(map(bytes, pieces)), now))

    def of(self, stream):
        return b"".join(data for each, data, _ in self.runs if each == stream)


def test_what_was_kept_in_memory_is_stored_first(clock):
    """Runs that came before there was a place for them, with their times; what is held back comes when it is let through."""
    sequencer, sink = Sequencer(clock=clock, hold_us=50_000, ago=2.0), Sink()
    sequencer.write(0, b"one\n")
    clock.advance(1)
    sequencer.write(1, b"two\nhel")
    assert (2_000_000, 3_000_000) == tuple(now for *_, now in sequencer.runs)
    assert b"one\ntwo\nhel" == sequencer.beginning()
    assert 3.0 == sequencer.age
    sequencer.connect(sink)
    assert [] == sequencer.runs
    assert sequencer.holding
    sequencer.write(1, b"d\n")
    assert not sequencer.holding
    assert [(0, b"one\n", 2_000_000), (1, b"two\n", 3_000_000), (1, b"held\n", 3_000_000)] == sink.runs
    assert [4, 9] == sequencer.passed
    assert 13 == sequencer.taken


@pytest.mark.parametrize("later", [False, True])
def test_behind_a_limit_of_a_stream_only_the_tap_sees_bytes(clock, tap, tapped, later):
    """Each stream has its own room; what is behind it is counted, shown and not kept, whenever the tap came."""
    sequencer, sink = Sequencer(clock=clock, stream_limit=6), Sink()
    if not later:
        sequencer.watch(tap)
        sequencer.connect(sink)
    for stream, data in ((0, b"four"), (1, b"x" * 6), (0, b"four"), (1, b"y"), (0, b"z")):
        sequencer.write(stream, data + b"\n")
    if later:
        sequencer.watch(tap)
        sequencer.connect(sink)
    assert {"stdout": b"four\nfour\nz\n", "stderr": b"x" * 6 + b"\ny\n"} == tapped
    assert (b"four\nf", b"x" * 6) == (sink.of(0), sink.of(1))
    assert [6, 3] == sequencer.behind
    assert [12, 9] == sequencer.passed
    assert sequencer.watched


@pytest.mark.parametrize("limit", [0, 4, 5, 9, 10, 11])
def test_behind_the_limit_of_all_nothing_is_shown(clock, tap, tapped, limit):
    """The artifact was cut there, for whoever looks; without a tap no byte more is kept, either."""
    for watching in (tap, None):
        sequencer, sink = Sequencer(clock=clock), Sink()
        sequencer.write(0, b"four\n")
        sequencer.watch(watching, limit)
        sequencer.connect(sink)
        sequencer.write(1, b"more\n")
        assert b"four\nmore\n"[:limit] == sink.of(0) + sink.of(1)
        assert [0, 0] == sequencer.behind
    assert b"four\nmore\n"[:limit] == tapped["stdout"] + tapped["stderr"]


@pytest.mark.parametrize(
    ("limit", "expected"), [(None, b"a\nb\nc\n"), (3, b"a\nb"), (4, b"a\nb\n"), (5, b"a\nb\nc\n")]
)
def test_when_nothing_is_stored_any_more_the_tap_goes_on(clock, tap, tapped, limit, expected):
    """The limit was that of what is stored: one that was not met when storing ended is none; one that was stays."""
    sequencer, sink = Sequencer(clock=clock), Sink()
    sequencer.watch(tap, limit)
    sequencer.connect(sink)
    sequencer.write(0, b"a\n")
    sequencer.write(0, b"b\n")
    sequencer.disconnect()
    sequencer.write(0, b"c\n")
    assert b"a\nb\n"[:limit] == sink.of(0)
    assert expected == tapped["stdout"]
    assert [] == sequencer.runs


def test_what_was_never_stored_is_forgotten_when_nothing_is_to_be(clock, tap, tapped):
    """Runs in memory would grow for ever."""
    sequencer = Sequencer(clock=clock)
    sequencer.write(0, b"a\n")
    sequencer.disconnect()
    sequencer.write(0, b"b\n")
    assert [] == sequencer.runs
    assert b"" == sequencer.beginning()


@pytest.mark.parametrize("finish", [False, True])
def test_a_flush_lets_through_what_is_held_back(clock, finish):
    """A line without its end; what filters hold only at the end of the output, and once."""
    sequencer, sink = Sequencer(filters=(Upper(), Upper()), clock=clock), Sink()
    sequencer.connect(sink)
    sequencer.write(0, b"partial")
    sequencer.write(1, b"x")
    assert [] == sink.runs
    for _ in range(2):
        sequencer.flush(finish=finish)
        assert (b"PARTIAL!" if finish else b"PARTIA") == sink.of(0)
        assert (b"X!" if finish else b"") == sink.of(1)
    assert 8 == sequencer.taken
    assert ([8, 2] if finish else [6, 0]) == sequencer.passed


def test_silence_lets_a_line_through_at_the_moment_it_was_long_enough(clock):
    """Whenever somebody looks; how long is chosen when the output begins to be watched."""
    sequencer, sink = Sequencer(clock=clock, hold_us=50_000), Sink()
    sequencer.watch(None, hold_us=80_000)
    sequencer.connect(sink)
    sequencer.write(0, b"held")
    for seconds, expected in ((0.05, []), (0.0299, []), (0.0002, [(0, b"held", 80_000)])):
        clock.advance(seconds)
        sequencer.enter([], sequencer.now())
        assert expected == sink.runs


class Passing:
    """A redactor that finds nothing."""

    def pieces(self, data):
        return [data]

    def finish(self, data):
        return data


@pytest.mark.parametrize(("apart", "expected"), [(9_999, [0]), (10_000, [0, 10_000])])
def test_writes_that_would_get_one_time_are_redacted_as_one(clock, apart, expected):
    """Those within ten milliseconds of the first; each that comes later keeps its own time."""
    sequencer = Sequencer(clock=clock, redactors=(Passing(), Passing()))
    found = list(sequencer.filter([(0, b"one\n", 0), (0, b"two\n", apart)]))
    assert b"one\ntwo\n" == b"".join(data for _, data, _ in found)
    assert expected == [now for _, _, now in found]


def test_what_came_before_it_could_be_written_has_its_own_time(clock):
    """Neither before the beginning nor in the time to come."""
    sequencer = Sequencer(clock=clock, ago=2.0)
    now = clock.monotonic()
    for text, at in ((b"first\n", now - 9), (b"then\n", now - 1.5), (b"last\n", now + 5)):
        sequencer.write(0, text, at)
    assert [(b"first\n", 0), (b"then\n", 500_000), (b"last\n", 2_000_000)] == [
        (data, now) for _, data, now in sequencer.runs
    ]
