"""What the configuration says is done, whoever made it: in Python as from a file."""

from __future__ import annotations

import ast
import asyncio
import json
import threading

import pytest
from support import each_of

from spillstore_tools import profiles
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.config import (
    STRATEGIES,
    ArtifactSettings,
    ConfigurationError,
    LineTruncation,
    MetadataSettings,
    RedactionSettings,
    ToolOverride,
    TruncationConfiguration,
    load,
)
from spillstore_tools.output.media_type import media_type_of
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview import strategies

pytestmark = pytest.mark.everywhere

LINES = "".join(f"line {number}\n" for number in range(4_000))
HUGE = LINES * 2


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"inline_limit": -5}, "argument inline_limit: tools.truncation.inline_limit must be a positive integer .* -5"),
        ({"inline_limit": True}, "it is true"),
        ({"inline_limit": "8000"}, "it is '8000'"),
        ({"head_ratio": 5.0}, "a number above 0 and below 1; it is 5.0"),
        ({"max_artifact_size": -1}, "max_artifact_size must be a positive integer"),
        ({"default_strategy": "bogus"}, "must be one of .*head_tail.*; it is 'bogus'"),
        ({"line_truncation": LineTruncation(tail_lines=0)}, "line_truncation.tail_lines must be"),
        ({"overrides": {"x": ToolOverride(strategy="bogus")}}, r"overrides\.x\.strategy must be one of"),
        ({"overrides": {"x": ToolOverride(inline_limit=0)}}, r"overrides\.x\.inline_limit must be"),
        ({"artifacts": ArtifactSettings(storage_path="../out")}, "a path below the working directory"),
        ({"metadata": 3}, "a mapping of settings; it is 3"),
    ],
)  # fmt: skip
def test_values_are_checked_where_they_are_given(given, shown):
    """A configuration made by hand refuses what one from a file does, and names argument, key and value."""
    with pytest.raises(ConfigurationError, match=shown):
        TruncationConfiguration(**given)


def test_right_values_are_taken():
    """The defaults, every group, strategies of our own once they are registered, and those that ``load`` was told of."""
    assert TruncationConfiguration() == TruncationConfiguration(inline_limit=8000)
    configuration = TruncationConfiguration(
        redaction=RedactionSettings(off=("JWT",), patterns={"TICKET": "T-[0-9]+"}),
        overrides={"x": ToolOverride(strategy="none")},
    )
    assert configuration.for_tool("x").strategy == "none"
    with pytest.raises(ConfigurationError, match="mine_alone"):
        TruncationConfiguration(default_strategy="mine_alone")
    assert (
        load(default_strategy="mine_alone", strategies={*STRATEGIES, "mine_alone"}).default_strategy
        == "mine_alone"
    )
    strategies.register("mine_alone", lambda: strategies.strategy("head"))
    try:
        assert TruncationConfiguration(default_strategy="mine_alone").default_strategy == "mine_alone"
    finally:
        del strategies._REGISTRY["mine_alone"]


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("include_original_size", {"original_size", "original_bytes"}),
        ("include_token_estimate", {"original_tokens", "truncated_tokens"}),
        ("include_strategy", {"strategy", "strategy_used", "truncation_strategy"}),
        ("include_retrieval_instructions", {"retrieval_instructions"}),
    ],
)
@pytest.mark.parametrize("profile", ["acode", "default"])
def test_metadata_tells_what_the_configuration_wants(plain_store, profile, key, names):
    """What a processor with a configuration gives leaves out what is switched off there; the caller may ask for all."""
    configuration = TruncationConfiguration(metadata=MetadataSettings(**{key: False}))
    with plain_store.session("s") as session:
        processor = TruncationProcessor(session, profile=profile, configuration=configuration)
        metadata = processor.process(LINES, "t").metadata
        assert names == set(metadata.as_dict(MetadataSettings())) - set(metadata.as_dict())
        json.dumps(metadata.as_dict())
        assert names <= set(
            TruncationProcessor(session, profile=profile).process(LINES, "u").metadata.as_dict()
        )


