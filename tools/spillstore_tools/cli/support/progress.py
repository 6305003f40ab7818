"""Progress of work that takes more than a second, shown at a terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING

from spillstore_tools.describe import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AFTER = 1.0  # seconds without a word
_EVERY = 0.5
_CLEAR = "\r\x1b[K"


class Progress:
    """The progress of some work; call it with the amount done and the total, in any unit."""

    def __init__(self) -> None:
        self._percent: int | None = None

    def __call__(self, done: int, total: int) -> None:
        """Set the progress."""
        if total > 0:
            self._percent = min(100, 100 * done // total)

    def __str__(self) -> str:
        """The percentage, a comma before it; empty if it is unknown."""
        return "" if self._percent is None else f", {self._percent} %"


@contextlib.contextmanager
def progress(what: str, far: Callable[[], str] | None = None) -> Iterator[Progress]:
    """A context for work: one line on stderr, updated, and removed at the end. Nothing if stderr is no terminal.

    Args:
        what: the work, such as ``verifying``.
        far: tells how far it is, in words.

    Yields:
        The progress, to be called with what is done, if that is known.
    """
    done = Progress()
    if not sys.stderr.isatty():
        yield done
        return
    over = threading.Event()
    began = time.monotonic()

    def update() -> None:
        wait, shown = AFTER, False
        while not over.wait(wait):
            so_far = f" {far()}" if far is not None else ""
            took = seconds(time.monotonic() - began)
            sys.stderr.write(f"{_CLEAR}spillstore: {what}{so_far}{done}, {took}")
            sys.stderr.flush()
            wait, shown = _EVERY, True
        if shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    thread = threading.Thread(target=update, name="spillstore-progress", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads can be started, and the work is more important
        yield done
        return
    try:
        yield done
    finally:
        over.set()
        thread.join()
