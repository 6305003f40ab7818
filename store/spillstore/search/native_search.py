"""Searching with the native library: sequences of bytes in a text.

Without the library there is nothing here to be called, and RE2 does the same work.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import TYPE_CHECKING

from spillstore import _native
from spillstore.search.byte_patterns import Rest, byte_pattern
from spillstore.search.rare_places import Places, rare_places

if TYPE_CHECKING:
    from spillstore.search.byte_patterns import BytePattern

_VERSION = 4  # of the functions and their arguments, as in ``_native/lines.c``
_local = threading.local()


class _Alternative(ctypes.Structure):
    _fields_ = [  # as ctypes wants it
        ("length", ctypes.c_uint8),
        ("least", ctypes.c_uint8),
        ("places", Places),
        ("classes", ctypes.c_uint32),
    ]


class _Sequences(ctypes.Structure):
    _fields_ = [  # likewise
        ("list", ctypes.POINTER(_Alternative)),
        ("count", ctypes.c_int64),
        ("classes", ctypes.c_char_p),
        ("rests", ctypes.c_char_p),
        ("shortest", ctypes.c_int64),
        ("reach", ctypes.c_int64),
    ]


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library with the functions of ``lines.c``; None where there is none of this version."""
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    return _native.functions(
        "spillstore_sequences_version",
        _VERSION,
        _Sequences,
        _Alternative,
        spillstore_first_sequence=(size, pointer, pointer, size, size),
        spillstore_count_sequences=(size, pointer, pointer, size, size, ctypes.POINTER(size * 2)),
    )


class Text:
    """A thread's own room for text that is searched and then forgotten, so that no memory is mapped for it each time."""

    def __init__(self) -> None:
        self._room = bytearray()
        self.view = memoryview(self._room)
        self.address = 0
        self.size = 0

    def clear(self) -> None:
        """Forget the text; what ``view`` gave before is not to be used any more."""
        self.size = 0

    def append(self, data: bytes) -> None:
        """Put more text behind."""
        end = self.size + len(data)
        if end > len(self._room):
            grown = bytearray(max(end, 2 * len(self._room), 1 << 20))
            grown[: self.size] = self.view[: self.size]
            self._room = grown
            self.view = memoryview(grown)
            self.address = ctypes.addressof(ctypes.c_char.from_buffer(grown))
        self.view[self.size : end] = data
        self.size = end

    def part(self, low: int, high: int) -> bytes:
        """A copy of ``[low, high)``."""
        return bytes(self.view[low:high])

    def find(self, part: bytes, low: int, high: int) -> int:
        """Where the first of some bytes are in ``[low, high)``; -1 if they are not there."""
        return self._room.find(part, low, high)

    def rfind(self, part: bytes, low: int, high: int) -> int:
        """Where the last of them are."""
        return self._room.rfind(part, low, high)


def own_text() -> Text:
    """This thread's room, empty."""
    found: Text | None = getattr(_local, "text", None)
    if found is None:
        found = _local.text = Text()
    found.clear()
    return found


class Finder:
    """Looks for the sequences of a pattern, in bytes or in what is at an address; there is a library.

    Attributes:
        pattern: what is looked for.
    """

    def __init__(self, pattern: BytePattern) -> None:
        called = library()
        assert called is not None
        self.pattern = pattern
        self._first, self._count = called.spillstore_first_sequence, called.spillstore_count_sequences
        found = pattern.alternatives
        table = b"".join(_bits(each) for sequence in found for each in sequence)
        self._list = (_Alternative * len(found))()
        at = 0
        for entry, sequence in zip(self._list, found, strict=True):
            places = rare_places(sequence)
            assert places is not None  # else the pattern would not be known
            entry.length, entry.classes, entry.places = len(sequence), at, places
            entry.least = sum(not isinstance(each, Rest) for each in sequence)
            at += len(sequence)
        rests = bytes(isinstance(each, Rest) for sequence in found for each in sequence)
        self._tables = table, rests
        shortest, reach = (
            min(entry.least for entry in self._list),
            max(max(entry.places.place) for entry in self._list),
        )
        self._sequences = _Sequences(self._list, len(found), table, rests, shortest, reach)
        self._address = ctypes.addressof(self._sequences)

    def first(self, text: int | bytes, low: int, high: int) -> int:
        """Where the first of them begins in ``[low, high)``, all of it in there; -1 if there is none, -2 if RE2 has to tell."""
        return int(self._first(self._address, text, low, high))

    def count(self, text: int | bytes, low: int, high: int) -> tuple[int, int] | None:
        """Lines of ``[low, high)`` that hold one, and how many they hold that do not overlap; None if RE2 has to tell."""
        counts = (ctypes.c_int64 * 2)()
        is_known = self._count(self._address, text, low, high, ctypes.byref(counts))
        return (counts[0], counts[1]) if is_known else None


@functools.lru_cache(maxsize=64)
def finder(pattern: str, *, ignore_case: bool, literal: bool) -> Finder | None:
    """What looks for a pattern that can be searched for; None where there is no library, or the pattern is not so simple."""
    if library() is None:
        return None
    found = byte_pattern(pattern, ignore_case=ignore_case, literal=literal)
    return None if found is None else Finder(found)


def _bits(members: frozenset[int]) -> bytes:
    table = bytearray(32)
    for byte in members:
        table[byte >> 3] |= 1 << (byte & 7)
    return bytes(table)
