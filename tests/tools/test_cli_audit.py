"""``spillstore audit``: events, chosen and in order."""

from __future__ import annotations

import pytest

from spillstore import Store

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
    assert seal.split()[2:6] == ["seal", "library", "call_1", name]
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
