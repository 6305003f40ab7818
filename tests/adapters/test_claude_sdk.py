"""The Claude Agent SDK: its options, and Claude Code itself against a model on loopback where the SDK brings it."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path

import pytest
from logs import BIG, BOOM, LINE

pytest.importorskip("claude_agent_sdk")

import claude_agent_sdk
from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, query, tool
from stand_ins import Messages

from spillstore import Store
from spillstore.exceptions import InvalidSettingError
from spillstore_tools.adapters.claude_sdk import SpillOptions
from spillstore_tools.adapters.core import RETRIEVAL, Adapter

pytestmark = pytest.mark.adapters

FAILING = "seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3"


def named(text):
    """The artifact that a preview names."""
    return re.search(r"art_\d+_[0-9a-f]{16}", text)[0]


def answered(spill, payload, options=None):
    """What Claude Code is answered after a tool call."""
    (matcher,) = (options or spill.options()).hooks["PostToolUse"]
    payload = {"hook_event_name": "PostToolUse", "tool_use_id": "call_1", "tool_input": {}, **payload}
    (hook,) = matcher.hooks
    answer = asyncio.run(hook(payload, "call_1", {"signal": None}))
    return answer["hookSpecificOutput"]["updatedToolOutput"] if answer else None


# --- without Claude Code ------------------------------------------------------------------------------------


def test_options_of_ones_own_stay(session):
    """Ours are added, and the object that was given is as it was."""

    async def mine(payload, call, context):
        return {}

    other = create_sdk_mcp_server("other")
    base = ClaudeAgentOptions(
        allowed_tools=["Bash"],
        env={"MINE": "1"},
        mcp_servers={"other": other},
        hooks={"PostToolUse": [HookMatcher(hooks=[mine])], "PreToolUse": [HookMatcher(hooks=[mine])]},
    )
    options = SpillOptions(session).options(base)
    assert options.allowed_tools[:2] == ["Bash", "mcp__spillstore__get_artifact"]
    assert options.env["MINE"] == "1"
    assert options.env["SPILLSTORE_SESSION"] == session.id
    assert Path(options.env["CLAUDE_CODE_SHELL_PREFIX"]).name == "spillstore-sh"
    assert set(options.mcp_servers) == {"other", "spillstore"}
    assert [len(options.hooks[name]) for name in ("PreToolUse", "PostToolUse")] == [1, 2]
    assert (base.allowed_tools, base.env, set(base.mcp_servers)) == (["Bash"], {"MINE": "1"}, {"other"})
    assert len(base.hooks["PostToolUse"]) == 1


def test_commands_are_left_alone_where_nothing_leads_them_into_the_session(session, caplog):
    """A session that cannot be opened leads nowhere; a prefix of one's own stays; and it can be switched off."""
    assert SpillOptions(lambda: Store("/dev/null/root").session("none")).options().env == {}
    assert "commands are left to Claude Code" in caplog.text
    mine = {"CLAUDE_CODE_SHELL_PREFIX": "/opt/mine"}
    assert SpillOptions(session).options(ClaudeAgentOptions(env=mine)).env == mine
    options = SpillOptions(session, shell=False).options()
    assert options.env == {}
    assert not any(name.startswith("Bash") for name in options.allowed_tools)


@pytest.mark.parametrize("servers", ["servers.json", {"spillstore": create_sdk_mcp_server("spillstore")}])
def test_servers_to_which_ours_cannot_be_added_are_refused(session, servers):
    """The message says the way out."""
    with pytest.raises(InvalidSettingError, match="mcp_servers"):
        SpillOptions(session).options(ClaudeAgentOptions(mcp_servers=servers))


