"""What a server must be for a store to be on it: its version, its encoding, and the schema of our tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import psycopg

from spillstore.exceptions import SchemaTooNewError, SchemaTooOldError, UnsupportedError

if TYPE_CHECKING:
    from typing import Any

REVISION: Final = "0001"  # the newest of ``spillstore_migrations.server``
_OLDEST: Final = 15
_SCHEMA: Final = "SELECT version_num FROM spillstore.alembic_version"


def check_server(raw: psycopg.Connection[Any]) -> None:
    """Check what the server has said of itself when the connection was made.

    Raises:
        UnsupportedError: it is too old, or its encoding cannot hold all texts.
    """
    version = raw.info.server_version // 10000
    if version < _OLDEST:
        raise UnsupportedError(f"the server is PostgreSQL {version}; a store needs {_OLDEST} or newer")
    encoding = raw.info.parameter_status("server_encoding")
    if encoding not in {"UTF8", None}:
        raise UnsupportedError(
            f"the database has the encoding {encoding}; a store needs UTF8: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        )


def check_schema(raw: psycopg.Connection[Any], shown: str) -> None:
    """Check that our tables are there, as this version knows them. Cost: one round trip.

    Args:
        raw: a connection.
        shown: the store's name, for messages.

    Raises:
        SchemaTooOldError, SchemaTooNewError: they are not.
    """
    try:
        found = raw.execute(_SCHEMA).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        found = None
    if found is None:
        raise SchemaTooOldError(
            f"{shown} has no tables of Spillstore; make them with `spillstore upgrade {shown}`"
        )
    (revision,) = found
    if revision < REVISION:
        raise SchemaTooOldError(
            f"{shown} has the schema {revision}, older than {REVISION}; upgrade it with `spillstore upgrade {shown}`"
        )
    if revision > REVISION:
        raise SchemaTooNewError(
            f"{shown} has the schema {revision}, and this version knows {REVISION}; use a newer Spillstore"
        )
