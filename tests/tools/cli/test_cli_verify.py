"""``spillstore verify``: what is whole, and what is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from spillstore import Store

pytestmark = pytest.mark.everywhere


def test_one_artifact(cli, put):
    """A whole artifact is said to be whole, with what was read."""
    artifact_id = put(b"x" * 100_000)
    answer = cli("verify", "@last")
    assert (answer.code, answer.text) == (0, f"{artifact_id} is whole: 2 chunks, 100,000 bytes (97.7 KiB)\n")
    assert cli("verify", "@last", "--json").json == {
        "id": artifact_id,
        "ok": True,
        "chunks": 2,
        "size": 100_000,
        "content": True,
        "incomplete": None,
    }


def test_the_session(cli, put):
    """Without an id the whole session is checked."""
    put(b"one")
    put(b"two")
    answer = cli("verify")
    assert (answer.code, answer.text) == (0, "session default is whole: 2 artifacts, 2 chunks, 6 bytes\n")
    assert cli("verify", "--json").json == {
        "session": "default",
        "ok": True,
        "artifacts": 2,
        "chunks": 2,
        "size": 6,
        "incomplete": 0,
    }


@pytest.mark.parametrize("arguments", [[], ["@last"], ["@last", "--json"]])
def test_damage(cli, tmp_path, arguments):
    """A flipped byte is a failure that names what is damaged."""
    root = tmp_path / "damaged"
    with Store(root, free_disk_floor=0).session("default") as session:
        artifact = session.put(b"some text\n" * 100)
    with closing(sqlite3.connect(root / "_" / "default" / "session.db")) as connection, connection:
        connection.execute("UPDATE chunk SET data = zeroblob(length(data))")
    connection.close()
    answer = cli("verify", "--root", root, *arguments)
    assert (answer.code, answer.out) == (125, b"")
    assert artifact.id in answer.err
    for name in ("cat", "show", "tail"):
        answer = cli(name, "@last", "--root", root)
        assert (answer.code, answer.out) == (125, b"")
