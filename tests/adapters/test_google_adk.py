"""Google ADK with a scripted model: bounded results, retrieval tools."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import Field

from spillstore_tools.adapters.core import RETRIEVAL, Adapter
from spillstore_tools.adapters.google_adk import SpillPlugin

# Earlier versions call schemas of JSON an experiment.
pytestmark = [pytest.mark.adapters, pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL:UserWarning")]


class Script(BaseLlm):
    """A model that makes the calls of each turn, and then says that it is done."""

    turns: list = Field(default_factory=list)
    results: list = Field(default_factory=list)
    media: list = Field(default_factory=list)
    tools: list = Field(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):  # noqa: FBT002  # as in ADK
        parts = [part for content in llm_request.contents for part in content.parts]
        answers = [part.function_response for part in parts if part.function_response]
        self.results = [answer.response for answer in answers]
        self.media = [answer.parts for answer in answers]
        self.tools = [
            each.name for tool in llm_request.config.tools or [] for each in tool.function_declarations
        ]
        if not self.turns:
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="done")]))
            return
        turn, *self.turns = self.turns
        calls = turn(self.results) if callable(turn) else turn
        made = [
            types.FunctionCall(id=f"call_{number}", name=name, args=arguments)
            for number, (name, arguments) in enumerate(calls, len(self.results) + 1)
        ]
        parts = [types.Part(function_call=call) for call in made]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def run(*turns, tools, plugins):
    """The model after a conversation, with the results that it has got."""
    model = Script(model="script", turns=list(turns))

    async def converse():
        agent = LlmAgent(name="tester", model=model, tools=tools)
        async with InMemoryRunner(app=App(name="tests", root_agent=agent, plugins=plugins)) as runner:
            session = await runner.session_service.create_session(app_name="tests", user_id="user")
            message = types.Content(role="user", parts=[types.Part(text="go")])
            events = [
                event
                async for event in runner.run_async(
                    user_id="user", session_id=session.id, new_message=message
                )
            ]
        assert events[-1].content.parts[0].text == "done"

    asyncio.run(converse())
    return model


def run_tests() -> str:
    """Run the tests."""
    return BIG


async def run_tests_there() -> dict:
    """Run the tests elsewhere."""
    return {"stdout": BIG, "exit_code": 1}


def run_one(number: int) -> str:
    """Run the tests of one part."""
    return f"part {number}\n{BIG}"


def named(value):
    """The artifact that a preview names."""
    return re.search(r"art_\d+_[0-9a-f]{16}", str(value))[0]


@pytest.mark.parametrize(("function", "path"), [(run_tests, {}), (run_tests_there, {"path": "$.stdout"})])
def test_the_model_sees_the_error_and_reads_the_rest(session, function, path):
    """Of 820 KB it is shown at most 8,000 characters, with the line in the middle, and its own calls are answered."""
    model = run(
        [(function.__name__, {})],
        lambda results: [("search_artifact", {"id": named(results[0]), "pattern": "boom", **path})],
        lambda results: [("get_artifact", {"id": named(results[0]), "tail": 1, **path})],
        tools=[function],
        plugins=[SpillPlugin(session)],
    )
    shown, found, read = (result["result"] for result in model.results)
    assert BOOM.strip() in shown
    assert len(shown) <= 8000
    assert f"\n{LINE}:{BOOM}" in found
    assert BIG.splitlines()[-1] in read
    assert model.tools == [function.__name__, *RETRIEVAL]
    (info,) = session.infos().items  # what was read was not stored again
    assert session.find("call_1").id == info.id
    assert info.source == function.__name__


def test_lines_are_those_of_the_result(session):
    """The artifact holds the text to the byte."""
    run([("run_tests", {})], tools=[run_tests], plugins=[SpillPlugin(session)])
    assert session.find("call_1").read() == BIG.encode()
    assert session.find("call_1").read_lines(LINE, LINE) == BOOM.encode()


def test_small_results_are_as_they_were(session):
    """Nothing is stored of them, and other plugins are asked about them."""
    seen = []

    class Other(BasePlugin):
        async def after_tool_callback(self, *, tool, tool_args, tool_context, result):
            seen.append(result)

    def little() -> dict:
        """Say little."""
        return {"answer": "all good"}

    model = run([("little", {})], tools=[little], plugins=[SpillPlugin(session), Other(name="other")])
    assert model.results == seen == [{"answer": "all good"}]
    assert session.infos().items == []


def test_parallel_calls_have_an_artifact_each(session):
    """Each names its own call."""
    calls = [("run_one", {"number": number}) for number in range(8)]
    model = run(calls, tools=[run_one], plugins=[SpillPlugin(session)])
    for number, result in enumerate(model.results):
        assert BOOM.strip() in result["result"]
        assert session.find(f"call_{number + 1}").read() == run_one(number).encode()
        assert named(result) == session.find(f"call_{number + 1}").id


def test_the_same_call_again_names_the_first_artifact(session):
    """No second copy is kept."""
    model = run([("run_tests", {})], [("run_tests", {})], tools=[run_tests], plugins=[SpillPlugin(session)])
    first, second = model.results
    assert named(first) == named(second)
    assert "again" in second["result"]
    assert len(session.infos().items) == 1


def test_media_beside_a_text_stays(session):
    """ADK sends it to the model as what it is."""
    image = types.Part.from_bytes(data=b"\x89PNG" * 5000, mime_type="image/png")

    def look() -> dict:
        """Look at the screen."""
        return {"text": BIG, "screen": image}

    def look_only() -> types.Part:
        """Look, and say nothing."""
        return image

    model = run([("look", {}), ("look_only", {})], tools=[look, look_only], plugins=[SpillPlugin(session)])
    assert BOOM.strip() in model.results[0]["result"]
    assert [len(parts) for parts in model.media] == [1, 1]
    assert model.media[0][0].inline_data.data == b"\x89PNG" * 5000
    assert len(session.infos().items) == 1


def test_results_of_servers_keep_their_form(session):
    """A result of MCP is a dictionary with content blocks."""

    def call_server() -> dict:
        """Call a server."""
        return {"content": [{"type": "text", "text": BIG}], "isError": False}

    model = run([("call_server", {})], tools=[call_server], plugins=[SpillPlugin(session)])
    (result,) = model.results
    assert result["isError"] is False
    assert BOOM.strip() in result["content"][0]["text"]
    assert len(result["content"][0]["text"]) <= 8000


def test_an_agent_without_tools_is_offered_none(session):
    """It may have tools of the model's own, which go with no others."""
    assert run(tools=[], plugins=[SpillPlugin(session)]).tools == []


