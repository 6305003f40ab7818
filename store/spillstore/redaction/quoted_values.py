"""A value in quotes: where its string ends, and whether what is in it is a secret."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.redaction.look import ALNUM, BACK, LINE_ENDS, LONGEST_NAME, line_start, name_start
from spillstore.redaction.tables import forms
from spillstore.redaction.tables.runs import IN_PIECES
from spillstore.redaction.values import LEAST, LEAST_CHOSEN, drawn, judged, mixed
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.redaction.look import Look
    from spillstore.redaction.names import Named

QUOTE = re.compile(forms.QUOTE.encode())
_IN_PIECES = re.compile(IN_PIECES.encode())
_INSIDE = {quote: re.compile(rb"(?>(?:[^%b\\\r\n]|\\[^\r\n])*)" % quote) for quote in (b'"', b"'", b"`")}
_ENDS = {quote: re.compile(quote) for quote in _INSIDE}
_BEHIND_STRINGS = re.compile(rb"[+.,;)%\]}\s]|\Z")
_LEAST_LISTED = 6
_SIGNS = bytes(sorted(set(range(128)) - ALNUM))
_FORMATS = frozenset(b"fF$")
_BACKTICK = ord("`")
_TIGHT = frozenset(b"=:")
_PROGRAM = re.compile(rb"[a-z][\w./-]*(?:[ \t|].*)?")


def _read(
    look: Look, named: Named, begin: int, start: int, good: Callable[[bytes, bytes], bool] | None
) -> int:
    text = look.text
    match = QUOTE.match(text, start)
    if match is None:
        return 0
    escape, quote = match.groups()
    inside = match.end()
    if not escape and text[inside : inside + 2] == quote * 2:
        inside += 2
    if escape:
        line = look.line(inside)
        end = text.find(escape + quote, inside, line)
        end = line if end < 0 else end
    else:
        end = look.end(_INSIDE[quote], inside)
    after = end + len(escape) + 1
    if look.open(start, end + 1, _ENDS[quote]) or (good is not None and look.open(start, after + 1)):
        return end
    given = text[inside:end]
    if not escape and _ends_a_string(text, start, inside):
        return 0
    if text[end : end + 1] in LINE_ENDS:  # no quote at its end: not all of the line is the value
        given = given.split(b" ", 1)[0].rstrip(b"\\,;)}]")
    stripped = given.strip(b" ")
    if named.strength != "password" and stripped != given and _IN_PIECES.fullmatch(stripped):
        inside += len(given) - len(given.lstrip(b" "))
        given = stripped
    if (
        (good is not None and not good(given, text[after : after + 1]))
        or _no_literal(text, begin, start, given)
        or not judged(given, named.strength, literal=False)
    ):
        return 0
    stop = inside + len(given)
    look.add(inside, stop, named.kind)
    return name_start(text, stop, inside)


def _no_literal(text: bytes, begin: int, start: int, given: bytes) -> bool:
    """Whether a value in quotes is made of others, or is a program's output, or only says its name again."""
    if text[start] in _FORMATS and b"{" in given:  # of Python or C#
        return True
    if text[start] == _BACKTICK and text[start - 1] in _TIGHT and _PROGRAM.fullmatch(given):
        return True
    told = given.translate(None, _SIGNS).lower()  # `SN_set_Token` is `"set-Token"`
    name = text[begin : min(start, begin + LONGEST_NAME)]
    return len(told) >= LEAST and told in name.translate(None, _SIGNS).lower()


def _ends_a_string(text: bytes, start: int, inside: int) -> bool:
    """Whether the quote before ``inside`` ends a string of a program, which ends with the name and a sign: ``"PWD=" + x``."""
    if _BEHIND_STRINGS.match(text, inside) is None:
        return False
    low = max(0, start - BACK)
    line = line_start(text, start, low)
    return (line > low or low == 0) and text.count(text[inside - 1 : inside], line, start) % 2 == 1


def _drawn(given: bytes, behind: bytes) -> bool:
    return behind != b":" and drawn(given) and len(given) >= _LEAST_LISTED and b" " not in given


def _chosen(given: bytes, _behind: bytes) -> bool:
    return mixed(given) and len(given) >= LEAST_CHOSEN and b" " not in given


# Any value; in a list or a call, where anything else may stand, one that looks drawn, or chosen as a password is; the only argument
# of a call, or one that looks chosen, since the first of several may be a name; the last of a list that looks drawn.
quoted = functools.partial(_read, good=None)
listed = functools.partial(_read, good=_drawn)
chosen = functools.partial(_read, good=_chosen)
argument = functools.partial(_read, good=lambda given, behind: behind != b"," or _chosen(given, behind))
last = functools.partial(_read, good=lambda given, behind: behind == b"]" and _drawn(given, behind))
