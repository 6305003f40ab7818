"""Where a secret stands."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A secret: bytes from start to end.

    Attributes:
        start: its first byte.
        end: behind its last.
        kind: what it is, for the placeholder.
        first: whether a placeholder comes in its place; not where it only goes on, in another line.
    """

    start: int
    end: int
    kind: str
    first: bool = True
