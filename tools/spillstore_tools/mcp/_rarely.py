"""A log that others cannot flood: of lines that are alike it has few a minute."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_AT_ONCE = 5  # lines from one place in the code in a minute
_MINUTE = 60.0


class Rarely(logging.Filter):
    """Lets a few lines of each place in the code through a minute; the next one says how many there were besides.

    Args:
        now: seconds, from a clock that goes on.

    Example:
        >>> moments = iter([0.0] * 7 + [61.0])
        >>> rarely = Rarely(lambda: next(moments))
        >>> lines = [logging.LogRecord("x", 30, "x.py", 1, f"no {n}", (), None) for n in range(8)]
        >>> [line.getMessage() for line in lines if rarely.filter(line)][3:]
        ['no 3', 'no 4', 'no 7 (and 2 more like it)']
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._lock = threading.Lock()  # protects what is below
        self._places: dict[tuple[str, int], tuple[float, int]] = {}  # by place: since when, and how many

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        place = record.pathname, record.lineno
        now = self._now()
        with self._lock:
            since, count = self._places.get(place, (now, 0))
            left_out = 0
            if now - since >= _MINUTE:
                left_out, since, count = max(0, count - _AT_ONCE), now, 0
            self._places[place] = since, count + 1
        if count >= _AT_ONCE:
            return False
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it)", ()
        return True
