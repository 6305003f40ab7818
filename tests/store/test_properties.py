"""The store against plain bytes: any writes, any chunk size, any range, on every kind of artifact."""

from __future__ import annotations

import dataclasses
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model import Sequence, interleave
from support import NO_FLOORS, ManualClock

from spillstore import Store
from spillstore.exceptions import DroppedRangeError
from spillstore.info import Position

VIEWS = ("combined", "stdout", "stderr")
HOLD_US = 50_000

pieces = st.one_of(
    st.lists(
        st.sampled_from(
            [b"a", b"bc", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", "\u00e9".encode(), "\u4e16".encode()]
        ),
        max_size=12,
    ).map(b"".join),
    st.binary(max_size=40),
)
scripts = st.lists(
    st.tuples(st.integers(0, 120), st.sampled_from(["stdout", "stdout", "stderr"]), pieces, st.booleans()),
    max_size=14,
)
chunk_sizes = st.sampled_from([1, 2, 3, 7, 16, 64, 65536])


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """One session for all examples of this module; checked at the end."""
    clock = ManualClock()
    store = Store(tmp_path_factory.mktemp("properties"), clock=clock, redact=False, **NO_FLOORS)
    with store.session("properties") as session:
        yield session, clock
        session.check()


@dataclasses.dataclass
class Written:
    """An artifact, the model of what was written to it, and its writer if it is still open."""

    artifact: object
    model: Sequence
    writer: object


def perform(session, clock, script, chunk_size, *, seal=True, **options) -> Written:
    """Write a script: (pause in ms, stream, data, flush) each; and the model beside it."""
    start, events = clock.now, []
    with mock.patch("spillstore.session.new_artifact.CHUNK_SIZE", chunk_size):
        writer = session.create(**options)
    for pause, stream, data, flush in script:
        clock.advance(pause / 1000)
        now = int((clock.now - start) * 1e6)
        writer.write(data, stream=stream)
        events.append(("write", now, stream, data))
        if flush:
            writer.flush()
            events.append(("flush", now))
    if seal:
        writer.close()
    else:
        writer.flush()
    return Written(session.artifact(writer.id), Sequence(interleave(events, HOLD_US)), writer)


def agree_on_everything(written: Written, data) -> None:
    """Every view equals the model, and so does any range of lines, bytes and seconds of it."""
    artifact, model = written.artifact, written.model
    info = artifact.info
    for view in VIEWS:
        whole, lines = model.view(view), model.lines(view)
        told = info.view(view)
        size, count = told.size, told.lines
        assert (len(whole), len(lines)) == (size, count)
        assert (
            whole
            == artifact.read_bytes(0, len(whole) + 5, stream=view)
            == b"".join(artifact.chunks(stream=view))
        )
        start = data.draw(st.integers(0, len(whole) + 2))
        end = data.draw(st.integers(start, len(whole) + 4))
        assert whole[start:end] == artifact.read_bytes(start, end, stream=view)
        assert whole[start:end] == b"".join(artifact.chunks(start, end, stream=view))
        first = data.draw(st.integers(1, len(lines) + 2))
        last = data.draw(st.integers(first, len(lines) + 3))
        assert b"".join(lines[first - 1 : last]) == artifact.read_lines(first, last, stream=view)
        tail = data.draw(st.integers(0, len(lines) + 2))
        assert b"".join(lines[max(0, len(lines) - tail) :]) == artifact.tail(tail, stream=view)
        low, high = sorted(data.draw(st.tuples(st.integers(0, 2_000_000), st.integers(0, 2_000_000))))
        assert model.between(low, high, view) == artifact.read_time(low / 1e6, high / 1e6, stream=view)
        assert model.between(low, high, view) == b"".join(
            each.data
            for each in artifact.segments()
            if view in {"combined", each.stream} and low <= round(each.time * 1e6) < high
        )
        segments = list(artifact.segments(start, end, stream=view))
        assert whole[start:end] == b"".join(each.data for each in segments)
        for each in segments:
            for name, at in (("combined", each.byte), (each.stream, each.stream_byte)):
                assert each.data == artifact.read_bytes(at, at + len(each.data), stream=name)
        number = data.draw(st.integers(1, len(lines) + 2))
        begin = len(b"".join(lines[: number - 1]))
        assert artifact.locate(line=number, stream=view) == Position(begin, whole[:begin].count(b"\n") + 1)
        assert artifact.locate(byte=start, stream=view) == Position(
            min(start, len(whole)), whole[:start].count(b"\n") + 1
        )
        moment = data.draw(st.integers(0, 2_000_000))
        came = len(model.between(0, moment, view))
        assert artifact.locate(time=moment / 1e6, stream=view) == Position(
            came, whole[:came].count(b"\n") + 1
        )
        with artifact.open(stream=view) as file:
            file.seek(start)
            assert whole[start:end] == file.read(end - start)


@given(scripts, chunk_sizes, st.data())
def test_a_sealed_artifact_is_what_was_written(world, script, chunk_size, data):
    """Sealed: all views and any range of them equal the same slices of plain bytes."""
    written = perform(*world, script, chunk_size)
    assert "sealed" == written.artifact.info.state
    agree_on_everything(written, data)
    written.artifact.verify()


@given(scripts, chunk_sizes, st.data())
def test_a_running_artifact_reads_like_a_sealed_one(world, script, chunk_size, data):
    """Running: what is flushed reads the same before the seal and after it."""
    written = perform(*world, script, chunk_size, seal=False)
    assert "open" == written.artifact.info.state
    agree_on_everything(written, data)
    written.writer.close()
    agree_on_everything(written, data)


@given(scripts, chunk_sizes, st.data())
def test_an_interrupted_artifact_keeps_all_it_got(world, script, chunk_size, data):
    """Interrupted: everything written before stays, and reads the same."""
    written = perform(*world, script, chunk_size, seal=False)
    written.writer.abort("a test")
    assert ("interrupted", "a test") == (written.artifact.info.state, written.artifact.info.reason)
    agree_on_everything(written, data)


@given(scripts, st.integers(8, 200), st.data())
def test_a_rolled_artifact_reports_its_hole_exactly(world, script, limit, data):
    """Rolled: what is there equals the model; what is not is refused or left out, never made up."""
    written = perform(*world, script * 3, 65536, policy="roll", limit=limit)
    artifact, model = written.artifact, written.model
    info = artifact.info
    whole = model.view("combined")
    assert (len(whole), min(info.kept, limit)) == (info.size, info.kept)
    artifact.verify()
    if info.hole is None:
        assert len(whole) <= limit
        agree_on_everything(written, data)
        return
    hole_of = {"combined": (info.hole.start, info.hole.end)}
    before, inside = (
        Sequence(cut(model.runs, 0, info.hole.start)),
        Sequence(cut(model.runs, 0, info.hole.end)),
    )
    for view in ("stdout", "stderr"):
        hole_of[view] = len(before.view(view)), len(inside.view(view))
    assert len(whole) - (info.hole.end - info.hole.start) == info.kept
    assert info.hole.start <= limit // 4
    for view in VIEWS:
        check_holed_view(artifact, model, view, *hole_of[view], data)


def cut(runs, start, end):
    """The runs of a byte range."""
    out, at = [], 0
    for run in runs:
        low, high = max(start - at, 0), min(end - at, len(run.data))
        if low < high:
            out.append(dataclasses.replace(run, data=run.data[low:high]))
        at += len(run.data)
    return out


def check_holed_view(artifact, model, view, hole_start, hole_end, data) -> None:
    """Byte and line ranges of one view of a rolled artifact."""
    whole, lines = model.view(view), model.lines(view)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    kept = whole[start : max(start, min(end, hole_start))] + whole[max(start, hole_end) : end]
    assert kept == artifact.read_bytes(start, end, stream=view, holes="skip")
    assert kept == b"".join(artifact.chunks(start, end, stream=view, holes="skip"))
    touches = start < hole_end and end > hole_start and start < end and hole_start < hole_end
    if touches:
        with pytest.raises(DroppedRangeError) as caught:
            artifact.read_bytes(start, end, stream=view)
        assert (hole_start, hole_end) == caught.value.dropped_bytes
        with pytest.raises(DroppedRangeError):
            b"".join(artifact.chunks(start, end, stream=view))
    else:
        assert whole[start:end] == artifact.read_bytes(start, end, stream=view)
    first = data.draw(st.integers(1, len(lines) + 1))
    last = data.draw(st.integers(first, len(lines) + 1))
    low = sum(map(len, lines[: first - 1]))
    high = sum(map(len, lines[:last]))
    kept = whole[low : max(low, min(high, hole_start))] + whole[max(low, hole_end) : high]
    assert kept == artifact.read_lines(first, last, stream=view, holes="skip")
    if low < hole_end and high > hole_start and low < high and hole_start < hole_end:
        with pytest.raises(DroppedRangeError) as caught:
            artifact.read_lines(first, last, stream=view)
        gone_first, gone_last = caught.value.dropped_lines
        assert gone_first == 1 + whole[:hole_start].count(b"\n")
        ends_whole = whole[hole_end - 1 : hole_end] == b"\n"
        assert gone_last == whole[:hole_end].count(b"\n") + (0 if ends_whole else 1)
    else:
        assert whole[low:high] == artifact.read_lines(first, last, stream=view)
    with pytest.raises(DroppedRangeError) if hole_start < hole_end else nothing():
        assert whole == artifact.read_bytes(0, len(whole), stream=view)


class nothing:  # noqa: N801  # stands where pytest.raises would
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


@given(scripts, st.integers(1, 60), chunk_sizes, st.data())
def test_a_stopped_artifact_keeps_exactly_its_beginning(world, script, limit, chunk_size, data):
    """Stop: the first ``limit`` bytes of the sequence stay, and ``received`` still counts everything."""
    written = perform(*world, script, chunk_size, policy="stop", limit=limit)
    received = sum(len(step[2]) for step in script)
    assert received == written.artifact.info.received
    agree_on_everything(Written(written.artifact, Sequence(cut(written.model.runs, 0, limit)), None), data)
    written.artifact.verify()
