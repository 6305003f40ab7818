"""Whether the schema of a session file is ours, and what others may have added to it.

A file that somebody else made is a program: views, triggers, generated columns, and expressions in indexes and checks are run
by whoever reads or writes its tables. So nothing is read from a file before its schema was compared, object by object and word
by word, with the one that we make, or made when its schema was the newest. White space alone may differ, because SQLite keeps each statement as it was written, and
Alembic writes lines.

What other programs leave in a file that somebody has looked at is accepted where it can run nothing and change none of our
rows, and no statement of ours names it: SQLite's own tables (of ``ANALYZE``, of ``AUTOINCREMENT``), plain tables (no generated
column, no check), plain indexes (columns alone, no expression, no condition, no unknown collation), on our tables those that are
not unique. Triggers, views, virtual tables and everything else are refused by name.

Besides, SQLite is told to trust no schema and no cell, to attach nothing, to follow no foreign keys, and to make nothing as large
as only a hostile file needs it; that costs 20 us, the comparison 60 of the 500 that a connection takes. Python 3.12 could switch
triggers and views off altogether (``setconfig``); the comparison does it on all versions.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import IntegrityError, NotASessionError, SchemaTooNewError
from spillstore.runtime import lazy_patterns as re
from spillstore.settings import KIB, MIB

if TYPE_CHECKING:
    from pathlib import Path

ALEMBIC_TABLE: Final = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
MOST_ROW_BYTES: Final = 16 * MIB  # of a row: a chunk takes 130 KiB, the rest is for commands and details
_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, MOST_ROW_BYTES),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 64 * KIB),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100),
    (sqlite3.SQLITE_LIMIT_COLUMN, 200),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
)
_OBJECT = re.compile(r"CREATE (?:UNIQUE )?(TABLE|INDEX|VIEW) (\w+)(?: ON (\w+))?")
_AROUND = re.compile(r"\s*([(),])\s*")
# SQLite's own tables, which it reads for what it trusts. They make nothing run.
_OF_SQLITE: Final = frozenset(
    ("table", name, name, f"CREATE TABLE {name}({columns})")
    for name, columns in (
        ("sqlite_stat1", "tbl,idx,stat"),
        ("sqlite_stat4", "tbl,idx,neq,nlt,ndlt,sample"),
        ("sqlite_sequence", "name,seq"),
    )
)
_MOST_ADDED: Final = 200  # objects of others
_COLLATIONS: Final = frozenset({"BINARY", "NOCASE", "RTRIM"})
# Names and strings in quotes, and comments: in what is left of a statement, a keyword is one.
_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL
)
_EVALUATES = re.compile(
    r"\b(?:AS|CHECK)\b", re.IGNORECASE
)  # a generated column, a check; SQLite reserves both words
_SELECT = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?"
_INDEX_OF = 'SELECT "unique", partial FROM pragma_index_list(?) WHERE name = ?'
_INDEX_COLUMNS = "SELECT cid, coll FROM pragma_index_xinfo(?)"
_EXPRESSION: Final = -2  # the "column" of an index on an expression

_Object = tuple[object, object, object, object]


def distrust(connection: sqlite3.Connection) -> None:
    """Tell SQLite what no file of ours needs; before the first look at the file."""
    for category, most in _LIMITS:
        connection.setlimit(category, most)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA foreign_keys = OFF")  # tables of others may refer to ours


@lru_cache(maxsize=8)
def expected(number: int) -> dict[object, _Object]:
    """All objects of a new session's file of that schema, by name; none of a schema that there never was."""
    out: dict[object, _Object] = {}
    ddl = _sql.DDL
    if number != _sql.SCHEMA_NUMBER:
        from spillstore.engine.sqlite import earlier_schemas  # noqa: PLC0415  # few files are of one

        if number not in earlier_schemas.DDL:
            return out
        ddl = earlier_schemas.DDL[number]
    for statement in (*ddl, ALEMBIC_TABLE):
        found = _OBJECT.match(statement)
        assert found is not None, f"a kind of object that is not known here: {statement}"
        kind, name, table = found[1].lower(), found[2], found[3] or found[2]
        out[name] = (kind, name, table, statement)
        if kind == "table":  # SQLite's own index of a primary key
            own = f"sqlite_autoindex_{name}_1"
            out[own] = ("index", own, name, None)
    return out


