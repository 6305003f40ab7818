"""What a model sees of a command, in the agents themselves."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import sys

import pytest
from agents.drivers import AGENTS, ClaudeCode
from agents.programs import PROGRAMS
from benchmarks import seen

pytestmark = pytest.mark.agents

FAILING = "seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3"
SMALL = "printf 'one\\n\\ntwo  \\n'"
LINE = {
    **dict.fromkeys(AGENTS, 20001),
    "gemini": 20002,
}  # of the error; Gemini CLI writes one before the output
MOST = 8200  # characters of a result
VARIES = 100  # characters of a result that say where and when it was


def files_of(folder):
    """The configurations in a home: all that an agent does not write by itself."""
    names = (
        "settings.json",
        "config.toml",
        "hooks.json",
        "opencode.jsonc",
        "opencode.json",
        "spillstore.js",
        "mcp.json",
    )
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.name in names and "node_modules" not in path.parts
    }


def read_back(results, line):
    """The call for a shell that the notice of the last result names, for another line."""
    named = re.search(r"spillstore show art_\d+_[0-9a-f]{16} --lines 1-100[^,\n|\]]*", results[-1].text)
    assert named, results[-1].text[:500]
    return named[0].replace("--lines 1-100", f"--lines {line}")


@pytest.mark.parametrize("name", AGENTS)
def test_the_model_sees_the_error_in_the_middle_and_everything_else_is_as_before(surroundings, name):
    """A failing command of 40,001 lines; its exit code; reading back; a denied command; a small output; the configuration."""
    agent = AGENTS[name](surroundings)
    victim = surroundings.work / "victim"
    victim.write_text("here\n")
    denied = agent.call(f"rm {victim}")
    before = agent.run(agent.call(FAILING), agent.call(SMALL), *([denied] if agent.keeps_rules else []))
    assert victim.exists()
    assert "error: boom" not in before[0].text, "it has become better by itself"
    configuration = files_of(surroundings.home)

    surroundings.spillstore("install", name, *agent.options)
    assert configuration != files_of(surroundings.home)
    calls = [
        agent.call(FAILING),
        lambda results: agent.call(read_back(results, LINE[name])),
        agent.call(SMALL),
    ]
    after = agent.run(*calls, *([denied] if agent.keeps_rules else []))

    assert "src/a.c:3: error: boom" in after[0].text
    assert re.search(r"[Ee]xit [Cc]ode:? 3\b|exited with code 3\b", after[0].text), after[0].text[-400:]
    assert len(after[0].text) <= MOST
    if name != "gemini":  # which takes another text from a hook only as an error
        assert before[0].is_error == after[0].is_error
    assert "src/a.c:3: error: boom" in after[1].text
    assert without_varying(before[1].text) == without_varying(after[2].text)
    assert victim.exists()

    surroundings.spillstore("uninstall", name)
    assert configuration == files_of(surroundings.home)
    compare(name, len(before[0].text), len(after[0].text))


def compare(name, before, after):
    """The figures on the pages are what is measured; SPILLSTORE_TEST_NOTE=1 keeps today's."""
    today = seen.Seen(
        version=PROGRAMS[name].version.partition("-")[0],
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        without=before,
        without_error=False,  # asserted above, as is the other
        with_spillstore=after,
        with_error=True,
    )
    if os.environ.get("SPILLSTORE_TEST_NOTE") == "1":
        seen.note(name, today)
        return
    noted = seen.read()[name]
    assert noted == today._replace(
        date=noted.date, without=noted.without, with_spillstore=noted.with_spillstore
    )
    assert abs(before - noted.without) <= VARIES
    assert abs(after - noted.with_spillstore) <= VARIES


def without_varying(text):
    """Without what differs from call to call."""
    varying = r"(Chunk ID: |Wall time: |Process Group PGID: |Background PIDs: )\S+"
    return re.sub(varying, r"\1", text)


SERVER = """
import json, sys
text = "\\n".join(f"row {number} of the server" for number in range(1, 20001))
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answers = {
        "initialize": lambda: {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                               "serverInfo": {"name": "counter", "version": "1"}},
        "tools/list": lambda: {"tools": [{"name": "count", "description": "counts", "inputSchema": {"type": "object"}}]},
        "tools/call": lambda: {"content": [{"type": "text", "text": text}]},
    }
    result = answers.get(message["method"], dict)()
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_claude_code_shows_a_preview_of_a_large_result_of_a_server(surroundings):
    """By itself it shows no line of it; and all of it is kept."""
    script = surroundings.folder / "server.py"
    script.write_text(SERVER)
    agent = ClaudeCode(surroundings)
    agent.servers = {"counter": {"command": sys.executable, "args": [str(script)], "alwaysLoad": True}}
    (before,) = agent.run(("mcp__counter__count", {}))
    assert "row 1 of" not in before.text
    surroundings.spillstore("install", "claude-code")
    after, back = agent.run(
        ("mcp__counter__count", {}), lambda results: agent.call(read_back(results, 12345))
    )
    assert "row 1 of the server" in after.text
    assert "row 20000 of the server" in after.text
    assert len(after.text) <= MOST
    assert "row 12345 of the server" in back.text


@pytest.mark.parametrize("name", AGENTS)
def test_doctor_finds_what_is_installed_in_order(surroundings, name):
    """The program of the agent is the real one."""
    agent = AGENTS[name](surroundings)
    surroundings.spillstore("install", name, *agent.options)
    link = surroundings.folder / "bin" / {"claude-code": "claude"}.get(name, name)
    if name == "gemini":
        link.write_text(f'#!/bin/sh\nexec node {agent.path} "$@"\n')
        link.chmod(0o755)
    else:
        link.symlink_to(agent.path)
    found = json.loads(surroundings.spillstore("doctor", name, "--json"))
    assert found["ok"]
    assert found["agents"][0]["configured"] == "yes"
    assert found["agents"][0]["version"]
