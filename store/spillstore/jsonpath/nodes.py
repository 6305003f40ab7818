"""The nodes that segments select, with their locations, in the order of RFC 9535."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from spillstore.jsonpath.selectors import members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.jsonpath.context import Context
    from spillstore.jsonpath.selectors import PathSegment

CONTAINERS: Final = frozenset({dict, list})

# Where a node is: its parent's location and its name or index; None is the root.
Location = tuple["Location", str | int] | None


def nodes(
    context: Context, value: Any, location: Location, segments: tuple[PathSegment, ...], at: int = 0
) -> Iterator[tuple[Location, Any]]:
    """The nodes that the segments from ``at`` on select in a value, with their locations, in the order of RFC 9535."""
    if at == len(segments):
        yield location, value
        return
    segment = segments[at]
    starts = _descendants(context, value, location) if segment.descends else ((location, value),)
    last = at + 1 == len(segments)
    for where, container in starts:
        for selector in segment.selectors:
            for key, child in selector.children(container, context):
                if last:
                    yield (where, key), child
                elif type(child) in CONTAINERS:
                    yield from nodes(context, child, (where, key), segments, at + 1)


def _descendants(context: Context, value: Any, location: Location) -> Iterator[tuple[Location, Any]]:
    """A value and all containers in it, each before what it holds; without recursion, for no document is too deep."""
    yield location, value
    open_: list[tuple[Location, Iterator[tuple[str | int, Any]]]] = [(location, members(value, context))]
    while open_:
        where, rest = open_[-1]
        for key, child in rest:
            if type(child) in CONTAINERS:
                below = (where, key)
                yield below, child
                open_.append((below, members(child, context)))
                break
        else:
            open_.pop()


def normalized(location: Location) -> str:
    r"""The normalized path (RFC 9535, 2.7) of a location.

    Example:
        >>> normalized(((None, "it's"), 3))
        "$['it\\'s'][3]"
    """
    parts: list[str] = []
    while location is not None:
        location, key = location
        parts.append(f"[{key}]" if isinstance(key, int) else f"['{_quoted(key)}']")
    return "$" + "".join(reversed(parts))


def _quoted(name: str) -> str:
    return _SPECIAL.sub(_escape, name)


_SPECIAL = re.compile(r"[\x00-\x1f'\\\ud800-\udfff]")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "'": "\\'", "\\": "\\\\"}


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def in_root(context: Context, segments: tuple[PathSegment, ...]) -> list[Any]:
    """The values that a query selects in the whole document, looked for once in an evaluation."""
    found = context.found.get(id(segments))
    if found is None:
        found = [value for _, value in nodes(context, context.root, None, segments)]
        context.found[id(segments)] = found
    return found
