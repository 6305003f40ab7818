"""Prefetching: the next parts of a long read are made on the workers while the caller uses the last one.

A part that no worker has begun when the caller needs it is made by the caller, so that a reader never waits in a line behind
writers. A read that is given up leaves nothing under way but what has begun.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from spillstore.runtime import workers as _workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DEPTH = 3  # parts under way: one for each worker, and one that waits
_PATIENCE = 1.0  # seconds between two checks that the thread which makes a part is still there
T = TypeVar("T")


class _Task(Generic[T]):
    """One part on its way."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._taken = threading.Lock()  # held by the thread that makes it, and never released
        self._done = threading.Event()
        self._result: T
        self._error: BaseException | None = None

    def take(self) -> bool:
        """Whether the caller is the one to make it."""
        return self._taken.acquire(blocking=False)

    def run(self) -> None:
        """Make the part, unless somebody else does or nobody wants it."""
        if not self.take():
            return
        try:
            self._result = self._make()
        except BaseException as error:  # noqa: BLE001  # raised in ``result``
            self._error = error
        self._done.set()

    def result(self, check: Callable[[], None]) -> T:
        """The part; ``check`` raises if nobody can be making it any more."""
        self.run()
        while not self._done.wait(_PATIENCE):
            check()
        if self._error is not None:
            raise self._error
        return self._result


def prefetch(makers: Iterable[Callable[[], T]], check: Callable[[], None]) -> Iterator[T]:
    """The results of ``makers`` in their order; the next ``DEPTH`` are under way meanwhile.

    Args:
        makers: each makes one part, on any thread.
        check: raises if this process cannot go on, for example after a fork.
    """
    waiting: deque[_Task[T]] = deque()
    try:
        for make in makers:
            task = _Task(make)
            waiting.append(task)
            _workers.submit(task.run)
            if len(waiting) > DEPTH:
                yield waiting.popleft().result(check)
        while waiting:
            yield waiting.popleft().result(check)
    finally:
        for task in waiting:
            task.take()  # so that nobody begins it
