"""What a model sees of results of the Model Context Protocol, whichever part of them its client hands on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from support import examples

from spillstore_tools.mcp.proxy.listing import OwnToolNames
from spillstore_tools.mcp.proxy.previews import META
from spillstore_tools.mcp.proxy.results import ResultFitter
from spillstore_tools.mcp.wire.json_digest import digest
from spillstore_tools.mcp.wire.messages import ToolCall
from spillstore_tools.mcp.wire.tool_results import RESULT
from spillstore_tools.output.truncation import TruncationProcessor

pytestmark = pytest.mark.everywhere

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]
UPSTREAM = [sys.executable, str(Path(__file__).parent / "upstream_raw.py")]
ROWS = {"rows": [{"name": f"row {n}", "at": "caf\xe9/\u2028\U0001f600", "n": n / 8} for n in range(2000)]}


def text_alone(result):
    """What clients hand on that know text, and nothing of structured content."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def structured_first(result):
    """What two widely used clients hand on: structured content, as JSON, instead of the text wherever there is any."""
    if "structuredContent" in result:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return text_alone(result)


def lines_of(shown):
    """Its lines; those of a text in JSON, too."""
    return re.split(r"\n|\\n|\"", shown)


CLIENTS = [text_alone, structured_first]


@contextlib.asynccontextmanager
async def connected(kind, start, *options):
    """The SDK's client of one of our servers."""
    if kind == "http":
        process = start("mcp", "--transport", "http", "--json", "--session", "s", *options, text=True)
        urls = (json.loads(line).get("url") for line in process.stderr)
        target = next(url for url in urls if url)
    else:
        rest = ["--", *UPSTREAM] if kind == "mcp-proxy" else []
        command = [*PROGRAM, kind, "--session", "s", *options, *rest]
        given = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        target = stdio_client(given)
    async with Client(target, mode="legacy") as client:
        yield client


