"""``spillstore mcp-proxy``: what passes through it is what the server said; what is too large is stored."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import jsonschema
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from support import alive, each_of, examples, not_for_ever, soon

from spillstore import Store
from spillstore_tools.agent.reading_tools import READING_TOOLS
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.mcp.proxy.listing import OwnToolNames
from spillstore_tools.mcp.proxy.output_schema import relaxed
from spillstore_tools.mcp.proxy.previews import META
from spillstore_tools.mcp.proxy.result_fitting import BINARY, TOGETHER
from spillstore_tools.mcp.proxy.results import ResultFitter
from spillstore_tools.mcp.proxy.upstream_messages import INSTRUCTIONS
from spillstore_tools.mcp.wire import raw_json
from spillstore_tools.mcp.wire.lines import read_lines
from spillstore_tools.mcp.wire.messages import ToolCall
from spillstore_tools.mcp.wire.tool_results import RESULT
from spillstore_tools.output.truncation import TruncationProcessor

HERE = Path(__file__).parent
SOCKET = os.path.join(tempfile.gettempdir(), f"spillstore-upstream-{os.getpid()}")
FORK = [sys.executable, "-IS", str(HERE / "upstream_fork.py"), SOCKET]
SDK = FORK  # a server written with the SDK, which one process imports for all tests
RAW = [sys.executable, str(HERE / "upstream_raw.py")]
PROXY = [sys.executable, "-m", "spillstore_tools.cli", "mcp-proxy"]
OURS = list(READING_TOOLS)
ERAS = ["legacy", pytest.param("auto", marks=pytest.mark.slow)]
pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


@pytest.fixture(scope="module", autouse=True)
def _sdk_server():
    """What ``SDK`` is forked from."""
    command = [sys.executable, *FORK[2:], "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()
        assert process.wait(60) == 0
    os.unlink(SOCKET)


# --- with the SDK's client --------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def client(command, *, proxied=True, options=(), **more):
    """The SDK's client of a server, behind the proxy or not."""
    command = [*PROXY, *options, "--", *command] if proxied else command
    environment = {name: value for name, value in os.environ.items() if name.startswith("SPILLSTORE_")}
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    async with Client(stdio_client(parameters), **more) as found:
        yield found


def with_client(command, use, **options):
    """Run ``use(client)``."""

    async def main():
        async with client(command, **options) as found:
            return await asyncio.wait_for(use(found), 240)

    return asyncio.run(main())


async def pages_of(found, method, key):
    pages, cursor = [], None
    while True:
        page = await getattr(found, method)(cursor=cursor)
        pages.append(page)
        cursor = page.next_cursor
        if cursor is None or len(pages) == 5:
            return pages


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def everything(found):
    """What a client sees that looks at all there is, in order."""
    seen = [plain(found.server_capabilities), found.instructions, found.protocol_version]
    for method, key in (
        ("list_resources", "resources"),
        ("list_resource_templates", "resourceTemplates"),
        ("list_prompts", "prompts"),
    ):
        seen += [plain(each) for each in await pages_of(found, method, key)]
    seen.append(plain(await found.read_resource("mem://7")))
    seen.append(plain(await found.get_prompt("p", {"a": "b"})))
    reference = types.PromptReference(type="ref/prompt", name="p")
    seen.append(plain(await found.complete(reference, {"name": "a", "value": "v"})))
    for name, arguments in (
        ("echo", {"text": "hello \x1b[31mred\x1b[0m \r\n", "unknown": [1.0, None]}),
        ("echo", {"text": "bad", "error": True}),
        ("echo", {"text": ""}),
        ("blocks", {"count": 4, "size": 50}),
        ("picture", {"size": 300_000}),
        ("picture", {"size": 300_000, "kind": "audio"}),
        ("picture", {"size": 300_000, "kind": "blob"}),
        ("rows", {"count": 5}),
        ("cancelled", {}),
    ):
        seen.append(plain(await found.call_tool(name, arguments)))
    with pytest.raises(MCPError) as caught:
        await found.call_tool("no such tool", {})
    seen.append((caught.value.error.code, caught.value.error.message))
    return seen


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_small_things_look_the_same_through_the_proxy(root, mode):
    """Resources, prompts, completions, results and errors are equal to those of the server spoken to directly."""
    directly = with_client(SDK, everything, proxied=False, mode=mode)
    proxied = with_client(SDK, everything, mode=mode)
    assert proxied[1] == f"{directly[1]}\n\n{INSTRUCTIONS}"
    assert [proxied[0], *proxied[2:]] == [directly[0], *directly[2:]]
    assert not (root / "_").exists()


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_tools_are_listed_as_they_are_and_ours_behind_them(root, mode):
    """Pages, cursors and metadata stay; the last page has our tools, and output schemas allow a stand-in."""

    async def listed(found):
        return [plain(page) for page in await pages_of(found, "list_tools", "tools")]

    directly = with_client(SDK, listed, proxied=False, mode=mode)
    proxied = with_client(SDK, listed, mode=mode)
    assert [len(page["tools"]) for page in proxied] == [4, 4, 1 + len(OURS)]
    ours = proxied[-1]["tools"][-len(OURS) :]
    del proxied[-1]["tools"][-len(OURS) :]
    assert [tool["name"] for tool in ours] == OURS
    theirs, expected = proxied[-1]["tools"][-1], directly[-1]["tools"][-1]
    assert theirs.pop("outputSchema")["anyOf"][0]["required"] == expected.pop("outputSchema")["required"]
    assert proxied == directly


AS_A_PROCESS = """
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    given = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with Client(stdio_client(given)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        large = await client.call_tool("echo", {"text": "0123456789 abcdef\\n", "times": 5000})
        small = await client.call_tool("echo", {"text": "hello"})
    print(json.dumps([names, len(large.content[0].text), large.meta, small.content[0].text]))

asyncio.run(main())
"""


@pytest.mark.slow
def test_client_proxy_and_server_are_processes_of_their_own(store):
    """The SDK's client on one side and a server that is written with it on the other: calls are answered, and all three end."""
    server = [sys.executable, str(HERE / "upstream_sdk.py")]
    command = [sys.executable, "-c", AS_A_PROCESS, *PROXY, "--session", "named", "--", *server]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "spillstore: session named\n")
    names, size, meta, small = json.loads(done.stdout)
    assert (len(names), size <= 8000, small) == (4, True, "hello")  # the first page
    with store.session("named", read_only=True) as session:
        artifact = session.artifact(meta[META][0]["id"])
        assert artifact.read_bytes(0, 100_000) == b"0123456789 abcdef\n" * 5000


