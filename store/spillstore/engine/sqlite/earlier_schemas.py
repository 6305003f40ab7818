"""Session files of earlier schemas, which are read as they are; who opens one for writing upgrades it first (``upgrade``).

A connection to such a file gets temporary views, one for each table that is another one today: it has today's columns, and NULL
or an expression for those that the file lacks. SQLite looks for a name among temporary objects first, so all statements
are today's, whatever the file's schema. A view of one table, without a condition, costs nothing: SQLite plans a statement that names
it as if that named the table, with the same indexes, partial ones too.

The other way would be statements rendered for each schema: sixty for each, to be rendered anew whenever one of them changes, and a
choice among them on the way of every read. So a schema costs its frozen statements and a line for each table that has changed since.

Nothing of the file is run by that: its schema was compared, word by word, with the frozen one, and the views live in the connection's
memory. What is written from here, events of who reads, goes to a table that has not changed; a test sees to that. Another process may
upgrade the file meanwhile: then the views show too little, and the connection says that it is stale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore.engine.sqlite import schema_1

if TYPE_CHECKING:
    import sqlite3

DDL: Final = {1: schema_1.DDL}
"""Of each earlier schema, the statements that made its files."""

# Of each earlier schema and table that is another one today: its columns, and what stands for those that it lacks.
_TABLES: Final = {
    1: {
        "chunk": "session_key, artifact_key, seq, size, line_start, stdout_start, stdout_size, stdout_line_start, stdout_lines, "
        "stderr_start, stderr_size, stderr_line_start, stderr_lines, time_start, time_end, line_flags, digest, segments, data, "
        "NULL AS grams",
    },
}


def present(connection: sqlite3.Connection, number: int) -> None:
    """Make the tables of an earlier file look like today's, to this connection alone. Cost: 0.1 ms.

    Args:
        connection: to a file whose schema was checked.
        number: of that schema.
    """
    connection.execute("PRAGMA temp_store = MEMORY")  # so that it works on a disk that is full
    for table, columns in _TABLES[number].items():
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {columns} FROM main.{table}")  # noqa: S608  # our own words
