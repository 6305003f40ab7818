"""A fork waits until no other thread imports a module: its lock would stay locked in the child, which would wait for ever.

Python does not do that by itself, and much of this library is imported when it is first needed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PATIENCE = 5.0  # seconds that a fork waits

_importing = threading.RLock()  # by who imports, and by who forks, which may be the same
_held: list[bool] = []  # for each fork under way, whether it got the lock; protected by it


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Whoever imports what others may import inside of this is waited for from the first moment."""
    with _importing:
        yield


def _before() -> None:
    deadline = time.monotonic() + PATIENCE
    _held.append(_importing.acquire(timeout=PATIENCE))
    ours = set()  # modules that this very thread imports
    frame: FrameType | None = sys._getframe()  # noqa: SLF001  # the only way to one's own stack that imports nothing
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            ours.add(frame.f_globals.get("__name__"))
        frame = frame.f_back
    while time.monotonic() < deadline and any(
        getattr(getattr(module, "__spec__", None), "_initializing", False) and name not in ours
        for name, module in list(sys.modules.items())
    ):
        time.sleep(0.001)


def _after_in_parent() -> None:
    if _held.pop():
        _importing.release()


def _after_in_child() -> None:
    global _importing  # noqa: PLW0603  # another thread of the parent may hold it
    if _held.pop():
        _importing.release()
    else:
        _importing = threading.RLock()
    _held.clear()


os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
