"""What is committed while others are slow: filters, disks, other processes."""

from __future__ import annotations

import threading
import time

import pytest
from support import NO_FLOORS, locked, wait_until

from spillstore import Store
from spillstore.exceptions import LockedError, StorageError
from spillstore.ingest.ingest_queue import IngestQueue
from spillstore.runtime import workers

MIB = 1024 * 1024


class Gate:
    """A filter that lets nothing through until it is opened, as one that takes for ever."""

    def __init__(self):
        self.opened = threading.Event()
        self.entered = threading.Event()

    def feed(self, data):
        self.entered.set()
        self.opened.wait()
        return data

    def finish(self):
        return b""


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.opened.set()


def filtered(session, gate):
    return session.create(source="slow", filters=lambda _stream: gate, redact=False)


def write_aside(writer, data):
    """Write on a thread of its own, which may block."""
    thread = threading.Thread(target=lambda: writer.write(data), daemon=True)
    thread.start()
    return thread


def test_a_trickle_is_committed_while_the_filter_of_another_artifact_runs(plain_store, gate):
    """A line beside an artifact whose filter does not come to an end is there all the same, and so are the next ones."""
    with plain_store.session("test") as session:
        slow = filtered(session, gate)
        thread = write_aside(slow, b"x" * 10 * MIB)
        gate.entered.wait()
        trickle = session.create(source="trickle")
        for number in range(5):
            trickle.write(b"line %d\n" % number)
            wait_until(lambda number=number: session.artifact(trickle.id).info.lines == number + 1)
        trickle.close()
        session.put(b"small")
        gate.opened.set()
        thread.join()
        slow.close()
        assert 10 * MIB == session.artifact(slow.id).info.size


def test_several_slow_filters_hold_up_nobody(plain_store, gate):
    """More artifacts with filters that take for ever than there are threads, and a trickle beside them."""
    with plain_store.session("test") as session:
        slow = [filtered(session, gate) for _ in range(5)]
        threads = [write_aside(writer, b"y" * 10 * MIB) for writer in slow]
        gate.entered.wait()
        with session.create(source="trickle") as trickle:
            trickle.write(b"line\n")
            wait_until(lambda: session.artifact(trickle.id).info.lines == 1)
        gate.opened.set()
        for thread, writer in zip(threads, slow, strict=True):
            thread.join()
            writer.close()


@pytest.mark.skipif(workers.COUNT < 2, reason="there is one worker, which runs the filter")
def test_no_worker_waits_for_a_filter_that_another_one_runs(plain_store, gate):
    """However much waits for that filter: a flood into another artifact is committed beside it."""
    with plain_store.session("test") as session:
        slow = filtered(session, gate)
        thread = write_aside(slow, b"x" * 10 * MIB)
        gate.entered.wait()
        wait_until(lambda: slow._pipeline.waiting)
        flood = session.create(source="flood")
        flood.write(b"line\n" * MIB)
        wait_until(lambda: session.artifact(flood.id).info.size == 5 * MIB)
        gate.opened.set()
        thread.join()
        for writer in (slow, flood):
            writer.close()
        assert 10 * MIB == session.artifact(slow.id).info.size


def test_what_waits_for_a_filter_is_bounded(plain_store, gate):
    """An artifact accepts no more than its filter's part of the queue, however much is written."""
    with plain_store.session("test") as session:
        slow = filtered(session, gate)
        thread = write_aside(slow, b"x" * 10 * MIB)
        gate.entered.wait()
        wait_until(lambda: slow._pipeline.waiting)
        assert slow.received <= MIB // 2
        gate.opened.set()
        thread.join()
        slow.close()


@pytest.mark.parametrize("queue_bytes", [64 * 1024, MIB, 8 * MIB])
def test_a_fast_writer_has_no_more_uncommitted_than_the_queue_holds(root, queue_bytes):
    """While nothing can be committed, a writer of any speed stops at ``queue_bytes``."""
    store = Store(root, queue_bytes=queue_bytes, redact=False, **NO_FLOORS)
    with store.session("test") as session, session.create() as writer:
        with session._engine._commit:
            threads = [write_aside(writer, b"z" * 5000 * 5000) for _ in range(2)]
            wait_until(lambda: writer._pipeline.waiting == 2)
            assert 0 < writer.received <= queue_bytes + MIB
            assert writer._pipeline.uncommitted <= queue_bytes + MIB
        for thread in threads:
            thread.join()
    with store.session("test") as session:
        assert 50_000_000 == session.artifact(writer.id).info.size
        session.check()


