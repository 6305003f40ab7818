"""PydanticAI with a function as its model: bounded results, retrieval tools, the store for overflows."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import (
    BinaryContent,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tool_manager import ToolManager

from spillstore_tools.adapters.core import RETRIEVAL, Adapter
from spillstore_tools.adapters.pydantic_ai import SpillCapability, SpillOverflowStore

pytestmark = pytest.mark.adapters


class Script:
    """A model that makes the calls of each turn, and then says that it is done."""

    def __init__(self, *turns):
        self.parts = []
        self.tools = []
        self._turns = list(turns)

    @property
    def results(self):
        return [part.content for part in self.parts]

    def _answer(self, messages, info):
        self.parts = [
            part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
        ]
        self.tools = [tool.name for tool in info.function_tools]
        if not self._turns:
            return ModelResponse([TextPart("done")])
        turn = self._turns.pop(0)
        calls = turn(self.results) if callable(turn) else turn
        return ModelResponse([
            ToolCallPart(name, arguments, tool_call_id=f"call_{number}")
            for number, (name, arguments) in enumerate(calls, len(self.parts) + 1)
        ])  # fmt: skip

    def agent(self, *tools, capabilities):
        return Agent(FunctionModel(self._answer), tools=tools, capabilities=capabilities)

    def run(self, *tools, capabilities, sync=False):
        """The results of the calls, as the model has got them."""
        agent = self.agent(*tools, capabilities=capabilities)
        if sync:
            loop = asyncio.new_event_loop()  # which the framework leaves open
            asyncio.set_event_loop(loop)
            try:
                done = agent.run_sync("go")
            finally:
                asyncio.set_event_loop(None)
                loop.close()
        else:
            done = asyncio.run(agent.run("go"))
        assert done.output == "done"
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


class Report(BaseModel):
    passed: bool
    log: str


def report() -> Report:
    """Report."""
    return Report(passed=False, log=BIG)


def named(text):
    """The artifact that a preview names."""
    return re.search(r"art_\d+_[0-9a-f]{16}", text)[0]


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize(
    ("function", "path"), [(run_tests, {}), (run_tests_there, {}), (report, {"path": "$.log"})]
)
def test_the_model_sees_the_error_and_reads_the_rest(session, function, path, sync):
    """Of 820 KB it is shown at most 8,000 characters, with the line in the middle, and its own calls are answered."""
    script = Script(
        [(function.__name__, {})],
        lambda results: [("search_artifact", {"id": named(results[0]), "pattern": "boom", **path})],
        lambda results: [("get_artifact", {"id": named(results[0]), "tail": 1, **path})],
    )
    shown, found, read = script.run(function, capabilities=[SpillCapability(session)], sync=sync)
    assert BOOM.strip() in shown
    assert len(shown) <= 8000
    assert f"\n{LINE}:{BOOM}" in found
    assert BIG.splitlines()[-1] in read
    assert sorted(script.tools) == sorted([function.__name__, *RETRIEVAL])
    (info,) = session.infos().items  # what was read was not stored again
    assert session.find("call_1").id == info.id
    assert info.source == function.__name__
    assert script.parts[0].metadata == {"spillstore": [info.id]}


def test_small_results_are_as_they_were(session):
    """Objects stay objects, and nothing is stored of them."""

    def little() -> Report:
        """Report little."""
        return Report(passed=True, log="all good")

    (shown,) = Script([("little", {})]).run(little, capabilities=[SpillCapability(session)])
    assert shown == Report(passed=True, log="all good")
    assert session.infos().items == []


def test_parallel_calls_have_an_artifact_each(session):
    """Each names its own call."""
    calls = [("run_one", {"number": number}) for number in range(8)]
    for number, text in enumerate(Script(calls).run(run_one, capabilities=[SpillCapability(session)])):
        assert BOOM.strip() in text
        assert session.find(f"call_{number + 1}").read() == run_one(number).encode()
        assert named(text) == session.find(f"call_{number + 1}").id


def test_the_same_call_again_names_the_first_artifact(session):
    """No second copy is kept; so also in another run of the agent."""
    capability = SpillCapability(session)
    first, second = Script([("run_tests", {})], [("run_tests", {})]).run(run_tests, capabilities=[capability])
    (third,) = Script([("run_tests", {})]).run(run_tests, capabilities=[capability])
    assert named(first) == named(second) == named(third)
    assert "again" in second
    assert len(session.infos().items) == 1


def test_what_a_tool_returns_besides_stays(session):
    """Metadata of its own, and content for the user's side of the conversation."""

    def look() -> ToolReturn:
        """Look at the screen."""
        image = BinaryContent(data=b"\x89PNG" * 5000, media_type="image/png")
        return ToolReturn(BIG, content=["before", image, BIG], metadata={"mine": 1})

    script = Script([("look", {})])
    agent = script.agent(look, capabilities=[SpillCapability(session)])
    done = asyncio.run(agent.run("go"))
    assert BOOM.strip() in script.results[0]
    assert script.parts[0].metadata == {"mine": 1}
    message = next(
        message for message in done.all_messages() if any(part in message.parts for part in script.parts)
    )
    before, image, text = message.parts[-1].content
    assert (before, image.data) == ("before", b"\x89PNG" * 5000)
    assert BOOM.strip() in text
    assert len(text) <= 8000


