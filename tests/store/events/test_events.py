"""What happened to an artifact."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError, InvalidSettingError
from spillstore.info import Origin


def test_the_history_of_an_artifact_comes_newest_first(session):
    """Creation, seal and what a tool records are told with their time, actor and tool call."""
    artifact = session.put(b"x", tool_call_id="call_1")
    session.put(b"another")
    artifact.record("preview", {"profile": "omni", "omitted": [[1, 2]]})
    events = artifact.events()
    assert ["preview", "seal", "create"] == [event.kind for event in events]
    assert {"profile": "omni", "omitted": [[1, 2]]} == events[0].detail
    assert "call_1" == events[1].tool_call_id
    assert sorted((event.at for event in events), reverse=True) == [event.at for event in events]


def test_a_kind_and_a_limit_choose_among_events(session):
    """Only events of the kind come, and no more than the limit."""
    artifact = session.put(b"x")
    for number in range(5):
        artifact.record("looked", {"number": number})
    assert [4, 3] == [event.detail["number"] for event in artifact.events("looked", limit=2)]
    assert [] == artifact.events("never")


def test_who_only_reads_is_recorded(plain_store):
    """An event reaches the file through a session that was opened for reading, too."""
    with plain_store.session("test") as session:
        artifact = session.put(b"x")
    with Store(plain_store.address).session("test", read_only=True) as session:
        session.artifact(artifact.id).record("looked", {})
        assert ["looked", "seal", "create"] == [
            event.kind for event in session.artifact(artifact.id).events()
        ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_nothing_is_recorded_where_nothing_can_be_written(plain_store):
    """Reading a session whose file may not be written goes on without a record."""
    with plain_store.session("test") as session:
        artifact = session.put(b"x")
        path = session._engine.store.path
    path.chmod(0o400)
    with Store(plain_store.address).session("test", read_only=True) as session:
        session.artifact(artifact.id).record("looked", {})
        assert ["seal", "create"] == [event.kind for event in session.artifact(artifact.id).events()]
    path.chmod(0o600)


@pytest.mark.files
def test_a_file_that_somebody_sent_is_left_as_it_is(plain_store, tmp_path):
    """``open_file`` leaves no trace in the file."""
    with plain_store.session("test") as session:
        artifact = session.put(b"x")
        path = session._engine.store.path
    copy = Path(shutil.copy(path, tmp_path / "sent.db"))
    before = copy.read_bytes()
    with Store.open_file(copy) as session:
        session.artifact(artifact.id).record("looked", {})
    assert before == copy.read_bytes()
    assert [copy.name] == [path.name for path in tmp_path.glob("sent.db*")]


def test_the_history_of_a_deleted_artifact_is_not_told(session):
    """After ``delete`` there is no such artifact to ask."""
    artifact = session.put(b"x")
    artifact.delete()
    with pytest.raises(ArtifactNotFoundError):
        session.artifact(artifact.id).events()


@pytest.mark.files
def test_events_of_one_artifact_are_found_by_an_index(plain_store):
    """The cost does not grow with the history of others."""
    session = plain_store.session("test")
    artifact = session.put(b"x")
    with artifact._core.reader() as connection:
        from spillstore.engine.sqlite import sql

        key = {"session_key": 1, "artifact_id": artifact.id, "kind": None, "limit": 5}
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql.EVENTS_OF_ARTIFACT}", key).fetchall()
    assert "ix_event_artifact" in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def test_events_of_a_session_are_chosen_and_paged(session, clock):
    """Kind, artifact, actor and time choose; walking the cursors gives every event once, the newest first."""
    artifacts = []
    for number in range(3):
        artifacts.append(session.put(b"%d" % number))
        clock.advance(10)
    artifacts[1].record("looked", {"n": 1})
    every = session.events(limit=1000).items
    assert 7 == len(every)
    assert ["looked", "seal", "create"] == [event.kind for event in every[:3]]
    assert [event.at for event in every] == sorted((event.at for event in every), reverse=True)
    found, cursor = [], None
    while True:
        page = session.events(limit=2, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert every == found
    assert [event for event in every if event.kind == "seal"] == session.events(kind="seal").items
    mine = session.events(artifact_id=artifacts[1].id).items
    assert ["looked", "seal", "create"] == [event.kind for event in mine]
    begin = artifacts[1].info.created
    assert {artifacts[1].id, artifacts[2].id} == {event.artifact_id for event in session.events(since=begin)}
    assert {artifacts[0].id} == {event.artifact_id for event in session.events(until=begin)}
    assert 7 == len(session.events(actor=every[0].actor))
    assert 0 == len(session.events(actor="nobody"))


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": True}, {"cursor": "x"}, {"cursor": 5}])
def test_a_page_of_events_that_means_nothing_is_refused(session, wrong):
    """A limit below one and what is no cursor are named in the error."""
    with pytest.raises(InvalidSettingError, match=r"limit must be|is no cursor"):
        session.events(**wrong)


@pytest.mark.files
def test_events_of_a_time_are_found_by_an_index(plain_store):
    """A page of events is one walk of the index of times, without sorting."""
    from spillstore.engine.sqlite import sql

    names = (
        "session_key", "since_us", "before_us", "before_key", "kind", "actor", "artifact_id", "tool_call_id", "limit",
    )  # fmt: skip
    with plain_store.session("test") as session, session._engine.reader() as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql.EVENTS_PAGE}", dict.fromkeys(names, 1)).fetchall()
    assert "ix_event_at" in str(plan)
    assert "TEMP B-TREE" not in str(plan)


def test_the_same_bytes_are_found_again(session):
    """``origin`` names the oldest other artifact that holds the same bytes, whatever else they have in common."""
    first = session.put(b"same\n", source="a")
    other = session.put(b"other\n")
    second = session.put(b"same\n", source="b")
    third = session.put(b"same\n")
    expected = Origin(first.id, "combined", 0, 5)
    assert [expected, expected] == [second.origin(), third.origin()]
    assert second.id == first.origin().artifact_id
    assert other.origin() is None
    first.delete()
    assert second.id == third.origin().artifact_id


def test_an_artifact_that_has_lost_some_is_no_origin(plain_store):
    """What a rolled artifact has dropped cannot be had from it, so it stands for nobody."""
    data = b"".join(b"%07d\n" % n for n in range(4000))
    with plain_store.session("test") as session:
        rolled = session.put(data, limit=16_000, policy="roll")
        whole = session.put(data)
        assert rolled.info.digest == whole.info.digest
        assert whole.origin() is None
        assert whole.id == rolled.origin().artifact_id


def test_what_was_read_is_known_when_it_comes_again(session):
    """A range that was read and then stored has its place in the first artifact as origin, unless that is gone."""
    whole = session.put(b"".join(b"line %d\n" % n for n in range(100)))
    shown = b"".join(whole.reading([whole.read_bytes(21, 49)], 21, 49))
    assert whole.read_lines(4, 7) == shown
    copy = session.put(shown)
    assert Origin(whole.id, "combined", 21, 49) == copy.origin()
    assert session.put(shown + b"!").origin() is None
    whole.delete()
    assert copy.origin() is None


def test_a_reading_that_is_given_up_is_no_origin(plain_store):
    """Only what was handed on to its end is recorded."""
    with plain_store.session("test") as session:
        whole = session.put(b"one\ntwo\n")
        reading = whole.reading(iter([b"one\n", b"two\n"]), 0, 8)
        next(reading)
        reading.close()
        assert [] == whole.events("read")


def test_a_signature_is_of_one_session_and_one_text(store):
    """The same bytes have the same signature in one session, another one in another, and so has another text."""
    one, two = store.session("one"), store.session("two")
    assert one.sign(b"text") == one.sign(b"text")
    assert 11 == len(one.sign(b"text"))
    assert 4 == len({one.sign(b"text"), two.sign(b"text"), one.sign(b"Text"), one.sign(b"")})
