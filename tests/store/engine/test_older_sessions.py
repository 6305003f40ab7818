"""Session files that an older version has written: each is read as that version read it, to the byte, and can be written on."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
from contextlib import closing

import older_session
import pytest
from support import ROOT, dice, native

from spillstore import Settings, Store
from spillstore.engine.sqlite import earlier_schemas, owner_locks, schema_check
from spillstore.engine.sqlite import sql as _sql
from spillstore.engine.sqlite.upgrade import upgrade
from spillstore.exceptions import IntegrityError, SessionBusyError

DATA = ROOT / "tests" / "data" / "sessions"
VERSIONS = sorted(path.name for path in DATA.iterdir() if path.is_dir())
EACH = [(version, name) for version in VERSIONS for name in older_session.KINDS]


@pytest.fixture(params=EACH, ids=["-".join(each) for each in EACH])
def as_it_is(request, tmp_path):
    """A session's file in its place, as it was written; its kind, and what it answered when it was new."""
    version, name = request.param
    path, expected = placed(version, name, tmp_path)
    return path, name, expected


@pytest.fixture
def older(as_it_is):
    """The same, of today's schema."""
    upgrade(as_it_is[0], Settings())
    return as_it_is


def placed(version, name, tmp_path):
    """A session's file as it was written, in its place, and what it answered."""
    path = tmp_path / "root" / "web" / "chat-42" / "session.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(gzip.decompress((DATA / version / f"{name}.db.gz").read_bytes()))
    path.chmod(0o600)
    expected = json.loads((DATA / version / f"{name}.json").read_text(encoding="utf-8"))
    plain = json.loads((DATA / version / "plain.json").read_text(encoding="utf-8"))
    return path, {**expected, "artifacts": plain["artifacts"]}


def stored(path, name):
    """The store that a file lies in."""
    return Store(path.parents[2], **older_session.options(name))