def schema_number(connection: sqlite3.Connection) -> int:
    """The schema's number of an open file. Cost: 10 us.

    Raises:
        NotASessionError: the file is a database, but none of ours.
    """
    with translated("reading the schema's version"):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (number,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _sql.APPLICATION_ID:
        raise NotASessionError("the file is a SQLite database, but no Spillstore session")
    return int(number)


def checked_schema(connection: sqlite3.Connection, path: Path) -> int:
    """The number of a file's schema, today's or an earlier one, once the file has turned out to have that schema.

    Raises:
        NotASessionError: the file is a database, but none of ours.
        SchemaTooNewError: a newer version has written it.
        IntegrityError: no version has written files of that number, or ``check_schema`` refuses it.
    """
    number = schema_number(connection)
    if number > _sql.SCHEMA_NUMBER:
        raise SchemaTooNewError(
            f"{path} has schema {number} and this version knows {_sql.SCHEMA_NUMBER}; read it with a newer Spillstore"
        )
    if not expected(number):
        raise IntegrityError(f"{path} has schema {number}, which never was one; its header was changed")
    with translated(f"reading the schema of {path}"):
        check_schema(connection, number)
    return number


def check_schema(connection: sqlite3.Connection, number: int) -> None:
    """Refuse a file whose schema is not ours, or that holds what may run code or change our rows.

    Cost: 60 us, and 10 more for each object that others have added.

    Args:
        connection: to the file.
        number: of the schema that it says to have.

    Raises:
        IntegrityError: it names the first object that differs.
        sqlite3.Error: the schema cannot be read.
    """
    ours = expected(number)
    rows = connection.execute(_SELECT, (len(ours) + _MOST_ADDED + 1,)).fetchall()
    if len(rows) == len(ours) and frozenset(rows) == frozenset(ours.values()):
        return
    if len(rows) > len(ours) + _MOST_ADDED:
        raise IntegrityError(f"others have added more than {_MOST_ADDED} tables and indexes to the file")
    left = dict(ours)
    added: list[_Object] = []
    for row in rows:
        wanted = left.pop(row[1], None)
        if wanted is None and row[1] not in ours:
            added.append(row)
        elif wanted is None or _loose(row) != _loose(wanted):
            raise IntegrityError(f"{_shown(row)} of the file is not as a session's is made")
    if left:
        lacking = next(iter(left.values()))
        raise IntegrityError(f"the file lacks {lacking[0]} {lacking[1]!r}")
    _check_added(connection, added, frozenset(str(name).lower() for name in ours))


def _check_added(connection: sqlite3.Connection, added: list[_Object], ours: frozenset[str]) -> None:
    """Refuse what others have added, unless it is one of SQLite's own tables, a plain table or a plain index."""
    names: set[str] = set()
    for row in added:
        kind, name, table, _ = row
        if not isinstance(name, str) or name.lower() in ours | names:  # SQLite's names know no case
            raise IntegrityError(f"{_shown(row)} of the file is not as a session's is made")
        names.add(name.lower())
        if row in _OF_SQLITE or (kind == "table" and _is_plain_table(row)):
            continue
        if kind == "index" and _is_plain_index(connection, name, table, ours):
            continue
        raise IntegrityError(
            f"the file has {_shown(row)}, which could run what is not ours, or change what is, and is refused; if you know where "
            f"it is from, remove it with sqlite3 (DROP {str(kind)[:20].upper()} ...), and add such things to a copy alone"
        )


def _is_plain_table(row: _Object) -> bool:
    """Whether nothing is evaluated when the table is read, written or checked."""
    _, name, table, sql = row
    return (
        name == table
        and isinstance(sql, str)
        and not str(name).lower().startswith("sqlite_")
        and sql.startswith("CREATE TABLE ")
        and not _EVALUATES.search(_QUOTED.sub(" ", sql))
    )


def _is_plain_index(connection: sqlite3.Connection, name: str, table: object, ours: frozenset[str]) -> bool:
    """Whether the index holds columns alone, of all rows; asked of SQLite, which has read its statement."""
    found = connection.execute(_INDEX_OF, (table, name)).fetchone()
    if found is None:
        return False
    unique, partial = found
    if partial or (unique and str(table).lower() in ours):
        return False
    columns = connection.execute(_INDEX_COLUMNS, (name,)).fetchall()
    return all(cid != _EXPRESSION and coll in _COLLATIONS for cid, coll in columns)


def _shown(row: _Object) -> str:
    return f"{str(row[0])[:20]} {repr(row[1])[:80]}"


def _loose(row: _Object) -> _Object:
    """An object with the white space of its statement brought into one form."""
    *names, sql = row
    return (*names, _AROUND.sub(r"\1", " ".join(sql.split())) if isinstance(sql, str) else sql)  # type: ignore[return-value]
