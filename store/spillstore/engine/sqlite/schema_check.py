"""What a session file may consist of.

A file that somebody else made is a program: views, triggers, generated columns and expressions in indexes are run by whoever
reads or writes its tables. So nothing is read from a file before its schema was compared, object by object and word by word, with the one that we make:
a table, index, view or trigger too many, too few or different, and the file is refused. The views that are ours are never
read by us, and what is not ours never gets a chance. The tables of numbers that ANALYZE leaves are let be. White space
alone may differ, because SQLite keeps each statement as it was written, and Alembic writes lines. Besides, SQLite is told to trust no schema and no cell, to attach nothing, and to
make nothing as large as only a hostile file needs it; that costs 20 us, the comparison 60 of the 500 that a connection
takes. Python 3.12 could switch triggers and views off altogether (``setconfig``); the comparison does it on all versions.
"""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache
from typing import Final

from spillstore.engine.sqlite import sql as _sql
from spillstore.exceptions import IntegrityError
from spillstore.settings import KIB, MIB

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
# What ANALYZE leaves: tables of numbers, by SQLite's own names, of which it reads what it trusts. They make nothing run.
_STATISTICS: Final = frozenset(
    ("table", name, name, f"CREATE TABLE {name}({columns})")
    for name, columns in (("sqlite_stat1", "tbl,idx,stat"), ("sqlite_stat4", "tbl,idx,neq,nlt,ndlt,sample"))
)
_SELECT = "SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?"

_Object = tuple[object, object, object, object]


def distrust(connection: sqlite3.Connection) -> None:
    """Tell SQLite what no file of ours needs; before the first look at the file."""
    for category, most in _LIMITS:
        connection.setlimit(category, most)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")


@lru_cache(maxsize=1)
def _expected() -> dict[object, _Object]:
    """All objects of a new session's file, by name."""
    out: dict[object, _Object] = {}
    for statement in (*_sql.DDL, ALEMBIC_TABLE):
        found = _OBJECT.match(statement)
        assert found is not None, f"a kind of object that is not known here: {statement}"
        kind, name, table = found[1].lower(), found[2], found[3] or found[2]
        out[name] = (kind, name, table, statement)
        if kind == "table":  # SQLite's own index of a primary key
            own = f"sqlite_autoindex_{name}_1"
            out[own] = ("index", own, name, None)
    return out


def check_schema(connection: sqlite3.Connection) -> None:
    """Refuse a file whose schema is not ours. Cost: 60 us.

    Raises:
        IntegrityError: it names the first object that differs.
        sqlite3.Error: the schema cannot be read.
    """
    expected = _expected()
    rows = connection.execute(_SELECT, (len(expected) + len(_STATISTICS) + 1,)).fetchall()
    if len(rows) > len(expected):
        rows = [row for row in rows if row not in _STATISTICS]
    if len(rows) == len(expected) and frozenset(rows) == frozenset(expected.values()):
        return
    left = dict(expected)
    for row in rows:
        kind, name = str(row[0])[:20], repr(row[1])[:80]
        if row[1] not in expected:
            raise IntegrityError(
                f"the file has {kind} {name}, which no session file of this version has, and what others have added is not "
                f"run; if you know where it is from, remove it with sqlite3 (DROP {kind.upper()} ...), and add such things to a "
                "copy alone"
            )
        wanted = left.pop(row[1], None)
        if wanted is None or _loose(row) != _loose(wanted):
            raise IntegrityError(f"{kind} {name} of the file is not as a session's is made")
    if left:
        lacking = next(iter(left.values()))
        raise IntegrityError(f"the file lacks {lacking[0]} {lacking[1]!r}")


def _loose(row: _Object) -> _Object:
    """An object with the white space of its statement brought into one form."""
    *names, sql = row
    return (*names, _AROUND.sub(r"\1", " ".join(sql.split())) if isinstance(sql, str) else sql)  # type: ignore[return-value]
