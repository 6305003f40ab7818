"""A text's secrets by all rules, in order and without overlap: what the finder tells, keys in armour, own patterns.

Colours are taken out before anything is looked at, so that ``grep --color`` does not hide a secret, and places are
counted back afterwards. What spans lines is kept in a ``State``: only a private key does.
"""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction import finder, nextlines, pem
from spillstore.redaction.finder import Part, find
from spillstore.redaction.keys import Keys
from spillstore.redaction.spans import Span
from spillstore.runtime import lazy_patterns as re
from spillstore.text_scan import COLOUR, uncoloured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.redaction.look import Look
    from spillstore.redaction.names import Expected
    from spillstore.redaction.own_rules import OwnRules

_MOST_COLUMNS = 16  # of a table, that hold secrets
_STRENGTHS = ("weak", "long", "token", "secret", "password")  # of names, each more than those before
_CUT_COLOUR = re.compile(rb"\x1b(?:\[[0-9;:?]{0,30})?\Z")


class State(NamedTuple):
    """What a line must know of those before it.

    Attributes:
        key: the private key that it may be a part of.
        expected: the value that a name in the line before has promised.
        distant: those that may be many lines below, or in each of them: of a resource, of the columns of a table.
    """

    key: pem.Open | None = None
    expected: Expected | None = None
    distant: tuple[Expected, ...] = ()


class Scanned(NamedTuple):
    """What was found in a text.

    Attributes:
        spans: the secrets in order, adjacent at most.
        hold: from where on it cannot be told.
        state: behind the text.
        until: what alone can end what is held besides a line's end, or None.
        tried: how often a rule was called, which is what a scan costs.
    """

    spans: list[Span]
    hold: int
    state: State
    until: re.Pattern[bytes] | None = None
    tried: int = 0


def search(data: bytes, low: int, high: int) -> list[Part]:
    """The part of ``scan`` that takes most of its time, for whole lines, ``data[low:high]``, of which nothing was told.

    Several threads may do it at once. What it returns are parts of them, in order.
    """
    if data.find(b"\x1b", low, high) < 0:
        return finder.search(data, low, high)
    return [Part(low, high, find(uncoloured(data, low, high), final=True))]


def scan(
    text: bytes,
    rules: OwnRules,
    state: State,
    *,
    since: int,
    final: bool,
    step: bool = False,
    found: Look | None = None,
) -> Scanned:
    """The secrets of a text.

    Args:
        text: lines, the last one may be unfinished.
        rules: what is a secret.
        state: after the lines before.
        since: what begins before this was told already.
        final: nothing follows that belongs to the last line.
        step: the line goes on, and its end is left to the next scan.
        found: what ``search`` gave for the text, if it was called before.
    """
    if b"\x1b" not in text:
        return _scan(text, rules, state, since, final=final, step=step, found=found)
    plain = text
    if not final and (cut := _CUT_COLOUR.search(text, max(0, len(text) - 40))):
        plain = text[: cut.start()]
    stripped = uncoloured(plain) if found is None else found.text
    told = len(uncoloured(plain, 0, since))
    # Of a window of colours alone so little may be left that its end would be all of it.
    spans, hold, state, _, tried = _scan(stripped, rules, state, told, final=final, found=found)
    if not spans and hold == len(stripped):
        return Scanned([], len(plain), state, tried=tried)
    places: list[int] = []  # in the text without colours: where one was
    shifts = [0]  # and what all up to it take
    for match in COLOUR.finditer(plain):
        places.append(match.start() - shifts[-1])
        shifts.append(shifts[-1] + match.end() - match.start())
    placed = [
        Span(
            start + shifts[bisect.bisect_right(places, start)],
            end + shifts[bisect.bisect_left(places, end)],
            kind,
            first,
        )
        for start, end, kind, first in spans
    ]
    # What is held begins behind the colours before it, unless nothing is.
    return Scanned(
        placed,
        hold + shifts[bisect.bisect_right(places, hold)] if hold < len(stripped) else len(plain),
        state,
        tried=tried,
    )


def _scan(
    text: bytes,
    rules: OwnRules,
    state: State,
    since: int,
    *,
    final: bool,
    step: bool = False,
    found: Look | None = None,
) -> Scanned:
    size = hold = len(text)
    until: re.Pattern[bytes] | None = None
    tried = 0
    promised = [(0, each) for each in (state.expected, *state.distant) if each is not None]
    keys = Keys(text, state.key, final=final)
    found_at = keys.place
    spans: list[Span] = []
    if found_at < size and keys.hold == size:
        found = found or find(text, since=since, final=final, step=step)
        hold, until, tried = found.hold, found.until, found.tried
        promised += found.expected
        for at in found.keys:
            keys.marked(found, at)
        spans = keys.outside([span for span in found.spans if span.start >= found_at])
        if rules.patterns:
            more, held = rules.find(text, final=final)
            spans += more
            hold, until = min(hold, held), None
    if keys.hold < hold:
        hold, until = keys.hold, pem.MAY_END
    spans += keys.spans
    following: list[list[Expected]] = []
    for distant in (
        False,
        True,
    ):  # neither takes the place of the other: the scanner drops names without a value in the next line
        group = [each for each in promised if (each[1].form in nextlines.DISTANT) is distant]
        left, held = _followed(text, group if distant else _strongest(group), keys, spans, final=final)
        following.append(left)
        if held < hold:
            hold, until = held, None
    spans = rules.allowed(text, [span for span in spans if since <= span.start])
    for span in sorted(spans, reverse=True):
        if span.start < hold < span.end:  # it is not told before all of it can be given out
            hold, until = span.start, None
    return Scanned(
        _merged(spans, hold),
        hold,
        State(keys.key, next(iter(following[0]), None), tuple(following[1])),
        until,
        tried,
    )


def _strongest(promised: list[tuple[int, Expected]]) -> Iterable[tuple[int, Expected]]:
    """Of what is promised for the same line the strongest, of those the last: a word of a path takes no password's place."""
    found: dict[int, Expected] = {}
    for at, each in promised:
        if at not in found or _rank(each) >= _rank(found[at]):
            found[at] = each
    return found.items()


def _rank(expected: Expected) -> int:
    strength = expected.named.strength
    return _STRENGTHS.index(strength) if strength in _STRENGTHS else -1


def _followed(
    text: bytes, promised: Iterable[tuple[int, Expected]], keys: Keys, spans: list[Span], *, final: bool
) -> tuple[list[Expected], int]:
    """Look for values in the lines behind the names that promise them; what a later line promises takes the place of it.

    Returns:
        What is expected behind the text, and from where on it cannot be told.
    """
    group: dict[int, list[Expected]] = {}
    for at, each in promised:
        group.setdefault(at, []).append(each)
    hold = size = len(text)
    left: list[Expected] = []
    for at, stop in itertools.pairwise([*group, size]):
        key = keys.first(at, stop)
        last = stop if key is None else key
        left = []
        for fresh in group[at][-_MOST_COLUMNS:]:
            expected, held = nextlines.follow(text, at, last, fresh, spans, final=final or last < size)
            if expected is not None and key is None:
                left.append(expected)
            if last == size:
                hold = min(hold, held)
    return left, hold


def _merged(spans: list[Span], hold: int) -> list[Span]:
    """In order, without overlap: of two that overlap, the one that begins first gives the kind."""
    spans.sort(key=lambda span: (span.start, -span.end))
    merged: list[Span] = []
    for span in spans:
        if span.end > hold:
            continue
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = merged[-1]._replace(end=span.end)
            continue
        merged.append(span)
    return merged
