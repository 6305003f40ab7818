"""How much of what is needed a preview shows, and how much else.

*Shown*: a pattern (``needed``) stands in a line of the preview, both cleaned. The *first cause* is shown if one of its
patterns is; the share of *needed lines* counts the first cause and everything further alike, output by output.

*Noise* is counted in lines that have text; of those that write over each other, as progress does, the last one counts. The *tail* of a preview is what leads to the last line of the output without a hole.
Each line before that is looked for in the output, after the line before it; what stands nowhere is a notice and counts for nothing. The
*head* is what follows from the first line of the output without a hole; the first and last ``EDGE`` lines of the output
belong to both even behind a hole, so that folding there is free. All other lines of the preview are its *middle*; of them noise is what is more
than ``NEAR`` lines away from any line with a needed pattern. Listings and data are left out of it: their middle is a sample.

Outputs that a preview could hold whole say nothing and are left out of all rates.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.corpus.needed import clean, decoded, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.corpus.case import Case
    from benchmarks.corpus.needed import Needed

LIMIT = 8_000
NEAR = 5
EDGE = 20
SAMPLED = ("listing", "data")
SIZED = ("test", "build")
_AHEAD = 6
_ENOUGH = 60
_NUMBER = re.compile(r"\d+[:|] ?")


class Output(NamedTuple):
    """An output and what is needed of it; ``lines`` are those with text, cleaned, as a terminal leaves them."""

    case: Case
    data: bytes
    text: str
    lines: list[str]
    needed: Needed

    @property
    def counts(self) -> bool:
        """Whether a preview has to leave something out."""
        return len(self.text) > LIMIT


class Score(NamedTuple):
    """What one preview shows of one output.

    Attributes:
        first: whether the first cause is shown; None where nothing went wrong.
        needed: share of the needed lines that are shown; None where nothing is needed.
        middle: lines between head and tail.
        noise: how many of them are noise.
        length: characters.
    """

    first: bool | None
    needed: float | None
    middle: int
    noise: int
    length: int


class Total(NamedTuple):
    """Rates over outputs. ``length`` is the median of tests and builds."""

    first: float
    needed: float
    noise: float
    length: float


def output_of(case: Case, data: bytes, needed: Needed) -> Output:
    """An output, ready to be scored."""
    text = decoded(data)
    return Output(case, data, text, _left(text), needed)


def score(output: Output, preview: str) -> Score:
    """What that preview shows."""
    text = "\n".join(lines_of(preview))
    shown = [any(pattern in text for pattern in patterns) for patterns in output.needed.all]
    middle = middle_of(output.lines, _left(preview))
    wanted = {
        number
        for number, line in enumerate(output.lines)
        if any(pattern in line for patterns in output.needed.all for pattern in patterns)
    }
    near = {number + step for number in wanted for step in range(-NEAR, NEAR + 1)}
    return Score(
        first=shown[0] if output.needed.first else None,
        needed=fmean(shown) if shown else None,
        middle=len(middle),
        noise=sum(number not in near for number in middle),
        length=len(preview),
    )


def _left(text: str) -> list[str]:
    """Lines with text, cleaned, without what a lone CR has let later text take the place of."""
    lines = (clean(line.rstrip("\r").rpartition("\r")[2]) for line in text.split("\n"))
    return [line for line in lines if line]


def middle_of(lines: Sequence[str], seen: Sequence[str]) -> list[int]:
    """The numbers of the lines of an output that a preview shows between its head and its tail."""
    before, kept = _without_tail(lines, seen)
    shown = aligned(lines[:before], seen[:kept])
    head = 0
    while head < len(shown) and shown[head] == head:
        head += 1
    return [number for number in shown[head:] if EDGE <= number < len(lines) - EDGE]


def _without_tail(lines: Sequence[str], seen: Sequence[str]) -> tuple[int, int]:
    """How many lines of the output, and of the preview, stand before its tail; notices may follow the tail."""
    before, kept = len(lines), len(seen)
    while before and kept:
        forms = _forms(seen[kept - 1])
        if lines[before - 1] in forms or lines[before - 1][:_ENOUGH] in forms:
            before -= 1
        elif before < len(lines):
            break
        kept -= 1
    return before, kept if before < len(lines) else len(seen)


def aligned(lines: Sequence[str], seen: Sequence[str]) -> list[int]:
    """Where the lines of a preview stand in the output, in rising order; notices stand nowhere.

    A line may have its number before it, and may be clipped behind ``_ENOUGH`` characters. Of several places the one is
    taken from which the most lines in a row are shown, the first of equals.
    """
    where: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        where[line].append(number)
        if len(line) > _ENOUGH:
            where[line[:_ENOUGH]].append(number)
    shown = [_forms(line) for line in seen]
    found: list[int] = []
    last = -1
    for at, forms in enumerate(shown):
        best, most = None, 0
        places = next((where[form] for form in forms if form in where), [])
        for number in places[bisect_right(places, last) :]:
            run = _run(lines, number, shown, at)
            if run > most:
                best, most = number, run
            if run == _AHEAD:
                break
        if best is not None:
            found.append(best)
            last = best
    return found


def _forms(line: str) -> tuple[str, ...]:
    """What a line of a preview may be in the output, the surest first."""
    bare = _NUMBER.sub("", line)
    return tuple(dict.fromkeys(form for form in (line, bare, line[:_ENOUGH], bare[:_ENOUGH]) if form))


def _run(lines: Sequence[str], number: int, shown: Sequence[tuple[str, ...]], at: int) -> int:
    """How many lines of both are alike in a row, at most ``_AHEAD``."""
    run = 0
    while run < _AHEAD and number + run < len(lines) and at + run < len(shown):
        line = lines[number + run]
        if line not in shown[at + run] and line[:_ENOUGH] not in shown[at + run]:
            break
        run += 1
    return run


def total(scored: Iterable[tuple[Output, Score]]) -> Total:
    """Rates over the outputs that count; a rate of nothing is 0."""
    counted = [(output.case.kind, score) for output, score in scored if output.counts]
    first = [score.first for _, score in counted if score.first is not None]
    needed = [score.needed for _, score in counted if score.needed is not None]
    between = [score for kind, score in counted if kind not in SAMPLED]
    lines = sum(score.middle for score in between)
    lengths = [score.length for kind, score in counted if kind in SIZED]
    return Total(
        first=fmean(first) if first else 0.0,
        needed=fmean(needed) if needed else 0.0,
        noise=sum(score.noise for score in between) / lines if lines else 0.0,
        length=median(lengths) if lengths else 0.0,
    )


def scores(outputs: Sequence[Output], way: Callable[[Output], str]) -> list[tuple[Output, Score]]:
    """Each output with the score of its preview."""
    return [(output, score(output, way(output))) for output in outputs]
