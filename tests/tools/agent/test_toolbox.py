"""All tools of a session together, as an agent's loop uses them."""

from __future__ import annotations

import asyncio
import inspect
import json
import re

import pytest

from spillstore_tools.agent.artifact_info import artifact_info
from spillstore_tools.agent.compare_artifacts import compare_artifacts
from spillstore_tools.agent.definitions import STYLES
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.list_artifacts import list_artifacts
from spillstore_tools.agent.reading_tools import READING_TOOLS
from spillstore_tools.agent.search_artifact import search_artifact
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.config import load

pytestmark = pytest.mark.everywhere


@pytest.fixture
def tools(plain_store):
    with plain_store.session("chat") as session:
        yield Toolbox(session)


@pytest.mark.parametrize("style", STYLES)
def test_definitions(tools, style):
    """Six tools, each with a schema that can be sent."""
    definitions = tools.definitions(style)
    json.dumps(definitions)
    functions = [each["function"] if style == "openai" else each for each in definitions]
    assert [each["name"] for each in functions] == ["bash", *READING_TOOLS]
    if style == "mcp":
        assert [each["annotations"]["readOnlyHint"] for each in functions] == [False, *[True] * 5]


@pytest.mark.parametrize(
    "tool", [get_artifact, search_artifact, compare_artifacts, list_artifacts, artifact_info]
)
def test_schemas_have_what_the_functions_take(tool):
    """No argument is missing from a schema, and none is there that is not taken."""
    taken = set(inspect.signature(tool).parameters) - {"session", "partial"}
    assert taken == set(READING_TOOLS[tool.__name__].definition.arguments)


def test_a_conversation(tools):
    """Run, look at the notice, search, read on: with what the answers say, to the letter."""
    result = tools.call_sync(
        "bash", '{"command": "seq 1 20000; sleep 0.3; echo Error: no luck >&2; sleep 0.3; seq 1 20000"}'
    )
    call = re.search(r'get_artifact\(id="(\w+)", start_line=1, end_line=100\)', result.text)
    assert (
        tools.call_sync("get_artifact", {"id": call[1], "start_line": 1, "end_line": 2}).content == "1\n2\n"
    )
    found = tools.call_sync("search_artifact", {"id": call[1], "pattern": "Error"})
    assert "20001:Error: no luck\n" in found.text
    listed = asyncio.run(tools.call("list_artifacts", "{}"))
    assert call[1] in listed.text
    assert "Lines: 40,001" in asyncio.run(tools.call("artifact_info", {"id": call[1]})).text
    first = tools.call_sync("get_artifact", {"id": call[1]})
    asked = re.search(r"\[more: get_artifact\((.*)\)\]", first.text)[1]
    arguments = dict(re.findall(r'(\w+)="([^"]*)"', asked))
    assert tools.call_sync("get_artifact", arguments).start == first.end


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("grep", {}, "no tool is called 'grep'; there are bash, get_artifact"),
        ("get_artifact", {"ident": "x"}, "no argument is called ident; there are id, start_line"),
        ("get_artifact", "{", "no JSON"),
        ("search_artifact", "[]", "must be an object"),
        ("list_artifacts", {"partial": False}, "no argument is called partial"),
    ],
)
def test_calls_that_are_no_calls(tools, name, arguments, words):
    """They are told, and nothing raises."""
    answer = tools.call_sync(name, arguments)
    assert words in answer.text
    assert answer.is_error


def test_a_configuration_can_switch_ranges_off(plain_store):
    """``enable_partial_retrieval: false`` refuses ranges, and gives all of it in parts."""
    with plain_store.session("chat") as session:
        artifact_id = session.put("one\ntwo\n").id
        tools = Toolbox(
            session, configuration=load(environment={}, artifacts={"enable_partial_retrieval": False})
        )
        assert (
            "enable_partial_retrieval" in tools.call_sync("get_artifact", {"id": artifact_id, "tail": 1}).text
        )
        assert tools.call_sync("get_artifact", {"id": artifact_id}).content == "one\ntwo\n"


def test_one_tool_for_every_kind_of_part(plain_store):
    """``get_artifact`` brings lines, bytes, seconds and the nodes of a query; a query and a range are not both meant."""
    with plain_store.session("chat") as session:
        tools = Toolbox(session)
        users = [{"name": f"n{number}", "age": number % 90} for number in range(3000)]
        identity = session.put("log\n" + json.dumps({"users": users}), content_type="application/json").id

        def get(**arguments):
            return tools.call_sync("get_artifact", {"id": identity, **arguments})

        wanted = [user["name"] for user in users if user["age"] > 85]
        answer = get(query="$.users[?(@.age > 85)].name", start_line=2, raw="true", max_chars=600)
        found = json.loads(f"[{','.join(answer.content.splitlines())}]")
        while answer.cursor:
            answer = get(query="$.users[?(@.age > 85)].name", cursor=answer.cursor, raw=True, start_line=2)
            found += json.loads(f"[{','.join(answer.content.splitlines())}]")
        assert wanted == found
        assert get(start_line=1, end_line=1).content == "log\n"
        assert get(start_byte=1, end_byte=3).content == "og"
        assert get(start_time=0, end_time=9).content.startswith("log\n")
        for arguments in ({"tail": 3}, {"start_byte": 1}, {"limit": 2}):
            assert "not both" in get(query="$.users", **arguments).text
        assert "no cursor" in get(query="$", cursor="combined:0-").text
        assert "query is missing" in get(cursor="query:1").text
        assert "404 not found" in tools.call_sync("get_artifact", {"id": "art_1_2", "query": "$"}).text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_artifact", {"start_time": 10**400}),
        ("get_artifact", {"end_time": float("inf")}),
        ("list_artifacts", {"since": 10**400}),
        ("list_artifacts", {"since": 1e300}),
        ("list_artifacts", {"source": "\ud800"}),
        ("list_artifacts", {"cursor": "x" * 100_000}),
        ("search_artifact", {"pattern": "x", "cursor": "x" * 100_000}),
        ("search_artifact", {"pattern": "\ud800"}),
        ("get_artifact", "[" * 200_000),
        ("get_artifact", {"cursor": "x" * 100_000}),
        ("get_artifact", {"query": "$" * 100_000}),
        ("compare_artifacts", {"cursor": "x" * 100_000}),
    ],
)
def test_absurd_arguments_are_answered_in_bounds(plain_store, name, arguments):
    """Whatever a model sends, the answer is a text within the bound and nothing is raised."""
    with plain_store.session("chat") as session:
        identity = session.put("one\n").id
        if isinstance(arguments, dict) and name != "list_artifacts":
            arguments = {"id": identity, **arguments}
        answer = Toolbox(session).call_sync(name, arguments)
        assert 0 < len(answer.text) <= 8000
