"""What a server must be for a store to be on it: its version, its encoding, and our tables as this version knows them.

A server is trusted as far as its role. What is checked is that nothing changes rows behind our back: no column, type,
trigger, rule or policy that is not ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, get_args, get_type_hints

import psycopg

from spillstore.exceptions import (
    IntegrityError,
    ReadOnlyError,
    SchemaTooNewError,
    SchemaTooOldError,
    UnsupportedError,
)
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import ArtifactRow, SessionRow

if TYPE_CHECKING:
    from typing import Any

REVISION: Final = "0001"  # the newest of ``spillstore_migrations.server``
POLICY: Final = "spillstore_"  # what the names of our policies begin with
_OLDEST: Final = 15
_TYPES: Final = {int: "bigint", str: "text C", bytes: "bytea"}
_KEY: Final = {"session_key": "bigint NOT NULL"}
_EVENT: Final = {
    **_KEY,
    **dict.fromkeys(("event_key", "at_us"), "bigint NOT NULL"),
    "kind": "text C NOT NULL",
    **dict.fromkeys(("artifact_id", "actor", "tool_call_id", "detail"), "text C"),
}
_NAMED: Final = {"name": "text C NOT NULL", **_KEY, "uid": "text C NOT NULL"}


def _columns(row: type[tuple[object, ...]]) -> dict[str, str]:
    return {name: _type(hint) for name, hint in get_type_hints(row).items()}


def _type(hint: object) -> str:
    kind, *null = get_args(hint) or (hint,)  # of ``int | None``, both
    (name,) = (name for each, name in _TYPES.items() if issubclass(kind, each))
    return name if null else f"{name} NOT NULL"


def tables() -> dict[str, dict[str, str]]:
    """The columns of each table with their types: collation C, and whether they may be NULL, as the check reads them."""
    return {
        "session": {**_KEY, **_columns(SessionRow)},
        "artifact": {**_KEY, **_columns(ArtifactRow)},
        "chunk": {**_KEY, "artifact_key": "bigint NOT NULL", **_columns(ChunkRow)},
        "event": {**_EVENT, "shown": "bytea"},
        "name": _NAMED,
        "place": {
            **_KEY,
            "uid": "text C NOT NULL",
            "project_id": "text C",
            "session_id": "text C NOT NULL",
            "version": "bigint NOT NULL",
            "token": "bytea",
            "stored_bytes": "bigint NOT NULL",
            "used_at": "timestamp with time zone NOT NULL",
        },
        "claim": {
            **_KEY,
            "owner": "text C NOT NULL",
            "about": "text C NOT NULL",
            "beat": "timestamp with time zone NOT NULL",
            "token": "bytea",
        },
        "doomed": {
            **_KEY,
            "project_id": "text C",
            "stored_bytes": "bigint NOT NULL",
            "doomed_at": "timestamp with time zone NOT NULL",
        },
        "kept_session": {**_NAMED, "kept_at": "timestamp with time zone NOT NULL"},
        "kept_event": _EVENT,
        "store": {
            "one": "smallint NOT NULL",
            "looked_at": "double precision",
            "size": "bigint",
            "measured_at": "timestamp with time zone",
        },
    }


# A row for each table of the schema: its name and kind; its columns; the names of triggers, rules and policies of others;
# whether COPY into it is refused to this role, as it is where policies count; whether the database has Citus.
_FOUND: Final = (
    "SELECT relation.relname::text, relation.relkind::text, ARRAY(SELECT concat_ws(' ', attname, format_type(atttypid,"
    " atttypmod), (SELECT collname FROM pg_collation WHERE oid = attcollation), CASE WHEN attnotnull THEN 'NOT NULL' END)"
    " FROM pg_attribute WHERE attrelid = relation.oid AND attnum > 0 AND NOT attisdropped),"
    " ARRAY(SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = relation.oid AND NOT tgisinternal"
    " UNION ALL SELECT 'rule ' || rulename FROM pg_rewrite WHERE ev_class = relation.oid AND rulename <> '_RETURN'"
    " UNION ALL SELECT 'policy ' || polname FROM pg_policy WHERE polrelid = relation.oid AND NOT starts_with(polname::text,"
    " %(policy)s)), relation.relkind = 'r' AND row_security_active(relation.oid),"
    " EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
    " FROM pg_class AS relation WHERE relnamespace = to_regnamespace('spillstore') AND relname = ANY(%(names)s)"
)
_REVISION: Final = "SELECT version_num FROM spillstore.alembic_version"
_KINDS: Final = {"v": "a view", "m": "a view", "f": "a foreign table", "p": "a partitioned table"}


class Found(NamedTuple):
    """What a process knows of a server that has our tables.

    Attributes:
        copies: whether COPY into chunks is allowed to this role; policies forbid it.
        citus: whether the database has Citus.
    """

    copies: bool
    citus: bool


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


def check_schema(raw: psycopg.Connection[Any], shown: str) -> Found:
    """Check that our tables are there, and are as this version knows them. Cost: one round trip, 2 ms of the server.

    Args:
        raw: a connection that commits each statement by itself.
        shown: the store's name, for messages.

    Raises:
        SchemaTooOldError, SchemaTooNewError: they are not there, or are those of another version.
        IntegrityError: they have been changed.
        ReadOnlyError: the role may not even read them.
    """
    expected = tables()
    values = {"policy": POLICY, "names": list(expected)}
    try:
        with raw.pipeline():
            there = raw.execute(_FOUND, values)
            version = raw.execute(_REVISION)
        revision = version.fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        revision = None
    except psycopg.errors.InsufficientPrivilege as error:
        raise ReadOnlyError(
            f"{shown} cannot be used: {error.diag.message_primary}; `spillstore grant {shown} --role ROLE` says what a role needs"
        ) from None
    if revision is None:
        raise SchemaTooOldError(
            f"{shown} has no tables of Spillstore; make them with `spillstore upgrade {shown}`"
        )
    _check_revision(revision[0], shown)
    found = {row[0]: row for row in there}
    problems = [problem for name, columns in expected.items() for problem in _problems(name, columns, found)]
    if problems:
        more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""  # noqa: PLR2004  # for a person
        raise IntegrityError(
            f"{shown} has tables that are not as `spillstore upgrade` makes them: {'; '.join(problems[:3])}{more}"
        )
    return Found(copies=not found["chunk"][4], citus=found["chunk"][5])


def _check_revision(revision: str, shown: str) -> None:
    if revision < REVISION:
        raise SchemaTooOldError(
            f"{shown} has the schema {revision}, older than {REVISION}; upgrade it with `spillstore upgrade {shown}`"
        )
    if revision > REVISION:
        raise SchemaTooNewError(
            f"{shown} has the schema {revision}, and this version knows {REVISION}; use a newer Spillstore"
        )


def _problems(name: str, expected: dict[str, str], tables: dict[str, Any]) -> list[str]:
    """What is wrong with a table, in words."""
    if name not in tables:
        return [f"the table {name} is not there"]
    _, kind, columns, foreign, _, _ = tables[name]
    if kind != "r":
        return [f"{name} is {_KINDS.get(kind, 'no table')}"]
    found = dict(column.split(" ", 1) for column in columns)
    problems = [f"{name} has the {each}" for each in foreign]
    problems += [f"{name} has the column {each}" for each in found.keys() - expected.keys()]
    problems += [f"{name} has no column {each}" for each in expected.keys() - found.keys()]
    problems += [
        f"the column {each} of {name} is {found[each]}, and not {kind}"
        for each, kind in expected.items()
        if found.get(each, kind) != kind
    ]
    return problems
