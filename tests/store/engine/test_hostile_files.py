"""Session files that were made or changed to do harm: each opens with a clear error or not at all, and executes nothing."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import hostile
import pytest
import zstandard
from support import FACTOR, NO_FLOORS, SEED

from spillstore import Store
from spillstore.engine.sqlite import database, schema_check
from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import (
    DamageError,
    IntegrityError,
    NotASessionError,
    SchemaTooNewError,
    SessionNotFoundError,
    SpillstoreError,
    UnsafeRootError,
)
from spillstore.format import chunk_codec, segment_map
from spillstore.settings import Settings


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A session's file, in one piece, and the ids of what it holds."""
    folder = tmp_path_factory.mktemp("original")
    path, ids = hostile.make_session(folder / "root")
    return path.read_bytes(), ids


@pytest.fixture
def path(original, tmp_path):
    """A copy where a session belongs; whatever reads it may be told to."""
    path = tmp_path / "root" / "_" / "test" / "session.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(original[0])
    path.chmod(0o600)
    return path


def run(path, *statements, mode="DELETE"):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA legacy_alter_table = ON")  # so that a table can be renamed under its views
        for statement in statements:
            connection.execute(statement)


def openings(path):
    """Every way to open the file."""
    store = Store(path.parent.parent.parent, **NO_FLOORS)
    return (
        lambda: Store.open_file(path),
        lambda: store.session("test", read_only=True),
        lambda: store.session("test"),
    )


def assert_refused(path, error=DamageError, match=None):
    before = path.read_bytes()
    for opening in openings(path):
        with pytest.raises(error, match=match):
            opening()
    assert before == path.read_bytes()


# --- the schema -------------------------------------------------------------------------------------------

