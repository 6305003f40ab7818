r"""Values in another line than their names: ``- name: X`` above ``value: Y``, YAML's blocks, ``<key>`` above ``<string>``.

Whether lines follow that may hold a value is told by the line of the name alone; what is kept from line to line is that
name's promise, never text. A line is then judged by itself: it is the value, or it is passed over, or it ends the search. As
for keys in armour, each line end counts, ``\r`` and ``\n`` alike, so that the answer does not depend on how a stream is cut.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from spillstore.redaction.names import Expected
from spillstore.redaction.spans import Span
from spillstore.redaction.tables import forms, next_lines
from spillstore.redaction.values import drawn, judged, mixed

if TYPE_CHECKING:
    from spillstore.redaction.look import Look
    from spillstore.redaction.names import Named


_NEAR_END = re.compile(rb"[^\r\n]{0,64}+[\r\n]")
_INDENT = re.compile(rb"[ \t]*(?:-[ \t]+)?")
_WORD = re.compile(rb"[A-Za-z0-9+/=_.~!@#%^*-]+")
_PRINTED = re.compile(rb"[ \t]*+(?:=> |\d\) |PASS )?[\"']?([A-Za-z0-9+/=_.~!@#%^*-]*+)")
_RESULT = re.compile(rb"[ \t]*+\"?result\"?[ \t]*+[:=][ \t]*+(?=\")")
_CELL = re.compile(rb"[ \t]*+(\"?)([^\s\"]*+)\1[ \t]*+")
_VALUE = re.compile(
    rb"[ \t]*(?:-[ \t]+)?\\?[\"']?(?i:%b)\\?[\"']?[ \t]*(?:=>|[:=])[ \t]*(?:!!str[ \t]+)?(?=\S)"
    % forms.VALUES.replace(" ", "|").encode()
)
_PASSED = re.compile(
    rb"(?i)[ \t]*(?:-[ \t]+)?[\"']?(?:%b)[\"']?[ \t]*[:=].*" % forms.PASSED.replace(" ", "|").encode()
)
_STRING = re.compile(
    rb"[ \t]*<(?:string|td[^<>]*)>[ \t]*(?:<pre[^<>]*>)?(?:%b)?(?=[^<\s])" % forms.ENTITY.encode()
)
_STRING_END = re.compile(rb"(?:%b)?<" % forms.ENTITY.encode())
_CONTENT = re.compile(rb"[ \t]*+(?:<[Vv]alue>)?([^\s<>]++)(?:<(?:/.*)?)?[ \t]*+\Z")
_FLAG = re.compile(rb"[ \t]*+<\w+>(?:true|false)</\w+>[ \t]*+")
_DUMPED = re.compile(rb"[ \t]*string\(\d+\)[ \t]+(?=\")")
_QUOTED = {quote: re.compile(rb"%b((?>(?:[^%b\\]|\\.)*))" % (quote, quote)) for quote in (b'"', b"'")}
_BARE = re.compile(rb"[^\s\"'<>]++(?=,?[ \t]*(?:#.*)?\Z)")
TRIMMED = 2 * 1024  # bytes of a line before what is not told yet, if more are not kept
_BACK = 256  # bytes of a line before a name
_MOST_PASSED = 4
_LEAST_CHOSEN = 6
DISTANT = frozenset({"result", "row"})  # forms whose values may be many lines below, or in each line
_MOST_ATTRIBUTES = 32  # lines before the result of a resource
_LINE_END = re.compile(rb"[\r\n]")


@functools.cache
def _forms() -> tuple[tuple[str, re.Pattern[bytes], re.Pattern[bytes]], ...]:
    """Of each row: the form, what stands before the name, what stands behind it."""
    return tuple(
        (
            row.form,
            re.compile((row.before if row.whole else rf".*(?:{row.before})").encode(), re.DOTALL),
            re.compile(rf"(?:{row.behind})[ \t]{{0,8}}+(?=[\r\n])".encode()),
        )
        for row in next_lines.NEXT_LINES
    )


def begin(look: Look, named: Named, start: int, stop: int) -> None:
    """A name stands here: expect its value in the next lines, if it can only be there."""
    text = look.text
    if _NEAR_END.match(text, stop) is None:
        return
    low = max(0, start - _BACK - 1)  # with the line end before
    line = max(text.rfind(b"\n", low, start), text.rfind(b"\r", low, start)) + 1
    if start - line > _BACK:
        return
    head = text[line:start]
    for form, before, behind in _forms():
        ending = behind.match(text, stop)
        if ending and before.fullmatch(head):
            indent = _INDENT.match(head)
            assert indent  # it matches everywhere
            look.expected.append((ending.end() + 1, Expected(named, form, indent.end())))
            return


def follow(
    text: bytes, place: int, size: int, expected: Expected | None, spans: list[Span], *, final: bool
) -> tuple[Expected | None, int]:
    """Look for an expected value from a line's beginning on, in the first ``size`` bytes.

    Returns:
        What is expected behind the text, and from where on it cannot be told.
    """
    while expected is not None and place < size:
        ended = _LINE_END.search(text, place, size)
        end = size if ended is None else ended.start()
        line = text[place:end]
        if not line.strip():
            if ended is None and not final:
                break
            expected = _passed(expected)
        else:
            found, after = _judge(line, expected)
            if ended is None and not final:
                return expected, size if found is None else place + found[0]
            if found is not None and found[2]:
                first, last, _ = found
                spans.append(Span(place + first, place + last, expected.named.kind, first=not expected.taken))
            # A line as long may have been looked at in parts; see ``stream.py``.
            expected = None if found is None and len(line) > TRIMMED else after
        if ended is None:
            break
        place = ended.end()
    return expected, size


def _passed(expected: Expected) -> Expected | None:
    most = _MOST_ATTRIBUTES if expected.form == "result" else _MOST_PASSED
    return None if expected.passed >= most else expected._replace(passed=expected.passed + 1)


def _judge(  # noqa: C901, PLR0911  # one for each form
    line: bytes, expected: Expected
) -> tuple[tuple[int, int, bool] | None, Expected | None]:
    """Where a value stands in a line and whether it is a secret; what is expected in the next line."""
    if expected.form == "block":
        return _block(line, expected)
    if expected.form == "part":
        return ((0, len(line), _secret(line, expected)) if expected.passed else None), None
    if expected.form == "string":
        match = _STRING.match(line)
        ended = _STRING_END.search(line, match.end()) if match else None
        stop = ended.start() if ended else len(line)
        return ((match.end(), stop, _secret(line[match.end() : stop], expected)) if match else None), None
    if expected.form == "element":
        match = _CONTENT.fullmatch(line)
        after = _passed(expected) if _FLAG.fullmatch(line) else None
        return ((*match.span(1), _secret(match[1], expected)) if match else None), after
    if expected.form == "joined":
        start = len(line) - len(line.lstrip())
        return (_value(line, start, expected) if line[start : start + 1] in _QUOTED else None), None
    if expected.form == "nested":
        if match := _DUMPED.match(line):
            return _value(line, match.end(), expected), None
        start = len(line) - len(line.lstrip())
        value = line.strip()
        if start <= expected.indent or _WORD.fullmatch(value) is None:
            return None, None
        return (start, start + len(value), drawn(value) and _secret(value, expected)), None
    if expected.form == "printed":
        return _printed(line, expected), None
    if expected.form == "row":
        return _cell(line, expected)
    if expected.form == "result":
        match = _RESULT.match(line)
        return (_value(line, match.end(), expected), None) if match else (None, _passed(expected))
    if match := _VALUE.match(line):
        return _value(line, match.end(), expected), None
    return None, _passed(expected) if _PASSED.fullmatch(line) else None


def _printed(line: bytes, expected: Expected) -> tuple[int, int, bool] | None:
    """A word that looks drawn, alone in its line, as a command or a console prints it."""
    match = _PRINTED.match(line)
    if match is None or line[match.end() :].strip(b"\"' \t"):
        return None
    chosen = expected.named.strength == "password" and len(match[1]) >= _LEAST_CHOSEN and mixed(match[1])
    looks = chosen or drawn(match[1])
    return (*match.span(1), looks and _secret(match[1], expected))


def _cell(line: bytes, expected: Expected) -> tuple[tuple[int, int, bool] | None, Expected | None]:
    """The value in its column, as long as the lines have as many columns as that of the names."""
    cells = line.split(expected.sign)
    if len(cells) <= expected.column:
        return None, None
    at = sum(map(len, cells[: expected.column])) + expected.column
    match = _CELL.fullmatch(cells[expected.column])
    if len(cells) != expected.columns or match is None or len(line) > TRIMMED:
        return (at, at, False), None
    return (at + match.start(2), at + match.end(2), _secret(match[2], expected)), expected


def _block(line: bytes, expected: Expected) -> tuple[tuple[int, int, bool] | None, Expected | None]:
    start = len(line) - len(line.lstrip())
    value = line.strip()
    if start <= expected.indent or b" " in value or value.startswith(b"-----"):
        return None, None
    secret = bool(expected.taken) or _secret(value, expected)
    after = expected._replace(taken=expected.taken + 1) if secret else None
    return (start, start + len(value), secret), after


def _value(line: bytes, start: int, expected: Expected) -> tuple[int, int, bool] | None:
    quoted = _QUOTED.get(line[start : start + 1])
    match = quoted.match(line, start) if quoted else _BARE.match(line, start)
    if match is None:
        return (start, len(line), False)
    first, last = match.span(1) if quoted else match.span()
    value = line[first:last].rstrip(b",") if not quoted else line[first:last]
    return (first, first + len(value), _secret(value, expected))


def _secret(value: bytes, expected: Expected) -> bool:
    return judged(value, expected.named.strength, quoted=True, literal=True)
