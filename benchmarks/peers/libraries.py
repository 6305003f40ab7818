"""Peers that are libraries: what one would build in an afternoon on a store that is there already.

LMDB and diskcache hold the text in blocks of 64 KiB with the number of lines before each, so that lines are found by
bisection and not by reading all; a row a line needs nothing of that.
"""

from __future__ import annotations

import itertools
import mmap
import sqlite3
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = 64 * 1024


def blocks(text: Path, size: int = _BLOCK) -> Iterator[bytes]:
    """A file in pieces."""
    with text.open("rb", buffering=0) as file:
        while block := file.read(size):
            yield block


def numbered(pieces: Iterator[bytes], needle: bytes) -> list[int]:
    """The numbers of the lines that hold a text, of blocks cut anywhere."""
    found: list[int] = []
    rest, before = b"", 0
    for piece in pieces:
        head, end, tail = (rest + piece).rpartition(b"\n")
        whole, rest = head + end, tail
        place = -1
        counted, line = 0, before
        while (place := whole.find(needle, place + 1)) >= 0:
            line += whole.count(b"\n", counted, place)
            counted = place
            if not found or found[-1] != line + 1:
                found.append(line + 1)
        before += whole.count(b"\n")
    if needle in rest:
        found.append(before + 1)
    return found


class Library:
    """One that has to be imported."""

    module = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def missing(cls) -> str:
        """What has to be installed."""
        try:
            import_module(cls.module)
        except ImportError:
            return cls.module
        return ""


class Limit(Library):
    """What the machine asks for at least: bytes written as they are, lines at places that are known, one pass over memory."""

    module = "mmap"

    def store(self, text: Path) -> None:
        """Write the bytes."""
        with (self._folder / "output").open("wb", buffering=0) as file:
            for block in blocks(text, 1 << 20):
                file.write(block)

    def prepare(self) -> None:
        """Find the lines, which is no part of what is measured."""
        with (self._folder / "output").open("rb") as file:
            self._places = [0, *itertools.accumulate(map(len, file))]

    def open(self) -> None:
        """Open the file."""
        with (self._folder / "output").open("rb") as file:
            self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        return self._memory[self._places[first - 1] : self._places[min(last, len(self._places) - 1)]]

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        wanted, found, place = needle.encode(), [], -1
        while (place := self._memory.find(wanted, place + 1)) >= 0:
            found.append(bisect_right(self._places, place))
        return found

    def whole(self) -> bytes:
        """All of it."""
        return self._memory[:]


