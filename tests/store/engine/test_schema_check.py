"""Session files that somebody has looked at with other programs: what those leave in them is accepted, or refused by name."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from spillstore import Store
from spillstore.engine.sqlite import schema_check
from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import IntegrityError

pytestmark = pytest.mark.files

CONTENT = b"".join(b"line %d\n" % number for number in range(20_000))


@pytest.fixture
def file(plain_store):
    """A session's file that nobody has open."""
    with plain_store.session("s") as session:
        session.put(CONTENT, source="make")
    return plain_store.root / "_" / "s" / "session.db"


def run(file, *statements):
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def assert_usable(store, file):
    """It is read, checked and written on, and a copy of it that is sent is read, too."""
    for options in ({"read_only": True}, {}):
        with store.session("s", **options) as session:
            (artifact,) = session.artifacts(source="make")
            assert CONTENT == artifact.read()
            assert b"line 10000\n" == artifact.read_lines(10_001, 10_001)
            assert 1 == artifact.search("^line 19999$").total_matches
            session.check()
    with store.session("s") as session:
        assert b"more" == session.put(b"more", source="more").read()
        next(iter(session.artifacts(source="more"))).delete()
    with Store.open_file(file) as session:
        assert CONTENT == next(iter(session.artifacts())).read()


LEFT_BEHIND = {
    "sqlite3: ANALYZE": ("ANALYZE",),
    "sqlite3: VACUUM": ("VACUUM",),
    "sqlite3: REINDEX and optimize": ("REINDEX", "PRAGMA optimize"),
    "sqlite3: another journal": ("PRAGMA journal_mode = DELETE", "VACUUM", "ANALYZE"),
    "sqlite3: statistics that are out of date": (
        "ANALYZE",
        "UPDATE sqlite_stat1 SET stat = '100000000 1 1 1 1'",
    ),
    "sqlite-utils: analyze-tables": (
        (
            "CREATE TABLE [_analyze_tables_] (\n   [table] TEXT,\n   [column] TEXT,\n   [total_rows] INTEGER,\n"
            "   [most_common] TEXT,\n   PRIMARY KEY ([table], [column])\n)"
        ),
        "INSERT INTO _analyze_tables_ VALUES ('artifact', 'source', 1, '[[\"make\", 1]]')",
    ),
    "sqlite-utils: create-index": (
        "CREATE INDEX [idx_artifact_source_state]\n    ON [artifact] ([source], [state])",
        'CREATE INDEX "idx event" ON "event" ("kind" COLLATE NOCASE, at_us DESC)',
    ),
    "sqlite-utils: insert": (
        (
            "CREATE TABLE [notes] (\n   [id] INTEGER PRIMARY KEY,\n   [artifact] TEXT REFERENCES [artifact]([artifact_id]),\n"
            "   [created] TEXT DEFAULT CURRENT_TIMESTAMP\n)"
        ),
        "CREATE UNIQUE INDEX [idx_notes_artifact]\n    ON [notes] ([artifact])",
        'ALTER TABLE [notes] RENAME TO [my "notes"]',
    ),
    "DB Browser: a table": (
        (
            'CREATE TABLE "Table1" (\n\t"Field1"\tINTEGER NOT NULL UNIQUE, -- CHECK this\n\t"AS"\tTEXT,\n'
            '\tPRIMARY KEY("Field1" AUTOINCREMENT)\n)'
        ),
        'INSERT INTO "Table1" VALUES (1, NULL)',
    ),
    "a table without row ids": ("CREATE TABLE t (a PRIMARY KEY, b) WITHOUT ROWID",),
    "what full-text search leaves when its table is gone": (
        "CREATE TABLE 'notes_data'(id INTEGER PRIMARY KEY, block BLOB)",
        "CREATE TABLE 'notes_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
        "CREATE TABLE 'notes_config'(k PRIMARY KEY, v) WITHOUT ROWID",
    ),
}


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_a_file_that_was_looked_at_is_used_on(plain_store, file, name):
    """Statistics, a rewritten file, plain tables and plain indexes of others: everything works as before, and theirs stay."""
    run(file, *LEFT_BEHIND[name])
    with closing(sqlite3.connect(file)) as connection:
        before = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    assert_usable(plain_store, file)
    with closing(sqlite3.connect(file)) as connection:
        assert (
            before == connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        )


