"""Work that takes long, a part at a time, so that whoever shows it never waits."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator

T = TypeVar("T")


class Steps(Generic[T]):
    """A generator that is run for so many seconds at a time; it yields how much is done and returns the result.

    Attributes:
        progress: how much is done, from 0 to 1.
        result: what came of it; None while it is not over, or where it found nothing.
        done: whether it is over.

    Example:
        >>> def counting():
        ...     for number in range(3):
        ...         yield number / 3
        ...     return "counted"
        >>> steps = Steps(counting())
        >>> steps.run(), steps.result
        (True, 'counted')
    """

    def __init__(self, work: Generator[float, None, T]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self.progress = 0.0
        self.result: T | None = None
        self.done = False

    def run(self, seconds: float | None = None) -> bool:
        """Work for so many seconds, or to the end; returns whether it is over. The next call goes on."""
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._lock:
            while not self.done:
                try:
                    self.progress = next(self._work)
                except StopIteration as stop:
                    self.result, self.done, self.progress = stop.value, True, 1.0
                if deadline is not None and time.monotonic() > deadline:
                    break
            return self.done

    def cancel(self) -> None:
        """Give it up; waits for the step that is under way."""
        with self._lock:
            self._work.close()
            self.done = True