class SeekableZstd(Library):
    """pyzstd's ``SeekableZstdFile``: frames of 64 KiB and a table of them; of lines it knows nothing."""

    module = "pyzstd"

    def store(self, text: Path) -> None:
        """Keep a text."""
        pyzstd: Any = import_module("pyzstd")
        options = {"level_or_option": 1, "max_frame_content_size": _BLOCK}
        with pyzstd.SeekableZstdFile(self._folder / "output.zst", "wb", **options) as file:
            for block in blocks(text):
                file.write(block)

    def open(self) -> None:
        """Read the table of frames."""
        pyzstd: Any = import_module("pyzstd")
        self._file = pyzstd.SeekableZstdFile(self._folder / "output.zst", "rb")

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``, counted from the beginning."""
        self._file.seek(0)
        left, data = first - 1, b""
        while (data := self._file.read(_BLOCK)) and (inside := data.count(b"\n")) < left:
            left -= inside
        while data.count(b"\n") < left + last - first + 1 and (block := self._file.read(_BLOCK)):
            data += block
        return _cut(data, left, last - first + 1)

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        self._file.seek(0)
        return numbered(iter(lambda: self._file.read(1 << 20), b""), needle.encode())

    def whole(self) -> bytes:
        """All of it."""
        self._file.seek(0)
        return bytes(self._file.read())


def _cut(data: bytes, skip: int, count: int) -> bytes:
    """Lines behind the ``skip``-th line end."""
    start = 0
    for _ in range(skip):
        start = data.index(b"\n", start) + 1
    end = start
    for _ in range(count):
        end = data.find(b"\n", end) + 1 or len(data)
    return data[start:end]


class _Blocks(Library, ABC):
    """Blocks under their numbers, and one list of how many lines are before each."""

    @abstractmethod
    def _keep(self, number: int, data: bytes) -> None:
        """Store a block under a number."""

    @abstractmethod
    def _get(self, number: int) -> bytes | None:
        """The block of a number; None if there is none."""

    def _fill(self, text: Path) -> None:
        before, lines = [], 0
        for number, block in enumerate(blocks(text)):
            self._keep(number, block)
            before.append(lines)
            lines += block.count(b"\n")
        self._keep(-1, " ".join(map(str, before)).encode())

    def _before(self) -> list[int]:
        return [int(word) for word in (self._get(-1) or b"").split()]

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        begin = bisect_left(self._starts, first - 1) - 1 if first > 1 else 0
        data, number, wanted = b"", begin, last - self._starts[begin]
        while data.count(b"\n") < wanted and (block := self._get(number)) is not None:
            data += block
            number += 1
        return _cut(data, first - 1 - self._starts[begin], last - first + 1)

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        return numbered(self._all(), needle.encode())

    def whole(self) -> bytes:
        """All of it."""
        return b"".join(self._all())

    def _all(self) -> Iterator[bytes]:
        number = 0
        while (block := self._get(number)) is not None:
            yield block
            number += 1

    def open(self) -> None:
        """Open, and read how many lines are before each block."""
        self._starts = self._before()


class Lmdb(_Blocks):
    """LMDB: one transaction."""

    module = "lmdb"

    def store(self, text: Path) -> None:
        """Keep a text."""
        environment = self._environment()
        with environment.begin(write=True) as self._transaction:
            self._fill(text)
        environment.close()

    def open(self) -> None:
        """Open for reading."""
        self._transaction = self._environment().begin()
        super().open()

    def _environment(self) -> Any:
        lmdb: Any = import_module("lmdb")
        return lmdb.open(str(self._folder / "output.lmdb"), map_size=16 << 30)

    def _keep(self, number: int, data: bytes) -> None:
        self._transaction.put(b"%d" % number, data)

    def _get(self, number: int) -> bytes | None:
        found = self._transaction.get(b"%d" % number)
        return None if found is None else bytes(found)


class Diskcache(_Blocks):
    """diskcache: a file for each block, in one transaction."""

    module = "diskcache"

    def store(self, text: Path) -> None:
        """Keep a text."""
        self._cache = self._opened()
        with self._cache.transact():
            self._fill(text)
        self._cache.close()

    def open(self) -> None:
        """Open for reading."""
        self._cache = self._opened()
        super().open()

    def _opened(self) -> Any:
        diskcache: Any = import_module("diskcache")
        return diskcache.Cache(str(self._folder / "cache"), size_limit=64 << 30)

    def _keep(self, number: int, data: bytes) -> None:
        self._cache.set(number, data)

    def _get(self, number: int) -> bytes | None:
        found: bytes | None = self._cache.get(number)
        return found


class RowALine(Library):
    """SQLite, a row a line, one transaction."""

    module = "sqlite3"

    def store(self, text: Path) -> None:
        """Keep a text."""
        connection = self._connection()
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE line (number INTEGER PRIMARY KEY, text BLOB)")
        with text.open("rb") as file, connection:
            connection.executemany("INSERT INTO line (text) VALUES (?)", ((line,) for line in file))
        connection.close()

    def open(self) -> None:
        """Open for reading."""
        self._open = self._connection()

    def _connection(self) -> sqlite3.Connection:
        return sqlite3.connect(self._folder / "output.db")

    def lines(self, first: int, last: int) -> bytes:
        """Lines ``first`` to ``last``."""
        query = "SELECT text FROM line WHERE number BETWEEN ? AND ? ORDER BY number"
        return b"".join(text for (text,) in self._open.execute(query, (first, last)))

    def search(self, needle: str) -> list[int]:
        """The numbers of the lines that hold a text."""
        query = "SELECT number FROM line WHERE instr(text, ?) ORDER BY number"
        return [number for (number,) in self._open.execute(query, (needle.encode(),))]

    def whole(self) -> bytes:
        """All of it."""
        return b"".join(text for (text,) in self._open.execute("SELECT text FROM line ORDER BY number"))