WRITABLE = "PRAGMA writable_schema = ON"
SCHEMAS = {
    "trigger": ("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM artifact; END",),
    "temp view": ("CREATE VIEW extra AS SELECT 1",),
    "view in place of a table": (
        "ALTER TABLE event RENAME TO hidden",
        "CREATE VIEW event AS SELECT * FROM hidden",
    ),
    "another view of ours": (
        "DROP VIEW v_events",
        "CREATE VIEW v_events AS SELECT load_extension('x') AS event_key",
    ),
    "virtual table": ("CREATE VIRTUAL TABLE extra USING fts5(a)",),
    "virtual table over one of ours": ("CREATE VIRTUAL TABLE extra USING fts5(command, content=artifact)",),
    "generated column of another table": ("CREATE TABLE extra (a, b AS (printf('%.99999d', a)))",),
    "check of another table": ("CREATE TABLE extra (a CHECK(randomblob(1000000000)))",),
    "check behind a comment": ("CREATE TABLE extra (a /* ' */ CHECK (randomblob(1000000000)) /* ' */)",),
    "expression over another table": ("CREATE TABLE extra (a)", "CREATE INDEX other ON extra (abs(a))"),
    "condition over another table": (
        "CREATE TABLE extra (a)",
        "CREATE INDEX other ON extra (a) WHERE abs(a) > 1",
    ),
    "unique index": ("CREATE UNIQUE INDEX extra ON event (event_key)",),
    "index with a condition": ("CREATE INDEX extra ON event (event_key) WHERE abs(event_key) > 1",),
    "trigger on another table": (
        "CREATE TABLE extra (a)",
        "CREATE TRIGGER t AFTER INSERT ON extra BEGIN DELETE FROM artifact; END",
    ),
    "one of our names in other letters": (
        WRITABLE,
        (
            "INSERT INTO sqlite_master SELECT type, 'CHUNK', 'CHUNK', rootpage, replace(sql, 'TABLE chunk', 'TABLE CHUNK') "
            "FROM sqlite_master WHERE name = 'chunk'"
        ),
    ),
    "one of our tables under another name": (
        WRITABLE,
        "INSERT INTO sqlite_master SELECT type, 'extra', 'extra', rootpage, sql FROM sqlite_master WHERE name = 'chunk'",
    ),
    "a name of SQLite's": (
        "CREATE TABLE extra (a)",
        WRITABLE,
        (
            "UPDATE sqlite_master SET name = 'sqlite_extra', tbl_name = 'sqlite_extra', sql = 'CREATE TABLE sqlite_extra (a)' "
            "WHERE name = 'extra'"
        ),
    ),
    "too many tables": tuple(f"CREATE TABLE extra{number} (a)" for number in range(201)),
    "generated column": ("ALTER TABLE artifact ADD COLUMN extra AS (printf('%.999999999d', size))",),
    "check": (
        "CREATE TABLE other (session_key BIGINT NOT NULL CHECK (randomblob(1000000000)), event_key BIGINT)",
        "DROP TABLE event",
        "ALTER TABLE other RENAME TO event",
    ),
    "default": ("ALTER TABLE event ADD COLUMN extra DEFAULT 5",),
    "index on an expression": ("CREATE INDEX extra ON event (abs(event_key))",),
    "missing table": ("DROP TABLE event",),
    "missing index": ("DROP INDEX ix_chunk_time",),
    "missing view": ("DROP VIEW v_events",),
    "missing column": (
        "DROP VIEW v_events",
        "CREATE TABLE other AS SELECT session_key, event_key FROM event",
        "DROP TABLE event",
        "ALTER TABLE other RENAME TO event",
    ),
    "another type": (
        WRITABLE,
        "UPDATE sqlite_master SET sql = replace(sql, 'BLOB', 'TEXT') WHERE name = 'chunk'",
    ),
    "without rowid": (
        WRITABLE,
        "UPDATE sqlite_master SET sql = sql || ' WITHOUT ROWID' WHERE name = 'chunk'",
    ),
    "no statement": (WRITABLE, "UPDATE sqlite_master SET sql = 'hello' WHERE name = 'chunk'"),
    "a number for a statement": (WRITABLE, "UPDATE sqlite_master SET sql = 1.5 WHERE name = 'chunk'"),
    "a name of bytes": (WRITABLE, "UPDATE sqlite_master SET name = x'ff' WHERE name = 'ix_chunk_time'"),
    "an object twice": (
        WRITABLE,
        "INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'chunk'",
    ),
    "another root page": (WRITABLE, "UPDATE sqlite_master SET rootpage = 1 WHERE name = 'session'"),
    "a root page past the end": (
        WRITABLE,
        "UPDATE sqlite_master SET rootpage = 99999999 WHERE name = 'session'",
    ),
    "a deep expression": (f"CREATE VIEW extra AS SELECT {'+'.join('1' * 900)}",),
}


@pytest.mark.parametrize("make", [None, hostile.make_earlier])
@pytest.mark.parametrize("name", SCHEMAS)
def test_any_other_schema_is_refused(path, name, make):
    """A trigger, a view, a column, default or check, an index that evaluates or constrains, or one of ours missing: it never opens.

    In a file of an earlier schema neither; it is not upgraded either.
    """
    if make is not None:
        make(path)
        with Store.open_file(path) as session:
            session.check()
    run(path, *SCHEMAS[name])
    assert_refused(path)


def test_a_trigger_never_fires(path):
    """A file with a trigger is refused before anything is written, by a writer too, so it does nothing."""
    run(path, "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM artifact; END")
    assert_refused(path, match="trigger 't'")
    with closing(sqlite3.connect(path)) as connection:
        assert (4,) == connection.execute("SELECT count(*) FROM artifact").fetchone()


