"""A limit on the log, so that clients cannot flood it: a few lines a minute from each place in the code."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PER_MINUTE = 5  # lines from one place in the code
_MINUTE = 60.0


class RateLimitFilter(logging.Filter):
    """Passes a few records a minute from each place in the code; the next one says how many were left out.

    Args:
        now: a monotonic clock, in seconds.

    Example:
        >>> moments = iter([0.0] * 7 + [61.0])
        >>> limit = RateLimitFilter(lambda: next(moments))
        >>> records = [logging.LogRecord("x", 30, "x.py", 1, f"no {n}", (), None) for n in range(8)]
        >>> [record.getMessage() for record in records if limit.filter(record)][3:]
        ['no 3', 'no 4', 'no 7 (and 2 more like it)']
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._lock = threading.Lock()  # protects what is below
        self._counts: dict[
            tuple[str, int], tuple[float, int]
        ] = {}  # by place: when the minute began, and records

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        place = record.pathname, record.lineno
        now = self._now()
        with self._lock:
            since, count = self._counts.get(place, (now, 0))
            left_out = 0
            if now - since >= _MINUTE:
                left_out, since, count = max(0, count - _PER_MINUTE), now, 0
            self._counts[place] = since, count + 1
        if count >= _PER_MINUTE:
            return False
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it)", ()
        return True
