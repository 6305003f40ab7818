"""Who observes: what is told, when, on which thread, and that nobody suffers from it."""

from __future__ import annotations

import contextvars
import logging
import os
import threading
import time

import pytest
from support import NO_FLOORS, damage

from spillstore import Store, observers
from spillstore.audit import event_buffer
from spillstore.exceptions import (
    ArtifactNotFoundError,
    IntegrityError,
    RangeError,
    RateLimitError,
    SessionQuotaError,
)
from spillstore.observers import Observer, subscribe


class Seen(Observer):
    """Keeps what it is told."""

    def __init__(self):
        self.events = []

    def on_event(self, event):
        self.events.append(event)

    @property
    def kinds(self):
        return [event.kind for event in self.events if event.kind != "commit"]

    def of(self, kind):
        return [event for event in self.events if event.kind == kind]


@pytest.fixture
def seen():
    observer = Seen()
    stop = subscribe(observer)
    yield observer
    stop()


@pytest.mark.parametrize("audit", ["full", "writes", "off"])
def test_what_happens_is_told_whatever_is_recorded(root, seen, audit):
    """The kinds are those of events, in order, with the session, the artifact and how long a read took."""
    began = time.monotonic()
    with Store(root, **NO_FLOORS, audit=audit).session("chat") as session:
        artifact = session.put(b"one\ntwo\n", source="make")
        artifact.read_lines(1, 1)
        artifact.search("two")
        with pytest.raises(RangeError):
            artifact.read_lines(0, 1)
        with pytest.raises(ArtifactNotFoundError):
            session.artifact("art_9")
        artifact.delete()
    took = time.monotonic() - began
    assert ["create", "seal", "read", "search", "read", "denied", "delete"] == seen.kinds
    assert {"chat"} == {event.session for event in seen.events}
    first, second = seen.of("read")
    assert (artifact.id, "ok", 4) == (first.artifact_id, first.detail["outcome"], first.detail["bytes"])
    assert 0 < first.seconds < took
    assert "RangeError" == second.detail["outcome"]
    (seal,) = seen.of("seal")
    assert ("make", 8) == (seal.detail["tool"], seal.detail["size"])
    (commit,) = seen.of("commit")
    assert (1, 8) == (commit.detail["artifacts"], commit.detail["bytes"])
    assert 0 < commit.seconds < took


def test_limits_redactions_and_evictions_are_told(tmp_path, seen):
    """Each with what its event says, and not a second time when events are written."""
    with Store(tmp_path / "rate", free_disk_floor=0, artifacts_per_minute=1).session("s") as session:
        session.put(b"token = " + b"ghp_" + b"a1B2" * 9 + b"\n", source="cat")
        with pytest.raises(RateLimitError):
            session.put(b"x")
    assert [1] == [sum(event.detail["counts"].values()) for event in seen.of("redaction")]
    assert ["artifacts_per_minute"] == [event.detail["limit"] for event in seen.of("limit")]
    full = {**NO_FLOORS, "session_quota": 2_000_000}
    with Store(tmp_path / "evict", **full, session_policy="evict").session("s") as session:
        for _ in range(3):
            session.put(os.urandom(900_000))
        assert len(session.events(kind="evict").items) == len(seen.of("evict")) > 0
    with Store(tmp_path / "full", **full).session("s") as session:
        with pytest.raises(SessionQuotaError):
            session.put(os.urandom(3_000_000))
        assert len(session.events(kind="limit").items) == len(seen.of("limit")) - 1
    assert seen.of("failure")


def test_damage_is_told(root, seen):
    """A chunk that fails its digest is one event."""
    store = Store(root, **NO_FLOORS)
    with store.session("s") as session:
        artifact = session.put(b"one\n")
        damage(session, "UPDATE chunk SET digest = ?", bytes(32))
        with pytest.raises(IntegrityError):
            artifact.tail(1)
    assert [artifact.id] == [event.artifact_id for event in seen.of("integrity")]


