"""A session to store results in."""

from __future__ import annotations

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