def test_our_tools_are_all_reading_tools_of_a_toolbox(plain_store):
    """What the proxy adds are the definitions that a toolbox gives, without bash."""
    with plain_store.session("s") as session:
        expected = [each for each in Toolbox(session).definitions("mcp") if each["name"] != "bash"]
    found = [json.loads(each) for each in OwnToolNames(()).definitions()]
    assert expected == found


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_a_server_without_tools_gets_ours(root, mode):
    """Where there is nothing to list our tools are the list, and calling one works."""

    async def use(found):
        tools = await found.list_tools()
        result = await found.call_tool("list_artifacts", {})
        with pytest.raises(MCPError):
            await found.call_tool("other", {})
        return [tool.name for tool in tools.tools], result, found.server_capabilities.tools

    names, result, capability = with_client([*SDK, "toolless"], use, mode=mode)
    assert (names, capability) == (OURS, types.ToolsCapability())
    assert result.content[0].text.startswith("[no artifacts]")


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_a_large_result_is_stored_and_can_be_fetched(store, mode):
    """The preview is bounded and names the call; the artifact has every byte, the tool, its call and arguments."""

    async def use(found):
        large = await found.call_tool("echo", {"text": "0123456789 abcdef\n", "times": 5000})
        (stored,) = large.meta[META]
        part = await found.call_tool("get_artifact", {"id": stored["id"], "start_line": "4999"})
        wrong = await found.call_tool("get_artifact", {"id": "art_1_0", "start_line": [1]})
        odd = await found.call_tool("search_artifact", {"id": stored["id"], "pattern": "x", "nonsense": 1})
        listed = await found.call_tool("list_artifacts", {"limit": "null"})
        return large, stored, part, wrong, odd, listed

    large, stored, part, wrong, odd, listed = with_client(SDK, use, mode=mode)
    preview = large.content[0].text
    assert len(large.content) == 1
    assert len(preview) <= 8000
    assert f'get_artifact(id="{stored["id"]}", start_line=1' in preview
    assert (stored["of"], stored["bytes"]) == (0, 90_000)
    assert part.content[0].text.count("0123456789 abcdef\n") == 2
    assert part.meta[RESULT]["first_line"] == 4999
    assert (wrong.is_error, odd.is_error) == (True, True)
    assert "404 not found" in wrong.content[0].text
    assert stored["id"] in listed.content[0].text
    (info,) = store.sessions()
    assert info.id.startswith("mcp-")
    assert f"--session {info.id}" in preview
    with store.session(info.id, read_only=True) as session:
        artifact = session.artifact(stored["id"])
        assert artifact.read_bytes(0, 90_000) == b"0123456789 abcdef\n" * 5000
        assert artifact.info.source == "echo"
        assert json.loads(artifact.info.command) == {"text": "0123456789 abcdef\n", "times": 5000}
        assert artifact.info.tool_call_id


@pytest.mark.long
def test_a_large_error_is_stored_too(root):
    """A failed call stays failed."""

    async def use(found):
        return await found.call_tool("echo", {"text": "no!\n", "times": 9000, "error": True})

    result = with_client(SDK, use)
    assert result.is_error
    assert len(result.content[0].text) <= 8000
    assert result.meta[META]


@pytest.mark.long
def test_large_blocks_keep_their_order_and_annotations(store):
    """Each text above the limit is an artifact of its own; pictures, links and metadata stay where they are."""

    async def use(found):
        return await found.call_tool("blocks", {"count": 1, "size": 20_000})

    directly = with_client(SDK, use, proxied=False)
    result = with_client(SDK, use, options=["--session", "named"])
    assert [each.type for each in result.content] == [each.type for each in directly.content]
    assert [each["of"] for each in result.meta[META]] == [0, 2]
    assert result.meta["x.y/whole"] is True
    first, picture, resource, link = result.content
    assert (first.annotations, first.meta) == (directly.content[0].annotations, directly.content[0].meta)
    assert (picture, link) == (directly.content[1], directly.content[3])
    assert (resource.resource.uri, resource.resource.mime_type) == ("mem://0", "text/plain")
    with store.session("named", read_only=True) as session:
        for stored, theirs in zip(result.meta[META], (0, 2), strict=True):
            block = directly.content[theirs]
            whole = block.text if theirs == 0 else block.resource.text
            assert session.artifact(stored["id"]).read_bytes(0, 20_000) == whole.encode()


@pytest.mark.long
def test_many_small_blocks_are_bounded_together(store):
    """What comes after so many characters is one artifact and one preview, in which each block is told."""

    async def use(found):
        return await found.call_tool("blocks", {"count": 100, "size": 1000})

    result = with_client(SDK, use, options=["--session", "named"])
    texts = [each.text for each in result.content if each.type == "text"]
    texts += [each.resource.text for each in result.content if each.type == "resource"]
    assert sum(map(len, texts)) <= TOGETHER + 8000 + 200
    assert [each.type for each in result.content].count("image") == 100
    assert [each.type for each in result.content].count("resource_link") == 100
    (stored,) = result.meta[META]
    with store.session("named", read_only=True) as session:
        whole = session.artifact(stored["id"]).read_bytes(0, stored["bytes"]).decode()
    assert stored["of"] == 64
    assert (
        len(re.findall(r"^--- block \d+ of 400: (?:text|resource mem://\d+) ---$", whole, re.MULTILINE))
        == 168
    )
    assert whole.count("000099\n") == 2 * 143


@pytest.mark.parametrize("kind", ["resource_link", "hologram"])
def test_many_other_blocks_are_stored_together(session, kind):
    """Links and unknown blocks stay while they are few; many become one array, with a preview where the first stood."""
    fitter = ResultFitter(TruncationProcessor(session), lambda: OwnToolNames(()))

    def fitted(count):
        blocks = [{"type": kind, "uri": f"mem://{number}", "name": "n" * 80} for number in range(count)]
        content = [{"type": "text", "text": "before"}, *blocks, {"type": "text", "text": "after"}]
        return blocks, fitter.fit(json.dumps({"content": content}).encode(), ToolCall(tool="t"))

    assert fitted(400)[1] is None
    blocks, done = fitted(2000)
    result = json.loads(done)
    before, words, after = result["content"]
    assert (before["text"], words["type"], after["text"]) == ("before", "text", "after")
    assert words["text"].startswith(
        "[2000 other blocks of the result, from block 2 on, as one JSON array:]\n"
    )
    assert len(words["text"]) <= 8200
    (stored,) = result["_meta"][META]
    assert json.loads(session.artifact(stored["id"]).read_bytes(0, stored["bytes"])) == blocks


