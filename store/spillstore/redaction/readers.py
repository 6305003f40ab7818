"""How a value behind a name is read: which reader a row of the tables names, and those for special forms.

A reader takes the text, what the name promises, where the name begins and where the value does. It adds the secret it
finds, and returns where to look on: 0 if behind the name, since a value that is refused hides nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from spillstore.redaction import columns, statements
from spillstore.redaction.bare_words import CUT, bare, word
from spillstore.redaction.look import LINE_ENDS, Look, compiled
from spillstore.redaction.names import HINT, Expected, Named
from spillstore.redaction.quoted_values import QUOTE, argument, chosen, last, listed, quoted
from spillstore.redaction.tables import forms
from spillstore.redaction.tables.runs import BASE64, RUNS, TRAILING, Run
from spillstore.redaction.values import LEAST_CHOSEN, drawn, judged, looks, mixed
from spillstore.runtime import lazy_patterns as re

Reader = Callable[[Look, Named, int, int], int]

_ENTITY = re.compile(rb"%b\Z" % forms.ENTITY.encode())
_WITH_PASSWORD = re.compile(rb"[a-z0-9+]+://[^\s:/@]*:[^\s/@]+@")
_SEVERAL = re.compile(rb"[^\s]+[ \t]+[^\s]")  # words
_METAVARIABLE = re.compile(rb"[A-Z]+(?:[-_.][A-Z]+)*")
_BLANKS = re.compile(rb"[ \t]{0,256}+")
_BARS = frozenset(b"|\xe2")  # or what frames of tables begin with
_CELL = re.compile(rb"(?=[^\d]*\d)[^(]*[^(;,]")
_CASES = re.compile(
    rb"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^\d]*\d)(?!(?i:.*(?:sha|md|base|utf|rfc|aes|iso|v)-?\d))\S{8,}"
)
_ELEMENT = re.compile(rb"([\"'])([^\"'\\\r\n]{0,128}+)(?:\1(?:[ \t]{0,8}+(?:,[ \t]{0,8}+)?)?)?")
_SPOKEN_ENDS = LINE_ENDS | {b'"', b"'", b"`"}
_LEAST_ELEMENT = 16
_FAR = 480  # with an element less than what `finder.py` says of names
_LONG_WORD = 24  # letters of a token without a digit
# A value, and the name behind it: of JSON, and of SQL, where the first quote was passed.
_PAIR = re.compile(
    rb"(?:[\"']([^\"'\\\r\n]{0,256}+)[\"'][ \t]{0,8}+,[ \t]{0,8}+[\"'](?i:name|key)[\"'][ \t]{0,8}+:[ \t]{0,8}+[\"']"
    rb"|(?<=')([^'\\\r\n]{0,256}+)'[^'\r\n]{0,64}?(?i:where)[ \t][\"`(\w. ]{1,64}[\"`]?[ \t]{0,8}+=[ \t]{0,8}+')([\w./-]{0,96}+)"
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
    given = text[start:end].rstrip(b".,;:?!)]")
    password = named.strength == "password"
    plain = given.isalpha() and not (mixed(given) if password else len(given) >= _LONG_WORD and drawn(given))
    if text[start] == ord("-") or plain or _METAVARIABLE.fullmatch(given):
        look.open(start, end)
        return 0
    return word(look, named, begin, start)


def mixed_word(look: Look, named: Named, begin: int, start: int) -> int:
    """A word behind a number, letters and digits or signs mixed."""
    end = look.word(start)
    if end < look.size and (end - start < LEAST_CHOSEN or not mixed(look.text[start:end])):
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
    if content.isalpha() or not content.isascii() or chr(content[-1]) in TRAILING:
        return 0
    return option(look, named, begin, start)


def cell(look: Look, named: Named, _begin: int, start: int) -> int:
    """A word alone between two bars, or behind the last one."""
    text = look.text
    end = look.word(start)
    stop = look.end(_BLANKS, end)
    if look.open(start, min(look.size, stop + 1)):
        return 0
    given = text[start:end]
    if (
        (text[stop : stop + 1] in LINE_ENDS or (stop > end and text[stop] in _BARS))
        and _CELL.fullmatch(given)
        and looks(given, named.strength)
        and judged(given, named.strength, quoted=False)
    ):
        look.add(start, end, named.kind)
    return 0


def spoken(look: Look, named: Named, begin: int, start: int) -> int:
    """The last word of the line that looks chosen, or one in quotes."""
    text = look.text
    if QUOTE.match(text, start):
        return chosen(look, named, begin, start)
    end = look.word(start)
    if look.open(start, end + 1):
        return 0
    given = text[start:end].rstrip(b".")
    ended = (
        text[end : end + 1] in _SPOKEN_ENDS or (_all_cases(given) and drawn(given)) or looks(given, "signed")
    )
    good = ended and len(given) >= LEAST_CHOSEN and mixed(given)
    if text[start - 1] not in b" \t" or text[start - 2] not in b":=":  # no sign, or no blank behind it
        good = (
            good and (drawn(given) or _all_cases(given)) and CUT.search(given) is None and b"(" not in given
        )
    if good and judged(given, "password", quoted=False):
        look.add(start, start + len(given), "PASSWORD")
    return 0


def _all_cases(given: bytes) -> bool:
    """Whether it has small letters, capitals and digits, as passwords have to, and is no name of a method: ``Base64-encoded``."""
    return _CASES.fullmatch(given) is not None


def several(look: Look, named: Named, begin: int, start: int) -> int:
    """Values in quotes with commas between them, those that are long and look drawn; not far from their name."""
    while start - begin < _FAR and (match := _ELEMENT.match(look.text, start)):
        if look.open(match.start(2), match.end()):
            return 0
        given = match[2]
        if len(given) >= _LEAST_ELEMENT and drawn(given) and judged(given, named.strength):
            look.add(*match.span(2), named.kind)
        start = match.end()
    return 0


def coded(look: Look, named: Named, begin: int, start: int) -> int:
    """Base64 of an address with a password; what it begins with stays."""
    end = look.run(BASE64, start)
    if look.open(start, end):
        return 0
    try:
        plain = base64.b64decode(look.text[begin:end] + b"=" * (-(end - begin) % 4))
    except ValueError:
        return 0
    if _WITH_PASSWORD.match(plain):
        look.add(start, end, named.kind)
    return 0


def named_behind(look: Look, _named: Named, _begin: int, start: int) -> int:
    """A value in quotes that stands before its name: ``"value": "X", "name": "DB_PASSWORD"``."""
    stop = min(look.line(start), start + _FAR)
    match = None if look.open(start, stop) else _PAIR.match(look.text, start, stop)
    known = look.classified(*match.span(3)) if match and match[3] else None
    if match and known and known.strength != HINT and judged(match[1] or match[2] or b"", known.strength):
        look.add(*match.span(1 if match[2] is None else 2), known.kind)
    return 0


def _below(form: str) -> Reader:
    """A value in one of the next lines, in a form of ``nextlines.py``."""

    def read(look: Look, named: Named, _begin: int, start: int) -> int:
        look.expected.append((start + 1, Expected(named, form)))
        return 0

    return read


def _run(row: Run) -> Reader:
    """Bytes of a class."""

    def read(look: Look, named: Named, _begin: int, start: int) -> int:
        text, stop = look.text, look.run(row.of, start)
        if look.open(start, stop + row.behind) or not compiled(row.ends).match(text, stop):
            return 0
        given = text[start:stop].rstrip(row.trims.encode()) if row.trims else text[start:stop]
        if (
            (not row.form or compiled(row.form).fullmatch(given))
            and (not row.looks or looks(given, named.strength if row.looks == "named" else row.looks))
            and (not row.judged or _judged(given.translate(None, row.without.encode()), named, row.judged))
        ):
            look.add(start, start + len(given), named.kind)
        return 0

    return read


def _judged(given: bytes, named: Named, how: str) -> bool:
    return judged(given, named.strength, quoted=how == "quoted")


def element(look: Look, named: Named, _begin: int, start: int) -> int:
    """The content of an XML element."""
    text, stop = look.text, look.run(r"[^<\r\n]", start)
    if look.open(start, stop + 1):
        return 0
    given = text[start:stop]
    if entity := _ENTITY.search(given):
        given = given[: entity.start()]
    given = given.rstrip().removesuffix(b"]]>")
    if text.startswith(b"</", stop) and judged(given, named.strength):
        look.add(start, start + len(given), named.kind)
    return 0


READERS: dict[str, Reader] = {
    "value": value,
    "quoted": quoted,
    "drawn": listed,
    "chosen": chosen,
    "argument": argument,
    "last": last,
    "option": option,
    "word": word,
    "mixed": mixed_word,
    "directive": directive,
    "several": several,
    "cell": cell,
    "spoken": spoken,
    "coded": coded,
    "named behind": named_behind,
    "inserted": statements.inserted,
    "rows": statements.rows,
    "copied": statements.copied,
    "created": statements.created,
    "columns": columns.columns,
    "below": _below("value"),
    "hosted": _below("hosted"),
    "framed": _below("framed"),
    "codes": _below("codes"),
    "logins": _below("logins"),
    "result": _below("result"),
    "derived": _below("derived"),
    "new value": _below("new value"),
    "wireguard": _below("wireguard"),
    "printed": _below("printed"),
    "element": element,
    **{name: _run(row) for name, row in RUNS.items()},
}
