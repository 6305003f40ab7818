"""What a query is made of: segments of selectors, each of which selects children of a container (RFC 9535, 2.3 and 2.5)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.jsonpath.context import Context


def members(value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
    """Names or indices of a container, with what they lead to; nothing of any other value."""
    if type(value) is dict:
        context.spend(len(value))
        return iter(value.items())
    if type(value) is list:
        context.spend(len(value))
        return iter(enumerate(value))
    return iter(())


@dataclasses.dataclass(frozen=True, slots=True)
class Name:
    """The member of that name."""

    name: str

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:  # noqa: ARG002  # as the others
        """The children that it selects, with their names or indices."""
        if type(value) is dict and self.name in value:
            yield self.name, value[self.name]


@dataclasses.dataclass(frozen=True, slots=True)
class Index:
    """The element at an index, which counts from the end where it is negative."""

    index: int

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:  # noqa: ARG002  # as the others
        """The children that it selects, with their names or indices."""
        if type(value) is list and -len(value) <= self.index < len(value):
            yield self.index % len(value), value[self.index]


@dataclasses.dataclass(frozen=True, slots=True)
class Slice:
    """Elements from one index to another."""

    start: int | None
    stop: int | None
    step: int

    def range_of(self, length: int) -> range:
        """The indices that it means in an array of that length."""
        if not self.step:
            return range(0)
        return range(*slice(self.start, self.stop, self.step).indices(length))

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
        """The children that it selects, with their names or indices."""
        if type(value) is list:
            indices = self.range_of(len(value))
            context.spend(len(indices))
            for index in indices:
                yield index, value[index]


@dataclasses.dataclass(frozen=True, slots=True)
class Wildcard:
    """All children."""

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
        """The children that it selects, with their names or indices."""
        return members(value, context)


@dataclasses.dataclass(frozen=True, slots=True)
class Filter:
    """Children that pass a test."""

    test: Callable[[Any, Context], bool]

    def children(self, value: Any, context: Context) -> Iterator[tuple[str | int, Any]]:
        """The children that it selects, with their names or indices."""
        test = self.test
        for key, child in members(value, context):
            if test(child, context):
                yield key, child


Selector = Name | Index | Slice | Wildcard | Filter


@dataclasses.dataclass(frozen=True, slots=True)
class PathSegment:
    """Selects children of each node, or of each node and of all its descendants."""

    selectors: tuple[Selector, ...]
    descends: bool
