"""Who is told when an artifact cannot go on, what its end records, and that a session that is open stays shared."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading

import pytest
from support import NO_FLOORS, wait_until

from spillstore import Store
from spillstore.engine.base import SessionRef
from spillstore.engine.sqlite.fork_safety import Gate
from spillstore.exceptions import (
    ArtifactTooLargeError,
    ClosedError,
    DiskFullError,
    LockedError,
    SessionBusyError,
    SessionDeletedError,
    StorageError,
)
from spillstore.observers import Observer, subscribe


class Seen(Observer):
    def __init__(self):
        self.events = []

    def on_event(self, event):
        self.events.append(event)

    def of(self, kind):
        return [(event.artifact_id, event.detail) for event in self.events if event.kind == kind]


@pytest.fixture
def seen():
    observer = Seen()
    stop = subscribe(observer)
    yield observer
    stop()


def recorded(session, kind):
    return [event.detail for event in session.events(kind=kind, limit=100).items]


def test_what_is_rejected_is_told_as_a_failure_and_what_is_discarded_is_not(plain_store, seen):
    """The one because its output cannot be stored, the other because nobody wants it; both are gone."""
    with plain_store.session("test") as session:
        rejected = session.create(policy="reject", limit=10)
        with pytest.raises(ArtifactTooLargeError):
            rejected.write(b"x" * 11)
        discarded = session.create()
        discarded.write(b"y")
        discarded.discard()
        with pytest.raises(ClosedError, match="was discarded"):
            discarded.write(b"z")
        assert [(rejected.id, {"error": "ArtifactTooLargeError"})] == seen.of("failure")
        assert ["discarded", "rejected"] == [detail["why"] for detail in recorded(session, "delete")]
        assert [] == list(session.artifacts())


def test_who_writes_into_a_session_that_is_deleted_is_told(plain_store, seen):
    """Each artifact that is open then has failed, and its writer says why."""
    session = plain_store.session("test")
    writers = [session.create() for _ in range(2)]
    for writer in writers:
        writer.write(b"x")
    session.delete(force=True)
    assert {writer.id for writer in writers} == {name for name, _ in seen.of("failure")}
    for writer in writers:
        for call in (lambda: writer.write(b"y"), writer.flush):  # noqa: B023
            with pytest.raises(SessionDeletedError):
                call()


@pytest.mark.parametrize(("size", "expected"), [(100, 0), (101, 1)])
def test_a_limit_is_recorded_when_it_was_passed(plain_store, seen, size, expected):
    """Once, with what came and what was allowed; an artifact of just that size has met none."""
    with plain_store.session("test") as session:
        with session.create(policy="stop", limit=100, redact=False) as writer:
            writer.write(b"x" * size)
        limits = recorded(session, "limit")
        assert expected == len(limits) == len(seen.of("limit"))
        for limit in limits:
            assert ("artifact_limit", 101, 100) == (limit["limit"], limit["size"], limit["most"])
        assert 100 == session.artifact(writer.id).info.size


def test_the_end_of_an_artifact_records_what_was_found(plain_store, seen):
    """How large it is, why it ended where that was said, and how many secrets were taken out, of which kind."""
    secret = b"ghp_" + b"a1B2" * 9
    with plain_store.session("test") as session:
        with session.create(source="cat") as writer:
            writer.write(b"token = " + secret + b"\n")
        aborted = session.create()
        aborted.write(b"half")
        aborted.abort("no more")
        [interrupted] = recorded(session, "interrupt")
        assert (4, 4, "no more") == (interrupted["size"], interrupted["received"], interrupted["reason"])
        [sealed] = recorded(session, "seal")
        assert "reason" not in sealed
        assert len(secret) + 9 == sealed["received"]
        [redaction] = recorded(session, "redaction")
        assert ("cat", 1) == (redaction["tool"], sum(redaction["counts"].values()))
        [(_, told)] = seen.of("redaction")
        assert 1 == told["secrets"]


def test_a_line_without_its_end_is_there_when_nobody_writes_on(plain_store):
    """What was held back for the rest of its line is let through by time alone."""
    with plain_store.session("test") as session, session.create() as writer:
        writer.write(b"whole\nhalf")
        wait_until(lambda: session.artifact(writer.id).info.size == 10)


def test_the_end_of_one_session_leaves_the_others_shared(plain_store):
    """Who opens one that is open already gets the same connections and locks; who was last closes them."""
    first, other = plain_store.session("first"), plain_store.session("other")
    again = plain_store.session("first")
    assert again._engine is first._engine
    other.close()
    third = plain_store.session("first")
    assert third._engine is first._engine
    for session in (first, again):
        session.close()
        session.close()
    third.put(b"still open")
    third.close()
    with plain_store.session("first") as session:
        assert session._engine is not third._engine
        assert 1 == len(list(session.artifacts()))


HOLDER = """
import sys
from spillstore import Store
session = Store(sys.argv[1], free_disk_floor=0).session("test")
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.long
def test_what_another_process_holds_is_not_deleted_as_unused(tmp_path):
    """Though this one takes it for old; when the other has closed it, it goes."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    with store.session("test") as session:
        session.put(b"used just now")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, store.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        with pytest.raises(SessionBusyError):
            store._pool.delete_unused(SessionRef("test", None), 4e9)
        holder.stdin.close()
    assert ["test"] == [info.id for info in store.sessions()]
    with pytest.raises(SessionBusyError):
        store._pool.delete_unused(SessionRef("test", None), 1.0)
    store._pool.delete_unused(SessionRef("test", None), 4e9)
    assert [] == list(store.sessions())


def test_a_gate_is_closed_when_nobody_is_inside():
    """Who closes it from inside is told that somebody is; others wait before it until it is open again."""
    gate = Gate()
    assert gate.close()
    gate.open()
    with gate, gate:
        assert not gate.close()
        gate.open()
    assert gate.close()
    inside = threading.Event()

    def enter():
        with gate:
            inside.set()

    thread = threading.Thread(target=enter)
    thread.start()
    assert gate.close()  # a second fork at once
    gate.open()
    assert not inside.is_set()
    gate.open()
    thread.join()
    assert inside.is_set()
    assert gate.close()
    gate.reset()
    with gate:
        pass


@pytest.mark.files
def test_what_fails_inside_a_reading_is_one_of_our_errors(plain_store):
    """Whatever the driver raises, of one snapshot for all calls; what is no error of a driver stays what it is."""
    with plain_store.session("test") as session:
        session.put(b"x")
        with pytest.raises(StorageError), session._engine.snapshot("looking"):
            raise sqlite3.OperationalError("disk I/O error")
        with pytest.raises(KeyError), session._engine.snapshot("looking"):
            raise KeyError("own")
        with session._engine.snapshot("looking") as rows:
            assert 1 == len(rows.artifacts_after(0, 10))


@pytest.mark.files
def test_an_old_session_that_cannot_be_opened_for_want_of_room_goes_all_the_same(plain_store, monkeypatch):
    """Without a record, and at once; where it cannot be opened for another reason it stays, and that is said."""
    plain_store.session("test").close()
    ref = SessionRef("test", None)
    errors = [LockedError("held by another"), DiskFullError("no room")]

    def fail(*_args, **_options):
        raise errors[0]

    monkeypatch.setattr(type(plain_store._pool), "_open", fail)
    with pytest.raises(LockedError, match="held by another"):
        plain_store._pool.delete_unused(ref, 4e9)
    assert ["test"] == [info.id for info in plain_store.sessions()]
    del errors[0]
    gone = plain_store._pool.delete_unused(ref, 4e9)
    assert [] == list(plain_store.sessions())
    assert 0 == gone.size() == gone.free()  # its room was wanted at once
