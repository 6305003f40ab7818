"""Functions that are called once before an object is closed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class CloseHooks:
    """Functions to be called before an object is closed, the last added first. Safe from any thread."""

    def __init__(self) -> None:
        self._functions: list[Callable[[], object]] = []
        self._guard = threading.Lock()  # protects all

    def add(self, function: Callable[[], object]) -> None:
        """Add a function."""
        with self._guard:
            self._functions.append(function)

    def run(self) -> None:
        """Call and forget each; the first that raises ends it."""
        while True:
            with self._guard:
                if not self._functions:
                    return
                function = self._functions.pop()
            function()
