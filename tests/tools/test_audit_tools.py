"""What the tools of a model leave in the audit log: one event a call, with who, what part and what came of it."""

from __future__ import annotations

import asyncio

import pytest

from spillstore_tools.retrieval import get_artifact
from spillstore_tools.stored import render
from spillstore_tools.toolbox import Toolbox
from spillstore_tools.truncation import TruncationProcessor

TEXT = "".join(f"line {number}\n" for number in range(1, 30_001))


@pytest.fixture
def opened(plain_store):
    with plain_store.session("test") as session:
        yield session, session.put(TEXT, source="make")


def events_of(session, *, but=("create", "seal")):
    return [event for event in session.events(limit=1000) if event.kind not in but][::-1]


CALLS = [
    ("get_artifact", {"start_line": 10, "end_line": 20}, "read"),
    ("get_artifact", {"tail": 5}, "read"),
    ("search_artifact", {"pattern": "line 77"}, "search"),
    ("compare_artifacts", {"base": None}, "compare"),
    ("artifact_info", {}, "info"),
]


@pytest.mark.parametrize(("name", "arguments", "kind"), CALLS)
def test_a_call_is_one_event(opened, name, arguments, kind):
    """However much a tool reads for its answer, that is one event with its tool call, and the same when awaited."""
    session, artifact = opened
    arguments = {"id": artifact.id, **arguments}
    if "base" in arguments:
        arguments["base"] = session.put("other\n").id
    tools = Toolbox(session)
    answer = tools.call_sync(name, arguments, tool_call_id="call_1")
    asyncio.run(tools.call(name, arguments, tool_call_id="call_2"))
    found = events_of(session)
    assert [(event.kind, event.actor, event.tool_call_id, event.artifact_id) for event in found] == [
        (kind, "model", "call_1", artifact.id),
        (kind, "model", "call_2", artifact.id),
    ]
    detail = found[0].detail
    assert (detail["tool"], detail["outcome"], detail["shown"]) == (name, "ok", len(answer.text))
    if kind == "read":
        assert (detail["start"], detail["end"]) == (answer.start, answer.end)


def test_a_query_is_one_event_of_its_kind(opened):
    """``get_artifact`` with a query is recorded as a query, without what was asked for."""
    session, _ = opened
    artifact = session.put('{"a": [1, 2]}')
    answer = get_artifact(session, id=artifact.id, query="$.a[0]")
    (event,) = events_of(session)
    assert (event.kind, event.artifact_id, event.detail["tool"]) == ("query", artifact.id, "get_artifact")
    assert not answer.is_error
    assert "$.a" not in str(event.detail)


def test_a_refused_call_says_why(opened):
    """An unknown id is an event of its own beside the call's; a range past the end is the call's outcome."""
    session, artifact = opened
    get_artifact(session, id="../secret")
    get_artifact(session, id=artifact.id, start_line=10**6)
    denied, unknown, past = events_of(session)
    assert (denied.kind, denied.detail) == (
        "denied",
        {"id": "../secret", "why": "malformed", "tool": "get_artifact"},
    )
    assert (unknown.kind, unknown.detail["outcome"]) == ("read", "ArtifactNotFoundError")
    assert (past.artifact_id, past.detail["outcome"]) == (artifact.id, "ArgumentError")


def test_who_calls_can_be_named(opened):
    """A program that serves several agents says which one acts."""
    session, artifact = opened
    with session.acting("agent-3"):
        get_artifact(session, id=artifact.id)
    assert ["agent-3"] == [event.actor for event in events_of(session)]


def test_a_command_and_its_preview_are_the_models(opened):
    """What a command prints is created, sealed and previewed under the call that ran it; what it shows is bounded."""
    session, _ = opened
    result = Toolbox(session).call_sync("bash", {"command": "seq 1 40000"}, tool_call_id="call_1")
    found = session.events(artifact_id=result.artifact_id).items[::-1]
    assert [(event.kind, event.actor, event.tool_call_id) for event in found] == [
        (kind, "model", "call_1") for kind in ("create", "seal", "preview")
    ]
    detail = found[-1].detail
    assert (detail["tool"], detail["profile"], detail["truncated"]) == ("bash", "default", True)
    assert detail["shown"] == len(result.text)
    assert detail["omitted"] == len(detail["ranges"]) > 0


def test_small_output_is_counted(opened):
    """Output that is shown whole is counted for its tool, in the session or until there is one."""
    session, _ = opened
    Toolbox(session).call_sync("bash", {"command": "echo hello"})
    TruncationProcessor(session).process("short\n", "read_file")
    asked = []
    late = TruncationProcessor(lambda: asked.append(1) or session)
    for _ in range(3):
        late.process("short\n", "late")
    assert [] == asked
    late.process(TEXT, "late")
    counts = {event.detail["tool"]: event.detail for event in session.events(kind="passed")}
    assert {"bash": 1, "read_file": 1, "late": 3} == {
        tool: detail["calls"] for tool, detail in counts.items()
    }
    assert 18 == counts["late"]["received"]


def test_a_preview_that_is_made_again_is_one_event(opened):
    """``render`` reads all of an artifact and records that it was shown, no read."""
    session, artifact = opened
    from spillstore_tools.profiles import profile

    render(artifact, profile("omni"))
    assert ["preview"] == [event.kind for event in events_of(session)]


def test_no_event_has_content(opened):
    """Neither what was printed nor what was searched for stands in any event."""
    session, artifact = opened
    tools = Toolbox(session)
    tools.call_sync("bash", {"command": "seq -f 'hush%g' 1 9999"})
    tools.call_sync("search_artifact", {"id": artifact.id, "pattern": "hush"})
    tools.call_sync("get_artifact", {"id": artifact.id, "tail": 3})
    assert "hush" not in str(session.events(limit=1000).items)
    assert "line " not in str(session.events(limit=1000).items)
