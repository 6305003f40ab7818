"""What a call of a tool leaves in memory."""

from __future__ import annotations

import gc

import pytest

from spillstore_tools.agent.toolbox import Toolbox


@pytest.mark.long
@pytest.mark.parametrize("command", ["echo 1", "seq 9000", "seq 9000 >&2; exit 3"])
def test_a_call_leaves_nothing_that_only_a_search_for_garbage_frees(session, command):
    """Its buffers go with the call; else a server that runs for days has those of thousands."""
    tools = Toolbox(session)
    tools.call_sync("bash", {"command": command})  # which makes what is made once
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        tools.call_sync("bash", {"command": f"{command}; true"})
        gc.collect()
        left = {
            type(each).__qualname__ for each in gc.garbage if type(each).__module__.startswith("spillstore")
        }
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == set()
