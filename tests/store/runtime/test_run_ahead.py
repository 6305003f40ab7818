"""A call that a worker may make before its result is asked for."""

from __future__ import annotations

import threading

import pytest

from spillstore.runtime import workers
from spillstore.runtime.ahead import Ahead


@pytest.fixture
def at_work():
    """A worker that is there."""
    begun = threading.Event()
    workers.submit(begun.set)
    assert begun.wait(60)


@pytest.mark.usefixtures("at_work")
def test_a_worker_makes_the_call_before_anybody_asks():
    """On a thread of its own; who asks afterwards gets the result."""
    made = threading.Event()
    names = []

    def call():
        names.append(threading.current_thread().name)
        made.set()
        return 42

    ahead = Ahead(call)
    if workers.COUNT > 1:
        assert made.wait(60)
        assert names[0].startswith("spillstore-worker-")
    assert (ahead.result(), ahead.result(), len(names)) == (42, 42, 1)


@pytest.mark.usefixtures("at_work")
def test_who_asks_makes_the_call_where_all_workers_are_busy():
    """And no worker makes it again."""
    go_on = threading.Event()
    busy = threading.Barrier(workers.COUNT + 1)

    def wait():
        busy.wait(60)
        go_on.wait(60)

    for _ in range(workers.COUNT):
        workers.submit(wait)
    busy.wait(60)
    names = []
    try:
        assert Ahead(lambda: names.append(threading.current_thread().name)).result() is None
    finally:
        go_on.set()
    done = threading.Event()
    workers.submit(done.set)
    assert done.wait(60)
    assert names == [threading.current_thread().name]


@pytest.mark.usefixtures("at_work")
def test_what_the_call_raises_is_raised_to_who_asks():
    """Each time, and the worker lives on."""

    def call():
        raise ValueError("no")

    ahead = Ahead(call)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            ahead.result()
    done = threading.Event()
    workers.submit(done.set)
    assert done.wait(60)


def test_no_worker_is_started_for_it(monkeypatch):
    """Where there is none, the call waits for who asks, and nothing is queued."""
    monkeypatch.setattr(workers, "_workers", workers.Workers(2, "none"))
    submitted = []
    monkeypatch.setattr(workers, "submit", submitted.append)
    assert (Ahead(lambda: 7).result(), submitted) == (7, [])
