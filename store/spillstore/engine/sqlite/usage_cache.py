"""Cached facts about a store's folder: the time of its last collection, the age of its sessions, its approximate size.

Ages come from clocks, and a clock can be wrong: ahead for an hour, or in 1970 until the network is there. So what a store
collects by itself is what was too old already when it was looked at before, at the time that the file ``.collected`` has;
one reading of the clock never deletes anything. A session that was written in what is the future now ages from when it was
first seen to be so: the time of access of its file is set to that, with nanoseconds by which it is known again.

The size of a store is asked for whenever an artifact is begun, and finding it takes some system calls for each session. So
it is kept for as long as one process needs at most to fill the room that was left, at ``_FASTEST``: for a minute at most,
for a second at least, and for ten times what looking took, so that a store of very many sessions is not looked at all the
time; a file in the root tells it to other processes. What that can overlook: what several processes write within this time,
and what an artifact that is open already goes on to take, up to its own limit.

Both files are written and read by descriptors, and neither is believed if it is a link, a pipe, somebody else's, or open to
others; that is logged once, and the process goes by what it has seen itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from spillstore.engine.sqlite.database import DATABASE
from spillstore.engine.sqlite.folders import open_root, project_of
from spillstore.exceptions import StorageError
from spillstore.runtime import lazy_patterns as re
from spillstore.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from spillstore.engine.sqlite.folders import Folder
    from spillstore.info import SessionInfo
    from spillstore.model.clock import Clock

_FASTEST = 256 * MIB  # stored bytes a second, above what compressing on two threads was seen to give
_AT_MOST = 60.0
_AT_LEAST = 1.0
_TIMES_LOOKING = 10
_SECOND_NS = 10**9
_SEEN_NS = 531_441_007
_SIZE = ".size"
_STAMP = ".collected"
_LINE = re.compile(rb"(\d{1,18}) (\d{1,12}\.\d+) (\d{1,6}\.\d+)\n")
_log = logging.getLogger("spillstore")
_looks: dict[Path, float] = {}  # when this process looked at a store
_warned: set[Path] = set()  # files that were said to be of no use


# --- how old ----------------------------------------------------------------------------------------------


def aged(info: SessionInfo, now: float, folder: Path, *, dry_run: bool) -> SessionInfo:
    """A session whose last use lies in the future, with a time from which its age can be told; any other as it is."""
    if info.used <= now:
        return info
    seen = now  # as long as nothing else is known
    with (
        contextlib.suppress(
            OSError, StorageError
        ),  # it is gone, or on media that cannot be written: it is new then
        project_of(folder) as project,
        project.folder(folder.name) as session,
    ):
        status = session.stat(DATABASE)
        if status is not None and status.st_atime_ns % _SECOND_NS == _SEEN_NS and status.st_atime <= now:
            seen = status.st_atime
        elif status is not None and not dry_run:
            session.set_times(DATABASE, int(now) * _SECOND_NS + _SEEN_NS, status.st_mtime_ns)
    return dataclasses.replace(info, used=seen)


def due(root: Path, now: float, interval: float) -> float | None:
    """When a store was looked at before, if it is time to do so again; then that is now.

    A time in the future is no reason to wait for it: the clock was ahead.

    Args:
        root: the store's folder.
        now: the time.
        interval: seconds between two looks.

    Returns:
        The time; None if it is too early, or if nobody has looked before.
    """
    try:
        with open_root(root) as folder:
            before = _mark(folder, now, interval)
    except FileNotFoundError:
        return None  # a new root: there is nothing to look at
    except (OSError, StorageError) as error:
        _distrust(root / _STAMP, error)
        before = _looks.get(root)
    _looks[root] = now if before is None or _passed(before, now, interval) else before
    return before if before is not None and _passed(before, now, interval) else None


def _passed(before: float, now: float, interval: float) -> bool:
    return not 0 <= now - before < interval


def _mark(root: Folder, now: float, interval: float) -> float | None:
    """When the file was last marked; it is marked anew if that is long enough ago."""
    before: float | None = None
    try:
        descriptor = root.own(_STAMP, os.O_RDONLY)
    except FileNotFoundError:
        descriptor = root.own(_STAMP, os.O_RDONLY | os.O_CREAT)
    else:
        before = os.fstat(descriptor).st_mtime
    try:
        if before is None or _passed(before, now, interval):
            os.utime(descriptor, (now, now))
    finally:
        os.close(descriptor)
    return before


def _distrust(file: Path, error: Exception) -> None:
    """Say once that a file of a store cannot be used."""
    if file not in _warned:
        _warned.add(file)
        _log.warning("a file of the store is not used", extra={"file": str(file), "error": str(error)})


# --- how large --------------------------------------------------------------------------------------------


class _Measured(NamedTuple):
    size: int
    at: float
    took: float  # seconds


_measured: dict[Path, _Measured] = {}
_measuring = threading.Lock()  # one thread of a process at a time; the others get what it finds


def size_of(root: Path, quota: int, clock: Clock, measure: Callable[[], int]) -> tuple[int, bool]:
    """About how many bytes a store takes, and whether that was found just now.

    Args:
        root: the store's folder.
        quota: what it may take.
        clock: where to read the time.
        measure: finds it.
    """
    found = _known(root, quota, clock.time())
    if found is not None:
        return found.size, False
    with _measuring:
        found = _known(root, quota, clock.time())
        if found is not None:
            return found.size, False
        began = clock.monotonic()
        size = measure()
        remember_size(root, size, clock, clock.monotonic() - began)
    return size, True


def _known(root: Path, quota: int, now: float) -> _Measured | None:
    """A size that was found not too long ago."""
    for look in (_measured.get, _read):
        found = look(root)
        if found is not None:
            least = max(_AT_LEAST, _TIMES_LOOKING * found.took)
            lasts = max(min((quota - found.size) / _FASTEST, _AT_MOST), least)
            if 0 <= now - found.at < lasts:
                _measured[root] = found
                return found
    return None


def remember_size(root: Path, size: int, clock: Clock, took: float) -> None:
    """Keep a size that was found in ``took`` seconds, for this process and for others."""
    found = _Measured(size, clock.time(), took)
    if _write(root, f"{found.size} {found.at!r} {found.took:.6f}\n".encode()):
        _measured[root] = found


def forget_size(root: Path) -> None:
    """Something was deleted, so the next who asks looks again."""
    if _measured.pop(root, None) is not None or _read(root) is not None:
        _write(root, b"")


def _write(root: Path, line: bytes) -> bool:
    """Replace what the file says; whether there is a root. Where it cannot be, the others find it for themselves."""
    try:
        with open_root(root) as folder:
            descriptor = folder.own(_SIZE, os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return False
    except (OSError, StorageError) as error:  # a full disk, read-only media, or none of ours
        _distrust(root / _SIZE, error)
    return True


def _read(root: Path) -> _Measured | None:
    """The size that another process has measured; None if the file is missing, incomplete or not trusted."""
    try:
        with open_root(root) as folder:
            descriptor = folder.own(_SIZE, os.O_RDONLY)
        try:
            match = _LINE.fullmatch(os.read(descriptor, 100))
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except (OSError, StorageError) as error:
        _distrust(root / _SIZE, error)
        return None
    return None if match is None else _Measured(int(match[1]), float(match[2]), float(match[3]))


def _restart_after_fork() -> None:
    global _measuring  # noqa: PLW0603  # the parent's may be held by a thread that does not exist here
    _measuring = threading.Lock()


os.register_at_fork(after_in_child=_restart_after_fork)
