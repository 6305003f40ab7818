"""``spillstore mcp``: real servers, spoken to by the SDK's own client and, for what that cannot say, line by line."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import fcntl
import http.client
import json
import os
import signal
import subprocess
import sys
import termios
import tomllib

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from support import ROOT, alive, examples, soon

from spillstore.exceptions import SessionBusyError
from spillstore_tools.agent.answers import Answer
from spillstore_tools.agent.bash_result import BashResult, StreamCount
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.loopback.addresses import loopback
from spillstore_tools.mcp.server import stdio_messages
from spillstore_tools.mcp.server.resources import MAX_BINARY, MAX_CHARS, read_resource
from spillstore_tools.mcp.wire.tool_results import RESULT, output_schema, result_of, summary
from spillstore_tools.preview.parts import Omission

pytestmark = pytest.mark.everywhere

PROGRAM = ["-m", "spillstore_tools.cli", "mcp"]
ERAS = ["legacy", pytest.param("auto", marks=pytest.mark.slow)]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8


def text_of(result):
    """The text of a result, which is all of its content."""
    assert [each.type for each in result.content] == ["text"]
    return result.content[0].text


@contextlib.contextmanager
def serving_http(start, *arguments):
    """A server over HTTP as ``(process, port)``."""
    process = start("mcp", "--transport", "http", "--json", *arguments, text=True)
    for line in process.stderr:
        said = json.loads(line)
        if "url" in said:
            break
    yield process, int(said["url"].rpartition(":")[2].removesuffix("/mcp"))


@pytest.fixture(params=["stdio", pytest.param("http", marks=pytest.mark.slow)])
def connect(request, root, start):
    """Makes clients of one server over HTTP, or of one server each over stdio."""
    with contextlib.ExitStack() as stack:
        ports = []

        def connect(*arguments, mode="legacy", **options):
            if request.param == "stdio":
                given = StdioServerParameters(
                    command=sys.executable, args=[*PROGRAM, *map(str, arguments)], env=dict(os.environ)
                )
                return Client(
                    stdio_client(given, errlog=stack.enter_context(open(os.devnull, "w"))),
                    mode=mode,
                    **options,
                )
            if not ports:
                ports.append(stack.enter_context(serving_http(start, *map(str, arguments)))[1])
            return Client(f"http://127.0.0.1:{ports[0]}/mcp", mode=mode, **options)

        yield connect


class Raw:
    """A server over stdio, spoken to line by line."""

    def __init__(self, process):
        self.process = process
        self.others = []
        assert self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "t", "version": "0"},
        )
        self.tell("notifications/initialized")

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def begin(self, number, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())

    def reply(self, number):
        """The answer to a request; what else comes until then is kept in ``others``."""
        while True:
            message = json.loads(self.process.stdout.readline())
            if "method" not in message and message["id"] == number:
                return message
            self.others.append(message)

    def ask(self, method, **params):
        self.begin("asked", method, **params)
        return self.reply("asked")

    def call(self, name, arguments, **meta):
        more = {"_meta": meta} if meta else {}
        return self.ask("tools/call", name=name, arguments=arguments, **more)["result"]


@pytest.fixture
def raw(start):
    def make(*arguments):
        return Raw(start("mcp", *arguments, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL))

    return make


def begin_long(raw, folder, number=7):
    """Begin a command that prints and then stays, with a child that ignores SIGTERM; the pids of both."""
    pids = folder / "pids"
    raw.begin(
        number,
        "tools/call",
        name="bash",
        arguments={
            "command": f"seq 1 50000; (trap '' TERM; sleep 300) & echo $$ $! > {pids}.part; mv {pids}.part {pids}; wait"
        },
    )
    assert soon(pids.exists)
    return [int(pid) for pid in pids.read_text().split()]


# --- tools ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_the_tools_are_those_of_the_toolbox(connect, store, mode):
    """Names, descriptions, schemas and hints are ``Toolbox.definitions``'s, and nothing is said of structured content."""
    with store.session("default") as session:
        expected = Toolbox(session, timeout=50_000).definitions("mcp")

    async def listed():
        async with connect(mode=mode) as client:
            assert client.instructions.count(".") >= 3
            return (await client.list_tools()).tools

    tools = asyncio.run(listed())
    told = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
    assert expected == told


