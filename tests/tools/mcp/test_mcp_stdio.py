"""``spillstore mcp`` over stdio, which speaks the protocol by itself: judged by the SDK's client, and line by line."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import methods, version
from support import examples, replaced, wait_until

from spillstore_tools.cli import _invoke
from spillstore_tools.mcp.server import stdio
from spillstore_tools.mcp.server.stdio_methods import HANDSHAKE_VERSIONS, MODERN_VERSIONS
from spillstore_tools.mcp.wire.tool_results import RESULT

PROGRAM = [sys.executable, "-m", "spillstore_tools.cli", "mcp"]
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
WHO = {"capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}


def answers_to(data, *options):
    """What a server within this process writes that reads this, and then the end."""
    source, written = os.pipe()
    writer = threading.Thread(target=lambda: [file.write(data), file.close()])
    with (
        open(written, "wb") as file,
        tempfile.TemporaryFile() as target,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(logging.getLogger(), "handlers", [])  # it makes its own
        patch.setattr(
            stdio, "_GRACE", 50.0
        )  # for answers when stdin has ended: how fast a machine is proves nothing
        before = signal.getsignal(signal.SIGPIPE)
        writer.start()
        try:
            with replaced(source, 0), replaced(target.fileno(), 1):
                assert 0 == _invoke(["mcp", *options])
        finally:
            signal.signal(signal.SIGPIPE, before)
            writer.join()
            os.close(source)
        target.seek(0)
        return [json.loads(line) for line in target.read().splitlines()]


@pytest.fixture
def said(root):
    """What a server answers to lines, which end with its stdin."""

    def said(*lines, options=()):
        texts = (each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines)
        return answers_to(b"".join(text + b"\n" for text in texts), *options)

    return said


def request(number, method, params=None, **more):
    params = {} if params is None else {"params": params}
    return {"jsonrpc": "2.0", "id": number, "method": method, **params, **more}


def by_id(messages):
    return {each["id"]: each for each in messages if "method" not in each}


# --- versions ---------------------------------------------------------------------------------------------


def test_all_versions_that_the_sdk_knows_are_spoken():
    """Those with a handshake and those without."""
    assert tuple(version.HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_VERSIONS
    assert tuple(version.MODERN_PROTOCOL_VERSIONS) == MODERN_VERSIONS


@pytest.mark.parametrize("asked", [*HANDSHAKE_VERSIONS, "1999-01-01", "2026-07-28"])
def test_a_handshake_agrees_on_a_version(said, asked):
    """The one that is asked for, or else the newest that has a handshake."""
    [answer] = said(request(1, "initialize", {"protocolVersion": asked, **WHO}))
    agreed = asked if asked in HANDSHAKE_VERSIONS else "2025-11-25"
    assert agreed == answer["result"]["protocolVersion"]
    assert "spillstore" == answer["result"]["serverInfo"]["name"]
    assert {"tools", "resources"} == answer["result"]["capabilities"].keys()


@pytest.mark.parametrize("spoken", [*HANDSHAKE_VERSIONS, *MODERN_VERSIONS])
def test_answers_are_what_the_version_says(said, store, spoken):
    """Of every method, by the SDK's own models of that version."""
    with store.session("s") as session:
        name = session.put("one\ntwo\n", source="doc").id
    more = MODERN if spoken in MODERN_VERSIONS else {}
    calls = {
        "tools/list": {},
        "tools/call": {"name": "get_artifact", "arguments": {"id": name}},
        "resources/list": {},
        "resources/templates/list": {},
        "resources/read": {"uri": f"artifact://{name}"},
        **({"server/discover": {}} if more else {"ping": {}}),
    }
    lines = [request(method, method, {**more, **params}) for method, params in calls.items()]
    if not more:
        lines.insert(0, request("initialize", "initialize", {"protocolVersion": spoken, **WHO}))
    found = by_id(said(*lines, options=["--session", "s", "--structured"]))
    assert {line["id"] for line in lines} == found.keys()
    for method, answer in found.items():
        asked = next(line for line in lines if line["id"] == method)
        methods.validate_client_request(method, spoken, asked.get("params"))
        methods.validate_server_result(method, spoken, answer["result"])
        assert ("resultType" in answer["result"]) == bool(more)


