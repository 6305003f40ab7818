"""How often a command looks for garbage: hardly ever while it starts, and as often as Python does if it stays."""

from __future__ import annotations

import gc
from typing import Final

_USUAL: Final = gc.get_threshold()
_STARTING: Final = 100_000  # new objects; Python's 700 are few beside what is imported


def look_rarely() -> None:
    """For a command that ends soon, and while any command starts."""
    gc.set_threshold(_STARTING)


def look_as_usual() -> None:
    """For a command that stays: garbage of its calls would wait for days."""
    gc.set_threshold(*_USUAL)
