"""The password of a store on a server is in no command's environment, and in nothing that a program of ours prints."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys

import pytest
from support import each_of
from test_mcp_proxy import RAW, talk

from spillstore import Store
from spillstore_tools.agent.bash import bash_sync
from spillstore_tools.cli.support.location import Location, without_password
from spillstore_tools.process.environment import for_commands
from spillstore_tools.process.runners import start_program

__all__ = ["talk"]
SCRIPT = 'echo "[${SPILLSTORE_ROOT-none}] [${PGPASSWORD-none}] [$PGPASSFILE]"'
WITHOUT = "postgresql://agent@127.0.0.1:1/spill?connect_timeout=2"
EXPECTED = f"[{WITHOUT}] [none] [/run/pw]\n"
PROGRAM = [sys.executable, "-m", "spillstore_tools.cli"]


@pytest.fixture
def password():
    return f"Zq7{secrets.token_hex(8)}"


@pytest.fixture
def url(password, monkeypatch):
    """A server that nobody listens for; we are given its URL and the password by variables."""
    url = WITHOUT.replace("agent", f"agent:{password}")
    monkeypatch.setenv("SPILLSTORE_ROOT", url)
    monkeypatch.setenv("PGPASSWORD", password)
    monkeypatch.setenv("PGPASSFILE", "/run/pw")
    return url


@each_of(
    "root, kept",
    [
        ("postgresql://u:{}@h/d?citus=on", {"SPILLSTORE_ROOT": "postgresql://u@h/d?citus=on"}),
        ("postgresql://h/d?password={}", {"SPILLSTORE_ROOT": "postgresql://h/d"}),
        ("postgresql://h/d", {"SPILLSTORE_ROOT": "postgresql://h/d"}),
        ("postgresql://u:{}@@h/d", {}),
        ("mysql://u:{}@h/d", {}),
        ("postgresql:/u:{}@h/d", {}),
        ("/tmp/x", {"SPILLSTORE_ROOT": "/tmp/x", "PGPASSWORD": "{}"}),
        ("/tmp/a:/b", {"SPILLSTORE_ROOT": "/tmp/a:/b", "PGPASSWORD": "{}"}),
        ("memory:", {"SPILLSTORE_ROOT": "memory:", "PGPASSWORD": "{}"}),
    ],
)
def test_what_is_left_of_an_environment(root, kept):
    """A URL without its password, or none if it cannot be read; ``PGPASSWORD`` where it is not the store's."""
    word = "x" * 12
    given = {"SPILLSTORE_ROOT": root.format(word), "PGPASSWORD": word, "PGSERVICE": "s", "HOME": "/"}
    expected = {name: value.format(word) for name, value in kept.items()}
    assert {"PGSERVICE": "s", "HOME": "/", **expected} == for_commands(given)


@pytest.mark.parametrize("env", [None, "ours"])
def test_programs_have_the_url_without_it(url, env):
    """With our environment or one like it."""
    started = start_program(["sh", "-c", SCRIPT], env=dict(os.environ) if env else None)
    with os.fdopen(started.stdout) as printed, os.fdopen(started.stderr):
        assert EXPECTED == printed.read()
    assert started.wait() == 0


@pytest.mark.parametrize("env", [None, "ours"])
def test_the_tool_bash_withholds_it(url, password, env):
    """The server does not answer: the command runs all the same, and what is said of the store has no password."""
    script = f"{SCRIPT}; seq 1 99999"
    found = bash_sync(
        lambda: Store(url).session("s"), command=script, env=dict(os.environ) if env else None
    ).text
    assert EXPECTED in found
    assert "NOT STORED COMPLETELY" in found
    assert password not in found


def test_a_session_in_a_folder_leaves_other_passwords_alone(url, password, plain_store):
    """The command is led to the folder, and ``PGPASSWORD`` is not the store's."""
    with plain_store.session("chat") as session:
        found = bash_sync(session, command=SCRIPT).text
    assert found.startswith(f"[{plain_store.root}] [{password}] [/run/pw]\n")


@pytest.mark.long
def test_the_server_behind_a_proxy_does_not_have_it(talk, url, password):
    """It has the URL without it."""
    words = talk(RAW).words("environment")
    assert (False, True) == (password in words, WITHOUT in words)


@pytest.mark.long
@pytest.mark.parametrize("by", ["option", "variable"])
def test_spillstore_run_withholds_it(root, url, password, by):
    """Its command has the URL without it, and runs to its end; what is said of the store has no password."""
    named = ["--root", url] if by == "option" else []
    done = subprocess.run(
        [*PROGRAM, "run", *named, "--", "sh", "-c", f"{SCRIPT}; seq 1 9999; exit 6"],
        env={**os.environ, "SPILLSTORE_ROOT": "" if named else url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 6 == done.returncode, done
    assert EXPECTED in done.stdout
    assert "NOT STORED COMPLETELY" in done.stdout
    assert password not in done.stdout + done.stderr


COMMANDS = (
    *("show", "cat", "tail", "search x", "query $", "info", "list", "sessions", "stats", "verify", "audit"),
    *("export @last out", "put -", "rm @last", "clean --yes", "gc", "gc --dry-run", "diff @1 @2", "replay"),
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("by", ["option", "variable"])
def test_commands_say_that_a_server_does_not_answer(cli, url, password, command, by):
    """With the code of a store that cannot be used, and without the password."""
    named = ["--root", url] if by == "option" else []
    env = {"SPILLSTORE_ROOT": "/dev/null/x" if named else url}
    for form in ([], [] if command == "cat" else ["--json"]):
        answer = cli(*command.split(), *named, *form, env=env, stdin=b"x" * 99)
        assert (answer.code, "Traceback" in answer.err) == (125, False), answer
        assert password not in answer.text + answer.err


def test_a_url_that_cannot_be_read(cli, password):
    """The command line says what is wrong with it, and no part of the password."""
    answer = cli("list", "--root", f"postgresql://u:{password}/x@h/d")
    assert (answer.code, b"") == (125, answer.out)
    assert "is written %40, %2F or %3F" in answer.err
    assert password not in answer.err


@pytest.mark.long
def test_an_mcp_server_does_not_tell(url, password):
    """A client that calls a tool is told that it failed."""
    calls = [
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ("tools/list", {}),
        ("tools/call", {"name": "bash", "arguments": {"command": f"{SCRIPT}; seq 1 99999"}}),
        ("tools/call", {"name": "search_artifact", "arguments": {"artifact_id": "@last", "pattern": "x"}}),
    ]  # fmt: skip
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(calls)
    ]
    for more in ([], ["--session", "s"], ["--session", "s", "--read-only"]):
        done = subprocess.run(
            [*PROGRAM, "mcp", *more],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            check=False,
        )
        assert password not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_what_is_said_to_be_typed():
    """The options for another command name the server without its password; folders as they were given."""
    word = "x" * 12
    assert WITHOUT == without_password(WITHOUT.replace("agent", f"agent:{word}"))
    assert without_password(f"postgresql://u:{word}/@h") is None
    assert ["x", "a:/b", None] == [without_password(root) for root in ("x", "a:/b", None)]
    location = Location(session="s", project=None, root=f"postgresql://u:{word}@h", flags="")
    assert word not in repr(location)
