"""The audit log: what is recorded of reads, who did it, when it reaches the file, and how much of it is kept."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, damage, examples, wait_until

from spillstore import Store
from spillstore.audit import audit_log, event_buffer, event_detail
from spillstore.audit.read_log import recorded
from spillstore.engine.sqlite.session_file import SessionFile
from spillstore.exceptions import (
    ArtifactNotFoundError,
    ArtifactTooLargeError,
    IntegrityError,
    InvalidSettingError,
    RangeError,
    RateLimitError,
    SessionDeletedError,
    SessionQuotaError,
)

DATA = b"".join(b"line %d\n" % number for number in range(1, 2001))


def kinds(session, **filters):
    return [event.kind for event in session.events(limit=1000, **filters)][::-1]


def in_file(session):
    """The events that the session's rows hold, whatever waits in memory."""
    return [kind for (kind,) in damage(session, "SELECT kind FROM event ORDER BY event_key")]


def test_each_read_is_an_event_with_its_range_size_and_outcome(plain_store):
    """Whatever is called, what was asked for, how much came, how long it took and what came of it are recorded once."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        artifact.read_lines(2, 3)
        artifact.read_bytes(0, 5, stream="stdout")
        artifact.read_time(0, 9.0)
        artifact.tail(lines=1)
        assert len(DATA) == sum(map(len, artifact.chunks()))
        with artifact.open() as file:
            file.read(7)
        artifact.search("line 7$")
        list(artifact.segments())
        events = session.events(artifact_id=artifact.id).items[::-1][2:]
    told = [{name: value for name, value in event.detail.items() if name != "ms"} for event in events]
    assert told == [
        {"first": 2, "last": 3, "bytes": 14, "outcome": "ok"},
        {"start": 0, "end": 5, "stream": "stdout", "bytes": 5, "outcome": "ok"},
        {"from": 0, "to": 9.0, "bytes": len(DATA), "outcome": "ok"},
        {"tail": 1, "bytes": 10, "outcome": "ok"},
        {
            "start": 0,
            "end": None,
            "stream": "combined",
            "bytes": len(DATA),
            "complete": True,
            "outcome": "ok",
        },
        {"stream": "combined", "bytes": len(DATA), "outcome": "ok"},
        {"lines": 1, "matches": 1, "complete": True, "outcome": "ok"},
        {
            "start": 0,
            "end": None,
            "stream": "combined",
            "bytes": len(DATA),
            "complete": True,
            "outcome": "ok",
        },
    ]
    assert [event.kind for event in events] == ["read"] * 6 + ["search", "read"]
    assert all(event.detail["ms"] >= 0 for event in events[:4])


def test_arguments_are_recorded_by_their_names(plain_store):
    """Given by position or by name, in whatever order, an argument is what its parameter is called in the event."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        artifact.read_lines(last=3, first=2)
        artifact.read_time(0, end=9.0)
        artifact.search(pattern="line 7$", stream="stdout")
        events = session.events(artifact_id=artifact.id).items[::-1][2:]
    fields = [{name: event.detail.get(name) for name in ("first", "last", "from", "to")} for event in events]
    assert [set(field.values()) - {None} for field in fields] == [{2, 3}, {0, 9.0}, set()]
    assert fields[0] == {"first": 2, "last": 3, "from": None, "to": None}
    assert events[2].detail["stream"] == "stdout"
    assert "pattern" not in events[2].detail


def test_a_parameter_that_there_is_not_cannot_be_recorded():
    """A method and what is recorded of it cannot come apart: that is an error when the class is made."""
    with pytest.raises(TypeError, match=r"read has no parameters .*frist"):

        @recorded("read", frist="first")
        def read(self, first):
            return b""


def test_half_surrogates_are_stored_alike(plain_store, tmp_path):
    """A tool call's id has one form in the artifact and in its events: a lone half is U+FFFD, a pair is its character."""
    given, stored = "call \ud800! \ud83d\ude00 \udcff", "call \ufffd! \U0001f600 \ufffd"
    for store in (plain_store, Store(f"dict:{tmp_path}", **NO_FLOORS)):
        with store.session("test") as session:
            artifact = session.put(DATA, tool_call_id=given, source=given)
            with session.acting(given, given):
                artifact.tail(1)
            assert (stored, stored) == (artifact.info.tool_call_id, artifact.info.source)
            assert {stored} == {event.tool_call_id for event in artifact.events()}


