"""What was found out about texts seen before, without keeping the texts.

Names and values recur, so verdicts on them are kept. The texts may be secrets and would outlive their redactor in a cache,
so only their hash is kept: Python's keyed 64-bit hash, which differs from process to process and cannot be turned back. That
two texts share one has the odds of 1 to 10**11 with a full cache.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

MOST = 8192  # verdicts of one function; then it begins anew


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose results are kept by the hashes of its arguments, a bounded number of them.

    >>> @remembered
    ... def long(text):
    ...     print("asked")
    ...     return len(text) > 3
    >>> long(b"hunter2"), long(b"hunter2")
    asked
    (True, True)
    """
    verdicts: dict[int, R] = {}

    @functools.wraps(function)
    def remembering(*args: P.args, **named: P.kwargs) -> R:
        key = hash((args, *named.items()))
        try:
            return verdicts[key]
        except KeyError:
            verdict = function(*args, **named)
            if len(verdicts) >= MOST:
                verdicts.clear()
            verdicts[key] = verdict
            return verdict

    return remembering
