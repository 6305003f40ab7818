"""How a value behind a name is read: in quotes or without, as the last word of a line, as the content of an element.

A reader takes the text, what the name promises, where the name begins and where the value does. It adds the secret it
finds, and returns where to look on: 0 if behind the name, since a value that is refused hides nothing.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from spillstore.redaction.look import ALNUM, WORD_END, Look
from spillstore.redaction.names import Expected, Named
from spillstore.redaction.tables import forms, literals
from spillstore.redaction.values import LEAST, drawn, mixed

Reader = Callable[[Look, Named, int, int], int]

BACK = 256  # bytes before a name that rules look at
NAME_LETTERS = bytes(sorted(ALNUM)) + b"_.-"
LONGEST_NAME = 96
QUOTE = re.compile(rb"[fbruFBRUN@$]{0,2}(\\{0,8})([\"'`])")
_INSIDE = {quote: re.compile(rb"(?>(?:[^%b\\\r\n]|\\[^\r\n])*)" % quote) for quote in (b'"', b"'", b"`")}
_BEHIND_STRINGS = re.compile(rb"[+.,;)%\]}\s]|\Z")
_QUOTE_ENDS = {quote: re.compile(quote) for quote in _INSIDE}
_ENTITY = re.compile(rb"%b\Z" % forms.ENTITY.encode())
_CONTENT = re.compile(rb"[^<\r\n]*+")
_ALONE = re.compile(rb"(?=[^\d\s]*+\d[^\d\s]*+\d)(?=[\d_-]*+[A-Za-z])[\w-]++")
_ONE_PIECE = re.compile(rb"[A-Za-z0-9]{16}|(?i:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*+={0,2}+")
_WITH_PASSWORD = re.compile(rb"[a-z0-9+]+://[^\s:/@]*:[^\s/@]+@")
_CUT = re.compile(
    rb"[&;,|](?:\s*+(?:[\w.%$\[\]-]{1,64}+[=:])|[;&,|)\]}>.]*+$)|</|\\+[\"nrt]|[&|;]{2}|&(?:quot|apos|#39|#34|#x27|#x22|lt|gt);"
    rb"|\xe2\x80[\x98-\x9f]|\xc2[\xab\xbb]"
)
_TRAILING = b")]}>,;.:"
_PARTNERS = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}
_CLOSED = re.compile(rb"([\w.]*)[)\]}]+[.;,)\]}]")  # in a program, by brackets that were opened before
_SEVERAL = re.compile(rb"[^\s]+[ \t]+[^\s]")  # words
_METAVARIABLE = re.compile(rb"[A-Z]+(?:[-_.][A-Z]+)*")
_LINE_ENDS = frozenset({b"", b"\r", b"\n"})
_LONG = 256  # bytes of a refused value that are looked at again, for names in it
_LEAST_LISTED = 6
_LONG_WORD = 24  # letters of a token without a digit
_LEAST_CHOSEN = 6
_SIGNS = bytes(sorted(set(range(128)) - ALNUM))
_FORMATS = frozenset(b"fF$")
_BEFORE_AT = re.compile(rb"[^\s@\"'`]*+")
_LEAST_RUN = 64
_COLUMN_SIGN = re.compile(rb"[,;\t|]")
# A value of 256 bytes at most, and the name behind it; each part may be missing, since the text may end there.
_PAIR = re.compile(
    rb"[\"']([^\"'\\\r\n]{0,256}+)(?:[\"'](?:[ \t]{0,8}+(?:,(?:[ \t]{0,8}+(?:[\"'](?:(?:name|key|Name|Key)"
    rb"(?:[\"'](?:[ \t]{0,8}+(?::(?:[ \t]{0,8}+(?:[\"']([\w.-]{0,96}+).?)?)?)?)?)?|[nkNK][a-z]{0,2}+\Z)?)?)?)?)?)?"
)
_ISSUED = re.compile(rb"[\w:-]*+")
_ISSUED_FORM = re.compile(
    rb"(?=.*\d)(?=.*[A-Za-z])(?:(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?::[0-9a-f]{32})?)|[A-Za-z0-9]{20,}|[\w-]{32,})"
)
_NO_ISSUED_END = frozenset({b".", b"/", b"(", b"[", b"$", b"{", b"@"})
_BACKTICK = ord("`")
_TIGHT = frozenset(b"=:")
_PROGRAM = re.compile(rb"[a-z][\w./-]*(?:[ \t|].*)?")


class _Place(NamedTuple):
    """A row of ``Unquoted``, compiled."""

    before: re.Pattern[bytes] | None
    sign: re.Pattern[bytes] | None
    behind: re.Pattern[bytes] | None
    value: re.Pattern[bytes] | None
    not_value: re.Pattern[bytes] | None
    unless: Callable[[bytes], bool] | None


@functools.cache
def compiled(expression: str, *, ends: bool = False) -> re.Pattern[bytes] | None:
    """An expression of a table, or None if it is empty; of what stands before something, if it ``ends`` there."""
    if not expression:
        return None
    return re.compile((rf"(?:{expression})\Z" if ends else expression).encode())


@functools.cache
def _places(table: str) -> tuple[_Place, ...]:
    looks = {"": None, "drawn": drawn, "mixed": mixed}
    return tuple(
        _Place(
            compiled(row.before, ends=True),
            compiled(row.sign),
            compiled(row.behind),
            compiled(row.value),
            compiled(row.not_value),
            looks[row.unless],
        )
        for row in getattr(literals, table)
    )


def _stands(table: str, text: bytes, begin: int, start: int, stop: int) -> bool:
    """Whether one of the rows fits a value from ``start`` to ``stop`` behind a name at ``begin``."""
    before, sign, value = text[max(0, begin - BACK) : begin], text[begin:start], text[start:stop]
    return any(
        (row.sign is None or row.sign.fullmatch(sign) is not None)
        and (row.behind is None or row.behind.match(text, stop) is not None)
        and (row.value is None or row.value.fullmatch(value) is not None)
        and (row.not_value is None or row.not_value.fullmatch(value) is None)
        and (row.before is None or row.before.search(before) is not None)
        and (row.unless is None or not row.unless(value))
        for row in _places(table)
    )


def value(look: Look, named: Named, begin: int, start: int) -> int:
    """A value in quotes or without."""
    reads = quoted if QUOTE.match(look.text, start) else bare
    return reads(look, named, begin, start)


def option(look: Look, named: Named, begin: int, start: int) -> int:
    """A value behind a blank: in quotes, or without them no word of letters, since help texts are full of those."""
    text = look.text
    if QUOTE.match(text, start):
        return quoted(look, named, begin, start)
    end = look.word(start)
    given = text[start:end].rstrip(b".,;:?)]")
    plain = given.isalpha() and (named.strength == "password" or len(given) < _LONG_WORD or not drawn(given))
    if text[start] == ord("-") or plain or _METAVARIABLE.fullmatch(given):
        if end == look.size:
            look.open(start, end)
        return 0
    return word(look, named, begin, start)


def mixed_word(look: Look, named: Named, begin: int, start: int) -> int:
    """A word behind a number, letters and digits or signs mixed."""
    end = look.word(start)
    if end < look.size and (end - start < _LEAST_CHOSEN or not mixed(look.text[start:end])):
        return 0
    return word(look, named, begin, start)


def directive(look: Look, named: Named, begin: int, start: int) -> int:
    """The same, if it is all of its line and no sentence."""
    text = look.text
    if _SEVERAL.match(text, start):
        return 0
    line = look.line(start)
    if look.open(start, line):
        return 0
    content = text[start:line].strip()
    if content.isalpha() or not content.isascii() or content[-1] in _TRAILING:
        return 0
    return option(look, named, begin, start)


def element(look: Look, named: Named, _begin: int, start: int) -> int:
    """The content of an XML element."""
    end = look.end(_CONTENT, start)
    if look.open(start, min(look.size, end + 1)):
        return 0
    content = look.text[start:end]
    if entity := _ENTITY.search(content):
        content = content[: entity.start()]
    if look.text[end : end + 2] == b"</" and look.judged(content, named.strength, quoted=True, literal=True):
        look.add(start, start + len(content), named.kind)
    return 0


def column(look: Look, named: Named, _begin: int, start: int) -> int:
    """The last word of its line."""
    text = look.text
    end = look.word(start)
    if look.open(start, min(look.size, end + 1)):
        return 0
    given = text[start:end]
    if text[end : end + 1] not in _LINE_ENDS or given.endswith((b".", b",", b":")):
        return 0
    looks = mixed if named.strength == "password" else drawn
    if looks(given) and look.judged(given, named.strength, quoted=False, literal=True):
        look.add(start, end, named.kind)
    return 0


def spoken(look: Look, named: Named, begin: int, start: int) -> int:
    """The last word of the line that looks chosen, or one in quotes."""
    text = look.text
    if QUOTE.match(text, start):
        return chosen(look, named, begin, start)
    end = look.word(start)
    if look.open(start, min(look.size, end + 1)):
        return 0
    given = text[start:end].rstrip(b".")
    good = text[end : end + 1] in _LINE_ENDS and len(given) >= _LEAST_CHOSEN and mixed(given)
    if text[start - 1] not in b" \t" or text[start - 2] not in b":=":  # no sign, or no blank behind it
        good = good and drawn(given) and _CUT.search(given) is None and b"(" not in given
    if good and look.judged(given, "password", quoted=False, literal=True):
        look.add(start, start + len(given), "PASSWORD")
    return 0


def alone(look: Look, named: Named, _begin: int, start: int) -> int:
    """A word that looks drawn, in one piece, behind nothing but a blank."""
    end = look.word(start)
    if look.open(start, end):
        return 0
    given = look.text[start:end].rstrip(_TRAILING)
    if _ALONE.fullmatch(given) and _ONE_PIECE.search(given) and drawn(given):
        look.add(start, start + len(given), named.kind)
    return 0


def before_at(look: Look, named: Named, _begin: int, start: int) -> int:
    """What ends with an ``@``."""
    end = look.end(_BEFORE_AT, start)
    if look.open(start, min(look.size, end + 1)) or look.text[end : end + 1] != b"@":
        return 0
    if look.judged(look.text[start:end], named.strength, quoted=True, literal=True):
        look.add(start, end, named.kind)
    return 0


def long_run(look: Look, named: Named, _begin: int, start: int) -> int:
    """Base64 or hexadecimal digits of 32 bytes at least."""
    end = look.end(_BASE64, start)
    if not look.open(start, end) and end - start >= _LEAST_RUN:
        look.add(start, end, named.kind)
    return 0


def coded(look: Look, named: Named, begin: int, start: int) -> int:
    """Base64 of an address with a password; what it begins with stays."""
    end = look.end(_BASE64, start)
    if look.open(start, end):
        return 0
    try:
        plain = base64.b64decode(look.text[begin:end] + b"=" * (-(end - begin) % 4))
    except ValueError:
        return 0
    if _WITH_PASSWORD.match(plain):
        look.add(start, end, named.kind)
    return 0


def _below(form: str) -> Reader:
    """A value in one of the next lines, in a form of ``nextlines.py``."""

    def read(look: Look, named: Named, _begin: int, start: int) -> int:
        look.expected.append((start + 1, Expected(named, form)))
        return 0

    return read


def columns(look: Look, named: Named, begin: int, start: int) -> int:
    """The same column of the next lines, as that of the name in a line of names."""
    text = look.text
    low = max(0, begin - BACK)
    line = max(text.rfind(b"\n", low, begin), text.rfind(b"\r", low, begin), low - 1) + 1
    sign = _COLUMN_SIGN.search(text, line, start)
    assert sign  # the expression of the row has one
    column = text.count(sign[0], line, begin + 1)
    count = text.count(sign[0], line, start) + 1
    look.expected.append((start + 1, Expected(named, "row", columns=count, column=column, sign=sign[0])))
    return 0


def named_behind(look: Look, _named: Named, _begin: int, start: int) -> int:
    """A value in quotes that stands before its name: ``"value": "X", "name": "DB_PASSWORD"``."""
    match = _PAIR.match(look.text, start)
    if match is None or look.open(start, match.end()):
        return 0
    known = look.classified(*match.span(2)) if match[2] else None
    if known and look.judged(match[1], known.strength, quoted=True, literal=True):
        look.add(*match.span(1), known.kind)
    return 0


def issued(look: Look, named: Named, begin: int, start: int) -> int:
    """One that a service has given out: long, and drawn at random; it may be hexadecimal, or a UUID."""
    quote = QUOTE.match(look.text, start)
    begin = quote.end() if quote else start
    end = look.end(_ISSUED, begin)
    if look.open(begin, min(look.size, end + 1)):
        return 0
    given = look.text[begin:end]
    if _ISSUED_FORM.fullmatch(given) and drawn(given) and look.text[end : end + 1] not in _NO_ISSUED_END:
        look.add(begin, end, named.kind)
    return 0


def _listed(given: bytes, behind: bytes) -> bool:
    return behind != b":" and drawn(given) and len(given) >= _LEAST_LISTED and b" " not in given


def _chosen(given: bytes, _behind: bytes) -> bool:
    return mixed(given) and len(given) >= _LEAST_CHOSEN and b" " not in given


def _argument(given: bytes, behind: bytes) -> bool:
    return behind != b"," or _chosen(given, behind)


def _last(given: bytes, behind: bytes) -> bool:
    return behind == b"]" and _listed(given, behind)


def _no_literal(text: bytes, begin: int, start: int, given: bytes) -> bool:
    """Whether a value in quotes is made of others, or is a program's output, or only says its name again."""
    if text[start] in _FORMATS and b"{" in given:  # of Python or C#
        return True
    if text[start] == _BACKTICK and text[start - 1] in _TIGHT and _PROGRAM.fullmatch(given):
        return True
    told = given.translate(None, _SIGNS).lower()  # `SN_set_Token` is `"set-Token"`
    name = text[begin : min(start, begin + LONGEST_NAME)]
    return len(told) >= LEAST and told in name.translate(None, _SIGNS).lower()