def wire(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


@pytest.mark.parametrize("options", [(), ("--structured",)], ids=["text", "structured"])
@pytest.mark.parametrize("kind", ["mcp", "http", "mcp-proxy"])
def test_a_model_sees_the_output(store, start, kind, options):
    """Of bash and of each reading tool, over each transport and through the proxy, whichever part a client hands on."""
    with store.session("s") as session:
        name = session.put("".join(f"line {n}\n" for n in range(1, 1001)), source="doc").id

    calls = {
        "get_artifact": (
            {"id": name, "start_line": 500, "end_line": 502},
            ["line 500", "line 501", "line 502"],
        ),
        "search_artifact": ({"id": name, "pattern": "7{3}"}, ["777:line 777"]),
        "artifact_info": ({"id": name}, [name]),
    }
    if kind != "mcp-proxy":
        calls["bash"] = ({"command": "echo hi"}, ["hi"])

    async def talk():
        async with connected(kind, start, *options) as client:
            listed = [wire(tool) for tool in (await client.list_tools()).tools]
            return listed, {tool: wire(await client.call_tool(tool, calls[tool][0])) for tool in calls}

    listed, results = asyncio.run(talk())
    ours = [tool for tool in listed if tool["name"] in calls]
    assert [bool(options)] * len(calls) == ["outputSchema" in tool for tool in ours]
    for tool, result in results.items():
        assert bool(options) == ("structuredContent" in result)
        assert RESULT in result["_meta"]
        for forwarded in CLIENTS:
            shown = lines_of(forwarded(result))
            assert [wanted for wanted in calls[tool][1] if not any(wanted in line for line in shown)] == []
        if options:
            assert text_alone(result) == result["structuredContent"]["text"]


# --- what an upstream server sends -------------------------------------------------------------------------


def fitted(session, result, profile="default"):
    """A result of an upstream server as a client gets it."""
    fitter = ResultFitter(TruncationProcessor(session, profile=profile), lambda: OwnToolNames(()))
    fit = fitter.fit(json.dumps(result).encode(), ToolCall(tool="query"))
    return result if fit is None else json.loads(fit)


def block(text):
    return {"type": "text", "text": text}


@pytest.mark.parametrize("forwarded", CLIENTS)
def test_the_preview_of_a_structured_value_is_shown(plain_store, forwarded):
    """A client that hands on structured content alone shows a model the preview, with the call that brings the rest."""
    with plain_store.session("s") as session:
        text = json.dumps(ROWS, indent=2)
        result = fitted(session, {"content": [block(text)], "structuredContent": ROWS})
        [info] = session.infos()
    shown = forwarded(result).replace('\\"', '"')
    assert f'get_artifact(id="{info.id}"' in shown
    assert "row 0" in shown and "row 1999" in shown


REPEATED = {
    "pretty": (json.dumps(ROWS, indent=2), ROWS),
    "escaped": (json.dumps(ROWS, ensure_ascii=True), ROWS),
    "plain": (json.dumps(ROWS, ensure_ascii=False), ROWS),
    "wrapped": (json.dumps(ROWS["rows"], indent=1), {"result": ROWS["rows"]}),
    "a wrapped text": ("a line of a text\n" * 5000, {"result": "a line of a text\n" * 5000}),
}
STORED = {"wrapped": 'JSON, the member "result",', "a wrapped text": 'text, the member "result",'}


@pytest.mark.parametrize("case", REPEATED)
def test_a_result_that_is_sent_twice_is_stored_once(plain_store, case):
    """As text and as structured content, which then leads to the same artifact."""
    text, value = REPEATED[case]
    with plain_store.session("s") as session:
        result = fitted(session, {"content": [block("first"), block(text)], "structuredContent": value})
        [info] = session.infos()
        assert text.encode() == session.artifact(info.id).read_bytes(0, info.size)
    stand_in = result["structuredContent"]["spillstore"]
    assert (info.id, result["content"][1]["text"]) == (stand_in["artifact_id"], stand_in["preview"])
    assert [info.id] == [each["id"] for each in result["_meta"][META]]
    said = f"{info.size} bytes of {STORED.get(case, 'JSON')} are shown in part here; "
    assert stand_in["notice"] == f'{said}get_artifact(id="{info.id}") brings them'


DIFFERENT = {
    "another value": {"rows": [*ROWS["rows"][:-1], 1]},
    "one more": {**ROWS, "more": True},
    "a number that is a text": {"rows": [str(row) for row in ROWS["rows"]]},
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_the_text_does_not_say_is_stored_too(plain_store, case):
    """A structured value that differs from the text is an artifact of its own."""
    with plain_store.session("s") as session:
        fitted(session, {"content": [block(json.dumps(ROWS))], "structuredContent": DIFFERENT[case]})
        found = [json.loads(session.artifact(i.id).read_bytes(0, i.size)) for i in session.infos()]
    assert [DIFFERENT[case], ROWS] == found


def test_a_structured_value_that_fits_stays(plain_store):
    """Although the text that repeats it, with white space, is too long."""
    value = {"rows": [[[n]] for n in range(800)]}
    assert len(json.dumps(value)) < 8000 < len(json.dumps(value, indent=4))
    with plain_store.session("s") as session:
        sent = {"content": [block(json.dumps(value, indent=4))], "structuredContent": value}
        result = fitted(session, sent)
        assert 1 == len(list(session.infos()))
    assert value == result["structuredContent"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def cut(text, data):
    """A text in pieces."""
    while text:
        size = data.draw(st.integers(1, 12))
        yield text[:size]
        text = text[size:]


@given(VALUES, VALUES, st.data())
@examples(200)
def test_documents_are_alike_when_they_say_the_same(one, other, data):
    """However they are written and cut; and others are not."""
    written = json.dumps(one)
    for options in ({}, {"indent": 1}, {"ensure_ascii": False}, {"separators": (",", ":")}):
        assert digest(iter([written])) == digest(cut(json.dumps(one, **options), data))
    same = written == json.dumps(other)
    assert same == (digest(iter([written])) == digest(iter([json.dumps(other)])))