def test_media_in_a_result_stays(session):
    """The texts beside it are cut; a value with media inside passes."""
    image = BinaryContent(data=b"\x89PNG" * 5000, media_type="image/png")

    def look() -> list:
        """Look at the screen."""
        return [BIG, image]

    def look_closely() -> dict:
        """Look at the screen."""
        return {"screen": image}

    one, two = Script([("look", {}), ("look_closely", {})]).run(
        look, look_closely, capabilities=[SpillCapability(session)]
    )
    assert BOOM.strip() in one[0]
    assert len(one[0]) <= 8000
    assert one[1] == image
    assert two == {"screen": image}


def test_results_for_code_pass(session):
    """By the tool, by the call, and where a program of the model's has made the call."""
    skipping = SpillCapability(session, skip=["run_tests"])
    assert Script([("run_tests", {})]).run(run_tests, capabilities=[skipping]) == [BIG]
    with Adapter.off():
        capability = SpillCapability(session)
        assert Script([("run_tests", {})]).run(run_tests, capabilities=[capability]) == [BIG]
    assert session.infos().items == []


def test_results_for_a_program_of_the_model_pass(session):
    """A tool that calls others on the model's behalf, as code mode does, gets what they return."""
    got = []

    async def run_code(ctx: RunContext) -> str:
        """Run a program."""
        manager = ToolManager(ctx.tool_manager.toolset, root_capability=ctx.tool_manager.root_capability)
        manager = await manager.for_run_step(ctx)
        call = ToolCallPart("run_tests", {}, tool_call_id="nested_1")
        got.append(await manager.handle_call(call, wrap_validation_errors=False))
        return "done"

    Script([("run_code", {})]).run(run_code, run_tests, capabilities=[SpillCapability(session)])
    assert got == [BIG]
    assert session.infos().items == []


def test_a_failure_gives_back_the_original(store, caplog):
    """The session was closed: the model gets what it got without us, and the log a line."""
    session = store.session("closed")
    capability = SpillCapability(session)
    session.close()
    with caplog.at_level(logging.WARNING, "spillstore.adapters"):
        assert Script([("run_tests", {})]).run(run_tests, capabilities=[capability]) == [BIG]
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

    shown = Script([("leak", {}), ("flood", {})]).run(leak, flood, capabilities=[SpillCapability(session)])
    assert all(secret not in text and "REDACTED" in text for text in shown)
    assert secret.encode() not in session.find("call_2").read()


def test_the_end_of_the_capability_closes_what_it_has_opened(store):
    """A function opens the session with the first large result; several runs share it."""
    opened = []

    def open_session():
        opened.append(store.session("own"))
        return opened[-1]

    with SpillCapability(open_session) as capability:
        for _ in range(2):
            Script([("run_tests", {})]).run(run_tests, capabilities=[capability])
    assert len(opened) == 1
    with pytest.raises(Exception, match="closed"):
        opened[0].infos()


def test_overflows_are_stored_and_read_back(session):
    """The harness's previews and its own tool for the rest, over our store."""
    limits = pytest.importorskip("pydantic_ai_harness.tool_output_limits")
    store = SpillOverflowStore(session)
    assert isinstance(store, limits.OverflowStore)
    script = Script(
        [("run_tests", {})],
        lambda results: [("read_tool_result", {"handle": named(results[0]), "pattern": "boom"})],
        [("read_tool_result", {"handle": "nothing"})],
    )
    shown, read = script.run(run_tests, capabilities=[limits.ToolOutputLimits(store=store)])[:2]
    assert len(shown) < 8000
    assert BOOM.strip() in read
    assert session.find("call_1").read() == BIG.encode()


def test_an_unknown_overflow_is_no_file(session):
    """As the protocol says."""
    store = SpillOverflowStore(session)
    with pytest.raises(FileNotFoundError):
        asyncio.run(store.read("art_1699234567890_a1b2c3d4e5f60718"))