@pytest.mark.long
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_conversation(connect, mode):
    """Run, look at the notice, read and search on; the short value in the metadata repeats no text."""

    async def talk():
        async with connect(mode=mode) as client:
            result = await client.call_tool(
                "bash", {"command": "seq 1 20000; echo Error: no luck >&2; exit 3"}
            )
            told = result.meta[RESULT]
            assert (told["exit_code"], told["state"]) == (3, "ended")
            assert told["stdout"] == {"size": 108894, "lines": 20000}
            assert told["skipped"] == {
                "combined": sum(e["last_line"] - e["first_line"] + 1 for e in told["omissions"])
            }
            assert "Error: no luck" in text_of(result)
            assert "Error: no luck" not in json.dumps(told)
            name = told["artifact_id"]
            assert f'get_artifact(id="{name}"' in text_of(result)
            part = await client.call_tool("get_artifact", {"id": name, "start_line": 500, "end_line": 501})
            assert "\n500\n501\n" in text_of(part)
            assert part.meta[RESULT] | {"first_line": 500, "last_line": 501} == part.meta[RESULT]
            assert not part.is_error
            found = await client.call_tool("search_artifact", {"id": name, "pattern": "no luck"})
            assert "20001:Error: no luck" in text_of(found)
            listed = await client.call_tool("list_artifacts", {})
            assert name in text_of(listed)
            info = await client.call_tool("artifact_info", {"id": name})
            assert info.meta[RESULT] == {"artifact_id": name}

    asyncio.run(talk())


@pytest.mark.long
def test_a_failure_of_the_profile_is_an_error(connect):
    """``isError`` is what the profile says of the command's exit code, and its code is in the structured value."""

    async def talk():
        async with connect("--profile", "pipe") as client:
            result = await client.call_tool("bash", {"command": "exit 3"})
            return result.is_error, result.meta[RESULT]["exit_code"]

    assert asyncio.run(talk()) == (True, 3)


@pytest.mark.long
def test_commands_run_in_the_folder_that_is_named(connect, tmp_path):
    """``--cwd``."""
    (tmp_path / "here").mkdir()

    async def talk():
        async with connect("--cwd", tmp_path / "here") as client:
            return text_of(await client.call_tool("bash", {"command": "pwd"}))

    assert str(tmp_path / "here") in asyncio.run(talk())


WRONG = [
    ("get_artifact", [1, 2], "must be an object, not [1, 2]"),
    ("get_artifact", "no json", "no JSON"),
    ("get_artifact", 5, "must be an object, not 5"),
    ("get_artifact", {"id": {"a": 1}}, "404 not found"),
    ("get_artifact", {"id": "art_1_2", "start": 1}, "no argument is called start"),
    ("search_artifact", None, "id is missing"),
    ("bash", {"command": 7}, "command must be text, not 7"),
    ("bash", {"command": "true", "check_pid": "12"}, "exclude each other"),
    ("bash", [], "must be an object"),
    ("grep", {"pattern": "x"}, "no tool is called 'grep'"),
    ("x" * 5000, {}, "no tool is called"),
    ("list_artifacts", {"limit": "many"}, "limit must be a whole number"),
]


@pytest.mark.long
def test_what_a_model_gets_wrong_is_answered_by_the_tool(raw):
    """The answer is a short result with ``isError``, and never an error of the protocol."""
    raw = raw()
    for name, arguments, words in WRONG:
        result = raw.call(name, arguments)
        assert result["isError"] is True
        assert words in result["content"][0]["text"]
        assert len(result["content"][0]["text"]) < 600


@pytest.mark.long
def test_arguments_as_json_in_a_string_are_understood(raw):
    """Some models encode them twice."""
    raw = raw()
    assert raw.call("bash", '{"command": "echo hello"}')["content"][0]["text"].startswith("hello\n")


@pytest.mark.long
def test_calls_are_answered_while_a_command_runs(raw, tmp_path):
    """A long command holds up no other call, another command among them."""
    raw = raw()
    begin_long(raw, tmp_path)
    assert raw.call("bash", {"command": "echo hi"})["_meta"][RESULT]["exit_code"] == 0

    def listed():
        return raw.call("list_artifacts", {})["content"][0]["text"]

    assert soon(lambda: listed().startswith("art_"))
    asked = {"id": listed().split()[0], "limit": 2}
    assert soon(lambda: "\n1\n2\n" in raw.call("get_artifact", asked)["content"][0]["text"])


@pytest.mark.long
def test_many_calls_at_once(connect):
    """Each gets its own answer."""

    async def talk():
        async with connect() as client:
            calls = [client.call_tool("bash", {"command": f"sleep 0.2; echo {n}"}) for n in range(20)]
            return [text_of(result).split()[0] for result in await asyncio.gather(*calls)]

    assert asyncio.run(talk()) == [str(n) for n in range(20)]