def _quoted(
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
    if look.open(start, min(look.size, end + 1), _QUOTE_ENDS[quote]) or (
        good is not None and look.open(start, min(look.size, after + 1))
    ):
        return end
    given = text[inside:end]
    if not escape and _ends_a_string(text, start, inside):
        return 0
    if text[end : end + 1] in _LINE_ENDS:  # no quote at its end: not all of the line is the value
        given = given.split(b" ", 1)[0].rstrip(b"\\,;)}]")
    if (
        named.strength != "password"
        and (stripped := given.strip(b" ")) != given
        and _ALONE.fullmatch(stripped)
    ):
        inside += len(given) - len(given.lstrip(b" "))
        given = stripped
    if (
        (good is not None and not good(given, text[after : after + 1]))
        or _no_literal(text, begin, start, given)
        or not look.judged(given, named.strength, quoted=True, literal=False)
    ):
        return 0
    look.add(inside, inside + len(given), named.kind)
    return _behind(text, inside, inside + len(given))


# A value in quotes; one that looks drawn, since in a list or a call anything else may stand there; one that looks chosen as a
# password; the only argument of a call, or one that looks chosen, since the first of several may be a name.
quoted = functools.partial(_quoted, good=None)
listed = functools.partial(_quoted, good=_listed)
chosen = functools.partial(_quoted, good=_chosen)
argument = functools.partial(_quoted, good=_argument)


def _ends_a_string(text: bytes, start: int, inside: int) -> bool:
    """Whether the quote before ``inside`` ends a string of a program, which ends with the name and a sign: ``"PWD=" + x``."""
    if _BEHIND_STRINGS.match(text, inside) is None:
        return False
    low = max(0, start - BACK)
    line = max(text.rfind(b"\n", low, start), text.rfind(b"\r", low, start)) + 1
    return (line > 0 or low == 0) and text.count(text[inside - 1 : inside], max(line, low), start) % 2 == 1


def bare(look: Look, named: Named, begin: int, start: int) -> int:
    """A value without quotes: a literal or a variable, by where it stands."""
    return _bare(look, named, begin, start, literal=False)


def word(look: Look, named: Named, begin: int, start: int) -> int:
    """The same where it can only be a literal."""
    return _bare(look, named, begin, start, literal=True)


def _bare(look: Look, named: Named, begin: int, start: int, *, literal: bool) -> int:
    text = look.text
    end = look.word(start)
    if look.open(start, end, WORD_END):
        return end
    cut = _CUT.search(text, start, end)
    stop = cut.start() if cut else end
    while stop > start and text[stop - 1] in _TRAILING and not _balanced(text[start:stop]):
        stop -= 1
    given = text[start:stop]
    if (closed := _CLOSED.match(given)) and not literal and not _literal(text, begin, start, stop):
        stop = start + closed.end(1)
        given = closed[1]
    if not given or (named.strength != "password" and len(given) < LEAST):
        return 0
    found = look.judged(given, named.strength, quoted=False, literal=True)
    if found != look.judged(given, named.strength, quoted=False, literal=False):
        found = found == (literal or _literal(text, begin, start, stop))
    if (
        found
        and named.strength == "password"
        and not literal
        and _stands("NOT_PASSWORDS", text, begin, start, start + len(given))
    ):
        return 0
    if found:
        look.add(start, stop, named.kind)
    return 0 if not found and len(given) <= _LONG else _behind(text, start, stop)


def _literal(text: bytes, begin: int, start: int, stop: int) -> bool:
    """Whether an unquoted word is a literal where it stands."""
    given = text[start:stop]
    return b"(" not in given and not given.endswith(b"[") and _stands("LITERALS", text, begin, start, stop)


def _balanced(given: bytes) -> bool:
    """Whether the bracket at the end of a value has its partner in it."""
    partner = _PARTNERS.get(given[-1:])
    return partner is not None and given.count(partner) >= given.count(given[-1:])


def _behind(text: bytes, start: int, stop: int) -> int:
    """Where to look on behind a value: at what may be a name at its end, with a value of its own."""
    last = text[max(start, stop - LONGEST_NAME) : stop]
    return stop - (len(last) - len(last.rstrip(NAME_LETTERS)))


READERS: dict[str, Reader] = {
    "value": value,
    "quoted": quoted,
    "drawn": listed,
    "chosen": chosen,
    "argument": argument,
    "option": option,
    "word": word,
    "mixed": mixed_word,
    "directive": directive,
    "column": column,
    "spoken": spoken,
    "element": element,
    "alone": alone,
    "coded": coded,
    "long run": long_run,
    "before at": before_at,
    "last": functools.partial(_quoted, good=_last),
    "issued": issued,
    "named behind": named_behind,
    "columns": columns,
    **{form: _below(form) for form in ("below", "result", "printed")},
}