def test_pictures_are_bounded_together(session):
    """So many bytes of pictures stay, whatever their number; the next one is stored, decoded."""
    fitter = ResultFitter(TruncationProcessor(session), lambda: OwnToolNames(()))
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(BINARY // 3 - 8)).decode()
    blocks = [{"type": "image", "data": data, "mimeType": "image/png"}] * 5
    result = json.loads(fitter.fit(json.dumps({"content": blocks}).encode(), ToolCall(tool="t")))
    assert ["image"] * 3 + ["text"] * 2 == [each["type"] for each in result["content"]]
    assert [3, 4] == [each["of"] for each in result["_meta"][META]]
    for each in result["_meta"][META]:
        assert base64.b64decode(data) == session.artifact(each["id"]).read()


@pytest.mark.slow
def test_pictures_above_the_bound_are_stored_decoded(store):
    """Words say what it is; the artifact has the bytes of the picture, and what stands around it stays."""

    async def use(found):
        return [
            await found.call_tool("picture", {"size": BINARY + 1, "kind": kind})
            for kind in ("image", "audio", "blob")
        ] + [await found.call_tool("picture", {"size": BINARY})]

    *large, small = with_client(SDK, use, options=["--session", "named"])
    assert small.content[1].type == "image"
    assert small.meta is None or META not in small.meta
    for result in large:
        before, words, after = result.content
        assert (before.text, words.type, after.text) == ("before", "text", "after")
        assert "[Binary: " in words.text
        (stored,) = result.meta[META]
        assert stored["bytes"] == BINARY + 1
        with store.session("named", read_only=True) as session:
            head = session.artifact(stored["id"]).read_bytes(0, 12)
        assert head == b"\x89PNG\r\n\x1a\n\0\0\0\0"


@pytest.mark.long
@pytest.mark.parametrize("mode", ERAS)
def test_structured_content_gives_way_to_a_short_value(store, mode):
    """The client, which validates, takes it; the artifact has the JSON; the preview is in it, and in the content once."""

    async def use(found):
        await found.list_tools()
        await pages_of(found, "list_tools", "tools")
        return [
            (words, await found.call_tool("rows", {"count": 20_000, "words": words}))
            for words in (True, False)
        ]

    for words, result in with_client(SDK, use, mode=mode, options=["--session", "named"]):
        assert_stands_in(store, words, result)


def assert_stands_in(store, words, result):
    """That a short value stands for rows that are stored."""
    stand_in = result.structured_content["spillstore"]
    stored = result.meta[META][-1]
    assert (stored["of"], stand_in["artifact_id"]) == ("structuredContent", stored["id"])
    assert stored["id"] in stand_in["notice"]
    assert f'get_artifact(id="{stored["id"]}"' in stand_in["preview"]
    assert len(stand_in["preview"]) <= 8000
    assert words or result.content[0].text == stand_in["preview"]
    assert len(result.content) == 1
    assert len(result.content[0].text) <= 8000
    with store.session("named", read_only=True) as session:
        artifact = session.artifact(stored["id"])
        assert json.loads(artifact.read_bytes(0, stored["bytes"])) == {"rows": list(range(20_000))}
        assert artifact.info.content_type == "application/json"


@pytest.mark.long
def test_a_server_with_a_tool_of_our_name_keeps_it(root):
    """Ours gets a prefix, which notices and answers name, whether or not anybody has listed the tools."""

    async def use(found):
        large = await found.call_tool("echo", {"text": "0123456789\n", "times": 5000})
        (stored,) = large.meta[META]
        theirs = await found.call_tool("get_artifact", {"id": stored["id"]})
        ours = await found.call_tool("spillstore_get_artifact", {"id": stored["id"]})
        names = [each.name for page in await pages_of(found, "list_tools", "tools") for each in page.tools]
        return large.content[0].text, stored["id"], theirs.content[0].text, ours.content[0].text, names

    preview, identity, theirs, ours, names = with_client([*SDK, "taken"], use)
    assert names[-1 - len(OURS) :] == ["get_artifact", "spillstore_get_artifact", *OURS[1:]]
    assert theirs == "theirs: ['id']"
    assert f' spillstore_get_artifact(id="{identity}"' in preview
    assert ", search_artifact(id=ID, " in preview
    assert re.search(rf'spillstore_get_artifact\(id="{identity}", cursor="[^"]+"\)\] \[~\d+\.', ours)


@pytest.mark.long
def test_a_tool_of_our_name_that_comes_later(root):
    """Where the server says that its tools have changed, it is asked again before a name is taken for ours."""

    async def use(found):
        before = await found.call_tool("search_artifact", {"id": "x", "pattern": "y"})
        await found.call_tool("grow", {"name": "search_artifact"})
        after = await found.call_tool("spillstore_search_artifact", {"id": "x", "pattern": "y"})
        return before.content[0].text, after.content[0].text

    before, after = with_client(SDK, use, mode="legacy")
    assert before.startswith("search_artifact: 404")
    assert after.startswith("spillstore_search_artifact: 404")


@pytest.mark.long
def test_progress_and_logging_reach_the_client(root):
    """Notifications of the server arrive, in order, before the result they belong to."""
    told, logged = [], []

    async def progress(done, total, message):
        told.append((done, total, message))

    async def message(each):
        logged.append(type(each).__name__)

    async def log(params):
        logged.append(params.data)

    async def use(found):
        await found.call_tool("slow", {}, progress_callback=progress)
        assert told == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
        await found.set_logging_level("info")
        await found.subscribe_resource("mem://0")
        await found.call_tool("log", {})
        assert await asyncio.to_thread(soon, lambda: len(logged) >= 4), logged

    with_client(SDK, use, mode="legacy", message_handler=message, logging_callback=log)
    assert {"n": 1} in logged
    assert {"ResourceUpdatedNotification", "ResourceListChangedNotification"} <= set(map(str, logged))


@pytest.mark.long
def test_requests_of_the_server_reach_the_client(root):
    """Sampling, elicitation, roots and ping: the client answers what the server asks."""

    async def sample(context, params):
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(type="text", text="because"), model="m"
        )

    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"n": "somebody"})

    async def roots(context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///here")])

    async def use(found):
        results = [
            await found.call_tool("ask", {"what": what})
            for what in ("sampling", "elicitation", "roots", "ping")
        ]
        return [each.content[0].text for each in results]

    answers = with_client(
        SDK,
        use,
        mode="legacy",
        sampling_callback=sample,
        elicitation_callback=elicit,
        list_roots_callback=roots,
    )
    assert answers == ["because", "somebody", "file:///here", "pong"]


@pytest.mark.long
def test_cancellation_reaches_the_server(root):
    """A call that the client gives up is given up by the server."""

    async def use(found):
        async def said(expected):
            while (told := (await found.call_tool("cancelled", {})).content[0].text) != expected:
                pass
            return told

        call = asyncio.create_task(found.call_tool("cancelled", {"wait": True}))
        await said("['waits']")
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        return await said("['waits', 'yes']")

    assert with_client(SDK, use) == "['waits', 'yes']"


@pytest.mark.long
def test_calls_at_the_same_time(root):
    """Thirty large results in parallel are each the answer to their own call."""

    async def use(found):
        calls = [found.call_tool("echo", {"text": f"{n:04d}\n", "times": 9000}) for n in range(30)]
        return await asyncio.gather(*calls)

    results = with_client(SDK, use)
    for number, result in enumerate(results):
        assert f"\n{number:04d}\n" in result.content[0].text


@pytest.mark.slow
def test_in_front_of_a_published_server(store, tmp_path):
    """A large commit shown by mcp-server-git is stored; its small answers are the same."""
    repository = tmp_path / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=n", "-c", "user.email=n@example.com"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "small").write_text("x\n")
    subprocess.run([*git, "add", "small"], check=True)
    subprocess.run([*git, "commit", "-qm", "small"], check=True)
    (repository / "large").write_text("".join(f"line {n} of many\n" for n in range(60_000)))
    subprocess.run([*git, "add", "large"], check=True)
    subprocess.run([*git, "commit", "-qm", "large"], check=True)
    command = [sys.executable, "-m", "mcp_server_git", "--repository", str(repository)]
    repo = {"repo_path": str(repository)}

    async def use(found):
        status = await found.call_tool("git_status", repo)
        show = await found.call_tool("git_show", {**repo, "revision": "HEAD"})
        diff = await found.call_tool("git_diff", {**repo, "target": "HEAD~1"})
        names = [tool.name for tool in (await found.list_tools()).tools]
        return plain(status), show, diff, names

    async def fetch(found):
        _, show, diff, names = await use(found)
        text = ""
        sent = {"id": show.meta[META][0]["id"], "start_line": 30_000, "end_line": 30_001}
        text = (await found.call_tool("get_artifact", sent)).content[0].text
        return plain(await found.call_tool("git_status", repo)), show, diff, names, text

    directly = with_client(command, use, proxied=False)
    status, show, diff, names, text = with_client(command, fetch, options=["--session", "named"])
    assert status == directly[0]
    assert names == directly[3] + OURS
    assert "+line 29" in text
    with store.session("named", read_only=True) as session:
        for small, large in ((show, directly[1]), (diff, directly[2])):
            assert len(small.content[0].text) <= 8000 < len(large.content[0].text)
            (stored,) = small.meta[META]
            whole = session.artifact(stored["id"]).read_bytes(0, stored["bytes"])
            assert whole.decode() == large.content[0].text


@pytest.mark.long
def test_in_front_of_our_own_server(store):
    """The inner tools keep their names and answers, ours get prefixes, and answers of the inner ones are not stored again."""
    inner = [sys.executable, "-m", "spillstore_tools.cli", "mcp", "--session", "both"]

    async def use(found):
        names = [each.name for page in await pages_of(found, "list_tools", "tools") for each in page.tools]
        ran = await found.call_tool("bash", {"command": "seq 1 30000"})
        identity = ran.meta[RESULT]["artifact_id"]
        page = await found.call_tool("get_artifact", {"id": identity, "max_chars": 50_000})
        mine = await found.call_tool("spillstore_artifact_info", {"id": identity})
        return names, ran, page, mine

    names, ran, page, mine = with_client(inner, use, options=["--session", "both"])
    assert {"bash", *OURS, *(f"spillstore_{name}" for name in OURS)} <= set(names)
    assert ran.meta is None or META not in ran.meta
    assert 20_000 < len(page.content[0].text) <= 50_000
    assert not mine.is_error
    with store.session("both", read_only=True) as session:
        assert [info.source for info in session.infos()] == ["bash"]


# --- line by line -----------------------------------------------------------------------------------------


class Conversation:
    """A client that writes and reads lines itself."""

    def __init__(self, process):
        self.process = process
        self.number = 0

    def send(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        return self.process.stdout.readline()

    def call(self, name, _id=None, **arguments):
        """Send a call, without waiting; its id."""
        self.number += 1
        identity = self.number if _id is None else _id
        params = {"name": name, "arguments": arguments}
        self.send(json.dumps({"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}))
        return identity

    def answer(self, name, **arguments):
        """A call, and the answer to it."""
        identity = self.call(name, **arguments)
        message = json.loads(self.read())
        assert message["id"] == identity
        return message

    def words(self, name, **arguments):
        return self.answer(name, **arguments)["result"]["content"][0]["text"]

    def initialize(self):
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        self.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
        answer = json.loads(self.read())
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        self.send(json.dumps({"jsonrpc": "2.0", "id": "list", "method": "tools/list"}))
        self.read()
        return answer["result"]


def conversation(stack, command, *options, initialize=True, **more):
    """A proxy in front of a server, and somebody who speaks to it; the proxy is ended with the stack."""
    process = subprocess.Popen(
        [*PROXY, *options, "--", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )
    stack.enter_context(process)
    stack.callback(process.kill)
    begun = Conversation(process)
    if initialize:
        begun.initialize()
    return begun


@pytest.fixture
def talk(root):
    """Starts a proxy in front of a server, and speaks to it."""
    with contextlib.ExitStack() as stack:

        def start(command=RAW, *options, **more):
            begun = conversation(stack, command, *options, **more)
            watch = threading.Timer(120, begun.process.kill)
            watch.start()
            stack.callback(watch.cancel)
            return begun

        yield start


@pytest.mark.long
@pytest.mark.parametrize(
    ("begun", "method"),
    [('{"task":{"taskId":"t"}}', "tasks/result"), ('{"resultType":"task","taskId":"t"}', "tasks/get")],
)
def test_results_of_tasks_are_stored(talk, store, begun, method):
    """A result that is fetched later is stored as that of the tool, in the task's answer of both kinds."""
    it = talk(RAW, "--session", "named")
    line = '{"jsonrpc":"2.0","id":%ID%,"result":' + begun + "}"
    assert it.answer("say", lines=[line])["result"] == json.loads(begun)
    it.send(json.dumps({"jsonrpc": "2.0", "id": "later", "method": method, "params": {"taskId": "t"}}))
    result = json.loads(it.read())["result"]
    result = result.get("result", result)
    (stored,) = result["_meta"][META]
    with store.session("named", read_only=True) as session:
        info = session.artifact(stored["id"]).info
    assert (info.source, info.size) == ("say", 48_000)


@pytest.mark.long
def test_what_comes_with_a_protocol_error_is_bounded(talk, store):
    """A message or data of megabytes is stored, and a preview of it is what the error says; its code stays."""
    it = talk(RAW, "--session", "named")
    error = {
        "code": -32603,
        "message": "line of a trace\n" * 60_000,
        "data": {"frames": ["f"] * 50_000},
        "other": 1,
    }
    line = '{"jsonrpc":"2.0","id":%ID%,"error":' + json.dumps(error) + "}"
    found = it.answer("say", lines=[line])["error"]
    assert (found["code"], found["other"]) == (-32603, 1)
    assert (len(found["message"]) <= 8000, len(found["data"]) <= 8000) == (True, True)
    with store.session("named", read_only=True) as session:
        whole = {artifact.id: artifact.read_bytes(0, artifact.info.size) for artifact in session.artifacts()}
    stored = {part: next(each for each in whole if each in found[part]) for part in ("message", "data")}
    assert whole[stored["message"]].decode() == error["message"]
    assert json.loads(whole[stored["data"]]) == error["data"]
    short = '{"jsonrpc":"2.0","id":%ID%,"error":{"code":1,"message":"no"}}'
    assert it.answer("say", lines=[short])["error"] == {"code": 1, "message": "no"}


@pytest.mark.long
def test_requests_after_the_end_are_answered(talk):
    """A server that has closed its stdout is gone, whatever it still does; nobody waits for it."""
    it = talk([sys.executable, "-c", "import os, time; os.close(1); time.sleep(60)"], initialize=False)
    it.call("anything")
    assert json.loads(it.read())["error"]["code"] == -32000
    assert it.process.wait(120) == 143


ODD = [
    '{"jsonrpc": "2.0",  "method":"vendor/thing" ,"params":{"big":123456789012345678901234567890,"f":1.0,"e":1e400}}',
    '{"result":{"content":[{"text":"\\u00e9\\/ \\ud83d\\ude00","type":"text"}],"z":-0.0,"a":1E5},"id":%ID%,"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":"theirs","method":"vendor/ask","params":{"\\u0061":[ ]}}',
    '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"\\ud800 half"}],"n":NaN}}',
    '{"jsonrpc":"2.0","id":%ID%,"error":{"code":1,"message":"no","data":{"x":1.50}}}',
    '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"hologram","data":[1.0]}],"resultType":"complete"}}',
    '{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"input_required","requestState":"s","inputRequests":{}}}',
    '{"jsonrpc":"2.0","id":987654,"result":{"content":[{"type":"text","text":"nobody asked"}]}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}',
    '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"x","annotations":null,"_meta":null}],"_meta":null}}',
    '{"jsonrpc":"2.0","id":%ID%,"result":{"deep":' + "[" * 3000 + "]" * 3000 + ',"content":[]}}',
]


@pytest.mark.long
def test_lines_pass_to_the_byte(talk):
    """Spaces, escapes, order of keys, numbers that no float holds, unknown methods and kinds: nothing is written anew."""
    it = talk()
    for line in ODD:
        identity = it.call("say", lines=[line])
        assert it.read().decode() == line.replace("%ID%", str(identity)) + "\n"


@pytest.mark.long
def test_what_the_client_says_passes_to_the_byte(talk):
    """The server hears every line of the client as it was, ids of any kind, answers and rubbish among them."""
    it = talk()
    said = [
        '{"jsonrpc": "2.0", "id" : 1.50, "method":"vendor/a","params":{"x":1.0}}',
        '{"jsonrpc":"2.0","id":"\\u00e9","method":"ping"}',
        '{"jsonrpc":"2.0","id":"theirs","result":{"ok":true}}',
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}',
        "no json at all",
    ]
    for line in said:
        it.send(line)
    answers = [json.loads(it.read()) for _ in range(3)]
    assert [each["id"] for each in answers] == [1.5, "é", None]
    assert json.loads(it.words("heard"))[3:-1] == [f"{line}\n" for line in said]


@pytest.mark.long
def test_batches(talk):
    """A batch goes to the server without what is ours, and every request in it is answered."""
    it = talk()
    calls = [
        {"jsonrpc": "2.0", "id": f"b{n}", "method": "tools/call", "params": {"name": name, "arguments": {}}}
        for n, name in enumerate(["say", "list_artifacts", "say"])
    ]
    it.send(json.dumps(calls))
    answers = {
        answer["id"]: answer["result"]["content"][0]["text"]
        for answer in (json.loads(it.read()) for _ in calls)
    }
    assert (answers["b0"], answers["b2"]) == ("of a batch", "of a batch")
    assert answers["b1"].startswith("[no artifacts]")
    it.call("say", lines=['[{"jsonrpc":"2.0","method":"a"}, {"jsonrpc":"2.0","method":"b"}]'])
    assert [json.loads(it.read())["method"] for _ in range(2)] == ["a", "b"]


@pytest.mark.long
def test_what_is_no_message_is_told_on_stderr(talk):
    """Print-outs, broken JSON and JSON that is no message are skipped; what follows arrives."""
    it = talk()
    rubbish = [
        "starting up",
        '{"jsonrpc": "2.0", "id": 5, "resu',
        "[INFO] x",
        "42",
        '{"level":"info"}',
        "",
        "[3]",
    ]
    answer = it.answer("say", lines=[*rubbish, '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[]}}'])
    assert answer["result"] == {"content": []}
    it.process.stdin.close()
    assert it.process.wait(120) == 0
    notes = it.process.stderr.read().decode().splitlines()
    assert len(notes) == len(rubbish) - 1
    assert notes[0] == "spillstore: the server said what is no message: 'starting up'"


@pytest.mark.long
def test_texts_that_json_barely_holds_are_stored(talk, store):
    """Half a surrogate pair and bytes that are no UTF-8, in results that are too large, do not get in the way."""
    it = talk(RAW, "--session", "named")
    for odd in ("\\ud800", "\udcff", "\\u0000", "\\ud83d\\ude00"):
        line = (
            '{"jsonrpc":"2.0","id":%ID%,"x":NaN,"result":{"content":[{"type":"text","text":"'
            + (odd + "\\n") * 9000
        )
        it.call("say", lines=[line + '"}]}}'])
        result = json.loads(it.read())["result"]
        assert len(result["content"][0]["text"]) <= 8000
        assert result["_meta"][META][0]["bytes"] >= 18_000
    with store.session("named", read_only=True) as session:
        assert [info.state for info in session.infos()] == ["sealed"] * 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "arguments", "code"), [("die", {}, 3), ("signal", {"number": 11}, 139), ("leave", {}, 125)]
)
def test_a_crash_answers_everybody_and_is_told(talk, name, arguments, code):
    """Every request that waits gets an error that says how the server ended; the exit code is not 0."""
    it = talk()
    waiting = [it.call("silent"), it.call("silent", _id="two")]
    fatal = it.call(name, **arguments)
    answers = {answer["id"]: answer["error"] for answer in (json.loads(it.read()) for _ in range(3))}
    assert set(answers) == {*waiting, fatal}
    assert all(each["code"] == -32000 for each in answers.values())
    how = code if code != 125 else 0
    assert {each["message"] for each in answers.values()} == {
        f"the server ended with exit code {how} before it answered"
    }
    assert it.process.wait(120) == code
    if name == "die":
        assert it.process.stderr.read() == b"oh no\n"


def test_a_server_that_is_not_there(program):
    """One line, and a shell's exit code."""
    answer = program("mcp-proxy", "--", "/no/such/server")
    assert (answer.code, answer.out) == (127, b"")
    assert answer.err == "spillstore: cannot run '/no/such/server': command not found\n"


@pytest.mark.long
def test_a_server_that_stops_listening(talk):
    """Requests that it cannot hear are answered with an error, at once."""
    it = talk()
    assert it.words("deaf") == "deaf now"
    error = it.answer("say")["error"]
    assert error["message"] == "the server does not read any more"


@pytest.mark.long
@pytest.mark.parametrize(
    ("how", "daemon"),
    [
        ("stdin", False),
        ("SIGTERM", True),
        *(
            pytest.param(how, daemon, marks=pytest.mark.slow)
            for how, daemon in itertools.product(("stdin", "SIGTERM", "SIGINT", "SIGHUP"), (False, True))
        ),
    ],
)
def test_nothing_is_left_when_it_ends(talk, how, daemon):
    """The server and what it has started end with the client or with us, a daemon of its own session too."""
    it = talk()
    server = json.loads(it.words("environment"))["SPILLSTORE_JOB"]
    child = int(it.words("child", daemon=daemon))
    if how == "stdin":
        it.process.stdin.close()
    else:
        it.process.send_signal(getattr(signal, how))
    assert it.process.wait(120) == (0 if how == "stdin" else 128 + getattr(signal, how))
    assert server
    assert not alive(child)


@pytest.mark.long
def test_a_stubborn_server_is_killed(talk):
    """One that ignores signals and the end of its input is gone all the same."""
    it = talk([*RAW, "linger"])
    pid = int(it.words("stubborn"))
    it.process.send_signal(signal.SIGTERM)
    assert it.process.wait(120) == 143
    assert not alive(pid)


@pytest.mark.slow
def test_a_server_that_lingers_is_ended(talk):
    """It gets a few seconds after its input has ended, then a signal."""
    it = talk([*RAW, "linger"])
    pid = int(it.words("child"))
    it.process.stdin.close()
    assert it.process.wait(120) == 0
    assert not alive(pid)


IMPATIENT = """
import pathlib, sys
from spillstore_tools.cli import main
from spillstore_tools.mcp.proxy import proxy
from spillstore_tools.mcp.wire.pending import PendingRequests
has_clients = PendingRequests.has_clients
def told(pending):
    pathlib.Path(sys.argv[1]).touch()
    return has_clients(pending)
PendingRequests.has_clients = told
proxy._LEAVE = 0.05
main(["mcp-proxy", "--", *sys.argv[2:]])
"""


@pytest.mark.long
@pytest.mark.parametrize("read", [True, False])
def test_a_server_that_is_slow_answers(root, tmp_path, read):
    """A request in a pipeline is answered though nothing follows it; where nobody reads, it is not waited for."""
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}})
    asked = tmp_path / "asked"  # whether the server, which has had its time, is waited for any longer
    server = (
        "import pathlib, time\n"
        "input()\n"
        f"while not ({read} and pathlib.Path({str(asked)!r}).exists()): time.sleep(0.01)\n"
        f"print({answer!r})"
    )
    command = [sys.executable, "-c", IMPATIENT, str(asked), sys.executable, "-c", server]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.close()
        if read:
            assert json.loads(process.stdout.read())["result"] == {}
        else:
            process.stdout.close()
        assert process.wait(120) == 0
    assert asked.exists()


