"""mini-swe-agent: its own agent with a scripted model, in our environment."""

from __future__ import annotations

import os
import re

import pytest
from logs import BIG, BOOM, LINE

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
pytest.importorskip("minisweagent")
pytestmark = pytest.mark.adapters

from minisweagent.agents.default import DefaultAgent  # noqa: E402
from minisweagent.models.test_models import DeterministicModel, make_output  # noqa: E402

from spillstore.exceptions import StorageError  # noqa: E402
from spillstore_tools.adapters.mini_swe_agent import SpillEnvironment  # noqa: E402

DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; cat log"


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log").write_text(BIG)
    return tmp_path


def run(environment, *commands):
    """What a scripted model is shown of each command, and what is submitted."""
    turns = [
        make_output("", [{"command": command, "tool_call_id": f"c{n}"}])
        for n, command in enumerate(commands, 1)
    ]
    model = DeterministicModel(outputs=[*turns, make_output("", [{"command": DONE}])])
    agent = DefaultAgent(model, environment, system_template="s", instance_template="i", cost_limit=0)
    result = agent.run("task")
    return [each["content"] for each in agent.messages if "<returncode>" in str(each["content"])], result


def test_the_error_is_shown_and_the_commands_of_the_notice_run(session, log):
    """The exit code stays; what is submitted is whole."""
    environment = SpillEnvironment(session=session, cwd=str(log))
    (shown, again), result = run(environment, "cat log; exit 3", "cat log; exit 3")
    assert BOOM in shown
    assert "<returncode>3</returncode>" in shown
    assert len(shown) < 8_100
    assert session.find("c1").read_text() == BIG
    assert f"artifact {session.find('c1').id} again" in again
    assert result["submission"] == BIG
    command = re.search(r"spillstore show art_[^,\n]+", shown)[0].replace("1-100", f"{LINE}-{LINE}")
    found = environment.execute({"command": command})
    assert (found["returncode"], BOOM.strip() in found["output"]) == (0, True), (command, found)


def test_little_output_is_as_it_was(session):
    """And so is what failed."""
    environment = SpillEnvironment(session=session)
    assert environment.execute({"command": "echo hi"})["output"] == "hi\n"
    failed = environment.execute({"command": "echo begun; sleep 30"}, timeout=1)
    assert failed["returncode"] == -1
    assert "timed out" in failed["exception_info"]
    assert not list(session.infos())


def test_a_failure_gives_back_the_output(log):
    """The agent goes on."""

    def fails():
        raise StorageError("no room")

    assert SpillEnvironment(session=fails, cwd=str(log)).execute({"command": "cat log"})["output"] == BIG