@pytest.mark.long
def test_the_artifact_names_the_call(raw, store):
    """The tool call's id is what the client says in ``_meta``, else the id of the request."""
    raw = raw("--session", "s")
    raw.call("bash", {"command": "seq 1 20000"}, **{"some.client/toolUseId": "toolu_1"})
    raw.begin(41, "tools/call", name="bash", arguments={"command": "seq 1 30000"})
    raw.reply(41)
    with store.session("s", create=False, read_only=True) as session:
        assert [info.tool_call_id for info in session.infos()] == ["41", "toolu_1"]


@pytest.mark.long
def test_a_long_id_of_a_call_is_cut_without_its_secrets(raw, store):
    """No part of one is stored."""
    raw = raw("--session", "s")
    identity = f"{'k' * 180} {'gh' + 'p_' + 'a1B2c3D4e5F6g7H8i9' * 2}"
    raw.call("bash", {"command": "seq 1 20000"}, toolUseId=identity)
    with store.session("s", create=False, read_only=True) as session:
        assert [info.tool_call_id for info in session.infos()] == [f"{'k' * 180} [REDACTED: GITHUB_T"]


# --- progress, cancellation, ends -------------------------------------------------------------------------


@pytest.mark.long
def test_progress_is_told_to_who_asks(raw):
    """Bytes so far, ever more, about one notification a second, and none without a token."""
    raw = raw()
    pieces = 20
    command = f"for n in $(seq {pieces}); do seq 1 1000; sleep 0.1; done"
    raw.call("bash", {"command": command}, progressToken="t")
    told = [each["params"] for each in raw.others if each["method"] == "notifications/progress"]
    assert {each["progressToken"] for each in told} == {"t"}
    sizes = [each["progress"] for each in told]
    assert 1 <= len(sizes) < pieces
    assert sizes == sorted(set(sizes))
    assert told[0]["message"].endswith(" KiB")
    raw.others.clear()
    raw.call("bash", {"command": "seq 1 1000; sleep 1.2"})
    assert [each for each in raw.others if each["method"] == "notifications/progress"] == []


@pytest.mark.long
def test_a_cancelled_command_is_ended(raw, store, tmp_path):
    """With everything it has started; what it printed stays, nothing is answered, and the server goes on."""
    raw = raw("--session", "s")
    pids = begin_long(raw, tmp_path)
    raw.tell("notifications/cancelled", requestId=7, reason="enough")
    assert soon(lambda: not any(map(alive, pids)))
    assert raw.call("bash", {"command": "echo hi"})["_meta"][RESULT]["exit_code"] == 0
    assert [each for each in raw.others if each.get("id") == 7] == []
    with store.session("s", create=False, read_only=True) as session:
        assert soon(lambda: [info.lines for info in session.infos(state="sealed")] == [50000])


@pytest.mark.long
def test_cancelling_a_call_of_the_client_ends_the_command(connect, tmp_path):
    """On each transport."""

    async def talk():
        async with connect() as client:
            call = asyncio.ensure_future(
                client.call_tool(
                    "bash",
                    {
                        "command": f"echo $$ > {tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; exec sleep 300"
                    },
                )
            )
            assert await asyncio.to_thread(soon, (tmp_path / "pid").exists)
            pid = int((tmp_path / "pid").read_text())
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await call
            assert await asyncio.to_thread(soon, lambda: not alive(pid))
            assert (await client.call_tool("bash", {"command": "exit 0"})).meta[RESULT]["exit_code"] == 0

    asyncio.run(talk())


@pytest.mark.long
@pytest.mark.parametrize("asked", [{}, {"timeout": 600_000}], ids=["default", "asked"])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_long_command_outlives_its_call(raw, tmp_path, monkeypatch, how, asked):
    """A call waits no longer than the server is told to, whatever a model asks for; the command goes on and can be looked after."""
    if how == "variable":
        monkeypatch.setenv("SPILLSTORE_MCP_TIMEOUT", "0.5")
    raw = raw(*(["--timeout", "0.5"] if how == "option" else []))
    bash = next(tool for tool in raw.ask("tools/list")["result"]["tools"] if tool["name"] == "bash")
    assert "(default and at most: 500)" in bash["inputSchema"]["properties"]["timeout"]["description"]
    go = tmp_path / "go"
    command = f"echo begun; until [ -e {go} ]; do sleep 0.05; done; echo built"
    result = raw.call("bash", {"command": command, **asked})
    told = result["_meta"][RESULT]
    assert "running" == told["state"] and f"check_pid={told['pid']}" in result["content"][0]["text"]
    raw.tell("notifications/cancelled", requestId="asked")  # it has been answered, so nothing is ended
    go.touch()
    seen = []

    def ended():
        seen.append(raw.call("bash", {"check_pid": told["pid"]}))
        return seen[-1]["_meta"][RESULT]["state"] == "ended"

    assert soon(ended)
    assert any("built" in each["content"][0]["text"] for each in seen)
    assert 0 == seen[-1]["_meta"][RESULT]["exit_code"]


