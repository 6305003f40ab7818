"""What the stored-format page says is what stands in a session's file."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from spillstore import Store
from spillstore.engine.relational import schema as _schema
from spillstore.model import ids as _ids

TABLES = ["session", "artifact", "chunk"]


@pytest.fixture
def file(tmp_path):
    """The file of a session in which one artifact was stored, exported and deleted, and another was interrupted."""
    store = Store(tmp_path, free_disk_floor=0)
    with store.session("documented", project="web") as session:
        artifact = session.put("hush\npst\n", source="doc", tool_call_id="call_1", content_type="text/plain")
        artifact.export(tmp_path / "copy")
        artifact.delete()
        writer = session.create(source="bash", tool_call_id="call_2")
        writer.abort("the test says so")
    return tmp_path / "web" / "documented" / "session.db"


def described(table: str) -> list[str]:
    """The columns that the page describes, the short forms written out."""
    _, _, after = (_schema.__doc__ or "").partition(f"\n``{table}``")
    heading, rows = after.split("    ==================  =======")[1:3]
    body = rows if "column " in heading else heading  # the first table alone has a heading
    names = re.findall(r"^    (?! )(.+?)  +(?:int|text|blob) ", body, re.MULTILINE)
    out = []
    for name in (part for line in names for part in line.split(", ")):
        if name == "``stderr_...``":
            out += ["stderr_start", "stderr_size", "stderr_line_start", "stderr_lines"]
        elif name.endswith("_size/lines"):
            out += [name.replace("/lines", ""), name.replace("size/", "")]
        else:
            out.append(name)
    return out


@pytest.mark.parametrize("table", TABLES)
def test_the_page_describes_every_column_in_order(table):
    """The table of the page and the table of the schema have the same columns; keys that are always there aside."""
    columns = [column.name for column in _schema.metadata.tables[table].columns]
    keys = {"session": [], "artifact": ["session_key"], "chunk": ["session_key", "artifact_key"]}[table]
    assert described(table) == [name for name in columns if name not in keys]


def test_the_file_has_the_marks_that_the_page_names(file):
    """Page size, vacuum mode, application id and version number, and one revision for Alembic."""
    with closing(sqlite3.connect(file)) as connection, connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "auto_vacuum", "application_id", "user_version")
        }
        revisions = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    connection.close()
    assert pragmas == {"page_size": 2048, "auto_vacuum": 2, "application_id": 0x5370696C, "user_version": 2}
    assert revisions == [("0002",)]


def test_the_event_table_traces_every_operation(file):
    """Creation, seal, export, deletion and interruption, each with its artifact, tool call, time and size."""
    with closing(sqlite3.connect(file)) as connection, connection:
        rows = connection.execute(
            "SELECT kind, tool_call_id, artifact_id, at_us, detail FROM event ORDER BY event_key"
        ).fetchall()
    connection.close()
    assert [row[0] for row in rows] == ["create", "seal", "export", "delete", "create", "interrupt"]
    assert [row[1] for row in rows if row[0] != "export"] == [
        "call_1",
        "call_1",
        "call_1",
        "call_2",
        "call_2",
    ]
    assert all(_ids.ARTIFACT_ID.fullmatch(row[2]) and row[3] > 0 for row in rows)
    details = [json.loads(row[4]) for row in rows]
    assert details[0] == {"source": "doc"}
    assert details[1]["size"] == 9
    assert details[5]["reason"] == "the test says so"


def test_events_hold_no_content(file):
    """What a tool printed stands in no event."""
    with closing(sqlite3.connect(file)) as connection, connection:
        text = repr(connection.execute("SELECT * FROM event").fetchall())
    connection.close()
    assert "hush" not in text


def test_artifact_ids_look_as_documented_and_cannot_be_guessed():
    """``art_``, milliseconds, 64 random bits: within one millisecond ten thousand ids differ."""
    ids = {_ids.new_artifact_id(1_699_234_567.89) for _ in range(10_000)}
    assert len(ids) == 10_000
    assert all(re.fullmatch(r"art_1699234567890_[0-9a-f]{16}", name) for name in ids)
