"""The log ``spillstore``: what is told of it, at which level, under which names, and that no content is."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import subprocess
import sys
from contextlib import closing
from sqlite3 import connect

import pytest
from support import NO_FLOORS, ROOT

from spillstore import Store
from spillstore.events import catalogue, log_lines
from spillstore.exceptions import ArtifactNotFoundError, IntegrityError, SpillstoreError
from spillstore_tools.agent.artifact_info import artifact_info
from spillstore_tools.agent.bash import bash_sync
from spillstore_tools.agent.compare_artifacts import compare_artifacts
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.list_artifacts import list_artifacts
from spillstore_tools.agent.search_artifact import search_artifact
from spillstore_tools.agent.toolbox import Toolbox
from spillstore_tools.output.content import ContentError
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.process.jobs import guarded
from spillstore_tools.profiles import profile

PAGE = ROOT / "docs" / "metrics.md"
PLAIN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def fields(record):
    """What a record has besides what every record has."""
    return {name: value for name, value in vars(record).items() if name not in PLAIN}


@pytest.fixture
def logged(caplog):
    """All lines of ours, of every level."""
    caplog.set_level(logging.DEBUG, "spillstore")
    return lambda *events: [
        record
        for record in caplog.records
        if record.name.startswith("spillstore") and (not events or getattr(record, "event", None) in events)
    ]


def test_a_life_of_an_artifact_is_logged(plain_store, logged):
    """Each line has the kind, the session, the artifact and what there is to say, as fields."""
    with plain_store.session("chat") as session:
        artifact = session.put(b"one\ntwo\n", source="make")
        artifact.read_lines(1, 1)
        artifact.delete()
    create, seal, read, delete = logged("create", "seal", "read", "delete")
    common = {"session": "chat", "artifact_id": artifact.id}
    assert {**common, "event": "create", "tool_name": "make"} == fields(create)
    stored = seal.stored_size
    assert {
        **common,
        "event": "seal",
        "tool_name": "make",
        "size": 8,
        "received": 8,
        "stored_size": stored,
    } == fields(seal)
    seconds = read.seconds
    assert {**common, "event": "read", "outcome": "ok", "bytes": 4, "seconds": seconds} == fields(read)
    assert {**common, "event": "delete", "size": 8, "why": "deleted"} == fields(delete)
    levels = [record.levelno for record in (create, seal, read, delete)]
    assert [logging.DEBUG, logging.INFO, logging.DEBUG, logging.INFO] == levels


def test_every_output_is_logged_by_its_outcome(plain_store, logged):
    """A truncation has the fields of S1 and is an INFO; what was lost is a WARNING; what is whole is for who debugs."""
    big = "line\n" * 20_000

    def unable():
        raise SpillstoreError("the disk is gone")

    with plain_store.session("chat") as session:
        processor = TruncationProcessor(session)
        processor.process("short", "t")
        result = processor.process(big, "t")
        bash_sync(session, command="seq 1 20000")
        TruncationProcessor(None).process(big, "t")
        TruncationProcessor(unable).process(big, "t")
        with pytest.raises(ContentError):
            processor.process(object(), "t")
    told = [(record.outcome, record.levelname, record.message) for record in logged("output")]
    assert [
        ("whole", "DEBUG", "shown whole"),
        ("truncated", "INFO", "truncated"),
        ("truncated", "INFO", "truncated"),
        ("dropped", "INFO", "truncated"),
        ("lost", "WARNING", "not stored"),
        ("failed", "WARNING", "not processed"),
    ] == told
    record = logged("output")[1]
    assert {"spillstore.truncation"} == {record.name for record in logged("output")}
    assert {
        "event": "output",
        "session": "chat",
        "artifact_id": result.artifact_id,
        "artifact_created": True,
        "tool_name": "t",
        "profile": "default",
        "strategy": result.metadata.strategy_used,
        "outcome": "truncated",
        "original_size": len(big),
        "truncated_size": len(result.content),
        "received": len(big),
        "seconds": record.seconds,
    } == fields(record)
    assert [0] == [record.exit_code for record in logged("command")]


def test_limits_refusals_and_damage_are_logged(tmp_path, logged):
    """A limit is a warning, a refused id tells why and not what, damage is an error."""
    store = Store(tmp_path, **NO_FLOORS)
    with store.session("chat") as session:
        artifact = session.put(b"x" * 100_000, source="cat", limit=10_000)
        with pytest.raises(ArtifactNotFoundError):
            session.artifact("../../etc/passwd")
        with closing(connect(tmp_path / "_" / "chat" / "session.db")) as connection, connection:
            connection.execute("UPDATE chunk SET digest = zeroblob(32)")
        with pytest.raises(IntegrityError):
            artifact.read_bytes(0, 5)
    (limit,) = logged("limit")
    assert ("artifact_limit", "cat", 10_000, "WARNING") == (
        limit.limit,
        limit.tool_name,
        limit.most,
        limit.levelname,
    )
    (denied,) = logged("denied")
    assert {"event": "denied", "session": "chat", "why": "malformed"} == fields(denied)
    (damage,) = logged("integrity")
    assert (artifact.id, "ERROR") == (damage.artifact_id, damage.levelname)


def test_secrets_are_counted_and_not_told(plain_store, logged):
    """The log has how many were removed from the output and command of a tool, the audit of which kinds; neither has one."""
    token = "ghp_" + "a1B2" * 9
    with plain_store.session("chat") as session:
        artifact = session.put(
            f"token = {token}\nexport PASSWORD=hunter2hunter2\n", source="env", command=f"env {token}"
        )
        (event,) = session.events(kind="redaction")
        recorded = repr(session.events(limit=100).items)
    (record,) = logged("redaction")
    assert (artifact.id, "env", 3) == (record.artifact_id, record.tool_name, record.secrets)
    assert (artifact.id, "env", 3) == (
        event.artifact_id,
        event.detail["tool"],
        sum(event.detail["counts"].values()),
    )
    told = recorded + repr([fields(each) for each in logged()])
    assert token not in told
    assert "hunter2" not in told


def test_no_record_has_any_content(tmp_path, logged):
    """Not the output, not the command, not what is looked for or sent, not why something failed."""
    mark = f"mark{secrets.token_hex(8)}"
    token = "ghp_" + "a1B2" * 8 + mark[-4:]
    store = Store(tmp_path, **NO_FLOORS, session_quota=3_000_000)
    with store.session("chat") as session:
        tools = Toolbox(session)
        sent = {
            "bash": [
                {"command": f"seq 1 9000; echo {mark}; echo token={token}"},
                {"command": f"echo {mark}; exit 3"},
                {"command": f"/nonexistent/{mark}"},
                {"command": f"echo {mark}\0"},
                {"command": mark, "timeout": mark},
                {"check_pid": mark},
            ],
            "get_artifact": [{"id": mark}, {"id": "@last", "query": f"$.{mark}"}, {"start_line": mark}],
            "search_artifact": [{"id": "@last", "pattern": mark}, {"id": mark, "pattern": f"({mark}"}],
            "compare_artifacts": [{"id": mark, "base": mark}],
            "list_artifacts": [{"source": mark}, {"cursor": mark}],
            "artifact_info": [{"id": mark}],
            mark: [{mark: mark}],
        }
        for name, calls in sent.items():
            for call in calls:
                tools.call_sync(name, call, tool_call_id="call_1")
                asyncio.run(tools.call(name, call))
        artifact = session.put(f"{mark}\n" * 20_000, source="cat", command=f"cat {mark}")
        for tool in (get_artifact, artifact_info):
            tool(session, id=artifact.id)
            tool(session, id=mark)
        get_artifact(session, id=artifact.id, start_line=mark, stream=mark)
        search_artifact(session, id=artifact.id, pattern=mark)
        compare_artifacts(session, id=artifact.id, base=mark)
        list_artifacts(session, source=mark)
        for call in (
            lambda: artifact.read_lines(mark, mark),
            lambda: artifact.read_bytes(0, 5, stream=mark),
            lambda: artifact.search(f"({mark}"),
            lambda: artifact.query(f"$[{mark}"),
            lambda: artifact.export(tmp_path / mark / mark),
            lambda: session.put(mark, source="x", policy=mark),
        ):
            with pytest.raises((SpillstoreError, OSError)):
                call()
        artifact.export(tmp_path / mark)
        session.note("preview", {"tool": "t", mark: mark, "strategy": mark})
        session.note(mark, {mark: mark})
        artifact.record("read", {"outcome": "ok", mark: mark})

        def pieces():
            yield mark.encode() * 100_000
            raise ValueError(mark)

        processor = TruncationProcessor(session)
        with pytest.raises(ValueError, match=mark):
            processor.process(pieces(), "t")
        with pytest.raises(ContentError):
            processor.process({mark: object()}, "t", command=mark)
        processor.process({mark: [mark] * 20_000}, "t")
        spill = Spill(lambda: session, profile("default"), source="t", command=mark)
        spill.write(mark.encode() * 100_000)
        spill.abort(mark)
        with pytest.raises(RuntimeError), session.create(source="t") as writer:
            writer.write(mark)
            raise RuntimeError(mark)

        def explode(stream, data):
            raise ValueError(data)

        with pytest.raises(SpillstoreError):
            session_writer = session.create(source="t", tap=explode)
            session_writer.write(f"{mark}\n")
            session_writer.close()
        with closing(connect(tmp_path / "_" / "chat" / "session.db")) as connection, connection:
            connection.execute("UPDATE chunk SET digest = zeroblob(32)")
        with pytest.raises(IntegrityError):
            artifact.tail(1)
        session.end()
    kinds = {record.event for record in logged() if hasattr(record, "event")}
    # What only a full session or a deleted one has takes nothing that could be content.
    assert (
        set(log_lines.LINES) - {"evict", "unevictable", "limit", "delete_session", "copy_session", "lost"}
        <= kinds
    )
    assert "output" in kinds
    told = [(record.msg, record.args, fields(record)) for record in logged()]
    assert [] == [each for each in told if mark in repr(each) or token[:20] in repr(each)]


def test_the_traceback_of_a_hook_is_told_and_its_name(logged):
    """What a hook of the caller's raises is the one thing that comes with its own words."""

    def hook():
        raise ValueError("mine")

    assert not guarded(hook)
    (record,) = logged()
    assert record.hook.endswith("hook")
    assert record.exc_info[0] is ValueError


