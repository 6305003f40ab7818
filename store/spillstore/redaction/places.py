"""Secrets by their place: what each row of ``tables/places.py`` describes, and the questions that rows ask of a value."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from spillstore.redaction import prefixed
from spillstore.redaction.look import compiled
from spillstore.redaction.tables import classes, places, shapes
from spillstore.redaction.values import LEAST, drawn, harmless, judged, typed
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.redaction.look import Look
    from spillstore.redaction.tables.rows import Place

_PRINTED = re.compile(rb"[^\x00-\x1f]*")
_DIGIT = re.compile(rb"\d")
_LETTER = re.compile(rb"[A-Za-z]")
SEGMENT = "[A-Za-z0-9_-]"
_ADDRESS = re.compile(rb"://([^\s\"'`<>/?#\x00-\x20]+)(?:/[^\s\"'`<>?#\x00-\x20]*)?\Z")
_OF_FILES = re.compile(rb"(?i)(?:^|[.@-])(?:%b)\d*[.:-]" % places.HOSTS_OF_FILES.encode())
_HEX = re.compile(rb"[0-9a-fA-F]+")
_NAME_GOES_ON = frozenset({b".", b"%", b"=", b"@", b":", b"~", b"+"})
LEAST_SEGMENT = 20
_LEAST_HEX = 32
_COMMIT = 40
_LONGEST_ADDRESS = 512
ANYTHING = frozenset(places.PASSWORDS_OF_MANUALS.encode().split())
_LEAST_CHOSEN = 3
_LEAST_OPAQUE = 12
_LEAST_LONG = 16


class Placed:
    """The rule of a row.

    Attributes:
        row: what it says.
    """

    def __init__(self, row: Place) -> None:
        self.row = row
        self._judge = JUDGES[row.judge]
        # Where a run may hold the literal, what was looked at is not looked at again, or many of them would take too long.
        letters = frozenset(classes.members(row.run) if row.run[0] == "[" else b"")
        self._once = any(letters.issuperset(literal.encode()) for literal in row.literals)

    def __call__(self, look: Look, start: int, end: int) -> int:
        """A literal of the row stands here. Returns where to look on."""
        row, text = self.row, look.text
        if row.apart and not look.apart(start):
            return end
        begin = end
        if row.before:
            match = compiled(row.before).match(text, end)
            if match is None:
                return end
            begin = match.end()
        stop = look.run(row.run, begin)
        if look.open(begin, stop):
            return stop
        if stop - begin < row.least:
            return end
        self._found(look, begin, stop)
        return stop if self._once else end

    def _found(self, look: Look, begin: int, stop: int) -> None:
        if self.row.form:
            match = compiled(self.row.form).match(look.text, begin, stop)
            if match is None:
                return
            begin, stop = match.span(match.lastindex or 0)
        if self._judge(look.text[begin:stop]):
            look.add(begin, stop, self.row.kind)


def segment(look: Look, start: int, end: int) -> int:
    """``/v2/`` stands here, or another part of a path that keys stand behind. Returns where to look on."""
    text = look.text
    stop = look.run(SEGMENT, end)
    if look.open(end, stop):
        return stop
    if stop - end < LEAST_SEGMENT or text[stop : stop + 1] in _NAME_GOES_ON:
        return end
    address = _ADDRESS.search(text, max(0, start - _LONGEST_ADDRESS), start)
    if address and not _OF_FILES.search(address[1]) and _key(text[end:stop]):
        look.add(end, stop, "TOKEN")
    return end


def _key(value: bytes) -> bool:
    """Whether a part of a path is drawn, and no id of a commit or an object."""
    if _HEX.fullmatch(value):
        return len(value) >= _LEAST_HEX and len(value) != _COMMIT
    return prefixed.drawn(value, strong=False)


def _user_and_password(value: bytes) -> bool:
    """Whether it is base64 of two words with a colon between them, or behind NULs as in SASL."""
    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    plain = plain[plain.startswith(b"\0") :].replace(b"\0", b":")
    return (
        b":" in plain[1:] and _PRINTED.fullmatch(plain) is not None and not plain.startswith((b"http", b"{"))
    )


def chosen(value: bytes) -> bool:
    """Whether it may be a password that somebody typed in, and is no word of a manual."""
    return len(value) >= _LEAST_CHOSEN and not harmless(value) and value.lower() not in ANYTHING


def _opaque(value: bytes) -> bool:
    """Whether it is a token, and no word of prose."""
    long = len(value) >= _LEAST_OPAQUE or (len(value) >= LEAST and drawn(value))
    return long and not harmless(value) and _DIGIT.search(value) is not None


def _mixed(value: bytes) -> bool:
    """Whether letters and digits are drawn, as in no number and no id."""
    return (
        _LETTER.search(value) is not None
        and _DIGIT.search(value) is not None
        and drawn(value)
        and not shapes.UUID.fullmatch(value)
    )


JUDGES: dict[str, Callable[[bytes], bool]] = {
    "": lambda value: len(value) > 0,
    "drawn": drawn,
    "known": lambda value: not harmless(value),
    "chosen": chosen,
    "typed": typed,
    "issued": lambda value: _mixed(value) or shapes.UUID.fullmatch(value) is not None,
    "long": lambda value: len(value) >= _LEAST_LONG and drawn(value),
    "mixed": _mixed,
    "opaque": _opaque,
    "password": lambda value: judged(value, "password"),
    "user_and_password": _user_and_password,
}
