"""Redaction in the tools: what a model is shown and what lies on the disk hold no secret, through whichever tool."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest
from leaks import everything
from support import NO_FLOORS, wait_until

from spillstore import Store
from spillstore.exceptions import InvalidSettingError
from spillstore.redaction import Pattern, RedactionRules
from spillstore_tools.agent.bash import BashTool
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.config import (
    ConfigurationError,
    RedactionOverride,
    RedactionSettings,
    ToolOverride,
    TruncationConfiguration,
    load,
)
from spillstore_tools.config.redaction_rules import Redaction
from spillstore_tools.mcp.proxy.listing import OwnToolNames
from spillstore_tools.mcp.proxy.results import ResultFitter
from spillstore_tools.mcp.wire.messages import ToolCall
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.profiles import NAMES, profile

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
PASSWORD = "hunter-" + "27-marmot"
LINE = f"deploy --password {PASSWORD} {TOKEN}"
CLEAN = "deploy --password [REDACTED: PASSWORD] [REDACTED: GITHUB_TOKEN]"
MARKS = [TOKEN, PASSWORD, TOKEN[8:30]]
FILLER = "".join(f"line {number} of nothing in particular\n" for number in range(4000))


def leaks(*texts):
    """Which secrets are in texts, or in folders."""
    data = b"\n".join(
        text.encode() if isinstance(text, str) else text if isinstance(text, bytes) else everything(text)
        for text in texts
    )
    return [mark for mark in MARKS if mark.encode() in data]


def redactions(session):
    """What the audit log says was taken out."""
    return [
        (event.detail["tool"], event.detail["counts"])
        for event in reversed(list(session.events(kind="redaction")))
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0, 4000], ids=["small", "large"])
def test_every_profile_shows_and_stores_none(store, root, name, size):
    """Results of any kind, shown whole or spilled, hold no secret in what is shown, in fields, and on the disk."""
    text = LINE + "\n" + FILLER[: size * 40] + LINE + "\n"
    contents = (
        text,
        text.encode(),
        iter([text[:13].encode(), text[13:].encode()]),
        {"log": text, "password": PASSWORD},
    )
    with store.session("s") as session:
        processor = TruncationProcessor(session, profile=name)
        for content in contents:
            result = processor.process(content, "read_file", command=f"cat {TOKEN}")
            assert leaks(result.content, repr(result)) == []
            assert result.redactions["GITHUB_TOKEN"] >= (2 if isinstance(content, (str, bytes)) else 1)
        assert leaks(root) == []
        session.close()
    assert leaks(root) == []
    with store.session("s") as session:
        assert all("read_file" == tool and counts["GITHUB_TOKEN"] for tool, counts in redactions(session))
        assert len(redactions(session)) == len(contents)


def test_spills_in_pieces(store, root):
    """Bytes in any pieces on both streams, held back or stored, are shown and stored without secrets."""
    for keep in (None, "all"):
        with store.session("s") as session:
            spill = Spill(
                lambda session=session: session,
                profile("default"),
                source="bash",
                command=LINE,
                keep=keep,
                redaction=RedactionRules(),
            )
            for number in range(200 if keep else 3):
                for stream in ("stdout", "stderr"):
                    data = f"{number} {LINE}\n".encode()
                    for at in range(0, len(data), 7):
                        spill.write(data[at : at + 7], stream)
            assert leaks(spill.finish().text, root) == []
            assert spill.redactions == dict.fromkeys(("PASSWORD", "GITHUB_TOKEN"), 401 if keep else 7)
            assert leaks(root) == []


@pytest.mark.parametrize("name", NAMES)
def test_commands_and_their_output(store, root, name):
    """A command that holds a secret runs as it is; its output, the artifact's command and the notices do not hold it."""
    told = []
    with store.session("s") as session:
        tool = BashTool(
            session,
            profile=name,
            on_output=lambda stream, data: told.append(data),
            on_end=lambda result: told.append(result.text.encode()),
        )
        for command in (
            f"echo '{LINE}'; echo 'x {TOKEN}' >&2",
            f"echo '{LINE}'; seq 1 50000; echo 'x {TOKEN}' >&2",
            f"curl -u me:{PASSWORD} --no-such-option; nosuchprogram_{TOKEN}",
        ):
            result = tool.call_sync({"command": command}, tool_call_id="call_1")
            assert leaks(result.text, repr(result)) == []
        assert leaks(root) == []
        assert leaks(*[data for data in told if b"[exit code" in data]) == []
        assert {tool for tool, _ in redactions(session)} == {"bash"}
        assert len(redactions(session)) == 3
    assert leaks(root) == []


