"""``spillstore clean``: the session goes, others stay."""

from __future__ import annotations

import re

import pytest
from support import wait_until

pytestmark = pytest.mark.everywhere


def test_clean(cli, put, store):
    """The session is gone with all its artifacts, and how much that was is said."""
    for _ in range(3):
        put(b"x" * 1000)
    with store.session("other") as session:
        session.put(b"stays")
    answer = cli("clean")
    assert answer.code == 0
    assert re.fullmatch(r"Removed 3 artifacts \(\d+(\.\d)? KiB freed\)\n", answer.text)
    assert ["other"] == [info.id for info in store.sessions()]
    assert cli("cat", "@last", "--session", "other").out == b"stays"


def test_json(cli, store):
    """A program gets the counts."""
    with store.session("job", "web") as session:
        session.put(b"x")
    found = cli("clean", "--session", "job", "--project", "web", "--json").json
    assert (found["session"], found["artifacts"]) == ("job", 1)
    assert found["freed"] > 1000


def test_session_in_use(start, cli, store):
    """A session that a living process holds is deleted only by force, and that process is told."""
    process = start("put", "-", stdin=-1)
    process.stdin.write(b"x\n")
    process.stdin.flush()
    wait_until(lambda: b"art_" in cli("list", "--json").out)
    answer = cli("clean")
    assert (answer.code, answer.out) == (125, b"")
    assert "held by" in answer.err
    assert "force" in answer.err
    answer = cli("clean", "--force")
    assert answer.code == 0
    _, err = process.communicate(b"more\n", timeout=120)
    assert process.returncode == 125
    assert b"was deleted" in err


def test_a_session_that_is_gone_already(cli, put):
    """Without ``--force`` that is an error, since the name may be wrong; with it there is nothing left to do."""
    put(b"x")
    assert 125 == cli("clean", "--session", "none").code
    answer = cli("clean", "--session", "none", "--force")
    assert (0, "Removed 0 artifacts (0 bytes freed)\n") == (answer.code, answer.text)
    assert 0 == cli("clean", "--force").code
    assert 0 == cli("clean", "--force", "--json").json["artifacts"]