def test_what_is_compared_is_what_we_make(path):
    """The expected schema is the rendered one: a new file's is accepted at the first look, object by object."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    assert sorted(map(str, rows)) == sorted(map(str, schema_check.expected(_sql.SCHEMA_NUMBER).values()))
    assert {name for _, name, _, sql in rows if sql} == {
        schema_check._OBJECT.match(statement)[2] for statement in (*_sql.DDL, schema_check.ALEMBIC_TABLE)
    }


def test_white_space_may_differ(path, original):
    """What Alembic has written in lines is the same schema."""
    run(path, WRITABLE, "UPDATE sqlite_master SET sql = replace(sql, ', ', ', \n\t') WHERE name = 'chunk'")
    with Store.open_file(path) as session:
        assert session.artifact(original[1][0]).read_bytes(0, 7) == b"line 0\n"


def test_no_statement_of_ours_reads_a_view():
    """The views are for people; what we run names tables alone."""
    statements = [value for name, value in vars(_sql).items() if name.isupper() and isinstance(value, str)]
    assert 20 < len(statements)
    assert not [statement for statement in statements if " v_" in statement]


@pytest.mark.parametrize("read_only", [True, False])
def test_every_connection_distrusts_its_file(path, read_only):
    """No schema is trusted, every cell is checked, nothing can be attached, no key is followed, no row is above 16 MiB."""
    with closing(database.connect(path, Settings(), read_only=read_only)) as connection:
        assert (0,) == connection.execute("PRAGMA trusted_schema").fetchone()
        assert (1,) == connection.execute("PRAGMA cell_size_check").fetchone()
        assert (0,) == connection.execute("PRAGMA foreign_keys").fetchone()
        with pytest.raises(sqlite3.Error, match="too many attached"):
            connection.execute("ATTACH ':memory:' AS other")
        with pytest.raises(sqlite3.Error, match="too big"):
            connection.execute("SELECT zeroblob(16 * 1024 * 1024 + 1)").fetchone()


def test_a_foreign_file_is_not_mapped(path):
    """A file that somebody sent is read, not mapped: one that becomes shorter meanwhile would kill the reader."""
    for foreign, expected in ((True, 0), (False, 1024**3)):
        with closing(database.connect(path, Settings(), read_only=True, foreign=foreign)) as connection:
            assert (expected,) == connection.execute("PRAGMA mmap_size").fetchone()


def test_a_row_that_is_too_long_is_said_to_be(path):
    """The same limit holds for what is written: a command of 17 MiB is refused with the limit, and nothing is stored."""
    with Store(path.parent.parent.parent, **NO_FLOORS).session("test") as session:
        with pytest.raises(SpillstoreError, match="16777216 bytes"):
            session.put(b"x", command="c" * 17 * 1024**2)
        assert 4 == len(session.artifacts())


# --- what kind of file it is ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("PRAGMA application_id = 0", NotASessionError),
        ("PRAGMA user_version = 99", SchemaTooNewError),
        ("PRAGMA user_version = -1", IntegrityError),
    ],
)
def test_another_kind_or_version_is_named(path, statement, error):
    """The application's id and the schema's number are looked at first."""
    run(path, statement)
    with pytest.raises(error):
        Store.open_file(path)


@pytest.mark.parametrize("size", [512, 4096, 65536])
def test_any_page_size_is_read(path, original, size):
    """A file that was rewritten with another page size is the same session."""
    run(path, "PRAGMA auto_vacuum = 0", f"PRAGMA page_size = {size}", "VACUUM")
    with Store.open_file(path) as session:
        session.check()
        assert b"line 0\n" == session.artifact(original[1][0]).read_lines(1, 1)


def test_what_is_no_database_is_refused(path, original):
    """Noise, text, and a session cut in its first page. A file of nothing is refused to who reads; who writes begins anew."""
    for content in (os.urandom(8192), b"text\n" * 1000, original[0][:100], original[0][:1000]):
        path.write_bytes(content)
        assert_refused(path)
    for content in (b"", original[0][:16], bytes(8192)):
        path.write_bytes(content)
        with pytest.raises(DamageError):
            Store.open_file(path)
        with pytest.raises(DamageError):
            Store(path.parent.parent.parent, **NO_FLOORS).session("test", read_only=True)
        with Store(path.parent.parent.parent, **NO_FLOORS).session("test") as session:
            assert [] == list(session.artifacts())
            session.check()


def test_what_is_no_file_is_refused_at_once(path, tmp_path):
    """A pipe, a device, a folder and a link to nowhere are no session; nobody waits for the pipe."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "link"):
        with pytest.raises(SessionNotFoundError):
            Store.open_file(name)
    for make in (os.mkfifo, lambda name: os.symlink("/dev/zero", name), os.mkdir):
        path.unlink()
        make(path)
        with pytest.raises(UnsafeRootError):
            Store(path.parent.parent.parent).session("test", read_only=True)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        path.write_bytes(b"")