def test_commands_in_the_background(store, root):
    """What is told of a command that still runs, of its news and of its end holds no secret, split where it may be."""
    script = (
        f"printf '{LINE[:30]}'; sleep 0.2; printf '{LINE[30:]}\\n'; printf 'Password: '; sleep 0.6; echo '{TOKEN[:9]}'"
        f"'{TOKEN[9:]}'; sleep 30"
    )
    with store.session("s") as session:
        tool = BashTool(session)
        first = tool.call_sync({"command": script, "timeout": 500})
        pid = first.pid
        texts = [first.text]
        wait_until(
            lambda: (
                texts.append(tool.call_sync({"check_pid": pid}).text)
                or "".join(texts).count("[REDACTED: PASSWORD]") >= 2
            )
        )
        texts.append(tool.call_sync({"check_pid": 1}).text)  # which names the commands that run
        assert "deploy" in texts[-1]
        texts.append(tool.call_sync({"kill_pid": pid}).text)
        assert leaks(*texts) == []
        assert "Password: " in texts[0]
        assert "\n[REDACTED: PASSWORD]\n" in "".join(texts[1:])
        assert leaks(root) == []
    assert leaks(root) == []


def test_tools_of_a_model(store, root):
    """Neither ``bash`` nor what reads it back shows a secret: it is not there."""
    with store.session("s") as session:
        box = Toolbox(session)
        ran = box.call_sync("bash", {"command": f"echo '{LINE}'; seq 1 30000"})
        found = box.call_sync("search_artifact", {"id": ran.artifact_id, "pattern": "deploy"})
        part = box.call_sync("get_artifact", {"id": ran.artifact_id, "start_line": 1, "end_line": 2})
        listed = box.call_sync("list_artifacts", {})
        assert CLEAN in found.text
        assert CLEAN in part.text
        assert leaks(ran.text, found.text, part.text, listed.text) == []
        session.artifact(ran.artifact_id).verify()
    assert leaks(root) == []


# --- MCP --------------------------------------------------------------------------------------------------

RAW = """
import json, sys
line, number = sys.argv[1], sys.argv[2]
for request in map(json.loads, sys.stdin):
    method, identity = request.get("method"), request.get("id")
    if identity is None:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
    elif request["params"]["arguments"].get("fail"):
        print(json.dumps({"jsonrpc": "2.0", "id": identity, "error": {"code": 1, "message": line}}), flush=True)
        continue
    else:
        count = request["params"]["arguments"]["count"]
        content = [{"type": "text", "text": (line + "\\n") * count}]
        content.append({"type": "resource", "resource": {"uri": "mem://1", "text": line}})
        result = {"content": content, "structuredContent": {"log": line, "password": int(number), "n": [count]}}
    print(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}), flush=True)
"""


