"""What JSON holds, in words: its keys with their types and counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.structured.json_tree import Value

_SAMPLE = 100  # elements of an array that are looked at
_DEEP = 2  # levels of containers that are told
_INSIDE = 240  # code points of what is told of one container
_TYPES = {'"': "string", "t": "boolean", "f": "boolean", "n": "null"}


def shape(text: str, root: Value, room: int) -> str:
    """The type of a value, its keys and what they hold, within a number of code points.

    Example:
        >>> from spillstore_tools.preview.structured.json_tree import parsed
        >>> text = '{"total": 2, "users": [{"id": 1, "name": "a"}, {"id": 2}]}'
        >>> shape(text, parsed(text), 200)
        'object of 2 members: total number, users array of 2 objects with id number, name string'
    """
    return _told(text, root, room, _DEEP)


def _told(text: str, value: Value, room: int, deep: int) -> str:
    if value.kind not in {"{", "["}:
        return _TYPES.get(text[value.start], "number")
    parts = value.opened(text)
    if value.kind == "[":
        inner = [value.part(text, index) for index, _ in zip(parts.indices(), range(_SAMPLE), strict=False)]
        kinds = Counter(
            "array" if each.kind == "[" else "object" if each.kind == "{" else _told(text, each, 0, 0)
            for each in inner
        )
        if len(kinds) != 1:
            what = counted(len(parts), "element")
            return f"array of {what}" + (f" ({', '.join(sorted(kinds))})" if kinds else "")
        (kind,) = kinds
        words = f"array of {counted(len(parts), kind)}"
        if kind == "object" and deep:
            keys: dict[str, str] = {}
            for each in inner:
                for name, part in _members(text, each):
                    if name not in keys or keys[name] == "null":
                        keys[name] = _told(text, part, 0, 0)
            words += (
                f" with {listed([f'{name} {type_}' for name, type_ in keys.items()], min(room, _INSIDE))}"
                if keys
                else ""
            )
        return words
    if not deep:
        return f"object of {counted(len(parts), 'member')}"
    names = [f"{name} {_told(text, part, _INSIDE, deep - 1)}" for name, part in _members(text, value)]
    words = f"object of {counted(len(parts), 'member')}"
    return f"{words}: {listed(names, room - len(words) - 2)}" if names else words


def _members(text: str, value: Value) -> Iterator[tuple[str, Value]]:
    parts = value.opened(text)
    for index, _ in zip(parts.indices(), range(_SAMPLE), strict=False):
        key, start, _ = parts[index]
        yield text[key:start].rstrip(" \t\n\r:").strip('"'), value.part(text, index)
