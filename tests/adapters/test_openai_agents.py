"""The OpenAI Agents SDK with its own scripted model: bounded results, retrieval tools, commands."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("agents.testing")  # a folder of our tests has the name of the package

from agents import (
    Agent,
    ProgrammaticToolCallingTool,
    RunConfig,
    Runner,
    ShellActionRequest,
    ShellCallData,
    ShellCommandRequest,
    ShellTool,
    ToolGuardrailFunctionOutput,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
    tool_output_guardrail,
)
from agents.mcp import MCPServerStdio
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseFunctionShellToolCall
from openai.types.responses.response_function_tool_call import CallerProgram
from openai.types.responses.response_output_item import Program

from spillstore_tools.adapters.core import RETRIEVAL, Adapter
from spillstore_tools.adapters.openai_agents import SpillTools

pytestmark = pytest.mark.adapters

IMAGE = "data:image/png;base64,iVBORw0KGgo="


class Script:
    """A model that makes the calls of each turn, and then says that it is done.

    Args:
        turns: lists of calls (name, arguments), or functions of the results so far that give such lists.
    """

    def __init__(self, *turns):
        self.results = []
        self.tools = []
        self._turns = list(turns)
        self._model = ScriptedModel([ModelStep.respond(self._answer) for _ in range(len(turns) + 1)])

    def _answer(self, call):
        items = call.input if isinstance(call.input, list) else []
        kinds = ("function_call_output", "shell_call_output")
        self.results = [
            item["output"] for item in items if isinstance(item, dict) and item.get("type") in kinds
        ]
        self.tools = [tool.name for tool in call.tools]
        if not self._turns:
            return [assistant_message("done")]
        turn = self._turns.pop(0)
        calls = turn(self.results) if callable(turn) else turn
        return [
            function_call(name, arguments, call_id=f"call_{number}")
            for number, (name, arguments) in enumerate(calls, len(self.results) + 1)
        ]

    def agent(self, *tools, **options):
        return Agent(name="tester", model=self._model, tools=[*tools], **options)

    def run(self, *tools, sync=False, **options):
        """The outputs of the calls, as the model has got them."""
        agent, config = self.agent(*tools, **options), RunConfig(tracing_disabled=True)
        if sync:  # in a loop that the SDK leaves open
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)
            try:
                done = Runner.run_sync(agent, "go", run_config=config)
            finally:
                asyncio.set_event_loop(None)
                loop.close()
        else:
            done = asyncio.run(Runner.run(agent, "go", run_config=config))
        assert done.final_output == "done"
        return self.results


def run_tests() -> str:
    """Run the tests."""
    return BIG


async def run_tests_there() -> str:
    """Run the tests elsewhere."""
    await asyncio.sleep(0)
    return BIG


def run_one(number: int) -> str:
    """Run the tests of one part."""
    return f"part {number}\n{BIG}"


def little() -> str:
    """Say little."""
    return "all good"


def named(text):
    """The artifact that a preview names."""
    return re.search(r"art_\d+_[0-9a-f]{16}", text)[0]


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("function", [run_tests, run_tests_there])
def test_the_model_sees_the_error_and_reads_the_rest(session, function, sync):
    """Of 820 KB it is shown at most 8,000 characters, with the line in the middle, and its own calls are answered."""
    script = Script(
        [(function.__name__, {})],
        lambda results: [("search_artifact", {"id": named(results[0]), "pattern": "boom"})],
        lambda results: [
            ("get_artifact", {"id": named(results[0]), "start_line": LINE, "end_line": LINE + 1})
        ],
    )
    spill = SpillTools(session)
    shown, found, read = script.run(*spill.tools(function_tool(function)), sync=sync)
    assert BOOM.strip() in shown
    assert len(shown) <= 8000
    assert f"{LINE}" in found
    assert BOOM + "test 0 ok\n" in read
    assert script.tools == [function.__name__, *RETRIEVAL]
    artifact = session.find("call_1")
    assert artifact.read() == BIG.encode()
    assert artifact.info.source == function.__name__
    assert session.infos().items[0].id == artifact.id  # what was read was not stored again
    assert session.infos(limit=10).cursor is None


def test_small_results_are_as_they_were(session):
    """Nothing is stored of them."""
    (shown,) = Script([("little", {})]).run(*SpillTools(session).tools(function_tool(little)))
    assert shown == "all good"
    assert session.infos().items == []


def test_parallel_calls_have_an_artifact_each(session):
    """Each names its own call."""
    calls = [("run_one", {"number": number}) for number in range(8)]
    shown = Script(calls).run(*SpillTools(session).tools(function_tool(run_one)))
    for number, text in enumerate(shown):
        assert BOOM.strip() in text
        assert session.find(f"call_{number + 1}").read() == run_one(number).encode()
        assert named(text) == session.find(f"call_{number + 1}").id


def test_the_same_call_again_names_the_first_artifact(session):
    """No second copy is kept."""
    first, second = Script([("run_tests", {})], [("run_tests", {})]).run(
        *SpillTools(session).tools(function_tool(run_tests))
    )
    assert named(first) == named(second)
    assert "again" in second
    assert len(session.infos().items) == 1


def test_images_beside_a_text_stay(session):
    """The text is cut, and the blocks are what the SDK makes of them."""

    def look() -> list[ToolOutputText | ToolOutputImage]:
        """Look at the screen."""
        return [ToolOutputText(text=BIG), ToolOutputImage(image_url=IMAGE)]

    def say() -> ToolOutputText:
        """Say it."""
        return ToolOutputText(text=f"alone\n{BIG}")

    shown, (alone,) = Script([("look", {}), ("say", {})]).run(
        *SpillTools(session).tools(function_tool(look), function_tool(say))
    )
    text, image = shown
    assert BOOM.strip() in alone["text"]
    assert text["type"] == "input_text"
    assert BOOM.strip() in text["text"]
    assert len(text["text"]) <= 8000
    assert image == {"type": "input_image", "image_url": IMAGE}


SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    tool = {"name": "run_tests", "description": "Run the tests.", "inputSchema": {"type": "object"}}
    answers = {
        "initialize": lambda: {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                               "serverInfo": {"name": "tests", "version": "1"}},
        "tools/list": lambda: {"tools": [tool]},
        "tools/call": lambda: {"content": [{"type": "text", "text": open(sys.argv[1]).read()}]},
    }
    result = answers.get(message["method"], dict)()
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_a_server_takes_the_guardrail(session, tmp_path):
    """It is then that of all of its tools."""
    (tmp_path / "log.txt").write_text(BIG)
    script, spill = Script([("run_tests", {})]), SpillTools(session)

    async def converse():
        params = {"command": sys.executable, "args": ["-c", SERVER, str(tmp_path / "log.txt")]}
        async with MCPServerStdio(params, tool_output_guardrails=[spill.guardrail]) as server:
            agent = script.agent(*spill.retrieval(), mcp_servers=[server])
            await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))

    asyncio.run(converse())
    ((block,),) = script.results
    assert BOOM.strip() in block["text"]
    assert len(block["text"]) <= 8000
    assert session.find("call_1").read() == BIG.encode()


def test_other_guardrails_see_the_whole_result_and_come_first(session):
    """What one of them refuses is neither shown nor stored."""
    seen = []

    @tool_output_guardrail
    def check(data):
        seen.append(len(data.output))
        return ToolGuardrailFunctionOutput.reject_content("refused")

    guarded = function_tool(run_tests, tool_output_guardrails=[check])
    (shown,) = Script([("run_tests", {})]).run(*SpillTools(session).tools(guarded))
    assert (shown, seen) == ("refused", [len(BIG)])
    assert session.infos().items == []
    assert guarded.tool_output_guardrails == [check]  # the tool itself is not changed


def test_a_tool_is_wrapped_once_and_others_are_left_alone(session):
    """Wrapping twice would store twice; a tool that is no function has no result here."""
    spill = SpillTools(session)
    once = spill.spilled(function_tool(run_tests))
    assert spill.spilled(once) is once
    shell = ShellTool(executor=spill.shell)
    assert spill.spilled(shell) is shell


def test_results_for_code_pass(session):
    """By the tool, by the call, and where a program of the model's has made the call."""
    spill = SpillTools(session, skip=["run_tests"])
    (shown,) = Script([("run_tests", {})]).run(*spill.tools(function_tool(run_tests)))
    assert shown == BIG
    spill = SpillTools(session)
    with Adapter.off():
        (shown,) = Script([("run_tests", {})]).run(*spill.tools(function_tool(run_tests)))
    assert shown == BIG
    assert session.infos().items == []


