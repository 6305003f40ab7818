"""The views of a session's file, and the functions that decode chunks, for whoever opens it with ``sqlite3``."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing

import pytest
from support import ROOT

from spillstore import Store, sqlite_functions
from spillstore.engine.sqlite import file_schema
from spillstore.engine.sqlite import sql as _sql

pytestmark = pytest.mark.files

DATA = b"".join(b"line %d\n" % number for number in range(1, 20_001))


@pytest.fixture
def file(plain_store):
    """A session of two tools; one artifact was read, by two, one never; one has lost some; two have met limits."""
    with plain_store.session("test") as session:
        read = session.put(DATA, source="make", command="make test")
        session.put(DATA[:-1], source="make")
        session.put(DATA, source="cat", limit=65536, policy="roll")
        with session.acting("model", "call_7"):
            read.read_lines(5, 6)
        read.tail(1)
        session.exists("x")
        session.note(
            "redaction", {"tool": "make", "counts": {"password": 2, "token": 1}}, artifact_id=read.id
        )
        session.note("preview", {"tool": "make", "truncated": True, "received": 1000, "shown": 100})
        session.count_passed("make", 50, calls=4)
        ids = [info.id for info in session.infos()][::-1]
        lines = [info.lines for info in session.infos()][::-1]
    return plain_store.root / "_" / "test" / "session.db", ids, lines


def rows(file, sql, *values):
    with closing(sqlite3.connect(f"file:{file[0]}?mode=ro", uri=True)) as connection:
        sqlite_functions.register(connection)
        return connection.execute(sql, values).fetchall()


def test_artifacts_have_their_lines_and_times_as_text(file):
    """Lines are those that the library tells, times are ISO 8601 in UTC, and what has lost some says so."""
    found = rows(file, "SELECT artifact_id, lines, dropped, created FROM v_artifacts ORDER BY created")
    assert [(row[0], row[1], row[2]) for row in found] == list(zip(file[1], file[2], [0, 0, 1], strict=True))
    assert all(row[3][10] == "T" and row[3].endswith("Z") for row in found)


def test_what_was_never_read(file):
    """The artifacts without a read that had an answer."""
    assert rows(file, "SELECT artifact_id FROM v_never_read ORDER BY created") == [
        (name,) for name in file[1][1:]
    ]


def test_what_the_model_read_of_an_artifact(file):
    """Ranges, sizes and the tool call."""
    sql = "SELECT tool_call_id, first_line, last_line, bytes, outcome FROM v_reads WHERE actor = 'model' AND artifact_id = ?"
    assert rows(file, sql, file[1][0]) == [("call_7", 5, 6, 14, "ok")]


def test_sums_for_each_tool(file):
    """What was spilled, and what was shown."""
    assert rows(file, "SELECT tool, artifacts, size, with_losses FROM v_spilled_per_tool ORDER BY tool") == [
        ("cat", 1, len(DATA), 1),
        ("make", 2, 2 * len(DATA) - 1, 0),
    ]
    assert rows(file, "SELECT * FROM v_calls_per_tool") == [("make", 5, 1, 1050, 150)]


def test_secrets_limits_and_refusals(file):
    """Counts of what was removed, limits with both numbers; ``exists`` is no refusal."""
    assert rows(file, "SELECT tool, secret, count FROM v_redactions ORDER BY secret") == [
        ("make", "password", 2),
        ("make", "token", 1),
    ]
    ((name, tool, size, most),) = rows(file, "SELECT limit_name, tool, size, most FROM v_limits")
    assert ("artifact_limit", "cat", 65536) == (name, tool, most)
    assert most < size <= len(DATA)  # as much as had come when it was met
    assert rows(file, "SELECT * FROM v_denied") == []


CHUNKS = "FROM chunk JOIN artifact USING (session_key, artifact_key) WHERE artifact_id = ? ORDER BY seq"


def test_chunks_are_decoded(file):
    """The chunks of an artifact in order are its bytes, and so is their text."""
    sql = f"SELECT spillstore_chunk(artifact_id, seq), spillstore_text(artifact_id, seq) {CHUNKS}"
    for name, size in zip(file[1], (len(DATA), len(DATA) - 1), strict=False):
        found = rows(file, sql, name)
        assert b"".join(raw for raw, _ in found) == DATA[:size]
        assert "".join(text for _, text in found) == DATA[:size].decode()


def test_chunks_of_older_files_and_of_lines_that_end_in_cr_are_decoded(tmp_path, plain_store):
    """A file of the first schema, whose chunks have fewer columns; an artifact whose digests say that CR ends its lines."""
    older = tmp_path / "session.db"
    older.write_bytes(gzip.decompress((ROOT / "tests/data/sessions/schema-1/plain.db.gz").read_bytes()))
    with closing(sqlite3.connect(f"file:{older}?mode=ro", uri=True)) as connection:
        sqlite_functions.register(connection)
        columns = "artifact_id, spillstore_chunk(artifact_id, seq)"
        sql = f"SELECT {columns} FROM artifact JOIN chunk USING (session_key, artifact_key) ORDER BY 1, seq"
        found = connection.execute(sql).fetchall()
    with Store.open_file(older) as session:
        for artifact in session.artifacts():
            assert artifact.read(holes="skip") == b"".join(raw for name, raw in found if name == artifact.id)
    with plain_store.session("cr") as session:
        name = session.put(b"one\rtwo\r", source="x").id
        assert session.artifact(name).info.newline == "cr"
    sql = f"SELECT spillstore_text(artifact_id, seq) {CHUNKS}"
    assert rows((plain_store.root / "_" / "cr" / "session.db",), sql, name) == [("one\rtwo\r",)]


def test_nothing_is_nothing(file):
    """NULL in, NULL out."""
    assert rows(file, "SELECT spillstore_text(NULL, 0), spillstore_chunk(?, NULL)", file[1][0]) == [
        (None, None)
    ]


@pytest.mark.parametrize("column", ["data", "segments", "line_start", "time_end", "digest", "seq"])
def test_a_chunk_that_is_not_what_was_stored_is_an_error(file, tmp_path, column):
    """Whatever was changed in its row."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(file[0].read_bytes())
    value = {
        "data": "CAST(data || x'00' AS BLOB)",
        "segments": "x'01'",
        "digest": "zeroblob(32)",
        "seq": "seq + 100",
    }
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(f"UPDATE chunk SET {column} = {value.get(column, f'{column} + 1')}")
    with pytest.raises(sqlite3.OperationalError, match="user-defined function"):
        rows((copy,), f"SELECT spillstore_text(artifact_id, seq) {CHUNKS}", file[1][0])


