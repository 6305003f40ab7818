"""Rows as SQLite writes them: a header of the types of the values, then these.

The format: https://www.sqlite.org/fileformat2.html#record_format.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spillstore.engine.rows import Row

_SIZES: Final = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of a value by its serial type


class BrokenError(Exception):
    """What was looked at is no row, or not all of one is there."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next begins."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004  # the bit that says that another follows
            return value, at + index + 1
    return value << 8 | data[at + 8], at + 9


def values(types: list[int], payload: bytes, at: int) -> Row:
    """The values of those types that begin there.

    Raises:
        BrokenError: they are not all there, or are none.
    """
    out: list[object] = []
    for kind in types:
        size = _SIZES[kind] if kind < len(_SIZES) else (kind - 12) // 2
        raw = payload[at : at + size]
        if len(raw) < size or kind in {10, 11}:
            raise BrokenError
        out.append(_value(kind, raw))
        at += size
    return tuple(out)


def _value(kind: int, raw: bytes) -> object:
    if kind == 0:
        return None
    if kind in {8, 9}:
        return kind - 8
    if kind == 7:  # noqa: PLR2004  # a number with a fraction
        return struct.unpack(">d", raw)[0]
    if kind < 7:  # noqa: PLR2004  # a whole one
        return int.from_bytes(raw, "big", signed=True)
    if kind % 2 == 0:
        return raw
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise BrokenError from None