def test_results_for_a_program_of_the_model_pass(session):
    """The program gets what the tool returns, in programmatic tool calling."""
    asked = function_call("run_tests", {}, call_id="call_1")
    asked = asked.model_copy(update={"caller": CallerProgram(type="program", caller_id="program_1")})
    program = Program(id="p_1", call_id="program_1", code="run_tests()", fingerprint="f", type="program")
    model = ScriptedModel([[program, asked], [assistant_message("done")]])
    tool = function_tool(run_tests, allowed_callers=["direct", "programmatic"])
    tools = [*SpillTools(session).tools(tool), ProgrammaticToolCallingTool()]
    agent = Agent(name="tester", model=model, tools=tools)
    done = asyncio.run(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
    (shown,) = [item.output for item in done.new_items if item.type == "tool_call_output_item"]
    assert shown == BIG
    assert session.infos().items == []


def test_a_failure_gives_back_the_original(store, caplog):
    """The session was closed: the model gets what it got without us, and the log a line."""
    session = store.session("closed")
    tools = SpillTools(session).tools(function_tool(run_tests))
    session.close()
    with caplog.at_level(logging.WARNING, "spillstore.adapters"):
        (shown,) = Script([("run_tests", {})]).run(*tools)
    assert shown == BIG
    assert "run_tests" in caplog.text


def test_secrets_are_neither_shown_nor_stored(session):
    """Of little output, too."""
    secret = "ghp_" + "a1B2" * 9

    def leak() -> str:
        """Leak."""
        return f"token {secret}\n"

    def flood() -> str:
        """Leak in much."""
        return f"{BIG}token {secret}\n"

    shown = Script([("leak", {})], [("flood", {})]).run(
        *SpillTools(session).tools(function_tool(leak), function_tool(flood))
    )
    assert all(secret not in text and "REDACTED" in text for text in shown)
    assert secret.encode() not in session.find("call_2").read()


def test_the_end_of_the_tools_closes_what_they_have_opened(store):
    """A function opens the session with the first large result."""
    with SpillTools(lambda: store.session("own")) as spill:
        Script([("run_tests", {})]).run(*spill.tools(function_tool(run_tests)))
        session = spill.adapter.session
    with pytest.raises(Exception, match="closed"):
        session.infos()
    with store.session("own", create=False) as again:
        assert again.find("call_1").read() == BIG.encode()


# --- commands -----------------------------------------------------------------------------------------------


def shell(spill, *commands, **action):
    """What the executor gives for one call."""
    data = ShellCallData(call_id="call_1", action=ShellActionRequest(commands=[*commands], **action))
    return asyncio.run(spill.shell(ShellCommandRequest(ctx_wrapper=None, data=data)))


def test_commands_are_shown_in_part_and_kept_whole(session):
    """With their exit codes; each has its artifact."""
    failing = "seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3"
    large, small = shell(SpillTools(session), failing, "echo hello").output
    assert BOOM.strip() in large.stdout
    assert len(large.stdout) <= 8000
    assert large.outcome.exit_code == 3
    assert (small.stdout, small.exit_code, small.status) == ("hello\n[exit code 0]\n", 0, "completed")
    assert session.find("call_1").read_lines(20001, 20001) == BOOM.encode()


def test_previews_of_commands_are_as_small_as_the_model_wants(session):
    """The SDK would cut off their end."""
    failing = "seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3"
    outputs = shell(SpillTools(session), failing, f"{failing} # again", max_output_length=4000).output
    assert all(BOOM.strip() in each.stdout and len(each.stdout) <= 2000 for each in outputs)


def test_a_command_whose_time_is_over_is_ended(session):
    """What it printed until then is shown from its beginning."""
    before = time.monotonic()
    (output,) = shell(SpillTools(session), "seq 1 20000; echo there; sleep 300", timeout_ms=1000).output
    assert time.monotonic() - before < 100
    assert output.status == "timeout"
    assert "\n1\n2\n3\n" in output.stdout
    assert "there" in output.stdout


def test_a_shell_tool_runs_in_an_agent(session):
    """The SDK gives the executor's result to the model."""
    spill = SpillTools(session)
    seen = []

    def answer(call):
        items = call.input if isinstance(call.input, list) else []
        seen[:] = [item for item in items if item.get("type") == "shell_call_output"]
        if seen:
            return [assistant_message("done")]
        action = {"commands": ["seq 1 30000"], "timeout_ms": None, "max_output_length": None}
        return [
            ResponseFunctionShellToolCall(
                id="sh_1", call_id="call_1", type="shell_call", status="completed", action=action
            )
        ]

    model = ScriptedModel([ModelStep.respond(answer) for _ in range(2)])
    agent = Agent(name="tester", model=model, tools=[ShellTool(executor=spill.shell), *spill.retrieval()])
    done = asyncio.run(Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True)))
    assert done.final_output == "done"
    assert named(seen[0]["output"][0]["stdout"]) == session.find("call_1").id