@pytest.mark.long
def test_the_server_ends_when_we_are_killed(talk):
    """After kill -9 the watchdog ends what is left."""
    it = talk([*RAW, "linger"])
    pid = int(it.words("stubborn"))
    child = int(it.words("child"))
    it.process.kill()
    it.process.wait(120)
    assert soon(lambda: not alive(pid) and not alive(child))


@pytest.mark.long
def test_a_client_that_does_not_read_any_more(talk):
    """When nobody reads our stdout, the server is ended and so are we."""
    it = talk()
    it.process.stdout.close()
    it.call("heard")
    assert it.process.wait(120) == 0


@pytest.mark.long
def test_a_cancelled_call_of_ours_is_not_answered(talk):
    """Nor is the server told of it; other answers come."""
    it = talk()
    it.call("list_artifacts", _id="mine")
    it.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"mine"}}')
    last = it.call("heard")
    answers = {}
    while last not in answers:
        answer = json.loads(it.read())
        answers[answer["id"]] = answer["result"]
    assert set(answers) <= {"mine", last}  # it may have been answered before it was cancelled
    assert "cancelled" not in answers[last]["content"][0]["text"] or "mine" in answers


@pytest.mark.long
def test_storing_on_a_disk_that_cannot_be_written(talk, tmp_path):
    """The call succeeds, with a preview and a notice of what is not kept; our tools say why they cannot answer."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    it = talk(RAW, "--root", str(blocked / "store"))
    answer = it.answer("large", bytes=100_000)["result"]
    assert "NOT STORED COMPLETELY" in answer["content"][0]["text"]
    assert len(answer["content"][0]["text"]) <= 8000
    assert META not in answer.get("_meta", {})
    assert it.answer("list_artifacts")["result"]["isError"] is True
    structured = {"rows": list(range(20_000))}
    line = (
        '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[],"structuredContent":'
        + json.dumps(structured)
        + "}}"
    )
    result = it.answer("say", lines=[line])["result"]
    assert result["structuredContent"]["spillstore"]["artifact_id"] is None
    assert "NOT STORED COMPLETELY" in result["structuredContent"]["spillstore"]["preview"]
    assert "NOT STORED COMPLETELY" in result["content"][0]["text"]


@pytest.mark.long
def test_a_quota_that_is_met(talk, store):
    """What was kept is said, and the server goes on."""
    it = talk(RAW, "--session", "named", env={**os.environ, "SPILLSTORE_SESSION_QUOTA": "1MiB"})
    noise = base64.b64encode(os.urandom(3_000_000)).decode()
    line = '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"' + noise + '"}]}}'
    text = it.answer("say", lines=[line])["result"]["content"][0]["text"]
    assert "NOT STORED COMPLETELY" in text
    assert (
        it.words(
            "say", lines=['{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"on"}]}}']
        )
        == "on"
    )


@pytest.mark.long
def test_profiles_and_refusals(talk, tmp_path):
    """Another profile has other limits; what it refuses is an error of the call."""
    it = talk(RAW, "--profile", "acode")
    assert it.answer("large", bytes=11_000_000)["result"]["isError"] is True
    other = talk(RAW, "--profile", "pipe")
    assert len(other.words("large", bytes=30_000)) == 30_000 // 21 * 21


@pytest.mark.long
def test_the_configuration_of_the_folder_holds(talk, tmp_path):
    """Limits come from where other commands take them; a wrong file is told before the server starts."""
    (tmp_path / ".agent").mkdir()
    file = tmp_path / ".agent" / "config.yml"
    file.write_text("tools:\n  truncation:\n    inline_limit: 1000\n")
    it = talk(RAW, cwd=tmp_path)
    assert len(it.words("large", bytes=5000)) <= 1000
    file.write_text("tools:\n  truncation:\n    inline_limit: many\n")
    done = subprocess.run(
        [*PROXY, "--", *RAW], cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 125
    assert done.stderr.startswith(b"spillstore: ")


@pytest.mark.long
def test_the_environment_of_the_server_is_ours(talk):
    """Nothing is taken away or added but the mark by which it is found."""
    it = talk(env={**os.environ, "SOMETHING": "else"})
    theirs = json.loads(it.words("environment"))
    assert set(theirs) - set(os.environ) == {"SOMETHING", "SPILLSTORE_JOB"}


@pytest.mark.long
@pytest.mark.parametrize("as_json", [True, False])
def test_the_session_is_named_on_stderr(talk, as_json):
    """Once, when it is made; for programs as JSON."""
    it = talk(RAW, *(["--json"] if as_json else []))
    it.answer("list_artifacts")
    it.answer("large", bytes=30_000)
    it.process.stdin.close()
    it.process.wait(120)
    (line,) = it.process.stderr.read().decode().splitlines()
    name = json.loads(line)["session"] if as_json else line.removeprefix("spillstore: session ")
    assert name.startswith("mcp-")


@pytest.mark.long
def test_a_closed_stdin_is_told(root):
    """Nobody could speak to it."""
    line = f'"{sys.executable}" -m spillstore_tools.cli mcp-proxy -- true <&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"stdin is closed" in done.stderr


@pytest.mark.long
def test_the_sdk_is_not_needed(root):
    """The proxy imports neither the SDK nor what it brings."""
    script = (
        "import sys\nfrom spillstore_tools.cli import main\n"
        f"try:\n    main(['mcp-proxy', '--', *{RAW!r}])\nexcept SystemExit as end:\n"
        "    print(end.code, sorted({'mcp', 'mcp_types', 'pydantic', 'sqlalchemy', 'asyncio'} & set(sys.modules)), file=sys.stderr)"
    )
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "large", "arguments": {"bytes": 90_000}},
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(call).encode() + b"\n",
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert META in json.loads(done.stdout)["result"]["_meta"]
    assert re.fullmatch(r"spillstore: session mcp-[0-9a-f-]+\n0 \[\]\n", done.stderr.decode())


@pytest.mark.slow
def test_results_of_fifty_megabytes(talk, store):
    """One passes, whole in the store; the memory it takes is little more than the message; small calls go on beside it."""
    it = talk(RAW, "--session", "named")

    def peak():
        status = Path(f"/proc/{it.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024

    for _ in range(3):
        result = it.answer("large", bytes=60_000_000)["result"]
        assert len(result["content"][0]["text"]) <= 8000
        assert result["_meta"][META][0]["bytes"] == 60_000_000 // 21 * 21
    assert peak() < 1.125 * 60_000_000 + 140_000_000
    (line,) = ['{"jsonrpc":"2.0","id":%ID%,"method":"vendor/large","params":"' + "x" * 60_000_000 + '"}']
    identity = it.call("say", lines=[line])
    assert it.read().decode() == line.replace("%ID%", str(identity)) + "\n"


# --- pieces -----------------------------------------------------------------------------------------------

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), _JSON), st.booleans(), st.sampled_from([None, 1]))
@examples(60)
def test_objects_come_apart_as_the_standard_library_reads_them(value, ascii_only, indent):
    """Members of any object, NaN and half surrogates among them, and joined again it is the same."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    data = text.encode("utf-8", "surrogatepass")
    try:
        same = json.loads(data)
    except UnicodeDecodeError:
        return
    pieces = raw_json.members(data)
    assert repr({name: json.loads(bytes(piece)) for name, piece in pieces.items()}) == repr(same)
    assert repr(json.loads(raw_json.join_object(pieces))) == repr(same)