@pytest.mark.long
def test_a_library_is_silent():
    """Without a configured log nothing is printed, whatever goes wrong."""
    script = (
        "import tempfile\nfrom spillstore import Store\n"
        "with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session('s') as session:\n"
        "    session.put(b'x' * 100_000, limit=1000)\n"
        "    writer = session.create()\n    writer.write(b'y')\n    writer.abort('why')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (b"", b"") == (done.stdout, done.stderr)


def test_no_field_hides_one_of_the_record():
    """A name that a record has already would be refused by ``logging`` when the line is told."""
    lines = [*log_lines.LINES.values(), *catalogue.OUTPUTS.values()]
    ours = {name for line in lines for name in line.fields.values()}
    ours |= {"event", "session", "artifact_id", "artifact_created", "seconds"}
    assert set() == ours & PLAIN


def test_the_manual_tells_every_line():
    """The table of ``docs/metrics.md`` has each kind with its level, its message and its fields."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[1] in {"DEBUG", "INFO", "WARNING", "ERROR"}:
            for kind in re.findall(r"`([\w ]+)`", cells[0]):
                found[kind] = (cells[1], cells[2], set(re.findall(r"`(\w+)`", cells[3])))
    expected = {
        kind: (logging.getLevelName(line.level), line.message, set(line.fields.values()))
        for kind, line in log_lines.LINES.items()
    }
    expected |= {
        f"output {outcome}": (logging.getLevelName(line.level), line.message, set(line.fields.values()))
        for outcome, line in catalogue.OUTPUTS.items()
    }
    assert expected == found