def test_a_file_that_changes_while_it_is_read_gives_no_wrong_bytes(path, original):
    """Cut and grown by turns under an open reader: right bytes or an error of ours, and the reader lives."""
    data, ids = original
    expected = b"".join(b"line %d\n" % number for number in range(20_000))
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            os.truncate(path, 4096)
            path.write_bytes(data)
            os.truncate(path, len(data) + 100_000)
            path.write_bytes(data)

    with Store.open_file(path) as session:
        artifact = session.artifact(ids[0])
        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            for _ in range(200):
                try:
                    assert expected == artifact.read_bytes(0, 10**7)
                except SpillstoreError:
                    pass
        finally:
            stop.set()
            thread.join()


# --- files beside it --------------------------------------------------------------------------------------


def hot_journal(path, super_journal=b""):
    """A rollback journal that puts page 1 of the file back as page of zeros, and names a super-journal."""
    size = 2048
    pages = len(path.read_bytes()) // size
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 1, 0, pages, 512, size)
    page = bytes(size)
    check = sum(page[at] for at in range(size - 200, 0, -200)) & 0xFFFFFFFF
    out = head.ljust(512, b"\0") + struct.pack(">I", 1) + page + struct.pack(">I", check)
    if super_journal:
        total = sum(super_journal) & 0xFFFFFFFF
        out += struct.pack(">I", 0x7FFFFFFF) + super_journal + struct.pack(">II", len(super_journal), total)
        out += bytes.fromhex("d9d505f920a163d7")
    path.with_name(path.name + "-journal").write_bytes(out)


def test_a_journal_that_names_another_file_is_refused_and_the_file_stays(path, tmp_path):
    """SQLite would delete the super-journal that a planted journal names, whichever file that is; we do not let it."""
    victim = tmp_path / "precious"
    victim.write_bytes(b"precious")
    run(path)
    hot_journal(path, str(victim).encode())
    for opening in openings(path)[1:]:
        with pytest.raises(IntegrityError, match="super-journal"):
            opening()
    with pytest.raises(IntegrityError, match="super-journal"):
        Store.open_file(path)
    assert b"precious" == victim.read_bytes()


def test_sqlite_alone_would_delete_it(path, tmp_path):
    """The same journal under plain ``sqlite3`` deletes the file that it names: so the refusal is what protects it."""
    victim = tmp_path / "precious"
    victim.write_bytes(b"precious")
    run(path)
    hot_journal(path, str(victim).encode())
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.Error):
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        raise sqlite3.Error
    assert not victim.exists()


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "pipe", "hard link"])
def test_what_is_planted_beside_the_database_is_not_written(path, tmp_path, suffix, kind):
    """A link, a pipe or a second name of another file in place of SQLite's own files: refused, the other file untouched."""
    victim = tmp_path / "precious"
    victim.write_bytes(b"precious")
    planted = path.with_name(path.name + suffix)
    if kind == "link":
        planted.symlink_to(victim)
    elif kind == "pipe":
        os.mkfifo(planted)
    else:
        os.link(victim, planted)
    with pytest.raises(UnsafeRootError):
        Store(path.parent.parent.parent, **NO_FLOORS).session("test")
    if kind != "hard link":
        with pytest.raises(UnsafeRootError):
            Store(path.parent.parent.parent, **NO_FLOORS).session("test", read_only=True)
    assert b"precious" == victim.read_bytes()


