"""A store that never reaches a disk: a folder of this process in a file system that lives in memory.

``Store("memory:")`` is for output that must not be found on a disk, or be changed there. The folder lies in ``/dev/shm``,
or in the user's ``XDG_RUNTIME_DIR``; both only where they are of type tmpfs. It is made when the first such store is, is for
its owner alone, and goes when the process ends. A process that is killed leaves it behind, and the next one that makes such
a folder removes it: who lives is told by a lock, as it is for sessions. A forked child has a folder of its own.

What this does not do: the system may move such memory to its swap space, and other processes of the same user, and root,
can read it while it is there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spillstore.engine.errors import translated
from spillstore.engine.sqlite import owner_locks
from spillstore.engine.sqlite.database import file_system
from spillstore.engine.sqlite.folders import open_root
from spillstore.engine.sqlite.soft_delete import remove_at_exit
from spillstore.exceptions import UnsafeRootError, UnsupportedError
from spillstore.settings import KIB

if TYPE_CHECKING:
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.settings import Settings

_PREFIX = "spillstore-"
_SHARE = 2  # a store may take one part in so many of what is free
_LEAST = 64 * KIB  # below this a quota means nothing; what does not fit fails when it is written
_guard = threading.Lock()  # protects _made


class _Made(NamedTuple):
    pid: int
    folder: Path
    owner: owner_locks.Owner  # held as long as the process lives
    share: int


_made: _Made | None = None


def memory_root() -> tuple[Path, int]:
    """The folder of this process, and the bytes that it may take.

    Raises:
        UnsupportedError: there is no file system in memory here.
        StorageError: the folder cannot be made.
    """
    global _made  # noqa: PLW0603  # one a process
    with _guard:
        if _made is None or _made.pid != os.getpid():
            parent = _parent()
            with translated(f"making a folder in {parent}"):
                _remove_dead(parent)
                found = os.statvfs(parent)
                folder = Path(tempfile.mkdtemp(prefix=_prefix(), dir=parent))
                remove_at_exit(folder)
                owner = owner_locks.Owner(folder)
            share = max(found.f_bavail * found.f_frsize // _SHARE, _LEAST)
            _made = _Made(os.getpid(), folder, owner, share)
        return _made.folder, _made.share


def memory_settings(settings: Settings, share: int) -> Settings:
    """Settings under which a store takes no more than its share of the memory."""
    return dataclasses.replace(
        settings,
        session_quota=min(settings.session_quota, share),
        store_quota=min(settings.store_quota or share, share),
        free_disk_floor=min(settings.free_disk_floor, share // 4),
        free_disk_floor_fraction=0.0,
    )


def _parent() -> Path:
    candidates = ["/dev/shm", os.environ.get("XDG_RUNTIME_DIR", "")]  # noqa: S108  # checked below; ours is 0700 in it
    for name in filter(None, candidates):
        path = Path(os.path.realpath(name))
        if path.is_dir() and os.access(path, os.W_OK | os.X_OK) and file_system(str(path)) == "tmpfs":
            return path
    raise UnsupportedError(
        "there is no file system in memory here (/dev/shm and XDG_RUNTIME_DIR are none); name a folder as the root"
    )


def _prefix() -> str:
    return f"{_PREFIX}{os.getuid()}-"


def _remove_dead(parent: Path) -> None:
    """Remove the folders of processes of this user that are gone."""
    with open_root(parent) as within:
        for name in within.names():
            if name.startswith(_prefix()) and _is_dead(within, name):
                within.remove(name)


def _is_dead(within: Folder, name: str) -> bool:
    """Whether it is a folder of this user, and of a process that is gone."""
    with contextlib.suppress(FileNotFoundError, UnsafeRootError), within.folder(name) as folder:
        status = folder.status
        if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) != stat.S_IRWXU:
            return False
        # Without a file of an owner, its process is about to write one.
        owned = any(owner_locks.is_owner_name(each) for each in folder.names())
        return owned and not owner_locks.live_owners(folder.path)
    return False


def _restart_after_fork() -> None:
    global _guard  # noqa: PLW0603  # the parent's may be held by a thread that does not exist here
    _guard = threading.Lock()


os.register_at_fork(after_in_child=_restart_after_fork)
