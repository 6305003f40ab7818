"""The native scanner (``_native/scan.c``): where rules may apply, but for places behind which no secret can stand."""

from __future__ import annotations

import collections
import ctypes
from typing import TYPE_CHECKING

from spillstore.redaction import scanner_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore.redaction.candidates import Hit
    from spillstore.redaction.families import Entry

_ROOM = 8192  # candidates that one call gives out


class _Scratch:
    """What one call of the scanner needs for itself; used by one thread at a time."""

    def __init__(self, tables: scanner_tables.Tables, size: int) -> None:
        self.names = (scanner_tables.Name * scanner_tables.MOST_NAMES)()
        self.tables = scanner_tables.Tables.from_buffer_copy(tables)
        self.tables.names = ctypes.addressof(self.names)
        self.out = (ctypes.c_uint32 * (3 * _ROOM))()
        self.hits = ctypes.create_string_buffer(size)
        self.place = ctypes.c_int64()


class Scanner:
    """Literals of the rules in a text, but those behind which no secret can stand."""

    def __init__(self, library: ctypes.CDLL, of: Sequence[Entry]) -> None:
        self._scan = library.spillstore_scan
        self._scan.restype = ctypes.c_int64
        pointer, count = ctypes.c_void_p, ctypes.c_int64
        self._scan.argtypes = [pointer, ctypes.c_char_p, count, count, pointer, pointer, count, pointer]
        self._runs = library.spillstore_runs
        self._runs.restype = ctypes.c_int64
        self._runs.argtypes = [pointer, ctypes.c_char_p, count, pointer, pointer, count]
        self._size = int(library.spillstore_scratch())
        self._tables, self._owned = scanner_tables.tables(library, of)
        self._free: collections.deque[_Scratch] = collections.deque()

    def hits(self, text: bytes, whole: int, low: int = 0, high: int | None = None) -> Iterator[Hit]:
        """Number of the entry, start and end of each, in the order of the ends.

        Args:
            text: what is searched.
            whole: behind this place nothing is dropped, since more of the line may come.
            low: from where on, the beginning of a line.
            high: up to where it is seen; None for its end.

        At most ``_ROOM`` of them are looked for at once; other threads run meanwhile.
        """
        size = len(text) if high is None else high
        while low < size:
            values, low = self._next(text, whole, low, size)
            numbers = iter(values)
            yield from zip(numbers, numbers, numbers, strict=True)

    def _next(self, text: bytes, whole: int, low: int, size: int) -> tuple[list[int], int]:
        """The three numbers of each of the next hits one behind the other, and where to go on."""
        scratch = self._scratch()
        try:
            scratch.place.value = low
            found = self._scan(
                ctypes.byref(scratch.tables), text, size, whole, ctypes.byref(scratch.place), scratch.out, _ROOM,
                scratch.hits,
            )  # fmt: skip
            return scratch.out[: 3 * found], scratch.place.value
        finally:
            self._free.append(scratch)

    def runs(self, text: bytes, low: int = 0, high: int | None = None) -> Iterator[tuple[int, int]]:
        """Where letters, digits, ``_`` and ``-`` stand in a row that may be a token with a prefix; see ``prefixed.py``."""
        scratch = self._scratch()
        size = len(text) if high is None else high
        scratch.place.value = low
        out, place = scratch.out, ctypes.byref(scratch.place)
        try:
            while scratch.place.value < size:
                found = self._runs(ctypes.byref(scratch.tables), text, size, place, out, _ROOM)
                numbers = iter(out[: 2 * found])
                yield from zip(numbers, numbers, strict=True)
        finally:
            self._free.append(scratch)

    def _scratch(self) -> _Scratch:
        try:
            return self._free.pop()
        except IndexError:
            return _Scratch(self._tables, self._size)
