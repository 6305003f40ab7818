"""Where the session has the same bytes already: found by two look-ups, and believed when they were read."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from support import NO_FLOORS, damage, rows_of

from spillstore import Store
from spillstore.engine.sqlite import sql as _sql
from spillstore.info import Origin

DATA = b"".join(b"line %05d\n" % number for number in range(20_000))


@pytest.fixture(params=[None, b"k" * 32], ids=["plain", "keyed"])
def store(request, root):
    return Store(root, digest_key=request.param, **NO_FLOORS)


def forge(session, artifact_id, digest, detail):
    """Write an event as who has no key can: whoever may write the rows."""
    with rows_of(session) as execute:
        [(key, newest)] = execute("SELECT min(session_key), max(event_key) FROM event")
        execute(
            "INSERT INTO event (session_key, event_key, at_us, kind, artifact_id, actor, tool_call_id, detail, shown) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(key, newest + 1, 10**15, "read", artifact_id, "model", None, detail, digest),
        )


def digest_of(artifact):
    return bytes.fromhex(artifact.info.digest.partition(":")[2])


def test_what_an_event_says_is_not_believed(store):
    """An event that says that another artifact has shown these bytes names no origin: the bytes are looked at."""
    with store.session("s") as session:
        other = session.put(bytes(reversed(DATA)))
        copy = session.put(DATA)
        detail = {"stream": "combined", "start": 0, "end": len(DATA), "outcome": "ok"}
        forge(session, other.id, digest_of(copy), json.dumps(detail))
        assert copy.origin() is None
        first = session.put(DATA)
        forge(session, first.id, digest_of(copy), json.dumps(detail))
        assert Origin(first.id, "combined", 0, len(DATA)) == copy.origin(alike=False)


@pytest.mark.parametrize(("start", "end"), [(1000, 5000), (len(DATA) - 3000, len(DATA) + 500)])
def test_what_was_read_of_the_middle_or_beyond_the_end_is_found(store, start, end):
    """The origin is the part that there was."""
    with store.session("s") as session:
        first = session.put(DATA)
        copy = session.put(DATA[start:end])
        detail = {"stream": "combined", "start": start, "end": end, "outcome": "ok"}
        forge(session, first.id, digest_of(copy), json.dumps(detail))
        assert Origin(first.id, "combined", start, min(end, len(DATA))) == copy.origin()


@pytest.mark.parametrize(
    "detail",
    [
        None,
        "[]",
        "{",
        "{}",
        '{"stream": [], "start": 0, "end": 200000}',
        '{"stream": "stdin", "start": 0, "end": 200000}',
        '{"stream": "stdout", "start": "0", "end": 200000}',
        '{"stream": "stdout", "start": -1, "end": 199999}',
        '{"stream": "stdout", "start": 5, "end": 1}',
        '{"stream": "stdout", "start": true, "end": 200000}',
        '{"stream": "stdout", "start": 0, "end": 1e9}',
    ],
)
def test_an_event_that_is_none_is_no_origin(store, detail):
    """Whatever stands in an event, asking for an origin gives none and raises nothing."""
    with store.session("s") as session:
        other, copy = session.put(DATA), session.put(DATA)
        forge(session, other.id, digest_of(copy), detail)
        assert copy.origin(alike=False) is None


def test_what_is_damaged_or_gone_is_no_origin(plain_store):
    """An artifact that has lost a chunk cannot stand for its copy; the next one that is whole does."""
    with plain_store.session("s") as session:
        damaged, whole, copy = (session.put(DATA) for _ in range(3))
        b"".join(damaged.reading([DATA], 0, len(DATA)))
        assert damaged.id == copy.origin().artifact_id
        damage(session, "DELETE FROM chunk WHERE artifact_key = 1 AND seq = 1")
        assert copy.origin(alike=False) is None
        assert whole.id == copy.origin().artifact_id
        assert [damaged.id] * 2 == [event.artifact_id for event in session.events(kind="integrity")]
        damaged.delete()


def test_an_artifact_that_is_being_written_is_no_origin(store):
    """What was read of an artifact that goes on may be dropped by it at any time, so a copy of that stays."""
    with store.session("s") as session:
        with session.create(limit=1_000_000, policy="roll", redact=False) as writer:
            writer.write(DATA)
            writer.flush()
            artifact = session.artifact(writer.id)
            b"".join(artifact.reading([DATA], 0, len(DATA)))
            copy = session.put(DATA)
            assert copy.origin() is None
        assert writer.id == copy.origin().artifact_id


def test_beginnings_of_other_outputs_are_no_origin(store):
    """Of two outputs that met their limit, or of one that did and one that just fits, nobody says that they are the same."""
    with store.session("s") as session:
        for one, other in itertools.permutations((DATA + b"one", DATA + b"another", DATA), 2):
            stopped = session.put(one, limit=len(DATA), policy="stop")
            later = session.put(other, limit=len(DATA), policy="stop")
            assert digest_of(stopped) == digest_of(later)
            assert later.origin() is None
        whole = session.put(DATA)
        assert whole.origin() is None
        assert whole.id == session.put(DATA).origin().artifact_id


ORIGIN = {
    "ARTIFACTS_OF_CONTENT": "SEARCH artifact USING INDEX ix_artifact_content (session_key=? AND content_digest=?)",
    "EVENTS_SHOWN": "SEARCH event USING INDEX ix_event_shown (session_key=? AND shown=?)",
}


@pytest.mark.files
@pytest.mark.parametrize("name", ORIGIN)
def test_an_origin_is_a_look_up(plain_store, name):
    """The planner descends the index over digests, and sorts nothing."""
    sql = getattr(_sql, name)
    with plain_store.session("s") as session, session._engine.reader() as connection:
        parameters = dict.fromkeys(re.findall(r":(\w+)", sql), 1)
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    assert ORIGIN[name] == plan[0]
    assert [] == [step for step in plan[1:] if not step.startswith(("CORRELATED", "SEARCH"))]


@pytest.mark.long
@pytest.mark.files
def test_an_origin_costs_the_same_among_many(plain_store):
    """Steps of SQLite's machine for an origin do not grow with artifacts, their copies or the events of reads."""
    counts = []
    with plain_store.session("s") as session:
        first = session.put(b"unlike the others\n")
        second = session.put(b"the same as many\n")
        for number in range(300):
            session.put(b"artifact %d\n" % number)
            session.put(b"the same as many\n")
            session.note("read", {"start": 0})
            if number not in {10, 299}:
                continue
            session.events()
            (connection,) = session._engine.store._pool._readers
            steps = 0

            def count():
                nonlocal steps
                steps += 1

            connection.set_progress_handler(count, 1)
            assert first.origin() is None
            assert second.origin().artifact_id != second.id
            connection.set_progress_handler(None, 1)
            counts.append(steps)
    few, many = counts
    assert many <= few * 1.2 + 50, counts
