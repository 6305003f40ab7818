r"""Values in another line than their names: ``- name: X`` above ``value: Y``, YAML's blocks, ``<key>`` above ``<string>``.

Whether lines follow that may hold a value is told by the line of the name alone; what is kept from line to line is that
name's promise, never text. A line is then judged by itself: it is the value, or it is passed over, or it ends the search. As
for keys in armour, each line end counts, ``\r`` and ``\n`` alike, so that the answer does not depend on how a stream is cut.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.redaction import statements
from spillstore.redaction.look import BACK, LINE_END, LINE_ENDS, compiled, line_start
from spillstore.redaction.names import Expected
from spillstore.redaction.spans import Span
from spillstore.redaction.tables import next_lines
from spillstore.redaction.values import LEAST_CHOSEN, drawn, judged, mixed, typed
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.redaction.look import Look
    from spillstore.redaction.names import Named

_Found = tuple[int, int, bool]
_Judged = tuple[_Found | list[_Found] | None, Expected | None]

_NEAR_END = re.compile(rb"[^\r\n]{0,64}+[\r\n]")
_NEAR_NAME = 192
_INDENT = re.compile(rb"[ \t]*(?:-[ \t]+)?")
_WORD = re.compile(rb"[A-Za-z0-9+/=_.~!@#%^*-]+")
_PRINTED = re.compile(
    rb"[ \t]*+(?:[~<=-]?> |= |\d{1,4}\) |PASS |C: |Out\[\d{1,5}\]: |\[1\] |base64:|0x[0-9a-f]{4,16}:[ \t]|(?:\(\w[\w *]{0,24}\) )?\$\d{1,4} = (?:0x[0-9a-f]{1,16} )?)?b?[\"']?(?:base64:)?([A-Za-z0-9+/=_.~!@#%^*?|-]*+)"
)
_NO_BASE64 = re.compile(rb"[-._]")
_CELL = re.compile(rb"[ \t]*+(\"?)([^\s\"]*+)\1[ \t]*+")
_RULE = re.compile(rb"(?:[-+=:|_ \t]|\xe2[\x94\x95][\x80-\xbf])+")  # of a table, between its lines
_SEPARATORS = (b"\t", b";", b",")
_QUOTED_CELLS = {
    sign: re.compile(rb'(?:\A|(?<=%b))(?:"[^"]*+"(?=%b|\Z)|[^%b]*+)' % (sign, sign, sign))
    for sign in _SEPARATORS
}
_ITEM = re.compile(rb"[ \t]*-[ \t]+([\"']?)([\w+/=.~-]++)\1[ \t]*")  # of a list
_LEAST_ITEM = 16
_LEAST_TABBED = 8  # of a password between tabs, as lists of words have them, too
_DEFAULT = re.compile(rb"[ \t]+(?:[Vv]alue|[Dd]efault):[ \t]+(?=\S)")
# Of a line that is not whole yet both tell where its value begins.
_CODES = re.compile(
    rb"[ \t]*+(?:[-*][ \t]+|\d{1,2}[.):][ \t]+)?([A-Za-z0-9-]*+(?>(?:[ \t]+[A-Za-z0-9-]++)*))[ \t]*+"
)
_CODE = re.compile(rb"(?=[A-Za-z-]*\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,3}")
_LOGIN = re.compile(
    rb"[ \t]*+(?:-[ \t]+)?(?:[\"']?[\w.@+-]{1,64}[\"']?[ \t]*[:=]|\"[\w.@+-]{1,64}\"[ \t]+(?=\"))[ \t]*+[\"']?([^\s\"']*+)[\"']?,?[ \t]*+"
)
_DUMPED = re.compile(rb"[ \t]*string\(\d+\)[ \t]+(?=\")")
_QUOTED = {quote: re.compile(rb"%b((?>(?:[^%b\\]|\\.)*))" % (quote, quote)) for quote in (b'"', b"'")}
_BARE = re.compile(rb"[^\s\"'<>]++(?=[ \t]*(?:#.*)?\Z)")
TRIMMED = 2 * 1024  # bytes of a line before what is not told yet, if more are not kept
_MOST_PASSED = 4
DISTANT = frozenset(
    {"result", "row", "aligned", "created", "statement"}
)  # forms whose values may be many lines below, or in each line
_MOST_ATTRIBUTES = 32  # lines before the result of a resource
_DIGIT = re.compile(rb"\d")


@functools.cache
def _forms() -> tuple[
    tuple[next_lines.NextLine, re.Pattern[bytes], re.Pattern[bytes], tuple[bytes, ...]], ...
]:
    """Of each row: what stands before the name, what stands behind it, and what must stand before it if nothing does."""
    return tuple(
        (
            row,
            re.compile((row.before if row.whole else rf".*(?:{row.before})").encode(), re.DOTALL),
            re.compile(rf"(?:{row.behind})[ \t]{{0,8}}+(?=[\r\n])".encode()),
            tuple(row.alone.encode().split(b"|")) if row.alone else (),
        )
        for row in next_lines.NEXT_LINES
    )


def begin(look: Look, named: Named, start: int, stop: int) -> None:
    """A name stands here: expect its value in the next lines, if it can only be there."""
    text = look.text
    if _NEAR_END.match(text, stop) is None:
        return
    line = line_start(text, start, max(0, start - BACK - 1))  # with the line end before
    if start - line > BACK:
        return
    head = text[line:start]
    last = text[stop : stop + 1] in LINE_ENDS
    near = text[max(line, start - _NEAR_NAME) : start]
    for row, before, behind, marks in _forms():
        begins = bool(row.name) and compiled(row.name).match(text, start) is not None
        if (row.name and not begins) or (last and not begins and not any(mark in near for mark in marks)):
            continue
        ending = behind.match(text, stop)
        if ending and before.fullmatch(head):
            indent = _INDENT.match(head)
            assert indent  # it matches everywhere
            look.expected.append((ending.end() + 1, Expected(named, row.form, indent.end())))
            return


def follow(
    text: bytes, place: int, size: int, expected: Expected | None, spans: list[Span], *, final: bool
) -> tuple[Expected | None, int]:
    """Look for an expected value from a line's beginning on, in the first ``size`` bytes.

    Returns:
        What is expected behind the text, and from where on it cannot be told.
    """
    while expected is not None and place < size:
        ended = LINE_END.search(text, place, size)
        end = size if ended is None else ended.start()
        line = text[place:end]
        if not line.strip():
            if ended is None and not final:
                break
            expected = _passed(expected)
        else:
            judged_so, after = _JUDGES[expected.form](line, expected)
            found = judged_so if isinstance(judged_so, list) else [judged_so] if judged_so else []
            if ended is None and not final:
                return expected, place + min((first for first, _, _ in found), default=size - place)
            for first, last, secret in found:
                if secret:
                    spans.append(
                        Span(place + first, place + last, expected.named.kind, first=not expected.taken)
                    )
            # A line as long may have been looked at in parts; see ``stream.py``.
            expected = None if not found and len(line) > TRIMMED else after
        if ended is None:
            break
        place = ended.end()
    return expected, size


def _passed(expected: Expected) -> Expected | None:
    most = _MOST_ATTRIBUTES if expected.form == "result" else _MOST_PASSED
    return None if expected.passed >= most else expected._replace(passed=expected.passed + 1)


# The judges of lines: where a value stands in a line and whether it is a secret; what is expected in the next line.


def _in_line(row: next_lines.Line, line: bytes, expected: Expected) -> _Judged:
    """A value behind something, or between two things."""
    after = _passed(expected) if row.passed and compiled(row.passed).fullmatch(line) else None
    match = compiled(row.found).match(line)
    if match is None:
        return None, after
    if match.re.groups:
        return (*match.span(1), _secret(match[1], expected)), after
    return _value(line, match.end(), expected), after


def _block(line: bytes, expected: Expected) -> _Judged:
    """Each line of a block of YAML, deeper than its name."""
    start = len(line) - len(line.lstrip())
    value = line.strip()
    if start <= expected.indent or b" " in value or value.startswith(b"-----"):
        return None, None
    secret = bool(expected.taken) or _secret(value, expected)
    after = expected._replace(taken=expected.taken + 1) if secret else None
    return (start, start + len(value), secret), after


def _nested(line: bytes, expected: Expected) -> _Judged:
    """A word alone in its line, deeper than its name; an item of a list; the ``default`` of what is described there."""
    if match := _DUMPED.match(line):
        return _value(line, match.end(), expected), None
    start = len(line) - len(line.lstrip())
    value = line.strip()
    if item := _ITEM.fullmatch(line):
        first, last = item.span(2)
        secret = last - first >= _LEAST_ITEM and drawn(item[2]) and _secret(item[2], expected)
        return (first, last, secret), expected if secret else None
    if start <= expected.indent:
        return None, None
    if match := _DEFAULT.match(line):
        return _value(line, match.end(), expected), None
    if _WORD.fullmatch(value) is None:
        return None, _passed(expected) if compiled(next_lines.DESCRIBED).fullmatch(line) else None
    return (start, start + len(value), _looks(value, expected) and _secret(value, expected)), None


def _part(line: bytes, expected: Expected) -> _Judged:
    """A part of a form, below an empty line."""
    return (0, len(line), _secret(line, expected)) if expected.passed else None, None


def _codes(line: bytes, expected: Expected) -> _Judged:
    """Codes of recovery, of digits or of letters and digits, with a number before them or not; lines of them."""
    match = _CODES.match(line)
    if match is None or match.end() < len(line):
        return None, None
    secret = bool(match[1]) and all(map(_CODE.fullmatch, match[1].split()))
    return (*match.span(1), secret), expected if secret else None


def _logins(line: bytes, expected: Expected) -> _Judged:
    """A user and a password; lines of them, and others of that form between."""
    match = _LOGIN.match(line)
    if match is None or match.end() < len(line):
        return None, None
    secret = typed(match[1], quoted=False)
    return (*match.span(1), secret), expected if secret else _passed(expected)


def _printed(line: bytes, expected: Expected) -> _Judged:
    """A word that looks drawn, alone in its line, as a command or a console prints it."""
    match = _PRINTED.match(line)
    if match is None or line[match.end() :].strip(b"\"' \t"):
        return None, None
    path = match[1].startswith(b"/") and _NO_BASE64.search(match[1])
    good = len(match[1]) >= LEAST_CHOSEN and not path and _looks(match[1], expected)
    return (*match.span(1), good and _secret(match[1], expected)), None


def _looks(value: bytes, expected: Expected) -> bool:
    """Whether a word looks drawn, or chosen as a password."""
    chosen = expected.named.strength == "password" and len(value) >= LEAST_CHOSEN and mixed(value)
    return chosen or drawn(value)


def _cell(line: bytes, expected: Expected) -> _Judged:
    """The value in its column, as long as the lines have as many columns as that of the names."""
    sign = expected.sign
    barred = sign not in _SEPARATORS
    if barred and _RULE.fullmatch(line):
        return None, expected
    cells = _QUOTED_CELLS[sign].findall(line) if b'"' in line and not barred else line.split(sign)
    if len(cells) <= expected.column:
        return None, None
    at = sum(map(len, cells[: expected.column])) + expected.column * len(sign)
    match = _CELL.fullmatch(cells[expected.column])
    if len(cells) != expected.columns or match is None or len(line) > TRIMMED:
        return (at, at, False), None
    secret = (sign in b",;" or _in_a_table(match[2], expected)) and _secret(match[2], expected)
    return (at + match.start(2), at + match.end(2), secret), expected


def _aligned(line: bytes, expected: Expected) -> _Judged:
    """The word that begins below its title, as long as there is one, or none in its column."""
    at = expected.column
    if not line.strip(b"-= "):
        return None, expected
    if line[at : at + 1] in {b"", b" "}:
        return None, None if line[:1] == b" " else expected
    if at and line[at - 1 : at] != b" ":
        return None, None
    end = at + len(line[at:].split(None, 1)[0])
    value = line[at:end]
    return (at, end, _in_a_table(value, expected) and _secret(value, expected)), expected


def _in_a_table(value: bytes, expected: Expected) -> bool:
    """Whether it is no word of a table that tells of passwords: ``required``, ``varchar(64)``."""
    strength = expected.named.strength
    looks = mixed(value) and len(value) >= (_LEAST_TABBED if expected.sign == b"\t" else 0)
    if strength != "password":
        looks = strength == "code" or (len(value) >= _LEAST_ITEM and drawn(value))
    return b"(" not in value and _DIGIT.search(value) is not None and looks


_JUDGES: dict[str, Callable[[bytes, Expected], _Judged]] = {
    **{row.form: functools.partial(_in_line, row) for row in next_lines.LINES},
    "block": _block,
    "nested": _nested,
    "part": _part,
    "printed": _printed,
    "codes": _codes,
    "logins": _logins,
    "row": _cell,
    "aligned": _aligned,
    "created": statements.definition,
    "statement": statements.statement,
}


def _value(line: bytes, start: int, expected: Expected) -> _Found:
    quoted = _QUOTED.get(line[start : start + 1])
    match = quoted.match(line, start) if quoted else _BARE.match(line, start)
    if match is None:
        return start, len(line), False
    first, last = match.span(1) if quoted else match.span()
    value = line[first:last] if quoted else line[first:last].rstrip(b",")
    return first, first + len(value), _secret(value, expected)


def _secret(value: bytes, expected: Expected) -> bool:
    return judged(value, expected.named.strength)
