"""Commands on a session's file of an earlier schema: those that read leave it as it is, those that write upgrade it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hostile import make_earlier

from spillstore.engine.sqlite.sql import SCHEMA_NUMBER

READING = [
    ("list",), ("info", "@last"), ("show", "@last"), ("cat", "@last"), ("tail", "@last"), ("search", "two"), ("verify",), ("audit",), ("stats",),
    ("replay", "@last", "--json"), ("export", "@last", "out.txt"), ("sessions",), ("diff", "@last~1", "@last"), ("query", "@last~1", "$[0]"),
]  # fmt: skip


@pytest.fixture
def number(put, root):
    """Two artifacts in a file of the first schema; gives the number that it has now."""
    put(b'["one"]\n')
    put(b"one\ntwo\n")
    database = root / "_" / "default" / "session.db"
    make_earlier(database)

    def number():
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute("PRAGMA user_version").fetchone()[0]

    assert 1 == number()
    return number


def test_those_that_read(cli, number, tmp_path, monkeypatch):
    """They answer, and the file keeps its schema."""
    monkeypatch.chdir(tmp_path)
    for command in READING:
        answer = cli(*command)
        differs = command[0] == "diff"
        assert (command, int(differs), 1) == (command, answer.code, number()), answer.err
    assert b"one\ntwo\n" == (tmp_path / "out.txt").read_bytes()
    kinds = [event["kind"] for event in cli("audit", "--json").json["events"]]
    assert {"read", "search", "export"} <= set(kinds)


@pytest.mark.parametrize("command", [("put", "-"), ("rm", "@last"), ("run", "--", "echo", "x")])
def test_those_that_write(cli, number, command):
    """They upgrade it."""
    assert 0 == cli(*command, stdin=b"more\n" if command[0] == "put" else b"").code
    assert SCHEMA_NUMBER == number()
    assert 0 == cli("verify").code
