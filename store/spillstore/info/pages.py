"""One page of a list."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Page(Generic[T]):
    """Part of a list.

    Iterating goes over its items, and then over those of all pages behind it, each fetched when it is reached; unless the
    call that gave the page had a ``limit``: then it goes over its items alone. ``len`` is that of ``items``.

    Attributes:
        items: those of this page.
        cursor: brings the next page; None ends the list.
    """

    items: list[T]
    cursor: str | None
    following: Callable[[str], Page[T]] | None = dataclasses.field(default=None, repr=False, compare=False)

    def __iter__(self) -> Iterator[T]:
        page: Page[T] = self
        while True:
            yield from page.items
            if page.cursor is None or page.following is None:
                return
            page = page.following(page.cursor)

    def __len__(self) -> int:
        return len(self.items)
