"""One evaluation of a query: its document, and how long it may take."""

from __future__ import annotations

import time
from typing import Any, Final

from spillstore.exceptions import QueryLimitError

_CHECKED = 4096  # values looked at between two looks at the clock


class Nothing:
    """The result of a query that finds no node, in a comparison (RFC 9535, 2.3.5.2.2)."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()


class Context:
    """The state that all steps of an evaluation share: limits and time.

    Args:
        root: the document, which ``$`` in a filter means.
        seconds: after which it is given up; None for never.

    Attributes:
        root: as given; may be exchanged by ``begin``.
        found: what queries of filters have found in the document, by the ``id`` of their segments.
    """

    def __init__(self, root: Any = NOTHING, seconds: float | None = None) -> None:
        self.root = root
        self._seconds = seconds
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._left = _CHECKED
        self.found: dict[int, list[Any]] = {}

    def begin(self, root: Any) -> None:
        """Go on with another document."""
        self.root = root
        self.found.clear()

    def spend(self, values: int) -> None:
        """Count values that are looked at.

        Raises:
            QueryLimitError: the time is over.
        """
        self._left -= values + 1
        if self._left < 0:
            self._left = _CHECKED
            self.check()

    def check(self) -> None:
        """Look at the clock.

        Raises:
            QueryLimitError: the time is over.
        """
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise QueryLimitError(
                f"the query was given up after {self._seconds:g} seconds; ask for less: name the members on the way "
                "instead of .. or *",
                seconds=self._seconds,
            )
