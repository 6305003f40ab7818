"""A plugin of pytest: wherever a test of Strands Agents says ``InMemoryStorage``, it gets our storage."""

from __future__ import annotations

import pytest
import strands.storage

from spillstore_tools.adapters.strands import SpillStorage


@pytest.fixture(autouse=True)
def _in_spillstore(request, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path_factory.mktemp("store")))
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    monkeypatch.setattr(strands.storage, "InMemoryStorage", SpillStorage)
    if hasattr(request.module, "InMemoryStorage"):
        monkeypatch.setattr(request.module, "InMemoryStorage", SpillStorage)
