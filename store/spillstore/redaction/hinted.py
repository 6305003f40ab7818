r"""Values that look drawn, whatever their notation, behind a name that only hints that they are secrets.

An example is ``mailer_auth │ 8Fk2...``. No literal begins such values: the value is found first, as a run of letters (see ``prefixed.py``), and then its name is looked for
before it, behind quotes, blanks and a sign of any notation. So words such as ``auth`` or ``webhook``, which are frequent in texts,
cost nothing where no such value stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.redaction import prefixed
from spillstore.redaction.assignments import promise
from spillstore.redaction.look import LONGEST_NAME, line_start, name_start
from spillstore.redaction.names import HINT, Named
from spillstore.redaction.tables import classes
from spillstore.redaction.values import judged
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.redaction.look import Look

_LETTERS = classes.members("[A-Za-z0-9+/_.~-]")
_VALUE = re.compile(rb"[A-Za-z0-9+/_.~-]*+={0,2}+")
_NO_VALUE = re.compile(rb"[^A-Za-z0-9+/_.~=-]")
_DIGIT = re.compile(rb"\d")
_NOT_BEHIND = frozenset(bytes([byte]) for byte in b"([{@$^*:=%")  # calls, selections, addresses, other names
_QUOTES = b"\"'`\\"
_QUOTE = frozenset({b'"', b"'"})
_PAIR = re.compile(
    rb"(?<![\w.-])([\w.-]{1,96})\\{0,4}[\"']?,[ \t]{0,8}\\{0,4}[\"']?\Z"
)  # `"name": "X", "value": `
_SIGNS = b"=:>|\xe2\x94\x82"  # the last three are a bar of a frame
_BETWEEN = b" \t\"'`\\=:>|,;([{<*?~)}]\xe2\x94\x82\x80\x93\xef\xbc\x9a"  # the last ones are of a bar, a dash, a colon of Chinese
_SIGN = re.compile(rb"[=:>|(\[\]{<*\x82\x93\x94\x9a]|[,;][ \t\"']")
_FAR = "far"  # what such a name promises
_PROMISING = frozenset({"password", "secret", "token"})
_BEFORE_RUN = 16  # bytes of a value before its first run, as in `_native/scan_runs.c`
_BEFORE = 48  # bytes between a name and a value; the same
_MOST = prefixed.MOST
_LEAST_BLANKS = 2  # without a sign


def find(look: Look, runs: Iterable[tuple[int, int]], since: int) -> None:
    """Tell the values among the runs that end behind ``since``."""
    text, done = look.text, 0
    told: frozenset[int] | None = None  # where what rows have found ends: their kinds say more
    for first, stop in runs:
        if stop <= since or first < done or not _drawn(text[first:stop]):
            continue
        start = _begin(text, first)
        named = None if start < 0 else _named(look, start)
        if named is None:
            continue
        done = look.end(_VALUE, start)
        if done == look.size and not look.final:
            continue
        if text[done : done + 1] in _NOT_BEHIND or not _secret(text[start:done], named):
            continue
        if named.strength == _FAR:
            told = frozenset(span.end for span in look.spans) if told is None else told
        if named.strength != _FAR or told is None or done not in told:
            look.add(start, done, named.kind)
    if not look.final:
        _hold(look)


def _drawn(run: bytes) -> bool:
    """Whether letters, capitals and digits change as often as in a token; as in ``_native/scan_runs.c``."""
    both = not run.islower() and not run.isupper()
    changes = prefixed.changes(run)
    return _DIGIT.search(run) is not None and changes * (5 if both else 4) >= len(run) * (2 if both else 1)


def _begin(text: bytes, first: int) -> int:
    """Where the value begins that holds a run; -1 if that is too far before it."""
    head = text[max(0, first - _BEFORE_RUN - 1) : first]
    before = len(head) - len(head.rstrip(_LETTERS))
    return first - before if before <= _BEFORE_RUN else -1


def _named(look: Look, start: int) -> Named | None:
    """What the name before a value promises: one close to it, or one that promises a secret, with any signs between them."""
    known = _close(look, start)
    if known is not None:
        return known
    text = look.text
    low = line_start(text, start, max(0, start - _BEFORE))
    stop = low + len(text[low:start].rstrip(_BETWEEN))
    begin = name_start(text, stop)
    if begin == stop or _SIGN.search(text, stop, start) is None:
        return None
    known = promise(look, begin, stop)
    return Named(known.kind, _FAR) if known is not None and known.strength in _PROMISING else None


def _close(look: Look, start: int) -> Named | None:
    """What the name promises if quotes, blanks and one sign at most stand between them."""
    text = look.text
    low = line_start(text, start, max(0, start - _BEFORE))
    head = text[low:start]
    behind = head.rstrip(_QUOTES).rstrip(b" \t")
    unsigned = behind.rstrip(_SIGNS)
    strings = head[-1:] in _QUOTE and behind[-1:] in _QUOTE
    if (
        unsigned == behind
        and not strings
        and len(head) - len(behind) < _LEAST_BLANKS
        and not head.endswith(b"\t")
    ):
        return None
    stop = low + len(unsigned.rstrip(b" \t").rstrip(b"]" + _QUOTES))
    begin = name_start(text, stop)
    if text[begin + 1 : stop] in {b"alue", b"ALUE"} and (
        pair := _PAIR.search(text, max(0, begin - _BEFORE - LONGEST_NAME), begin)
    ):
        begin, stop = pair.span(1)
    return promise(look, begin, stop) if begin < stop else None


def _secret(value: bytes, named: Named) -> bool:
    """Whether it is drawn; hexadecimal digits are, and UUIDs are not."""
    strength = "long" if named.strength in {HINT, *_PROMISING} else named.strength
    strength = "weak" if strength == _FAR else strength
    return len(value) <= _MOST and prefixed.drawn(value.rstrip(b"="), strong=True) and judged(value, strength)


def _hold(look: Look) -> None:
    """Hold back a value that the text ends in."""
    text, size = look.text, look.size
    tail = text[max(0, size - _MOST - 1) :]
    letters = len(tail) - len(tail.rstrip(b"=").rstrip(_LETTERS))
    if 0 < letters <= _MOST and _named(look, size - letters) is not None:
        look.open(size - letters, size, _NO_VALUE)
