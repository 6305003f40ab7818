"""How a value behind a name is read: which reader a row of the tables names, and those for special forms.

A reader takes the text, what the name promises, where the name begins and where the value does. It adds the secret it
finds, and returns where to look on: 0 if behind the name, since a value that is refused hides nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from spillstore.redaction import columns, statements
from spillstore.redaction.bare_words import CUT, TRAILING, bare, word
from spillstore.redaction.look import LINE_ENDS, Look
from spillstore.redaction.names import HINT, Expected, Named
from spillstore.redaction.quoted_values import IN_PIECES, QUOTE, argument, chosen, last, listed, quoted
from spillstore.redaction.tables import classes, forms
from spillstore.redaction.values import LEAST_CHOSEN, drawn, judged, mixed
from spillstore.runtime import lazy_patterns as re

Reader = Callable[[Look, Named, int, int], int]

_ENTITY = re.compile(rb"%b\Z" % forms.ENTITY.encode())
_ADDRESS = re.compile(rb"0x[0-9a-fA-F]{40}")  # of a chain of blocks
_ONE_PIECE = re.compile(rb"[A-Za-z0-9]{16}|%b\Z" % classes.UUID.encode())
_BASE64_KEY = re.compile(rb"(?=[^\d]*\d)(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9+/]{40}")  # of AWS
_BASE64 = r"(?>[A-Za-z0-9+/]*)={0,2}+"
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
_LEAST_RUN = 64
# A value of 256 bytes at most, and the name behind it; each part may be missing, since the text may end there.
_PAIR = re.compile(
    rb"[\"']([^\"'\\\r\n]{0,256}+)(?:[\"'](?:[ \t]{0,8}+(?:,(?:[ \t]{0,8}+(?:[\"'](?:(?:name|key|Name|Key)"
    rb"(?:[\"'](?:[ \t]{0,8}+(?::(?:[ \t]{0,8}+(?:[\"']([\w.-]{0,96}+).?)?)?)?)?)?|[nkNK][a-z]{0,2}+\Z)?)?)?)?)?)?"
)
ISSUED = r"[\w:-]"
LEAST_ISSUED = 20
_ISSUED = re.compile(
    rb"(?=.*\d)(?=.*[A-Za-z])(?:%b(?::[0-9a-fA-F]{32})?|[A-Za-z0-9]{20,}|[\w-]{32,})" % classes.UUID.encode()
)
_NO_ISSUED_END = frozenset({b".", b"/", b"(", b"[", b"$", b"{", b"@"})


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
    if content.isalpha() or not content.isascii() or content[-1] in TRAILING:
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
    looks = mixed if named.strength == "password" else drawn
    if (
        (text[stop : stop + 1] in LINE_ENDS or (stop > end and text[stop] in _BARS))
        and _CELL.fullmatch(given)
        and looks(given)
        and judged(given, named.strength, quoted=False, literal=True)
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
    ended = text[end : end + 1] in _SPOKEN_ENDS or (_all_cases(given) and drawn(given))
    good = ended and len(given) >= LEAST_CHOSEN and mixed(given)
    if text[start - 1] not in b" \t" or text[start - 2] not in b":=":  # no sign, or no blank behind it
        good = (
            good and (drawn(given) or _all_cases(given)) and CUT.search(given) is None and b"(" not in given
        )
    if good and judged(given, "password", quoted=False, literal=True):
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
        if (
            len(given) >= _LEAST_ELEMENT
            and drawn(given)
            and judged(given, named.strength, quoted=True, literal=True)
        ):
            look.add(*match.span(2), named.kind)
        start = match.end()
    return 0


def coded(look: Look, named: Named, begin: int, start: int) -> int:
    """Base64 of an address with a password; what it begins with stays."""
    end = look.run(_BASE64, start)
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
    match = _PAIR.match(look.text, start)
    if match is None or look.open(start, match.end()):
        return 0
    known = look.classified(*match.span(2)) if match[2] else None
    if known and known.strength != HINT and judged(match[1], known.strength, quoted=True, literal=True):
        look.add(*match.span(1), known.kind)
    return 0


def _below(form: str) -> Reader:
    """A value in one of the next lines, in a form of ``nextlines.py``."""

    def read(look: Look, named: Named, _begin: int, start: int) -> int:
        look.expected.append((start + 1, Expected(named, form)))
        return 0

    return read


def _run(of: str, secret: Callable[[bytes, bytes, Named], bytes], behind: int = 1) -> Reader:
    """Bytes of a class.

    Args:
        of: the class, or an expression.
        secret: what of the run is the secret, by the run, the two bytes behind it and what the name promises; nothing if it is none.
        behind: how many bytes behind it decide; a second one only says more.
    """

    def read(look: Look, named: Named, _begin: int, start: int) -> int:
        end = look.run(of, start)
        if not look.open(start, end + behind):
            given = secret(look.text[start:end], look.text[end : end + 2], named)
            look.add(start, start + len(given), named.kind)
        return 0

    return read


def _element(given: bytes, behind: bytes, named: Named) -> bytes:
    """The content of an XML element."""
    if entity := _ENTITY.search(given):
        given = given[: entity.start()]
    given = given.rstrip()
    good = behind == b"</" and judged(given, named.strength, quoted=True, literal=True)
    return given if good else b""


def _column(given: bytes, behind: bytes, named: Named) -> bytes:
    """The last word of its line."""
    if behind[:1] not in LINE_ENDS or given.endswith((b".", b",", b":")):
        return b""
    looks = mixed if named.strength == "password" else drawn
    return given if looks(given) and judged(given, named.strength, quoted=False, literal=True) else b""


def _bracketed(given: bytes, behind: bytes, named: Named) -> bytes:
    """The only value of a list, as Java prints them."""
    looks = mixed if named.strength == "password" else drawn
    good = behind[:1] == b"]" and looks(given) and judged(given, named.strength, quoted=True, literal=True)
    return given if good else b""


def _braced(given: bytes, behind: bytes, _named: Named) -> bytes:
    """A password of ODBC, which may hold any sign in braces."""
    return given if behind == b"};" and mixed(given) else b""


def _alone(given: bytes, _behind: bytes, _named: Named) -> bytes:
    """A word that looks drawn, in one piece, behind nothing but a blank."""
    given = given.rstrip(TRAILING)
    if _ADDRESS.fullmatch(given):
        return b""
    good = (IN_PIECES.fullmatch(given) and _ONE_PIECE.search(given)) or _BASE64_KEY.fullmatch(given)
    return given if good and drawn(given) else b""


def _before_at(given: bytes, behind: bytes, named: Named) -> bytes:
    """What ends with an ``@``."""
    good = behind[:1] == b"@" and judged(given, named.strength, quoted=True, literal=True)
    return given if good else b""


def _long_run(given: bytes, _behind: bytes, _named: Named) -> bytes:
    """Base64 or hexadecimal digits of 32 bytes at least."""
    return given if len(given) >= _LEAST_RUN else b""


def _issued(given: bytes, behind: bytes, _named: Named) -> bytes:
    """One that a service has given out: long, and drawn at random; it may be hexadecimal, or a UUID."""
    good = _ISSUED.fullmatch(given) and drawn(given) and behind[:1] not in _NO_ISSUED_END
    return given if good else b""


def _digits(given: bytes, _behind: bytes, named: Named) -> bytes:
    """A code of digits, in two parts or one."""
    return given if judged(given.replace(b"-", b""), named.strength, quoted=True, literal=True) else b""


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
    "copied": statements.copied,
    "created": statements.created,
    "columns": columns.columns,
    "below": _below("value"),
    "result": _below("result"),
    "printed": _below("printed"),
    "element": _run(r"[^<\r\n]", _element),
    "braced": _run(r"[^}\r\n]", _braced, 2),
    "bracketed": _run(r"[^\s\]]", _bracketed),
    "column": _run(classes.WORD, _column),
    "alone": _run(classes.WORD, _alone, 0),
    "before at": _run(r"[^\s@\"'`]", _before_at),
    "long run": _run(_BASE64, _long_run, 0),
    "issued": _run(ISSUED, _issued),
    "digits": _run("[0-9-]", _digits),
}