@pytest.mark.long
def test_results_through_the_proxy(store, root, tmp_path):
    """Behind the proxy a result holds no secret, neither passed on nor stored; the rest of it stays as it was."""
    number = 99887766
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "spillstore_tools.cli", "mcp-proxy", "--session", "s", "--"),
            *(sys.executable, "-c", RAW, LINE, str(number)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def ask(identity, method, **params):
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        capabilities = {"capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        ask(0, "initialize", protocolVersion="2025-11-25", **capabilities)
        small = ask(1, "tools/call", name="say", arguments={"count": 1, "token": TOKEN})["result"]
        large = ask(2, "tools/call", name="say", arguments={"count": 3000, "token": TOKEN})["result"]
        failed = ask(3, "tools/call", name="say", arguments={"fail": True})
    finally:
        out, err = process.communicate(timeout=120)
    assert small["content"] == [
        {"type": "text", "text": f"{CLEAN}\n"},
        {"type": "resource", "resource": {"uri": "mem://1", "text": CLEAN}},
    ]
    assert small["structuredContent"] == {"log": CLEAN, "password": "[REDACTED: PASSWORD]", "n": [1]}
    assert "artifact" in json.dumps(large)
    assert failed["error"] == {"code": 1, "message": CLEAN}
    assert leaks(json.dumps([small, large, failed]), out, err) == []
    assert str(number) not in json.dumps([small, large])
    assert leaks(root) == []
    assert str(number).encode() not in everything(root)


def test_many_blocks_through_the_proxy(store):
    """Blocks that are looked at together, and fit, lose their secrets each where it stands."""
    with store.session("s") as session:
        fitter = ResultFitter(TruncationProcessor(session, profile="pipe"), OwnToolNames)
        blocks = [{"type": "text", "text": "x" * 17_000 + "\n"}] * 2 + [{"type": "text", "text": LINE}] * 2
        result = fitter.fit(json.dumps({"content": blocks}).encode(), ToolCall(tool="t", id="1"))
    assert [block["text"] for block in json.loads(result)["content"][2:]] == [CLEAN, CLEAN]


# --- the command line -------------------------------------------------------------------------------------


def test_run_and_put(cli, root, tmp_path):
    """``spillstore run`` and ``put`` store and print none, in text and in JSON."""
    script = f"echo '{LINE}'; echo '{LINE}' >&2"
    answers = [cli("run", "--", "sh", "-c", script), cli("run", "--json", "--", "sh", "-c", script)]
    (tmp_path / "file").write_text(f"{LINE}\n" * 3000)
    answers += [
        cli("put", tmp_path / "file"),
        cli("list"),
        cli("list", "--json"),
        cli("run", "--", f"./{TOKEN}"),
    ]
    for answer in answers[:-1]:
        assert answer.code == 0
        assert leaks(answer.out, answer.err) == []
    assert leaks(root) == []


@pytest.mark.long
def test_a_prompt_of_a_process_is_seen_while_it_waits(store, root):
    """``Password: `` of a process that waits for an answer is readable though nothing follows it."""
    script = "import sys, time; sys.stdout.write('Password: '); sys.stdout.flush(); time.sleep(600)"
    with store.session("s") as session:
        tool = BashTool(session)
        first = tool.call_sync({"command": f'{sys.executable} -c "{script}"', "timeout": 400})
        told = [first.text]
        wait_until(
            lambda: (
                told.append(tool.call_sync({"check_pid": first.pid}).text) or "Password: " in "".join(told)
            )
        )
        tool.call_sync({"kill_pid": first.pid})


# --- configuration ----------------------------------------------------------------------------------------


def test_off_for_one_tool(store):
    """``overrides.TOOL.redaction.enabled: false`` stores and shows what that tool prints, and the audit log says so."""
    configuration = TruncationConfiguration(
        overrides={"raw": ToolOverride(redaction=RedactionOverride(enabled=False))}
    )
    with store.session("s") as session:
        processor = TruncationProcessor(session, configuration=configuration)
        assert processor.process(LINE, "raw").content == LINE
        assert processor.process(LINE, "other").content == CLEAN
        kept = processor.process(f"{LINE}\n" * 5000, "raw")
        taken = processor.process(f"{LINE}\n" * 5000, "other")
        assert session.artifact(kept.artifact_id).events("create")[0].detail["redact"] is False
        assert "redact" not in session.artifact(taken.artifact_id).events("create")[0].detail
        tool = BashTool(session, configuration=configuration, source="raw")
        assert TOKEN in tool.call_sync({"command": f"echo {TOKEN}"}).text


def test_off_for_all_and_on_for_one(store):
    """So does ``redaction.enabled: false``, but for a tool whose override asks for it."""
    configuration = TruncationConfiguration(
        redaction=RedactionSettings(enabled=False),
        overrides={"careful": ToolOverride(redaction=RedactionOverride(enabled=True))},
    )
    with store.session("s") as session:
        processor = TruncationProcessor(session, configuration=configuration)
        assert processor.process(LINE, "any").content == LINE
        assert processor.process(LINE, "careful").content == CLEAN


def test_off_by_the_environment(cli, root, monkeypatch):
    """``SPILLSTORE_REDACT=false`` switches it off for commands, and the artifact's beginning says so."""
    monkeypatch.setenv("SPILLSTORE_REDACT", "false")
    answer = cli("run", "--json", "--", "echo", LINE)
    assert answer.json["preview"].startswith(LINE)
    with Store(root, **NO_FLOORS).session("default", read_only=True) as session:
        assert session.artifact(answer.json["artifact"]["id"]).events("create")[0].detail["redact"] is False


@pytest.mark.parametrize("text", ["[password, JWT]", "Password, jwt", '["password", "jwt"]'])
def test_kinds_that_stay_in_the_file(tmp_path, text):
    """They are a list, or text with commas; in a variable, too."""
    (tmp_path / ".agent").mkdir()
    file = tmp_path / ".agent" / "config.yml"
    file.write_text(
        f"tools: {{truncation: {{redaction: {{off: {text if text[0] == '[' else repr(text)}}}}}}}\n"
    )
    variable = {"SPILLSTORE_TRUNCATION__REDACTION__OFF": "password,jwt"}
    for configuration in (load(tmp_path, environment={}), load(tmp_path / "..", environment=variable)):
        assert Redaction(None, configuration).rules("t").off == {"PASSWORD", "JWT"}


@pytest.mark.parametrize("text", ["5", "[1]", "[[password]]", '""', '[""]', "{password: true}", "[{a: b}]"])
def test_kinds_that_stay_are_texts(tmp_path, text):
    """Anything else is refused with its line."""
    (tmp_path / ".agent").mkdir()
    file = tmp_path / ".agent" / "config.yml"
    file.write_text(f"tools:\n  truncation:\n    redaction:\n      off: {text}\n")
    with pytest.raises(ConfigurationError, match=r"line 4: .*redaction\.off"):
        load(tmp_path, environment={})


def test_own_patterns_and_kinds_that_stay(store):
    """Patterns, allow-lists and kinds of the configuration hold for commands and results, inline and stored."""
    configuration = TruncationConfiguration(
        redaction=RedactionSettings(
            patterns={"badge": r"badge-\d+"}, off="password", allow={"known": "ghp_a1.*"}
        )
    )
    with store.session("s") as session:
        processor = TruncationProcessor(session, configuration=configuration)
        assert processor.process(f"{LINE} badge-77", "t").content == f"{LINE} [REDACTED: BADGE]"
        rules = RedactionRules(patterns=(Pattern(name="badge", pattern=r"badge-\d+"),))
        assert session.put("badge-1", redact=rules).read_bytes(0, 99) == b"[REDACTED: BADGE]"


def test_a_source_that_is_a_secret(cli, root):
    """What a command is called by holds none either, nor the id of its call."""
    answer = cli("run", "--json", "--source", TOKEN, "--tool-call-id", TOKEN, "--", "seq", "5")
    assert answer.code == 0
    assert leaks(root) == []


def test_patterns_and_kinds_of_one_tool(store, tmp_path):
    """What is said for a tool comes on top of what is said for all, in previews and in what is stored."""
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text(
        "tools:\n  truncation:\n    redaction:\n      patterns: {badge: 'badge-[0-9]+'}\n    overrides:\n"
        "      door:\n        redaction:\n          off: [password]\n          patterns: {lock: 'lock-[0-9]+'}\n"
    )
    text = f"{LINE} badge-77 lock-88"
    for_all = f"{CLEAN} [REDACTED: BADGE] lock-88"
    for_door = f"deploy --password {PASSWORD} [REDACTED: GITHUB_TOKEN] [REDACTED: BADGE] [REDACTED: LOCK]"
    with store.session("s") as session:
        processor = TruncationProcessor(session, configuration=load(tmp_path, environment={}))
        assert processor.process(text, "t").content == for_all
        assert processor.process(text, "door").content == for_door
        kept = processor.process(f"{text}\n" * 5000, "door")
        assert session.artifact(kept.artifact_id).read_lines(5000, 5000) == f"{for_door}\n".encode()


def test_a_pattern_of_one_tool_that_cannot_be_used(store):
    """It is refused with its place, and nothing of that tool is shown unredacted."""
    own = ToolOverride(redaction=RedactionOverride(patterns={"x": "(?=a)"}))
    configuration = TruncationConfiguration(overrides={"door": own})
    with store.session("s") as session:
        processor = TruncationProcessor(session, configuration=configuration)
        assert processor.process(LINE, "t").content == CLEAN
        with pytest.raises(InvalidSettingError, match=r"overrides\.door\.redaction"):
            processor.process(LINE, "door")


def test_log_records_of_the_tools(store, caplog):
    """What the tools log holds no secret."""
    caplog.set_level(logging.DEBUG)
    with store.session("s") as session:
        TruncationProcessor(session).process(f"{LINE}\n" * 5000, "t", command=LINE)
        BashTool(session, on_end=lambda result: 1 / 0).call_sync({"command": f"echo '{LINE}'"})
    assert leaks(*[str(vars(record)) for record in caplog.records]) == []
