"""Clocks that are wrong: ahead for a while, put back, or before 1970. Nothing is blocked for it, and nothing deleted for one reading."""

from __future__ import annotations

import os
import time

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.exceptions import RateLimitError

DAY = 86400.0


@pytest.fixture
def now(clock):
    """A clock that tells the time of the machine's, until it is moved: files get their times from that one."""
    clock.now = time.time()
    return clock


def names(store):
    return sorted(info.id for info in store.sessions())


def test_what_was_made_in_the_future_does_not_count_for_the_rate(root, now):
    """Artifacts of a day ahead do not use up this minute; those of this minute do."""
    store = Store(root, clock=now, artifacts_per_minute=5, free_disk_floor=0)
    with store.session("test") as session:
        now.advance(DAY)
        for _ in range(5):
            session.put(b"x")
        now.advance(-DAY)
        for _ in range(5):
            session.put(b"x")
        with pytest.raises(RateLimitError):
            session.put(b"x")


def test_what_happened_in_the_future_keeps_no_session(root, now):
    """Artifacts and events of a day ahead are no use of a moment ago: the session is collected."""
    store = Store(root, clock=now, **NO_FLOORS)
    with store.session("test") as session:
        now.advance(DAY)
        session.put(b"x").tail(1)
        now.advance(-DAY)
    now.advance(1)
    assert ["age"] == [fate.why for fate in store.collect(older_than=0).deleted]


def test_one_reading_of_the_clock_deletes_nothing(root, now):
    """A clock that jumps 8 days ahead, and is put right before the next look: all sessions stay."""
    store = Store(root, clock=now, **NO_FLOORS)
    for name in ("a", "b"):
        store.session(name).close()
    now.advance(8 * DAY)
    store.session("c").close()
    now.advance(-8 * DAY + 7200)
    store.session("d").close()
    assert ["a", "b", "c", "d"] == names(store)


@pytest.mark.files
def test_what_two_looks_found_too_old_goes(root, now):
    """However rarely a store is used: what was too old when it was looked at before goes."""
    store = Store(root, clock=now, **NO_FLOORS)
    store.session("a").close()
    for name in ("b", "c"):
        now.advance(30 * DAY)
        store.session(name).close()
    assert "a" not in names(store)


@pytest.mark.files
def test_a_look_in_the_future_does_not_put_off_the_next(root, now):
    """A mark that is years ahead: the store is looked at all the same, and from then on as ever."""
    store = Store(root, clock=now, retention=DAY, **NO_FLOORS)
    folder = store.root / "_" / "old"
    now.advance(1000 * DAY)
    store.session("old").close()
    store.session("b").close()
    now.advance(-1000 * DAY)
    for path in folder.iterdir():
        os.utime(path, (now.now - 2 * DAY, now.now - 2 * DAY))
    store.session("c").close()
    now.advance(7200)
    store.session("d").close()
    assert ["b", "c", "d"] == names(store)


@pytest.mark.files
def test_a_session_of_the_future_ages_from_when_that_was_seen(root, now):
    """Written to in ten years from now, as its file says: it is as old as the first look that found so."""
    store = Store(root, clock=now, **NO_FLOORS)
    store.session("test").close()
    ahead = now.now + 3650 * DAY
    for path in (store.root / "_" / "test").iterdir():
        os.utime(path, (ahead, ahead))
    assert [] == list(store.collect(dry_run=True).deleted)
    assert [] == list(store.collect().deleted)
    now.advance(6 * DAY)
    assert [] == list(store.collect().deleted)
    now.advance(2 * DAY)
    assert ["test"] == [fate.session.id for fate in store.collect().deleted]


@pytest.mark.files
def test_when_a_file_of_the_future_was_read_is_no_age(root, now):
    """Where reading sets no time of access, that is when the session was made, long before it was used last."""
    store = Store(root, clock=now, **NO_FLOORS)
    store.session("test").close()
    os.utime(store.root / "_" / "test" / "session.db", (now.now - 100 * DAY, now.now + 3600))
    assert [] == list(store.collect().deleted)


@pytest.mark.files
def test_a_session_of_the_future_goes_when_all_may_go(root, now):
    """``older_than=0`` is for whatever nobody holds."""
    store = Store(root, clock=now, **NO_FLOORS)
    store.session("test").close()
    os.utime(store.root / "_" / "test" / "session.db", (now.now + DAY, now.now + DAY))
    assert ["test"] == [fate.session.id for fate in store.collect(older_than=0).deleted]


def test_before_1970_it_works(root, now):
    """Sessions and artifacts made then can be read; they say that they are of 1970."""
    store = Store(root, clock=now, **NO_FLOORS)
    right = now.now
    now.now = -1000.0
    with store.session("test") as session:
        artifact = session.put(b"x\n").id
    now.now = right
    with store.session("test") as session:
        session.check()
        assert 0.0 == session.artifact(artifact).info.created
