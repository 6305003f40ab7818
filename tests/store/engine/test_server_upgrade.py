"""``spillstore.server.upgrade``: makes a server's tables, or brings them to the newest schema, all or nothing."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import postgres
import pytest
from support import NO_FLOORS, ROOT

pytest.importorskip("psycopg")
import psycopg

import spillstore_migrations
from spillstore import Store
from spillstore import server as operator
from spillstore.engine.postgres import citus, schema, upgrading
from spillstore.exceptions import (
    ReadOnlyError,
    SchemaTooNewError,
    SchemaTooOldError,
    SessionBusyError,
    StorageError,
    UnsupportedError,
    UsageError,
)
from spillstore.info import Upgrade

VERSIONS = Path(spillstore_migrations.__file__).parent / "server" / "versions"
# A revision after head, as a later release would bring it.
NEXT = f"""
import sqlalchemy as sa
from alembic import op
revision = "9999"
down_revision = "{schema.REVISION}"
def upgrade():
    op.execute(sa.text("ALTER TABLE spillstore.artifact ADD added text"))
"""


def objects(server, name):
    """All that is in the schema, with the definitions of what has one."""
    return server.execute(
        "SELECT relkind::text, relname, reloptions::text, CASE relkind WHEN 'v' THEN pg_get_viewdef(oid) WHEN 'i' THEN"
        " pg_get_indexdef(oid) ELSE (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull,"
        " attstorage), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0) END"
        " FROM pg_class WHERE relnamespace = 'spillstore'::regnamespace ORDER BY 1, 2",
        name,
    )


@pytest.fixture
def empty(server):
    """The name of an empty database."""
    name = server.new_database(schema=False)
    yield name
    server.drop_database(name)


@pytest.fixture
def later(tmp_path):
    """Folders of revisions with one more than head."""
    (tmp_path / "next.py").write_text(NEXT)
    return f"{VERSIONS}:{tmp_path}"


def test_an_empty_database_gets_its_tables_once(server, empty):
    """The report names both revisions; repeated it changes nothing, and what is stored stays."""
    url = server.url(empty)
    would = operator.upgrade(url, dry_run=True)
    assert (would.before, would.after, would.changed, would.dry_run) == (None, schema.REVISION, True, True)
    with pytest.raises(SchemaTooOldError):
        Store(url).session("chat")
    assert server.execute("SELECT to_regnamespace('spillstore')", empty) == [(None,)]
    done = operator.upgrade(url)
    assert done == Upgrade(store=Store(url).name, before=None, after=schema.REVISION)
    before = objects(server, empty)
    with Store(url, **NO_FLOORS).session("chat") as session:
        session.put(b"x\n")
        again = operator.upgrade(url)  # in use, but nothing is to be changed
    assert (again.before, again.after, again.changed) == (schema.REVISION, schema.REVISION, False)
    assert objects(server, empty) == before
    assert Store(url).check() == 1


def test_several_at_the_same_time(server, empty):
    """One makes the tables, the others wait for it and find them."""
    script = "import sys; from spillstore.server import upgrade; print(upgrade(sys.argv[1]).changed)"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, server.url(empty)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "store")},
        )
        for _ in range(4)
    ]
    answers = [child.communicate()[0].strip() for child in children]
    assert [child.returncode for child in children] == [0] * 4
    assert sorted(answers) == ["False", "False", "False", "True"]


def test_a_script_makes_the_same(server, empty, later):
    """``upgrade_sql``, run by hand, for a new database and for an old one; then it is empty."""
    url = server.url(empty)
    script = operator.upgrade_sql(url)
    assert script.startswith("BEGIN;\n")
    assert script.endswith("COMMIT;\n")
    server.execute(script, empty)
    by_hand = objects(server, empty)
    assert operator.upgrade_sql(url) == f"-- {Store(url).name} has the schema {schema.REVISION} already.\n"
    assert not operator.upgrade(url).changed
    other = server.new_database()
    assert objects(server, other) == by_hand
    server.drop_database(other)
    script = upgrading.upgrade_sql(url, locations=later)
    assert "CREATE TABLE" not in script
    server.execute(script, empty)
    assert server.execute("SELECT version_num FROM spillstore.alembic_version", empty) == [("9999",)]


def test_a_later_revision(server, server_url, later):
    """Is run where nobody has a session open, and refused with their names where somebody has; a killed one counts for its lease."""
    name = postgres.database_of(server_url)
    store = Store(server_url, **NO_FLOORS)
    with store.session("chat") as session:
        session.put(b"kept\n")
        expected = f"to be upgraded from {schema.REVISION} to 9999, and is in use by process {os.getpid()} on .*; end them first"
        with pytest.raises(SessionBusyError, match=expected):
            upgrading.upgrade(server_url, locations=later)
        assert upgrading.upgrade_sql(server_url, locations=later)
        session.put(b"more\n")
        server.execute("UPDATE spillstore.claim SET beat = beat - make_interval(secs => 31)", name)
        done = upgrading.upgrade(server_url, locations=later)
        assert (done.before, done.after) == (schema.REVISION, "9999")
    assert ("added",) in server.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'spillstore.artifact'::regclass", name
    )
    for call in (operator.upgrade, operator.upgrade_sql):
        with pytest.raises(SchemaTooNewError, match="has the schema 9999, and this version knows"):
            call(server_url)


@pytest.mark.parametrize(("count", "more"), [(5, ""), (7, " and 2 more")])
def test_of_many_who_are_in_the_way_five_are_named(server_url, later, count, more):
    """And the others are counted."""
    with contextlib.ExitStack() as stack:
        store = Store(server_url, **NO_FLOORS)
        for number in range(count):
            stack.enter_context(store.session(f"s{number}")).put(b"text")
        with pytest.raises(SessionBusyError) as caught:
            upgrading.upgrade(server_url, locations=later)
    named = str(caught.value).partition(" in use by ")[2]
    assert 5 == named.count(f"process {os.getpid()} on ")
    assert [more] == re.findall(r"( and \d+ more)?; end them", named)


def test_a_revision_that_fails_changes_nothing(server, server_url, tmp_path):
    """Half of it is undone."""
    (tmp_path / "next.py").write_text(NEXT + '    op.execute(sa.text("SELECT 1 / 0"))\n')
    before = objects(server, postgres.database_of(server_url))
    with pytest.raises(StorageError, match=r"upgrading postgresql://.* failed: division by zero"):
        upgrading.upgrade(server_url, locations=f"{VERSIONS}:{tmp_path}")
    assert objects(server, postgres.database_of(server_url)) == before


def test_roles_that_may_not(server, empty):
    """They are told who may; one that owns the schema, which somebody else made, needs no more."""
    if not isinstance(server, postgres.Server):
        pytest.skip("roles are made on a server of ours alone")
    maker = f"maker_{os.getpid()}"
    server.execute(f"CREATE ROLE {maker} LOGIN")
    url = server.url(empty).replace("postgres@", f"{maker}@")
    with pytest.raises(
        ReadOnlyError, match=r"permission denied for database .*; it takes the role that owns"
    ):
        operator.upgrade(url)
    server.execute(f"CREATE SCHEMA spillstore AUTHORIZATION {maker}", empty)
    assert operator.upgrade(url).changed
    with Store(url, **NO_FLOORS).session("chat") as session:
        assert session.put(b"x\n").read_lines(1, 1) == b"x\n"
    server.execute(f"DROP OWNED BY {maker}; DROP ROLE {maker}", empty)


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        (
            "postgresql://127.0.0.1:1/none?connect_timeout=2",
            StorageError,
            "127.0.0.1:1/none.* cannot be reached",
        ),
        (
            "postgresql://agent:" + "hid" + "den@127.0.0.1:1/none",
            StorageError,
            r"agent:\*\*\*@.* cannot be reached",
        ),
        ("mysql://x/y", UsageError, "there is no engine for mysql"),
    ],
)
def test_servers_that_are_not_there(url, error, said):
    """And what is none; no password is shown."""
    for call in (operator.upgrade, operator.upgrade_sql):
        with pytest.raises(error, match=said) as raised:
            call(url)
        assert "hidden" not in str(raised.value)


def test_a_database_that_is_not_there(server):
    """Is named."""
    with pytest.raises(StorageError, match='database "none_such" does not exist'):
        operator.upgrade(server.url("none_such"))


def test_a_folder_is_left_alone(tmp_path):
    """Its files are upgraded when they are opened; nothing is made. It has no SQL."""
    done = operator.upgrade(tmp_path / "root")
    assert done == Upgrade(store=str(tmp_path / "root"), before=None, after=None)
    assert not (tmp_path / "root").exists()
    with pytest.raises(UsageError, match="is no server"):
        operator.upgrade_sql(tmp_path)


def test_citus_must_be_there_if_it_is_asked_for(server, empty):
    """``on`` needs the extension, ``auto`` and ``off`` do without."""
    url = server.url(empty)
    for call in (operator.upgrade, operator.upgrade_sql):
        with pytest.raises(
            UnsupportedError, match=r"has no extension citus; citus=on needs 12.1 or newer: CREATE EXTENSION"
        ):
            call(f"{url}&citus=on")
    assert server.execute("SELECT to_regnamespace('spillstore')", empty) == [(None,)]
    assert operator.upgrade(f"{url}&citus=off").changed
    assert operator.upgrade(f"{url}&citus=auto").spread == ()


def test_every_table_is_spread_once():
    """By the session's key, by the name, or to all servers; the second time there is nothing to do."""
    everything = citus.spreading(set())
    assert everything.keys() == schema.tables().keys()
    assert citus.spreading(set(everything)) == {}
    by_key = {table for table, columns in schema.tables().items() if "session_key" in columns}
    assert by_key - {"name", "kept_session"} == set(citus.BY_SESSION)
    assert everything["session"].endswith("'session_key', colocate_with => 'none')")
    assert everything["chunk"].endswith("'session_key', colocate_with => 'spillstore.session')")
    assert next(iter(everything)) == "session"
    assert citus.before_spreading(8)[-1] == "SET LOCAL citus.shard_count = 8"
    assert [citus.is_old(version) for version in ("11.3-1", "12.0-2", "12.1-1", "13.0", "14.0-1")] == [
        True,
        True,
        *[False] * 3,
    ]


