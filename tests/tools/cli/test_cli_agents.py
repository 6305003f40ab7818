"""``spillstore install``, ``uninstall``, ``doctor`` and ``hook``, as a person and an agent call them."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest

NUMBERS = "\n".join(f"row {number} of a result" for number in range(1, 20_001))


@pytest.fixture
def user(cli, tmp_path, monkeypatch):
    """Calls commands for a user with a home, and our programs in PATH."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    for folder in (home, programs):
        folder.mkdir()
    scripts = {
        "spillstore-sh": '#!/bin/sh\n[ "$1" = -c ] || exit 9\nexec /bin/sh "$@"\n',
        "spillstore": f'#!/bin/sh\nexec {sys.executable} -m spillstore_tools.cli "$@"\n',
        "claude": "#!/bin/sh\necho '2.1.330 (Claude Code)'\n",
    }
    for name, text in scripts.items():
        path = programs / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(programs))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CURSOR_VERSION"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments, **options):
        return cli(*arguments, **options)

    call.home, call.programs = home, programs
    return call


@pytest.fixture
def settings(user):
    """A user's settings of Claude Code."""
    path = user.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "model": "opus",\n  "permissions": {"deny": ["Bash(rm:*)"]}\n}')
    path.chmod(0o640)
    return path


def test_install_says_what_it_changes_and_uninstall_takes_it_back(user, settings):
    """Mode, link and bytes are as before."""
    before = settings.read_bytes()
    link = settings.with_name("elsewhere.json")
    settings.rename(link)
    settings.symlink_to(link)
    dry = user("install", "claude-code", "--dry-run")
    assert dry.code == 0
    removed = [line for line in dry.text.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert all("permissions" in line for line in removed)
    assert before == link.read_bytes()
    done = user("install", "claude-code")
    assert (done.code, done.text) == (0, f"changed {link}\n")
    text = link.read_text()
    assert f'"CLAUDE_CODE_SHELL_PREFIX": "{user.programs}/spillstore-sh"' in text
    assert "  // mine\n" in text
    assert "PreToolUse" not in text
    assert settings.is_symlink()
    assert stat.S_IMODE(link.stat().st_mode) == 0o640
    again = user("install", "claude-code", "--json").json
    assert (again["changed"], again["files"][0]["action"]) == (False, "none")
    back = user("uninstall", "claude-code", "--json").json
    assert back["changed"]
    assert before == settings.read_bytes()
    assert settings.is_symlink()
    assert user("uninstall", "claude-code").text == "Claude Code: nothing to change\n"


def test_what_the_user_has_added_inside_our_entries_stays(user, settings):
    """Only our elements go."""
    settings.write_text("{}")
    user("install", "claude-code")
    text = settings.read_text()
    settings.write_text(text.replace('"allow": [', '"allow": [\n      "Bash(ls:*)", // mine'))
    assert user("uninstall", "claude-code").code == 0
    left = "".join(settings.read_text().split())
    assert left == '{"permissions":{"allow":["Bash(ls:*)"//mine]}}'


def test_a_prefix_of_somebody_else_is_not_replaced(user, settings):
    """It is named with its place; by force it is replaced, and comes back."""
    settings.write_text('{"env":\n {"CLAUDE_CODE_SHELL_PREFIX": "/usr/bin/nice"}}')
    before = settings.read_bytes()
    refused = user("install", "claude-code")
    assert refused.code == 125
    assert (
        f"nothing was changed: {settings}:2:31: env.CLAUDE_CODE_SHELL_PREFIX has another value" in refused.err
    )
    assert before == settings.read_bytes()
    assert user("install", "claude-code", "--force").code == 0
    assert "/usr/bin/nice" not in settings.read_text()
    assert user("uninstall", "claude-code").code == 0
    assert before == settings.read_bytes()


def test_one_file_that_cannot_be_written_leaves_all_as_they_were(user):
    """Here the second of two."""
    folder = user.home / ".codex"
    folder.mkdir()
    (folder / "hooks.json").write_text("{")
    refused = user("install", "codex", "--i-know")
    assert refused.code == 125
    assert "hooks.json:1:2: a name in double quotes or } is expected here" in refused.err
    assert not (folder / "config.toml").exists()


def test_codex_gets_no_rewriting_hook_unless_the_user_knows(user):
    """And is told why."""
    done = user("install", "codex")
    assert done.code == 0
    assert not (user.home / ".codex" / "hooks.json").exists()
    assert "--i-know" in done.err
    assert "execpolicy" in user("install", "codex", "--i-know").err
    assert (user.home / ".codex" / "hooks.json").exists()
    assert user("uninstall", "codex").code == 0
    assert not (user.home / ".codex").exists()


def test_a_project_has_its_own_entries(user, tmp_path, monkeypatch):
    """In the file that is not shared, below the repository's folder."""
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    monkeypatch.chdir(inner)
    assert user("install", "claude-code", "--scope", "project").code == 0
    assert (tmp_path / "project" / ".claude" / "settings.local.json").exists()
    assert not (user.home / ".claude").exists()
    assert user("uninstall", "claude-code", "--scope", "project").code == 0
    assert not (tmp_path / "project" / ".claude").exists()


def test_doctor_says_what_is_wrong_and_what_to_do(user, settings):
    """Exit code 0 only if all is in order."""
    missing = user("doctor", "claude-code")
    assert missing.code == 1
    assert "spillstore install claude-code" in missing.text
    assert user("doctor").code == 0
    user("install", "claude-code")
    good = user("doctor", "claude-code", "--json")
    assert good.code == 0
    report = good.json["agents"][0]
    assert (report["configured"], report["version"]) == ("yes", "2.1.330 (Claude Code)")
    assert {finding["level"] for finding in report["findings"]} == {"ok"}
    (user.programs / "spillstore-sh").write_text("#!/bin/sh\nexit 3\n")
    broken = user("doctor", "claude-code")
    assert broken.code == 1
    assert "spillstore-sh does not run (exit code 3)" in broken.text
    cut = user("doctor", "claude-code", env={"SPILLSTORE_INLINE_LIMIT": "40000"})
    assert "cuts beyond 30000" in cut.text
    settings.write_text("{,}")
    unknown = user("doctor")
    assert unknown.code == 1
    assert f"{settings}:1:2: " in unknown.text


def test_doctor_tries_the_hook_that_codex_may_have(user):
    """It is no part of what must be there, but if it is there it has to work."""
    user("install", "codex", "--i-know")
    assert user("doctor", "codex").code == 0
    hooks = user.home / ".codex" / "hooks.json"
    hooks.write_text(hooks.read_text().replace(f"{user.programs}/spillstore", "/nowhere/spillstore"))
    broken = user("doctor", "codex")
    assert broken.code == 1
    assert "/nowhere/spillstore is not there" in broken.text
    user("uninstall", "codex")
    assert user("doctor", "codex").code == 1


def test_doctor_tries_the_store(user, tmp_path):
    """A file in the way of its folder is a problem."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    answer = user("doctor", env={"SPILLSTORE_ROOT": str(blocked / "store")})
    assert answer.code == 1
    assert "cannot be written" in answer.text


def payload(**fields):
    base = {"session_id": "5f-1", "hook_event_name": "PostToolUse", "tool_use_id": "toolu_1"}
    return json.dumps({**base, **fields}).encode()


def test_a_large_result_of_a_server_becomes_a_preview_in_the_same_form(user, store):
    """As a list of blocks, of which others stay; all of it is in the session of the conversation."""
    image = {"type": "image", "data": "AAAA"}
    response = [{"type": "text", "text": NUMBERS}, image]
    answer = user(
        "hook", "claude-code", stdin=payload(tool_name="mcp__counter__count", tool_response=response)
    )
    assert (answer.code, answer.err) == (0, "")
    output = answer.json["hookSpecificOutput"]
    assert output["hookEventName"] == "PostToolUse"
    shown, kept = output["updatedToolOutput"]
    assert kept == image
    assert "row 1 of a result" in shown["text"]
    assert len(shown["text"]) <= 8000
    with store.session("claude-5f-1") as session:
        (info,) = session.infos()
        artifact = session.artifact(info.id)
        assert NUMBERS.encode() == artifact.read_bytes(0, artifact.info.size)
        assert (info.source, info.tool_call_id) == ("mcp__counter__count", "toolu_1")


def test_a_saved_result_is_read_only_from_the_conversation_itself(user, tmp_path, store):
    """A server may name any file; it is not opened for it."""
    transcript = tmp_path / "c" / "5f-1.jsonl"
    saved = tmp_path / "c" / "5f-1" / "tool-results" / "call.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text(NUMBERS)
    foreign = tmp_path / "secret.txt"
    foreign.write_text(NUMBERS)

    def asked(path):
        text = f"Error: result (99 characters) exceeds maximum allowed tokens. Output has been saved to {path}.\nFormat: text"
        call = payload(tool_name="mcp__counter__count", tool_response=text, transcript_path=str(transcript))
        return user("hook", "claude-code", stdin=call).json

    assert "row 1 of a result" in asked(saved)["hookSpecificOutput"]["updatedToolOutput"]
    assert asked(foreign) == {}
    (saved.parent / "link.txt").symlink_to(foreign)
    assert asked(saved.parent / "link.txt") == {}
    response = {
        "stdout": "beginning",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "persistedOutputPath": str(saved),
    }
    call = payload(tool_name="Bash", tool_response=response, transcript_path=str(transcript))
    changed = user("hook", "claude-code", stdin=call).json["hookSpecificOutput"]["updatedToolOutput"]
    assert set(changed) == {"stdout", "stderr", "interrupted", "isImage"}
    assert "row 20000 of a result" in changed["stdout"]


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_name": "mcp__counter__count", "tool_response": "little"},
        {"tool_name": "mcp__counter__count", "tool_response": {"unknown": NUMBERS}},
        {"tool_name": "mcp__spillstore__get_artifact", "tool_response": NUMBERS},
        {"tool_name": "mcp__plugin_spillstore_spillstore__get_artifact", "tool_response": NUMBERS},
        {"tool_name": "Read", "tool_response": NUMBERS},
        {"tool_name": "Bash", "tool_response": {"stdout": NUMBERS}},
        {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
    ],
    ids=["small", "unknown", "own", "own of the plugin", "another tool", "a command", "before a tool"],
)  # fmt: skip
def test_everything_else_stays_as_it_is(user, root, fields):
    """And nothing is stored."""
    assert user("hook", "claude-code", stdin=payload(**fields)).json == {}
    assert not root.exists()


def test_cursor_gets_nothing_from_the_hook_of_claude_code(user):
    """It calls it, too."""
    call = payload(tool_name="mcp__counter__count", tool_response=NUMBERS)
    assert user("hook", "claude-code", stdin=call, env={"CURSOR_VERSION": "3"}).json == {}


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "copilot"])
@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"tool_input": 1, "tool_response": [[1]]}'])
def test_what_cannot_be_understood_leaves_the_agent_alone(user, agent, data):
    """The answer is empty, the exit code 0, and stderr has a line at most."""
    answer = user("hook", agent, stdin=data)
    assert (answer.code, answer.json) == (0, {})
    assert answer.err.count("\n") <= 1


def test_a_store_that_cannot_be_written_leaves_the_agent_its_own_output(user, tmp_path):
    """With one line on stderr."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    call = payload(tool_name="mcp__counter__count", tool_response=NUMBERS)
    answer = user("hook", "claude-code", stdin=call, env={"SPILLSTORE_ROOT": str(blocked / "store")})
    assert (answer.code, answer.json) == (0, {})
    assert answer.err.startswith("spillstore: claude-code goes on with its own output: ")
    assert answer.err.count("\n") == 1


def test_codex_runs_the_same_command_in_our_shell(user):
    """Other arguments stay; a command that runs there already is left alone."""
    given = {"command": "echo 'a b'", "workdir": "/x"}
    call = payload(hook_event_name="PreToolUse", tool_name="Bash", tool_input=given)
    output = user("hook", "codex", stdin=call).json["hookSpecificOutput"]
    assert output["permissionDecision"] == "allow"
    shell = f"SPILLSTORE_SESSION=codex-5f-1 {user.programs}/spillstore-sh -c "
    assert output["updatedInput"] == {"command": shell + "'echo '\"'\"'a b'\"'\"''", "workdir": "/x"}
    call = payload(hook_event_name="PreToolUse", tool_name="Bash", tool_input=output["updatedInput"])
    assert user("hook", "codex", stdin=call).json == {}


def test_gemini_shows_a_preview_of_other_tools(user):
    """It sees the whole result, before it is cut."""
    parts = [{"text": NUMBERS}]
    call = payload(
        hook_event_name="AfterTool", tool_name="read_many_files", tool_response={"llmContent": parts}
    )
    answer = user("hook", "gemini", stdin=call).json
    assert answer["decision"] == "deny"
    assert "row 20000 of a result" in answer["reason"]
    call = payload(hook_event_name="BeforeTool", tool_name="run_shell_command", tool_input={"command": "ls"})
    assert user("hook", "gemini", stdin=call).json == {}  # its policies shall see the command itself


def test_copilot_gets_the_same_result_with_a_preview(user):
    """All its other members stay."""
    result = {"resultType": "success", "textResultForLlm": NUMBERS, "sessionLog": "x"}
    data = json.dumps({"sessionId": "s", "toolName": "bash", "toolResult": result}).encode()
    changed = user("hook", "copilot", stdin=data).json["modifiedResult"]
    assert (changed["resultType"], changed["sessionLog"]) == ("success", "x")
    assert len(changed["textResultForLlm"]) <= 8000
