"""``spillstore copy``: which sessions are copied, what is said of it, and the exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3

import pytest
from support import wait_until

from spillstore import Store


@pytest.fixture
def there(tmp_path, root):
    store = Store(tmp_path / "there", free_disk_floor=0)
    yield store
    store.check()


@pytest.fixture
def fill(store):
    def fill(name, project=None, data=b"one\ntwo\n"):
        with store.session(name, project) as session:
            session.put(data)

    return fill


def ids(store):
    return {(info.id, info.project) for info in store.sessions()}


def test_the_session_here(cli, put, there):
    """Without a name it is the one that commands use here; what the copy holds reads the same."""
    artifact = put("first\nsecond\n")
    answer = cli("copy", "--to", there.root)
    assert answer.code == 0
    assert re.fullmatch(r"Copied 1 session \(1 artifact, \d+ bytes\)\n", answer.text)
    assert cli("cat", artifact, "--root", there.root).text == "first\nsecond\n"
    assert cli("verify", "--root", there.root).code == 0


def test_named_sessions(cli, fill, there):
    """Of one project; each once."""
    fill("a", "web")
    fill("b", "web")
    fill("c")
    assert cli("copy", "a", "b", "a", "--project", "web", "--to", there.root).text.startswith(
        "Copied 2 sessions"
    )
    assert ids(there) == {("a", "web"), ("b", "web")}


def test_all_sessions(cli, fill, there, tmp_path):
    """Of the store, whatever project the environment names; or of the one that the call names."""
    fill("a", "web")
    fill("b")
    assert cli("copy", "--all", "--project", "web", "--to", there.root).code == 0
    assert ids(there) == {("a", "web")}
    assert cli("copy", "--all", "--to", tmp_path / "other", env={"SPILLSTORE_PROJECT": "none"}).code == 0
    assert ids(Store(tmp_path / "other")) == {("a", "web"), ("b", None)}


def test_what_is_there_already(cli, fill, there):
    """It is an error, or left out, or replaced."""
    fill("a")
    fill("b")
    assert cli("copy", "a", "--to", there.root).code == 0
    refused = cli("copy", "a", "--to", there.root)
    assert refused.code == 125
    assert "--replace" in refused.err
    some = cli("copy", "a", "b", "--to", there.root)
    assert some.code == 125
    assert "session 'a' was not copied" in some.err
    assert some.text.startswith("Copied 1 session")
    assert some.text.endswith("; 1 not copied\n")
    again = cli("copy", "--all", "--skip-existing", "--to", there.root)
    assert (0, "spillstore: session 'a' is there already") == (again.code, again.err.splitlines()[0])
    assert again.text.endswith("; 2 there already\n")
    fill("a", data=b"three\n")
    assert cli("copy", "a", "--replace", "--to", there.root).code == 0
    with there.session("a", read_only=True) as session:
        assert len(session.infos()) == 2


def test_to_a_server_and_back(cli, fill, server_url, tmp_path, store):
    """A store is named by its URL, whose password is not shown."""
    fill("a", "web")
    fill("b")
    secret = server_url.replace("@", ":hunter2@", 1) if "@" in server_url.partition("?")[0] else server_url
    answer = cli("copy", "--all", "--to", secret, "--json")
    assert answer.code == 0
    assert "hunter2" not in answer.text
    assert cli("copy", "--all", "--root", server_url, "--to", tmp_path / "back").code == 0
    back = Store(tmp_path / "back")
    assert ids(store) == ids(back)
    assert 2 == back.check()


def test_a_session_in_use(cli, start, there, store):
    """It is refused; with --force what is being written is told."""
    process = start("put", "-", stdin=-1)
    process.stdin.write(b"x\n" * 200_000)
    process.stdin.flush()
    wait_until(lambda: any(info.live for info in store.sessions()))
    answer = cli("copy", "--to", there.root)
    assert answer.code == 125
    assert "--force" in answer.err
    assert ids(there) == set()
    forced = cli("copy", "--to", there.root, "--force")
    assert forced.code == 0
    told = "spillstore: session 'default' is being written: 1 artifact interrupted in the copy\n"
    assert forced.err in {"", told}
    process.send_signal(signal.SIGTERM)
    process.communicate()


def test_damage(cli, fill, there, store):
    """The others are copied; nothing is left of the damaged one."""
    fill("a", data=os.urandom(100_000))
    fill("b")
    with sqlite3.connect(store.root / "_" / "a" / "session.db") as connection:
        connection.execute("UPDATE chunk SET data = x'00' WHERE seq = 1")
    connection.close()
    answer = cli("copy", "--all", "--to", there.root, "--json")
    assert answer.code == 125
    (error,) = map(json.loads, answer.err.splitlines())
    assert error["exit_code"] == 125
    assert "chunk 1" in error["error"]
    outcomes = {each["session"]: each["outcome"] for each in answer.json["sessions"]}
    assert {"a": "failed", "b": "copied"} == outcomes
    assert ids(there) == {("b", None)}
    store.delete("a")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a", "--all", "--to", "there"),
        ("--to", "there", "--replace", "--skip-existing"),
        ("--to", "memory:"),
    ],
)
def test_calls_that_mean_nothing(cli, arguments):
    """They are refused as such."""
    assert cli("copy", *arguments).code == 2


def test_no_such_session(cli, there):
    """Nothing is made anywhere."""
    assert cli("copy", "nowhere", "--to", there.root).code == 125
    assert not there.root.exists()


def test_progress_at_a_terminal(at_terminal, store, there, monkeypatch):
    """One line that is updated and goes."""
    monkeypatch.setattr("spillstore_tools.cli.support.progress.AFTER", 0.0)
    monkeypatch.setattr("spillstore_tools.cli.support.progress._EVERY", 0.01)
    with store.session("default") as session:
        session.put((os.urandom(1_000_000) for _ in range(30)), redact=False)
    answer = at_terminal("copy", "--to", str(there.root))
    assert answer.code == 0
    assert "copying session default" in answer.text