@pytest.fixture
def coordinator():
    """The URL of a new database's tables on a server that has Citus."""
    url = os.environ.get("SPILLSTORE_TEST_CITUS")
    if not url:
        pytest.skip("SPILLSTORE_TEST_CITUS names no coordinator of Citus")
    yield url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS spillstore CASCADE")


@pytest.mark.citus
def test_tables_are_spread(coordinator):
    """All that a store does works where they are; sessions are read, listed and deleted."""
    done = operator.upgrade(coordinator)
    assert set(done.spread) == schema.tables().keys()
    assert not operator.upgrade(coordinator).changed
    store = Store(coordinator, **NO_FLOORS, audit_keep=True, durability="full")
    for number in range(4):
        with store.session("chat", f"p{number}") as session:
            artifact = session.put(b"line\n" * 1_000_000)
            assert artifact.read_lines(500_000, 500_000) == b"line\n"
            session.put(b"x").delete()
    assert len(list(store.sessions())) == 4
    assert store.check() == 4
    store.delete("chat", "p0")
    assert store.collect(older_than=0.0).deleted
    assert list(store.sessions()) == []
    assert len(store.deleted_events("chat", "p0")) > 0


@pytest.mark.citus
def test_a_session_is_on_one_server(coordinator):
    """Each look-up by its key is one task."""
    operator.upgrade(coordinator)
    with psycopg.connect(coordinator) as connection:
        for table in citus.BY_SESSION:
            plan = connection.execute(
                f"EXPLAIN SELECT * FROM spillstore.{table} WHERE session_key = 7"
            ).fetchall()
            assert any("Task Count: 1" in line for (line,) in plan), table
