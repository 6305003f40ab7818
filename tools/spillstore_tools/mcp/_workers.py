"""A few threads that do what must not hold up the reading of messages, and a bound on what waits for them."""

from __future__ import annotations

import queue
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Workers:
    """A few threads, and a bound on what waits for them. They end with the process, whatever blocks them."""

    def __init__(self, count: int, room: int) -> None:
        self._queue: queue.SimpleQueue[tuple[Callable[[], object], int]] = queue.SimpleQueue()
        self._room = room
        self._used = 0
        self._waiting = 0
        self._changed = threading.Condition()  # protects the two above
        for number in range(count):
            threading.Thread(target=self._work, name=f"spillstore-proxy-{number}", daemon=True).start()

    def put(self, task: Callable[[], object], size: int) -> None:
        """Do it soon; blocks while there is more to do than there is room for, and something else is in it."""
        with self._changed:
            self._changed.wait_for(lambda: self._used == 0 or self._used + size <= self._room)
            self._used += size
            self._waiting += 1
        self._queue.put((task, size))

    def finish(self, seconds: float) -> bool:
        """Wait until all is done; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._waiting == 0, seconds)

    def _work(self) -> None:
        while True:
            task, size = self._queue.get()
            try:
                task()
            except Exception:  # noqa: BLE001  # told like that of any thread, and there is more to do
                threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), threading.current_thread()]))
            finally:
                del task  # it holds the message
                with self._changed:
                    self._used -= size
                    self._waiting -= 1
                    self._changed.notify_all()
