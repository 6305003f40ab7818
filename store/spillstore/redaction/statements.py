"""Values in statements of SQL: rows whose columns are named, there or where the table was created."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.redaction.names import HINT, Expected, Named, classify
from spillstore.redaction.values import judged, typed
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look

_FAR = 480  # bytes behind the first words of a statement; less than what `finder.py` says of phrases
_INSERTED = re.compile(rb"\(([\w, `\"]{1,256}+)\)[ \t]{0,8}+(?:VALUES|values)[ \t]{0,8}+\([ \t]{0,8}+")
_VALUE = re.compile(
    rb"(?:[EN]?'((?>(?:[^'\\\r\n]|\\[^\r\n]|'')*))(?:'|\Z)|[^'(),\r\n]*+(?:\([^'()\r\n]*+\))?)[ \t]{0,8}+(?:[,)][ \t]{0,8}+)?"
)
_STRING = re.compile(rb"'([^'\\\r\n]*+)'")
_COPIED = re.compile(rb"\(([\w, \"]{1,256}+)\) FROM stdin;(?=[\r\n])")
_CREATED = re.compile(rb"(?:IF NOT EXISTS )?(?:[\w\"`]{1,64}\.)?[\"`\[]?(\w{1,64})[\"`\]]?[ \t]*\([ \t]*")
_DEFINED = re.compile(
    rb"[ \t]*(?!(?i:primary|unique|key|constraint|index|foreign|check|fulltext|partition)\b)[\"`\[]?(\w{1,64})[\"`\]]?[ \t]+[A-Za-z]"
)
_COMMA = re.compile(rb",(?![^(]*\))")  # not in brackets
_INTO = re.compile(
    rb"(?i)insert into (?:[\w\"`]{1,64}\.)?[\"`\[]?(\w{1,64})[\"`\]]?[ \t]+values[ \t]*(?=\(|\Z)"
)
_ROW = re.compile(rb"[ \t,]*\([ \t]*")
_MOST_COLUMNS = 64
_MOST_BETWEEN = 64  # lines between a table and its rows
LONGEST_ROW = 2 * 1024  # bytes of a line; as `nextlines.TRIMMED`


def inserted(look: Look, _named: Named, begin: int, start: int) -> int:
    """The values of a row of SQL whose columns are named; not far from the first."""
    head = _INSERTED.match(look.text, start)
    if head is None:
        return 0
    place = head.end()
    for name in head[1].split(b","):
        match = _VALUE.match(look.text, place)
        if match is None or match.end() - begin > _FAR or look.open(match.start(), match.end()):
            return 0
        known = _promised(name)
        if known and match[1] and judged(match[1], known.strength):
            look.add(*match.span(1), known.kind)
        place = match.end()
    return 0


def rows(look: Look, named: Named, begin: int, start: int) -> int:
    """Rows of SQL whose columns are not named, in a table of accounts: what looks typed as a password, not far from the first."""
    stop = min(look.line(start), begin + _FAR)
    if not look.open(start, stop):
        for match in _STRING.finditer(look.text, start, stop):
            if typed(match[1]):
                look.add(*match.span(1), named.kind)
    return 0


def copied(look: Look, _named: Named, _begin: int, start: int) -> int:
    """The columns of the next lines below the names of secrets in a list of columns."""
    head = _COPIED.match(look.text, start)
    if head is None:
        return 0
    columns = head[1].split(b",")
    for place, name in enumerate(columns):
        if known := _promised(name):
            row = Expected(known, "row", columns=len(columns), column=place, sign=b"\t")
            look.expected.append((head.end() + 1, row))
    return 0


def created(look: Look, named: Named, _begin: int, start: int) -> int:
    """``CREATE TABLE name (``: its columns stand in the next lines, or in this one."""
    text = look.text
    line = look.line(start)
    head = _CREATED.match(text, start, line)
    if head is None or line == look.size or line - start > _FAR:
        return 0
    table = Expected(named, "created", sign=head[1].lower())
    body, closed, _ = text[head.end() : line].rpartition(b")")
    if closed:
        table = functools.reduce(_column, _COMMA.split(body), table)._replace(form="statement")
    if not closed or table.places:
        look.expected.append((line + 1, table))
    return 0


def _column(table: Expected, definition: bytes) -> Expected:
    """The table with one more column, if that is what a line of it defines."""
    match = _DEFINED.match(definition)
    if match is None or table.columns >= _MOST_COLUMNS:
        return table
    known = _promised(match[1])
    places = (*table.places, (table.columns, known)) if known else table.places
    return table._replace(columns=table.columns + 1, places=places)


def _promised(name: bytes) -> Named | None:
    known = classify(name.strip(b' `"'))
    return None if known is None or known.strength == HINT else known


def definition(line: bytes, table: Expected) -> tuple[None, Expected | None]:
    """A line of ``CREATE TABLE``: a column, or the end."""
    if not line.lstrip().startswith(b")"):
        return None, _column(table, line)
    return None, table._replace(form="statement") if table.places else None


def statement(line: bytes, table: Expected) -> tuple[list[tuple[int, int, bool]], Expected | None]:
    """A line behind it: ``INSERT INTO name VALUES (...)``, rows of such a statement, or anything else."""
    insert = _INTO.match(line)
    if (insert is None or insert[1].lower() != table.sign) and not line.startswith(b"("):
        return [], table._replace(passed=table.passed + 1) if table.passed < _MOST_BETWEEN else None
    found: list[tuple[int, int, bool]] = []
    place = insert.end() if insert else 0
    while len(line) <= LONGEST_ROW and (row := _ROW.match(line, place)):
        place, column = row.end(), 0
        while place < len(line) and (value := _VALUE.match(line, place)) and value.end() > place:
            known = dict(table.places).get(column)
            if known and value[1]:
                found.append((*value.span(1), judged(value[1], known.strength)))
            place, column = value.end(), column + 1
            if value[0].rstrip().endswith(b")"):
                break
    return found, table._replace(passed=0)
