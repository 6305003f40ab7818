"""A worker thread that processes items in order; it is started when there is work and ends soon after the last item."""

from __future__ import annotations

import functools
import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
R = TypeVar("R")
_LINGER = 0.05  # seconds that a thread waits for more; to start one takes as long as a block of work


class SerialWorker(Generic[T]):
    """Calls ``work`` with each item in the order of ``put``, on a thread of its own.

    Args:
        work: gets one item; what it raises is raised by ``join``, and nothing more is done.
        size_of: how much an item weighs.
        room: the most that may wait; ``put`` blocks while it is exceeded.

    Example:
        >>> done = []
        >>> serial = SerialWorker(done.append, size_of=len, room=100)
        >>> serial.put("a"), serial.put("b"), serial.join(), done
        (None, None, None, ['a', 'b'])
    """

    def __init__(self, work: Callable[[T], object], *, size_of: Callable[[T], int], room: int) -> None:
        self._work = work
        self._size_of = size_of
        self._room = room
        self._tasks: deque[tuple[Callable[[], object], int]] = deque()
        self._waiting = 0
        self._running = False  # whether there is a thread
        self._idle = True  # whether all that was handed over is done
        self._error: BaseException | None = None
        self._changed = threading.Condition()  # protects all of the above

    def put(self, item: T) -> None:
        """Hand over an item."""
        self._enter(functools.partial(self._work, item), self._size_of(item))

    def call(self, function: Callable[[], R]) -> R:
        """What ``function`` returns or raises, called when everything handed over before is done."""
        results: list[R] = []
        errors: list[Exception] = []

        def task() -> None:
            try:
                results.append(function())
            except Exception as error:  # noqa: BLE001  # it is the caller's
                errors.append(error)
            with self._changed:
                self._changed.notify_all()

        self._enter(task, 0)
        with self._changed:
            self._changed.wait_for(lambda: results or errors or self._error is not None)
            if not results:
                raise errors[0] if errors else self._error or AssertionError("nothing came of it")
        return results[0]

    def join(self) -> None:
        """Return when everything handed over is done; raise what went wrong."""
        with self._changed:
            self._changed.wait_for(lambda: self._idle)
            if self._error is not None:
                raise self._error

    def _enter(self, task: Callable[[], object], size: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting < self._room)
            if self._error is not None:
                return
            self._tasks.append((task, size))
            self._waiting += size
            self._idle = False
            if self._running:
                self._changed.notify_all()
                return
            self._running = True
        try:
            threading.Thread(target=self._run, name="spillstore-scan", daemon=True).start()
        except RuntimeError:  # no more threads are to be had, or the interpreter is ending
            self._run()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._tasks:
                    self._idle = True
                    self._changed.notify_all()
                    if not self._changed.wait_for(lambda: self._tasks, _LINGER):
                        self._running = False
                        return
                task, size = self._tasks.popleft()
            try:
                task()
            except BaseException as error:  # noqa: BLE001  # it is raised where the result is wanted
                with self._changed:
                    self._error = error
                    self._tasks.clear()
                    self._waiting = 0
                    self._running, self._idle = False, True
                    self._changed.notify_all()
                return
            with self._changed:
                self._waiting -= size
                self._changed.notify_all()
