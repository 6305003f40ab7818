"""In which folder an artifact's command ran: recorded of the tool bash as of ``spillstore run``, and heeded."""

from __future__ import annotations

import asyncio

import pytest

from spillstore import Store
from spillstore_tools.agent.bash import BashTool, bash
from spillstore_tools.agent.compare_artifacts import compare_artifacts
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.process.runners import LocalRunner

LONG = "seq 5000; pwd"  # more than is shown whole


@pytest.fixture
def folders(tmp_path):
    found = [tmp_path / "one", tmp_path / "two"]
    for folder in found:
        folder.mkdir()
    return found


def told(cli, artifact_id):
    """What ``info`` and ``list`` tell of an artifact's folder."""
    text = next(line for line in cli("info", artifact_id).text.splitlines() if line.startswith("Folder: "))
    listed = {each["id"]: each["cwd"] for each in cli("list", "--json").json["artifacts"]}
    assert (
        text.removeprefix("Folder: ") == cli("info", artifact_id, "--json").json["cwd"] == listed[artifact_id]
    )
    return listed[artifact_id]


@pytest.mark.parametrize("form", ["tool", "toolbox", "function"])
def test_the_folder_of_the_tool_bash_is_recorded(store, cli, folders, monkeypatch, form):
    """Whichever way it is called: the folder that it was told, else the session's."""
    monkeypatch.chdir(folders[0])
    ids = []
    with store.session("default") as session:
        for cwd in (None, folders[1]):
            if form == "tool":
                result = BashTool(session, cwd=cwd).call_sync({"command": LONG})
            elif form == "toolbox":
                result = Toolbox(session, cwd=cwd).call_sync("bash", {"command": LONG})
            else:
                result = asyncio.run(bash(session, command=LONG, cwd=cwd))
            ids.append(result.artifact_id)
    assert list(map(str, folders)) == [told(cli, each) for each in ids]


def test_a_folder_reached_by_a_link_is_the_folder(store, cli, folders, tmp_path):
    """As with ``run``, so that both can be compared."""
    (tmp_path / "link").symlink_to(folders[0])
    with store.session("default") as session:
        result = BashTool(session, cwd=tmp_path / "link").call_sync({"command": LONG})
    assert str(folders[0]) == told(cli, result.artifact_id)


def test_the_folder_of_a_runner_of_one_s_own_is_as_he_calls_it(store, cli):
    """It may be one of another machine."""

    class Elsewhere:
        def start(self, command, *, cwd, env):
            assert cwd == "~/there/../here"
            return LocalRunner().start(command, cwd="/", env=env)

    with store.session("default") as session:
        tool = BashTool(session, cwd="~/there/../here", runner=Elsewhere())
        result = tool.call_sync({"command": LONG})
    assert told(cli, result.artifact_id) == "~/there/../here"


def test_what_a_caller_wants_to_know_when_storing_begins_is_told_all_the_same(store, folders):
    """``on_spill`` gets the id, and finds the folder there."""
    seen = []
    with store.session("default") as session:
        tool = BashTool(session, cwd=folders[0], on_spill=seen.append)
        result = tool.call_sync({"command": LONG})
        kinds = [event.kind for event in session.artifact(result.artifact_id).events()]
    assert [result.artifact_id] == seen
    assert "place" in kinds


def test_where_metadata_are_hidden_so_is_the_folder(root, cli, folders, monkeypatch):
    """A digest tells whether two are the same."""
    monkeypatch.setenv("SPILLSTORE_HIDDEN_METADATA", "1")
    with Store(root).session("default") as session:
        ids = [
            BashTool(session, cwd=cwd).call_sync({"command": LONG}).artifact_id
            for cwd in (folders[0], folders[1], folders[0])
        ]
    one, two, again = (told(cli, each) for each in ids)
    assert one == again != two
    assert one.startswith("hidden:")


def test_a_run_is_compared_with_that_of_the_same_folder(store, folders):
    """Where a model names no base."""
    with store.session("default") as session:
        ids = [
            BashTool(session, cwd=cwd).call_sync({"command": f"{LONG}; echo $$"}).artifact_id
            for cwd in (folders[0], folders[1], folders[0])
        ]
        assert f"{ids[2]} against {ids[0]}" in compare_artifacts(session, id=ids[2]).text
        answer = compare_artifacts(session, id=ids[1])
    assert answer.is_error
    assert f"in {folders[1]} before {ids[1]}" in answer.text


def test_what_was_put_by_the_library_has_none(cli, put):
    """It ran nothing; JSON says null."""
    artifact_id = put("x")
    assert cli("info", artifact_id, "--json").json["cwd"] is None
    assert cli("list", "--json").json["artifacts"][0]["cwd"] is None
    assert "Folder" not in cli("info", artifact_id).text
