"""Owner locks: every process that writes to a session holds a lock on a file of its own, which shows that it is alive.

The lock is a POSIX record lock (``fcntl.lockf``). Against ``flock`` it won because it belongs to the process, not to
the open file: a child that was forked and outlives its parent does not keep the parent alive. Its
well-known trap, that closing *any* descriptor of a file drops the process's locks on it, is met by never opening a file
that this process itself holds (``_held``). It is why the lock is never taken on ``session.db``: SQLite's own locks are
of the same kind. Process ids and boot ids are written into the file for people to read; nothing ever decides by them,
so a reused pid or another pid namespace confuses nobody.

The file appears under its name only when it is locked, so a name that can be locked by somebody else is a dead owner.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import stat
import threading
import time
from pathlib import Path

from spillstore.runtime import lazy_patterns as re

_log = logging.getLogger("spillstore")
_PREFIX, _SUFFIX = "owner-", ".lock"
_NAME = re.compile(r"owner-[0-9a-f]{16}\.lock", re.ASCII)
_BEGUN = re.compile(r"\.owner-[0-9a-f]{16}\.lock", re.ASCII)
_BORN = 60.0  # seconds after which a file that was not locked and renamed belongs to a process that died before it could
_ABOUT_BYTES = 4096
_held: set[tuple[int, int]] = set()  # (device, inode) of the lock files of this process
_guard = threading.Lock()  # protects _held, and keeps a probe from opening a file that is being registered


def _forget_after_fork() -> None:
    global _guard  # noqa: PLW0603  # the parent's lock may be held by a thread that does not exist here
    _guard = threading.Lock()
    _held.clear()


os.register_at_fork(after_in_child=_forget_after_fork)


class Owner:
    """This process's claim on a session folder; alive until ``release`` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self.name = f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
        self._path = folder / self.name
        hidden = folder / f".{self.name}"
        about = {"pid": os.getpid(), "host": os.uname().nodename, "boot_id": _boot_id()}
        self._descriptor = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        status = os.fstat(self._descriptor)
        self._inode = (status.st_dev, status.st_ino)
        try:
            with _guard:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
                _held.add(self._inode)
            os.write(self._descriptor, json.dumps(about).encode())
            hidden.rename(self._path)
        except BaseException:
            self._path = hidden
            self.release()  # another file may get this inode
            raise

    def in_place(self) -> bool:
        """Whether those who look for owners find this one: its folder has its name still."""
        try:
            status = self._path.lstat()
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) == self._inode

    def moved(self, folder: Path) -> None:
        """The session's folder was renamed."""
        self._path = folder / self.name

    def release(self) -> None:
        """Give the claim up; the file goes too. Where it cannot go, it is that of an owner who is gone."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            _log.debug("the file of a claim stays", extra={"error": type(error).__name__})
        with _guard:
            os.close(self._descriptor)
            _held.discard(self._inode)


def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


def alive(folder: Path, name: str) -> bool:
    """Whether the owner of that name still lives. Cost: one open and one lock call.

    What is no regular file (a link, a pipe that would block the opener) was not made by an owner, and is none.
    """
    path = folder / name
    with _guard:
        try:
            status = path.lstat()
            if (status.st_dev, status.st_ino) in _held:
                return True
            if not stat.S_ISREG(status.st_mode):
                return False
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return False
        except PermissionError:
            return True  # another user's: it cannot be asked, so it is left alone
        try:
            # A shared lock, so that two who ask at once do not take each other for the owner.
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return True
        finally:
            os.close(descriptor)
        return False


def live_owners(folder: Path, *, but: str | None = None) -> list[str]:
    """The names of all living owners of a session folder."""
    try:
        names = sorted(name for name in os.listdir(folder) if is_owner_name(name) and name != but)  # noqa: PTH208
    except FileNotFoundError:
        return []
    return [name for name in names if alive(folder, name)]


def remove_dead(folder: Path) -> None:
    """Unlink the files of owners that are gone. A dead name never comes to life again, so nobody can be hurt."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        return  # the session was deleted meanwhile
    for name in names:
        if (is_owner_name(name) or _begun_long_ago(folder, name)) and not alive(folder, name):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError, PermissionError):  # none of ours
                (folder / name).unlink()


def _begun_long_ago(folder: Path, name: str) -> bool:
    """Whether it is the file of a claim that was never finished; one that is being made is not locked yet, either."""
    if _BEGUN.fullmatch(name) is None:
        return False
    try:
        return abs(time.time() - (folder / name).lstat().st_mtime) > _BORN
    except FileNotFoundError:
        return False


def is_owner_name(name: str) -> bool:
    """Whether a name is that of an owner's file."""
    return _NAME.fullmatch(name) is not None


def describe(folder: Path, name: str) -> str:
    """An owner as a person would like to read it."""
    try:
        status = (folder / name).lstat()
        if (status.st_dev, status.st_ino) in _held:  # opening and closing it would drop our own lock
            return "this process"
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            about = json.loads(os.read(descriptor, _ABOUT_BYTES))
        finally:
            os.close(descriptor)
        return f"process {about['pid']:d} on {ascii(about['host'])[1:-1]:.100}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return f"the owner of {name}"
