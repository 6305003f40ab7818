"""The statements of servers: rendered anew they are the same, and each names one session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlalchemy as sa
from postgres import database_of
from support import NO_FLOORS

pytest.importorskip("psycopg")

from spillstore import Store
from spillstore.engine.postgres import archive, citus, control
from spillstore.engine.postgres import rendering as _rendering
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.relational import schema


def test_the_rendered_statements_are_those_of_the_schema():
    """``sql.py`` is exactly what ``rendering.py`` makes of the statements today."""
    assert Path(_sql.__file__).read_text() == _rendering.render()


def test_the_tables_of_a_server_have_the_columns_of_the_schema(server, server_url):
    """What the revisions make has the names, types and order of ``relational.schema``; texts are compared by their bytes."""
    name = database_of(server_url)
    found = server.execute(
        "SELECT table_name, column_name, data_type, is_nullable, collation_name FROM information_schema.columns"
        " WHERE table_schema = 'spillstore' ORDER BY table_name, ordinal_position",
        name,
    )
    types = {sa.BigInteger: "bigint", sa.Text: "text", sa.LargeBinary: "bytea"}
    for table in schema.metadata.sorted_tables:
        columns = [
            (
                column.name,
                types[type(column.type)],
                "YES" if column.nullable else "NO",
                "C" if isinstance(column.type, sa.Text) else None,
            )
            for column in table.columns
        ]
        assert columns == [tuple(row[1:]) for row in found if row[0] == table.name]


# By their names: listings, and the look-up of a session's key.
OF_MANY = {"SESSIONS_PAGE", "DOOMED", "NAME_GET"}


def test_a_statement_names_its_session():
    """By a bare parameter: a cast would hide the shard from Citus. Only listings go over all sessions."""
    named = {**vars(_sql), **vars(control)}
    of_many = {
        name
        for name, text in named.items()
        if isinstance(text, str)
        and name.isupper()
        and "session_key" in text
        and not text.startswith("INSERT INTO")
        and "session_key = %(session_key)s" not in text
    }
    assert of_many == OF_MANY
    assert not [name for name, text in named.items() if re.search(r"session_key\)s::", str(text))]


TEXTS = {
    name: text
    for module in (_sql, control, archive)
    for name, text in vars(module).items()
    if isinstance(text, str) and name.isupper() and "spillstore." in text
}
BY_SESSION, BY_NAME = set(citus.BY_SESSION), set(citus.BY_NAME)
VOLATILE = re.compile(r"\b(clock_timestamp|timeofday|random|gen_random_uuid|nextval|set_config|pg_sleep)\(")


def tables_of(text):
    return re.findall(r"spillstore\.(\w+)", text)


def test_what_changes_rows_asks_no_volatile_function():
    """Citus refuses it in an UPDATE or DELETE: the servers could not agree on the value."""
    changing = {
        name
        for name, text in TEXTS.items()
        if re.search(r"\b(UPDATE|DELETE FROM|INSERT INTO) spillstore", text)
    }
    assert len(changing) > 20
    assert [] == [name for name in changing if VOLATILE.search(TEXTS[name])]


def test_tables_meet_by_the_session():
    """What names several is answered in one place: all are spread by the session's key, and each is asked for one session."""
    together = {name: set(tables_of(text)) for name, text in TEXTS.items() if len(set(tables_of(text))) > 1}
    assert {
        "EVENTS_SHOWN",
        "ARTIFACTS_TO_EVICT",
        "CHUNKS_DROP",
        "PLACE_DOOM",
        "_EVENTS",
        "SESSIONS_PAGE",
    } <= together.keys()
    for name, tables in together.items():
        assert tables <= BY_SESSION, name
        joined = len(re.findall(r"session_key = (%\(session_key\)s|\w+\.session_key)", TEXTS[name]))
        inserted = TEXTS[name].startswith("INSERT")
        assert joined >= len(tables_of(TEXTS[name])) - inserted - (name == "SESSIONS_PAGE"), name


def test_rows_are_copied_within_a_session():
    """Both tables are of the session, whose key comes first; nothing is inserted from what the same statement changes."""
    copied = {name: text for name, text in TEXTS.items() if re.search(r"INSERT INTO .* SELECT ", text)}
    assert copied.keys() == {"PLACE_DOOM", "_EVENTS"}
    for name, text in copied.items():
        assert text.startswith("INSERT INTO"), name
        assert set(tables_of(text)) <= BY_SESSION, name
        assert re.search(r"\(session_key, [^)]*\) SELECT session_key, ", text), name


def test_names_are_asked_by_themselves():
    """They are spread otherwise than sessions, so that no statement has both."""
    for name, text in TEXTS.items():
        tables = set(tables_of(text))
        if tables & BY_NAME:
            assert len(tables) == 1, name
            assert "name = %(name)s" in text or text.startswith("INSERT INTO"), name


def test_the_servers_of_citus_get_the_limits():
    """By ``SET LOCAL``, since Citus passes nothing else on, and after it was told to."""
    first, *others = citus.limits("30000ms", "off")
    assert first == "SET LOCAL citus.propagate_set_commands = 'local'"
    assert others == ["SET LOCAL lock_timeout = '30000ms'", "SET LOCAL synchronous_commit = 'off'"]


def test_a_transaction_sends_them_where_there_is_citus(server, server_url):
    """In its first round trip; a server without the extension takes the names of its settings for nobody's."""
    store = Store(server_url, durability="full", **NO_FLOORS)
    connections = store._backend._connections
    with store.session("chat") as session:
        connections.found = connections.found._replace(citus=True)
        assert session.put(b"x\n").read_lines(1, 1) == b"x\n"
        with session._engine.store.transaction("asking") as tx:
            asked = [
                tx._fetch(f"SHOW {name}")
                for name in ("citus.propagate_set_commands", "lock_timeout", "synchronous_commit")
            ]
    assert asked == [[("local",)], [("30s",)], [("on",)]]