def test_many_artifacts_share_the_queue(root):
    """With many artifacts at once each may have less waiting, but none nothing, and all come to their end."""
    store = Store(root, redact=False, **NO_FLOORS)
    with store.session("test") as session:
        writers = [session.create() for _ in range(40)]
        with session._engine._commit:
            threads = [write_aside(writer, b"w" * 3 * MIB) for writer in writers]
            wait_until(lambda: all(writer._pipeline.waiting for writer in writers))
            assert all(0 < writer.received <= 2 * MIB for writer in writers)
        for thread, writer in zip(threads, writers, strict=True):
            thread.join()
            writer.close()
        assert {3 * MIB} == {session.artifact(writer.id).info.size for writer in writers}


def test_a_lock_that_comes_free_later_costs_nothing(root):
    """Another process that keeps the lock longer than ``busy_timeout``: the call says so, and what was written comes later."""
    store = Store(root, busy_timeout=0.1, **NO_FLOORS)
    with store.session("test") as session:
        writer = session.create()
        with locked(session):
            writer.write(b"while it was locked\n")
            for _ in range(3):
                with pytest.raises(LockedError):
                    writer.flush()
            writer.write(b"more\n")
            with pytest.raises(LockedError):
                writer.close()
        wait_until(lambda: session.artifact(writer.id).info.state == "sealed")
        assert b"while it was locked\nmore\n" == session.artifact(writer.id).read_lines(1, 9)
        writer.close()
        session.check()


def test_a_second_close_waits_for_what_the_first_one_could_not_commit(root):
    """``close`` again, once the lock is free, returns when the artifact is sealed."""
    store = Store(root, busy_timeout=0.05, **NO_FLOORS)
    with store.session("test") as session:
        writer = session.create()
        with locked(session):
            writer.write(b"line\n")
            with pytest.raises(LockedError):
                writer.close()
        while True:
            try:
                writer.close()
            except LockedError:  # the last attempt of the background was still under way
                continue
            break
        assert "sealed" == session.artifact(writer.id).info.state


def test_a_lock_that_never_comes_free_ends_who_writes_fast(root):
    """Who fills the queue while the lock is held gets the error instead of waiting for ever."""
    store = Store(root, busy_timeout=0.05, queue_bytes=64 * 1024, **NO_FLOORS)
    with store.session("test") as session:
        writer = session.create()
        with locked(session), pytest.raises(LockedError):
            for _ in range(1000):
                writer.write(b"x" * 10_000)
        with pytest.raises(LockedError):
            writer.close()
        assert "interrupted" == session.artifact(writer.id).info.state


def test_an_artifact_is_not_begun_where_no_thread_can_be_had(plain_store, monkeypatch):
    """``create`` says so before anything is stored, and works once there are threads again."""

    def refuse(_thread):
        raise RuntimeError("can't start new thread")

    with plain_store.session("test") as session:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            with pytest.raises(StorageError, match="no thread can be started"):
                session.create()
        assert [] == session.artifacts().items
        session.put(b"goes on")


def test_writes_go_on_where_workers_cannot_be_had(plain_store, monkeypatch):
    """Without threads for compression everything is stored all the same."""
    from spillstore.runtime import workers

    start = threading.Thread.start

    def refuse_workers(thread):
        if thread.name.startswith("spillstore-worker"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with plain_store.session("test") as session:
        with monkeypatch.context() as patch:
            patch.setattr(workers, "_workers", workers.Workers(2, "worker"))
            patch.setattr(threading.Thread, "start", refuse_workers)
            with session.create(redact=False) as writer:
                writer.write(b"n" * 20 * MIB)
        assert 20 * MIB == session.artifact(writer.id).info.size
        session.check()


def test_the_committer_does_not_spin_while_a_write_cannot_be_committed(plain_store, gate, monkeypatch):
    """A worker that waits inside a filter is asked for what is due now and then, not without end."""
    asked = []
    due = IngestQueue.wait_for_due
    monkeypatch.setattr(IngestQueue, "wait_for_due", lambda queue: asked.append(1) or due(queue))
    with plain_store.session("test") as session:
        slow = filtered(session, gate)
        thread = write_aside(slow, b"x" * 10 * MIB)
        gate.entered.wait()
        before, began = len(asked), time.monotonic()
        threading.Event().wait(1)
        times = (len(asked) - before) / (time.monotonic() - began)
        gate.opened.set()
        thread.join()
        slow.close()
    assert times < 200  # a second, however long this process was given none
