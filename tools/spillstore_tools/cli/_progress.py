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


@contextlib.contextmanager
def progress(what: str, far: Callable[[], str] | None = None) -> Iterator[None]:
    """A context for work; one line on stderr, drawn over and taken away in the end. Nothing where nobody looks.

    Args:
        what: the work, such as ``verifying``.
        far: how far it is, in words.
    """
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    began = time.monotonic()

    def tell() -> None:
        wait, drawn = AFTER, False
        while not over.wait(wait):
            so_far = f" {far()}" if far is not None else ""
            sys.stderr.write(f"{_CLEAR}spillstore: {what}{so_far}, {seconds(time.monotonic() - began)}")
            sys.stderr.flush()
            wait, drawn = _EVERY, True
        if drawn:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    teller = threading.Thread(target=tell, name="spillstore-progress", daemon=True)
    try:
        teller.start()
    except RuntimeError:  # no more threads are to be had, and the work is what counts
        yield
        return
    try:
        yield
    finally:
        over.set()
        teller.join()
