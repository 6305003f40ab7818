"""How often a client asks a server and waits: over a network that is what takes time."""

from __future__ import annotations

import pytest
from support import NO_FLOORS
from wire import Wire

from spillstore import Store

pytest.importorskip("psycopg")
from spillstore.engine.postgres import archive, rows

LINE = b"a line of what some tool has printed\n"


@pytest.fixture
def wire(server_url):
    """A wire on which a store has settled: connected, the first session made, the statements not prepared anew."""
    with Wire(server_url) as wire:
        store = Store(wire.url, **NO_FLOORS)
        with store.session("warm") as session:
            session.put(LINE)
        wire.store = store
        yield wire


def trips(wire, do):
    before = wire.trips
    result = do()
    return wire.trips - before, result


def test_a_session_is_made_and_opened(wire):
    """Making takes four; opening one that is there takes three."""
    count, session = trips(wire, lambda: wire.store.session("new"))
    assert count <= 4
    session.close()
    assert trips(wire, lambda: wire.store.session("new").close())[0] <= 4  # one gives the claim up


def test_an_artifact_is_stored(wire):
    """Five from the first byte to sealed, however it is cut; a commit of less than 32 chunks takes two."""
    with wire.store.session("s") as session:
        session.put(LINE)
        assert trips(wire, lambda: session.put(LINE * 10))[0] <= 5

        def spill():
            with session.create(source="bash") as writer:
                for _ in range(13):
                    writer.write(LINE * 210)

        assert trips(wire, spill)[0] <= 6
        with session.create(source="bash") as writer:
            writer.write(LINE * 1000)
            writer.flush()
            writer.write(LINE * 1000)
            assert trips(wire, writer.flush)[0] <= 2


def test_reads(wire):
    """A range of bytes takes one, lines and the last lines two at most, looking an artifact up one.

    A listing takes one; that it ends its snapshot nobody waits for, and it counts as one here.
    """
    with wire.store.session("s") as session:
        artifact_id = session.put(LINE * 100_000).id
        for number in range(100):
            session.put(LINE, source=f"{number}")
    with wire.store.session("s", read_only=True) as session:
        session.artifact(artifact_id)
        count, artifact = trips(wire, lambda: session.artifact(artifact_id))
        assert count == 1
        for number in range(1, 4):
            at = 1_000_000 * number
            assert trips(wire, lambda at=at: artifact.read_bytes(at, at + 65536))[0] == 1
            assert trips(wire, lambda n=number: artifact.read_lines(20_000 * n, 20_000 * n + 99))[0] <= 2
        assert trips(wire, lambda: artifact.tail(50))[0] <= 2
        assert trips(wire, lambda: session.artifacts(limit=100))[0] <= 2


def test_a_deletion(wire):
    """Of an open session, with all its rows in steps: as many for a large one as for a small one."""
    counts = []
    store = Store(
        f"{wire.url}&prepare=off", **NO_FLOORS
    )  # preparing what is asked often takes trips of its own
    for name, size in (("small", 1), ("large", 100_000)):
        with store.session(name) as session:
            session.put(LINE * size)
            session.events()  # which writes what waits
            counts.append(trips(wire, session.delete)[0])
    assert counts[0] == counts[1] <= 16


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_digests_are_asked_for_many_at_a_time(wire, monkeypatch, count):
    """All of them, in order, however many there are; one trip where they are fewer than that."""
    monkeypatch.setattr(rows, "_DIGESTS", 3)
    with wire.store.session("s") as session:
        artifact_id = session.put(b"x" * (count * 65536)).id
        with session._engine.reader() as found:
            key = session._engine.artifact_row(found, artifact_id).artifact_key
            asked, digests = trips(wire, lambda: list(found.chunk_digests(key)))
    assert list(range(count)) == [seq for seq, _ in digests]
    assert count // 3 + 1 == asked


def test_kept_events_are_asked_for_many_sessions_at_a_time(wire, monkeypatch):
    """One trip for the sessions and one for so many of them; the same page, however many that are."""
    store = Store(f"{wire.url}&prepare=off", audit_keep=True, **NO_FLOORS)
    for _ in range(5):
        with store.session("s") as session:
            session.put(LINE)
            session.delete()
    count, whole = trips(wire, lambda: list(store.deleted_events("s")))
    assert 2 == count
    assert 5 == sum(event.kind == "delete_session" for event in whole)
    for size in (1, 2, 5):
        monkeypatch.setattr(archive, "_AT_ONCE", size)
        count, page = trips(wire, lambda: store.deleted_events("s", limit=7))
        assert (1 + -(-5 // size), whole[:7]) == (count, list(page))
        assert whole[7:] == list(store.deleted_events("s", cursor=page.cursor))