@pytest.mark.long
@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.slow), "auto"])
def test_the_sdk_s_client_is_content(root, mode):
    """Tools, calls, progress, resources; the version is the newest that there is."""

    async def talk():
        given = StdioServerParameters(command=PROGRAM[0], args=PROGRAM[1:], env=dict(os.environ))
        async with Client(stdio_client(given), mode=mode) as client:
            told = []

            async def progress(size, total, message):
                told.append((size, message))

            ran = await client.call_tool(
                "bash", {"command": "seq 1 30000; sleep 1.5"}, progress_callback=progress
            )
            name = ran.meta[RESULT]["artifact_id"]
            listed = await client.list_resources()
            read = await client.read_resource(f"artifact://{name}")
            return client.protocol_version, told, name, listed, read

    spoken, told, name, listed, read = asyncio.run(talk())
    assert {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode] == spoken
    assert (168894.0, "30000 lines, 165 KiB") in told
    assert [f"artifact://{name}"] == [str(each.uri) for each in listed.resources]
    assert "\n1\n2\n3\n" in read.contents[0].text


def test_a_request_without_a_handshake_says_what_it_is(said):
    """Its version must be one that is spoken, and what it lacks is named."""
    key = "io.modelcontextprotocol/protocolVersion"
    later = {"_meta": {**MODERN["_meta"], key: "2999-01-01"}}
    found = by_id(
        said(
            request(1, "tools/list", later),
            request(2, "tools/list", {"_meta": {key: "2026-07-28"}}),
            request(3, "ping", MODERN),
            request(4, "tools/list", {"_meta": {**MODERN["_meta"], key: 7}}),
        )
    )
    assert [-32022, -32602, -32601, -32602] == [found[n]["error"]["code"] for n in (1, 2, 3, 4)]
    assert {"supported": ["2026-07-28"], "requested": "2999-01-01"} == found[1]["error"]["data"]
    assert "clientCapabilities" in found[2]["error"]["message"]


def test_what_is_asked_before_a_handshake_is_answered(said):
    """And also after the other kind of request."""
    found = by_id(
        said(
            request(1, "tools/list"),
            request(2, "server/discover", MODERN),
            request(3, "initialize", {"protocolVersion": "2025-06-18", **WHO}),
        )
    )
    assert "bash" == found[1]["result"]["tools"][0]["name"]
    assert ["2026-07-28"] == found[2]["result"]["supportedVersions"]
    assert "2025-06-18" == found[3]["result"]["protocolVersion"]


# --- batches ----------------------------------------------------------------------------------------------


BATCH = [
    request(1, "ping"),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    request(2, "tools/call", {"name": "bash", "arguments": {"command": "echo hi"}}),
    request(3, "nonsense"),
    5,
    request(4, "initialize", {"protocolVersion": "2025-03-26", **WHO}),
]


def test_a_batch_is_answered_as_one(said):
    """In the version that has batches: all that is to be answered, and nothing for notifications."""
    start = request(0, "initialize", {"protocolVersion": "2025-03-26", **WHO})
    first, *rest = said(start, BATCH, [{"jsonrpc": "2.0", "method": "notifications/initialized"}], [])
    assert "2025-03-26" == first["result"]["protocolVersion"]
    [batch] = [each for each in rest if isinstance(each, list)]
    [empty] = [each for each in rest if not isinstance(each, list)]
    assert (None, -32600) == (empty["id"], empty["error"]["code"])
    found = by_id(batch)
    assert {1, 2, 3, 4, None} == found.keys()
    assert {} == found[1]["result"]
    assert found[2]["result"]["content"][0]["text"].startswith("hi\n")
    assert [-32601, -32600, -32600] == [found[n]["error"]["code"] for n in (3, 4, None)]


