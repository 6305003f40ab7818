"""Time, as an argument, so that a test can turn it by hand."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999


class Clock(Protocol):
    """Where the store reads the time."""

    def time(self) -> float:
        """Seconds since 1970-01-01 UTC, for people."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for durations and the order of output."""


class SystemClock:
    """The machine's own clocks; a time before 1970, which no row, id or file can hold, is 1970."""

    def time(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        now = time.time()
        return now if now > 0 else 0.0

    def monotonic(self) -> float:
        """Seconds since an arbitrary point."""
        return time.monotonic()


class SinceClock:
    """A clock whose time is never before 1970: no row, id or file can hold such a time, and nothing could be read again."""

    def __init__(self, clock: Clock) -> None:
        self._time = clock.time
        self.monotonic = clock.monotonic

    def time(self) -> float:
        """Seconds since 1970-01-01 UTC, at least 0."""
        now = self._time()
        return now if now > 0 else 0.0


def in_utc(seconds: float) -> datetime:
    """A time in seconds since 1970 as one with its zone, within the years that there can be.

    Example:
        >>> in_utc(0.5).isoformat(), in_utc(1e18).year
        ('1970-01-01T00:00:00.500000+00:00', 9999)
    """
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415  # few ask

    within = min(max(seconds, _FIRST), _LAST)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(within * 1e6))
