r"""Tokens of any provider that stand alone: ``prefix_`` and letters and digits that are drawn, such as ``acme_live_8Fk2...``.

What a prefix may be, and what it must not be, stands in ``tables/tokens.py``. No literal begins such a token, so it is looked for
by its length: a run of letters, digits, ``_`` and ``-``. The native scanner finds runs by looking at every other word of eight
bytes, and drops those that are words.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from spillstore.redaction.tables import classes, shapes
from spillstore.redaction.tables import tokens as tables
from spillstore.redaction.values import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.redaction.look import Look

LEAST, MOST = 23, 512  # bytes of a token; as in ``_native/scan_runs.c``
_NEAR = MOST + 8
_LETTERS = classes.members(r"[\w-]")
_NOT_BEFORE = frozenset(classes.BEFORE_RUN.encode() + b"\\%")
_DIGEST_BACK = 14
_HASHES = frozenset({27, 43, 86})  # letters of hashes in base64 for URLs
_ROWS = frozenset({64, 76})  # of lines of such base64
_BLOB = 60  # bytes of it, at least, that are too many for most tokens
_LEAST_WORD = 2
_LEAST_PLACES = 2  # where digits stand
_CASES = tuple(bytes(range(first, first + 26)) for first in b"Aa")
_FEW = 10  # different letters


@functools.cache
def _words(words: str) -> frozenset[bytes]:
    return frozenset(words.encode().split())


def find(look: Look, runs: Iterable[tuple[int, int]], since: int) -> None:
    """Tell the tokens among the runs that end behind ``since``. A row's kind says more, so what one has found is not told again."""
    told: frozenset[int] | None = None
    for start, end in runs:
        if end > since:
            told = frozenset(span.start for span in look.spans) if told is None else told
            look.tried += 1
            _token(look, start, end, told)
    if not look.final:
        _hold(look)


def _token(look: Look, start: int, end: int, told: frozenset[int]) -> None:
    text = look.text
    start = _begin(text, start)
    if start < 0 or not LEAST <= end - start <= MOST or (end == look.size and not look.final):
        return
    if end < look.size and not _ends(look, end):
        return
    if start in told or shapes.DIGEST.search(text, max(0, start - _DIGEST_BACK), start):
        return
    prefix = _prefix(text[start:end])
    if prefix:
        look.add(start + prefix, end, "TOKEN")


def _begin(text: bytes, start: int) -> int:
    """Where a run begins behind an escape, or -1 if it is a part of something else."""
    if start and text[start - 1] in _NOT_BEFORE:
        escaped = shapes.ESCAPED.match(text, start)
        return -1 if escaped is None else escaped.end()
    return start


def _ends(look: Look, end: int) -> bool:
    """Whether what stands behind a run is no part of the same."""
    text = look.text
    if text[end] != ord("."):
        return text[end] not in classes.BEHIND_RUN.encode()
    if end + 1 == look.size and not look.final:
        return False  # it is held
    return shapes.LETTER_OR_DIGIT.match(text, end + 1) is None


def _prefix(run: bytes) -> int:
    """How many bytes of a run are the prefix of a token; 0 if it is none."""
    form = shapes.FORM.fullmatch(run)
    if form is None:
        return 0
    body = form[2]
    words = [word.rstrip(b"0123456789").lower() for word in shapes.SEPARATOR.split(form[1])[:-1]]
    if len(words[0]) < _LEAST_WORD or _words(tables.NO_SECRETS).intersection(words):
        return 0
    strong = bool(_words(tables.SECRETS).intersection(words))
    if _blob(run, form[1], body, strong=strong):
        return 0
    if not strong and (_words(tables.IDS).intersection(words) or shapes.ID.match(body)):
        return 0
    whole = drawn(body, strong=strong or run[form.end(1) - 1] == ord("_"))
    return form.end(1) if whole else 0


def _blob(run: bytes, prefix: bytes, body: bytes, *, strong: bool) -> bool:
    """Whether it may be base64 for URLs: of a hash, a line of a file, a long text, whose first letters happen to look like a prefix."""
    short = shapes.SHORT_PREFIX.fullmatch(prefix) is not None
    if len(run) in _ROWS:
        return (short or not strong) and shapes.LONG_HEX.fullmatch(body) is None
    long = len(run) in _HASHES or len(run) >= _BLOB
    return not strong and short and long and shapes.SEPARATOR.search(body) is not None


def changes(body: bytes) -> int:
    """How often a letter, a capital or a digit stands behind one of another kind."""
    return len(shapes.CHANGE.findall(body))


def drawn(body: bytes, *, strong: bool) -> bool:
    """Whether it is drawn, from letters of both cases, of one, or from hexadecimal digits; the last only where that is no hash."""
    turns = changes(body)
    places = len(shapes.DIGITS.findall(body))
    if len(set(body)) < _FEW or counted(body) or places < 1 or shapes.NAME.search(body):
        return False
    if shapes.LONG_HEX.fullmatch(body):
        return strong and turns * 4 >= len(body)
    if shapes.SMALL.fullmatch(body) or shapes.CAPITAL.fullmatch(body):
        return places > _LEAST_PLACES and turns * 4 >= len(body)
    letters = body.replace(b"_", b"").replace(b"-", b"")
    capitals, small = (len(letters) - len(letters.translate(None, case)) for case in _CASES)
    return (
        min(capitals, small) * 10 >= len(letters)
        and turns * 5 >= 2 * len(letters)
        and (places >= _LEAST_PLACES or _no_name(letters, turns))
        and (len(body) - len(letters)) * 8 <= len(body)
        and sum(map(len, shapes.LONG_WORDS.findall(letters))) * 5 <= 2 * len(letters)
    )


def _no_name(letters: bytes, turns: int) -> bool:
    """Whether letters with digits in one place alone are drawn: mixed more than those of a name with a version."""
    return turns * 2 >= len(letters) and sum(map(len, shapes.HUMPS.findall(letters))) * 9 <= 4 * len(letters)


def _hold(look: Look) -> None:
    """Hold back what stands behind a prefix, if the text ends in it or in a full stop behind it, and a token may begin so."""
    text = look.text
    stop = look.size - text.endswith(b".")
    tail = text[max(0, stop - _NEAR) : stop]
    letters = len(tail) - len(tail.rstrip(_LETTERS))
    if letters >= _NEAR:
        return
    start = _begin(text, stop - letters)
    prefix = shapes.PREFIX.match(text, start, stop) if start >= 0 else None
    if prefix is None or prefix.end() == stop:
        return  # nothing of a secret is there
    if stop == look.size:
        look.open(prefix.end(), stop, shapes.GROWS)
    elif stop - start >= LEAST:
        look.open(prefix.end(), look.size)
