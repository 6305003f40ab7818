"""``spillstore rm``: one artifact goes, the others stay."""

from __future__ import annotations

import os

import pytest
from hostile import make_earlier
from support import fill, small_disk

pytestmark = pytest.mark.everywhere


@pytest.mark.files
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


def test_several(cli, put):
    """All of them go, each once; as JSON they are a list."""
    ids = [put(b"%d" % number) for number in range(5)]
    answer = cli("rm", ids[0], ids[1], ids[0])
    assert answer.text.splitlines() == [f"Removed {each} (10 bytes freed)" for each in ids[:2]]
    assert [each["id"] for each in cli("rm", "@last", "@last~1", "--json").json] == [ids[4], ids[3]]
    assert cli("list", "--json").json["total"]["artifacts"] == 1


def test_one_of_several_that_is_not_there(cli, put):
    """Then none is deleted."""
    put(b"x")
    answer = cli("rm", "@last", "art_1_0")
    assert (answer.code, answer.text) == (125, "")
    assert cli("cat", "@last").out == b"x"


def test_one_of_several_that_cannot_be_deleted(cli, put, store):
    """Those before it are gone, which is told."""
    gone = put(b"x")
    with store.session("default") as session, session.create() as writer:
        answer = cli("rm", gone, writer.id)
        assert (answer.code, answer.text[: len(gone) + 8]) == (125, f"Removed {gone}")
        assert cli("rm", writer.id, "--json").text == ""


def test_artifact_that_is_being_written(cli, store):
    """What is still being written is refused."""
    with store.session("default") as session, session.create() as writer:
        writer.write("x")
        answer = cli("rm", writer.id)
    assert (answer.code, answer.out) == (125, b"")
    assert "is being written" in answer.err


@pytest.mark.files
@pytest.mark.parametrize("is_earlier", [False, True])
def test_full_disk(cli, put, root, is_earlier):
    """On a disk without one free byte it makes room, by any name, and is recorded; a file of an earlier schema is upgraded with it."""
    root.mkdir()
    with small_disk(root, "6m"):
        kept, gone = put(b"kept"), put(os.urandom(700_000))
        if is_earlier:
            make_earlier(root / "_" / "default" / "session.db")
        fill(root)
        answer = cli("rm", "@last")
        assert (answer.code, answer.text, answer.err) == (0, f"Removed {gone} (684 KiB freed)\n", "")
        assert os.statvfs(root).f_bavail
        [event] = [event for event in cli("audit", "--json").json["events"] if event["kind"] == "delete"]
        assert (gone, "cli") == (event["artifact_id"], event["actor"])
        assert cli("cat", kept).out == b"kept"
        assert cli("verify").code == 0
