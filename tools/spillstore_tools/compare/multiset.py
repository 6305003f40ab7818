"""Two sequences of 64-bit numbers subtracted from each other as multisets: which numbers the other has not, or less often.

1. Both are dealt into buckets by their lowest bits, so that the numbers of a bucket fit into a dictionary of a few megabytes.
2. The numbers of a bucket are counted on both sides, and each gets a flag of one byte.
3. The flags are put into the order of the sequence: it is read again, and each number takes the next flag of its bucket.
   So no position is ever stored.
4. Of a number that the other side has too, only less often, those beside other new numbers are chosen as new, so that a
   new traceback keeps its first line; else the last ones. A number that is new four times or more is shown once, with
   counts.

Time is linear, memory flat; eight bytes a number and one a flag lie in files without names. Alternatives that lost: one
table of balances while both are read side by side (small for runs that are alike, as large as everything for others),
SQLite (a microsecond a line, three times as much), and arrays in mapped files (a full disk kills the process).
"""

from __future__ import annotations

import re
import tempfile
import weakref
import zlib
from array import array
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_ITEMS = 64 * 1024  # of a file, at a time
_HELD = 1024 * 1024  # bytes of a file before it is one
_IN_BUCKET = 64_000  # numbers of both sides
_MOST_BUCKETS = 1024
_BUFFERED = 1024  # numbers of a bucket that wait to be written
_KINDS = 20_000  # repeated numbers whose counts are stored, for each side
_GROUPED = 4  # times from which on one stands for all
_PIECE = 4096  # flags of a bucket that are read together

# ``FIRST`` is new and stands for others, which are ``MORE``. ``OPEN`` and ``OPEN_LAST`` are undecided, until the end.
SAME, NEW, OPEN, FIRST, MORE, OPEN_LAST = range(6)
_SHOWN = re.compile(rb"[\x01\x03]")
_ARE_NEW = frozenset({NEW, FIRST, MORE})


class NumberFile:
    """A sequence of numbers or flags, on disk where they are many.

    Args:
        typecode: as for ``array``.
    """

    def __init__(self, typecode: str) -> None:
        self._typecode = typecode
        self._width = array(typecode).itemsize
        # It has no name: it is gone when the process ends, however that happens.
        self._file = tempfile.SpooledTemporaryFile(max_size=_HELD)  # noqa: SIM115  # it is closed with this object
        weakref.finalize(self, self._file.close)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, items: array[int]) -> None:
        """Append items."""
        self.write(self._size, items)
        self._size += len(items)

    def write(self, start: int, items: array[int]) -> None:
        """Replace the items from ``start`` on."""
        self._file.seek(start * self._width)
        self._file.write(items.tobytes())

    def read(self, start: int, count: int) -> array[int]:
        """Up to ``count`` items from a place on."""
        self._file.seek(start * self._width)
        items = array(self._typecode)
        items.frombytes(self._file.read(max(0, min(count, self._size - start)) * self._width))
        return items

    def blocks(self, *, backward: bool = False) -> Iterator[tuple[int, array[int]]]:
        """All items in blocks, each with the place of its first item."""
        starts = range(0, self._size, _ITEMS)
        for start in reversed(starts) if backward else starts:
            yield start, self.read(start, _ITEMS)

    def same_as(self, other: NumberFile) -> bool:
        """Whether both hold the same in the same order."""
        return len(self) == len(other) and all(
            items == other.read(start, _ITEMS) for start, items in self.blocks()
        )


