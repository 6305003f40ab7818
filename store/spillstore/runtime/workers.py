"""Threads that work for all sessions of a process: two that filter and compress, one for what waits for the disk.

Compression frees the interpreter's lock, so a second thread pays; a third does not, because what is left (counting
lines, slicing) holds it. They are daemons: a process may end at any time, and what it had not closed is drained by
``open_sessions.drain`` before they are gone.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = max(1, min(2, os.cpu_count() or 1))


class Workers:
    """A queue of jobs and the threads that take them; threads start with the first job."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._guard = threading.Lock()  # protects _threads

    @property
    def working(self) -> bool:
        """Whether there is a thread."""
        return bool(self._threads)

    def submit(self, job: Callable[[], None]) -> None:
        """Run ``job`` soon; it must not raise. Where no thread can be started, it waits until one can."""
        self._jobs.put(job)
        if len(self._threads) < self._count:
            with self._guard, contextlib.suppress(RuntimeError):  # no more threads can be had
                while len(self._threads) < self._count:
                    name = f"spillstore-{self._name}-{len(self._threads)}"
                    thread = threading.Thread(target=self._run, name=name, daemon=True)
                    thread.start()
                    self._threads.append(thread)

    def _run(self) -> None:
        while True:
            self._jobs.get()()


_workers = Workers(COUNT, "worker")
_waiters = Workers(1, "disk")


def submit(job: Callable[[], None]) -> None:
    """Run ``job`` on one of the process's workers; see ``Workers.submit``."""
    _workers.submit(job)


def working() -> bool:
    """Whether there is a worker; False before the first job, and where the system gives no threads."""
    return _workers.working


def submit_slow(job: Callable[[], None]) -> None:
    """Run a job that waits for the disk where it keeps nobody from compressing."""
    _waiters.submit(job)


def _restart_after_fork() -> None:
    global _workers, _waiters  # noqa: PLW0603  # the parent's threads do not exist here
    _workers = Workers(COUNT, "worker")
    _waiters = Workers(1, "disk")


os.register_at_fork(after_in_child=_restart_after_fork)
