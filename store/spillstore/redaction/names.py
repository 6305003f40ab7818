"""What the name of a variable, key, option or header says about its value.

A name is taken apart at ``_ - . `` and at capitals; the table of names (``tables/names.py``) says what its words promise:
``AWS_SECRET_ACCESS_KEY``, ``dbPassword`` and ``api-key`` hold secrets, ``password_length``, ``secretName`` and
``public_key`` do not.
"""

from __future__ import annotations

from typing import NamedTuple

from spillstore.redaction.remembered import remembered
from spillstore.redaction.tables import names as table
from spillstore.runtime import lazy_patterns as re


class Named(NamedTuple):
    """A name that promises a secret."""

    kind: str
    strength: str  # password: any literal; secret: one that looks chosen; token: drawn; weak: long and drawn at random


class Expected(NamedTuple):
    """A value that a name in a line before has promised.

    Attributes:
        named: what it promises.
        form: how it is written: ``value``, ``block``, ``nested``, ``string``, ``element``, ``joined``, ``part``, ``printed``, ``codes``,
            ``logins``, ``result``, ``row``, ``aligned``, ``created`` or ``statement``.
        indent: blanks before the name.
        passed: lines that were passed over.
        taken: lines that were taken out.
        columns: of a table: how many there are; which is the value's; what stands between them.
        column: see ``columns``.
        sign: see ``columns``; of a table of SQL, its name.
        places: the columns of such a table that promise something.
    """

    named: Named
    form: str
    indent: int = 0
    passed: int = 0
    taken: int = 0
    columns: int = 0
    column: int = 0
    sign: bytes = b""
    places: tuple[tuple[int, Named], ...] = ()


HINT = "hint"
KINDS_OF_NAMES = frozenset({kind for _, kind in table.KINDS} | set(table.KIND_OF.values()))
_WORD = re.compile(r"[sS]3|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST = 96


@remembered
def classify(name: bytes) -> Named | None:
    """What a name promises; None if no secret. Cost: 5 us, 50 ns for a name seen before."""
    if name == b"psk":
        return Named("PASSWORD", "password")
    parts = _words(name[-_LONGEST:].decode("latin-1"))
    while len(parts) > 1 and (parts[-1] in table.WHERE or parts[-1].isdigit()):
        parts.pop()
    strength = _promised(parts) if parts else ""
    if not strength:
        return None
    if strength != "password":
        joined = "_".join(parts)
        for mark, kind in table.KINDS:
            if mark in joined:
                return Named(kind, strength)
        if strength == "token" and parts[-1] in table.KEYS:
            return Named("API_KEY", strength)
        if parts[-1] == "session":
            return Named("COOKIE", strength)
    return Named(table.KIND_OF[strength], strength)


def _words(name: str) -> list[str]:
    """The words of a name, small: ``dbPassword2`` is ``db password 2``."""
    return [part for word in _WORD.findall(name) for part in _apart(word.lower())]


def _apart(word: str) -> list[str]:
    """The words of which one is made: ``dbpassword``, ``authtoken``, ``apikey``."""
    if word in table.JOINED:
        return table.JOINED[word].split()
    for last in table.ENDINGS:
        if word.endswith(last) and word != last:
            return [word[: -len(last)], *table.JOINED.get(last, last).split()]
    for last in table.SHORT_ENDINGS:
        if word.endswith(last) and word[: -len(last)] in table.BEFORE_SHORT:
            return [word[: -len(last)], last]
    return [word]


def _promised(parts: list[str]) -> str:
    """What the first row says that fits the words of a name."""
    *others, last = parts
    before = others[-1] if others else ""
    for row in table.PROMISES:
        if (
            (not row.last or last in row.last)
            and (not row.behind or before in row.behind)
            and (not row.among or not row.among.isdisjoint(others))
            and len(others) >= row.longer
        ):
            return row.promises
    return ""
