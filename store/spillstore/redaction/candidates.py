"""Where rules may apply: literals of the rules, found by the native scanner or by a Python automaton.

The native scanner (``_native/scan.c``) drops hits behind which no secret can stand; the automaton gives out all of them.
What is found is the same, since a rule that is tried in vain finds nothing.

The automaton is a full table (DFA), so it takes the same time however many literals there are: 2.5 ns a byte of logs and of
sources. Searchers by SIMD are faster as long as there are few: six times for 32 literals, but they want one
pass for every 64. RE2 with all literals in one expression takes longer, and stops at each match. Hyperscan takes 1.2 to 1.5 ns,
but calls back for each hit, with the interpreter's lock each time: beside a thread that ran Python, 4 MB took it 12 s, and
this automaton 0.3.
"""

from __future__ import annotations

import collections
import ctypes
import operator
from typing import TYPE_CHECKING

from spillstore.redaction import scanner_tables
from spillstore.redaction.tables import shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore.redaction.families import Entry

    Hit = tuple[int, int, int]

_ROOM = 8192  # candidates that one call gives out
_SHORT = 256  # bytes of a short text
_FIRST = 64  # short texts that are searched literal by literal
_END_THEN_START = operator.itemgetter(2, 1)


class Automaton:
    """All literals of the rules in a text, whatever stands around them."""

    def __init__(self, of: Sequence[Entry]) -> None:
        import ahocorasick_rs  # noqa: PLC0415  # what only who redacts needs

        self._machine = ahocorasick_rs.BytesAhoCorasick(
            [entry.literal for entry in of],
            matchkind=ahocorasick_rs.MatchKind.Standard,
            implementation=ahocorasick_rs.Implementation.DFA,
        )

    def hits(self, text: bytes, whole: int) -> Iterator[Hit]:  # noqa: ARG002  # the scanner needs it
        """Number of the entry, start and end of each, in the order of the ends."""
        found = self._machine.find_matches_as_indexes(text, overlapping=True)
        return iter(sorted(found, key=_END_THEN_START))  # the longest first

    def runs(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where letters, digits, ``_`` and ``-`` stand in a row that may be a token with a prefix; see ``prefixed.py``."""
        return (match.span() for match in shapes.RUN.finditer(text))


class FirstTexts:
    """All literals of the rules in the first texts of a process, as long as they are short: each is looked for by itself, in 0.1 ms.

    Names, commands and settings are such texts. The other searchers take 25 ms to be made, which a process that redacts nothing else can do without.

    Attributes:
        left: how many texts may still be searched in this way.
    """

    def __init__(self, of: Sequence[Entry]) -> None:
        self._literals = [(number, entry.literal) for number, entry in enumerate(of)]
        self.left = _FIRST

    def takes(self, size: int) -> bool:
        """Whether a text of that many bytes is to be searched here; if not, no later one is."""
        here = self.left > 0 and size <= _SHORT
        self.left = self.left - 1 if here else 0
        return here

    def hits(self, text: bytes, whole: int) -> Iterator[Hit]:  # noqa: ARG002  # the scanner needs it
        """As of the ``Automaton``."""
        found: list[Hit] = []
        for number, literal in self._literals:
            at = text.find(literal)
            while at >= 0:
                found.append((number, at, at + len(literal)))
                at = text.find(literal, at + 1)
        return iter(sorted(found, key=_END_THEN_START))

    def runs(self, text: bytes) -> Iterator[tuple[int, int]]:
        """As of the ``Automaton``."""
        return (match.span() for match in shapes.RUN.finditer(text))


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

    def hits(self, text: bytes, whole: int) -> Iterator[Hit]:
        """Number of the entry, start and end of each, in the order of the ends.

        Args:
            text: what is searched.
            whole: behind this place nothing is dropped, since more of the line may come.

        At most ``_ROOM`` of them are looked for at once; other threads run meanwhile.
        """
        place = 0
        while place < len(text):
            values, place = self._next(text, whole, place)
            numbers = iter(values)
            yield from zip(numbers, numbers, numbers, strict=True)

    def _next(self, text: bytes, whole: int, place: int) -> tuple[list[int], int]:
        """The three numbers of each of the next hits one behind the other, and where to go on."""
        scratch = self._scratch()
        try:
            scratch.place.value = place
            found = self._scan(
                ctypes.byref(scratch.tables), text, len(text), whole, ctypes.byref(scratch.place), scratch.out, _ROOM,
                scratch.hits,
            )  # fmt: skip
            return scratch.out[: 3 * found], scratch.place.value
        finally:
            self._free.append(scratch)

    def runs(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where letters, digits, ``_`` and ``-`` stand in a row that may be a token with a prefix; see ``prefixed.py``."""
        scratch = self._scratch()
        size = len(text)
        scratch.place.value = 0
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
