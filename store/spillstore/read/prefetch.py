"""Prefetching: the next parts of a long read are made on the workers while the caller uses the last one.

A part that no worker has begun when the caller needs it is made by the caller, so that a reader never waits in a line behind
writers. A read that is given up leaves nothing under way but what has begun.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

from spillstore.runtime.ahead import Ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DEPTH = 3  # parts under way: one for each worker, and one that waits
T = TypeVar("T")


def prefetch(makers: Iterable[Callable[[], T]], check: Callable[[], None]) -> Iterator[T]:
    """The results of ``makers`` in their order; the next ``DEPTH`` are under way meanwhile.

    Args:
        makers: each makes one part, on any thread.
        check: raises if this process cannot go on, for example after a fork.
    """
    waiting: deque[Ahead[T]] = deque()
    try:
        for make in makers:
            waiting.append(Ahead(make, starts=True))
            if len(waiting) > DEPTH:
                yield waiting.popleft().result(check)
        while waiting:
            yield waiting.popleft().result(check)
    finally:
        for part in waiting:
            part.cancel()
