"""A value as JSON, piece by piece, so that a large one is never in memory a second time."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import os
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

_PIECE = 64 * 1024  # characters that are given at once
_SMALL = 16 * 1024  # characters, or so, of a value that is encoded at once
_NUMBER = 24  # characters that a number counts
_PLAIN = (str, int, float, bool, type(None))
# The modules of dates, times, UUIDs and decimal numbers; importing them for their types would take longer than all else here.
_AS_TEXT = frozenset({"datetime", "uuid", "decimal", "_decimal"})


def is_jsonable(value: object) -> bool:
    """Whether ``json_pieces`` takes a value of this type; what is inside it is not looked at."""
    return (
        isinstance(value, (*_PLAIN, dict, list, tuple, Mapping, AbstractSet, enum.Enum, os.PathLike))
        or type(value).__module__ in _AS_TEXT
        or (dataclasses.is_dataclass(value) and not isinstance(value, type))
        or _is_model(value)
    )


def json_pieces(value: object) -> Iterator[str]:
    r"""A value as JSON, in pieces of 64 KiB or a little more, as ``json.dumps`` writes it.

    NaN and infinite numbers are written as that writes them, too. Beyond what it takes: mappings, sets, dataclasses, pydantic models, enumerations, bytes, dates, UUIDs, decimal numbers,
    paths.

    >>> "".join(json_pieces({"name": "a\n", "values": (1, 2.5, None)}))
    '{"name": "a\\n", "values": [1, 2.5, null]}'

    Raises:
        TypeError, ValueError: at a piece: something inside that JSON cannot hold, or a value that contains itself.
    """
    batch: list[str] = []
    size = 0
    for text in _texts(value, set()):
        batch.append(text)
        size += len(text)
        if size >= _PIECE:
            yield "".join(batch)
            batch, size = [], 0
    if batch:
        yield "".join(batch)


def is_small(value: object, most: int = _SMALL) -> bool:
    """Whether a value of plain types takes at most about ``most`` characters of JSON. Cost: bounded by ``most``."""
    stack = [value]
    while stack and most >= 0:
        each = stack.pop()
        if isinstance(each, str):
            most -= len(each) + 4
        elif isinstance(each, dict):
            if (most := most - 4 * len(each)) >= 0:
                stack += each.keys()
                stack += each.values()
        elif isinstance(each, (list, tuple)):
            if (most := most - 2 * len(each)) >= 0:
                stack += each
        elif isinstance(each, int):
            most -= _NUMBER + each.bit_length() // 3
        elif isinstance(each, _PLAIN):
            most -= _NUMBER
        else:
            return False
    return most >= 0


def plain(value: object) -> object:
    """A value as one of the types that ``json`` knows, at its outermost level.

    Raises:
        TypeError: there is none.
    """
    if _is_model(value):
        return value.model_dump(mode="json")  # type: ignore[attr-defined]  # it has one; texts in it are not copied
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text_of(bytes(value))
    found: object = value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, (Mapping, AbstractSet)):
        found = dict(value) if isinstance(value, Mapping) else list(value)
    elif isinstance(value, os.PathLike) or type(value).__module__ in _AS_TEXT:
        found = str(value)
    if found is not value:
        return found
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode("ascii")


def _is_model(value: object) -> bool:
    return not isinstance(value, type) and callable(getattr(type(value), "model_dump", None))


def _texts(value: object, outer: set[int]) -> Iterator[str]:
    if isinstance(value, str) and len(value) > _SMALL:
        yield '"'
        for at in range(0, len(value), _PIECE):
            yield _dumps(value[at : at + _PIECE])[1:-1]
        yield '"'
    elif is_small(value):
        yield _dumps(value)
    elif isinstance(value, (dict, list, tuple)):
        if id(value) in outer:
            raise ValueError("it contains itself")
        outer.add(id(value))
        yield from _members(value, outer) if isinstance(value, dict) else _items(value, outer)
        outer.discard(id(value))
    elif isinstance(value, _PLAIN) and not isinstance(value, enum.Enum):
        yield _dumps(value)
    else:
        yield from _texts(plain(value), outer)


def _members(value: dict[object, object], outer: set[int]) -> Iterator[str]:
    separator = "{"
    for key, item in value.items():
        name = _dumps({_key(key): None})[1 : -len("null}")]
        yield separator + name
        yield from _texts(item, outer)
        separator = ", "
    yield "}"


def _items(value: list[object] | tuple[object, ...], outer: set[int]) -> Iterator[str]:
    separator = "["
    for item in value:
        yield separator
        yield from _texts(item, outer)
        separator = ", "
    yield "]"


def _key(key: object) -> object:
    return key if isinstance(key, _PLAIN) else plain(key)


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
