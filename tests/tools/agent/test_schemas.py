"""The tool's definitions, and the arguments that a model sends."""

from __future__ import annotations

import json

import pytest
from support import each_of

from spillstore_tools.agent.arguments import ArgumentError, named, text, whole
from spillstore_tools.agent.bash import BashTool, bash_definition
from spillstore_tools.agent.definitions import STYLES
from spillstore_tools.agent.reading_tools import READING_TOOLS
from spillstore_tools.profiles import NAMES, profile

pytestmark = pytest.mark.everywhere


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("style", STYLES)
def test_definitions(style, name):
    """Name, description with the profile's limits, and the four properties, in each form."""
    definition = bash_definition(profile(name)).in_style(style)
    json.dumps(definition)
    function = definition["function"] if style == "openai" else definition
    schema = function[{"openai": "parameters", "anthropic": "input_schema", "mcp": "inputSchema"}[style]]
    assert function["name"] == "bash"
    assert profile(name).summary in function["description"]
    assert {key: each["type"] for key, each in schema["properties"].items()} == {
        "command": "string",
        "timeout": "integer",
        "check_pid": "integer",
        "kill_pid": "integer",
    }
    assert "120000" in schema["properties"]["timeout"]["description"]
    assert "required" not in schema


def test_descriptions_say_that_all_is_kept():
    """What the model is told of the tool; of pipe, that what its line limit alone cuts off is not."""
    for name in NAMES:
        description = bash_definition(profile(name)).description
        kept = "Of a stream above 50KB all is kept" if name == "pipe" else "All of it is kept"
        assert f"{profile(name).summary} {kept}: " in description
        assert "do not cut output with head or tail" in description
        assert "auto-backgrounded" in description
    assert "last 2000 lines or 50KB" in bash_definition(profile("pipe")).description


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"command": ', "no JSON"),
        ("[1]", "must be an object, not [1]"),
        ('"ls"', "must be an object"),
        ({"cmd": "ls"}, "no argument is called cmd; there are command, timeout, check_pid, kill_pid"),
        ({"command": "ls", "env": {"A": "b"}}, "no argument is called env"),
        ("", "nothing to do"),
        ("null", "must be an object"),
    ],
)
def test_calls_that_are_no_calls(plain_store, arguments, words):
    """A model can say nothing that raises, nor set what is the author's to set."""
    with plain_store.session("chat") as session:
        result = BashTool(session).call_sync(arguments)
        assert words in result.text
        assert result.is_error


def test_a_call_as_json(plain_store):
    """The arguments as a model's API hands them on; what was left out in words is left out."""
    with plain_store.session("chat") as session:
        tool = BashTool(session, profile="omni", source="shell")
        result = tool.call_sync(
            '{"command": "seq 1 20000", "kill_pid": "null", "note": null}', tool_call_id="c1"
        )
        info = session.artifact(result.artifact_id).info
        assert (info.source, info.tool_call_id, info.lines) == ("shell", "c1", 20000)


@pytest.mark.parametrize("value", ["7", 7, 7.0, " 7 ", "+7", "7.0", "7."])
def test_whole_numbers(value):
    assert whole("n", value) == 7


@each_of(
    "value",
    [
        True,
        "seven",
        7.5,
        "7.5",
        [],
        {},
        float("nan"),
        float("inf"),
        "\u0667",
        "1e3",
        "9" * 200,
        -1,
    ],
)
def test_what_is_no_whole_number(value):
    """The message names the value and the bounds, and stays short."""
    with pytest.raises(ArgumentError, match=r"n must be a whole number from 0, not") as caught:
        whole("n", value)
    assert len(str(caught.value)) < 300


def test_a_number_that_nobody_can_write():
    """Python refuses to write so many digits; the message does without."""
    with pytest.raises(ArgumentError, match="thousands of digits"):
        whole("n", -(10**5000))


def test_bounds():
    assert whole("n", 5, least=5, most=5) == 5
    with pytest.raises(ArgumentError, match="from 5 to 6, not 7; for example f"):
        whole("n", 7, least=5, most=6, example="f(n=5)")


def test_text():
    """``"null"`` may be meant; a list is not."""
    assert text("t", "null") == "null"
    assert text("t", None) is None
    with pytest.raises(ArgumentError, match="t must be text, not 5"):
        text("t", 5)


def test_named():
    """Names that there are, however the object came."""
    assert named({"a": 1}, ["a", "b"]) == {"a": 1} == named('{"a": 1}', ["a"])
    with pytest.raises(ArgumentError, match="no argument is called c; there are a, b"):
        named({"a": 1, "c": 2}, ["a", "b"])


def test_words_that_there_are_stand_in_the_schema():
    """Streams and states are listed, and what one caller does to a schema no other sees."""

    def properties(name):
        return READING_TOOLS[name].definition.in_style("mcp")["inputSchema"]["properties"]

    for name in ("get_artifact", "search_artifact", "compare_artifacts"):
        stream = properties(name)["stream"]
        assert {"combined", "stdout", "stderr"} == set(stream["enum"])
        stream["enum"].clear()
    assert ["open", "sealed", "interrupted"] == properties("list_artifacts")["state"]["enum"]
    assert properties("get_artifact")["stream"]["enum"]
