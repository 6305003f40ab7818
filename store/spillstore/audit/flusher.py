"""The thread that writes what audit logs hold when its time has come: one a process, as long as there is something to write."""

from __future__ import annotations

import math
import os
import threading
import time
from typing import Protocol

_IDLE = 5.0  # seconds after which the thread ends


class EventLog(Protocol):
    """Holds events until they are written."""

    def flush(self) -> None:
        """Write them now; never raises."""


def flush_later(log: EventLog, delay: float) -> None:
    """Have what ``log`` holds written in so many seconds, or sooner."""
    _flusher.want(log, delay)


def forget(log: EventLog) -> None:
    """There is nothing more to write of it."""
    _flusher.forget(log)


class _Flusher:
    """One thread a process, as long as there is something to write."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # protects what follows
        self._due: dict[EventLog, float] = {}
        self._running = False

    def want(self, log: EventLog, delay: float) -> None:
        """Write the events of ``log`` in so many seconds, or sooner."""
        due = time.monotonic() + delay
        with self._changed:
            if self._due.get(log, math.inf) <= due:
                return
            self._due[log] = due
            if not self._running:
                thread = threading.Thread(target=self._run, name="spillstore-audit", daemon=True)
                try:
                    thread.start()
                except (
                    RuntimeError
                ):  # no more threads are to be had, or the interpreter ends: ``close`` writes
                    return
                self._running = True
            elif not delay:
                self._changed.notify()

    def forget(self, log: EventLog) -> None:
        """There is nothing more to write of it."""
        with self._changed:
            self._due.pop(log, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                ready = [log for log, due in self._due.items() if due <= now]
                if not ready:
                    if not self._due and not self._changed.wait(_IDLE) and not self._due:
                        self._running = False
                        return
                    if self._due:
                        self._changed.wait(max(0.0, min(self._due.values()) - time.monotonic()))
                    continue
                for log in ready:
                    del self._due[log]
            for log in ready:
                log.flush()


_flusher = _Flusher()


def _restart_after_fork() -> None:
    global _flusher  # noqa: PLW0603  # the parent's thread does not exist here
    _flusher = _Flusher()


os.register_at_fork(after_in_child=_restart_after_fork)
