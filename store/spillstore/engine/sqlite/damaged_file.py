"""Rows of a session's file that SQLite refuses: its pages are read one by one (https://www.sqlite.org/fileformat2.html).

A row of a table lies in a leaf of that table's tree, and what is too long for it in a chain of overflow pages. A leaf says by
itself what it is, and a row how many columns it has, by which the tables are told. So header, schema, inner pages, indexes and
the list of free pages are not needed, and a damage takes the rows away whose own pages it hit. Python's ``sqlite3`` offers no
recovery, and SQLite's own works by the same means, with what the tables are said to be.

What is found is not to be trusted: a row may be an old one, one that was deleted, or wrong. Who reads holds the digests
against it. Pages are taken from the file as SQLite would see it, with what the journal (WAL) has committed; then from frames
behind a damaged one; then from the file alone. Rows on pages that are free, by the list and by the map of pages, come last.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from spillstore.engine.base import SessionRef
from spillstore.engine.errors import translated
from spillstore.engine.sqlite import owner_locks, sql
from spillstore.engine.sqlite.database import DATABASE
from spillstore.engine.sqlite.folder_names import NO_PROJECT, id_of_folder
from spillstore.engine.sqlite.record_format import BrokenError, values, varint
from spillstore.engine.sqlite.schema_check import MOST_ROW_BYTES
from spillstore.engine.sqlite.session_file import is_open
from spillstore.exceptions import SessionBusyError, SessionNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from spillstore.engine.base import RowPlace
    from spillstore.engine.rows import Row

_MAGIC: Final = b"SQLite format 3\x00"
_LEAF: Final = 13  # a leaf of a table's tree
_FREE: Final = 2  # what the map of pages says of a free one
_FRAME: Final = 24  # bytes of a frame's header
_WAL_HEADER: Final = 32
_KEYS: Final = 2  # columns of ``chunk`` before those of ``ChunkRow``
_TABLES: Final = {
    len(sql.SESSION_COLUMNS) + 1: "session",
    len(sql.ARTIFACT_COLUMNS) + 1: "artifact",
    len(sql.CHUNK_COLUMNS) + _KEYS: "chunk",
    len(sql.CHUNK_COLUMNS) + _KEYS - 1: "chunk",  # of schema 1, without gram filters
    9: "event",
}
_ID: Final = re.compile(rb"art_[0-9]{1,16}_[a-zA-Z0-9]{16}")
_BLOCK: Final = 1024 * 1024


class Place(NamedTuple):
    """Where a row begins.

    Attributes:
        view: by which of the views its pages are found.
        page: the number of its leaf.
        at: the byte of the leaf.
        is_free: whether the leaf is a free page.
    """

    view: int
    page: int
    at: int
    is_free: bool


class DamagedFile:
    """A session's file, open for reading. Nothing but what was asked for is in memory; a context manager."""

    def __init__(self, path: Path, ref: SessionRef | None) -> None:
        """Open it, and the journal beside it.

        Args:
            path: the file.
            ref: the session's name; None where the place of the file does not tell it.

        Raises:
            OSError: it cannot be read.
        """
        self.ref = ref
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self._file = _open(path, stack)
            try:
                self._wal: int | None = _open(path.with_name(f"{path.name}-wal"), stack)
            except FileNotFoundError:
                self._wal = None
            header = os.pread(self._file, 100, 0)
            said = int.from_bytes(header[16:18], "big") if header.startswith(_MAGIC) else 0
            self._size = said if said in {512 << power for power in range(7)} else sql.PAGE_SIZE
            self._views = self._read_wal()
            self._last = self._last_page()
            self._free = self._free_pages(header)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # --- pages --------------------------------------------------------------------------------------------

    def _read_wal(self) -> list[dict[int, int]]:
        """For each view, where in the journal a page lies: as SQLite sees it, with all frames, without the journal."""
        committed: dict[int, int] = {}
        every: dict[int, int] = {}
        if self._wal is not None:
            header = os.pread(self._wal, _WAL_HEADER, 0)
            order = "big" if header[3:4] == b"\x83" else "little"
            sums, pending, is_whole = _sums(header[:24], (0, 0), order), {}, len(header) == _WAL_HEADER
            is_whole = is_whole and sums == struct.unpack(">II", header[24:32])
            for at in range(_WAL_HEADER, os.fstat(self._wal).st_size - _FRAME, _FRAME + self._size):
                frame = os.pread(self._wal, _FRAME + self._size, at)
                number, size = struct.unpack_from(">II", frame)
                if frame[8:16] != header[16:24] or not number:
                    is_whole = False
                    continue  # of an earlier round
                every[number] = at + _FRAME
                sums = _sums(frame[:8] + frame[_FRAME:], sums, order) if is_whole else sums
                is_whole = is_whole and sums == struct.unpack_from(">II", frame, 16)
                if is_whole:
                    pending[number] = at + _FRAME
                    if size:
                        committed |= pending
                        pending = {}
        # Of a journal that is whole, what it has put in other pages' place was changed or deleted on purpose.
        return [committed] if every == committed else [committed, every, {}]

    def _page(self, view: int, number: int) -> bytes:
        """A page; zeros where the file ends before it does, or has none of that number."""
        if not 0 < number <= self._last:
            return bytes(self._size)
        at = self._views[view].get(number)
        if at is not None and self._wal is not None:
            found = os.pread(self._wal, self._size, at)
        else:
            found = os.pread(self._file, self._size, (number - 1) * self._size)
        return found.ljust(self._size, b"\0")

    def _free_pages(self, header: bytes) -> frozenset[int]:
        """Pages that are free by the list of them and by the map of pages, each of which may be damaged."""
        first = self._page(0, 1)
        trunk = int.from_bytes((first if first.startswith(_MAGIC) else header)[32:36], "big")
        listed: set[int] = set()
        while trunk and trunk not in listed and len(listed) <= self._last:
            listed.add(trunk)
            page = self._page(0, trunk)
            trunk, count = struct.unpack_from(">II", page)
            count = min(count, self._size // 4 - 2)
            listed |= set(struct.unpack_from(f">{count}I", page, 8))
        return frozenset(number for number in listed if self._is_free_in_map(number))

    def _is_free_in_map(self, number: int) -> bool:
        entries = self._size // 5
        at = (number - 2) // (entries + 1) * (entries + 1) + 2
        entry = (number - at - 1) * 5
        return entry >= 0 and self._page(0, at)[entry] == _FREE

    def _last_page(self) -> int:
        held = max((number for view in self._views for number in view), default=0)
        return max(-(-os.fstat(self._file).st_size // self._size), min(held, 2**31))

    @property
    def is_cut(self) -> bool:
        """Whether its header says that it has more pages."""
        header = self._page(0, 1)
        held = max((number for view in self._views for number in view), default=0)
        there = max(os.fstat(self._file).st_size // self._size, held)
        return header.startswith(_MAGIC) and int.from_bytes(header[28:32], "big") > there

    # --- rows ---------------------------------------------------------------------------------------------

    def places(self) -> Iterator[tuple[str, Row, RowPlace]]:
        """The table of every row that lies somewhere, its first three columns, and where it is; those to be preferred first."""
        last = []
        for view in range(len(self._views)):
            numbers: Iterable[int] = range(2, self._last + 1)
            if view:
                numbers = sorted({*self._views[view - 1], *self._views[view]})
            for number in numbers:
                if view and self._views[view].get(number) == self._views[view - 1].get(number):
                    continue
                if number in self._free:
                    last += list(self._rows_of(view, number, is_free=True))
                else:
                    yield from self._rows_of(view, number, is_free=False)
        yield from last

    def _rows_of(self, view: int, number: int, *, is_free: bool) -> Iterator[tuple[str, Row, Place]]:
        page = self._page(view, number)
        if page[0] != _LEAF:
            return
        count = min(int.from_bytes(page[3:5], "big"), (self._size - 8) // 2)
        for at in struct.unpack_from(f">{count}H", page, 8):
            place = Place(view, number, at, is_free)
            with contextlib.suppress(BrokenError, IndexError, struct.error):
                types, start, payload = self._head(page, at)
                table = _TABLES.get(len(types))
                if table is not None:
                    # What tells a row lies in the leaf itself, since it comes first.
                    yield table, values(types[:3], payload, start), place

    def _head(self, page: bytes, at: int) -> tuple[list[int], int, bytes]:
        """The types of a row's values, where these begin, and the part of the row that lies in the leaf."""
        length, at = varint(page, at)
        _, at = varint(page, at)
        if not 0 < length <= MOST_ROW_BYTES:
            raise BrokenError
        payload = page[at : at + self._local(length)]
        head, inside = varint(payload, 0)
        types = []
        if head > len(payload):
            raise BrokenError
        while inside < head:
            kind, inside = varint(payload, inside)
            types.append(kind)
        return types, head, payload

    def _local(self, length: int) -> int:
        """How much of a row of that length lies in its leaf."""
        usable = self._size
        if length <= usable - 35:
            return length
        least = (usable - 12) * 32 // 255 - 23
        fits = least + (length - least) % (usable - 4)
        return fits if fits <= usable - 35 else least

    def row(self, place: RowPlace) -> Row | None:
        """All columns of a row; None if a part of it is not there."""
        assert isinstance(place, Place), "it was found here"
        page = self._page(place.view, place.page)
        try:
            types, start, _ = self._head(page, place.at)
            return values(types, self._payload(place.view, page, place.at), start)
        except (BrokenError, IndexError, struct.error):
            return None

    def _payload(self, view: int, page: bytes, at: int) -> bytes:
        length, at = varint(page, at)
        _, at = varint(page, at)
        local = self._local(length)
        parts = [page[at : at + local]]
        missing = length - local
        number = int.from_bytes(page[at + local : at + local + 4], "big")
        while missing > 0:
            if not 1 < number <= self._last:
                raise BrokenError
            page = self._page(view, number)
            parts.append(page[4 : 4 + min(missing, self._size - 4)])
            missing -= self._size - 4
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)

    def ids(self) -> set[str]:
        """All texts in the file that look like an artifact's id, in rows, indexes, events or free space."""
        found: set[str] = set()
        for descriptor in (self._file, self._wal):
            if descriptor is not None:
                for at in range(0, os.fstat(descriptor).st_size, _BLOCK):
                    data = os.pread(descriptor, _BLOCK + 64, at)
                    found |= {each.decode() for each in _ID.findall(data)}
        return found


@contextlib.contextmanager
def damaged(path: Path, ref: SessionRef | None = None) -> Iterator[DamagedFile]:
    """A session's file and what is left in it.

    Args:
        path: the file, wherever it lies.
        ref: the session's name; None for that which its folders have, if it lies in a store.

    Raises:
        SessionNotFoundError: there is no such file.
        SessionBusyError: somebody has it open: to read it beside SQLite would take away this process's locks, or show half a commit.
        StorageError: it cannot be read.
    """
    with translated(f"reading {path}"):
        if is_open(path):
            raise SessionBusyError(f"{path} is open in this process; close the session first")
        if not path.is_file():
            raise SessionNotFoundError(f"there is no file {path}")
        if owners := owner_locks.live_owners(path.parent):
            raise SessionBusyError(
                f"{path} is open in {owner_locks.describe(path.parent, owners[0])}; close it there, or salvage a copy of the file"
            )
        with DamagedFile(path, _ref_of(path) if ref is None else ref) as found:
            yield found


def _ref_of(path: Path) -> SessionRef | None:
    """The name of a session by its folders."""
    if path.name != DATABASE:
        return None
    session, project = id_of_folder(path.parent.name), path.parent.parent.name
    named = None if project == NO_PROJECT else id_of_folder(project)
    return (
        None if session is None or (named is None and project != NO_PROJECT) else SessionRef(session, named)
    )


def _open(path: Path, stack: contextlib.ExitStack) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    stack.callback(os.close, descriptor)
    return descriptor


def _sums(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """The journal's checksum, gone on with."""
    first, second = sums
    words = struct.unpack(f"{'>' if order == 'big' else '<'}{len(data) // 4}I", data[: len(data) // 4 * 4])
    for one, two in zip(words[::2], words[1::2], strict=False):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second
