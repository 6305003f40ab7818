"""``spillstore gc``: what goes, what stays, and what is said of it."""

from __future__ import annotations

import os
import re

import pytest
from support import make_old, wait_until

pytestmark = pytest.mark.everywhere

DAY = 86400.0


@pytest.fixture
def fill(store):
    def fill(name, size=1000, *, age=0.0, project=None):
        with store.session(name, project) as session:
            session.put(os.urandom(size))
        make_old(session, age)

    return fill


def ids(store):
    return {info.id for info in store.sessions()}


def test_old_sessions_go(cli, fill, store):
    """By their age; the table names them, the last line counts and tells what is freed."""
    fill("new")
    fill("old", 100_000, age=3 * DAY, project="web")
    answer = cli("gc", "--older-than", "2d")
    assert answer.code == 0
    header, row, summary = answer.text.splitlines()
    assert header.split() == ["session", "project", "size", "last", "used", "why"]
    assert re.fullmatch(r"old +web +\d+ KiB +\d{4}-.* [+-]\d{4} +too old", row)
    assert re.fullmatch(
        r"Removed 1 session \(\d+ KiB freed\); 1 session \(\d+(\.\d)? KiB\) stays: 1 young enough", summary
    )
    assert ids(store) == {"new"}


def test_a_dry_run_deletes_nothing(cli, fill, store):
    """The same is said in other words."""
    fill("old", age=3 * DAY)
    answer = cli("gc", "--older-than", "2d", "--dry-run")
    assert re.search(
        r"Would remove 1 session \(\d+ KiB to be freed\); 0 sessions \(0 bytes\) stay$", answer.text
    )
    assert ids(store) == {"old"}


def test_keep(cli, fill, store):
    """The oldest go until what stays takes no more than was said."""
    for age in (3, 2, 1):
        fill(f"s{age}", 300_000, age=age * DAY)
    answer = cli("gc", "--keep", "800K")
    assert "the oldest, to make room" in answer.text
    assert ids(store) == {"s1", "s2"}


def test_one_project(cli, fill, store):
    """Only its sessions go; what the environment calls the project means nothing here."""
    fill("a", age=3 * DAY, project="web")
    fill("b", age=3 * DAY)
    cli("gc", "--older-than", "2d", "--project", "web", env={"SPILLSTORE_PROJECT": "none"})
    assert ids(store) == {"b"}
    cli("gc", "--older-than", "2d", env={"SPILLSTORE_PROJECT": "none"})
    assert ids(store) == set()


def test_a_session_in_use_stays(cli, start, store):
    """A session that a living process holds is never touched."""
    process = start("put", "-", stdin=-1)
    process.stdin.write(b"x\n")
    process.stdin.flush()
    wait_until(lambda: ids(store) and any(info.live for info in store.sessions()))
    answer = cli("gc", "--older-than", "0", "--keep", "0")
    assert answer.code == 0
    assert "1 in use" in answer.text
    process.stdin.write(b"more\n")
    process.stdin.close()
    assert process.wait(timeout=120) == 0
    assert ids(store) == {"default"}


@pytest.mark.files
def test_an_unreadable_session_is_named(cli, fill, store):
    """On stderr, with the reason."""
    fill("torn", age=30 * DAY)
    file = store.root / "_" / "torn" / "session.db"
    file.write_bytes(b"no database" * 1000)
    os.utime(file, (1, 1))
    answer = cli("gc")
    file.unlink()
    assert answer.code == 0
    assert "session 'torn' stays, for it cannot be opened" in answer.err
    assert "1 unreadable" in answer.text


def test_json(cli, fill):
    """A program gets every session with why it went or stays, and the bytes."""
    fill("old", age=30 * DAY)
    found = cli("gc", "--dry-run", "--json").json
    assert [("old", "age")] == [(fate["session"]["id"], fate["why"]) for fate in found["deleted"]]
    assert found["dry_run"]
    assert found["freed"] > 1000
    assert (found["spared"], found["leftovers"], found["left"]) == ([], 0, 0)


def test_an_empty_store(cli):
    """There is nothing to do, and no folder is made for it."""
    assert cli("gc").text == "Removed 0 sessions (0 bytes freed); 0 sessions (0 bytes) stay\n"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--older-than", "a week"),
        ("--older-than", "-1"),
        ("--older-than", "nan"),
        ("--keep", "much"),
        ("--keep", "-1"),
    ],
)
def test_values_that_mean_nothing(cli, option, value):
    """The value and a right one are named."""
    answer = cli("gc", option, value)
    assert answer.code == 2
    assert repr(value) in answer.err
    assert "for example" in answer.err


def test_an_age_may_be_a_moment(cli, fill, store):
    """A date works as well as an age, and so do seconds."""
    fill("old", age=3 * DAY)
    assert "Removed 0" in cli("gc", "--older-than", "2020-01-01").text
    assert "Removed 0" in cli("gc", "--older-than", "604800").text
    assert "Removed 1" in cli("gc", "--older-than", "3600").text
    assert ids(store) == set()


@pytest.mark.parametrize("command", [["gc"], ["put", "-"], ["run", "--", "true"], ["list"]])
def test_a_store_in_memory_is_refused(cli, command, tmp_path, monkeypatch):
    """What a process keeps in memory is gone before anybody could read it: a command says so and does nothing."""
    monkeypatch.chdir(tmp_path)
    for answer in (
        cli(*command, env={"SPILLSTORE_ROOT": "memory:"}),
        cli(command[0], "--root", "memory:", *command[1:]),
    ):
        assert answer.code == 2
        assert "a store in memory ends with its process" in answer.err
    assert not (tmp_path / "memory:").exists()
