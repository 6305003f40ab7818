"""Two threads a process that compress for all sessions.

Compression frees the interpreter's lock, so a second thread pays; a third does not, because what is left (counting
lines, slicing) holds it. They are daemons: a process may end at any time, and what it had not closed is drained by
``_engine.drain`` before they are gone.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = max(1, min(2, os.cpu_count() or 1))


class Workers:
    """A queue of jobs and the threads that take them; threads start with the first job."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._guard = threading.Lock()  # protects _threads

    def submit(self, job: Callable[[], None]) -> None:
        """Run ``job`` soon; it must not raise."""
        self._jobs.put(job)
        if len(self._threads) < COUNT:
            with self._guard:
                while len(self._threads) < COUNT:
                    name = f"spillstore-worker-{len(self._threads)}"
                    thread = threading.Thread(target=self._run, name=name, daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _run(self) -> None:
        while True:
            self._jobs.get()()


_workers = Workers()


def submit(job: Callable[[], None]) -> None:
    """Run ``job`` on one of the process's workers."""
    _workers.submit(job)


def _restart_after_fork() -> None:
    global _workers  # noqa: PLW0603  # the parent's threads do not exist here
    _workers = Workers()


os.register_at_fork(after_in_child=_restart_after_fork)
