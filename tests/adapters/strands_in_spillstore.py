"""A plugin of pytest: wherever a test of Strands Agents says ``InMemoryStorage``, it gets our storage.

The offloader has an older protocol besides, with two methods, and a class of the same name for it; where that is meant, our storage
gets these two methods, with the framing that the offloader itself uses.
"""

from __future__ import annotations

import itertools

import pytest
import strands.storage
from strands.vended_plugins.context_offloader import storage as older
from strands.vended_plugins.context_offloader.plugin import _frame_content, _unframe_content

from spillstore_tools.adapters.strands import SpillStorage

EXCEPTIONS = {
    "looks into the dictionary of the class": (
        "test_keyword.py::TestKeywordSearch::test_skips_keys_where_read_returns_none",
        "test_plugin.py::TestContextOffloader::test_offloads_oversized_text",
        "test_plugin.py::TestContextOffloader::test_image_stored_and_placeholder_has_ref",
        "test_plugin.py::TestContextOffloader::test_multiple_text_blocks_stored_separately",
        "test_plugin.py::TestContextOffloader::test_json_content_stored_as_json",
        "test_plugin.py::TestContextOffloader::test_mixed_text_and_json",
        "test_plugin.py::TestContextOffloader::test_all_content_types_mixed",
        "test_plugin.py::TestContextOffloader::test_image_without_bytes_kept_in_place",
        "test_plugin.py::TestContextOffloader::test_document_without_bytes_kept_in_place",
        "test_plugin.py::TestContextOffloader::test_mixed_bytes_and_non_bytes_blocks",
        "test_plugin.py::TestShouldOffloadCallback::test_callback_returning_false_skips_offload",
        "test_plugin.py::TestShouldOffloadCallback::test_async_callback_returning_false_skips_offload",
    ),
    "is about the class's own eviction by turns": (
        "test_plugin.py::TestBeforeModelCallHook::test_calls_evict_with_cycle_count",
        "test_plugin.py::TestBeforeModelCallHook::test_eviction_triggered_via_hook",
    ),
    "is about the class's name": (
        "test_stash.py::TestStorageTypeName::test_returns_class_name_of_base_storage",
    ),
    "is about storages that end with the process, which ours does not": (
        "test_snapshot_session_manager.py::TestSnapshotStashIntegration::test_save_includes_inline_stash_for_ephemeral_storage",
        "test_snapshot_session_manager.py::TestSnapshotStashIntegration::test_save_omits_stash_when_empty",
        "test_snapshot_session_manager.py::TestSnapshotStashIntegration::test_immutable_snapshot_includes_stash",
        "test_snapshot_session_manager.py::TestSnapshotStashIntegration::test_ephemeral_detection_survives_namespacing",
    ),
}


def pytest_collection_modifyitems(items):
    """The exceptions must fail, so that this list says no more than is true."""
    for reason, tests in EXCEPTIONS.items():
        for item in items:
            if item.nodeid.endswith(tests):
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))


class Offloaded(SpillStorage):
    """Our storage under the older protocol."""

    def __init__(self):
        super().__init__()
        self._numbers = itertools.count(1)

    async def store(self, key, content, content_type="text/plain"):
        reference = f"mem_{next(self._numbers)}_{key}"
        await self.write(reference, _frame_content(content, content_type))
        return reference

    async def retrieve(self, reference):
        frame = await self.read(reference)
        if frame is None:
            raise KeyError(f"Reference not found: {reference}")
        return _unframe_content(frame)


@pytest.fixture(autouse=True)
def _in_spillstore(request, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("SPILLSTORE_ROOT", str(tmp_path_factory.mktemp("store")))
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")
    monkeypatch.setattr(strands.storage, "InMemoryStorage", SpillStorage)
    if (found := getattr(request.module, "InMemoryStorage", None)) is not None:
        ours = Offloaded if found is older.InMemoryStorage else SpillStorage
        monkeypatch.setattr(request.module, "InMemoryStorage", ours)