@given(st.lists(_JSON), st.sampled_from([None, 1]))
@examples(60)
def test_arrays_come_apart_likewise(value, indent):
    """Items of any array."""
    data = json.dumps(value, indent=indent).encode()
    assert repr([json.loads(bytes(piece)) for piece in raw_json.items(data)]) == repr(json.loads(data))
    scanned = [json.loads(piece) for piece in raw_json._scan(data, b"[")]
    assert repr(scanned) == repr(json.loads(data))


@given(st.text(alphabet='[]{},:"\\ aN1.', max_size=30))
@examples(1000)
def test_what_is_no_json_is_refused(text):
    """The scanner takes an array if the standard library does; it never fails in another way."""
    data = text.encode()
    try:
        found = raw_json.items(data)
    except raw_json.RawJsonError:
        found = None
    with contextlib.suppress(ValueError):
        if isinstance(json.loads(text), list):
            assert found is not None
    assert found is None or all(bytes(each).strip() for each in found)


@given(st.lists(st.binary(max_size=20)), st.lists(st.integers(1, 9)))
@examples(200)
def test_lines_do_not_depend_on_how_they_come(pieces, sizes):
    """Whatever the reads, the lines are those of the whole."""
    whole = b"\n".join(pieces)
    blocks, rest = [], whole
    for size in sizes:
        blocks.append(rest[:size])
        rest = rest[size:]
    reads = iter([block for block in [*blocks, rest] if block] + [b""])
    assert [bytes(each) for each in read_lines(lambda: next(reads))] == whole.splitlines(
        keepends=True
    ) or b"\r" in whole


