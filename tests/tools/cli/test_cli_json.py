"""``--json``: every command prints what the manual's tables say, and errors are JSON, too."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
import socket
import subprocess
from urllib.parse import urlsplit

import click
import pytest
from support import ROOT

from spillstore import Store
from spillstore_tools.cli import group

pytestmark = pytest.mark.everywhere

PAGE = ROOT / "docs" / "json.md"
KINDS = {
    "text": str,
    "integer": int,
    "number": (int, float),
    "time": (int, float),
    "boolean": bool,
    "any": object,
}


@dataclasses.dataclass
class Section:
    """What the manual says of an object: its fields, and others of which it has all fields, too."""

    fields: dict[str, str] = dataclasses.field(default_factory=dict)
    more: list[str] = dataclasses.field(default_factory=list)


def sections():
    """Every object of the page by its heading."""
    found = {}
    for part in re.split(r"^#{2,4} ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        section = Section(
            dict(re.findall(r"^\| `(\w+)` \| (.*?) \| .+ \|$", body, re.MULTILINE)),
            re.findall(r"All of (?:an )?\[.*?\]\(#([\w-]+)\)", body),
        )
        if section.fields or section.more:
            found[heading] = section
    return found


PAGE_SECTIONS = sections()


def of(name):
    """All fields of an object, with their types."""
    section = PAGE_SECTIONS[name]
    return {field: kind for other in section.more for field, kind in of(other).items()} | section.fields


class Reader:
    """Compares documents with the page, and remembers which fields it has seen."""

    def __init__(self):
        self.seen = set()

    def object(self, value, name, where):
        """An object that has all fields of a section, and no others."""
        fields = of(name)
        needed = {field for field, kind in fields.items() if not kind.endswith(", or none")}
        assert needed <= set(value) <= set(fields), (where, set(fields) ^ set(value))
        for field, each in value.items():
            self.seen.add((name, field))
            self.value(each, fields[field].removesuffix(", or none"), f"{where}.{field}")

    def value(self, value, kind, where):
        """A value of a type, as the page writes it."""
        if kind.endswith(" or null"):
            if value is None:
                return
            kind = kind.removesuffix(" or null")
        if link := re.fullmatch(r"\[.*\]\(#([\w-]+)\)", kind):
            heading = next(each for each in PAGE_SECTIONS if each.replace(" ", "-") == link[1])
            self.object(value, heading, where)
        elif kind.startswith("list of "):
            assert isinstance(value, list), where
            for number, each in enumerate(value):
                self.value(each, kind.removeprefix("list of "), f"{where}[{number}]")
        elif kind.startswith("map of "):
            assert isinstance(value, dict), where
            for key, each in value.items():
                self.value(each, kind.removeprefix("map of "), f"{where}[{key}]")
        else:
            assert isinstance(value, KINDS[kind]), (where, value)
            assert not isinstance(value, bool) or kind in {"boolean", "any"}, (where, value)


# How each object of the page comes to be printed: calls one after the other, the output of each is one.
CALLS = {
    "run": [
        ("run", "--json", "--", "sh", "-c", "seq 9000; echo x >&2; kill $$"),
        ("run", "--json", "--", "no-such-program"),
    ],
    "put": [("put", "words", "--json"), ("put", "big", "--json")],
    "put --profile": [
        ("put", "words", "--profile", "acode", "--json"),
        ("put", "big", "--profile", "default", "--json"),
    ],
    "list": [("list", "--json"), ("list", "--json", "--limit", "1")],
    "sessions": [("sessions", "--json")],
    "info": [("info", "--json"), ("info", "@1", "--json"), ("info", "ROLLED", "--json")],
    "show": [("show", "@1", "--json"), ("show", "@1", "--raw", "--bytes", "0-2", "--json")],
    "tail": [("tail", "@1", "--json")],
    "replay": [("replay", "@1", "--json"), ("replay", "BYTES", "--json")],
    "search": [("search", "word", "@1", "-C", "1", "--json"), ("search", "nothing", "@1", "--json")],
    "search --all": [("search", "--all", "word", "-m", "1", "--json")],
    "query": [
        ("query", "LINES", "$.a", "--json"),
        ("query", "JSON", "$..a", "--limit", "1", "--json"),
        ("query", "BYTES", "$.a", "--json"),
    ],
    "diff": [("diff", "@1", "LINES", "--json"), ("diff", "BYTES", "@1", "--json")],
    "verify": [("verify", "--json")],
    "verify ID": [("verify", "@1", "--json"), ("verify", "ROLLED", "--json")],
    "export": [("export", "@1", "copy", "--json"), ("export", "ROLLED", "holed", "--skip-holes", "--json")],
    "copy": [
        ("copy", "default", "none", "--to", "there", "--json"),
        ("copy", "--to", "there", "--skip-existing", "--json"),
    ],
    "audit": [("audit", "--json"), ("audit", "--json", "--limit", "1")],
    "stats": [("stats", "--json")],
    "completion": [("completion", "bash", "--json")],
    "rm": [("rm", "@1", "--json")],
    "gc": [("gc", "--older-than", "1h", "--json"), ("gc", "--older-than", "0", "--dry-run", "--json")],
    "clean": [("clean", "--json")],
}
SERVED = {
    "audit --follow",
    "mcp",
    "mcp-proxy",
    "ui",
}  # which do not end by themselves; each has a test of its own

# Which need a server, the configuration of agents or a damaged file: tests of their own compare what they print.
ELSEWHERE = {"upgrade", "grant", "install", "uninstall", "doctor", "salvage"}
SALVAGED = {"salvaged session", "salvaged artifact", "missing range", "salvaged part"}


@pytest.fixture
def names(store, cli, tmp_path):
    """Artifacts of every kind, and what the calls call them; files for ``put``."""
    (tmp_path / "words").write_text("first\npassword=hunter2hunter2\nword\n")
    (tmp_path / "big").write_text("word word\n" * 9000)
    cli("put", "words", "--source", "tool")
    with store.session("default") as session:
        lines = b"".join(b"line %07d\n" % number for number in range(1, 1001))
        found = {
            "ROLLED": session.put(lines, limit=4096, policy="roll").id,
            "LINES": session.put('{"a": 1}\noops\n{"a": 2}\n', source="web").id,
            "JSON": session.put('{"a": 1, "b": {"a": 2}}', source="web").id,
            "BYTES": session.put(b"\xff\x00" * 100).id,
        }
        session.create().abort("stopped")
    return found


def test_what_commands_print_is_what_the_manual_says(cli, names, monkeypatch):
    """Each field of each command with its type, none more, none less; every field of the page is printed by something."""
    reader = Reader()
    for heading, calls in CALLS.items():
        for call in calls:
            answer = cli(*(names.get(word, word) for word in call))
            told = answer.text.splitlines() if heading == "replay" else [answer.text]
            assert told, call
            for document in map(json.loads, told):
                reader.object(document, heading, " ".join(call))
            for line in answer.err.splitlines():
                fields = json.loads(line)
                reader.object(fields, "error" if "error" in fields else "note", f"{call} on stderr")
    printed = {name for name, _ in reader.seen}
    missing = {
        (name, field)
        for name in set(PAGE_SECTIONS) & (printed | set(CALLS))
        for field in of(name)
        if (name, field) not in reader.seen
    }
    assert missing == set()
    assert set(PAGE_SECTIONS) - printed == SERVED | ELSEWHERE | SALVAGED | {
        "note",
        "finding",
        "report",
        "file",
    }


def read_all(reader, cli, calls):
    """What commands print is what the page says, each under its own name."""
    for call in calls:
        reader.object(cli(*call, "--json").json, call[0], " ".join(call))
    printed = {name for name, _ in reader.seen}
    assert {(name, field) for name in printed for field in of(name)} == reader.seen


def test_what_commands_about_agents_print(cli, root, tmp_path, monkeypatch):
    """Each field, none more, none less; on the way there, twice, and back."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"model": "opus"}')
    agent = "claude-code"
    calls = [
        ("install", agent, "--dry-run"),
        ("install", agent),
        ("install", agent),
        ("doctor",),
        ("uninstall", agent),
    ]
    read_all(Reader(), cli, calls)


