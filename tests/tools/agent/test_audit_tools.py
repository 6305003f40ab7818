"""What the tools of a model leave in the audit log: one event a call, with who, what part and what came of it."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from support import wait_until

from spillstore_tools.agent.bash import BashTool
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.output.rendering import render
from spillstore_tools.output.truncation import TruncationProcessor

pytestmark = pytest.mark.everywhere

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


def test_a_count_stands_in_no_lines(opened):
    """A search that counts is told with the bytes that it looked through, and with no line; one that shows lines, with them."""
    session, artifact = opened
    tools = Toolbox(session)
    tools.call_sync("search_artifact", {"id": artifact.id, "pattern": "7", "count": True})
    tools.call_sync("get_artifact", {"id": artifact.id, "start_line": 7, "end_line": 9})
    counted, shown = events_of(session)
    assert ("search", 0, len(TEXT)) == (counted.kind, counted.detail["start"], counted.detail["end"])
    assert ({"first", "last"} & counted.detail.keys(), 7, 9) == (
        set(),
        shown.detail["first"],
        shown.detail["last"],
    )


def test_who_calls_can_be_named(opened):
    """A program that serves several agents says which one acts."""
    session, artifact = opened
    with session.acting("agent-3"):
        get_artifact(session, id=artifact.id)
    assert ["agent-3"] == [event.actor for event in events_of(session)]


def test_a_command_and_its_preview_are_the_models(opened):
    """What a command prints is created, placed, sealed and previewed under the call that ran it; what it shows is bounded."""
    session, _ = opened
    result = Toolbox(session).call_sync("bash", {"command": "seq 1 40000"}, tool_call_id="call_1")
    found = session.events(artifact_id=result.artifact_id).items[::-1]
    assert [(event.kind, event.actor, event.tool_call_id) for event in found] == [
        (kind, "model", "call_1") for kind in ("create", "place", "seal", "preview")
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


def of_command(session, artifact_id, kinds=("preview", "news", "ended")):
    """What is on record of a command: the kind, the call, and what it says of it, the first first."""
    found = [event for event in session.events(artifact_id=artifact_id).items[::-1] if event.kind in kinds]
    return [(event.kind, event.tool_call_id, event.detail) for event in found]


def test_what_is_told_of_a_command_in_the_background(opened):
    """Each text that a model is shown is an event with its length, under the call that asked; then how it ended."""
    session, _ = opened
    tool = Toolbox(session)
    command = "seq 1 9; sleep 100"
    texts = [tool.call_sync("bash", {"command": command, "timeout": 0}, tool_call_id="call_1")]
    pid, name = texts[0].pid, texts[0].artifact_id
    texts.append(tool.call_sync("bash", {"check_pid": pid}, tool_call_id="call_2"))
    texts.append(tool.call_sync("bash", {"kill_pid": pid}, tool_call_id="call_3"))
    found = of_command(session, name)
    assert [(kind, call) for kind, call, _ in found] == [
        ("preview", "call_1"),
        ("news", "call_2"),
        ("ended", "call_1"),
        ("news", "call_3"),
    ]
    shown = [detail for kind, _, detail in found if kind != "ended"]
    assert [len(text.text) for text in texts] == [detail["shown"] for detail in shown]
    assert [pid] * 3 == [detail["pid"] for detail in shown]
    assert ["running", "running", "ended"] == [detail["state"] for detail in shown]
    ended = found[2][2]
    assert ("killed", 143, session.artifact(name).info.size) == (
        ended["why"],
        ended["exit_code"],
        ended["received"],
    )


def test_why_a_command_ended(plain_store, tmp_path):
    """A kill of our own, a call that was cancelled, a session that was closed and a command that killed itself differ."""

    async def cancelled(tool):
        task = asyncio.ensure_future(tool.call({"command": "echo begun; sleep 100"}))
        while not any(info.size for info in tool.session.infos()):
            await asyncio.sleep(0.01)
            if task.done():
                break
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    for way, why in (
        ("cancelled", "cancelled"),
        ("closed", "closed"),
        ("itself", None),
        ("background", None),
    ):
        with plain_store.session(way) as session:
            tool = BashTool(session, profile="lace")  # which stores everything at once
            if way == "cancelled":
                asyncio.run(cancelled(tool))
            elif way == "closed":
                tool.call_sync({"command": "echo begun; sleep 100", "timeout": 0})
            elif way == "itself":
                tool.call_sync({"command": "echo begun; kill -TERM $$"})
            else:
                mark = tmp_path / "mark"
                command = f"echo begun; until [ -e {mark} ]; do sleep 0.01; done; kill -TERM $$"
                pid = tool.call_sync({"command": command, "timeout": 0}).pid
                mark.touch()
                wait_until(lambda: tool.call_sync({"check_pid": pid}).state == "ended")  # noqa: B023
        with plain_store.session(way) as session:
            [info] = session.infos()
            assert ("sealed", 143) == (info.state, info.exit_code)
            kinds = [kind for kind, _, detail in of_command(session, info.id)]
            ended = [detail for kind, _, detail in of_command(session, info.id, ["ended"])]
            assert [why] * (way != "itself") == [detail.get("why") for detail in ended]
            assert ("preview" in kinds) == (way != "cancelled")
