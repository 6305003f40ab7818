"""The statements of servers: rendered anew they are the same, and each names one session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlalchemy as sa

pytest.importorskip("psycopg")

from spillstore.engine.postgres import control
from spillstore.engine.postgres import rendering as _rendering
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.relational import schema


def test_the_rendered_statements_are_those_of_the_schema():
    """``sql.py`` is exactly what ``rendering.py`` makes of the statements today."""
    assert Path(_sql.__file__).read_text() == _rendering.render()


def test_the_tables_of_a_server_have_the_columns_of_the_schema(server, server_url):
    """What the revisions make has the names, types and order of ``relational.schema``; texts are compared by their bytes."""
    name = server_url.split("/")[-1].split("?")[0]
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
