"""Strands Agents: scripted models, and our storage under its protocol."""

from __future__ import annotations

import asyncio
import json

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("strands")
pytestmark = pytest.mark.adapters

from strands import Agent, tool  # noqa: E402
from strands.models import Model  # noqa: E402
from strands.storage import Storage  # noqa: E402
from strands.types.exceptions import StorageError as ProtocolError  # noqa: E402
from strands.vended_plugins.context_offloader import ContextOffloader  # noqa: E402

from spillstore.exceptions import StorageError  # noqa: E402
from spillstore_tools.adapters.strands import SpillPlugin, SpillStorage  # noqa: E402
from spillstore_tools.config import TruncationConfiguration  # noqa: E402


class Script(Model):
    """Says what it is told; then it is done."""

    def __init__(self, *turns):
        self.turns = list(turns)
        self.tools = []

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *args, **kwargs):
        yield {}

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        self.tools = [each["name"] for each in tool_specs or ()]
        turn = self.turns.pop(0) if self.turns else None
        yield {"messageStart": {"role": "assistant"}}
        if turn is None:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "done"}}}
            yield {"contentBlockStop": {}}
        for name, arguments, call_id in turn or ():
            yield {"contentBlockStart": {"start": {"toolUse": {"name": name, "toolUseId": call_id}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if turn else "end_turn"}}


@tool
def run_tests(number: int = 0) -> str:
    """Runs the tests."""
    return f"run {number}\n{BIG}" if number else BIG


@tool
def with_blocks() -> dict:
    """Blocks of every kind."""
    image = {"image": {"format": "png", "source": {"bytes": b"hi"}}}
    content = [{"text": BIG}, image, {"json": {"log": BIG}}, {"citationsContent": {"new": 1}}]
    return {"status": "error", "content": content}


def run(plugin, *turns, loop=False, tools=(run_tests, with_blocks)):
    """The results that a scripted model gets, by call."""
    model = Script(*turns)
    agent = Agent(model=model, tools=list(tools), plugins=[plugin], callback_handler=None)
    result = asyncio.run(agent.invoke_async("go")) if loop else agent("go")
    assert str(result).strip() == "done"
    return {
        block["toolResult"]["toolUseId"]: block["toolResult"]
        for message in agent.messages
        for block in message["content"]
        if "toolResult" in block
    }


def text(result):
    return result["content"][0]["text"]


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_the_error_in_the_middle_is_shown_and_the_rest_is_read_back(session, loop):
    """By the model's own calls, which are in the audit log with their ids."""
    artifact = session.put(BIG, source="earlier")
    shown = run(
        SpillPlugin(session),
        [("run_tests", {}, "c1")],
        [("search_artifact", {"id": artifact.id, "pattern": "error: b"}, "c2")],
        [("get_artifact", {"id": artifact.id, "start_line": LINE, "end_line": LINE}, "c3")],
        loop=loop,
    )
    assert BOOM in text(shown["c1"])
    assert len(text(shown["c1"])) <= 8000
    assert session.find("c1").read_text() == BIG
    assert str(LINE) in text(shown["c2"])
    assert BOOM in text(shown["c3"])
    assert {event.tool_call_id for event in session.events() if event.kind in {"read", "search"}} >= {
        "c2",
        "c3",
    }


def test_parallel_calls_do_not_mix(session):
    """Of one message."""
    shown = run(SpillPlugin(session), [("run_tests", {"number": n}, f"c{n}") for n in range(1, 5)])
    for number in range(1, 5):
        assert f"run {number}\n" in text(shown[f"c{number}"])
        assert session.find(f"c{number}").read_text() == f"run {number}\n{BIG}"


def test_a_second_identical_call_names_the_first_artifact(session):
    """One copy is kept."""
    shown = run(SpillPlugin(session), [("run_tests", {}, "c1")], [("run_tests", {}, "c2")])
    assert f"this is all of artifact {session.find('c1').id} again" in text(shown["c2"])
    assert len(list(session.infos())) == 1


def test_blocks_keep_their_shape(session):
    """Images and what nobody knows stay; the status, too."""
    shown = run(SpillPlugin(session), [("with_blocks", {}, "c1")])["c1"]
    assert shown["status"] == "error"
    one, image, value, new = shown["content"]
    assert BOOM in one["text"]
    assert image == {"image": {"format": "png", "source": {"bytes": b"hi"}}}
    assert BOOM.strip() in value["text"]
    assert new == {"citationsContent": {"new": 1}}


@pytest.mark.parametrize("loop", [False, True], ids=["sync", "async"])
def test_a_failure_gives_back_the_result(loop):
    """The agent goes on."""

    def fails():
        raise StorageError("no room")

    assert text(run(SpillPlugin(fails), [("run_tests", {}, "c1")], loop=loop)["c1"]) == BIG


def test_what_a_profile_refuses_is_an_error(session):
    """The model learns that there is nothing to be read."""
    plugin = SpillPlugin(
        session, profile="acode", configuration=TruncationConfiguration(max_artifact_size=100_000)
    )
    assert run(plugin, [("run_tests", {}, "c1")])["c1"]["status"] == "error"


def test_calls_of_code_can_be_left_alone(session):
    """In a block, or by name."""
    plugin = SpillPlugin(session)
    agent = Agent(model=Script(), tools=[run_tests], plugins=[plugin], callback_handler=None)
    with plugin.adapter.off():
        assert text(agent.tool.run_tests()) == BIG
    assert len(text(agent.tool.run_tests())) <= 8000
    assert text(run(SpillPlugin(session, skip={"run_tests"}), [("run_tests", {}, "c1")])["c1"]) == BIG


def test_the_offloader_of_strands_stores_here(session):
    """And reads back by its own tool."""
    offloader = ContextOffloader(storage=SpillStorage(session))
    first = run(offloader, [("run_tests", {}, "c1")])["c1"]
    reference = next(key for key in asyncio.run(SpillStorage(session).list("offloader/")))
    assert reference.removeprefix("offloader/") in text(first)
    shown = run(
        ContextOffloader(storage=SpillStorage(session)),
        [
            (
                "retrieve_offloaded_content",
                {"reference": reference.removeprefix("offloader/"), "pattern": "boom"},
                "c2",
            )
        ],
    )["c2"]
    assert BOOM.strip() in text(shown)


def test_values_come_back_as_they_were(session):
    """Whatever they are, and secrets with them; across sessions of the process."""
    storage = SpillStorage(session)
    assert isinstance(storage, Storage)
    token = ("ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8").encode()

    async def main():
        for key, value in {"a//b": bytes(range(256)), "/empty/": b"", "token": token}.items():
            await storage.write(key, value)
            assert await storage.read(key) == value
        await asyncio.gather(*(storage.write(f"many/{n}", str(n).encode()) for n in range(8)))
        assert await storage.list("many/") == [f"many/{n}" for n in range(8)]
        for key in ("", "/", "a/../b", "a\\b"):
            with pytest.raises(ProtocolError):
                await storage.write(key, b"")

    asyncio.run(main())
    assert session.find("a/b").read() == bytes(range(256))


def test_a_store_that_fails_is_an_error_of_the_protocol():
    """By each method."""

    def fails():
        raise StorageError("no room")

    storage = SpillStorage(fails)
    for call in (storage.write("a", b""), storage.read("a"), storage.delete("a"), storage.list("a")):
        with pytest.raises(ProtocolError, match="no room"):
            asyncio.run(call)