def run(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def schema_of(path):
    """The number of a file's schema, and all of its objects."""
    with closing(sqlite3.connect(path)) as connection:
        objects = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        return connection.execute("PRAGMA user_version").fetchone(), objects


def assert_answers(expected, session):
    found = older_session.plain(older_session.answers(session))
    assert sorted(expected) == sorted(found)
    for part in expected:
        assert expected[part] == found[part], part


def test_it_reads_as_when_it_was_written(as_it_is):
    """Artifacts, lines, times, searches, queries, events and digests: every answer is that of its own version, and the file stays."""
    path, name, expected = as_it_is
    schema, before = schema_of(path), path.read_bytes()
    with older_session.opened(name, path) as session:
        assert_answers(expected, session)
    with stored(path, name).session("chat-42", project="web", read_only=True) as session:
        assert_answers(expected, session)
    assert before == path.read_bytes()
    assert schema == schema_of(path)
    path.parent.chmod(0o500)  # where nothing can be made beside it
    path.chmod(0o400)
    try:
        with older_session.opened(name, path) as session:
            assert_answers(expected, session)
    finally:
        path.parent.chmod(0o700)


def test_it_reads_the_same_after_an_upgrade(older):
    """Every answer is that of its own version."""
    path, name, expected = older
    with older_session.opened(name, path) as session:
        assert_answers(expected, session)


def test_what_is_read_is_recorded(tmp_path):
    """A read that changes nothing else is an event, as in a file of today's."""
    path, expected = placed("schema-1", "plain", tmp_path)
    schema = schema_of(path)
    store = Store(path.parents[2], audit_age=0, **older_session.options("plain"))
    with store.session("chat-42", project="web", read_only=True) as session:
        next(iter(session.artifacts(source="binary"))).read_bytes(0, 10)
    with older_session.opened("plain", path) as session:
        events = session.events(limit=1000)
        assert len(expected["events"]) + 1 == len(events)
        assert "read" == next(iter(events)).kind
    assert schema == schema_of(path)


def test_it_is_upgraded_by_who_writes(tmp_path):
    """Opened for writing, it becomes one of today's schema, and is read on; of who only reads, nobody minds."""
    path, expected = placed("schema-1", "plain", tmp_path)
    store = stored(path, "plain")
    with store.session("chat-42", project="web", read_only=True) as reader:
        assert len(expected["infos"]) == len(reader.infos(limit=100))
        with store.session("chat-42", project="web") as session:
            assert (_sql.SCHEMA_NUMBER,) == schema_of(path)[0]
            assert b"new" == session.put(b"new", source="new").read()
        (added,) = reader.artifacts(source="new")
        assert b"new" == added.read()
        assert 1 == added.search("ne").total_matches
        reader.check()


@pytest.mark.parametrize("version", VERSIONS)
def test_each_connection_reads_it_alike(tmp_path, version):
    """Also one that is opened because the first is in use."""
    path, _ = placed(version, "plain", tmp_path)

    def texts(session):
        return [artifact.read() for artifact in session.artifacts(source="binary")]

    with stored(path, "plain").session("chat-42", project="web", read_only=True) as session:
        before = texts(session)
        with session._engine.reader():
            assert before == texts(session)
        assert before
        assert 2 == len(session._engine.store._pool._readers)


def test_it_is_not_upgraded_while_somebody_holds_it(tmp_path):
    """Who has claimed it is named, and the file stays as it is; it is upgraded when nobody has."""
    path, _ = placed(VERSIONS[0], "plain", tmp_path)
    before = path.read_bytes()
    owner = owner_locks.Owner(path.parent)
    with pytest.raises(SessionBusyError, match="must be upgraded and is held by this process; close it"):
        upgrade(path, Settings())
    assert before == path.read_bytes()
    owner.release()
    upgrade(path, Settings())
    assert (_sql.SCHEMA_NUMBER,) == schema_of(path)[0]


@native
def test_what_is_written_after_an_upgrade_is_whole_to_earlier_readers(tmp_path, monkeypatch):
    """Who has opened the file before it was upgraded counts the gram filters that were stored since."""
    monkeypatch.setattr("spillstore.format.grams.FROM", 0)
    path, _ = placed("schema-1", "plain", tmp_path)
    store = stored(path, "plain")
    rnd = dice()
    text = b"".join(b"%x words of a text that goes on\n" % rnd.getrandbits(60) for _ in range(20_000))
    with store.session("chat-42", project="web", read_only=True) as reader:
        reader.check()
        with store.session("chat-42", project="web") as session:
            added = session.put(text, source="new").id
        reader.artifact(added).verify()
        assert 0 == reader.artifact(added).search("nowhere_in_it").total_matches
        with reader._engine.reader() as rows:
            assert rows.execute("SELECT count(grams) FROM chunk").fetchone() > (0,)


def test_it_is_written_on(older):
    """A writer opens it, says what was interrupted, adds an artifact and deletes one; the others stay, and all is checked."""
    path, name, expected = older
    store = Store(path.parents[2], audit_age=0, **older_session.options(name))
    before = {info["id"] for info in expected["infos"]}
    with store.session("chat-42", project="web") as session:
        added = session.put(b"new\n", source="new")
        session.artifact(next(info["id"] for info in expected["infos"] if info["size"] == 1000)).delete()
        session.check()
        assert b"new\n" == added.read()
        kinds = [event.kind for event in session.events(limit=1000)]
        assert len(expected["events"]) < len(kinds)
        assert {"delete", "interrupt"} < set(kinds)
    with store.session("chat-42", project="web", read_only=True) as session:
        ids = {info.id for info in session.infos(limit=100)}
        assert (1, 1) == (len(ids - before), len(before - ids))
        session.check()
        killed = next(info["id"] for info in expected["infos"] if info["ended"] is None)
        assert "interrupted" == session.artifact(killed).info.state


def test_no_secret_is_in_it(older):
    """What was redacted stands nowhere in the file, nor in the answers."""
    path, _, expected = older
    secret = "hunter" + "2"
    assert secret.encode() not in path.read_bytes()
    assert secret not in json.dumps(expected)


def test_a_copy_of_it_is_the_same(as_it_is, tmp_path):
    """An artifact is exported from it to the byte, and a file that was sent elsewhere reads as well."""
    path, name, expected = as_it_is
    copy = shutil.copyfile(path, tmp_path / "sent.db")
    with older_session.opened(name, copy) as session:
        info = next(info for info in expected["infos"] if info["size"] == 2048)
        session.artifact(info["id"]).export(tmp_path / "out")
    assert bytes(range(256)) * 8 == (tmp_path / "out").read_bytes()


# --- the schemas ------------------------------------------------------------------------------------------

EARLIER = range(1, _sql.SCHEMA_NUMBER)


@pytest.mark.parametrize("number", EARLIER)
def test_an_earlier_schema_is_what_its_revision_makes(number, tmp_path):
    """Object by object, but for white space; files of that version are kept, and all are asked."""
    assert f"schema-{number}" in VERSIONS
    blank = tmp_path / "blank.db"
    blank.touch()
    upgrade(blank, Settings(), revision=f"{number:04}")
    with closing(sqlite3.connect(blank)) as connection:
        schema_check.check_schema(connection, number)
        with pytest.raises(IntegrityError):
            schema_check.check_schema(connection, number + 1)


@pytest.mark.parametrize("number", EARLIER)
def test_views_of_an_earlier_schema_have_the_columns_of_today(number, tmp_path):
    """Each stands before a table that is there, and gives its columns in their order; the tables that readers write are today's."""
    path, _ = placed(f"schema-{number}", "plain", tmp_path)
    today = schema_check.expected(_sql.SCHEMA_NUMBER)
    earlier = schema_check.expected(number)
    for table in ("session", "event"):
        assert today[table] == earlier[table], "a read would be recorded in a table that is not there"
    changed = {name for name, row in today.items() if row[0] == "table" and row != earlier.get(name)}
    with closing(sqlite3.connect(path)) as connection:
        earlier_schemas.present(connection, number)
        views = dict(connection.execute("SELECT name, sql FROM temp.sqlite_master"))
        assert changed == views.keys()
        for name, view in views.items():
            assert f"FROM main.{name}" in view
            columns = re.findall(r"(?:\( |, )(\w+) [A-Z]+", str(today[name][3]).split(", CONSTRAINT")[0])
            found = [column[1] for column in connection.execute(f"PRAGMA temp.table_info({name})")]
            assert columns == found


LOOK_UPS = [name for name in dir(_sql) if name.startswith(("RANGE_", "LINE_", "BYTE_", "TIME_"))]


@pytest.mark.parametrize("number", EARLIER)
@pytest.mark.parametrize("name", [*LOOK_UPS, "CHUNKS_STORED", "CHUNK_FIRST", "CHUNK_DIGESTS", "CHUNKS_WITHOUT_ARTIFACT"])  # fmt: skip
def test_look_ups_in_an_earlier_file_use_the_same_indexes(name, number, tmp_path):
    """The plan of each statement is that in a file of today's schema; nothing is sorted, and no view is made a table first."""
    path, _ = placed(f"schema-{number}", "plain", tmp_path)
    sql = getattr(_sql, name)
    named = re.findall(r":(\w+)", sql)
    parameters = dict.fromkeys(named, 1) if named else (1,) * sql.count("?")
    plans = []
    for _ in range(2):
        with stored(path, "plain").session("chat-42", project="web", read_only=True) as session:
            with session._engine.reader() as rows:
                plan = rows.execute(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()
            plans.append([row[3].replace("main.chunk", "chunk") for row in plan])
        upgrade(path, Settings())
    assert plans[1] == plans[0]
    assert all(step.startswith(("SEARCH", "LIST")) for step in plans[0])


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE TRIGGER mine AFTER INSERT ON event BEGIN DELETE FROM artifact; END", "trigger 'mine'"),
        ("CREATE VIEW mine AS SELECT 1", "view 'mine'"),
        ("ALTER TABLE chunk ADD COLUMN grams BLOB", "table 'chunk'"),
        ("ALTER TABLE chunk ADD COLUMN grams AS (zeroblob(10))", "table 'chunk'"),
        ("DROP VIEW v_reads", "view 'v_reads'"),
        ("DROP INDEX ix_chunk_line", "index 'ix_chunk_line'"),
    ],
)
def test_a_schema_that_is_not_its_own_is_refused(statement, words, tmp_path):
    """By who reads it, whichever way, and by who writes, before it is upgraded; so nothing in it is run."""
    path, _ = placed("schema-1", "plain", tmp_path)
    run(path, statement)
    before = path.read_bytes()
    store = stored(path, "plain")
    for opening in (
        lambda: Store.open_file(path),
        lambda: store.session("chat-42", project="web", read_only=True),
        lambda: store.session("chat-42", project="web"),
    ):
        with pytest.raises(IntegrityError, match=words):
            opening()
    assert before == path.read_bytes()


@pytest.mark.parametrize("number", [0, -1])
def test_a_number_that_no_version_had_is_refused(number, tmp_path):
    """There is no schema to compare with."""
    path, _ = placed("schema-1", "plain", tmp_path)
    run(path, f"PRAGMA user_version = {number}")
    for read_only in (True, False):
        with pytest.raises(IntegrityError, match=f"schema {number}"):
            stored(path, "plain").session("chat-42", project="web", read_only=read_only)
    with pytest.raises(IntegrityError, match=f"schema {number}"):
        Store.open_file(path)


def test_what_others_may_add_to_an_earlier_file_stays(tmp_path):
    """Statistics and plain tables change no answer."""
    path, expected = placed("schema-1", "plain", tmp_path)
    run(path, "CREATE TABLE notes (a TEXT)", "CREATE INDEX mine ON artifact (source)", "ANALYZE")
    with older_session.opened("plain", path) as session:
        assert_answers(expected, session)