@pytest.mark.parametrize("spoken", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_versions_have_no_batches(said, spoken):
    """One error says so, and the server goes on."""
    start = request(0, "initialize", {"protocolVersion": spoken, **WHO})
    _, refused, pong = said(start, BATCH, request(9, "ping"))
    assert (None, -32600) == (refused["id"], refused["error"]["code"])
    assert "2025-03-26" in refused["error"]["message"]
    assert {} == pong["result"]


# --- what is no request -----------------------------------------------------------------------------------


WRONG = {
    b"hello": (None, -32700),
    b'{"jsonrpc":"2.0","id":1,"method":"ping"': (1, -32700),
    b"[" * 100_000: (None, -32700),
    b"7": (None, -32600),
    b'{"jsonrpc":"2.0","id":1}': (1, -32600),
    b'{"jsonrpc":"1.0","id":"a","method":"ping"}': ("a", -32600),
    b'{"id":1,"method":"ping"}': (1, -32600),
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":1,"method":7}': (1, -32600),
    b'{"jsonrpc":"2.0","id":1,"method":"prompts/list"}': (1, -32601),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}': (1, -32602),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}': (1, -32602),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}': (1, -32602),
    b'{"jsonrpc":"2.0","id":1,"method":"resources/read"}': (1, -32602),
    b'{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":5}}': (1, -32602),
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}': (1, -32602),
}


def test_what_is_wrong_is_answered_and_harms_nothing(said):
    """Each with its code and the id of who asked; what needs no answer gets none."""
    silent = [
        b"",
        b"  ",
        b'{"jsonrpc":"2.0","method":"notifications/nonsense"}',
        b'{"jsonrpc":"2.0","id":9,"result":{}}',
    ]
    found = said(*WRONG, *silent, request("last", "ping"))
    assert {"jsonrpc": "2.0", "id": "last", "result": {}} in found
    expected = [*WRONG.values(), ("last", None)]
    assert sorted(map(str, expected)) == sorted(
        str((each["id"], each.get("error", {}).get("code"))) for each in found
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MESSAGE = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": JSON,
        "method": JSON | st.sampled_from(["tools/call", "tools/list", "ping", "notifications/cancelled"]),
        "params": JSON | st.fixed_dictionaries({}, optional={"name": JSON, "_meta": JSON, "requestId": JSON}),
    },
)


@given(st.lists(MESSAGE | JSON, min_size=1, max_size=100))
@examples(10)
def test_no_message_ends_the_server(tmp_path_factory, messages):
    """Whatever it is: each answer is an object of JSON-RPC, and the last request is answered."""
    data = b"".join(json.dumps(each).encode() + b"\n" for each in [*messages, request("the last", "ping")])
    answers = answers_to(data, "--root", str(tmp_path_factory.mktemp("root") / "root"))
    assert {"jsonrpc": "2.0", "id": "the last", "result": {}} in answers
    assert {True} == {("result" in each) != ("error" in each) for each in answers}


def test_text_that_utf_8_cannot_carry_is_taken(said):
    """Half a surrogate pair, and bytes that are none, become question marks."""
    start = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bash","arguments":{"command":"echo %s"}}}'
    found = by_id(said(start % (1, rb"a\ud800b"), start % (2, b"c\xffd")))
    assert ["a?b", "c?d"] == [found[n]["result"]["content"][0]["text"].split("\n")[0] for n in (1, 2)]


# --- the process ------------------------------------------------------------------------------------------


def test_what_was_asked_is_answered_though_stdin_ends(said):
    """A client that writes its requests and closes stdin gets what is done before the grace period ends."""
    lines = [
        request(n, "tools/call", {"name": "bash", "arguments": {"command": f"echo {n}"}}) for n in range(5)
    ]
    found = by_id(said(*lines))
    assert [f"{n}\n" for n in range(5)] == [found[n]["result"]["content"][0]["text"][:2] for n in range(5)]


