"""Where storing cannot begin, and where a session's folder is removed: commands run, and are shown."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from support import NO_FLOORS

from spillstore import Store
from spillstore.exceptions import ClosedError, StorageError
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.output.session_opener import Opened


@pytest.fixture
def blocked(tmp_path):
    """A store whose root cannot be made, for a file is in its place."""
    (tmp_path / "root").touch()
    return Store(tmp_path / "root", **NO_FLOORS)


def ways():
    """Both ways to call a tool."""
    return pytest.mark.parametrize(
        "call",
        [
            lambda tools, arguments: tools.call_sync("bash", arguments),
            lambda tools, arguments: asyncio.run(tools.call("bash", arguments)),
        ],
        ids=["sync", "async"],
    )


@ways()
def test_a_command_runs_where_no_session_can_be_opened(blocked, call):
    """Its output and exit code are there, and its result says that nothing of it was stored, and why."""
    tools = Toolbox(lambda: blocked.session("chat"))
    result = call(tools, {"command": "seq 1 20000; exit 3"})
    tools.close()
    assert (result.exit_code, result.artifact_id, result.state) == (3, None, "ended")
    assert result.text.startswith("[NOT STORED COMPLETELY: ")
    assert "is no folder" in result.storage_error
    assert "20000\n" in result.text


def test_small_output_needs_no_session(blocked):
    """What is shown whole is shown as ever."""
    tools = Toolbox(lambda: blocked.session("chat"))
    assert tools.call_sync("bash", {"command": "echo hi"}).text == "hi\n[exit code 0]\n"
    tools.close()


def test_a_tool_that_reads_says_why_it_cannot(blocked):
    """Nothing is raised at a model."""
    tools = Toolbox(lambda: blocked.session("chat"))
    answer = tools.call_sync("list_artifacts", {})
    tools.close()
    assert answer.is_error
    assert answer.text.startswith("list_artifacts: ")
    assert "is no folder" in answer.text


def test_it_is_opened_as_soon_as_it_can_be(blocked, tmp_path):
    """The next call tries again."""
    tools = Toolbox(lambda: blocked.session("chat"))
    assert tools.call_sync("bash", {"command": "seq 1 20000"}).artifact_id is None
    (tmp_path / "root").unlink()
    result = tools.call_sync("bash", {"command": "seq 1 20000"})
    assert result.storage_error is None
    assert tools.call_sync("get_artifact", {"id": result.artifact_id, "tail": 1}).content == "20000\n"
    tools.close()


def test_background_commands_live_where_nothing_is_stored(blocked):
    """One that takes longer than its time-out is found again, and ended with the tools."""
    tools = BashTool(lambda: blocked.session("chat"))
    result = tools.call_sync({"command": "echo begun; sleep 1000", "timeout": 300})
    assert (result.state, "begun\n" in result.text) == ("running", True)
    assert tools.call_sync({"kill_pid": result.pid}).state == "ended"
    tools.close()


def test_a_session_whose_folder_was_removed_is_opened_anew(tmp_path):
    """The next call stores again, and a command in the background goes on beside it."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    opened = Opened(lambda: store.session("chat"))
    tools = Toolbox(opened)
    first = tools.call_sync("bash", {"command": "seq 1 20000; sleep 1000", "timeout": 300})
    assert first.state == "running"
    shutil.rmtree(store.root)
    second = tools.call_sync("bash", {"command": "seq 1 30000"})
    assert second.storage_error is None
    assert tools.call_sync("get_artifact", {"id": second.artifact_id, "tail": 1}).content == "30000\n"
    assert tools.call_sync("bash", {"check_pid": first.pid}).state == "running"
    assert tools.call_sync("bash", {"kill_pid": first.pid}).state == "ended"
    opened.close()
    store.check()


def test_what_is_closed_stays_closed(tmp_path):
    """Nothing is opened behind the back of who has closed it."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    opened = Opened(lambda: store.session("chat"))
    opened.get()
    opened.close()
    with pytest.raises(ClosedError):
        opened.get()
    with pytest.raises(ClosedError):
        opened.on_close(print)


def test_a_session_knows_whether_it_is_there(tmp_path):
    """Removed, exchanged or out of reach: it is not."""
    store = Store(tmp_path / "root", **NO_FLOORS)
    with store.session("chat") as session:
        assert session.present
        shutil.rmtree(store.root)
        assert not session.present
        store.root.touch()
        assert not session.present
        with pytest.raises(StorageError):
            store.session("chat")
    store.root.unlink()
