"""A part of a list."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Page(Generic[T]):
    """Part of a list. Iterates over its items; ``cursor`` brings the next part, None ends the list."""

    items: list[T]
    cursor: str | None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
