"""What happened to an artifact."""

from __future__ import annotations

import pytest

from spillstore import Store
from spillstore.exceptions import ArtifactNotFoundError


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


def test_a_session_opened_for_reading_records_nothing(plain_store):
    """Reading leaves no trace in a session that may not be written."""
    with plain_store.session("test") as session:
        artifact = session.put(b"x")
    with Store(plain_store.root).session("test", read_only=True) as session:
        session.artifact(artifact.id).record("looked", {})
        assert ["seal", "create"] == [event.kind for event in session.artifact(artifact.id).events()]


def test_the_history_of_a_deleted_artifact_is_not_told(session):
    """After ``delete`` there is no such artifact to ask."""
    artifact = session.put(b"x")
    artifact.delete()
    with pytest.raises(ArtifactNotFoundError):
        session.artifact(artifact.id).events()


def test_events_of_one_artifact_are_found_by_an_index(plain_store):
    """The cost does not grow with the history of others."""
    session = plain_store.session("test")
    artifact = session.put(b"x")
    with artifact._engine.reader() as connection:
        from spillstore import _sql

        key = {"session_key": 1, "artifact_id": artifact.id, "kind": None, "limit": 5}
        plan = connection.execute(f"EXPLAIN QUERY PLAN {_sql.EVENTS_OF_ARTIFACT}", key).fetchall()
    assert "ix_event_artifact" in str(plan)
    assert "TEMP B-TREE" not in str(plan)