def test_what_commands_about_servers_print(cli, server_url):
    """Likewise."""
    calls = [
        ("upgrade", server_url),
        ("upgrade", server_url, "--dry-run"),
        ("grant", server_url, "--role", "agent"),
        ("grant", server_url, "--role", "agent", "--project", "web"),
    ]
    read_all(Reader(), cli, calls)


@pytest.mark.files
def test_what_salvaging_prints(cli, tmp_path):
    """Of a session with two gaps in an artifact, and one that is not there."""
    text = "".join(f"line {number} {number * 7919 % 104729}\n" for number in range(60_000))
    broken = Store(tmp_path / "broken", free_disk_floor=0, redact=False)
    with broken.session("torn", "web") as session:
        session.put(text, source="make")
    path = tmp_path / "broken" / "web" / "torn" / "session.db"
    raw = bytearray(path.read_bytes())
    raw[:100] = bytes(100)
    for part in (0.3, 0.6):
        raw[int(len(raw) * part)] ^= 255
    path.write_bytes(raw)
    reader = Reader()
    answer = cli("salvage", "none", str(path), "--to", "rescued", "--json")
    reader.object(answer.json, "salvage", "salvage")
    names = SALVAGED | {"salvage"}
    assert {(name, field) for name in names for field in of(name)} == reader.seen