@pytest.mark.parametrize("form", ["text", "blocks"])
def test_a_large_result_of_a_server_is_shown_in_part(session, form):
    """In the form in which it came."""
    response = BIG if form == "text" else [{"type": "text", "text": BIG}, {"type": "image", "data": "aa"}]
    spill = SpillOptions(session)
    shown = answered(spill, {"tool_name": "mcp__mine__run_tests", "tool_response": response})
    text = shown if form == "text" else shown[0]["text"]
    assert BOOM.strip() in text
    assert len(text) <= 8000
    assert session.find("call_1").read() == BIG.encode()
    if form == "blocks":
        assert shown[1] == {"type": "image", "data": "aa"}


def test_parallel_calls_have_an_artifact_each(session):
    """Claude Code asks for several at once."""
    (matcher,) = SpillOptions(session).options().hooks["PostToolUse"]

    async def ask():
        return await asyncio.gather(*[
            matcher.hooks[0](
                {
                    "hook_event_name": "PostToolUse", "tool_name": "mcp__mine__run_one", "tool_use_id": f"call_{number}",
                    "tool_input": {"number": number}, "tool_response": f"part {number}\n{BIG}",
                },
                f"call_{number}",
                {"signal": None},
            )
            for number in range(8)
        ])  # fmt: skip

    for number, answer in enumerate(asyncio.run(ask())):
        text = answer["hookSpecificOutput"]["updatedToolOutput"]
        assert BOOM.strip() in text
        assert named(text) == session.find(f"call_{number}").id
        assert session.find(f"call_{number}").read() == f"part {number}\n{BIG}".encode()


def test_the_same_call_again_names_the_first_artifact(session):
    """No second copy is kept."""
    spill = SpillOptions(session)
    large = {"tool_name": "mcp__mine__run_tests", "tool_response": BIG}
    first, second = answered(spill, large), answered(spill, large)
    assert named(first) == named(second)
    assert len(session.infos().items) == 1


def test_what_claude_code_has_saved_is_stored(session, tmp_path):
    """From the file in the folder of the conversation, and from no other."""
    saved = tmp_path / "conversation" / "tool-results" / "b1.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text(BIG)
    payload = {"tool_name": "Bash", "transcript_path": str(tmp_path / "conversation.jsonl")}
    response = {"stdout": BIG[:30_000], "stderr": "", "interrupted": False, "isImage": False}
    spill = SpillOptions(session, shell=False)
    shown = answered(spill, {**payload, "tool_response": {**response, "persistedOutputPath": str(saved)}})
    assert BOOM.strip() in shown["stdout"]
    assert set(shown) == set(response)
    assert session.find("call_1").read() == BIG.encode()
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text(BIG)
    stray = {**response, "persistedOutputPath": str(elsewhere)}
    assert answered(spill, {**payload, "tool_response": stray}) is None


def test_results_pass_that_are_small_ours_or_for_code(session):
    """By the tool, and by the call."""
    large = {"tool_name": "mcp__mine__run_tests", "tool_response": BIG}
    spill = SpillOptions(session, skip=["mcp__mine__run_tests"])
    assert answered(spill, large) is None
    spill = SpillOptions(session)
    with Adapter.off():
        assert answered(spill, large) is None
    assert answered(spill, {**large, "tool_response": "all good"}) is None
    assert answered(spill, {**large, "tool_name": "mcp__spillstore__get_artifact"}) is None
    assert answered(spill, {"tool_name": "Bash", "tool_response": {"stdout": "all good"}}) is None
    assert session.infos().items == []


def test_a_failure_leaves_the_result_as_it_is(store, tmp_path, caplog):
    """The session was closed; or the payload is no hook's."""
    session = store.session("closed")
    spill = SpillOptions(session)
    options = spill.options()
    session.close()
    with caplog.at_level(logging.WARNING, "spillstore.adapters"):
        payload = {"tool_name": "mcp__mine__run_tests", "tool_response": BIG}
        assert answered(spill, payload, options) is None
    assert "mcp__mine__run_tests" in caplog.text


