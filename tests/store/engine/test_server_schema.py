"""A server that is not as a store needs it, or whose tables somebody has changed, is named and refused."""

from __future__ import annotations

import os
import types

import postgres
import pytest
from support import NO_FLOORS, ManualClock

pytest.importorskip("psycopg")

import psycopg

from spillstore import Store
from spillstore.engine.postgres import schema, upgrading
from spillstore.exceptions import (
    IntegrityError,
    ReadOnlyError,
    SchemaTooNewError,
    SchemaTooOldError,
    UnsupportedError,
)

FUNCTION = "CREATE FUNCTION public.changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.digest := NULL; RETURN NEW; END'"
CHANGES = {
    "a trigger": (
        (
            f"{FUNCTION}; CREATE TRIGGER mine BEFORE UPDATE ON spillstore.artifact FOR EACH ROW"
            " EXECUTE FUNCTION public.changes()"
        ),
        "artifact has the trigger mine",
    ),
    "a rule": (
        "CREATE RULE mine AS ON DELETE TO spillstore.event DO INSTEAD NOTHING",
        "event has the rule mine",
    ),
    "a policy": (
        "CREATE POLICY mine ON spillstore.chunk USING (seq > 1)",
        "chunk has the policy mine",
    ),
    "a column": ("ALTER TABLE spillstore.place ADD mine int", "place has the column mine"),
    "no column": ("ALTER TABLE spillstore.claim DROP token", "claim has no column token"),
    "a type": (
        "ALTER TABLE spillstore.chunk ALTER seq TYPE numeric",
        "the column seq of chunk is numeric NOT NULL, and not bigint NOT NULL",
    ),
    "a collation": (
        'ALTER TABLE spillstore.kept_session ALTER name TYPE text COLLATE pg_catalog."default"',
        "the column name of kept_session is text default NOT NULL, and not text C NOT NULL",
    ),
    "NULL": (
        "ALTER TABLE spillstore.name ALTER uid DROP NOT NULL",
        "the column uid of name is text C, and not text C NOT NULL",
    ),
    "a view": (
        "ALTER TABLE spillstore.kept_event RENAME TO other; CREATE VIEW spillstore.kept_event AS SELECT 1",
        "kept_event is a view",
    ),
    "a partitioned table": (
        "DROP TABLE spillstore.doomed; CREATE TABLE spillstore.doomed (session_key bigint) PARTITION BY HASH (session_key)",
        "doomed is a partitioned table",
    ),
    "no table": ("DROP TABLE spillstore.store", "the table store is not there"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_tables_that_were_changed_are_refused(server, server_url, what):
    """With the name of what is not ours, before anything is read; an open process notices it when it connects anew."""
    change, named = CHANGES[what]
    server.execute(change, postgres.database_of(server_url))
    with pytest.raises(IntegrityError, match=named):
        Store(server_url).session("chat")
    with pytest.raises(IntegrityError, match=named):
        list(Store(server_url).sessions())


def test_several_changes(server, server_url):
    """Three are named, the others counted."""
    server.execute(
        "ALTER TABLE spillstore.place ADD a int, ADD b int, ADD c int, ADD d int, ADD e int",
        postgres.database_of(server_url),
    )
    with pytest.raises(IntegrityError, match=r"place has the column \w; .*; .*, and 2 more"):
        Store(server_url).session("chat")


@pytest.mark.parametrize(("count", "others"), [(3, ""), (4, ", and 1 more")])
def test_no_more_changes_are_counted_than_there_are(server, server_url, count, others):
    """Nothing is said of others where three are named and that is all."""
    added = ", ".join(f"ADD {name} int" for name in "abcd"[:count])
    server.execute(f"ALTER TABLE spillstore.place {added}", postgres.database_of(server_url))
    with pytest.raises(IntegrityError, match=rf"(place has the column \w(; )?){{3}}{others}$"):
        Store(server_url).session("chat")


def test_the_tables_of_a_revision_are_those_that_are_checked(server, server_url):
    """No table of ours is left out: all that the revisions make are compared."""
    found = server.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'spillstore'::regnamespace AND relkind = 'r'",
        postgres.database_of(server_url),
    )
    assert {name for (name,) in found} == {*schema.tables(), "alembic_version"}


def test_views_of_others_do_no_harm(server, server_url):
    """Nor do tables beside ours and indexes: whoever evaluates sessions may add them."""
    server.execute(
        "CREATE VIEW spillstore.mine AS SELECT * FROM spillstore.v_events; CREATE TABLE spillstore.beside (a int);"
        "CREATE INDEX their ON spillstore.event (kind)",
        postgres.database_of(server_url),
    )
    with Store(server_url).session("chat") as session:
        assert session.put(b"x\n").read_lines(1, 1) == b"x\n"


def test_no_tables_and_other_revisions(server, server_url):
    """The message names the command that makes them, or says that a newer version is needed."""
    empty = server.new_database(schema=False)
    with pytest.raises(
        SchemaTooOldError, match="has no tables of Spillstore; make them with `spillstore upgrade postgres"
    ):
        Store(server.url(empty)).session("chat")
    server.execute("CREATE SCHEMA spillstore", empty)
    with pytest.raises(SchemaTooOldError, match="has no tables"):
        Store(server.url(empty)).session("chat")
    server.drop_database(empty)
    name = postgres.database_of(server_url)
    server.execute("UPDATE spillstore.alembic_version SET version_num = '0000'", name)
    with pytest.raises(
        SchemaTooOldError, match=f"has the schema 0000, older than {schema.REVISION}; upgrade it with"
    ):
        Store(server_url).session("chat")
    server.execute("UPDATE spillstore.alembic_version SET version_num = '9999'", name)
    with pytest.raises(SchemaTooNewError, match="use a newer Spillstore"):
        Store(server_url).session("chat")
    server.execute("DELETE FROM spillstore.alembic_version", name)
    with pytest.raises(SchemaTooOldError, match="has no tables"):
        Store(server_url).session("chat")


def test_a_role_without_rights(server, server_url):
    """It is told which command gives them."""
    if not isinstance(server, postgres.Server):
        pytest.skip("roles are made on a server of ours alone")
    nobody = f"nobody_{os.getpid()}"
    server.execute(f"CREATE ROLE {nobody} LOGIN")
    with pytest.raises(ReadOnlyError, match="permission denied for schema spillstore; `spillstore grant"):
        Store(server_url.replace("postgres@", f"{nobody}@")).session("chat")
    server.execute(f"DROP ROLE {nobody}")


def test_another_encoding_is_refused(server):
    """By stores and by upgrades, which say how to make a database with the right one."""
    name = server.new_database(schema=False, options="ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(
        UnsupportedError, match="has the encoding SQL_ASCII; a store needs UTF8: CREATE DATABASE"
    ):
        Store(server.url(name)).session("chat")
    with pytest.raises(UnsupportedError, match="has the encoding SQL_ASCII"):
        upgrading.upgrade(server.url(name))
    server.drop_database(name)


def test_an_old_server_is_refused():
    """By its number; which is all that is looked at."""
    old = types.SimpleNamespace(info=types.SimpleNamespace(server_version=140011))
    with pytest.raises(UnsupportedError, match="the server is PostgreSQL 14; a store needs 15 or newer"):
        schema.check_server(old)


def collations(server):
    """Options of databases with collations that sort otherwise than by bytes, as far as this server has some."""
    yield "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'"
    names = {name for (name,) in server.execute("SELECT collname FROM pg_collation WHERE collprovider = 'c'")}
    for name in sorted(names & {"en_US.utf8", "en_US.UTF-8", "C.utf8", "C.UTF-8"}):
        yield f"LOCALE '{name}'"


def test_any_collation_will_do(server):
    """Ids are compared by their bytes, whatever the database sorts by: a prefix finds what begins with it."""
    tried = 0
    for options in collations(server):
        try:
            name = server.new_database(schema=False, options=options)
        except psycopg.errors.FeatureNotSupported:  # a server that was built without ICU
            continue
        tried += 1
        upgrading.upgrade(server.url(name))
        assert server.execute(
            "SELECT count(*) FROM pg_database WHERE datname = current_database()"
            " AND (datcollate <> 'C' OR datlocprovider <> 'c')",
            name,
        ) == [(1,)]
        clock = ManualClock()  # ids begin with the time
        with Store(server.url(name), clock=clock, **NO_FLOORS).session("chat", "weß") as session:
            made = []
            for number in range(5):
                made.append(session.put(b"%d\n" % number))
                clock.advance(1)
            assert session.matching(made[0].id[:12]) == [each.id for each in made]
            assert [info.id for info in session.infos()] == [each.id for each in made[::-1]]
        assert Store(server.url(name)).check() == 1
        server.drop_database(name)
    if not tried:
        pytest.skip("this server has no collation but C")
