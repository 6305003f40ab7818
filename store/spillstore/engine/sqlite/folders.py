"""Folders by their descriptors: what was looked at is what is used, whatever is done to its name meanwhile.

A path is looked up anew by each call, so anybody who can write in a folder above can exchange what it leads to between the look
and the use: a link in place of a folder that is about to be emptied. A descriptor stays with what was opened. So a store's
root, its projects and its sessions are opened one in the other, no link is followed, owner and mode are asked of what was
opened, and listing, renaming and removing are done relative to that.

SQLite opens by path. What keeps that safe is the rule of Unix: in a folder that others cannot write, or that has the sticky
bit as ``/tmp`` has, nobody else can rename what is ours. A root that everybody can write and that has no such bit is refused.
Users who may write in a root through its group are trusted as its owner is: by giving them the folder, it was chosen.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from typing import TYPE_CHECKING, Final, Self

from spillstore.engine.sqlite.path_safety import check_owner, check_private
from spillstore.exceptions import UnsafeRootError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NO_LINK: Final = os.O_DIRECTORY | os.O_NOFOLLOW
# What is only passed through need not be readable; macOS has no O_PATH.
_THROUGH: Final = _NO_LINK | getattr(os, "O_PATH", os.O_RDONLY)
# renameat2(2): RENAME_NOREPLACE, RENAME_EXCHANGE
_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_BLOCK: Final = 512  # st_blocks counts these, whatever the file system's blocks are


class Folder:
    """An open folder; a context manager. Names are those of entries in it, never paths."""

    def __init__(self, descriptor: int, path: Path) -> None:
        """Take a descriptor over; ``path`` is for messages and for callers that need one."""
        self._descriptor = descriptor
        self.path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    @property
    def status(self) -> os.stat_result:
        """The ``stat`` result of the folder itself."""
        return os.fstat(self._descriptor)

    def folder(self, name: str) -> Folder:
        """A folder in it.

        Raises:
            FileNotFoundError: there is none.
            UnsafeRootError: something else is there.
        """
        return Folder(_open(name, self.path / name, self._descriptor), self.path / name)

    def make(self, name: str) -> None:
        """Make a folder in it, for its owner alone.

        Raises:
            FileExistsError: something is there.
        """
        os.mkdir(name, 0o700, dir_fd=self._descriptor)

    def names(self) -> list[str]:
        """All names in it, sorted."""
        descriptor = self._listed()
        try:
            return sorted(os.listdir(descriptor))  # noqa: PTH208  # a path could lead elsewhere
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def listed(self) -> Iterator[Iterator[str]]:
        """All names in it, in no order, read a few at a time: the first costs no more in a folder of very many.

        What is made or removed meanwhile may be among them or not; all others are, once.
        """
        descriptor = self._listed()
        try:
            with os.scandir(descriptor) as entries:
                yield (entry.name for entry in entries)
        finally:
            os.close(descriptor)

    def leads_to(self, name: str, folder: Folder) -> bool:
        """Whether a name in it is that of a folder which was opened under it before, and not of another one by now."""
        there, opened = self.stat(name), folder.status
        return there is not None and (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)

    def stat(self, name: str) -> os.stat_result | None:
        """The ``stat`` result of an entry, without following a link; None if it is not there."""
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str, flags: int) -> int:
        """Open a file in it, without following a link and without waiting for a pipe; a new one is its owner's alone."""
        flags |= os.O_NOFOLLOW | os.O_NONBLOCK
        return os.open(name, flags, 0o600, dir_fd=self._descriptor)

    def own(self, name: str, flags: int) -> int:
        """Open a file that only this store writes.

        Raises:
            FileNotFoundError: it is not there.
            UnsafeRootError: it is no regular file, has a second name, belongs to somebody else, or others can write it.
        """
        path = self.path / name
        try:
            descriptor = self.open(name, flags)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EACCES, errno.EPERM}:
                raise UnsafeRootError(f"{path} is none of the store's own files: {error.strerror}") from error
            raise
        try:
            check_own(path, os.fstat(descriptor), self.status)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def read_small(self, name: str, most: int) -> bytes | None:
        """The content of a small regular file; None for anything else, which is neither followed nor waited for."""
        try:
            descriptor = self.open(name, os.O_RDONLY)
        except OSError:
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = os.read(descriptor, most + 1)
        finally:
            os.close(descriptor)
        return data if len(data) <= most else None

    def sync(self) -> None:
        """Make the names in it survive a power cut."""
        descriptor = self._listed()
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _listed(self) -> int:
        """A descriptor of it that can do more than be passed through."""
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._descriptor)

    def rename(self, name: str, new: str) -> None:
        """Give an entry another name; what is replaced is an empty folder at most."""
        os.rename(name, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def move_new(self, name: str, to: Folder, new: str) -> None:
        """Move an entry to another folder, where nothing may have that name. Linux alone can.

        Raises:
            FileExistsError: something has it.
            OSError: it cannot be moved, or not so that nothing is replaced.
        """
        self._rename2(name, to, new, _NOREPLACE)

    def exchange(self, name: str, other: str) -> None:
        """Exchange the names of two entries, in one step. Linux alone can, on most of its file systems.

        Raises:
            FileNotFoundError: one of them is not there.
            OSError: they cannot be exchanged; EINVAL and ENOSYS if none can.
        """
        self._rename2(name, self, other, _EXCHANGE)

    def _rename2(self, name: str, to: Folder, new: str, flags: int) -> None:
        import ctypes  # noqa: PLC0415  # Python has no such rename; few need one

        renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if renameat2 is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        old, wanted = os.fsencode(name), os.fsencode(new)
        if renameat2(self._descriptor, old, to._descriptor, wanted, flags):  # one class
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), new)

    def set_times(self, name: str, accessed_ns: int, written_ns: int) -> None:
        """Set when an entry was last read and written."""
        os.utime(name, ns=(accessed_ns, written_ns), dir_fd=self._descriptor, follow_symlinks=False)

    def write_new(self, name: str, data: bytes) -> None:
        """Make a file in it, and sync it.

        Raises:
            FileExistsError: something is there.
        """
        with os.fdopen(self.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def unlink(self, name: str) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=self._descriptor)

    def remove_empty(self, name: str) -> None:
        """Remove a folder that holds nothing."""
        os.rmdir(name, dir_fd=self._descriptor)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others out who do the same, in this process and in others: what is looked at stays until it is renamed."""
        descriptor = self._listed()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing would not do while a forked child has a copy
            os.close(descriptor)

    def usage(self, name: str) -> int:
        """Bytes that the files of a folder in it take on the disk; 0 if it is gone or cannot be read."""
        try:
            with self.folder(name) as folder:
                found = [folder.stat(each) for each in folder.names()]
        except (OSError, UnsafeRootError):
            return 0
        return sum(status.st_blocks * _BLOCK for status in found if status is not None)

    def remove(self, name: str) -> int:
        """Remove a folder in it with all that is in that; what cannot be removed stays, and others may do the same.

        Returns:
            Bytes that it took on the disk and does not take any more.
        """
        freed = 0
        with contextlib.suppress(OSError, UnsafeRootError):  # gone, in use, or never ours to remove
            with self.folder(name) as folder:
                for each in folder.names():
                    freed += folder._remove_entry(each)  # noqa: SLF001  # one class
            self.remove_empty(name)
        return freed

    def _remove_entry(self, name: str) -> int:
        status = self.stat(name)
        if status is None:
            return 0
        if stat.S_ISDIR(status.st_mode):
            return self.remove(name)
        try:
            self.unlink(name)
        except OSError:  # gone, or on media that became read-only: the folder stays
            return 0
        return status.st_blocks * _BLOCK if status.st_nlink == 1 else 0


def check_own(path: Path, status: os.stat_result, folder: os.stat_result) -> None:
    """Refuse what is no private file of the store.

    Args:
        path: its name, for the message.
        status: what it is.
        folder: what the folder is that it lies in.

    Raises:
        UnsafeRootError: it is none.
    """
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeRootError(f"{path} is no regular file")
    check_owner(path, status, folder)
    if status.st_nlink != 1:
        raise UnsafeRootError(f"{path} has {status.st_nlink} names (hard links); a file of the store has one")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeRootError(f"others than its owner can write {path}; chmod go-w it, or remove it")


def open_root(path: Path) -> Folder:
    """A store's root.

    Raises:
        FileNotFoundError: there is none.
        UnsafeRootError: it is no real folder, or everybody can exchange what is in it.
    """
    root = Folder(_open(path, path, None), path)
    mode = root.status.st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        root.__exit__()
        raise UnsafeRootError(
            f"everybody can write {path} and rename what is in it; chmod +t it, as /tmp is, or name a folder in it "
            "that is yours"
        )
    return root


def make_root(path: Path, *, durable: bool) -> None:
    """Make a store's root and the folders above it where they are not there; ``durable`` makes their names survive a power cut."""
    missing = []
    above = path
    while durable and not above.exists():
        missing.append(above)
        above = above.parent
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for made in missing:
        descriptor = os.open(made.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_project(root: Folder, name: str) -> Folder:
    """The folder of a project, trusted.

    Raises:
        FileNotFoundError: there is none.
        UnsafeRootError: it is no real folder, somebody else's, or everybody can write it.
    """
    project = root.folder(name)
    try:
        status = project.status
        check_owner(project.path, status, root.status)
        check_private(project.path, status)
    except BaseException:
        project.__exit__()
        raise
    return project


@contextlib.contextmanager
def project_of(session: Path) -> Iterator[Folder]:
    """The folder that a session's folder lies in, trusted, by the path of the session's.

    Raises:
        FileNotFoundError: it, or the root, is not there.
        UnsafeRootError: not so.
    """
    with open_root(session.parent.parent) as root, open_project(root, session.parent.name) as project:
        yield project


def _open(name: str | Path, path: Path, within: int | None) -> int:
    try:
        return os.open(name, _THROUGH, dir_fd=within)
    except OSError as error:
        if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
            raise
        mode = os.stat(
            name, dir_fd=within, follow_symlinks=False
        ).st_mode  # what lies above may be no folder, too
        what = "a symbolic link" if stat.S_ISLNK(mode) else "no folder"
        raise UnsafeRootError(f"{path} is {what}; a store's folders must be real ones") from error