def test_secrets_are_neither_shown_nor_stored(session):
    """Of little output, too."""
    secret = "ghp_" + "a1B2" * 9
    spill = SpillOptions(session)
    for text in (f"token {secret}\n", f"{BIG}token {secret}\n"):
        shown = answered(spill, {"tool_name": "mcp__mine__leak", "tool_response": text})
        assert secret not in shown
        assert "REDACTED" in shown
    assert secret.encode() not in session.find("call_1").read()


def test_the_end_closes_what_was_opened(store):
    """A function opens the session when the options are made."""
    opened = []

    def open_session():
        opened.append(store.session("own"))
        return opened[-1]

    with SpillOptions(open_session) as spill:
        spill.options()
    with pytest.raises(Exception, match="closed"):
        opened[0].infos()


# --- with Claude Code ---------------------------------------------------------------------------------------


@tool("run_tests", "Run the tests.", {})
async def run_tests(arguments):
    return {"content": [{"type": "text", "text": BIG}]}


@tool("run_one", "Run the tests of one part.", {"number": int})
async def run_one(arguments):
    return {"content": [{"type": "text", "text": f"part {arguments['number']}\n{BIG}"}]}


MINE = ["mcp__mine__run_tests", "mcp__mine__run_one", "Bash"]


@pytest.fixture
def converse(tmp_path, monkeypatch):
    """Run a conversation of Claude Code, the program that the SDK brings."""
    bundled = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    if not bundled.exists():
        pytest.skip("this build of the SDK brings no program")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("SPILLSTORE_FREE_DISK_FLOOR", "0")

    def run(spill, *calls):
        server = create_sdk_mcp_server("mine", tools=[run_tests, run_one])

        async def go(url):
            base = ClaudeAgentOptions(
                mcp_servers={"mine": {**server, "alwaysLoad": True}},
                allowed_tools=MINE,
                cwd=home,
                setting_sources=[],
                env={
                    "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1", "HOME": str(home),
                    "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                },
            )  # fmt: skip
            async for _ in query(prompt="go", options=spill.options(base)):
                pass

        with Messages(calls) as model:
            asyncio.run(asyncio.wait_for(go(model.url), 240))
            if model.failure is not None:
                raise model.failure
            assert len(model.results) == len(calls)
            return model.results, model.tools

    return run


def test_the_model_sees_the_error_and_reads_the_rest(session, converse):
    """Of a server's 820 KB, and of a command's 220 KB; by our tools, which are there at once."""
    (shown, found, read, again, command, back), tools = converse(
        SpillOptions(session),
        ("mcp__mine__run_tests", {}),
        lambda results: (
            "mcp__spillstore__search_artifact",
            {"id": named(results[0].text), "pattern": "boom"},
        ),
        lambda results: (
            "mcp__spillstore__get_artifact",
            {"id": named(results[0].text), "start_line": LINE, "end_line": LINE + 1},
        ),
        ("mcp__mine__run_tests", {}),
        ("Bash", {"command": FAILING, "description": "a test"}),
        lambda results: (
            "mcp__spillstore__get_artifact",
            {"id": named(results[4].text), "start_line": 20001, "end_line": 20001},
        ),
    )
    assert BOOM.strip() in shown.text
    assert len(shown.text) <= 8000
    assert f"\n{LINE}:{BOOM}" in found.text
    assert BOOM + "test 0 ok\n" in read.text
    assert named(again.text) == named(shown.text)
    assert "again" in again.text
    assert BOOM.strip() in command.text
    assert command.is_error
    assert BOOM in back.text
    assert {f"mcp__spillstore__{name}" for name in RETRIEVAL} <= tools
    stored = {info.id: info.source for info in session.infos()}
    assert stored[named(shown.text)] == "mcp__mine__run_tests"
    assert set(stored) == {named(shown.text), named(command.text)}
    assert session.artifact(named(shown.text)).read() == BIG.encode()
    assert session.find(session.artifact(named(shown.text)).info.tool_call_id).id == named(shown.text)
