"""Reading ahead: the same bytes as a piece at a time, whatever happens to reader, session and file meanwhile."""

from __future__ import annotations

import threading

import pytest
from support import damage

from spillstore.exceptions import ClosedError, DroppedRangeError, IntegrityError, SpillstoreError
from spillstore.read.prefetch import DEPTH, prefetch
from spillstore.runtime import workers

MIB = 1024 * 1024
DATA = b"".join(b"%09d and some more text of line\n" % number for number in range(250_000))


@pytest.fixture
def session(plain_store):
    with plain_store.session("ahead") as session:
        yield session


@pytest.mark.parametrize(
    ("start", "end"), [(0, None), (1, None), (65_535, 9_000_001), (3 * MIB + 17, None), (0, 4 * MIB + 1)]
)
def test_a_long_read_gives_every_byte_once(session, start, end):
    """Blocks joined are the range that was asked for, in order, wherever it begins and ends."""
    artifact = session.put(DATA)
    blocks = list(artifact.chunks(start, end))
    assert DATA[start:end] == b"".join(blocks)
    assert max(map(len, blocks)) <= 65_536
    assert all(blocks)


def test_streams_apart_and_together(session):
    """Each view of an artifact with two streams is read whole."""
    with session.create(newline="lf") as writer:
        for at in range(0, len(DATA), 100_000):
            writer.write(DATA[at : at + 100_000], stream="stderr" if at // 100_000 % 3 else "stdout")
    artifact = session.artifact(writer.id)
    parts = {"stdout": b"", "stderr": b""}
    for segment in artifact.segments():
        parts[segment.stream] += segment.data
    assert parts["stdout"] == b"".join(artifact.chunks(stream="stdout"))
    assert parts["stderr"] == b"".join(artifact.chunks(stream="stderr"))
    assert artifact.info.size == sum(map(len, artifact.chunks()))


@pytest.mark.parametrize("limit", [5 * MIB, 5 * MIB + 12_345, 300_000])
def test_a_hole_is_skipped_or_told(session, limit):
    """What a rolled artifact has kept comes whole; without leave to skip, the hole is an error where it stands."""
    artifact = session.put(DATA, limit=limit, policy="roll")
    hole = artifact.info.hole
    assert DATA[: hole.start] + DATA[hole.end :] == b"".join(artifact.chunks(holes="skip"))
    read = b""
    with pytest.raises(DroppedRangeError):
        for block in artifact.chunks():
            read += block
    assert DATA[: len(read)] == read


def test_damage_is_an_error_where_it_is(session):
    """Blocks before a damaged chunk come, that one never does."""
    artifact = session.put(DATA)
    damage(session, "UPDATE chunk SET data = ? WHERE seq = 100", bytes(50))
    read = b""
    with pytest.raises(IntegrityError, match="chunk 100 "):
        for block in artifact.chunks():
            read += block
    assert DATA[: 96 * 65_536] == read[: 96 * 65_536]
    assert len(read) <= 100 * 65_536
    artifact.delete()


def test_a_reader_that_goes_away_leaves_nothing_under_way(monkeypatch):
    """After an iterator is closed no piece is begun any more, though workers come to those that were wanted soon."""
    made, submitted = [], []
    monkeypatch.setattr(workers, "submit", submitted.append)  # as if every worker were busy
    pieces = prefetch(
        (lambda number=number: made.append(number) or number for number in range(100)), lambda: None
    )
    assert [0, 1, 2] == [next(pieces) for _ in range(3)]
    pieces.close()
    assert len(submitted) == 3 + DEPTH
    for job in submitted:
        job()
    assert [0, 1, 2] == made


def test_a_closed_session_ends_the_reading(plain_store):
    """Who goes on after the session was closed is told so."""
    session = plain_store.session("ahead")
    blocks = session.put(DATA).chunks()
    for _ in range(40):
        next(blocks)
    session.close()
    with pytest.raises(ClosedError):
        list(blocks)


def test_many_readers_at_once_beside_a_writer(session):
    """Ten threads that read the same artifact while another one is written all see the same bytes."""
    artifact = session.put(DATA)
    wrong = []

    def read():
        try:
            if b"".join(artifact.chunks()) != DATA:
                wrong.append("bytes")
        except SpillstoreError as error:
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(10)]
    for thread in threads:
        thread.start()
    assert DATA == b"".join(session.put(DATA * 2).chunks())[: len(DATA)]
    for thread in threads:
        thread.join()
    assert not wrong


def workers_are_done():
    """All that was handed to the workers before is done."""
    barrier = threading.Barrier(workers.COUNT + 1)
    for _ in range(workers.COUNT):  # each takes one, when it has done all else
        workers.submit(barrier.wait)
    barrier.wait(120)


def test_no_more_is_made_than_is_wanted_soon():
    """At most ``DEPTH`` pieces are made beyond the one that is used, and they come in order."""
    made = []

    def maker(number):
        return lambda: made.append(number) or number

    pieces = prefetch(map(maker, range(100)), lambda: None)
    assert [0, 1, 2] == [next(pieces) for _ in range(3)]
    assert max(made) <= 2 + DEPTH
    pieces.close()
    workers_are_done()
    assert len(made) <= 3 + DEPTH
    assert list(range(50)) == list(prefetch(map(maker, range(50)), lambda: None))


def test_an_error_comes_at_its_place():
    """What a maker raises is raised where its piece is wanted, after those before it."""

    def fail():
        raise ValueError("third")

    pieces = prefetch([lambda: 1, lambda: 2, fail, lambda: 4], lambda: None)
    assert [1, 2] == [next(pieces), next(pieces)]
    with pytest.raises(ValueError, match="third"):
        next(pieces)
