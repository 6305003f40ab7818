"""What JSON holds, in words: its keys with their types and counts."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.structured.json_kinds import KIND_OF, Kinds, array_of
from spillstore_tools.preview.structured.json_paths import name_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.structured.json_tree import Value

_NAMED = 100  # members of an object that are named
_NAMES = 1000  # of members that objects of one array have at most; those of more are no records
_DEEP = 2  # levels of containers that are told
_INSIDE = 240  # code points of what is told of one container
_PIECE = 64 * 1024  # characters that are made values of at once
_KINDS = {str: "string", float: "number", bool: "boolean", type(None): "null", dict: "object", list: "array"}
_TYPES = {kind: type_ for type_, kind in _KINDS.items()}
_decoder = json.JSONDecoder(parse_int=float, parse_float=float, strict=False)


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
        return _kind(text, value.start)
    parts = value.opened(text)
    if value.kind == "[":
        kinds = parts.kinds(text)
        members = _members(text, value) if deep and "object" in kinds else {}
        of = "those at both ends" if parts.missing else ""
        return array_of(len(parts), kinds, members, of=of, room=room)
    words = f"object of {counted(len(parts), 'member')}"
    if not deep:
        return words
    names = [
        f"{_name(text, value, at)} {_told(text, value.part(text, at), _INSIDE, deep - 1)}"
        for at in itertools.islice(parts.indices(), _NAMED)
    ]
    beside = len(parts) - len(names)
    return f"{words}: {listed(names, room - len(words) - 2, beside=beside)}" if names else words


def _members(text: str, array: Value) -> dict[str, Kinds]:
    """The members of all objects that are known of an array, by their names; none where they are too many."""
    counts: Counter[tuple[str, type]] = Counter()
    first: dict[tuple[str, type], int] = {}
    for index, found in _objects(text, array):
        counts.update(found)
        if len(counts) > len(first):
            first.update((each, index) for each in list(counts)[len(first) :])
            if len(first) > _NAMES:
                return {}
    members: dict[str, Kinds] = {}
    for (name, type_), times in counts.items():
        written = json.dumps(name, ensure_ascii=not name.isprintable())[1:-1]
        members.setdefault(written, Kinds()).add(_KINDS[type_], first[name, type_], times)
    return members


def _objects(text: str, array: Value) -> Iterator[tuple[int, Iterable[tuple[str, type]]]]:
    """The objects of an array, with their indices: the names of their members, and of which type each is."""
    parts = array.opened(text)
    for index, (_, start, end) in zip(parts.indices(), parts.known, strict=True):
        if text[start] != "{":
            continue
        if end - start <= _PIECE:
            value = _decoder.raw_decode(text, start)[0]
            yield index, zip(value, map(type, value.values()), strict=True)
            continue
        large = array.part(text, index)
        inner = large.opened(text)
        yield index, [(name_at(text, large, at), _TYPES[_kind(text, inner[at][1])]) for at in inner.indices()]


def _name(text: str, value: Value, index: int) -> str:
    """The name of a member, as it is written."""
    key, start, _ = value.opened(text)[index]
    return text[key:start].rstrip(" \t\n\r:").strip('"')


def _kind(text: str, start: int) -> str:
    return KIND_OF.get(text[start], "number")
