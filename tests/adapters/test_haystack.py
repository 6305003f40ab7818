"""Haystack: scripted generators in its agent, and its own offloading with our store."""

from __future__ import annotations

import asyncio

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("haystack")
pytestmark = pytest.mark.adapters

from haystack import component  # noqa: E402
from haystack.components.agents import Agent  # noqa: E402
from haystack.dataclasses import ChatMessage, TextContent, ToolCall  # noqa: E402
from haystack.hooks.tool_result_offloading import OffloadOverChars, ToolResultOffloadHook  # noqa: E402
from haystack.tools import Tool  # noqa: E402

from spillstore.exceptions import StorageError  # noqa: E402
from spillstore_tools.adapters.haystack import SpillHook, SpillStore  # noqa: E402

NOTHING = {"type": "object", "properties": {}}


@component
class Script:
    """Makes the calls that it is told; then it is done."""

    def __init__(self, *turns):
        self.turns = list(turns)

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list | None = None, **kwargs):
        if not self.turns:
            return {"replies": [ChatMessage.from_assistant("done")]}
        calls = [ToolCall(name, arguments, id=call_id) for name, arguments, call_id in self.turns.pop(0)]
        return {"replies": [ChatMessage.from_assistant(tool_calls=calls)]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: list | None = None, **kwargs):
        return self.run(messages, tools)


def run_tests(number: int = 0) -> str:
    return f"run {number}\n{BIG}" if number else BIG


TESTS = Tool(
    "run_tests",
    "Runs the tests.",
    {"type": "object", "properties": {"number": {"type": "integer"}}},
    run_tests,
)
BLOCKS = Tool(
    "with_blocks",
    "Blocks.",
    NOTHING,
    lambda: [TextContent(BIG), TextContent("little")],
    outputs_to_string={"raw_result": True},
)


def run(hook, *turns, loop=False):
    """The results that a scripted model gets, by call; the agent is closed."""
    tools = [TESTS, BLOCKS, *getattr(hook, "tools", [])]
    agent = Agent(chat_generator=Script(*turns), tools=tools, hooks={"after_tool": [hook]})
    given = [ChatMessage.from_user("go")]
    done = asyncio.run(agent.run_async(messages=given)) if loop else agent.run(messages=given)
    assert done["messages"][-1].text == "done"
    return {each.tool_call_result.origin.id: each for each in done["messages"] if each.tool_call_result}


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_the_error_in_the_middle_is_shown_and_the_rest_is_read_back(session, loop):
    """By the model's own calls."""
    artifact = session.put(BIG, source="earlier")
    found = run(
        SpillHook(session),
        [("run_tests", {}, "c1")],
        [("search_artifact", {"id": artifact.id, "pattern": "error: b"}, "c2")],
        [("get_artifact", {"id": artifact.id, "start_line": LINE, "end_line": LINE}, "c3")],
        loop=loop,
    )
    shown = {name: each.tool_call_result.result for name, each in found.items()}
    assert BOOM in shown["c1"]
    assert len(shown["c1"]) <= 8000
    assert found["c1"].meta["spillstore"] == [session.find("c1").id]
    assert session.find("c1").read_text() == BIG
    assert str(LINE) in shown["c2"]
    assert BOOM in shown["c3"]


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_parallel_calls_and_blocks_keep_apart(session, loop):
    """Of one message."""
    turns = [*((("run_tests", {"number": n}, f"c{n}")) for n in range(1, 4)), ("with_blocks", {}, "c4")]
    shown = {
        name: each.tool_call_result.result for name, each in run(SpillHook(session), turns, loop=loop).items()
    }
    for number in range(1, 4):
        assert f"run {number}\n" in shown[f"c{number}"]
        assert session.find(f"c{number}").read_text() == f"run {number}\n{BIG}"
    assert BOOM in shown["c4"][0].text
    assert shown["c4"][1] == TextContent("little")


def test_a_second_identical_call_names_the_first_artifact(session):
    """One copy is kept."""
    found = run(SpillHook(session), [("run_tests", {}, "c1")], [("run_tests", {}, "c2")])
    first = session.find("c1").id
    assert f"this is all of artifact {first} again" in found["c2"].tool_call_result.result
    assert len(list(session.infos())) == 1


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_a_failure_gives_back_the_result(loop):
    """The agent goes on, with our hook and with our store in Haystack's."""

    def fails():
        raise StorageError("no room")

    for hook in (SpillHook(fails), ToolResultOffloadHook(SpillStore(fails), {"*": OffloadOverChars(8000)})):
        found = run(hook, [("run_tests", {}, "c1")], loop=loop)
        assert found["c1"].tool_call_result.result == BIG


def test_the_agents_end_closes_the_session(store):
    """That was opened by the hook."""
    hook = SpillHook(lambda: store.session("own"))
    agent = Agent(
        chat_generator=Script([("run_tests", {}, "c1")]), tools=[TESTS], hooks={"after_tool": [hook]}
    )
    agent.run(messages=[ChatMessage.from_user("go")])
    session = hook.adapter.session
    agent.close()
    with pytest.raises(Exception, match="was closed"):
        session.artifact("art_1_2")


def test_haystacks_own_hook_stores_here(session):
    """Text and bytes come back."""
    store = SpillStore(session)
    hook = ToolResultOffloadHook(store, {"*": OffloadOverChars(8000)})
    shown = run(hook, [("run_tests", {}, "c1")])["c1"].tool_call_result.result
    info = next(iter(session.infos()))
    assert info.id in shown
    assert store.read(info.id) == BIG
    assert store.read(store.write(key="image", content=bytes(range(256)))) == bytes(range(256))


def test_what_is_named_can_be_serialized(session):
    """What was given cannot."""
    assert SpillHook.from_dict(SpillHook("chat").to_dict()).to_dict() == SpillHook("chat").to_dict()
    assert SpillStore.from_dict(SpillStore("chat").to_dict()).to_dict() == SpillStore("chat").to_dict()
    for given in (SpillHook(session), SpillStore(session), SpillHook("chat", skip={"fetch"})):
        with pytest.raises(ValueError, match="seriali"):
            given.to_dict()