@pytest.mark.parametrize("profile", ["acode", "default"])
@pytest.mark.parametrize("content", [LINES, HUGE])
def test_no_call_is_recommended_that_is_refused(plain_store, profile, content):
    """Without partial retrieval neither the text nor the metadata name a range in a call."""
    for partial in (True, False):
        configuration = load(artifacts={"enable_partial_retrieval": partial}, max_artifact_size=10_000_000)
        with plain_store.session(f"{partial}") as session:
            processor = TruncationProcessor(session, profile=profile, configuration=configuration)
            result = processor.process(content, "t")
            text = result.content + result.metadata.as_dict()["retrieval_instructions"]
            assert f'get_artifact(id="{result.artifact_id}")' in text or partial
            assert partial is any(word in text for word in ("start_line=", "start_byte=", "$[0]"))


@pytest.mark.parametrize("size", [5_000, 500_000])
@pytest.mark.parametrize("callable_", [False, True])
def test_a_refused_output_is_a_limit_event(plain_store, size, callable_):
    """Tool, size and limit are recorded, whether or not something of it had reached the store."""
    configuration = load(inline_limit=1000, artifact_threshold=2000, max_artifact_size=3000)
    with plain_store.session("s") as session:
        processor = TruncationProcessor(
            (lambda: session) if callable_ else session, profile="acode", configuration=configuration
        )
        result = processor.process(iter([b"x" * (size // 2)] * 2), "tool", tool_call_id="call_1")
        assert result.metadata.strategy_used == "refused"
        (event,) = session.events(kind="limit").items
        assert event.tool_call_id == "call_1"
        assert event.detail == {"limit": "max_artifact_size", "tool": "tool", "size": size, "most": 3000}
        assert [] == session.infos().items


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (LINES.encode(), "text/plain"),
        (json.dumps({"rows": [{"id": number} for number in range(20_000)]}).encode(), "application/json"),
        (b"[" + b'"' + b"x" * 300_000 + b'"]', "application/json"),
        (json.dumps(list(range(3_000))).encode() + b"\n", "application/json"),
        (b'{"level": "info"}\n' * 5_000, "text/plain"),
        (b"[INFO] started\n" * 5_000, "text/plain"),
        (b"[" * 100_000, "text/plain"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100, "image/png"),
    ],
)
def test_the_media_type_is_found(plain_store, data, expected):
    """Text, JSON and images are stored under their type where nobody said it; what was said is kept."""
    with plain_store.session("s") as session:
        processor = TruncationProcessor(session, profile="acode")
        found = processor.process(data, "t")
        assert expected == session.artifact(found.artifact_id).info.content_type
        said = processor.process(data + b"\n", "t", content_type="text/x-mine")
        assert "text/x-mine" == session.artifact(said.artifact_id).info.content_type


@each_of(
    "data, whole, expected",
    [
        (b"", True, None),
        (b"{}", True, "application/json"),
        (b"{}", False, None),
        (b'{"a": tru', False, "application/json"),
        (b'{"a": tru', True, "text/plain"),
        (b'{"a": "\\u12', False, "application/json"),
        (b'{a: "b' + b"b" * 50, False, "text/plain"),
        (b"[1]\n[2]\n", True, "text/plain"),
        (b"[INFO] up\n", False, "text/plain"),
        (b"{a: 1", False, "text/plain"),
        (b"[1, 2,", False, "application/json"),
        (b"[-", False, "application/json"),
    ],
)
def test_the_beginning_of_json(data, whole, expected):
    """A beginning is JSON if only its end is missing; whole objects that more may follow are not judged."""
    assert expected == media_type_of(data, whole=whole)


def test_put_finds_the_media_type(cli, tmp_path):
    """A file's type is found, and that of stdin where its beginning tells."""
    for name, data, expected in (("a", b"{}", "application/json"), ("b", b"x\n", "text/plain")):
        (tmp_path / name).write_bytes(data)
        assert cli("put", tmp_path / name, "--json").json["content_type"] == expected
    assert cli("put", "-", "--json", stdin=b"{}").json["content_type"] is None


CLEAN = ("acode", "opencode", "lace")


@pytest.mark.parametrize("profile", profiles.NAMES)
@pytest.mark.parametrize("tool", ["bash", "processor", "opened"])
def test_the_end_of_a_session_cleans_up(plain_store, profile, tool):
    """``end`` deletes the session where a tool's profile wants that; ``close`` and ``end(cleanup=False)`` keep it."""
    for cleanup, kept in ((None, profile not in CLEAN), (False, True)):
        session = plain_store.session("s")
        if tool == "bash":
            BashTool(session, profile=profile)
        else:
            processor = TruncationProcessor(
                session if tool == "processor" else lambda found=session: found, profile=profile
            )
            processor.process(LINES, "t")
        assert session.cleanup_on_exit is (profile in CLEAN)
        session.end(cleanup=cleanup)
        assert kept is any(True for _ in plain_store.sessions())
    session = plain_store.session("s")
    Toolbox(session, profile=profile)
    session.close()
    assert ["s"] == [info.id for info in plain_store.sessions()]


def test_the_configuration_keeps_a_session(plain_store):
    """``cleanup_on_exit: false`` keeps what acode would delete; the store's own setting still deletes."""
    configuration = load(artifacts={"cleanup_on_exit": False})
    session = plain_store.session("s")
    TruncationProcessor(session, profile="acode", configuration=configuration).process(LINES, "t")
    session.end()
    assert ["s"] == [info.id for info in plain_store.sessions()]
    session = plain_store.session("s")
    session.cleanup_on_exit = True
    session.end()
    assert [] == list(plain_store.sessions())


@pytest.mark.parametrize(
    ("profile", "kept"), [("default", True), ("opencode", False), ("lace", False), ("acode", False)]
)
@pytest.mark.parametrize("named", [False, True])
def test_the_exit_of_a_server_cleans_up(plain_store, profile, kept, named):
    """What a server has made goes with it, where its profile wants that; a session that was there before stays."""
    from spillstore_tools.mcp.server.sessions import ServedSessions

    async def serve():
        name = "mine" if named else None
        sessions = ServedSessions(plain_store, name, None, announce=lambda _: None, profile=profile)
        service = await sessions.get(None)
        await service.call("bash", {"command": "seq 1 30000"})
        await sessions.close()

    for there in (False, True) if named else (False,):
        if there:
            plain_store.session("mine").close()
        asyncio.run(serve())
        assert (kept or there) is any(True for _ in plain_store.sessions())


@pytest.mark.parametrize("there", [False, True])
def test_the_exit_of_the_proxy_cleans_up(plain_store, there):
    """A session that the proxy has made goes with it; one that was there before stays."""
    from spillstore_tools.mcp.proxy.lazy_session import LazySession

    lazy = LazySession(lambda: plain_store.session("s"), made=lambda: not there)
    TruncationProcessor(lazy.session, profile="opencode").process(LINES, "t")
    lazy.close()
    assert there is any(True for _ in plain_store.sessions())


def test_the_variable_of_the_root_needs_no_file(cli, tmp_path, monkeypatch):
    """``SPILLSTORE_TRUNCATION__ARTIFACTS__STORAGE_PATH`` names the store for the working directory."""
    monkeypatch.delenv("SPILLSTORE_ROOT")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").write_text("x\n")
    variable = {"SPILLSTORE_TRUNCATION__ARTIFACTS__STORAGE_PATH": "kept/here"}
    assert cli("put", "log", env=variable).code == 0
    assert (tmp_path / "kept/here/_/default/session.db").exists()
    assert (
        cli("put", "log", env={**variable, "SPILLSTORE_TRUNCATION__ARTIFACTS__STORAGE_PATH": "../x"}).code
        == 125
    )


def test_the_event_loop_goes_on_while_a_result_is_stored(plain_store):
    """``process_async`` gives what ``process`` gives, and something else runs before it has read its content."""
    came = threading.Event()

    def pieces():
        yield LINES.encode()
        assert came.wait(120)
        yield LINES.encode()

    async def both(processor):
        task = asyncio.ensure_future(processor.process_async(pieces(), "t", command="make"))
        await asyncio.sleep(0)
        came.set()
        return await task

    with plain_store.session("s") as session:
        processor = TruncationProcessor(session, profile="acode")
        result = asyncio.run(both(processor))
        expected = processor.process(HUGE, "t", command="make")
        assert expected.content.splitlines()[1:3] == result.content.splitlines()[1:3]
        assert (
            HUGE.encode()
            == session.artifact(result.artifact_id).read()
            == session.artifact(expected.artifact_id).read()
        )


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ({"users": ["x" * 20] * 4_000, "total": 3}, "$.users"),
        ({"two words": ["x" * 20] * 4_000}, "$['two words']"),
        ({'a "b"': ["x" * 20] * 4_000}, "$['a \"b\"']"),
        ({"x" * 600: ["x" * 20] * 4_000}, "$.*"),
        (["x" * 20] * 4_000, "$[0]"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_the_query_of_a_reference_finds_something(plain_store, value, query, indent):
    """The call that the block of large JSON names has an answer, whether the document is an object or an array."""
    with plain_store.session("s") as session:
        processor = TruncationProcessor(session, profile="acode")
        result = processor.process(json.dumps(value, indent=indent), "http_request")
        (line,) = [each for each in result.content.splitlines() if "JSONPath query" in each]
        call = ast.parse(line.removeprefix("- JSONPath query: "), mode="eval").body
        arguments = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
        assert query == arguments["query"]
        assert session.artifact(arguments["id"]).query(query).matches


def test_what_is_said_of_a_refused_output(plain_store):
    """Both sizes tell something however small they are, and the summary says that all of it is missing."""
    configuration = load(inline_limit=500, artifact_threshold=1000, max_artifact_size=2000)
    with plain_store.session("s") as session:
        result = TruncationProcessor(session, profile="acode", configuration=configuration).process(
            "x\n" * 9_000, "t"
        )
    assert result.content.startswith("Output size (17.6 KB) exceeds maximum artifact size (2.0 KB). 18000 ")
    assert result.metadata.as_dict()["omission_summary"] == "all of it, 18000 bytes"


def test_a_command_that_is_refused_while_it_runs_can_be_ended(plain_store):
    """The text of its output's refusal names its pid and the call that ends it."""
    configuration = load(inline_limit=500, artifact_threshold=1000, max_artifact_size=2000)
    with plain_store.session("s") as session:
        tool = BashTool(session, profile="acode", configuration=configuration)
        result = tool.call_sync({"command": "seq 9000; exec sleep 600", "timeout": 500})
        assert "Output size" in result.text
        assert f"bash(kill_pid={result.pid}) ends it" in result.text
        ended = tool.call_sync({"kill_pid": result.pid})
        assert (ended.state, ended.is_error) == ("ended", True)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("x" * 9_000, "t: 1 line of text/plain: x"),
        ("x\n" * 9_000, "t: 9000 lines of text/plain: x"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100, "t: image/png (25.0 KB)"),
    ],
)
def test_a_reference_counts_lines_of_text_alone(plain_store, data, words):
    """One line is one line, and what is no text has none."""
    with plain_store.session("s") as session:
        assert words in TruncationProcessor(session, profile="acode").process(data, "t").artifact_reference


def test_the_strategy_has_the_name_of_the_document(plain_store):
    """``truncation_strategy`` and ``strategy`` are the same."""
    with plain_store.session("s") as session:
        told = (
            TruncationProcessor(session, profile="acode").process(LINES, "execute_command").metadata.as_dict()
        )
    assert ("tail", "tail") == (told["strategy"], told["truncation_strategy"])
