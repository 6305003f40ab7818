"""Figures out of repeated measurements; all that is compared was taken in turn, in one process or one run."""

from __future__ import annotations

import random
import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` of all values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """The middle."""
    return statistics.median(values)


def interleaved(
    variants: dict[str, Callable[[int], object]],
    rounds: int,
    check: Callable[[str, int, object], None],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Call every variant with every round's number, in an order that is drawn anew each round.

    Drawn, not rotated: whoever always comes right after another finds what that one has left in the caches. ``check``
    sees each answer outside the timed part. ``clock`` gives seconds: by default of the wall's time.
    """
    names = list(variants)
    times: dict[str, list[float]] = {name: [] for name in names}
    rng = random.Random(rounds)
    for number in range(rounds):
        rng.shuffle(names)
        for name in names:
            call = variants[name]
            begin = clock()
            answer = call(number)
            times[name].append(clock() - begin)
            check(name, number, answer)
    return times
