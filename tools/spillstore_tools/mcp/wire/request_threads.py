"""Threads for work that must not delay the reading of messages, with a bounded queue."""

from __future__ import annotations

import queue
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class RequestThreads:
    """A few daemon threads, and a bound on the work that waits for them.

    Args:
        count: the number of threads.
        capacity: bytes of messages that may be in work or wait for it.
    """

    def __init__(self, count: int, capacity: int) -> None:
        self._queue: queue.SimpleQueue[tuple[Callable[[], object], int]] = queue.SimpleQueue()
        self._capacity = capacity
        self._used = 0
        self._unfinished = 0
        self._changed = threading.Condition()  # protects the two above
        for number in range(count):
            threading.Thread(target=self._work, name=f"spillstore-proxy-{number}", daemon=True).start()

    def put(self, task: Callable[[], object], size: int) -> None:
        """Run ``task`` on a thread. Blocks while it does not fit beside other tasks; ``size`` is that of its message in bytes."""
        with self._changed:
            self._changed.wait_for(lambda: self._used == 0 or self._used + size <= self._capacity)
            self._used += size
            self._unfinished += 1
        self._queue.put((task, size))

    def finish(self, seconds: float) -> bool:
        """Wait until all tasks are done, ``seconds`` at most; whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: self._unfinished == 0, seconds)

    def _work(self) -> None:
        while True:
            task, size = self._queue.get()
            try:
                task()
            except Exception:  # noqa: BLE001  # reported as for any thread, and the next task is run
                threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), threading.current_thread()]))
            finally:
                del task  # it holds the message
                with self._changed:
                    self._used -= size
                    self._unfinished -= 1
                    self._changed.notify_all()