def test_what_is_searched_for_and_what_is_found_stand_in_no_event(plain_store):
    """A pattern may be a secret, and so may a query."""
    with plain_store.session("test") as session:
        artifact = session.put(b'{"hush": "pst"}\n')
        artifact.search("pst")
        artifact.query("$.hush")
        text = repr(session.events().items)
    assert "pst" not in text
    assert "hush" not in text


def test_a_refused_range_has_its_error_as_outcome(plain_store):
    """A range that means nothing is recorded, however odd it is."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        for first in (0, "x" * 10_000, object(), 10**30):
            with pytest.raises(RangeError):
                artifact.read_lines(first, -1)
        events = artifact.events("read")
    assert [event.detail["outcome"] for event in events] == ["RangeError"] * 4
    assert [event.detail["first"] for event in events] == [2**62, "<object>", "x" * 200, 0]


@pytest.mark.parametrize(
    ("name", "why"),
    [("../../etc/passwd", "malformed"), ("art_1_0123456789abcdef", "unknown"), (None, "malformed")],
)
def test_a_refused_id_is_an_event(plain_store, name, why):
    """An id that is malformed, unknown or another session's is recorded with the reason; asking whether it exists is not."""
    with plain_store.session("test") as session:
        assert not session.exists(name)
        with pytest.raises(ArtifactNotFoundError):
            session.artifact(name)
        (event,) = session.events(kind="denied")
    assert event.detail == {"id": str(name), "why": why}


def test_an_id_that_is_refused_is_bounded(plain_store):
    """Of a megabyte that somebody sends as an id two hundred characters are kept."""
    with plain_store.session("test") as session:
        with pytest.raises(ArtifactNotFoundError):
            session.artifact("x" * 10**6)
        (event,) = session.events(kind="denied")
    assert event.detail["id"] == "x" * 200


def test_who_acts_is_said_by_the_innermost_who_says_it(plain_store, monkeypatch):
    """``acting`` wins over the environment, that over ``otherwise``; without any of them it is the library."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)

        def read():
            artifact.tail(1)
            event = artifact.events("read", limit=1)[0]
            return event.actor, event.tool_call_id

        assert read() == ("library", None)
        with session.acting(otherwise="cli"):
            assert read() == ("cli", None)
        with session.acting("model", "call_1"):
            with session.acting(otherwise="cli"):
                assert read() == ("model", "call_1")
            with session.acting(tool_call_id="call_2"):
                assert read() == ("model", "call_2")
        monkeypatch.setenv("SPILLSTORE_ACTOR", "robot")
        with session.acting(otherwise="cli"):
            assert read() == ("robot", None)


def test_an_artifact_is_its_creators_whoever_commits_it(plain_store):
    """The seal is recorded under who began it, on whatever thread it is committed."""
    with plain_store.session("test") as session:
        with session.acting("model", "call_1"):
            writer = session.create(source="make")
        thread = threading.Thread(target=lambda: (writer.write(DATA), writer.close()))
        thread.start()
        thread.join()
        assert [("create", "model"), ("seal", "model")] == [(e.kind, e.actor) for e in session.events()][::-1]


def test_a_tools_reads_are_one_event(plain_store):
    """What is read within an action is part of it; its outcome is the error that leaves it."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        with session.action("read", "viewer") as action:
            artifact.tail(1)
            artifact.read_lines(1, 2)
            action.detail["pages"] = 2
        with pytest.raises(RangeError), session.action("read", "viewer"):
            artifact.read_lines(2, 1)
        bad, good = artifact.events("read")
    assert (good.detail["tool"], good.detail["pages"], good.detail["outcome"]) == ("viewer", 2, "ok")
    assert (bad.detail["tool"], bad.detail["outcome"]) == ("viewer", "RangeError")