@each_of("member", ['"b"{":c":1}', '"b"[":c"]', '"b" ":c"', '"b""":1'])
def test_what_stands_before_a_colon_is_not_dropped(member):
    """Bytes between a name and its colon make it no object: dropped, the brackets of what is left would not be those that were read."""
    with pytest.raises(raw_json.RawJsonError, match="not a JSON object"):
        raw_json.members(f'{{"a":NaN,{member}}}'.encode())
    assert {"a": b"NaN", "b": b"1"} == raw_json.members(b'{"a":NaN,"b" :1}')


@pytest.mark.slow
def test_scanning_is_linear():
    """Hostile messages of two megabytes are understood or refused in seconds."""
    size = 2_000_000
    for data in (
        b'{"a":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}",
        b'{"a":NaN,"b":"' + b'\\"' * (size // 2) + b'"}',
        b'{"a":NaN,"b":"' + b"\\" * size,
        b'{"a":NaN,"b":"' + b"x" * size,
        b"{" + b'"' * size,
        b"[" + b"N" * size,
    ):
        with not_for_ever(), contextlib.suppress(raw_json.RawJsonError):
            raw_json.members(data)


@given(
    st.text(alphabet=st.sampled_from('ab\\"\n\0é\u20ac\U0001f600\ud83d\ude00\u2028'), max_size=60),
    st.booleans(),
    st.integers(12, 30),
)
@examples(300)
def test_strings_come_in_pieces(monkeypatch_piece, text, ascii_only, size):
    """Wherever a string is cut, its pieces are the whole; half a surrogate pair is replaced."""
    data = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "replace")
    expected = re.sub("[\ud800-\udfff]", "\ufffd", json.loads(data))
    monkeypatch_piece(size)
    assert "".join(raw_json.string_parts(data)) == expected