def test_several_artifacts_are_a_list(cli, names):
    """Of the same objects."""
    reader = Reader()
    listed = cli("info", "@1", "@2", "--json").json
    assert 2 == len(listed)
    for each in listed:
        reader.object(each, "info", "info")


def test_every_command_is_in_the_manual():
    """Those that have ``--json``, and no others."""
    context = click.Context(group)
    having = {
        name
        for name in group.list_commands(context)
        if any(each.name == "as_json" for each in group.get_command(context, name).params)
    }
    told = set(CALLS) | SERVED | ELSEWHERE
    assert {heading.split()[0] for heading in told} == having
    assert told <= set(PAGE_SECTIONS)


def test_an_audit_log_that_is_followed(start, put):
    """An event a line."""
    put("x")
    process = start("audit", "--follow", "--since", "1h", "--json")
    reader = Reader()
    for _ in range(2):
        reader.object(json.loads(process.stdout.readline()), "audit --follow", "audit --follow")
    process.send_signal(signal.SIGTERM)
    process.communicate()


@pytest.mark.parametrize("command", [["mcp"], ["mcp-proxy"]])
def test_what_servers_say(start, command, root):
    """Where they are, and the session, once there is one."""
    other = ["--", *start.__globals__["PROGRAM"], "mcp"] if command == ["mcp-proxy"] else []
    if not other:
        command = [*command, "--transport", "http", "--session", "s"]
    process = start(*command, "--metrics", "0", "--json", *other, stdin=subprocess.PIPE)
    reader = Reader()
    wanted = {"metrics"} if other else {"metrics", "url"}
    while wanted:
        document = json.loads(process.stderr.readline())
        reader.object(document, command[0], command[0])
        wanted -= set(document)
    process.send_signal(signal.SIGTERM)
    process.communicate()


def test_what_the_viewer_in_a_browser_says(start, root):
    """Where it is; then notes."""
    process = start("ui", "--json")
    url = json.loads(process.stderr.readline())
    Reader().object(url, "ui", "ui")
    with socket.create_connection(("127.0.0.1", urlsplit(url["url"]).port), timeout=120) as connection:
        connection.sendall(b"x\r\n\r\n")
        Reader().object(json.loads(process.stderr.readline()), "note", "a note of ui")
    process.send_signal(signal.SIGTERM)
    process.communicate()


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("info", "--json", "art_1_0"), 125),
        (("info", "--session", "none", "--json"), 125),
        (("show", "--json", "--lines", "9-1"), 2),
        (("list", "--since", "never", "--json"), 2),
        (("list", "--json", "--limit", "0"), 2),
        (("list", "--jsonn", "--json"), 2),
        (("lst", "--json"), 2),
        (("put", "nowhere", "--json"), 125),
        (("put", "words", "--json", "--profile", "nope"), 125),
        (("query", "--json", "users"), 125),
        (("query", "--json", "$["), 125),
        (("search", "--json", "("), 125),
        (("export", "--json", "words"), 125),
        (("run", "--bogus", "--json", "--", "true"), 2),
        (("run", "--json", "--", "no-such-program"), 127),
        (("gc", "--json", "--older-than", "long"), 2),
        (("replay", "@999", "--json"), 125),
        (("completion", "--json", "tcsh"), 2),
    ],
)
def test_errors_are_json(cli, names, call, code):
    """One object on stderr, with the exit code, which is the same without ``--json``."""
    answer = cli(*call)
    (line,) = answer.err.splitlines()
    Reader().object(error := json.loads(line), "error", call)
    assert answer.code == error["exit_code"] == code
    assert answer.text == "" or call[0] == "run"
    plain = cli(*(word for word in call if word != "--json"))
    assert plain.code == code
    assert error["error"] in plain.err


def test_a_command_s_own_words_ask_for_nothing(cli):
    """``--json`` behind a command is the command's."""
    answer = cli("run", "--bogus", "true", "--json")
    assert answer.err.startswith("Usage: ")
    assert cli("run", "no-such-program", "--json").err.startswith("spillstore: ")


def test_notes_are_json(cli, names, tmp_path):
    """What is worth knowing comes as JSON on stderr, and does not end the command."""
    answer = cli("show", "@1", "--lines", "900-", "--json")
    assert answer.code == 0
    (line,) = answer.err.splitlines()
    Reader().object(note := json.loads(line), "note", "note")
    assert note["note"].startswith("nothing is there")


def test_a_later_command_of_the_process_is_told_in_text(cli):
    """What one has asked for is none of the next one's."""
    assert cli("info", "--json").err.startswith("{")
    assert cli("info").err.startswith("spillstore: ")
