"""``spillstore audit``: events, chosen and in order."""

from __future__ import annotations

import json
import signal
import subprocess
import threading

import pytest

from spillstore import Store

pytestmark = pytest.mark.everywhere

TEXT = "".join(f"line {number}\n" for number in range(1, 101))


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("cat", "@last"), "read"),
        (("show", "@last", "--lines", "2-3"), "read"),
        (("tail", "@last", "-n", "3"), "read"),
        (("search", "@last", "line 7"), "search"),
    ],
)
def test_a_command_is_one_event(cli, put, command, kind):
    """Whatever a command reads, it is one event of the actor ``cli``, and tells the command."""
    name = put(TEXT)
    assert 0 == cli(*command).code
    first, *others = cli("audit", "--json").json["events"]
    assert ["seal", "create"] == [event["kind"] for event in others]
    assert (first["kind"], first["actor"], first["artifact_id"]) == (kind, "cli", name)
    assert (first["detail"]["tool"], first["detail"]["outcome"]) == (command[0], "ok")


def test_filters_choose_among_events(cli, put):
    """By kind, artifact, actor, tool call and time; the newest first, at most so many."""
    first, second = put(TEXT, tool_call_id="call_1"), put("other\n")
    cli("cat", first, env={"SPILLSTORE_ACTOR": "reviewer"})

    def kinds(*options):
        return [event["kind"] for event in cli("audit", "--json", *options).json["events"]]

    assert ["read"] == kinds("--kind", "read")
    assert ["read", "seal", "create"] == kinds("--artifact", first[:-3])
    assert ["seal", "create"] == kinds("--artifact", "@last") == kinds("--artifact", second)
    assert ["read"] == kinds("--actor", "reviewer")
    assert ["seal", "create"] == kinds("--tool-call-id", "call_1")
    assert 5 == len(kinds("--since", "1h"))
    assert [] == kinds("--until", "1h")
    answer = cli("audit", "--limit", "2")
    assert 3 == len(answer.text.splitlines())
    assert "there are more" in answer.err


def test_a_table_tells_what_happened(cli, put):
    """A line an event: time, kind, actor, tool call, artifact, and what else there is."""
    name = put(TEXT, tool_call_id="call_1")
    header, seal, create = cli("audit").text.splitlines()
    assert ["at", "kind", "actor", "call", "artifact", "detail"] == header.split()
    assert seal.split()[3:7] == ["seal", "library", "call_1", name]
    assert create.endswith("source")


def test_a_refused_id_is_told(cli, put):
    """An id that no artifact has is recorded by the command that named it."""
    put(TEXT)
    assert 125 == cli("cat", "art_9").code
    (event,) = cli("audit", "--kind", "denied", "--json").json["events"]
    assert event["detail"] == {"id": "art_9", "why": "malformed", "tool": "cat"}


def test_a_deleted_artifact_keeps_its_events(cli, put):
    """What happened to an artifact can be asked when it is gone."""
    name = put(TEXT)
    assert 0 == cli("rm", name).code
    events = cli("audit", "--artifact", name, "--json").json["events"]
    assert [("delete", "cli"), ("seal", "library"), ("create", "library")] == [
        (event["kind"], event["actor"]) for event in events
    ]


def test_a_deleted_session_keeps_its_events_where_that_is_set(cli, root):
    """``--deleted`` brings them from the store's folder; without the setting there are none."""
    store = Store(root, audit_keep=True)
    with store.session("default") as session:
        session.put(TEXT)
        session.delete()
    events = cli("audit", "--deleted", "--json").json["events"]
    assert ["delete_session", "seal", "create"] == [event["kind"] for event in events]
    assert [] == cli("audit", "--deleted", "--session", "other", "--json").json["events"]


def lines_of(process):
    """A function that brings the next line of a process, or fails after a while."""

    def next_line():
        found = []
        reader = threading.Thread(target=lambda: found.append(process.stdout.readline()), daemon=True)
        reader.start()
        reader.join(120)
        assert found, "nothing came"
        return found[0].decode()

    return next_line


def test_new_events_come_as_they_are_recorded(store, put, start):
    """``--follow`` prints those from a time on, then each new one, as lines of JSON, and ends with Ctrl-C."""
    put(TEXT)
    process = start("audit", "--follow", "--since", "1h", "--json")
    line = lines_of(process)
    assert ["create", "seal"] == [json.loads(line())["kind"] for _ in range(2)]
    name = put("other\n", source="make")
    assert [("create", name), ("seal", name)] == [
        (event["kind"], event["artifact_id"]) for event in (json.loads(line()) for _ in range(2))
    ]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (-signal.SIGINT, b"", b"") == (process.returncode, out, err.strip())


def test_followed_events_are_filtered_and_made_fit_for_a_terminal(store, start, put):
    """Without a time only what is new is told, of the kind that was asked for, a line each, escape sequences cleaned."""
    put(TEXT)
    process = start("audit", "--follow", "--kind", "custom")
    line = lines_of(process)
    with store.session("default") as session:
        artifact = session.put(TEXT)
        told = []
        reader = threading.Thread(target=lambda: told.append(line()))
        reader.start()
        while reader.is_alive():
            artifact.record("custom", {"what": "a\x1b[31mb\nc"})
            reader.join(0.2)
    assert "custom" in told[0]
    assert "\x1b" not in told[0]
    assert artifact.id in told[0]


def test_follow_ends_with_who_reads_it(start, put):
    """Also if nothing more is ever recorded."""
    put(TEXT)
    process = start("audit", "--follow", "--since", "1h")
    assert "create" in lines_of(process)()
    process.stdout.close()
    assert -signal.SIGPIPE == process.wait(timeout=120)


def test_follow_ends_with_the_session(start, put, store):
    """A session that is deleted is said to be gone."""
    put(TEXT)
    process = start("audit", "--follow", "--since", "1h", stderr=subprocess.PIPE)
    assert "create" in lines_of(process)()
    with store.session("default") as session:
        session.delete(force=True)
    assert 125 == process.wait(timeout=120)
    assert b"was deleted" in process.stderr.read()


@pytest.mark.parametrize("options", [("--until", "1h"), ("--limit", "5"), ("--deleted",)])
def test_what_has_an_end_cannot_be_followed(cli, put, options):
    """Options that say where to stop are refused by name."""
    put(TEXT)
    answer = cli("audit", "--follow", *options)
    assert 2 == answer.code
    assert f"--follow or {options[0]}" in answer.err