def test_a_call_waits_less_than_clients_do(cli):
    """The default is 50 seconds: clients commonly give up, and cancel, after 60."""
    from spillstore_tools.cli.commands.mcp import command

    assert {"timeout": 50.0} == {each.name: each.default for each in command.params if each.name == "timeout"}
    assert cli("mcp", "--timeout", "0").code == 2


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [
        "stdin",
        "SIGTERM",
        pytest.param("SIGINT", marks=pytest.mark.slow),
        pytest.param("SIGHUP", marks=pytest.mark.slow),
    ],
)
def test_the_end_of_the_server(raw, store, tmp_path, how):
    """It leaves no process, all that was printed, and a session that nobody holds."""
    raw = raw("--session", "s")
    pids = begin_long(raw, tmp_path)
    background = raw.call("bash", {"command": "seq 1 30000; exec sleep 300", "timeout": 500})
    pids.append(background["_meta"][RESULT]["pid"])
    if how == "stdin":
        raw.process.stdin.close()
    else:
        raw.process.send_signal(getattr(signal, how))
    assert raw.process.wait(120) == (0 if how == "stdin" else 128 + getattr(signal, how))
    assert not any(map(alive, pids))
    with store.session("s", create=False) as session:
        assert sorted((info.lines, info.state) for info in session.infos()) == [
            (30000, "sealed"),
            (50000, "sealed"),
        ]
        session.delete()  # which is refused while somebody holds it


@pytest.mark.long
def test_a_client_that_does_not_read_cannot_hold_up_the_end(raw):
    """SIGTERM ends the server although its pipe is full."""
    raw = raw()
    for number in range(100):
        raw.begin(number, "tools/list")
    full = 30_000  # bytes: of the 16 pages that a pipe has, each answer may leave one half empty
    assert soon(
        lambda: int.from_bytes(fcntl.ioctl(raw.process.stdout, termios.FIONREAD, bytes(4)), "little") > full
    )
    raw.process.send_signal(signal.SIGTERM)
    assert raw.process.wait(120) == 128 + signal.SIGTERM


@pytest.mark.long
def test_a_client_that_has_gone_ends_the_server(raw):
    """Nobody reads what it answers."""
    raw = raw()
    raw.process.stdout.close()
    raw.begin(1, "tools/list")
    assert raw.process.wait(120) == 0


@pytest.mark.long
def test_stdout_carries_the_protocol_alone(raw):
    """What is no message is answered, and all that comes is messages."""
    raw = raw()
    raw.write(b"hello")
    raw.write(b"")
    raw.write(b'{"jsonrpc": "2.0", "id": 1}')
    raw.call("bash", {"command": "seq 1 20000; echo; echo oops >&2"})
    assert [each["error"]["code"] for each in raw.others if "error" in each] == [-32700, -32600]
    assert {each.get("method") for each in raw.others if "method" in each} <= {
        "notifications/resources/list_changed"
    }
    raw.process.stdin.close()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in raw.process.stdout)


@pytest.mark.long
@pytest.mark.parametrize("where", ["first", "last", "nowhere"])
def test_a_request_that_is_too_large_is_refused(raw, where):
    """Its id is found at either end; the next request is served."""
    raw = raw()
    request = {
        "jsonrpc": "2.0",
        "id": "big",
        "method": "tools/call",
        "params": {"x": "a" * 3_000_000, "id": 5},
    }
    if where != "first":
        request["id"] = request.pop("id") if where == "last" else [1]
    raw.write(json.dumps(request).encode())
    error = raw.reply(None if where == "nowhere" else "big")["error"]
    assert error["code"] == -32600
    assert "3000" in error["message"] and "1048576" in error["message"]
    assert raw.ask("ping")["result"] == {}


