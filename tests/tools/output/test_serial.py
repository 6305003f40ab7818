"""``SerialWorker``: work in order, on one thread, within bounds."""

from __future__ import annotations

import threading

import pytest
from support import wait_until

from spillstore_tools.output.serial_worker import SerialWorker


def test_items_are_worked_on_in_order():
    """Every item once, in the order of ``put``, on a thread that is not the caller's."""
    done, threads = [], set()

    def work(item):
        done.append(item)
        threads.add(threading.get_ident())

    serial = SerialWorker(work, size_of=lambda item: 1, room=10)
    for item in range(1000):
        serial.put(item)
    serial.join()
    assert list(range(1000)) == done
    assert threading.get_ident() not in threads


def test_the_thread_ends_when_there_is_nothing_to_do():
    """No thread waits for more; the next item starts another."""
    serial = SerialWorker(lambda item: None, size_of=len, room=10)
    before = set(threading.enumerate())  # of which others may end meanwhile
    for _ in range(2):
        serial.put("x")
        serial.join()
        wait_until(lambda: set(threading.enumerate()) <= before)


def test_join_without_work_returns():
    """Nothing handed over: nothing to wait for, and no thread for it."""
    before = threading.active_count()
    SerialWorker(len, size_of=len, room=1).join()
    assert before == threading.active_count()


def test_put_waits_for_room():
    """``put`` blocks while more than ``room`` waits, and goes on when there is room again."""
    may_go, done = threading.Event(), []

    def work(item):
        may_go.wait(120)
        done.append(item)

    serial = SerialWorker(work, size_of=lambda item: 10, room=20)
    serial.put(1)
    serial.put(2)
    blocked = threading.Thread(target=serial.put, args=(3,))
    blocked.start()
    blocked.join(0.05)
    assert blocked.is_alive()
    may_go.set()
    blocked.join(120)
    serial.join()
    assert [1, 2, 3] == done


def test_an_item_larger_than_the_room_gets_through():
    """What is too large waits for an empty queue, not for ever."""
    done = []
    serial = SerialWorker(done.append, size_of=lambda item: 1000, room=10)
    for item in range(3):
        serial.put(item)
    serial.join()
    assert [0, 1, 2] == done


def test_an_error_is_raised_by_join_and_ends_the_work():
    """What ``work`` raises comes out of ``join``, each time; what was and is handed over then is dropped, unblocked."""
    done = []

    def work(item):
        if item == 1:
            raise ZeroDivisionError("in the work")
        done.append(item)

    serial = SerialWorker(work, size_of=lambda item: 1, room=2)
    for item in range(10):
        serial.put(item)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="in the work"):
            serial.join()
    serial.put(11)
    assert [0] == done


def test_without_threads_the_caller_works(monkeypatch):
    """Where no thread can be started, as when the interpreter ends, ``put`` does the work itself."""

    def none_left(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    done = []
    serial = SerialWorker(done.append, size_of=len, room=10)
    serial.put("a")
    assert ["a"] == done
    serial.put("b")
    serial.join()
    assert ["a", "b"] == done


def test_many_threads_hand_over():
    """Items of each thread stay in its order, and none is lost."""
    done = []
    serial = SerialWorker(done.append, size_of=lambda item: 1, room=5)

    def hand_over(name):
        for number in range(300):
            serial.put((name, number))

    threads = [threading.Thread(target=hand_over, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    serial.join()
    for name in range(4):
        assert list(range(300)) == [number for other, number in done if other == name]


def test_call_comes_after_what_was_put_before():
    """``call`` runs in order, gives what the function gave, and raises what it raised; work goes on."""
    done = []
    serial = SerialWorker(done.append, size_of=lambda item: 1, room=10)
    for item in range(5):
        serial.put(item)
    assert serial.call(lambda: list(done)) == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError):
        serial.call(lambda: {}["no"])
    serial.put(5)
    serial.join()
    assert done == [0, 1, 2, 3, 4, 5]


def test_call_after_work_has_failed():
    """A ``call`` that will never run raises what went wrong before it."""

    def work(item):
        may_fail.wait(120)
        raise ValueError(item)

    may_fail = threading.Event()
    serial = SerialWorker(work, size_of=lambda item: 1, room=10)
    serial.put("no")
    threading.Timer(0.05, may_fail.set).start()  # most likely while the call waits
    with pytest.raises(ValueError, match="no"):
        serial.call(lambda: 1)
