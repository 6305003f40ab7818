"""A session to store results in."""

from __future__ import annotations

import asyncio

import pytest

from spillstore import Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "root", free_disk_floor=0)
    yield store
    store.check()


@pytest.fixture
def session(store):
    with store.session("agent") as session:
        yield session


@pytest.fixture(autouse=True)
def loop():
    """An event loop of the test's own, for frameworks that take the thread's and for those that close it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
