"""Deleting a session's folder: out of sight at once, off the disk when there is time."""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
from typing import TYPE_CHECKING

from spillstore._database import translated
from spillstore.exceptions import UnsafeRootError

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK = 512  # st_blocks counts these, whatever the file system's blocks are


def bury(folder: Path, trash: Path, uid: str) -> Path:
    """Rename a session's folder out of sight; atomic, and fine if somebody else did it already."""
    with translated(f"deleting {folder}"):
        trash.mkdir(mode=0o700, exist_ok=True)
        if not stat.S_ISDIR(trash.lstat().st_mode):  # a link: what is moved there would not come back
            raise UnsafeRootError(f"{trash} is no folder; a store's folders must be real ones")
        gone = trash / uid
        with contextlib.suppress(FileNotFoundError):
            folder.rename(gone)
        return gone


def remove_trash(gone: Path) -> int:
    """Unlink what was buried; another process may be doing the same.

    Returns:
        Bytes that it took on the disk and does not take any more.
    """
    before = disk_usage(gone)
    import shutil  # noqa: PLC0415  # three milliseconds that only who deletes needs

    shutil.rmtree(gone, ignore_errors=True)
    return before - disk_usage(gone)


def remove_at_exit(folder: Path) -> None:
    """Remove a folder when this process ends, after all that is open in it was drained."""
    _doomed.append((os.getpid(), folder))


def _remove_doomed() -> None:
    for pid, folder in _doomed:
        if pid == os.getpid():  # not in a forked child
            import shutil  # noqa: PLC0415  # as above

            shutil.rmtree(folder, ignore_errors=True)


_doomed: list[tuple[int, Path]] = []
# What is registered first runs last; the engine, which drains, imports this module before it registers anything.
atexit.register(_remove_doomed)


def disk_usage(folder: Path) -> int:
    """Bytes that the files of a session's folder take on the disk; 0 if it is gone."""
    total = 0
    # What cannot be listed cannot be removed either.
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # the other files may be there still
                total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
    return total