@pytest.mark.files
def test_what_is_rolled_back_is_not_told(root, seen):
    """An event of a transaction that fails never happened."""
    with Store(root, **NO_FLOORS).session("s") as session:
        artifact = session.put(b"one\n")
        engine = session._engine
        with engine._commit:
            engine.store._pool._writer.execute(
                "CREATE TRIGGER never BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        with pytest.raises(Exception, match="no"):
            artifact.delete()
        assert "delete" not in seen.kinds
        with engine._commit:
            engine.store._pool._writer.execute("DROP TRIGGER never")
        artifact.delete()
    assert ["create", "seal", "delete"] == seen.kinds


def test_an_observer_may_use_the_store(root):
    """It is called when no lock is held, so whatever it is told of it can look at."""
    found = []

    class Reads(Observer):
        def on_event(self, event):
            if event.kind in {"seal", "limit", "interrupt"}:
                found.append((event.kind, session.events(kind="create").items[0].artifact_id))
                session.infos()

    with Store(root, **{**NO_FLOORS, "artifacts_per_minute": 2}).session("s") as session:
        stop = subscribe(Reads())
        try:
            first = session.put(b"one\n")
            writer = session.create()
            writer.abort("why")
            with pytest.raises(RateLimitError):
                session.create()
        finally:
            stop()
    assert [("seal", first.id), ("interrupt", writer.id), ("limit", writer.id)] == found


def test_an_observer_that_fails_is_told_of_once(root, caplog):
    """Nothing of it reaches the caller, others are told as ever, and the log says it once."""

    class Fails(Observer):
        def on_event(self, event):
            raise ValueError("mine")

        def on_begin(self, kind, detail):
            raise ValueError("mine")

    seen = Seen()
    stops = [subscribe(Fails()), subscribe(seen)]
    try:
        with Store(root, **NO_FLOORS).session("s") as session:
            session.put(b"one\n").read_bytes(0, 1)
        work = observers.begin_operation("output", {})
        work.end({"outcome": "whole"})
    finally:
        for stop in stops:
            stop()
    assert ["create", "seal", "read", "output"] == seen.kinds
    (record,) = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert "observer failed" in record.message
    assert record.observer.endswith("Fails")


def test_who_stops_is_told_nothing_more(root, seen):
    """Stopping twice does no harm, and one observer among equals goes."""
    other = Seen()
    stop = subscribe(other)
    with Store(root, **NO_FLOORS).session("s") as session:
        session.put(b"one\n")
        stop()
        stop()
        session.put(b"two\n")
    assert (["create", "seal"], ["create", "seal"] * 2) == (other.kinds, seen.kinds)


def test_a_commit_is_told_in_the_context_of_the_writer(root):
    """Whoever commits, a thread of the store's own included, what the writer's context holds is seen."""
    where = contextvars.ContextVar("where", default="nowhere")
    found = []

    class Looks(Observer):
        def on_event(self, event):
            if event.kind == "commit":
                found.append((where.get(), threading.current_thread().name))

    stop = subscribe(Looks())
    try:
        with Store(root, **NO_FLOORS, commit_interval=0.01).session("s") as session:
            token = where.set("here")
            writer = session.create()
            where.reset(token)
            writer.write(b"one\n")
            while not session.artifact(writer.id).info.size:
                pass
            writer.close()
    finally:
        stop()
    assert {"here"} == {context for context, _ in found}
    assert "spillstore-committer" in {name for _, name in found}


def test_work_has_a_context_of_its_own():
    """What an observer leaves at its beginning holds in all that is run in it, on any thread, and nowhere else."""
    inside = contextvars.ContextVar("inside", default=None)
    ended = []

    class Marks(Observer):
        def on_begin(self, kind, detail):
            inside.set((kind, detail["tool"]))
            return ended.append

    stop = subscribe(Marks())
    try:
        work = observers.begin_operation("command", {"tool": "bash"})
        assert inside.get() is None
        found = []
        thread = threading.Thread(target=work.run, args=(lambda: found.append(inside.get()),))
        thread.start()
        thread.join()
        assert ("command", "bash") == found[0] == work.run(inside.get)
        work.end({"tool": "bash", "outcome": "ok"}, artifact_id="art")
    finally:
        stop()
    assert ["art"] == [event.artifact_id for event in ended]
    assert ended[0].seconds >= 0


@pytest.mark.long
def test_a_forked_child_can_be_observed(tmp_path, seen):
    """Observers go on in a child, also if another thread was just adding one."""
    with observers._changing:
        child = os.fork()
        if child == 0:
            mine = Seen()
            subscribe(mine)
            with Store(tmp_path / "child", **NO_FLOORS).session("s") as session:
                session.put(b"one\n")
            os._exit(0 if mine.kinds == seen.kinds == ["create", "seal"] else 1)
    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert [] == seen.kinds


def test_a_log_filter_that_fails_harms_nobody(root, capsys):
    """What a filter of the caller's raises is printed, as ``logging`` does with handlers, and the write goes on."""

    def fail(record):
        raise ValueError("a filter")

    log = logging.getLogger("spillstore")
    log.addFilter(fail)
    try:
        with Store(root, **NO_FLOORS).session("s") as session:
            writer = session.create()
            writer.write(b"one\n")
            writer.abort("why")
            assert b"one\n" == session.artifact(writer.id).read_bytes(0, 10)
    finally:
        log.removeFilter(fail)
    assert "a filter" in capsys.readouterr().err


def test_work_ends_once(seen):
    """A second end tells nothing."""
    work = observers.begin_operation("output", {})
    work.end({"outcome": "whole"})
    work.end({"outcome": "failed"})
    assert ["whole"] == [event.detail["outcome"] for event in seen.events]


@pytest.mark.parametrize("read_only", [False, True])
def test_events_that_are_lost_are_told(root, monkeypatch, read_only):
    """Once they are recorded as lost, by whom no lock is held, so that an observer may look at the session."""
    monkeypatch.setattr(event_buffer, "MOST", 5)
    lost = []

    class Looks(Observer):
        def on_event(self, event):
            if event.kind == "lost":
                lost.append((event.detail["events"], session.events(kind="lost").items[0].detail["events"]))

    store = Store(root, **NO_FLOORS)
    with store.session("s") as writer:
        name = writer.put(b"one\n").id
    stop = subscribe(Looks())
    try:
        with store.session("s", read_only=read_only) as session:
            artifact = session.artifact(name)
            for _ in range(20):
                artifact.read_bytes(0, 1)
            session.events()
    finally:
        stop()
    assert [(15, 15)] == lost
