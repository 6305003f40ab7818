"""All rules over a text: a rule is tried where one of its literals stands.

Literals may overlap and hide nothing from each other; of the rules of one family each goes on where the one before ended.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction import addresses, assignments, commands, headers, hinted, prefixed, tokens, told
from spillstore.redaction.candidates import Automaton, FirstTexts
from spillstore.redaction.families import Family, entries
from spillstore.redaction.look import CONTEXT, Look, Rule, line_start
from spillstore.redaction.places import Placed, segment
from spillstore.redaction.tables import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore.redaction.candidates import Hit
    from spillstore.redaction.native_scanner import Scanner
    from spillstore.redaction.tables.rows import Place

_SEEN = 2560  # bytes behind a literal that the scanner looks at, and more: what it drops before them stays so however the line goes on

_SOME = 1024  # literals
_BEHIND = 4096  # bytes behind the last literal in which a value that it promises is found nearly always


def find(text: bytes, *, since: int = 0, final: bool, step: bool = False) -> Look:
    """The secrets of a text, by all rules but private keys.

    Args:
        text: lines, the last one may be unfinished.
        since: secrets that begin before this need not be found.
        final: nothing follows that belongs to the last line.
        step: the line goes on, and its end is left to the next look: nothing is dropped there, so it would take long.
    """
    look = Look(text, final=final)
    size = look.size
    scanner = _searcher_for(size)
    whole = size if final else max(line_start(text, size), size - _SEEN)
    hits = scanner.hits(text, whole)
    if step:
        look.hold = max(0, size - _SEEN - CONTEXT)
        hits = itertools.takewhile(lambda hit: hit[2] <= whole, hits)
    _try(look, hits, list(scanner.runs(text)), since)
    if not final:
        tokens.unfinished(look)
    return look


class Part(NamedTuple):
    """Whole lines of some data, and what was found in them; None if no rule can apply there.

    Attributes:
        low: where the first one begins.
        high: where the last one ends.
        look: what was found.
    """

    low: int
    high: int
    look: Look | None = None


def search(data: bytes, low: int, high: int) -> list[Part]:
    """The same for whole lines, ``data[low:high]``, in parts.

    They end before the first line in which a rule may apply, ``_BEHIND`` bytes behind the last one, and with the lines. Only the second is
    copied. Values that it promises in later lines are to be looked for in the third.
    """
    scanner = _searcher_for(high - low)
    hits = scanner.hits(data, high, low, high)
    some = list(itertools.islice(hits, _SOME))  # the rest is not held at once
    runs = list(scanner.runs(data, low, high))
    if not some and not runs:
        return [Part(low, high)]
    begin = min(start for start, _ in (*runs, *(hit[1:] for hit in some)))
    end = high if len(some) == _SOME else max(end for _, end in (*runs, *(hit[1:] for hit in some)))
    first, last = line_start(data, begin, low), line_start(data, min(end + _BEHIND, high), low)
    last = last if last > end else high
    look = Look(data[first:last], final=True)
    _try(
        look,
        ((number, start - first, end - first) for number, start, end in itertools.chain(some, hits)),
        [(start - first, end - first) for start, end in runs],
        0,
    )
    return [Part(low, first), Part(first, last, look), Part(last, high)]


def _searcher_for(size: int) -> FirstTexts | Automaton | Scanner:
    return FIRST if FIRST.takes(size) else searcher()


def _try(look: Look, hits: Iterable[Hit], runs: list[tuple[int, int]], since: int) -> None:
    """Try the rules where their literals stand, and tell which runs are tokens."""
    done = [max(0, since - family.back) for family in _FAMILIES] if since else [0] * len(_FAMILIES)
    text, size = look.text, look.size
    for number, start, end in hits:
        _, rule, family, not_before = ENTRIES[number]
        if start >= done[family] and (end == size or text[end] not in not_before):
            look.tried += 1
            after = rule(look, start, end)
            if after > end:
                done[family] = after
    prefixed.find(look, runs, since)
    hinted.find(look, runs, since)


def _key(look: Look, start: int, end: int) -> int:
    """``PRIVATE KEY`` stands here; ``scan.py`` sees to it, as a key goes over many lines."""
    look.keys.append(start)
    return end


# The functions that rows name.
_FUNCTIONS: dict[str, Rule] = {
    "authorization": headers.authorization,
    "cookie": headers.cookie,
    "url": addresses.url,
    "own_line": commands.own_line,
    "told": told.told,
    "prompted": told.prompted,
    "pgpass": commands.pgpass,
    "segment": segment,
}


def _placed(rows: Iterable[Place]) -> Iterator[tuple[str, Rule]]:
    for row in rows:
        rule = _FUNCTIONS[row.rule] if row.rule else Placed(row)
        yield from ((literal, rule) for literal in row.literals)


_FAMILIES = (
    Family(assignments.RULES, 640),
    Family(tuple(_placed(places.ADDRESSES)), 512),
    Family(tuple(_placed(places.HEADERS)), headers.LONGEST_COOKIE + 256),
    Family((*_placed(places.FILES), *commands.PROGRAMS), 640),
    Family(tokens.RULES, 64),
    Family((("PRIVATE KEY", _key), ("Private-Lines:", _key), ("OpenVPN Static", _key)), CONTEXT),
    Family(assignments.PHRASE_RULES, 640),
    Family(tuple(_placed(places.SIGNATURES)), 512),
)
ENTRIES = entries(_FAMILIES)
FIRST = FirstTexts(ENTRIES)


@functools.cache
def searcher() -> Automaton | Scanner:
    """What finds literals on this machine, but for the first short texts."""
    from spillstore._native import library  # noqa: PLC0415  # imports ctypes, which takes longer than what short texts need

    if (native := library()) is not None:
        from spillstore.redaction import native_scanner, scanner_tables  # noqa: PLC0415  # likewise

        if scanner_tables.fits(native):
            return native_scanner.Scanner(native, ENTRIES)
    return Automaton(ENTRIES)
