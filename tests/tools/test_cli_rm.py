"""``spillstore rm``: one artifact goes, the others stay."""

from __future__ import annotations

import os

from support import fill, small_disk


def test_rm(cli, put, root):
    """The artifact is gone and its space is free."""
    kept = put(b"kept")
    gone = put(os.urandom(2_000_000))
    database = root / "_" / "default" / "session.db"
    before = database.stat().st_size
    answer = cli("rm", gone)
    assert (answer.code, answer.text) == (0, f"Removed {gone} (1.9 MiB freed)\n")
    assert database.stat().st_size < before - 1_900_000
    assert cli("cat", gone).code == 125
    assert cli("cat", kept).out == b"kept"


def test_json(cli, put):
    """A program gets the id and the bytes."""
    gone = put(b"x" * 1000)
    found = cli("rm", "@last", "--json").json
    assert found["id"] == gone
    assert 0 < found["freed"] < 1000


def test_artifact_that_is_being_written(cli, store):
    """What is still being written is refused."""
    with store.session("default") as session, session.create() as writer:
        writer.write("x")
        answer = cli("rm", writer.id)
    assert (answer.code, answer.out) == (125, b"")
    assert "is being written" in answer.err


def test_full_disk(cli, put, root):
    """On a disk without one free byte it makes room, by any name, and is recorded."""
    root.mkdir()
    with small_disk(root, "6m"):
        kept, gone = put(b"kept"), put(os.urandom(700_000))
        fill(root)
        answer = cli("rm", "@last")
        assert (answer.code, answer.text, answer.err) == (0, f"Removed {gone} (684 KiB freed)\n", "")
        assert os.statvfs(root).f_bavail
        [event] = [event for event in cli("audit", "--json").json["events"] if event["kind"] == "delete"]
        assert (gone, "cli") == (event["artifact_id"], event["actor"])
        assert cli("cat", kept).out == b"kept"
        assert cli("verify").code == 0