@given(st.lists(st.binary(max_size=60), max_size=12), st.booleans(), st.data())
@examples(60)
def test_messages_are_those_of_the_lines(pieces, ended, data):
    """However they come: each line up to the bound is read whole, a longer one refused with its length, and none is lost."""
    content = b"\n".join(pieces) + b"\n" * ended
    source, target = os.pipe()
    os.write(target, content)
    os.close(target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stdio_messages, "MAX_REQUEST", 20)
        patch.setattr(stdio_messages, "_READ", data.draw(st.integers(1, 40)))
        patch.setattr(stdio_messages, "_decoded", bytes)
        found = list(stdio_messages.read_messages(source))
        os.close(source)
    expected = [line for line in content.split(b"\n") if line.strip() or len(line) > 20]
    assert len(expected) == len(found)
    for line, got in zip(expected, found, strict=True):
        if len(line) > 20:
            assert "a request has" in got.message
        else:
            assert line == got.rstrip(b"\n")


# --- resources --------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_resources_come_in_pages(connect, store, mode):
    """All artifacts, the newest first, each once."""
    with store.session("s") as session:
        ids = [
            session.put(f"{n}\n", source="doc", command=f"c {n}", content_type="text/csv").id
            for n in range(120)
        ]

    async def talk():
        async with connect("--session", "s", mode=mode) as client:
            found, cursor, pages = [], None, 0
            while pages == 0 or cursor is not None:
                page = await client.list_resources(cursor=cursor)
                found, cursor, pages = found + page.resources, page.next_cursor, pages + 1
            with pytest.raises(MCPError, match="cursor") as raised:
                await client.list_resources(cursor="nonsense")
            assert raised.value.code == -32602
            templates = (await client.list_resource_templates()).resource_templates
            return found, pages, [each.uri_template for each in templates]

    found, pages, templates = asyncio.run(talk())
    assert pages == 3
    assert [each.uri for each in found] == [f"artifact://{each}" for each in reversed(ids)]
    assert (found[0].title, found[0].mime_type, found[0].size) == ("c 119", "text/csv", 4)
    assert templates == ["artifact://{id}{?stream}"]


@pytest.mark.long
def test_resources_are_read_in_bounds(connect, store):
    """Text whole or begun, a stream alone, small files as they are, large ones in words, and unknown ids by their names."""
    with store.session("s") as session:
        small = session.put("one\ntwo\n", source="doc", content_type="text/csv").id
        large = session.put("".join(f"{n}\n" for n in range(100_000)), source="doc").id
        picture = session.put(PNG, source="doc").id
        movie = session.put(PNG + bytes(MAX_BINARY), source="doc").id
        empty = session.put(b"", source="doc").id
        with session.create(source="x") as writer:
            writer.write("out\n", "stdout")
            writer.write("err\n", "stderr")
        both = writer.id

    async def talk():
        async with connect("--session", "s", "--read-only") as client:

            async def read(name):
                [found] = (await client.read_resource(f"artifact://{name}")).contents
                return found

            whole = await read(small)
            assert (whole.text, whole.mime_type) == ("one\ntwo\n", "text/csv")
            assert (await read(empty)).text == ""
            part = (await read(large)).text
            assert MAX_CHARS // 2 < len(part) <= MAX_CHARS
            assert f'[more: get_artifact(id="{large}", cursor=' in part
            assert "err\n" == (await read(f"{both}?stream=stderr")).text
            blob = await read(picture)
            assert (base64.b64decode(blob.blob), blob.mime_type) == (PNG, "image/png")
            words = (await read(movie)).text
            assert len(words) <= 8000 and "this is no text" in words
            for wrong in ("art_1_2", "", f"{small}?stream=x", f"{small}x" * 1000):
                with pytest.raises(MCPError, match=r"404 not found|id is missing") as raised:
                    await read(wrong)
                assert raised.value.code == -32602
                assert len(str(raised.value)) < 600

    asyncio.run(talk())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_resources_in_other_encodings_are_decoded(store, encoding):
    """Their text is a model's as any other, and its media type names no encoding."""
    words = "na\xefve words of text\n" * 20
    with store.session("s") as session:
        named = session.put(
            words.encode(encoding), source="doc", content_type=f"text/csv; charset={encoding}"
        )
        other = session.put(f"\x1b[31m{words}".encode(encoding), source="doc")
        answers = [read_resource(session, f"artifact://{each.id}")["contents"][0] for each in (named, other)]
    assert [(words, "text/csv"), (words, "text/plain")] == [
        (each["text"].removeprefix("\ufeff"), each["mimeType"]) for each in answers
    ]


