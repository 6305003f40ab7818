"""Which sessions go when a store is collected, and how large a store is, roughly.

A collection has two reasons: ``age``, for what nobody has written to for longer than it is kept, and ``room``, for the
oldest of what is left while all sessions together are larger than they may be. A session that somebody alive holds is
never chosen; whether that is still so is asked again, under the session's write lock, when it is deleted.

The size of a store is asked for whenever an artifact is begun, and finding it takes some system calls for each session. So
it is kept for as long as one process needs at most to fill the room that was left, at ``_FASTEST``: for a minute at most,
for a second at least; a file in the root tells it to other processes. What that can overlook: what several processes write within this time, and what an artifact that is
open already goes on to take, up to its own limit.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from spillstore import info as infos
from spillstore.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from spillstore._clock import Clock
    from spillstore.info import Fate, SessionInfo

_FASTEST = 256 * MIB  # stored bytes a second, above what compressing on two threads was seen to give
_AT_MOST = 60.0
_AT_LEAST = 1.0
_FILE = ".size"
_LINE = re.compile(rb"(\d{1,18}) (\d{1,12}\.\d+)\n")


def plan(
    sessions: Iterable[SessionInfo], *, used_before: float, keep_bytes: int | None
) -> tuple[list[Fate], list[Fate]]:
    """What is to be deleted, the oldest first, and what is to be spared.

    Args:
        sessions: all that there are.
        used_before: what was last written at this time or earlier is too old, in seconds since 1970.
        keep_bytes: what all that stays may take; None for any size.
    """
    gone: list[Fate] = []
    spared: list[Fate] = []
    young: list[SessionInfo] = []
    for info in sorted(sessions, key=lambda info: info.used):
        if info.live:
            spared.append(infos.Fate(session=info, why="live"))
        elif info.used <= used_before:
            gone.append(infos.Fate(session=info, why="age"))
        else:
            young.append(info)
    left = sum(fate.session.disk_size for fate in spared) + sum(info.disk_size for info in young)
    for info in young:
        if keep_bytes is not None and left > keep_bytes:
            gone.append(infos.Fate(session=info, why="room"))
            left -= info.disk_size
        else:
            spared.append(infos.Fate(session=info, why="young"))
    return gone, spared


class _Measured(NamedTuple):
    size: int
    at: float


_measured: dict[Path, _Measured] = {}


def size_of(root: Path, quota: int, clock: Clock, measure: Callable[[], int]) -> tuple[int, bool]:
    """About how many bytes a store takes, and whether that was found just now.

    Args:
        root: the store's folder.
        quota: what it may take.
        clock: where to read the time.
        measure: finds it.
    """
    now = clock.time()
    for look in (_measured.get, _read):
        found = look(root)
        if found is not None:
            lasts = min(max((quota - found.size) / _FASTEST, _AT_LEAST), _AT_MOST)
            if 0 <= now - found.at < lasts:
                _measured[root] = found
                return found.size, False
    size = measure()
    remember_size(root, size, clock)
    return size, True


def remember_size(root: Path, size: int, clock: Clock) -> None:
    """Keep a size that was found, for this process and for others."""
    found = _Measured(size, clock.time())
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(root / _FILE, flags, 0o600)
    except FileNotFoundError:
        return  # the root is not there yet
    except OSError:  # it cannot be written: then the others find it for themselves
        _measured[root] = found
        return
    try:
        os.write(descriptor, f"{found.size} {found.at!r}\n".encode())
    finally:
        os.close(descriptor)
    _measured[root] = found


def _read(root: Path) -> _Measured | None:
    """What another process found; None if it is not there, or is being written."""
    try:
        descriptor = os.open(root / _FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        match = _LINE.fullmatch(os.read(descriptor, 100))
    finally:
        os.close(descriptor)
    return None if match is None else _Measured(int(match[1]), float(match[2]))
