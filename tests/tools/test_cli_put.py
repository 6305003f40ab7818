"""``spillstore put``: a file, or stdin, becomes an artifact."""

from __future__ import annotations

import os
import re
import time

import pytest


def test_put_prints_id_and_sizes(cli, store, tmp_path):
    """The first line is the id alone, so that a script can take it."""
    file = tmp_path / "log"
    file.write_bytes(b"line\n" * 1000)
    answer = cli("put", file)
    artifact_id, sizes = answer.text.splitlines()
    assert re.fullmatch(r"5,000 bytes \(4.9 KB\), 1,000 lines, stored in \d+ bytes", sizes)
    with store.session("default", read_only=True) as session:
        artifact = session.artifact(artifact_id)
        assert artifact.read_bytes(0, 5000) == file.read_bytes()
        assert (artifact.info.source, artifact.info.command) == ("put", str(file))


@pytest.mark.parametrize("data", [b"", b"\x00\xff\n\r\x1b[", os.urandom(300_000)])
def test_stdin(program, store, data):
    """A dash is stdin; any bytes are stored as they are."""
    answer = program("put", "-", "--json", stdin=data)
    assert answer.json["size"] == len(data)
    assert answer.json["command"] is None
    with store.session("default", read_only=True) as session:
        assert session.artifact(answer.json["id"]).read_bytes(0, len(data)) == data


def test_slow_stdin_can_be_read_before_its_end(start, store):
    """What has come in is readable while more is awaited."""
    process = start("put", "-", stdin=-1)
    process.stdin.write(b"early\n")
    process.stdin.flush()
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        if any(True for _ in store.sessions()):
            with store.session("default", read_only=True) as session:
                page = session.artifacts(limit=1)
                if page.items and page.items[0].info.size == 6:
                    break
        time.sleep(0.02)
    else:
        pytest.fail("nothing appeared")
    process.communicate(timeout=20)


def test_source_and_content_type(cli, tmp_path):
    """What the content is can be said."""
    (tmp_path / "x.json").write_text("{}")
    found = cli(
        "put", tmp_path / "x.json", "--source", "fetch", "--content-type", "application/json", "--json"
    ).json
    assert (found["source"], found["content_type"], found["state"]) == ("fetch", "application/json", "sealed")


@pytest.mark.parametrize(
    ("newline", "lines", "stored"), [("auto", 2, "cr"), ("lf", 1, "lf"), ("cr", 2, "cr")]
)
def test_newline(cli, tmp_path, newline, lines, stored):
    """Text of an old Mac has lines, unless it is said to have none."""
    (tmp_path / "x").write_bytes(b"one\rtwo\r")
    found = cli("put", tmp_path / "x", "--newline", newline, "--json").json
    assert (found["lines"], found["newline"]) == (lines, stored)


def test_file_that_is_not_there(cli, tmp_path):
    """A file that cannot be read is an error with its name."""
    answer = cli("put", tmp_path / "nothing")
    assert (answer.code, answer.err) == (125, f"spillstore: {tmp_path}/nothing: No such file or directory\n")


def test_folder(cli, tmp_path):
    """A folder is no file."""
    assert cli("put", tmp_path).code == 2


def test_quota(cli, tmp_path, monkeypatch):
    """What does not fit is an error that names the setting."""
    monkeypatch.setenv("SPILLSTORE_SESSION_QUOTA", "1MiB")
    (tmp_path / "x").write_bytes(os.urandom(3_000_000))
    answer = cli("put", tmp_path / "x")
    assert (answer.code, answer.out) == (125, b"")
    assert "SPILLSTORE_SESSION_QUOTA" in answer.err
    assert "could not be stored" not in answer.err