@pytest.mark.long
def test_clients_are_told_of_new_artifacts(connect):
    """A client of the older protocols is told as it is; a later one when it asks to be."""

    async def talk():
        told = asyncio.Event()

        async def heard(message):
            if getattr(message, "method", "") == "notifications/resources/list_changed":
                told.set()

        async with connect(message_handler=heard) as client:
            assert client.server_capabilities.resources.list_changed
            await client.call_tool("bash", {"command": "echo little"})
            assert not told.is_set()
            await client.call_tool("bash", {"command": "seq 1 20000"})
            await asyncio.wait_for(told.wait(), 120)
        async with (
            connect(mode="auto") as client,
            client.listen(resources_list_changed=True) as events,
        ):
            await client.call_tool("bash", {"command": "seq 1 20000"})
            async with asyncio.timeout(120):
                assert type(await anext(aiter(events))).__name__ == "ResourcesListChanged"

    asyncio.run(talk())


# --- sessions ---------------------------------------------------------------------------------------------


def test_each_client_over_http_has_a_session_of_its_own(root, store, start):
    """What one has stored another cannot read, and a session is closed when its client ends it."""

    async def talk(url):
        async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as other:
            stored = await one.call_tool("bash", {"command": "seq 1 20000"})
            name = stored.meta[RESULT]["artifact_id"]
            assert not (await one.call_tool("get_artifact", {"id": name})).is_error
            missed = await other.call_tool("get_artifact", {"id": name})
            assert missed.is_error and "404 not found" in text_of(missed)

    with serving_http(start) as (process, port):
        asyncio.run(talk(f"http://127.0.0.1:{port}/mcp"))
        assert soon(lambda: [info.id[:4] for info in store.sessions()] == ["mcp-"])  # the empty one is gone
        [kept] = store.sessions()

        def deleted():
            with store.session(kept.id, create=False) as session, contextlib.suppress(SessionBusyError):
                session.delete()  # which is refused while the server holds it
                return True

        assert soon(deleted)
        assert process.poll() is None


def test_a_named_session_serves_everybody(root, store, start):
    """And stays, even if it is empty."""

    async def talk(url):
        async with Client(url, mode="legacy") as one, Client(url) as other:
            stored = await one.call_tool("bash", {"command": "seq 1 20000; echo $SPILLSTORE_SESSION"})
            name = stored.meta[RESULT]["artifact_id"]
            return text_of(await other.call_tool("get_artifact", {"id": name, "tail": 1}))

    with serving_http(start, "--session", "shared") as (process, port):
        assert "\nshared\n" in asyncio.run(talk(f"http://127.0.0.1:{port}/mcp"))
        process.terminate()
        assert process.wait(120) == 128 + signal.SIGTERM
    assert [info.id for info in store.sessions()] == ["shared"]


def test_the_end_of_a_server_over_http(root, store, start, tmp_path):
    """SIGTERM ends the commands of all clients, and what they printed is kept."""

    async def talk(url, process):
        async with Client(url, mode="legacy") as client:
            command = (
                f"seq 1 30000; echo $$ > {tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; exec sleep 300"
            )
            call = asyncio.ensure_future(client.call_tool("bash", {"command": command}))
            assert await asyncio.to_thread(soon, (tmp_path / "pid").exists)
            process.terminate()
            with pytest.raises(MCPError):
                await call
            assert await asyncio.to_thread(process.wait, 15) == 128 + signal.SIGTERM

    with serving_http(start, "--session", "s") as (process, port):
        asyncio.run(talk(f"http://127.0.0.1:{port}/mcp", process))
    assert not alive(int((tmp_path / "pid").read_text()))
    with store.session("s", create=False) as session:
        assert [(info.lines, info.state) for info in session.infos()] == [(30000, "sealed")]


def test_a_session_can_be_served_to_be_read_alone(raw, program, store):
    """There is no bash, nothing is written, and the session must be there."""
    with store.session("s") as session:
        name = session.put("one\n", source="doc").id
    raw = raw("--session", "s", "--read-only")
    assert "bash" not in {tool["name"] for tool in raw.ask("tools/list")["result"]["tools"]}
    refused = raw.call("bash", {"command": "echo hi"})
    assert (
        refused["isError"]
        and "no tool is called 'bash'; there are get_artifact" in refused["content"][0]["text"]
    )
    assert "one\n" in raw.call("get_artifact", {"id": name})["content"][0]["text"]
    raw.process.stdin.close()
    assert raw.process.wait(120) == 0
    with store.session("s", create=False, read_only=True) as session:
        assert [info.id for info in session.infos()] == [name]
    answer = program("mcp", "--session", "none", "--read-only")
    assert (answer.code, "`spillstore sessions` lists those that there are" in answer.err) == (125, True)
    assert program("mcp", "--read-only").code == 2