def test_results_for_code_pass(session):
    """By the tool, and by the call."""
    model = run([("run_tests", {})], tools=[run_tests], plugins=[SpillPlugin(session, skip=["run_tests"])])
    assert model.results == [{"result": BIG}]
    with Adapter.off():
        model = run([("run_tests", {})], tools=[run_tests], plugins=[SpillPlugin(session)])
    assert model.results == [{"result": BIG}]
    assert session.infos().items == []


def test_a_failure_gives_back_the_original(store, caplog):
    """The session was closed: the model gets what it got without us, and the log a line."""
    session = store.session("closed")
    plugin = SpillPlugin(session)
    session.close()
    with caplog.at_level(logging.WARNING, "spillstore.adapters"):
        model = run([("run_tests", {})], tools=[run_tests], plugins=[plugin])
    assert model.results == [{"result": BIG}]
    assert "run_tests" in caplog.text


def test_secrets_are_neither_shown_nor_stored(session):
    """Of little output, too."""
    secret = "ghp_" + "a1B2" * 9

    def leak() -> dict:
        """Leak."""
        return {"token": secret}

    def flood() -> str:
        """Leak in much."""
        return f"{BIG}token {secret}\n"

    model = run([("leak", {}), ("flood", {})], tools=[leak, flood], plugins=[SpillPlugin(session)])
    assert all(secret not in str(result) and "REDACTED" in str(result) for result in model.results)
    assert secret.encode() not in session.find("call_2").read()


def test_the_end_of_the_runner_closes_what_the_plugin_has_opened(store):
    """A function opens the session with the first large result."""
    opened = []

    def open_session():
        opened.append(store.session("own"))
        return opened[-1]

    run([("run_tests", {})], tools=[run_tests], plugins=[SpillPlugin(open_session)])
    with pytest.raises(Exception, match="closed"):
        opened[0].infos()
    with store.session("own", create=False) as again:
        assert again.find("call_1").read() == BIG.encode()
