"""``spillstore info``: what is known of an artifact."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.everywhere


@pytest.mark.files
def test_info(cli, put, root):
    """Sizes are exact and human, times are local, tokens are a quarter of the characters."""
    artifact_id = put(
        "naïve\n".encode() * 1000,
        source="http_request",
        command="GET /api",
        content_type="text/plain",
        tool_call_id="call_7",
    )
    text = cli("info", artifact_id).text
    assert text.startswith(
        f"Artifact: {artifact_id}\nType: text/plain\nSize: 7,000 bytes (6.8 KiB)\nEstimated tokens: ~1,500\nCreated: "
    )
    assert re.search(r"^Created: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}$", text, re.MULTILINE)
    for line in (
        "Source: http_request GET /api",
        "Session: default",
        "Tool call: call_7",
        "State: sealed",
        "Lines: 1,000 ending in LF",
        "Stdout: 7,000 bytes, 1,000 lines",
        "Stderr: 0 bytes, 0 lines",
        f"Path: {root / '_' / 'default' / 'session.db'}",
    ):
        assert f"\n{line}\n" in text
    assert re.search(r"^Stored: \d+ bytes in 1 chunk, \d+\.\d : 1$", text, re.MULTILINE)
    assert re.search(r"^Digest: blake3:[0-9a-f]{64}$", text, re.MULTILINE)


@pytest.mark.files
def test_json(cli, put, root):
    """A program gets every field."""
    artifact_id = put(b"one\ntwo")
    found = cli("info", artifact_id, "--json").json
    assert str(root / "_" / "default" / "session.db") == found["path"]
    assert (found["id"], found["lines"], found["estimated_tokens"], found["hole"]) == (
        artifact_id,
        2,
        2,
        None,
    )
    assert found["duration"] >= 0


def test_hole(cli, rolled):
    """What was dropped is told with its bytes and lines."""
    text = cli("info", rolled).text
    assert re.search(r"^Hole: bytes \d+-\d+ \(lines \d+-\d+\) were dropped; .* kept$", text, re.MULTILINE)
    assert "Size: 13,000 bytes" in text


def test_interrupted(cli, store):
    """An artifact that was not sealed says why."""
    with store.session("default") as session, session.create() as writer:
        writer.write("x")
        writer.abort("the agent was stopped")
    assert "\nState: interrupted: the agent was stopped\n" in cli("info", "@last").text


def test_empty(cli, put):
    """An artifact without content has no ratio."""
    text = cli("info", put(b"")).text
    assert "Size: 0 bytes\n" in text
    assert "Stored: 0 bytes in 0 chunks\n" in text


def test_several(cli, put):
    """Several artifacts are told one after the other, and as a list to programs."""
    first, second = put(b"one"), put(b"two")
    one, two = cli("info", first, "@last").text.split("\n\n")
    assert one.startswith(f"Artifact: {first}\n")
    assert two.startswith(f"Artifact: {second}\n")
    assert [first, second] == [each["id"] for each in cli("info", first, second, "--json").json]