@pytest.mark.long
def test_an_empty_session_without_a_name_leaves_nothing(raw, store):
    """Clients start servers only to ask what tools there are."""
    raw = raw()
    assert raw.ask("tools/list")["result"]["tools"]
    assert len(list(store.sessions())) == 1
    raw.process.stdin.close()
    assert raw.process.wait(120) == 0
    assert list(store.sessions()) == []


# --- the command, and what guards it ----------------------------------------------------------------------


@pytest.mark.long
def test_the_command_line_alone_imports_no_protocol():
    """Only ``spillstore mcp`` pays for it."""
    script = "import sys, spillstore_tools.cli.commands.mcp; print([m for m in sys.modules if m.partition('.')[0] in ('mcp', 'anyio')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.long
@pytest.mark.parametrize("missing", ["mcp", "mcp_types"])
def test_a_missing_extra_is_named(root, missing):
    """One line, and the exit code of our own failures."""
    script = f"import sys; sys.modules[{missing!r}] = None; from spillstore_tools.cli import main; main(['mcp', '--transport', 'http'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        125,
        "spillstore: HTTP needs an extra: pip install 'spillstore[mcp]'\n",
    )


@pytest.mark.parametrize("version", ["1.30.0", "2.1.4"])
def test_an_sdk_that_is_too_old_is_named(program, tmp_path, version):
    """Another package may have brought it; the message says what is needed, and that stdio needs none."""
    from spillstore_tools.cli.commands.mcp import _SDK

    folder = tmp_path / "old" / f"mcp-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: mcp\nVersion: {version}\n")
    answer = program("mcp", "--transport", "http", env={"PYTHONPATH": str(folder.parent)})
    assert (125, 1) == (answer.code, answer.err.count("\n"))
    assert f"{version} is installed" in answer.err
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [f"mcp>={_SDK[0]}.{_SDK[1]}"] == project["optional-dependencies"]["mcp"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "no.such.host.invalid"])
def test_only_this_machine_is_served(cli, host):
    """Other addresses are refused before anything is listened on."""
    answer = cli("mcp", "--transport", "http", "--host", host)
    assert answer.code == 125
    assert answer.err.count("\n") == 1 and host in answer.err


@pytest.mark.long
def test_a_session_deleted_under_the_server(raw, store, cli):
    """The next command's output is stored in a new one of that name, and the server ends as ever."""
    raw = raw("--session", "s")
    raw.call("bash", {"command": "seq 1 20000"})
    assert cli("clean", "--session", "s", "--force").code == 0
    stored = raw.call("bash", {"command": "seq 1 30000"})["_meta"][RESULT]["artifact_id"]
    assert (
        raw.call("get_artifact", {"id": stored, "tail": 1})["content"][0]["text"].splitlines()[1] == "30000"
    )
    raw.process.stdin.close()
    assert raw.process.wait(120) == 0
    with store.session("s", read_only=True) as session:
        assert [info.id for info in session.infos()] == [stored]


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["--session", "s"], []], ids=["named", "unnamed"])
def test_commands_run_where_no_session_can_be_opened(raw, tmp_path, arguments):
    """A root that cannot be made costs the storing and not the command; as soon as it can be made, it is."""
    blocked = tmp_path / "file"
    blocked.touch()
    raw = raw("--root", blocked, *arguments)
    said = raw.call("bash", {"command": "seq 1 20000; exit 3"})
    jsonschema.validate({"text": "", **said["_meta"][RESULT]}, output_schema("bash"))
    assert said["_meta"][RESULT]["exit_code"] == 3
    text = said["content"][0]["text"]
    assert text.startswith("[NOT STORED COMPLETELY: ")
    assert "is no folder" in text
    assert "20000\n" in text
    listed = raw.call("list_artifacts", {})
    assert listed["isError"] and "is no folder" in listed["content"][0]["text"]
    assert "is no folder" in raw.ask("resources/list")["error"]["message"]
    blocked.unlink()
    again = raw.call("bash", {"command": "seq 1 20000"})["_meta"][RESULT]
    assert again["artifact_id"].startswith("art_")


def test_a_session_to_be_read_that_cannot_be_opened(program, tmp_path):
    """Then there is nothing to serve, which is said at once."""
    (tmp_path / "file").touch()
    answer = program("mcp", "--root", tmp_path / "file", "--session", "s", "--read-only")
    assert (answer.code, answer.err.count("\n")) == (125, 1)


