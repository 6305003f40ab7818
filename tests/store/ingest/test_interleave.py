"""Whole-line interleaving against a plain model."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from model import Run, interleave

from spillstore.ingest.interleaver import HOLD_BYTES, Interleaver

HOLD = 50_000
STREAMS = ("stdout", "stderr")

writes = st.lists(
    st.tuples(
        st.integers(0, 90_000),
        st.sampled_from(STREAMS),
        st.one_of(
            st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\x00"]), max_size=6).map(
                b"".join
            ),
            st.sampled_from([b"x" * (HOLD_BYTES - 1), b"x" * HOLD_BYTES, b"y" * (HOLD_BYTES + 1)]),
        ),
    ),
    max_size=12,
)


def run(events):
    runs = []
    interleaver = Interleaver(HOLD)
    now = 0
    for kind, now, *rest in events:
        if kind == "write":
            runs += interleaver.write(STREAMS.index(rest[0]), rest[1], now)
        else:
            runs += interleaver.flush(now)
    runs += interleaver.flush(now)
    assert not interleaver.holding
    return joined(runs)


def joined(runs):
    return [Run(STREAMS[stream], b"".join(pieces), time) for stream, pieces, time in runs]


@given(writes, st.sets(st.integers(0, 12)))
@example([(0, "stdout", b"part"), (49_999, "stderr", b"err\n"), (0, "stdout", b"ial\n")], set())
@example([(0, "stdout", b"part"), (50_000, "stderr", b"err\n"), (0, "stdout", b"ial\n")], set())
def test_any_writes_enter_as_the_model_says(steps, flushes):
    """Any sequence of writes and flushes enters in the same runs, order and times as in the reference model."""
    events, now = [], 0
    for index, (pause, stream, data) in enumerate(steps):
        now += pause
        events.append(("write", now, stream, data))
        if index in flushes:
            events.append(("flush", now))
    assert interleave(events, HOLD) == run(events)


@given(writes, st.lists(st.integers(0, 1_000_000), max_size=8))
def test_the_moment_of_looking_does_not_matter(steps, looks):
    """Calling ``advance`` at other times, or never, changes neither order nor times."""
    events, now = [], 0
    for pause, stream, data in steps:
        now += pause
        events.append((now, stream, data))
    runs = []
    interleaver = Interleaver(HOLD)
    for time, stream, data in sorted(
        [*events, *((look, None, b"") for look in looks)], key=lambda event: event[0]
    ):
        if stream is None:
            runs += interleaver.advance(time)
        else:
            runs += interleaver.write(STREAMS.index(stream), data, time)
    end = max([now, *looks])
    runs += interleaver.flush(end)
    assert interleave([*(("write", *event) for event in events), ("flush", end)], HOLD) == joined(runs)


def test_a_line_is_never_cut_by_the_other_stream():
    """A partial line waits for its end while the other stream's lines pass."""
    events = [
        ("write", 0, "stdout", b"downloading "),
        ("write", 10, "stderr", b"warning: slow\n"),
        ("write", 20, "stdout", b"done\n"),
    ]
    assert [run.data for run in run(events)] == [b"warning: slow\n", b"downloading done\n"]