@pytest.fixture(scope="module")
def monkeypatch_piece():
    """Sets the size of pieces."""
    with pytest.MonkeyPatch.context() as patch:
        yield lambda size: patch.setattr(raw_json, "_PART_SIZE", size)


SCHEMAS = [
    ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}, {"a": "x"}),
    (
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"$ref": "#/properties/x"}},
            "required": ["y"],
        },
        {"y": 1},
        {"y": "1"},
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/T",
            "definitions": {
                "T": {
                    "type": "object",
                    "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/definitions/T"}},
                    "required": ["v"],
                    "additionalProperties": False,
                }
            },
        },
        {"v": 1, "next": {"v": 2}},
        {"v": 1, "next": {"w": 2}},
    ),
    (
        {
            "type": "object",
            "properties": {"default": {"$ref": "#/properties/const"}, "const": {"const": 3}},
            "required": ["default"],
        },
        {"default": 3},
        {"default": 4},
    ),
    ({"type": "array", "items": {"type": "integer"}}, [1, 2], ["x"]),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), SCHEMAS)
def test_a_relaxed_schema_allows_what_it_did_and_a_stand_in(schema, right, wrong):
    """References lead where they led, the root's type stays, and what was wrong is wrong."""
    found = relaxed(schema)
    validator = jsonschema.validators.validator_for(found)
    validator.check_schema(found)
    checker = validator(found)
    assert (checker.is_valid(right), checker.is_valid(wrong)) == (True, False)
    assert checker.is_valid({"spillstore": {"artifact_id": "art_1_2"}})
    assert not checker.is_valid({"spillstore": 5})
    assert found.get("type") == (schema.get("type") if schema.get("type") == "object" else None)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/other.json"}}},
        {"type": "object", "properties": {"a": {"$id": "inner", "$ref": "#/x"}}},
        {"type": "object", "properties": {"a": json.loads('{"not":' * 900 + "{}" + "}" * 900)}},
    ],
)
def test_a_schema_that_leads_out_of_itself_allows_every_object(schema):
    """Nobody can say where such a reference leads once it has moved."""
    assert relaxed(schema) == {"type": "object"}