@pytest.mark.long
def test_stdin_that_is_closed_is_told(root):
    """Before anything is served."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" <&-', sys.executable, *PROGRAM],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (125, "spillstore: stdin: Bad file descriptor\n")


def test_loopback_has_many_names():
    """Each is made an address."""
    assert {loopback("127.0.0.1"), loopback("127.1.2.3"), loopback("localhost")} >= {"127.0.0.1", "127.1.2.3"}


def test_requests_of_strangers_are_refused(root, start):
    """A foreign ``Host`` or ``Origin``, and a body above the bound, at once and in both protocols."""
    with serving_http(start) as (_, port):

        def post(body=b"{}", **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            with contextlib.closing(connection):
                common = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                with contextlib.suppress(ConnectionError):  # refused before all of it was sent
                    connection.request("POST", "/mcp", body, {**common, **headers})
                return connection.getresponse().status

        for era in ({}, {"MCP-Protocol-Version": "2026-07-28"}):
            assert post(**era) == 400
            assert post(Host="evil.example", **era) == 421
            assert post(Host=f"evil.example:{port}", **era) == 421
            assert post(Origin="http://evil.example", **era) == 403
            assert post(Origin=f"http://localhost:{port}", **era) == 400
            assert post(b" " * 2_000_000, **era) == 413


def test_a_token_keeps_others_out(root, start, monkeypatch):
    """With a token set, who sends another or none gets 401 and nothing else; who sends it is served."""
    monkeypatch.setenv("SPILLSTORE_MCP_TOKEN", "a long random text")
    with serving_http(start) as (_, port):

        def post(**headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            with contextlib.closing(connection):
                common = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                connection.request("POST", "/mcp", b"{}", {**common, **headers})
                return connection.getresponse().status

        assert [401, 401, 401] == [
            post(),
            post(Authorization="Bearer another"),
            post(Authorization="a long random text"),
        ]
        assert 400 == post(Authorization="Bearer a long random text")


# --- structured values ------------------------------------------------------------------------------------


NATURAL = st.integers(0, 10**15)
MAYBE = st.none() | NATURAL
OMISSIONS = st.builds(
    Omission,
    at=NATURAL,
    length=NATURAL,
    stream=st.sampled_from(["combined", "stdout", "stderr"]),
    start=NATURAL,
    end=NATURAL,
    first_line=NATURAL,
    last_line=NATURAL,
    lines=NATURAL,
    chars=MAYBE,
    exact_lines=st.booleans(),
    dropped=st.booleans(),
)
RESULTS = st.builds(
    BashResult,
    text=st.text(),
    state=st.sampled_from(["ended", "running", "open", "refused"]),
    pid=MAYBE,
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.sampled_from(["SIGTERM", "SIGKILL"]),
    duration=st.none() | st.floats(0, 1e6),
    stdout=st.builds(StreamCount, size=NATURAL, lines=MAYBE),
    stderr=st.builds(StreamCount, size=NATURAL, lines=MAYBE),
    truncated=st.dictionaries(
        st.sampled_from(["combined", "stdout", "stderr"]),
        st.fixed_dictionaries({"total": MAYBE, "skipped": NATURAL}),
    ),
    omissions=st.lists(OMISSIONS, max_size=20).map(tuple),
    artifact_id=st.none() | st.just("art_1_2"),
    storage_error=st.none() | st.text(max_size=50),
)
ANSWERS = st.builds(
    Answer,
    text=st.text(),
    cursor=st.none() | st.text(max_size=50),
    artifact_id=st.none() | st.just("art_1_2"),
    start=NATURAL,
    end=NATURAL,
    first_line=NATURAL,
    last_line=NATURAL,
    total_size=NATURAL,
    total_lines=NATURAL,
)


VALIDATORS = {name: jsonschema.Draft202012Validator(output_schema(name)) for name in ("bash", "get_artifact")}


@given(RESULTS | ANSWERS)
@examples(100)
def test_structured_values_are_what_their_schema_says(answer):
    """Of whatever answer: the structured content has the text and the short value, which is alone in the metadata otherwise."""
    name = "bash" if isinstance(answer, BashResult) else "get_artifact"
    value = summary(answer)
    assert len(json.dumps(value)) < 3000
    result = result_of(answer, structured=True)
    assert VALIDATORS[name].is_valid(result["structuredContent"])
    assert {**value, "text": result["content"][0]["text"]} == result.pop("structuredContent")
    assert result_of(answer, structured=False) == result
    assert {RESULT: value} == result["_meta"]


def test_text_that_utf_8_cannot_carry_is_sent_all_the_same():
    """Half surrogates, of file names in error messages say."""
    answer = BashResult(text="a\udc80b", state="ended", storage_error="c\udc80d")
    result = result_of(answer, structured=True)
    assert result["content"][0]["text"] == result["structuredContent"]["text"] == "a?b"
    assert result["_meta"][RESULT]["storage_error"] == "c?d"
