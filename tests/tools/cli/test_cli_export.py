"""``spillstore export``: a file, whole or not at all."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.everywhere


def test_export(cli, put, tmp_path):
    """The file holds the exact bytes, for its owner alone."""
    artifact_id = put(b"a\xff\n" * 1000)
    answer = cli("export", "@last", tmp_path / "out")
    assert (answer.code, answer.text) == (
        0,
        f"Exported {artifact_id} to {tmp_path}/out (3,000 bytes (2.9 KiB))\n",
    )
    assert (tmp_path / "out").read_bytes() == b"a\xff\n" * 1000
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600


def test_export_is_recorded(cli, put, store, tmp_path):
    """That something left the store can be read in the session's log."""
    put(b"x")
    cli("export", "@last", tmp_path / "out")
    with store.session("default", read_only=True) as session:
        assert ["export"] == [event.kind for event in session.events(kind="export")]


def test_file_that_is_there(cli, put, tmp_path):
    """A file is not replaced unless that is asked for."""
    put(b"new")
    (tmp_path / "out").write_text("old")
    answer = cli("export", "@last", tmp_path / "out")
    assert (answer.code, answer.out) == (125, b"")
    assert (tmp_path / "out").read_text() == "old"
    assert cli("export", "@last", tmp_path / "out", "--overwrite").code == 0
    assert (tmp_path / "out").read_text() == "new"


def test_folder_that_is_not_there(cli, put, tmp_path):
    """A file that cannot be written is an error, and nothing is left of it."""
    put(b"x")
    answer = cli("export", "@last", tmp_path / "no" / "out")
    assert (answer.code, answer.out) == (125, b"")
    assert "No such file" in answer.err


def test_stream(cli, store, tmp_path):
    """One stream alone."""
    with store.session("default") as session, session.create() as writer:
        writer.write("out\n")
        writer.write("err\n", stream="stderr")
    cli("export", "@last", tmp_path / "out", "--stream", "stderr")
    assert (tmp_path / "out").read_bytes() == b"err\n"


def test_hole(cli, rolled, tmp_path):
    """What lacks a part is refused, unless that is allowed, and then it is reported."""
    answer = cli("export", rolled, tmp_path / "out")
    assert (answer.code, answer.out) == (125, b"")
    assert "--skip-holes" in answer.err
    assert not (tmp_path / "out").exists()
    answer = cli("export", rolled, tmp_path / "out", "--skip-holes", "--json")
    assert answer.json["size"] == (tmp_path / "out").stat().st_size
    assert answer.json["size"] + answer.json["dropped"] == 13_000
    assert "are missing there" in cli("export", rolled, tmp_path / "out2", "--skip-holes").err


def test_a_folder_that_is_not_there(cli, put, tmp_path):
    """The message names the file that was asked for, and no other."""
    put(b"x")
    answer = cli("export", "@last", tmp_path / "none" / "out")
    assert 125 == answer.code
    assert f"writing {tmp_path}/none/out failed" in answer.err
    assert f"No such file or directory: '{tmp_path}/none/out'\n" in answer.err
