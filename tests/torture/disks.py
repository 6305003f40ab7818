"""A disk that loses its power: what a recording of calls has left on it at any moment, and what of the rest came through.

``recorded`` reads what ``recorded_calls.c`` has written. A ``Disk`` begins with a folder as it was, all of it safe, and takes
one call after the other. Of a file, what was written since its last sync may be there or not, in any order, sector by
sector. Of a folder, names that came, went or changed since its last sync may have done so or not. With ``ordered`` a sync of
anything makes all earlier names safe, and of the later ones those up to some moment are there: so journaling file systems do
it. Sizes are data here: a file that was cut and not synced may be as long as before.
"""

from __future__ import annotations

import dataclasses
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

_HEAD = struct.Struct("=5Q")
WRITE, TRUNCATE, SYNC, CREATE, MKDIR, UNLINK, RENAME, NOTE, EXCHANGE = range(9)
NAMES = (CREATE, MKDIR, UNLINK, RENAME, EXCHANGE)
# What becomes of what a file was not synced for: nothing of it, all, what came first, any of it, or any sectors.
FATES = ("none", "all", "first", "some", "sectors of 512", "sectors of 4096", "shuffled sectors of 512")


@dataclasses.dataclass(frozen=True)
class Call:
    """One call: its kind, the file or folder, another one, a position or size, and bytes or names."""

    kind: int
    object: int
    other: int
    offset: int
    data: bytes


def recorded(data: bytes) -> Iterator[Call]:
    """The calls of a recording."""
    at = 0
    while at < len(data):
        *numbers, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Call(*numbers, data[at : at + length])
        at += length


class _File:
    """Safe bytes, and calls since the last sync."""

    def __init__(self, safe: bytes = b"") -> None:
        self.safe = bytearray(safe)
        self.waiting: list[Call] = []

    def sync(self) -> None:
        for call in self.waiting:
            _apply(self.safe, call)
        self.waiting = []

    def left(self, dice: random.Random) -> bytes:
        """What a power cut leaves of it."""
        fate = dice.choice(FATES)
        calls = self.waiting
        if fate == "none":
            calls = []
        elif fate == "first":
            calls = calls[: dice.randrange(len(calls) + 1)]
        elif fate == "some":
            calls = [call for call in calls if dice.random() < 0.5]
        elif "sectors" in fate:
            size = int(fate.rpartition(" ")[2])
            calls = [part for call in calls for part in _sectors(call, size) if dice.random() < 0.5]
            if "shuffled" in fate:
                calls = _shuffled(calls, dice)
        data = bytearray(self.safe)
        for call in calls:
            _apply(data, call)
        return bytes(data)


def _apply(data: bytearray, call: Call) -> None:
    if call.kind == TRUNCATE:
        del data[call.offset :]
        data.extend(bytes(call.offset - len(data)))
    else:
        data.extend(bytes(max(0, call.offset - len(data))))
        data[call.offset : call.offset + len(call.data)] = call.data


def _sectors(call: Call, size: int) -> Iterator[Call]:
    if call.kind == TRUNCATE:
        yield call
        return
    at, end = call.offset, call.offset + len(call.data)
    while at < end:
        until = min(end, (at // size + 1) * size)
        yield dataclasses.replace(call, offset=at, data=call.data[at - call.offset : until - call.offset])
        at = until


def _shuffled(calls: list[Call], dice: random.Random) -> list[Call]:
    """Writes in any order; none passes a truncation, which a file system does not let past either."""
    out: list[Call] = []
    between: list[Call] = []
    for call in calls:
        if call.kind == TRUNCATE:
            dice.shuffle(between)
            out += [*between, call]
            between = []
        else:
            between.append(call)
    dice.shuffle(between)
    return out + between


class Disk:
    """What a folder holds, safe and not.

    Args:
        folder: the beginning.
        ordered: a sync of anything makes all names safe, and they come through in their order; else each folder needs
            a sync of its own, and any of them come through.
    """

    def __init__(self, folder: Path, *, ordered: bool) -> None:
        self._ordered = ordered
        self._files: dict[int, _File] = {}
        self._safe: dict[int, dict[bytes, int]] = {}  # of each folder its names
        self._waiting: list[Call] = []  # of names, in their order
        self._root = folder.stat().st_ino
        for path, _, names in os.walk(folder):
            here = self._safe.setdefault(os.stat(path).st_ino, {})
            for entry in os.scandir(path):
                here[os.fsencode(entry.name)] = entry.inode()
                if entry.name in names:
                    with open(entry.path, "rb") as file:
                        self._files[entry.inode()] = _File(file.read())

    def take(self, call: Call) -> None:
        """What a call does."""
        if call.kind == SYNC:
            self._sync(call.object)
        elif call.kind in (WRITE, TRUNCATE):
            if call.object in self._files:  # not one of another folder of this disk
                self._files[call.object].waiting.append(call)
        elif call.kind in NAMES and call.object in self._safe:
            if call.kind == CREATE:
                self._files[call.other] = _File()
            elif call.kind == MKDIR:
                self._safe[call.other] = {}
            self._waiting.append(call)

    def _sync(self, number: int) -> None:
        if number in self._files:
            self._files[number].sync()
        if number in self._safe or (self._ordered and number in self._files):
            mine = [call for call in self._waiting if self._ordered or number in _folders(call)]
            self._waiting = [call for call in self._waiting if call not in mine]
            _rename(self._safe, mine)

    def left(self, into: Path, dice: random.Random) -> None:
        """Make a folder of what a power cut leaves, where nothing is."""
        if self._ordered:
            waiting = self._waiting[: dice.randint(0, len(self._waiting))]
        else:
            likely = dice.choice((0.0, 0.5, 0.5, 1.0))
            waiting = [call for call in self._waiting if dice.random() < likely]
        names = {number: dict(here) for number, here in self._safe.items()}
        _rename(names, waiting)
        self._make(into, self._root, names, dice)

    def _make(self, path: Path, number: int, names: dict[int, dict[bytes, int]], dice: random.Random) -> None:
        path.mkdir(mode=0o700)
        for name, each in sorted(names[number].items()):
            inner = path / os.fsdecode(name)
            if each in names:
                self._make(inner, each, names, dice)
            else:
                inner.write_bytes(self._files[each].left(dice))
                inner.chmod(0o600)


def _folders(call: Call) -> tuple[int, ...]:
    return (call.object, call.other) if call.kind in (RENAME, EXCHANGE) else (call.object,)


def _rename(names: dict[int, dict[bytes, int]], calls: list[Call]) -> None:
    """Let calls change names; one whose own name is not there changes nothing."""
    for call in calls:
        first, _, second = call.data.rstrip(b"\0").partition(b"\0")
        here = names[call.object]
        if call.kind in (CREATE, MKDIR):
            here[first] = call.other
        elif call.kind == UNLINK:
            here.pop(first, None)
        elif call.kind == EXCHANGE:  # within one folder
            if {first, second} <= here.keys():
                here[first], here[second] = here[second], here[first]
        elif first in here and call.other in names:
            names[call.other][second] = here.pop(first)