def test_a_subscription_ends_when_it_is_cancelled(root, start):
    """What a client listens to is told with the subscription's id; then nothing more, and no answer."""
    process = start("mcp", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(message):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    def until(identity):
        seen = []
        while True:
            seen.append(json.loads(process.stdout.readline()))
            if "method" not in seen[-1] and identity == seen[-1]["id"]:
                return [each for each in seen if "method" in each]

    def store_one(number):
        call = {"name": "bash", "arguments": {"command": "seq 1 30000"}}
        send(request(number, "tools/call", {**MODERN, **call}))

    wanted = {"notifications": {"resourcesListChanged": True, "toolsListChanged": False, "other": True}}
    send(request("ear", "subscriptions/listen", {**MODERN, **wanted}))
    told = json.loads(process.stdout.readline())
    key = {"_meta": {"io.modelcontextprotocol/subscriptionId": "ear"}}
    assert "notifications/subscriptions/acknowledged" == told["method"]
    assert {**key, "notifications": {"resourcesListChanged": True}} == told["params"]
    store_one(1)
    seen = until(1)
    if not seen:  # it may come behind the answer
        seen = [json.loads(process.stdout.readline())]
    assert [("notifications/resources/list_changed", key)] == [(s["method"], s["params"]) for s in seen]
    send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "ear"}})
    store_one(2)
    assert [] == until(2)
    process.stdin.close()
    assert b"" == process.stdout.read()
    assert 0 == process.wait(120)


@pytest.mark.long
def test_no_extra_is_needed(root):
    """Without the SDK and what it brings there is the whole server, but for HTTP."""
    missing = ["mcp", "mcp_types", "pydantic", "anyio", "starlette", "uvicorn", "httpx"]
    script = f"import sys; sys.modules |= dict.fromkeys({missing!r}); from spillstore_tools.cli import main; main(['mcp'])"
    lines = [
        request(1, "initialize", {"protocolVersion": "2025-11-25", **WHO}),
        request(2, "tools/call", {"name": "bash", "arguments": {"command": "echo hi"}}),
    ]
    data = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write(data)
        process.stdin.flush()  # and stays open: behind its end an answer has a second
        found = next(answer for answer in map(json.loads, process.stdout) if answer.get("id") == 2)
        process.stdin.close()
        process.stdout.read()
    assert (0, "hi\n[exit code 0]\n") == (process.returncode, found["result"]["content"][0]["text"])


@pytest.mark.long
def test_the_start_imports_little(root):
    """The first answer is near: nothing of the SDK is imported, nor what it brings."""
    heavy = ["mcp", "mcp_types", "pydantic", "anyio", "starlette", "sqlalchemy", "alembic", "httpx"]
    script = f"import sys; from spillstore_tools.mcp.server import serve; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout


def test_cancelled_calls_leave_the_others_alone(root, start, tmp_path):
    """Of two commands with ids that look alike, a number and a text, the one that is named is ended."""
    process = start("mcp", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(message):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()

    go, begun = tmp_path / "go", tmp_path / "begun"
    begun.mkdir()
    for number, name in ((7, "one"), ("7", "two")):
        command = f"touch {begun}/{name}; until [ -e {go} ]; do sleep 0.05; done; echo {name}"
        send(request(number, "tools/call", {"name": "bash", "arguments": {"command": command}}))
    wait_until(lambda: len(list(begun.iterdir())) == 2)
    send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    send(request("after", "ping"))
    assert "after" == json.loads(process.stdout.readline())["id"]
    go.touch()
    answer = json.loads(process.stdout.readline())
    assert ("7", "two\n[exit code 0]\n") == (answer["id"], answer["result"]["content"][0]["text"])
    process.stdin.close()
    assert b"" == process.stdout.read()
    assert 0 == process.wait(120)