@given(
    st.lists(
        st.one_of(
            st.builds(
                lambda size: {"type": "text", "text": "some words\n" * size},
                st.sampled_from([0, 1, 50, 700, 800, 3000]),
            ),
            st.builds(
                lambda size: {"type": "image", "data": "QUJD" * size, "mimeType": "image/png"},
                st.integers(0, 9),
            ),
            st.builds(
                lambda size: {"type": "resource", "resource": {"uri": "u", "text": "words\n" * size}},
                st.sampled_from([1, 100, 2000]),
            ),
            st.just({"type": "resource_link", "uri": "u", "name": "n"}),
        ),
        max_size=60,
    )
)
@examples(40)
def test_a_result_is_bounded_and_nothing_of_it_is_lost(blocks):
    """Whatever the blocks: what is shown is bounded, what is not is stored, and the order stays."""
    with (
        tempfile.TemporaryDirectory() as root,
        Store(root, free_disk_floor=0, artifacts_per_minute=0).session("s") as session,
    ):
        fitter = ResultFitter(TruncationProcessor(session), lambda: OwnToolNames(()))
        done = fitter.fit(json.dumps({"content": blocks}).encode(), ToolCall(tool="t"))
        texts = [each.get("text") or each.get("resource", {}).get("text") or "" for each in blocks]
        if done is None:
            assert sum(map(len, texts)) <= TOGETHER + 8000
            assert max(map(len, texts), default=0) <= 8000
            return
        result = json.loads(done)
        shown = [each.get("text") or each.get("resource", {}).get("text") or "" for each in result["content"]]
        assert sum(map(len, shown)) <= TOGETHER + 8000 + 8000 + 200
        others = [each for each in result["content"] if each["type"] in {"image", "resource_link"}]
        assert others == [each for each in blocks if each["type"] in {"image", "resource_link"}]
        stored = "".join(
            session.artifact(each["id"]).read_bytes(0, each["bytes"]).decode()
            for each in result["_meta"][META]
        )
        for text in texts:
            assert text in stored or text in shown