class Multiset:
    """One of the two sequences, and the result of the subtraction for it.

    Attributes:
        numbers: the sequence.
        flags: one for each number, in the end ``SAME``, ``NEW``, ``FIRST`` or ``MORE``; empty if no number has changed.
        changed: how many numbers the other side has not.
        groups: for each number with the flag ``FIRST``, how often it is on the other side and on this one.
    """

    def __init__(self) -> None:
        self.numbers = NumberFile("q")
        self.flags = NumberFile("b")
        self.changed = 0
        self.groups: dict[int, tuple[int, int]] = {}
        self._left: dict[int, int] = {}  # how many of the numbers with ``OPEN`` are to be chosen
        self._shown_before: list[int] = []  # each block of flags

    @property
    def shown(self) -> int:
        """The number of places with ``NEW`` or ``FIRST``, which are shown."""
        return self._shown_before[-1] if self._shown_before else 0

    def checksum(self, before: int = 0) -> int:
        """A checksum of the flags, continued from ``before``."""
        for _, flags in self.flags.blocks():
            before = zlib.crc32(flags.tobytes(), before)
        return before

    def shown_from(self, rank: int) -> Iterator[int]:
        """The shown places from a rank on; the rank of a shown place counts those before it."""
        for block in range(max(0, bisect_right(self._shown_before, rank) - 1), len(self._shown_before) - 1):
            yield from self._shown_in(block)[max(0, rank - self._shown_before[block]) :]

    def places(self, ranks: Iterable[int]) -> dict[int, int]:
        """The shown places of some ranks, which rise; ranks past the end are left out."""
        found: dict[int, int] = {}
        known, places = -1, array("q")
        for rank in ranks:
            block = bisect_right(self._shown_before, rank) - 1
            if rank >= self.shown:
                break
            if block != known:
                known, places = block, self._shown_in(block)
            found[rank] = places[rank - self._shown_before[block]]
        return found

    def _shown_in(self, block: int) -> array[int]:
        start = block * _ITEMS
        flags = self.flags.read(start, _ITEMS).tobytes()
        return array("q", (start + found.start() for found in _SHOWN.finditer(flags)))

    # --- steps of the comparison --------------------------------------------------------------------------

    def judge(self, numbers: array[int], here: Mapping[int, int], there: Mapping[int, int]) -> bytearray:
        """The flags for the numbers of a bucket, which are counted ``here`` and on the other side, ``there``."""
        flags: dict[int, int] = {}
        for number, times in here.items():
            more = times - there.get(number, 0)
            if more <= 0:
                continue
            self.changed += more
            if more >= _GROUPED and len(self.groups) < _KINDS:
                flags[number] = FIRST
                self.groups[number] = (there.get(number, 0), times)
            elif more == times:
                flags[number] = NEW
            elif len(self._left) < _KINDS:
                flags[number] = OPEN
                self._left[number] = more
            else:
                flags[number] = OPEN_LAST
        if not flags:
            return bytearray(len(numbers))
        found = bytearray(map(flags.get, numbers, repeat(SAME)))
        _choose_last(found, numbers, FIRST, there)
        _choose_last(found, numbers, OPEN_LAST, there)
        return found

    def settle(self) -> Iterator[None]:
        """Decide the open flags: numbers beside new ones become new, or the last ones."""
        if self._left:
            yield from self._choose_beside(backward=True)  # the lines above belong to a new line more often
            yield from self._choose_beside(backward=False)
            yield from self._choose_rest()
            self._left = {}
        counts = []
        for _, flags in self.flags.blocks():
            counts.append(len(_SHOWN.findall(flags.tobytes())))
            yield
        self._shown_before = [0, *accumulate(counts)]

    def _choose_beside(self, *, backward: bool) -> Iterator[None]:
        neighbour = SAME  # the last flag of the block before
        for start, flags in self.flags.blocks(backward=backward):
            view = flags.tobytes()
            numbers = self.numbers.read(start, len(flags)) if OPEN in view else flags
            at = view.rfind(OPEN) if backward else view.find(OPEN)
            while at >= 0:
                beside = at + 1 if backward else at - 1
                if (flags[beside] if 0 <= beside < len(flags) else neighbour) in _ARE_NEW:
                    self._choose(flags, at, numbers[at])
                at = view.rfind(OPEN, 0, at) if backward else view.find(OPEN, at + 1)
            neighbour = flags[0 if backward else -1]
            self.flags.write(start, flags)
            yield

    def _choose_rest(self) -> Iterator[None]:
        for start, flags in self.flags.blocks(backward=True):
            view = flags.tobytes()
            numbers = self.numbers.read(start, len(flags)) if OPEN in view else flags
            at = view.rfind(OPEN)
            while at >= 0:
                flags[at] = SAME
                self._choose(flags, at, numbers[at])
                at = view.rfind(OPEN, 0, at)
            self.flags.write(start, flags)
            yield

    def _choose(self, flags: array[int], at: int, number: int) -> None:
        if self._left[number]:
            self._left[number] -= 1
            flags[at] = NEW


