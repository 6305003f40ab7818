"""A value without quotes: where the word ends, and whether it is a literal or a variable of a program."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.redaction.look import BACK, WORD_END, compiled, name_start
from spillstore.redaction.remembered import remembered
from spillstore.redaction.tables.literals import LITERALS, NOT_PASSWORDS
from spillstore.redaction.tables.runs import TRAILING
from spillstore.redaction.values import LEAST, drawn, judged, mixed
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.redaction.look import Look
    from spillstore.redaction.names import Named
    from spillstore.redaction.tables.literals import Unquoted

CUT = re.compile(
    rb"[&;,|](?:\s*+(?:[\w.%$\[\]-]{1,64}+[=:])|[;&,|)\]}>.]*+$)|</|\\+[\"nrt]|[&|;]{2}|&(?:quot|apos|#39|#34|#x27|#x22|lt|gt);"
    rb"|\xe2\x80[\x98-\x9f]|\xc2[\xab\xbb]"
)
_TRAILING = TRAILING.encode()
_PARTNERS = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}
_CLOSED = re.compile(rb"([\w.]*)[)\]}]+[.;,)\]}]")  # in a program, by brackets that were opened before
_LONG = 256  # bytes of a refused value that are looked at again, for names in it
_LOOKS = {"drawn": drawn, "mixed": mixed}


def _by_sign(rows: tuple[Unquoted, ...]) -> Callable[[bytes], tuple[Unquoted, ...]]:
    """What gives the rows that fit a name and what stands between it and its value."""

    @remembered
    def fitting(sign: bytes) -> tuple[Unquoted, ...]:
        return tuple(row for row in rows if not row.sign or compiled(row.sign).fullmatch(sign))

    return fitting


_literals, _not_passwords = _by_sign(LITERALS), _by_sign(NOT_PASSWORDS)


def _stands(
    rows: Callable[[bytes], tuple[Unquoted, ...]], text: bytes, begin: int, start: int, stop: int
) -> bool:
    """Whether one of the rows fits a value from ``start`` to ``stop`` behind a name at ``begin``."""
    before, value = text[max(0, begin - BACK) : begin], text[start:stop]
    return any(
        (not row.behind or compiled(row.behind).match(text, stop))
        and (not row.value or compiled(row.value).fullmatch(value))
        and (not row.not_value or not compiled(row.not_value).fullmatch(value))
        and (not row.before or compiled(row.before, ends=True).search(before))
        and (not row.unless or not _LOOKS[row.unless](value))
        for row in rows(text[begin:start])
    )


def _literal(text: bytes, begin: int, start: int, stop: int) -> bool:
    """Whether an unquoted word is a literal where it stands."""
    given = text[start:stop]
    return b"(" not in given and not given.endswith(b"[") and _stands(_literals, text, begin, start, stop)


def _read(look: Look, named: Named, begin: int, start: int, *, literal: bool) -> int:
    text = look.text
    end = look.word(start)
    if look.open(start, end, WORD_END):
        return end
    cut = CUT.search(text, start, end)
    stop = cut.start() if cut else end
    while stop > start and text[stop - 1] in _TRAILING and not _balanced(text[start:stop]):
        stop -= 1
    given = b"" if text.startswith(b"...", stop) else text[start:stop]  # what is left out is no secret
    if (closed := _CLOSED.match(given)) and not literal and not _literal(text, begin, start, stop):
        stop = start + closed.end(1)
        given = closed[1]
    password = named.strength == "password"
    if not given or (len(given) < LEAST and not password and named.strength != "code"):
        return 0
    found = judged(given, named.strength, quoted=False)
    if not literal and found != judged(given, named.strength, quoted=False, literal=False):
        found = found == _literal(text, begin, start, stop)
    if found and password and not literal and _stands(_not_passwords, text, begin, start, stop):
        return 0
    if found:
        look.add(start, stop, named.kind)
    return 0 if not found and len(given) <= _LONG else name_start(text, stop, start)


def _balanced(given: bytes) -> bool:
    """Whether the bracket at the end of a value has its partner in it."""
    partner = _PARTNERS.get(given[-1:])
    return partner is not None and given.count(partner) >= given.count(given[-1:])


# A literal or a variable, by where it stands; and where it can only be a literal.
bare = functools.partial(_read, literal=False)
word = functools.partial(_read, literal=True)