# --- rows and chunks whose digests are right --------------------------------------------------------------


def tampered(path, *statements):
    """The file after some statements, with every digest computed again, as a sent session."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement, *values in statements:
            connection.execute(statement, values)
        hostile.reseal(connection)
        connection.execute("PRAGMA journal_mode = DELETE")
    return Store.open_file(path)


ARTIFACTS = {
    "chunk_size": (0, -1, 65537, 2**62, 1.5, "many", None),
    "chunks": (0, -1, 2**62, 3.5),
    "size": (-1, 0, 2**62, 2**63 - 1),
    "kept": (10**9, -1),
    "stdout_size": (-1, 2**61),
    "stdout_lines": (2**61, -5),
    "chars": (2**61,),
    "created_us": (-1, 2**62, "now", float("inf")),
    "ended_us": (2**62, b"x"),
    "exit_code": (1.5, "x"),
    "line_flags": (8, -1),
    "state": ("gone", 1, b"open"),
    "newline": ("crlf", 0),
    "policy": ("none", 7),
    "owner": ("../../../../etc/passwd", "", 5, "owner-/.lock"),
    "artifact_id": ("../x", "art_1_0\n", "art_x_0", 7, b"art_1_0", "art_1_" + "0" * 300),
    "source": (b"x",),
    "command": (b"x",),
    "content_digest": ("x", b"x", 5),
    "hole": ("{", "[" * 3000, "{}", "1" * 5000, '{"seq": [0, 9e99]}', 5, b"{}"),
}


@pytest.mark.parametrize("column", ARTIFACTS)
def test_a_row_that_cannot_be_is_refused_though_its_digest_is_right(path, original, column):
    """Sizes, numbers, states, times, names and holes that contradict each other or are of a wrong type: IntegrityError."""
    for value in ARTIFACTS[column]:
        path.write_bytes(original[0])
        try:
            session = tampered(path, (f"UPDATE artifact SET {column} = ? WHERE artifact_key = 1", value))
        except (IntegrityError, sqlite3.IntegrityError):  # NOT NULL holds
            continue
        with session:
            with pytest.raises(SpillstoreError):
                session.artifact(original[1][0]).read_bytes(0, 100)
            if column == "created_us":  # by which they are listed, so one at no time at all is not
                continue
            with pytest.raises(IntegrityError):
                session.artifacts(limit=100)
            with pytest.raises(IntegrityError):
                session.check()


@pytest.mark.parametrize(
    "hole",
    [
        '{"seq": [2, 4611686018427387904]',
        '{"seq": [5, 2]',
        '{"seq": [-5, 2]',
        '{"seq": [0, 1.5]',
        '{"seq": "ab"',
        '{"seq": [true, false]',
    ],
)
def test_a_hole_that_cannot_be_is_refused(path, original, hole):
    """A hole longer than the artifact, reversed, negative or of wrong types: nothing is read, nothing loops."""
    (old,) = sqlite_value(path, "SELECT hole FROM artifact WHERE artifact_key = 2")
    new = hole + old[old.index(", ", old.index("]")) :]
    with tampered(path, ("UPDATE artifact SET hole = ? WHERE artifact_key = 2", new)) as session:
        with pytest.raises(IntegrityError, match="hole"):
            session.artifact(original[1][1])
        with pytest.raises(IntegrityError):
            session.check()


def sqlite_value(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchone()


SESSIONS = {
    "session_id": ("", "a\nb", b"x", "x" * 201),
    "project_id": ("", b"x"),
    "uid": ("../../../../tmp/x", "x", 5, "A" * 32, "0" * 33),
    "created_us": (-1, 2**62, "x"),
    "ended_us": ("x", 2**62),
    "next_artifact_key": (-1, "x", 1.5),
    "digest_algorithm": ("md5", "", "blake3-keyed", "blake3-keyed:", 5, "blake3-keyed:" + "0" * 16),
    "artifacts_sum": ("x", 5),
}


@pytest.mark.parametrize("column", SESSIONS)
def test_a_session_row_that_cannot_be_is_refused(path, original, column):
    """Ids that are none, a uid that is a path, times that are no dates, algorithms that there are not."""
    for value in SESSIONS[column]:
        path.write_bytes(original[0])
        with pytest.raises(DamageError):
            tampered(path, (f"UPDATE session SET {column} = ?", value)).close()


def test_a_second_session_row_changes_nothing(path, original):
    """The row with another key is never looked at."""
    with tampered(
        path,
        ("CREATE TEMP TABLE other AS SELECT * FROM session",),
        ("UPDATE other SET session_key = 2, session_id = 'other'",),
        ("INSERT INTO session SELECT * FROM other",),
    ) as session:
        assert "test" == session.id


def frame(raw):
    return chunk_codec.compressor().compress(raw)


RAW = b"".join(b"line %d\n" % number for number in range(20_000))[65536 : 2 * 65536]
ANNOUNCED = bytes.fromhex("28b52ffd")  # the magic number (RFC 8878, 3.1.1)
BOMBS = {
    "announces petabytes": ANNOUNCED + b"\xe0" + struct.pack("<Q", 2**55) + b"\x01\0\0",
    "announces nothing": zstandard.ZstdCompressor(write_content_size=False).compress(RAW),
    "decodes to more than it announces": frame(bytes(50_000_000)).replace(
        struct.pack("<I", 50_000_000), struct.pack("<I", 65536), 1
    ),
    "decodes to less": frame(RAW)[:-200],
    "needs a dictionary": ANNOUNCED
    + b"\xa3"
    + struct.pack("<I", 77)
    + struct.pack("<I", 65536)
    + b"\x01\0\0",
    "skippable": b"\x50\x2a\x4d\x18" + struct.pack("<I", 65536) + bytes(65536),
    "skippable and huge": b"\x50\x2a\x4d\x18\xff\xff\xff\xff",
    "two frames": frame(RAW) + frame(RAW),
    "something behind it": frame(RAW) + b"x",
    "a window of gigabytes": ANNOUNCED + b"\x80\xa8" + struct.pack("<I", 65536) + b"\x01\0\0",
    "empty": b"",
    "of another size": frame(RAW[:-1]),
    "megabytes": frame(RAW) + bytes(3_000_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_frame_that_is_not_one_of_ours_is_refused(path, original, name):
    """Whatever a frame announces, decodes to, or has behind it: no more than a chunk is made, and nothing is returned."""
    statement = "UPDATE chunk SET data = ? WHERE artifact_key = 1 AND seq = 1"
    with tampered(path, (statement, BOMBS[name])) as session:
        artifact = session.artifact(original[1][0])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(IntegrityError):
            artifact.read_bytes(65536, 65600)
        with pytest.raises(IntegrityError):
            artifact.verify()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


@pytest.mark.parametrize(
    "encoded",
    [
        b"\x00" + struct.pack("<I", 2**32 - 1),
        b"\x01" + struct.pack("<I", 2**32 - 1) + BOMBS["announces petabytes"],
        b"\x01" + struct.pack("<I", 3) + BOMBS["announces petabytes"],
        b"\x01" + struct.pack("<I", 5000) + frame(bytes(11 * 5000 + 1)),
        b"\x01",
        b"\x00\x00\x00\x00\x00",
        b"\x00" + struct.pack("<I", 1) + b"\x07" + b"\xff\xff" + bytes(8),
        b"\x00" + struct.pack("<I", 1) + b"\x00" + b"\x01\x00" + bytes(8),
    ],
)
def test_a_segment_map_that_is_none_is_refused(encoded):
    """A map of four thousand million segments, of none, of a stream that there is not, or one that does not add up."""
    with pytest.raises(IntegrityError):
        segment_map.decode(encoded, 0, 65536, 0, chunk_codec.decompressor())


CHUNKS = [
    ("seq", "seq + 1000"), ("seq", "-seq"), ("size", "-1"), ("size", "4611686018427387904"), ("size", "'x'"), ("size", "1.5"),
    ("stdout_size", "-1"), ("stdout_start", "0"), ("line_start", "4611686018427387904"), ("line_start", "-1"),
    ("stdout_lines", "4611686018427387904"), ("time_start", "-1"), ("data", "'text'"), ("data", "5"),
    ("segments", "'x'"), ("segments", "zeroblob(1000000)"), ("data", "zeroblob(10000000)"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), CHUNKS)
def test_a_chunk_that_cannot_be_is_refused_though_its_digest_is_right(path, original, column, value):
    """Places, sizes and counters that contradict the artifact: reads fail or give what was stored, and all of them end."""
    where = "WHERE artifact_key = 1 AND seq = 1"
    with tampered(path, (f"UPDATE chunk SET {column} = {value} {where}",)) as session:
        with pytest.raises(IntegrityError):
            session.check()
        hostile.exercise(session, original[1])


def test_an_index_that_contradicts_its_table_ends(path, original):
    """An index whose order is not that of its table's rows: reads end, with an error or the right bytes."""
    run(
        path,
        WRITABLE,
        # The two indexes exchange their trees: each then holds entries of the other.
        "UPDATE sqlite_master SET rootpage = (SELECT sum(rootpage) FROM sqlite_master WHERE name IN "
        "('ix_chunk_line', 'ix_chunk_time')) - rootpage WHERE name IN ('ix_chunk_line', 'ix_chunk_time')",
    )
    with Store.open_file(path) as session:
        hostile.exercise(session, original[1])
        with pytest.raises(IntegrityError):
            session.check()


