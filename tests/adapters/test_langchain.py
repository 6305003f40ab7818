"""LangChain: scripted models in ``create_agent``."""

from __future__ import annotations

import asyncio
import json

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("langchain")
pytestmark = pytest.mark.adapters

from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langgraph.types import Command  # noqa: E402

from spillstore.exceptions import StorageError  # noqa: E402
from spillstore_tools.adapters.langchain import SpillMiddleware  # noqa: E402
from spillstore_tools.config import TruncationConfiguration  # noqa: E402


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


@tool
def run_tests() -> str:
    """Runs the tests."""
    return BIG


@tool
async def run_tests_async(number: int) -> str:
    """Runs the tests."""
    return f"run {number}\n{BIG}"


@tool
def small() -> dict:
    """Little."""
    return {"a": 1}


@tool(response_format="content_and_artifact")
def with_blocks() -> tuple:
    """Blocks, and something for code."""
    image = {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "aGk="}
    return [{"type": "text", "text": BIG}, image], {"rows": [1]}


@tool
def command(runtime: object = None) -> Command:
    """Updates the state."""
    return Command(update={"messages": [ToolMessage(BIG, tool_call_id="c1", name="command")]})


def calls(*named):
    """A message with calls of tools."""
    found = [{"name": name, "args": args, "id": call_id} for name, args, call_id in named]
    return AIMessage("", tool_calls=found)


def run(middleware, tools, *messages, loop=False):
    """The tool messages that a scripted model gets, by call."""
    agent = create_agent(
        Script(messages=iter([*messages, AIMessage("done")])), tools=tools, middleware=[middleware]
    )
    given = {"messages": [("user", "go")]}
    result = asyncio.run(agent.ainvoke(given)) if loop else agent.invoke(given)
    assert result["messages"][-1].content == "done"
    return {each.tool_call_id: each for each in result["messages"] if isinstance(each, ToolMessage)}


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_the_error_in_the_middle_is_shown_and_the_rest_is_read_back(session, loop):
    """By the model's own calls, which are in the audit log with their ids."""
    artifact = session.put(BIG, source="earlier")
    shown = run(
        SpillMiddleware(session),
        [run_tests],
        calls(("run_tests", {}, "c1")),
        calls(("search_artifact", {"id": artifact.id, "pattern": "error: b"}, "c2")),
        calls(("get_artifact", {"id": artifact.id, "start_line": LINE, "end_line": LINE}, "c3")),
        loop=loop,
    )
    assert BOOM in shown["c1"].content
    assert len(shown["c1"].content) <= 8000
    assert shown["c1"].artifact == {"spillstore": [session.find("c1").id]}
    assert session.find("c1").read_text() == BIG
    assert str(LINE) in shown["c2"].content
    assert BOOM in shown["c3"].content
    assert {event.tool_call_id for event in session.events() if event.kind in {"read", "search"}} >= {
        "c2",
        "c3",
    }


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_parallel_calls_do_not_mix(session, loop):
    """Of one message."""
    tools = [run_tests_async] if loop else [run_tests, small]
    named = [("run_tests_async", {"number": n}, f"c{n}") for n in range(4)]
    if not loop:
        named = [("run_tests", {}, "c0"), ("small", {}, "c1"), ("run_tests", {}, "c2")]
    shown = run(SpillMiddleware(session), tools, calls(*named), loop=loop)
    if loop:
        for number in range(4):
            assert f"run {number}\n" in shown[f"c{number}"].content
            assert session.find(f"c{number}").read_text() == f"run {number}\n{BIG}"
    else:
        assert shown["c1"].content == json.dumps({"a": 1})
        assert BOOM in shown["c0"].content
        assert BOOM in shown["c2"].content


def test_a_second_identical_call_names_the_first_artifact(session):
    """One copy is kept."""
    shown = run(
        SpillMiddleware(session), [run_tests], calls(("run_tests", {}, "c1")), calls(("run_tests", {}, "c2"))
    )
    first = session.find("c1").id
    assert f"this is all of artifact {first} again" in shown["c2"].content
    assert shown["c2"].artifact == {"spillstore": [first]}
    assert len(list(session.infos())) == 1


def test_blocks_keep_their_images_and_tools_their_artifacts(session):
    """What code consumes is not touched."""
    shown = run(SpillMiddleware(session), [with_blocks], calls(("with_blocks", {}, "c1")))["c1"]
    assert BOOM in shown.content[0]["text"]
    assert shown.content[1]["data"] == "aGk="
    assert shown.artifact == {"rows": [1]}


def test_messages_in_a_command_are_shown_in_part(session):
    """They reach the model like any other."""
    shown = run(SpillMiddleware(session), [command], calls(("command", {}, "c1")))["c1"]
    assert BOOM in shown.content
    assert len(shown.content) <= 8000


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_a_failure_gives_back_the_result(loop):
    """The agent goes on."""

    def fails():
        raise StorageError("no room")

    assert (
        run(SpillMiddleware(fails), [run_tests], calls(("run_tests", {}, "c1")), loop=loop)["c1"].content
        == BIG
    )


def test_what_a_profile_refuses_is_an_error(session):
    """The model learns that there is nothing to be read."""
    configuration = TruncationConfiguration(max_artifact_size=100_000)
    middleware = SpillMiddleware(session, profile="acode", configuration=configuration)
    shown = run(middleware, [run_tests], calls(("run_tests", {}, "c1")))["c1"]
    assert (shown.status, shown.artifact) == ("error", None)


def test_results_that_are_skipped_pass(session):
    """By name."""
    middleware = SpillMiddleware(session, skip={"run_tests"})
    assert run(middleware, [run_tests], calls(("run_tests", {}, "c1")))["c1"].content == BIG


def test_the_session_ends_with_the_middleware(store):
    """Where the middleware has opened it."""
    with SpillMiddleware(lambda: store.session("own")) as middleware:
        run(middleware, [run_tests], calls(("run_tests", {}, "c1")))
        session = middleware.adapter.session
    with pytest.raises(Exception, match="was closed"):
        session.artifact("art_1_2")