def test_reads_reach_the_file_in_batches(plain_store, monkeypatch):
    """A read writes nothing; two hundred of them, the next commit, two seconds or the close bring them to the file."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        artifact.tail(1)
        assert in_file(session) == ["create", "seal"]
        session.put(b"more")
        assert in_file(session)[:3] == ["create", "seal", "create"]
        assert in_file(session).count("read") == 1
        for _ in range(audit_log.FULL):
            artifact.tail(1)
        wait_until(lambda: in_file(session).count("read") >= audit_log.FULL)
        monkeypatch.setattr(audit_log, "PERIOD", 0.05)
        session.events()
        artifact.tail(1)
        wait_until(lambda: in_file(session).count("read") >= audit_log.FULL + 2)
        assert in_file(session).count("read") == audit_log.FULL + 2
        monkeypatch.setattr(audit_log, "PERIOD", 1000.0)
        artifact.tail(1)
    assert in_file(session).count("read") == audit_log.FULL + 3


def test_who_only_reads_is_recorded_at_the_close(store):
    """A session that was opened for reading writes what was read of it when it is closed."""
    with store.session("test") as session:
        artifact_id = session.put(DATA).id
    with store.session("test", read_only=True) as session:
        session.artifact(artifact_id).tail(1)
    with store.session("test", read_only=True) as session:
        assert ["read", "seal", "create"] == [event.kind for event in session.events()]


@pytest.mark.files
def test_a_file_that_was_sent_is_not_written(plain_store, tmp_path):
    """Reading with ``open_file`` leaves the file as it is, to the byte."""
    with plain_store.session("test") as session:
        artifact_id = session.put(DATA).id
    sent = tmp_path / "sent.db"
    sent.write_bytes((plain_store.root / "_" / "test" / "session.db").read_bytes())
    before = sent.read_bytes()
    with Store.open_file(sent) as session:
        session.artifact(artifact_id).tail(1)
    assert before == sent.read_bytes()


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("full", ["create", "seal", "read", "denied", "export"]),
        ("writes", ["create", "seal", "denied"]),
        ("off", []),
    ],
)
def test_how_much_is_recorded_is_a_setting(root, tmp_path, level, expected):
    """``writes`` leaves out reads, ``off`` everything that the library does not need itself."""
    with Store(root, audit=level, **NO_FLOORS).session("test") as session:
        artifact = session.put(DATA)
        artifact.tail(1)
        with pytest.raises(ArtifactNotFoundError):
            session.artifact("nothing")
        artifact.export(tmp_path / "copy")
        assert expected == kinds(session)
        whole = b"".join(artifact.reading([artifact.read_bytes(0, 70)], 0, 70))
        assert artifact.id == session.put(whole).origin().artifact_id


def test_the_oldest_events_go(root):
    """Of more than ``audit_events`` the oldest are deleted; about a tenth more may be there for a while."""
    with Store(root, audit_events=100, **NO_FLOORS).session("test") as session:
        artifact = session.put(DATA)
        for number in range(500):
            artifact.record("looked", {"number": number}, at_once=False)
            if number % 20 == 0:
                session.events()
        events = session.events(limit=1000).items
    assert 100 <= len(events) <= 130
    assert [event.detail["number"] for event in events] == list(range(499, 499 - len(events), -1))


def test_the_first_event_goes_when_there_is_one_too_many(plain_store):
    """Where few are kept, never more than those are there, though each is written by itself; by who only reads, too."""
    store = Store(plain_store.address, audit_events=5, **NO_FLOORS)
    found = []
    for read_only in (False, True):
        with store.session("test", read_only=read_only) as session:
            artifact = session.artifacts().items[0] if read_only else session.put(DATA)
            for number in range(5):
                artifact.record("looked", {"number": number})
                found.append(len(in_file(session)))
    assert [3, 4, 5, 5, 5, 5, 5, 5, 5, 5] == found


def test_old_events_go(root, clock):
    """What is older than ``audit_age`` is deleted when events are written."""
    with Store(root, clock=clock, audit_age=60.0, **NO_FLOORS).session("test") as session:
        session.put(DATA)
        clock.advance(61)
    with Store(root, clock=clock, audit_age=60.0, **NO_FLOORS).session("test") as session:
        session.put(DATA).tail(1)
        assert kinds(session) == ["create", "seal", "read"]


@pytest.mark.files
def test_events_of_a_deleted_session_are_kept_where_that_is_set(make_store):
    """``audit_keep`` copies them beside the sessions, once, for the session's name; each page goes on where one stopped."""
    store = make_store(audit_keep=True)
    for _ in range(2):
        with store.session("test", project="web") as session:
            session.put(DATA).tail(1)
            session.delete()
    with store.session("other") as session:
        session.put(DATA)
        session.delete()
    found, cursor = [], None
    while True:
        page = store.deleted_events("test", "web", limit=3, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert [event.kind for event in found] == ["delete_session", "read", "seal", "create"] * 2
    assert ["read"] * 2 == [event.kind for event in store.deleted_events("test", "web", kind="read")]
    uri = f"artifact://{found[1].artifact_id}"  # as for Session.events
    kept = store.deleted_events("test", "web", artifact_id=uri)
    assert ["read", "seal", "create"] == [event.kind for event in kept]
    assert [] == store.deleted_events("test").items
    with pytest.raises(InvalidSettingError, match="is no cursor"):
        store.deleted_events("test", cursor="x")
    assert 0o600 == (store.root / "web" / ".audit.db").stat().st_mode & 0o777


@pytest.mark.files
def test_events_wait_on_where_a_deletion_fails(make_store, monkeypatch):
    """What waits to be recorded counts as written when the deletion is committed; if that fails, it is written later."""
    store = make_store(audit_keep=True)
    with store.session("test") as session:
        session.put(DATA).tail(1)

        def damaged(*_):
            raise IntegrityError("the archive is damaged")

        with monkeypatch.context() as patched:
            patched.setattr(SessionFile, "archive_events", damaged)
            with pytest.raises(IntegrityError, match="archive is damaged"):
                session.delete()
        assert ["create", "seal", "read"] == kinds(session)
        session.delete()
    assert ["delete_session", "read", "seal", "create"] == [
        event.kind for event in store.deleted_events("test")
    ]


def test_nothing_is_kept_of_a_deleted_session_by_default(plain_store):
    """Without ``audit_keep`` no file is made."""
    with plain_store.session("test") as session:
        session.put(DATA)
        session.delete()
    assert [] == plain_store.deleted_events("test").items
    assert plain_store.root is None or [] == list(plain_store.root.rglob("*audit*"))


def test_limits_that_are_met_are_events(root):
    """Each names the limit, the tool, what was wanted and what is allowed."""
    limits = {**NO_FLOORS, "artifacts_per_minute": 4}  # one is discarded
    with Store(root, **limits).session("test") as session:
        session.put(DATA, source="roll", limit=4096, policy="roll")
        session.put(DATA, source="stop", limit=4096, policy="stop")
        with pytest.raises(ArtifactTooLargeError):
            session.put(DATA, source="reject", limit=4096, policy="reject")
        session.put(DATA)
        session.put(DATA)
        with pytest.raises(RateLimitError):
            session.put(DATA, source="rate")
        met = [event.detail for event in session.events(kind="limit")][::-1]
    assert met == [
        {"limit": "artifact_limit", "tool": "roll", "size": len(DATA), "most": 4096},
        {"limit": "artifact_limit", "tool": "stop", "size": len(DATA), "most": 4096},
        {"limit": "artifact_limit", "tool": "reject", "size": len(DATA), "most": 4096},
        {"limit": "artifacts_per_minute", "tool": "rate", "most": 4},
    ]


def test_a_full_session_is_an_event(root):
    """The quota, with what the artifact would have had and what the session may take."""
    # Of one chunk each, so all of it is committed at its end.
    limits = {"session_quota": 120_000, "commit_interval": 60.0}
    with Store(root, **limits, **NO_FLOORS).session("test") as session:
        session.put(os.urandom(60_000), source="make")
        with pytest.raises(SessionQuotaError):
            session.put(os.urandom(65_000), source="cat")
        (event,) = session.events(kind="limit")
    assert event.detail == {"limit": "session_quota", "tool": "cat", "size": 65_000, "most": 120_000}


def test_damage_is_an_event_and_an_error(root, caplog):
    """What fails its digest is told in the log and in the audit, with the artifact, and without content."""
    store = Store(root, **NO_FLOORS)
    with store.session("test") as session:
        artifact = session.put(DATA)
        damage(session, "UPDATE chunk SET digest = ?", bytes(32))
        with caplog.at_level(logging.WARNING, "spillstore"), pytest.raises(IntegrityError):
            artifact.tail(1)
        assert {"read", "integrity"} == set(kinds(session)[2:])
        (event,) = session.events(kind="integrity")
    assert event.artifact_id == artifact.id
    assert "line 1" not in json.dumps(event.detail)
    assert artifact.id in [record.artifact_id for record in caplog.records]


def test_what_is_shown_whole_is_counted_without_a_write(plain_store):
    """Pass-throughs are added up, and their sums are written with what is written anyway."""
    with plain_store.session("test") as session:
        session.put(DATA)
        for size in range(10):
            session.count_passed("cat", size)
        session.count_passed("ls", 100, calls=3)
        assert in_file(session) == ["create", "seal"]
    with plain_store.session("test") as session:
        told = [event.detail for event in session.events(kind="passed")]
    assert {"tool": "cat", "calls": 10, "received": 45, "shown": 45} in told
    assert {"tool": "ls", "calls": 3, "received": 100, "shown": 100} in told
    assert 2 == len(told)


@pytest.mark.long
def test_a_killed_process_loses_no_event_of_a_write(plain_store):
    """Only what waited in the buffer is gone: here the read, not the artifact's creation and seal."""
    script = (
        "import os, sys\nfrom spillstore import Store\n"
        "session = Store(sys.argv[1], free_disk_floor=0).session('test')\n"
        "session.put(b'x').tail(1)\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, plain_store.address], check=False)
    with plain_store.session("test") as session:
        assert ["create", "seal"] == kinds(session)


def test_a_buffer_that_cannot_be_written_stays_bounded(plain_store, monkeypatch):
    """While the file is locked the newest events are kept, and how many were dropped is an event."""
    monkeypatch.setattr(event_buffer, "MOST", 50)
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        with session._engine._commit:  # nobody can write
            for _ in range(80):
                artifact.tail(1)
        assert 50 == kinds(session).count("read")
        (lost,) = session.events(kind="lost")
    assert lost.detail == {"events": 30}


@pytest.mark.long
def test_a_child_writes_none_of_its_parents_events(plain_store):
    """What waits in a process that forks is written by the parent, once."""
    with plain_store.session("test") as session:
        session.put(DATA).tail(1)
        child = os.fork()
        if not child:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert ["create", "seal", "read"] == kinds(session)


def test_many_threads_lose_no_event(plain_store):
    """Events that are added while others are written are all written, each once."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)

        def read():
            for _ in range(300):
                artifact.tail(1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        session.events()
    assert 1200 == in_file(session).count("read")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.long
@given(st.dictionaries(st.text(), VALUES, max_size=6))
@examples(60)
def test_any_detail_is_json_that_sqlite_can_read(detail):
    """Whatever somebody sends, the text is JSON by SQLite's rules."""
    text = event_detail.detail_text(detail)
    with closing(sqlite3.connect(":memory:")) as connection:
        assert (1,) == connection.execute("SELECT json_valid(?)", (text,)).fetchone()
    assert len(json.loads(text)) == len(detail)


def test_new_events_come_in_the_order_of_the_file(plain_store):
    """An event that was written late is not missed, though it is older than what was seen before."""
    with plain_store.session("test") as session:
        cursor = session.new_events().cursor
        artifact = session.put(DATA)
        page = session.new_events(cursor, limit=1)
        assert ["create"] == [event.kind for event in page]
        page = session.new_events(page.cursor)
        assert ["seal"] == [event.kind for event in page]
        damage(session, "UPDATE event SET at_us = at_us + 60000000")
        artifact.read_lines(1, 1)
        artifact.read_lines(2, 2)
        page = session.new_events(page.cursor, kind="read", artifact_id=artifact.id)
        assert [1, 2] == [event.detail["first"] for event in page]
        assert [] == session.new_events(page.cursor).items
        assert [] == session.new_events(cursor, actor="nobody").items


@pytest.mark.parametrize(("limit", "since"), [(1, 0.0), (7, 0.0), (100, 0.0), (1000, 0.0)])
def test_pages_of_new_events_are_all_of_them(plain_store, limit, since):
    """However small the pages, all events come once."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        for number in range(1, 300):
            artifact.read_lines(number, number)
        expected = session.events(limit=1000).items[::-1]
        found, cursor = [], None
        while len(page := session.new_events(cursor, since=since, limit=limit)):
            found += page.items
            cursor = page.cursor
    assert expected == found


def test_new_events_are_found_when_all_old_ones_have_gone(plain_store):
    """Keys begin anew once every event was rotated away; what is recorded then is new."""
    with plain_store.session("test") as session:
        artifact = session.put(DATA)
        cursor = session.new_events().cursor
        damage(session, "DELETE FROM event")
        artifact.read_lines(1, 1)
        page = session.new_events(cursor)
        assert ["read"] == [event.kind for event in page]
        assert [] == session.new_events(page.cursor).items


@pytest.mark.parametrize("arguments", [{"cursor": "x"}, {"cursor": 5}, {"limit": 0}, {"limit": True}])
def test_a_cursor_of_new_events_that_means_nothing_is_refused(plain_store, arguments):
    """It is named, and so is a limit."""
    with plain_store.session("test") as session, pytest.raises(InvalidSettingError):
        session.new_events(**arguments)


def test_new_events_of_a_session_that_is_gone_are_an_error(plain_store):
    """Who follows a session that somebody deletes is told."""
    plain_store.session("test").close()
    with plain_store.session("test", read_only=True) as reader:
        cursor = reader.new_events().cursor
        with plain_store.session("test") as session:
            session.delete(force=True)
        with pytest.raises(SessionDeletedError, match="deleted"):
            reader.new_events(cursor)