def test_foreign_keys_of_others_do_not_hold_up_ours(plain_store, file):
    """A table that refers to ours takes part in nothing: an artifact is deleted, and the other table is as it was."""
    run(
        file,
        "CREATE TABLE notes (artifact TEXT REFERENCES artifact (artifact_id) ON DELETE CASCADE)",
        "INSERT INTO notes SELECT artifact_id FROM artifact",
    )
    with plain_store.session("s") as session:
        next(iter(session.artifacts())).delete()
        session.check()
    with closing(sqlite3.connect(file)) as connection:
        assert (1,) == connection.execute("SELECT count(*) FROM notes").fetchone()


def test_our_look_ups_keep_their_indexes(plain_store, file):
    """Neither statistics nor an index of others leads a look-up of chunks to another plan."""
    run(file, "CREATE INDEX mine ON chunk (session_key, artifact_key)", "ANALYZE")
    with plain_store.session("s", read_only=True) as session, session._engine.reader() as connection:
        for name, index in (
            ("RANGE_COMBINED", "sqlite_autoindex_chunk_1"),
            ("LINE_COMBINED", "ix_chunk_line"),
        ):
            sql = getattr(_sql, name)
            (step,) = connection.execute(f"EXPLAIN QUERY PLAN {sql}", (1,) * sql.count("?")).fetchall()
            assert f"USING INDEX {index} " in step[3]


@pytest.mark.parametrize(
    ("added", "kind", "way_out"),
    [
        ("CREATE VIEW mine AS SELECT 1", "view", "DROP VIEW mine"),
        ("CREATE INDEX mine ON artifact (lower(source))", "index", "DROP INDEX mine"),
        ("CREATE UNIQUE INDEX mine ON artifact (source)", "index", "DROP INDEX mine"),
        ("CREATE TRIGGER mine AFTER INSERT ON event BEGIN SELECT 1; END", "trigger", "DROP TRIGGER mine"),
        ("CREATE TABLE mine (a, b AS (a + 1))", "table", "DROP TABLE mine"),
        ("CREATE VIRTUAL TABLE mine USING fts5(a)", "table", "DROP TABLE mine"),
    ],
)
def test_what_could_run_or_change_something_is_refused_with_a_way_out(
    plain_store, file, added, kind, way_out
):
    """It is named, how it goes is said, and afterwards all is there."""
    run(file, "ANALYZE", added)
    for options in ({"read_only": True}, {}):
        with pytest.raises(
            IntegrityError, match=rf"{kind} 'mine'.*remove it with sqlite3 \(DROP {kind.upper()} "
        ):
            plain_store.session("s", **options)
    run(file, way_out)
    assert_usable(plain_store, file)


@pytest.mark.parametrize(
    ("count", "is_read"), [(schema_check._MOST_ADDED, True), (schema_check._MOST_ADDED + 1, False)]
)
def test_others_may_add_so_many_tables(plain_store, file, count, is_read):
    """Up to the limit the file is read as ever; one more, and it is refused."""
    run(file, *(f"CREATE TABLE mine_{number} (a)" for number in range(count)))
    if is_read:
        assert_usable(plain_store, file)
    else:
        with pytest.raises(IntegrityError, match=f"more than {schema_check._MOST_ADDED} tables"):
            plain_store.session("s")
        run(file, *(f"DROP TABLE mine_{number}" for number in range(count)))


def test_statistics_must_be_those_of_sqlite(plain_store, file):
    """A table of that name with other columns is none that ANALYZE has made."""
    run(
        file,
        "ANALYZE",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat,more)' WHERE name = 'sqlite_stat1'",
    )
    with pytest.raises(IntegrityError, match="table 'sqlite_stat1'"):
        plain_store.session("s")
    run(
        file,
        "PRAGMA writable_schema = ON",
        "DELETE FROM sqlite_master WHERE name LIKE 'sqlite_stat%'",
    )
