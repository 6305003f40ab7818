"""Renders the statements of ``engine.relational`` as the text of ``sql.py``, which runs without SQLAlchemy.

Run ``python -m spillstore.engine.postgres.rendering > store/spillstore/engine/postgres/sql.py`` after a change.

Parameters stand as ``%(name)s``, without casts: ``session_key`` compared with a cast parameter hides the session's shard
from Citus. Tables stand with their schema, since nothing is set on a connection.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from sqlalchemy.dialects.postgresql import psycopg2  # the dialect that writes no casts

from spillstore.engine.relational.schema import metadata
from spillstore.engine.relational.statements import (
    ARTIFACT_COLUMNS,
    CHUNK_COLUMNS,
    SESSION_COLUMNS,
    statements,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import sqlalchemy as sa
    from sqlalchemy.sql.elements import ClauseElement

SCHEMA = "spillstore"
# Events get their keys from who holds the session's lock; archives are tables of their own here.
_NOT_HERE = ("EVENT_INSERT", "ARCHIVE_", "CHUNK_DIGESTS", "CHUNKS_DROP")
_OPTIONAL = re.compile(r"\(%\((\w+)\)s IS NULL")  # whose type nothing else says where it is NULL
_DIALECT = psycopg2.dialect(paramstyle="pyformat")  # type: ignore[no-untyped-call]  # SQLAlchemy's


def render_sql(statement: ClauseElement) -> str:
    """One statement as psycopg reads it, with ``%(name)s`` parameters."""
    compiled = statement.compile(dialect=_DIALECT, schema_translate_map={None: SCHEMA})
    text = str(compiled).replace("__[SCHEMA__none].", f"{SCHEMA}.").replace("x''", "''::bytea")
    for table in metadata.tables:
        text = text.replace(f"{SCHEMA}.{table}.", f"{table}.")  # columns
    text = _OPTIONAL.sub(r"(%(\1)s::text IS NULL", text)
    return " ".join(text.split())


def _columns(name: str, columns: Sequence[sa.Column[Any]]) -> list[str]:
    return [f"{name} = (", *(f'    "{column.name}",' for column in columns), ")"]


def render() -> str:
    """The text of ``sql.py``."""
    lines = [
        '"""Rendered from the tables and statements of ``engine.relational``; a test keeps them equal. Do not edit."""',
        "",
        "# fmt: off",
        "",
        *_columns("SESSION_COLUMNS", SESSION_COLUMNS),
        *_columns("ARTIFACT_COLUMNS", ARTIFACT_COLUMNS),
        *_columns("CHUNK_COLUMNS", CHUNK_COLUMNS),
        "",
        *(
            f'{name} = "{render_sql(statement)}"'
            for name, statement in statements().items()
            if not name.startswith(_NOT_HERE)
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