def subtract(base: Multiset, other: Multiset) -> Iterator[None]:
    """Subtract each from the other, a step at a time; the ``flags`` of both are complete at the end."""
    total = len(base.numbers) + len(other.numbers)
    count = 1
    while count < _MOST_BUCKETS and count * _IN_BUCKET < total:
        count *= 2
    buckets = [_Buckets(count), _Buckets(count)]
    for side, dealt in zip((base, other), buckets, strict=True):
        for _, numbers in side.numbers.blocks():
            dealt.add(numbers)
            yield
    flags = [_BucketFlags(), _BucketFlags()]
    for index in range(count):
        ours, theirs = (dealt.bucket(index) for dealt in buckets)
        times, times_there = Counter(ours), Counter(theirs)
        flags[0].add(base.judge(ours, times, times_there))
        flags[1].add(other.judge(theirs, times_there, times))
        yield
    for side, found in zip((base, other), flags, strict=True):
        if side.changed:
            yield from _in_order(side, found, count - 1)
            yield from side.settle()


def _choose_last(flags: bytearray, numbers: array[int], kind: int, there: Mapping[int, int]) -> None:
    """Split the numbers with the flag ``kind``: as many as the other side has are the same, the rest are new."""
    if kind not in flags:
        return
    passed: dict[int, int] = {}
    at = flags.find(kind)
    while at >= 0:
        number = numbers[at]
        times = passed[number] = passed.get(number, 0) + 1
        known = there.get(number, 0)
        if times <= known:
            flags[at] = SAME
        elif kind == OPEN_LAST:
            flags[at] = NEW
        elif times > known + 1:
            flags[at] = MORE
        at = flags.find(kind, at + 1)


def _in_order(side: Multiset, found: _BucketFlags, mask: int) -> Iterator[None]:
    following: list[Callable[[], int]] = [found.of(index).__next__ for index in range(mask + 1)]
    for _, numbers in side.numbers.blocks():
        side.flags.add(array("b", bytes([following[number & mask]() for number in numbers])))
        yield


class _Buckets:
    """Numbers dealt into buckets by their lowest bits; in a bucket they keep their order."""

    def __init__(self, count: int) -> None:
        self._mask = count - 1
        self._waiting = [array("q") for _ in range(count)]
        self._file = NumberFile("q")
        self._places: list[list[tuple[int, int]]] = [[] for _ in range(count)]

    def add(self, numbers: Iterable[int]) -> None:
        mask = self._mask
        into = [waiting.append for waiting in self._waiting]
        for number in numbers:
            into[number & mask](number)
        for waiting, places in zip(self._waiting, self._places, strict=True):
            if len(waiting) >= _BUFFERED:
                places.append((len(self._file), len(waiting)))
                self._file.add(waiting)
                del waiting[:]

    def bucket(self, index: int) -> array[int]:
        numbers = array("q")
        for start, count in self._places[index]:
            numbers += self._file.read(start, count)
        return numbers + self._waiting[index]


class _BucketFlags:
    """The flags of each bucket, one bucket behind the other."""

    def __init__(self) -> None:
        self._file = NumberFile("b")
        self._ends = [0]

    def add(self, flags: bytearray) -> None:
        self._file.add(array("b", bytes(flags)))
        self._ends.append(len(self._file))

    def of(self, index: int) -> Iterator[int]:
        """The flags of a bucket, one by one."""
        start, end = self._ends[index : index + 2]
        return chain.from_iterable(
            self._file.read(at, min(_PIECE, end - at)) for at in range(start, end, _PIECE)
        )
