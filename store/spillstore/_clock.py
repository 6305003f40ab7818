"""Time, as an argument, so that a test can turn it by hand."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Where the store reads the time."""

    def time(self) -> float:
        """Seconds since 1970-01-01 UTC, for people."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for durations and the order of output."""


class SystemClock:
    """The machine's own clocks."""

    def time(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since an arbitrary point."""
        return time.monotonic()


class SinceClock:
    """A clock whose time is never before 1970: no row, id or file can hold such a time, and nothing could be read again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def time(self) -> float:
        """Seconds since 1970-01-01 UTC, at least 0."""
        return max(self._clock.time(), 0.0)

    def monotonic(self) -> float:
        """As the clock says."""
        return self._clock.monotonic()
