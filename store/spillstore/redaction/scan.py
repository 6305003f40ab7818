"""A text's secrets by all rules, in order and without overlap: what the finder tells, keys in armour, own patterns.

Colours are taken out before anything is looked at, so that ``grep --color`` does not hide a secret, and places are
counted back afterwards. What spans lines is kept in a ``State``: only a private key does.
"""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction import nextlines, pem
from spillstore.redaction.finder import find
from spillstore.redaction.spans import Span

if TYPE_CHECKING:
    from spillstore.redaction.rules import RedactionRules

_COLOUR = re.compile(rb"\x1b\[[0-9;:?]{0,30}[A-Za-z]")
_CUT_COLOUR = re.compile(rb"\x1b(?:\[[0-9;:?]{0,30})?\Z")
_LINE_END = re.compile(rb"[\r\n]")


class State(NamedTuple):
    """What a line must know of those before it."""

    key: pem.Open | None = None
    expected: nextlines.Expected | None = None


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


def scan(text: bytes, rules: RedactionRules, state: State, *, since: int, final: bool) -> Scanned:
    """The secrets of a text.

    Args:
        text: lines, the last one may be unfinished.
        rules: what is a secret.
        state: after the lines before.
        since: what begins before this was told already.
        final: nothing follows that belongs to the last line.
    """
    if b"\x1b" not in text:
        return _scan(text, rules, state, since, final=final)
    plain = text
    if not final and (cut := _CUT_COLOUR.search(text, max(0, len(text) - 40))):
        plain = text[: cut.start()]
    stripped = _COLOUR.sub(b"", plain)
    told = len(_COLOUR.sub(b"", plain[:since]))
    spans, hold, state, _, tried = _scan(stripped, rules, state, told, final=final)
    if not spans and hold == len(stripped):
        return Scanned([], len(plain), state, tried=tried)
    places: list[int] = []  # in the text without colours: where one was
    shifts = [0]  # and what all up to it take
    for match in _COLOUR.finditer(plain):
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


def _scan(text: bytes, rules: RedactionRules, state: State, since: int, *, final: bool) -> Scanned:
    spans: list[Span] = []
    hold = len(text)
    until: re.Pattern[bytes] | None = None
    place = tried = 0
    promised = [] if state.expected is None else [(0, state.expected)]
    armour: list[tuple[int, int]] = []  # where a key stands
    if state.key is not None:
        place, state, hold = _armoured(text, 0, state, spans, final=final)
        armour.append((0, place))
    if place < len(text) and hold == len(text):
        found = find(text, since=since, final=final)
        hold, until, tried = found.hold, found.until, found.tried
        spans += [span for span in found.spans if span.start >= place]
        promised += found.expected
        for at in found.keys:
            if at >= place:
                place, state, held = _key(text, at, spans, final=final)
                ended = _LINE_END.search(text, at)
                if ended is not None and ended.end() < place:
                    armour.append((ended.end(), place))
                if held < hold:
                    hold, until = held, pem.MAY_END
        if rules.patterns:
            more, held = rules.find(text, final=final)
            spans += more
            hold, until = min(hold, held), None
    expected = None
    for number, (at, fresh) in enumerate(promised, 1):  # what a later line promises takes the place of it
        stop = promised[number][0] if number < len(promised) else len(text)
        key = next((first for first, last in armour if first < stop and at < last), len(text))
        whole = min(stop, key) == len(text)
        expected, held = nextlines.follow(text[: min(stop, key)], at, fresh, spans, final=final or not whole)
        expected = expected if key == len(text) else None
        if whole and held < hold:
            hold, until = held, None
    spans = rules.allowed(text, [span for span in spans if since <= span.start])
    for span in sorted(spans, reverse=True):
        if span.start < hold < span.end:  # it is not told before all of it can be given out
            hold, until = span.start, None
    spans = _merged(spans, hold)
    return Scanned(spans, hold, State(state.key, expected), until, tried)


def _key(text: bytes, at: int, spans: list[Span], *, final: bool) -> tuple[int, State, int]:
    """``PRIVATE KEY`` stands at ``at``. Returns where to look on, the state there, and from where on it cannot be told."""
    size = len(text)
    marker = pem.begin(text, at)
    if marker is None:
        return at, State(), size
    first, last, stop, closed = pem.inline(text, marker.end())
    if not final and not closed and stop >= size - 40 and not _LINE_END.search(text, stop):
        return stop, State(), marker.end()
    if first < last:
        _drop(marker.end(), stop, spans)
        spans.append(Span(first, last, "PRIVATE_KEY"))
    if closed:
        return stop, State(), size
    line = max(text.rfind(b"\n", 0, marker.start()), text.rfind(b"\r", 0, marker.start())) + 1
    state = State(pem.Open(pem.shape(text[line : marker.start()]), lines=int(first < last)))
    spoken = text[stop : stop + 1] not in {b"\r", b"\n", b""} and not first < last
    if spoken and not pem.logged(text[line : marker.start()]):
        return stop, State(), size  # it is spoken of
    ended = _LINE_END.search(text, stop)
    if text.find(b"PRIVATE KEY", stop, size if ended is None else ended.start()) >= 0:
        return stop, State(), size  # another one follows in this line
    if ended is None:
        return stop, state, size
    return _armoured(text, ended.end(), state, spans, final=final)


def _armoured(
    text: bytes, place: int, state: State, spans: list[Span], *, final: bool
) -> tuple[int, State, int]:
    """Take the lines of a key out from ``place`` on."""
    size = len(text)
    while state.key is not None and place < size:
        ended = _LINE_END.search(text, place)
        end = size if ended is None else ended.start()
        if ended is None and not final:
            return place, state, place
        first = state.key.lines == 0
        found, key = pem.judge(text[place:end], state.key)
        if found is not None:
            _drop(place, end, spans)
            spans.append(Span(place + found[0], place + found[1], "PRIVATE_KEY", first))
        state = State(key)
        if found is None and key is None:
            break
        place = size if ended is None else ended.end()
    return place, state, size


def _drop(start: int, end: int, spans: list[Span]) -> None:
    """What other rules found inside of a key is no finding."""
    spans[:] = [span for span in spans if span.end <= start or span.start >= end]


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
