"""One set of statements, two ways to run them; and what the planner makes of them."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from pathlib import Path
from typing import get_type_hints

import pytest
from support import NO_FLOORS, ManualClock

import spillstore
from spillstore.engine.relational import schema
from spillstore.engine.rows import EVENT_FIELDS, NewEvent
from spillstore.engine.sqlite import database as _database
from spillstore.engine.sqlite import rendering as _rendering
from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import DiskFullError, IntegrityError, ReadOnlyError, SpillstoreError, StorageError
from spillstore.format import chunk_codec
from spillstore.model import records, validation


def test_the_rendered_statements_are_those_of_the_schema():
    """``sql.py`` is exactly what ``rendering.py`` makes of the statements today."""
    assert Path(_sql.__file__).read_text() == _rendering.render()


def test_rows_have_the_columns_of_the_schema():
    """The row types name the columns in the order in which statements bring them."""
    assert _sql.CHUNK_COLUMNS == chunk_codec.ChunkRow._fields
    assert _sql.ARTIFACT_COLUMNS == records.ArtifactRow._fields
    assert _sql.SESSION_COLUMNS == records.SessionRow._fields


def test_events_have_the_fields_of_the_schema():
    """What engines give of an event, and what they are given to write, are the columns of its table."""
    columns = [column.name for column in schema.event.columns]
    assert columns == ["session_key", *EVENT_FIELDS, "shown"]
    assert columns == ["session_key", "event_key", *NewEvent._fields]


@pytest.mark.parametrize("name", ["session", "artifact", "chunk", "event"])
def test_the_description_of_a_table_has_its_columns(name):
    """The stored format is documented column by column, each with its type, in the order of the table."""
    text = schema.__doc__.split(f"\n``{name}``")[1].split("\n\n")[0]
    described = re.findall(r"^    (\w+) +(int|text|blob) ", text, re.MULTILINE)
    types = {"BIGINT": "int", "TEXT": "text", "BLOB": "blob"}
    columns = [(column.name, types[str(column.type)]) for column in schema.metadata.tables[name].columns]
    assert [each for each in columns if not each[0].endswith("_key") or each in described] == described


def test_a_value_of_another_type_is_noticed_in_every_field():
    """The checks of a row follow from the types of its fields: each refuses what its column would take."""
    sound = dict.fromkeys(records.ArtifactRow._fields, 0)
    for field, hint in get_type_hints(records.ArtifactRow).items():
        sound[field] = {int: 0, str: ""}.get(hint)
    sound = records.ArtifactRow(**sound)
    assert validation.types_fit(sound)
    for field in set(sound._fields) - {"digest"}:
        for wrong in (1.5, [], True, b"x"):
            assert not validation.types_fit(sound._replace(**{field: wrong})), field


LOOK_UPS = {
    "RANGE_COMBINED": ("sqlite_autoindex_chunk_1", "seq>? AND seq<?"),
    "LINE_COMBINED": ("ix_chunk_line", "line_start<?"),
    "TIME_COMBINED": ("ix_chunk_time", "time_start<?"),
    "RANGE_STDOUT": ("ix_chunk_stdout_byte", "stdout_start>? AND stdout_start<?"),
    "BYTE_STDOUT": ("ix_chunk_stdout_byte", "stdout_start<?"),
    "LINE_STDOUT": ("ix_chunk_stdout_line", "stdout_line_start<?"),
    "RANGE_STDERR": ("ix_chunk_stderr_byte", "stderr_start>? AND stderr_start<?"),
    "BYTE_STDERR": ("ix_chunk_stderr_byte", "stderr_start<?"),
    "LINE_STDERR": ("ix_chunk_stderr_line", "stderr_line_start<?"),
}


@pytest.fixture
def connection(plain_store):
    with plain_store.session("plans") as session, session._engine.reader() as connection:
        yield connection


@pytest.mark.files
@pytest.mark.parametrize("name", LOOK_UPS)
def test_each_look_up_is_one_descent_of_its_index(connection, name):
    """The planner searches the index made for the look-up, with its bound, and never sorts."""
    index, bound = LOOK_UPS[name]
    sql = getattr(_sql, name)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", (1,) * sql.count("?"))]
    assert [f"SEARCH chunk USING INDEX {index} (session_key=? AND artifact_key=? AND {bound})"] == plan


@pytest.mark.files
@pytest.mark.parametrize(
    "name",
    [
        "ARTIFACT_GET",
        "ARTIFACTS_PAGE",
        "ARTIFACTS_UNFINISHED",
        "ARTIFACTS_CREATED_SINCE",
        "ARTIFACTS_MATCHING",
    ],
)
def test_no_artifact_statement_scans_or_sorts(connection, name):
    """Finding and listing artifacts walks an index in its own order."""
    sql = getattr(_sql, name)
    parameters = dict.fromkeys(re.findall(r":(\w+)", sql), 1)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    assert all(step.startswith("SEARCH") for step in plan), plan


def steps_of(connection, call) -> int:
    """Virtual machine steps of SQLite during a call, in tens."""
    steps = 0

    def count():
        nonlocal steps
        steps += 1

    connection.set_progress_handler(count, 10)
    try:
        call()
    finally:
        connection.set_progress_handler(None, 0)
    return steps


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """Artifacts of 30 and of 3,000 chunks with a line of stderr in every hundredth chunk, and one of a single line."""
    clock = ManualClock()
    store = spillstore.Store(tmp_path_factory.mktemp("sizes"), clock=clock, **NO_FLOORS)
    with store.session("sizes") as session:
        artifacts = []
        for chunks in (30, 3000):
            with session.create(policy="stop", limit=2**30) as writer:
                for index in range(chunks):
                    clock.advance(0.01)
                    writer.write(b"".join(b"%07d %055d\n" % (index, line) for line in range(1024)))
                    if index % 100 == 5:
                        writer.write(b"rare\n", stream="stderr")
            artifacts.append(session.artifact(writer.id))
        yield session, artifacts, session.put(b"x" * 20_000_000)
        session.check()


READS = {
    "64 KiB": lambda a, info: a.read_bytes(info.size // 2, info.size // 2 + 65536),
    "100 lines": lambda a, info: a.read_lines(info.lines // 2, info.lines // 2 + 99),
    "the last lines": lambda a, info: a.tail(20),
    "a line of stderr": lambda a, info: a.read_lines(info.stderr.lines, info.stderr.lines, stream="stderr"),
    "bytes of stdout": lambda a, info: a.read_bytes(
        info.stdout.size // 2, info.stdout.size // 2 + 10, stream="stdout"
    ),
    "a moment": lambda a, info: a.read_time(0.1, 0.12),
}


@pytest.mark.parametrize("name", READS)
def test_the_cost_of_a_read_does_not_grow_with_the_artifact(sizes, name, monkeypatch):
    """Rows stepped and chunks decoded depend on what is asked for: the same at 30 and at 3,000 chunks."""
    session, artifacts, _ = sizes
    decoded = 0
    decode = chunk_codec.decode

    def counting(row):
        nonlocal decoded
        decoded += 1
        return decode(row)

    monkeypatch.setattr(chunk_codec, "decode", counting)
    costs = []
    for artifact in artifacts:
        info = artifact.info
        decoded = 0
        (connection,) = session._engine.store._pool._readers
        steps = steps_of(connection, lambda: READS[name](artifact, info))  # noqa: B023  # called at once
        costs.append((decoded, steps))
    (few, few_steps), (many, many_steps) = costs
    assert many <= few + 1  # the same range may lie across one more border
    assert 1 <= many <= 3
    assert many_steps <= few_steps * 2 + 20


def test_one_line_over_many_chunks_is_found_at_once(sizes, monkeypatch):
    """An artifact that is one single line: its end is found without walking its 305 chunks."""
    _, _, artifact = sizes
    decoded = []
    decode = chunk_codec.decode
    monkeypatch.setattr(chunk_codec, "decode", lambda row: decoded.append(row.seq) or decode(row))
    assert b"" == artifact.read_lines(2, 2)
    assert [] == decoded
    assert b"xxxxx" == artifact.read_bytes(19_999_995, 20_000_100)
    assert 1 == len(decoded)


def test_foreign_exceptions_become_ours():
    """Whatever sqlite3 raises, a caller sees one of ours."""
    for kind in (
        sqlite3.OperationalError,
        sqlite3.DatabaseError,
        sqlite3.InterfaceError,
        sqlite3.ProgrammingError,
    ):
        with pytest.raises(SpillstoreError), _database.translated("testing"):
            raise kind("some text")
    for number, kind in (
        (errno.ENOSPC, DiskFullError),
        (errno.EACCES, ReadOnlyError),
        (errno.EIO, StorageError),
    ):
        with pytest.raises(kind, match="testing failed"), _database.translated("testing"):
            raise OSError(number, os.strerror(number))


@pytest.mark.files
def test_a_lack_of_memory_is_told(plain_store, monkeypatch):
    """Where SQLite or Python get no memory, a caller sees an error of ours that says so."""
    with (
        pytest.raises(StorageError, match=r"opening x failed: there is not enough memory"),
        _database.translated("opening x"),
    ):
        raise MemoryError
    with plain_store.session("memory") as session:
        artifact = session.put(b"one\n")
        with monkeypatch.context() as patch:
            patch.setattr(chunk_codec, "decode", lambda row: [row] * 2**60)
            with pytest.raises(
                StorageError, match=f"reading {artifact.id} failed: there is not enough memory"
            ):
                artifact.read_bytes(0, 4)


def test_a_disk_that_cannot_be_read_is_not_ruled_out():
    """SQLite says of EIO that the file is damaged; so whoever is told that is told of both."""
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with (
        pytest.raises(IntegrityError, match="damaged, or its disk cannot be read"),
        _database.translated("x"),
    ):
        raise error
