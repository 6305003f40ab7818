"""The engine of dictionaries answers as SQLite does, row by row: what is in a range, before a line, a time or a byte, and what it takes."""

# ruff: noqa: B023 - what is asked is asked at once

from __future__ import annotations

import random

import pytest
from support import NO_FLOORS, ManualClock

from spillstore import Store

END = 2**62


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The rows of the same session in a folder and in dictionaries: three artifacts, one of them rolled, all of both streams."""
    opened = []
    for root in (tmp_path_factory.mktemp("rows") / "root", "dict:rows-compared"):
        drawn, clock = random.Random(5), ManualClock()
        session = Store(root, clock=clock, **NO_FLOORS).session("test")
        for number in range(3):
            with session.create(
                source=f"tool {number}",
                policy="roll",
                limit=(40_000, 4_000, 800)[number],
                tool_call_id=f"call-{number % 2}",
                redact=False,
            ) as writer:
                for line in range(120):
                    clock.advance(0.02)
                    data = b"%d " % line + b"x" * drawn.randrange(60) + b"\n" * (line % 7 != 3)
                    writer.write(data, stream=("stdout", "stderr")[line % 4 == 1])
                    writer.flush()
        names = [info.id for info in sorted(session.artifacts(), key=lambda each: each.info.source)]
        opened.append((session, names))
    yield opened
    for session, _ in opened:
        session.close()


def asked(both, ask):
    """What both engines answer; the names of artifacts, which are drawn, are told by their order."""
    answers = []
    for session, names in both:
        with session._engine.snapshot("comparing") as rows:
            answers.append(ask(rows, names))
    return answers


def same(both, ask):
    one, two = asked(both, ask)
    assert one == two
    return one


def taken(rows):
    """Rows of chunks without what depends on the artifact's name."""
    try:
        return [(*row[:14], *row[15:17]) for row in rows]
    finally:
        rows.close()


def place(row):
    return None if row is None else row[:14]


@pytest.mark.parametrize("key", [1, 2, 3, 4])
@pytest.mark.parametrize("stream", [None, 0, 1])
def test_chunks_in_a_range(both, key, stream):
    """Behind a position and up to another one, in order, and no more than are wanted."""
    ends = [-1, 0, 1, 5, 40, 99, 100, 101, 499, 500, 1000, 2999, END]
    counted = 0
    for after in ends:
        for last in ends:
            for limit in (1, 2, 100):
                counted += len(
                    same(both, lambda rows, _: taken(rows.chunks(key, stream, after, last, limit)))
                )
    assert counted or key == 4


@pytest.mark.parametrize("key", [1, 2, 3, 4])
def test_chunks_before_a_line_a_time_and_a_byte(both, key):
    """The last one that counts fewer line ends, begins before, or begins at that byte or before it; or there is none."""
    for stream in (None, 0, 1):
        for line in (0, 1, 2, 3, 10, 50, 90, 200):
            same(both, lambda rows, _: place(rows.chunk_before_line(key, stream, line)))
    for time_us in (0, 1, 19_999, 20_000, 20_001, 1_000_000, 2_380_000, 2_400_000, END):
        same(both, lambda rows, _: place(rows.chunk_before_time(key, time_us)))
    for stream in (0, 1):
        for position in (0, 1, 99, 100, 101, 500, 1000, 2000, END):
            same(both, lambda rows, _: place(rows.chunk_at_byte(key, stream, position)))
    same(both, lambda rows, _: rows.first_chunk(key))
    same(both, lambda rows, _: [seq for seq, _ in rows.chunk_digests(key)])
    for first, end in ((0, 1), (0, 3), (2, 5), (3, 3), (0, 1000)):
        same(both, lambda rows, _: rows.stored_size(key, first, end))


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_chunks_without_their_data(both, limit):
    """Of a range, in order; neither segments nor data come with them."""
    for after, last in ((-1, 0), (-1, 3), (0, 3), (3, 3), (-1, END)):
        for session, _ in both:
            with session._engine.snapshot("comparing") as rows:
                whole, found = (
                    rows.chunks(1, None, after, last, limit),
                    rows.chunk_grams(1, after, last, limit),
                )
                found = list(found)
                assert [row[:14] for row in found] == [row[:14] for row in whole]
                assert all(row[15] == row[16] == b"" for row in found)


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_artifacts_and_their_order(both, limit):
    """By key, by id, by what is to be evicted; how many were begun in a time, and what they hold."""
    for key in range(5):
        same(both, lambda rows, names: [names.index(row[1]) for row in rows.artifacts_after(key, limit)])
    same(both, lambda rows, names: [(names.index(name), bool(read)) for name, read in rows.to_evict(limit)])
    for low in range(3):
        for high in range(3):
            one, two = asked(
                both,
                lambda rows, names: [
                    names.index(each)
                    for each in rows.artifact_ids(sorted(names)[low], sorted(names)[high], limit)
                ],
            )
            assert len(one) == len(two) == min(max(high - low, 0), limit)
    start = int(ManualClock().now * 1e6)
    for since in (0, start - 1, start, start + 2_400_000, END):
        for until in (0, start, start + 2_399_999, start + 2_400_000, start + 4_800_000, END):
            same(both, lambda rows, _: rows.artifacts_created(since, until))
    same(both, lambda rows, _: rows.kept_size())


def test_events_of_all_kinds(both):
    """Behind a key, of an artifact and a kind, the newest first, and no more than are wanted."""

    def shown(rows, names):
        return [(row[0], row[2], None if row[3] is None else names.index(row[3]), row[5]) for row in rows]

    for limit in (1, 2, 100):
        for key in (-1, 0, 1, 3, 6, 100):
            same(both, lambda rows, names: shown(rows.events_after(key, limit), names))
        for number in range(3):
            for kind in (None, "create", "seal", "read"):
                same(both, lambda rows, names: shown(rows.events_of(names[number], kind, limit), names))
