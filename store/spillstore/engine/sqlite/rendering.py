"""Renders the tables and the statements as the text of ``sql.py``, which runs without SQLAlchemy.

Run ``python -m spillstore.engine.sqlite.rendering > store/spillstore/engine/sqlite/sql.py`` after a change.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from spillstore.engine.relational import schema
from spillstore.engine.relational.statements import (
    ARTIFACT_COLUMNS,
    CHUNK_COLUMNS,
    SESSION_COLUMNS,
    statements,
)
from spillstore.engine.sqlite import file_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa
    from sqlalchemy.sql.elements import ClauseElement


def render_sql(name: str, statement: ClauseElement) -> str:
    """One statement as SQLite reads it, with ``:name`` parameters.

    Those that insert or find chunks take ``?`` and a tuple instead: a dictionary for each of 16,384 rows a GiB is 3 %
    of the whole ingest, and binding by name a tenth of the time of a look-up. Their parameters are ``session_key``,
    ``artifact_key`` and then, for ``RANGE_...``, ``after``, ``last``, ``limit``; for the others the bound.
    """
    dialect = _POSITIONAL if name.startswith(_POSITIONAL_NAMES) else _NAMED
    return " ".join(str(statement.compile(dialect=dialect)).split())


def render_ddl() -> list[str]:
    """The statements that make an empty database, in order."""
    out = []
    for table in schema.metadata.sorted_tables:
        out.append(" ".join(str(CreateTable(table).compile(dialect=_NAMED)).split()))
        out += [
            " ".join(str(CreateIndex(index).compile(dialect=_NAMED)).split())
            for index in sorted(table.indexes, key=lambda index: str(index.name))
        ]
    return [*out, *file_schema.VIEWS]


_NAMED = sqlite.dialect(paramstyle="named")
_POSITIONAL = sqlite.dialect(paramstyle="qmark")
_POSITIONAL_NAMES = ("CHUNK_INSERT", "EVENTS_INSERT", "RANGE_", "LINE_", "BYTE_", "TIME_")


def _columns(name: str, columns: Sequence[sa.Column[Any]]) -> list[str]:
    return [f"{name} = (", *(f'    "{column.name}",' for column in columns), ")"]


def render() -> str:
    """The text of ``sql.py``."""
    lines = [
        '"""Rendered from the tables and statements of ``engine.relational``; a test keeps them equal. Do not edit."""',
        "",
        "# fmt: off",
        "",
        f"SCHEMA_NUMBER = {file_schema.SCHEMA_NUMBER}",
        f'REVISION = "{file_schema.REVISION}"',
        f"APPLICATION_ID = {file_schema.APPLICATION_ID}",
        f"PAGE_SIZE = {file_schema.PAGE_SIZE}",
        "",
        "DDL = (",
        *(f"    {_quoted(text)}," for text in render_ddl()),
        ")",
        "ARCHIVE_DDL = (",
        *(f"    {_quoted(text)}," for text in file_schema.ARCHIVE_INDEXES),
        ")",
        "",
        *_columns("SESSION_COLUMNS", SESSION_COLUMNS),
        *_columns("ARTIFACT_COLUMNS", ARTIFACT_COLUMNS),
        *_columns("CHUNK_COLUMNS", CHUNK_COLUMNS),
        "",
        *(f"{name} = {_quoted(render_sql(name, statement))}" for name, statement in statements().items()),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    assert '"' not in text.replace('\\"', ""), text  # no identifier of ours needs quotes
    return f'"{text}"'


if __name__ == "__main__":
    sys.stdout.write(render())
