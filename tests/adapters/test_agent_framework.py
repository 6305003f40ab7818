"""Microsoft Agent Framework with a scripted client: bounded results, retrieval tools."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from spillstore_tools.adapters.agent_framework import SpillMiddleware
from spillstore_tools.adapters.core import RETRIEVAL, Adapter

pytestmark = pytest.mark.adapters


class Script(FunctionInvocationLayer, BaseChatClient):
    """A client whose model makes the calls of each turn, and then says that it is done."""

    def __init__(self, *turns):
        super().__init__()
        self.results = []
        self.tools = []
        self._turns = list(turns)

    def _inner_get_response(self, *, messages, stream, options, **rest):
        async def answer():
            contents = [content for message in messages for content in message.contents]
            self.results = [content for content in contents if content.type == "function_result"]
            self.tools = [each.name for each in options.get("tools") or []]
            if not self._turns:
                return ChatResponse(messages=[Message(role="assistant", contents=["done"])])
            turn = self._turns.pop(0)
            calls = turn([each.result for each in self.results]) if callable(turn) else turn
            made = [
                Content.from_function_call(f"call_{number}", name, arguments=arguments)
                for number, (name, arguments) in enumerate(calls, len(self.results) + 1)
            ]
            return ChatResponse(messages=[Message(role="assistant", contents=made)])

        return answer()

    def run(self, *tools, spill):
        """The results of the calls, as the model has got them."""
        agent = Agent(self, tools=[*tools, *spill.tools], middleware=[spill])
        assert asyncio.run(agent.run("go")).text == "done"
        return [each.result for each in self.results]


@tool
def run_tests() -> str:
    """Run the tests."""
    return BIG


@tool
async def run_tests_there() -> dict:
    """Run the tests elsewhere."""
    return {"stdout": BIG, "exit_code": 1}


@tool
def run_one(number: int) -> str:
    """Run the tests of one part."""
    return f"part {number}\n{BIG}"


def named(text):
    """The artifact that a preview names."""
    return re.search(r"art_\d+_[0-9a-f]{16}", text)[0]


@pytest.mark.parametrize(("function", "path"), [(run_tests, {}), (run_tests_there, {"path": "$.stdout"})])
def test_the_model_sees_the_error_and_reads_the_rest(session, function, path):
    """Of 820 KB it is shown at most 8,000 characters, with the line in the middle, and its own calls are answered."""
    script = Script(
        [(function.name, {})],
        lambda results: [("search_artifact", {"id": named(results[0]), "pattern": "boom", **path})],
        lambda results: [("get_artifact", {"id": named(results[0]), "tail": 1, **path})],
    )
    shown, found, read = script.run(function, spill=SpillMiddleware(session))
    assert BOOM.strip() in shown
    assert len(shown) <= 8000
    assert f"\n{LINE}:{BOOM}" in found
    assert BIG.splitlines()[-1] in read
    assert script.tools == [function.name, *RETRIEVAL]
    (info,) = session.infos().items  # what was read was not stored again
    assert session.find("call_1").id == info.id
    reads = [event for event in session.events() if event.tool_call_id in {"call_2", "call_3"}]
    assert reads


def test_small_results_are_as_they_were(session):
    """Nothing is stored of them."""

    @tool
    def little() -> str:
        """Say little."""
        return "all good"

    assert Script([("little", {})]).run(little, spill=SpillMiddleware(session)) == ["all good"]
    assert session.infos().items == []


def test_parallel_calls_have_an_artifact_each(session):
    """Each names its own call."""
    calls = [("run_one", {"number": number}) for number in range(8)]
    for number, text in enumerate(Script(calls).run(run_one, spill=SpillMiddleware(session))):
        assert BOOM.strip() in text
        assert session.find(f"call_{number + 1}").read() == f"part {number}\n{BIG}".encode()


def test_the_same_call_again_names_the_first_artifact(session):
    """No second copy is kept."""
    script = Script([("run_tests", {})], [("run_tests", {})])
    first, second = script.run(run_tests, spill=SpillMiddleware(session))
    assert named(first) == named(second)
    assert len(session.infos().items) == 1


def test_images_beside_a_text_stay(session):
    """The text is cut."""

    @tool
    def look() -> list[Content]:
        """Look at the screen."""
        return [Content.from_text(BIG), Content.from_data(b"\x89PNG" * 5000, "image/png")]

    script = Script([("look", {})])
    script.run(look, spill=SpillMiddleware(session))
    text, image = script.results[0].items
    assert BOOM.strip() in text.text
    assert len(text.text) <= 8000
    assert image.media_type == "image/png"


def test_results_for_code_pass(session):
    """By the tool, and by the call."""
    skipping = SpillMiddleware(session, skip=["run_tests"])
    assert Script([("run_tests", {})]).run(run_tests, spill=skipping) == [BIG]
    with Adapter.off():
        assert Script([("run_tests", {})]).run(run_tests, spill=SpillMiddleware(session)) == [BIG]
    assert session.infos().items == []


def test_a_failure_gives_back_the_original(store, caplog):
    """The session was closed: the model gets what it got without us, and the log a line."""
    session = store.session("closed")
    spill = SpillMiddleware(session)
    session.close()
    with caplog.at_level(logging.WARNING, "spillstore.adapters"):
        assert Script([("run_tests", {})]).run(run_tests, spill=spill) == [BIG]
    assert "run_tests" in caplog.text


def test_the_end_of_the_middleware_closes_what_it_has_opened(store):
    """A function opens the session with the first large result."""
    opened = []

    def open_session():
        opened.append(store.session("own"))
        return opened[-1]

    with SpillMiddleware(open_session) as spill:
        Script([("run_tests", {})]).run(run_tests, spill=spill)
    with pytest.raises(Exception, match="closed"):
        opened[0].infos()