@pytest.mark.parametrize("asked", ["'art_1_a', 0", "artifact_id, 99", "artifact_id, 'x'", "x'00', 0"])
def test_a_chunk_that_is_not_there_is_an_error(file, asked):
    """It is never an empty text."""
    with pytest.raises(sqlite3.OperationalError, match="user-defined function"):
        rows(file, f"SELECT spillstore_text({asked}) FROM artifact")


def test_chunks_with_a_digest_key_need_it(tmp_path):
    """It is that of the store, given or named by the setting; without it nothing is decoded."""
    key = b"k" * 32
    with Store(tmp_path, digest_key=key, free_disk_floor=0).session("keyed") as session:
        name = session.put(DATA, source="x").id
    path = tmp_path / "_" / "keyed" / "session.db"
    sql = f"SELECT spillstore_text(artifact_id, seq) {CHUNKS}"
    with pytest.raises(sqlite3.OperationalError, match="user-defined function"):
        rows((path,), sql, name)
    with closing(sqlite3.connect(path)) as connection:
        sqlite_functions.register(connection, digest_key=key)
        assert "".join(text for (text,) in connection.execute(sql, (name,))) == DATA.decode()


def test_every_view_can_be_read_and_none_is_read_by_us(file):
    """All views have rows or none, without an error; no statement of the store names one."""
    names = [statement.split()[2] for statement in file_schema.VIEWS]
    for name in names:
        rows(file, f"SELECT * FROM {name}")
    statements = [text for name, text in vars(_sql).items() if name.isupper() and isinstance(text, str)]
    assert not [text for text in statements if any(name in text for name in names)]