def test_events_that_are_none_are_refused(path):
    """Details that are no JSON, too deep, too large or no object, and times that are no dates."""
    for column, value in (
        ("detail", "{"),
        ("detail", "[" * 100_000),
        ("detail", "[]"),
        ("detail", "9" * 10_000),
        ("detail", b"\xff"),
        ("at_us", 2**61),
        ("kind", b"x"),
        ("actor", b"x"),
    ):
        run(path)
        with closing(sqlite3.connect(path)) as connection:
            old = connection.execute("SELECT * FROM event WHERE event_key = 1").fetchone()
            connection.execute(f"UPDATE event SET {column} = ? WHERE event_key = 1", (value,))
            connection.commit()
        with Store.open_file(path) as session, pytest.raises(IntegrityError, match="audit log"):
            session.events(limit=1000)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"INSERT OR REPLACE INTO event VALUES ({', '.join('?' * len(old))})", old)
            connection.commit()


# --- chance -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
def test_random_damage_is_survived(original, tmp_path, part):
    """Random bytes and cells, mostly with right digests: only errors of ours, in bounded time and memory, and no crash.

    In files of an earlier schema, too.
    """
    count = round(60 * FACTOR)
    first = part * count + SEED * 10_000
    (tmp_path / "session.db").write_bytes(original[0])
    if part == 2:
        hostile.make_earlier(tmp_path / "session.db")
    program = [sys.executable, hostile.__file__, str(tmp_path / "session.db"), str(first), str(count)]
    done = subprocess.run(
        [*program, *original[1]], capture_output=True, text=True, check=False, timeout=count * hostile.SECONDS
    )
    assert "done" == (done.stdout.split() or [""])[-1], (
        done.returncode,
        done.stdout[-200:],
        done.stderr[-3000:],
    )
    shutil.rmtree(tmp_path / f"work-{first}")
