"""Values in the columns of tables: below a title, and in rows of SQL whose columns are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction.look import BACK, line_start
from spillstore.redaction.names import Expected, Named, classify
from spillstore.redaction.values import judged
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from spillstore.redaction.look import Look

_FAR = 480  # bytes behind the first words of a statement; less than what `finder.py` says of phrases
_INSERTED = re.compile(rb"\(([\w, `\"]{1,256}+)\)[ \t]{0,8}+(?:VALUES|values)[ \t]{0,8}+\([ \t]{0,8}+")
_VALUE = re.compile(
    rb"(?:[EN]?'((?>(?:[^'\\\r\n]|\\[^\r\n]|'')*))(?:'|\Z)|[^'(),\r\n]*+(?:\([^'()\r\n]*+\))?)[ \t]{0,8}+(?:[,)][ \t]{0,8}+)?"
)
_COPIED = re.compile(rb"\(([\w, \"]{1,256}+)\) FROM stdin;(?=[\r\n])")
_COLUMN_SIGN = re.compile(rb"[,;\t|]")


def columns(look: Look, named: Named, begin: int, start: int) -> int:
    """The same column of the next lines, as that of the name in a line of names."""
    text = look.text
    line = line_start(text, begin, max(0, begin - BACK))
    sign = _COLUMN_SIGN.search(text, line, start)
    if sign is None:  # only one column
        return 0
    column = text.count(sign[0], line, begin + 1)
    count = text.count(sign[0], line, start) + 1
    look.expected.append((start + 1, Expected(named, "row", columns=count, column=column, sign=sign[0])))
    return 0


def aligned(look: Look, named: Named, begin: int, start: int) -> int:
    """The words below the title of a column, in the next lines, if there are other columns."""
    text = look.text
    head = text[line_start(text, begin, max(0, begin - BACK)) : begin]
    lead = len(head) - len(head.lstrip(b" "))
    gap = head.rfind(b"  ", lead)
    behind = text[begin:start].rstrip(b" ")
    if gap >= 0 or b"  " in behind:
        column = gap + 2 if gap >= 0 else lead
        look.expected.append((start + 1, Expected(named, "aligned", column=column)))
    return 0


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
        known = classify(name.strip(b' `"'))
        if known and match[1] and judged(match[1], known.strength, quoted=True, literal=True):
            look.add(*match.span(1), known.kind)
        place = match.end()
    return 0


def copied(look: Look, _named: Named, _begin: int, start: int) -> int:
    """The same column of the next lines, as that of the last name of a secret in a list of columns."""
    head = _COPIED.match(look.text, start)
    if head is None:
        return 0
    columns = head[1].split(b",")
    for place, name in reversed(list(enumerate(columns))):
        if known := classify(name.strip(b' "')):
            row = Expected(known, "row", columns=len(columns), column=place, sign=b"\t")
            look.expected.append((head.end() + 1, row))
            break
    return 0
