"""Says at a terminal that work goes on which takes more than a second, and how far it is."""

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
    """How far work is; called with what is done and how much there is, whatever it is counted in."""

    def __init__(self) -> None:
        self._percent: int | None = None

    def __call__(self, done: int, total: int) -> None:
        """Take notice."""
        if total > 0:
            self._percent = min(100, 100 * done // total)

    def __str__(self) -> str:
        """In words that stand behind others; empty where nobody knows."""
        return "" if self._percent is None else f", {self._percent} %"


@contextlib.contextmanager
def progress(what: str, far: Callable[[], str] | None = None) -> Iterator[Progress]:
    """A context for work; one line on stderr, drawn over and taken away in the end. Nothing where nobody looks.

    Args:
        what: the work, such as ``verifying``.
        far: how far it is, in words.

    Yields:
        What is told how much of it is done, if that is known.
    """
    done = Progress()
    if not sys.stderr.isatty():
        yield done
        return
    over = threading.Event()
    began = time.monotonic()

    def tell() -> None:
        wait, drawn = AFTER, False
        while not over.wait(wait):
            so_far = f" {far()}" if far is not None else ""
            took = seconds(time.monotonic() - began)
            sys.stderr.write(f"{_CLEAR}spillstore: {what}{so_far}{done}, {took}")
            sys.stderr.flush()
            wait, drawn = _EVERY, True
        if drawn:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    teller = threading.Thread(target=tell, name="spillstore-progress", daemon=True)
    try:
        teller.start()
    except RuntimeError:  # no more threads are to be had, and the work is what counts
        yield done
        return
    try:
        yield done
    finally:
        over.set()
        teller.join()
