"""``spillstore upgrade`` and ``spillstore grant``: what they do, what they say, and what they refuse."""

from __future__ import annotations

import os
import subprocess
import sys

import postgres
import pytest
from support import ROOT

pytest.importorskip("psycopg")

from spillstore import Store


@pytest.fixture
def empty(server):
    """The URL of an empty database."""
    name = server.new_database(schema=False)
    yield server.url(name)
    server.drop_database(name)


def test_upgrade_says_what_it_did(cli, empty):
    """First what it would do, then that it did it, then that there was nothing to do."""
    shown = Store(empty).name
    answers = [cli("upgrade", *options, empty) for options in (["--dry-run"], [], [])]
    assert [answer.code for answer in answers] == [0, 0, 0]
    assert [answer.text for answer in answers] == [
        f"Would make the schema 0001 in {shown}\n",
        f"Made the schema 0001 in {shown}\n",
        f"{shown} has the schema 0001 already\n",
    ]
    answer = cli("upgrade", "--json", env={"SPILLSTORE_ROOT": empty})
    assert answer.json == {
        "store": shown, "before": "0001", "after": "0001", "spread": [], "dry_run": False, "changed": False,
    }  # fmt: skip


def test_upgrade_prints_sql(cli, empty, server):
    """Which makes the same when it is run."""
    answer = cli("upgrade", "--sql", empty)
    assert answer.text.startswith("BEGIN;\n")
    server.execute(answer.text, postgres.database_of(empty))
    assert cli("upgrade", empty).text.endswith("already\n")
    assert cli("upgrade", "--sql", "--json", empty).json["sql"].endswith("has the schema 0001 already.\n")


@pytest.mark.long
def test_two_upgrades_at_the_same_time(empty):
    """Each ends well; one of them has made the tables."""
    command = [sys.executable, "-m", "spillstore_tools.cli", "upgrade", empty]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'store'}:{ROOT / 'tools'}:{ROOT / 'migrations'}"}
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)
    ]
    said = sorted(child.communicate()[0].split()[0] for child in children)
    assert [child.returncode for child in children] == [0, 0]
    assert said[0] == "Made"
    assert said[1].startswith("postgresql://")


def test_a_folder_needs_no_upgrade(cli, tmp_path):
    """It says when its files are upgraded; there is no SQL for it."""
    answer = cli("upgrade", tmp_path)
    assert (answer.code, answer.text) == (0, "")
    assert "is a folder: its session files are upgraded when they are opened for writing" in answer.err
    assert cli("upgrade", "--json", tmp_path).json["after"] is None
    for command in (("upgrade", "--sql"), ("grant", "--role", "agent")):
        answer = cli(*command, tmp_path)
        assert answer.code == 125
        assert "is no server" in answer.err


@pytest.mark.parametrize("command", [["upgrade"], ["grant", "--role", "agent", "--apply"]])
def test_what_goes_wrong_is_said(cli, server, command):
    """A server that is away, another database, one that cannot hold a store, a store in memory; without the password."""
    away = "postgresql://agent:" + "hid" + "den@127.0.0.1:1/x?connect_timeout=2"
    ascii_only = server.new_database(schema=False, options="ENCODING 'SQL_ASCII'")
    for url, said in (
        (away, "agent:***@127.0.0.1:1/x?connect_timeout=2 cannot be reached"),
        ("mysql://x/y", "there is no engine for mysql://"),
        (server.url(ascii_only), "the database has the encoding SQL_ASCII"),
    ):
        answer = cli(*command, url)
        assert answer.code == 125
        assert said in answer.err
        assert "hidden" not in answer.err
    server.drop_database(ascii_only)
    assert cli(*command, "memory:").code == 2


def test_grant_prints_or_runs(cli, server, server_url):
    """Without --apply nothing is changed."""
    if not isinstance(server, postgres.Server):
        pytest.skip("roles are made on a server of ours alone")
    agent = f"agent_{os.getpid()}"
    server.execute(f"CREATE ROLE {agent} LOGIN")
    url = server_url.replace("postgres@", f"{agent}@")
    options = ["--role", agent, "--project", "web", server_url]
    answer = cli("grant", *options)
    assert answer.text.startswith(f'BEGIN;\nGRANT USAGE ON SCHEMA spillstore TO "{agent}";\n')
    assert cli("grant", "--json", *options).json == {
        "role": agent, "project": "web", "applied": False, "sql": answer.text,
    }  # fmt: skip
    put = ("put", "--root", url, "-", "--session", "s", "--project")
    assert "permission denied for schema spillstore" in cli(*put, "web", stdin=b"x\n").err
    answer = cli("grant", "--apply", *options)
    assert (answer.code, answer.text) == (0, "")
    assert f"'{agent}' may use the sessions of project 'web'" in answer.err
    assert cli(*put, "web", stdin=b"x\n").code == 0
    answer = cli(*put, "other", stdin=b"x\n")
    assert answer.code != 0
    assert "confined to the sessions of one project" in answer.err
    server.execute(f"DROP OWNED BY {agent}; DROP ROLE {agent}", postgres.database_of(server_url))
    assert cli("grant", server_url).code == 2
