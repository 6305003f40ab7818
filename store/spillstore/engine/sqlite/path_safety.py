"""Folders and files that others may have put in our way: links, pipes, journals, and what belongs to somebody else.

A store's root may lie where others can write, such as ``/tmp``. So every folder and file on the way to a session must be a
real one and belong to this process's user, to the superuser or to the root's owner; and nobody else may write where a
session lies. A pipe is never opened, because that would wait for ever, and no link is followed.

SQLite opens by path, and the files beside a database by its name, so what they are is looked up just before. Who can write
in a session's folder can still win a race against that; therefore such a folder is refused. A rollback journal could name
another file, a super-journal, which SQLite deletes when it has rolled back; ours never name one, and one that does is refused.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from spillstore.exceptions import IntegrityError, UnsafeRootError

if TYPE_CHECKING:
    from pathlib import Path

_JOURNAL: Final = "-journal"
_COMPANIONS: Final = (_JOURNAL, "-wal", "-shm")
_JOURNAL_MAGIC: Final = bytes.fromhex(
    "d9d505f920a163d7"
)  # https://www.sqlite.org/fileformat.html#the_rollback_journal


def check_owner(path: Path, status: os.stat_result, root: os.stat_result) -> None:
    """Refuse what belongs neither to us, nor to the superuser, nor to the owner of the root.

    Raises:
        UnsafeRootError: it belongs to somebody else.
    """
    if status.st_uid not in {os.geteuid(), 0, root.st_uid}:
        raise UnsafeRootError(
            f"{path} belongs to user {status.st_uid}, who neither runs this process (user {os.geteuid()}) nor owns the "
            "store's root; choose another root, or run as that user"
        )


def check_private(path: Path, status: os.stat_result) -> None:
    """Refuse what everybody may write.

    Raises:
        UnsafeRootError: everybody may.
    """
    if status.st_mode & stat.S_IWOTH:
        raise UnsafeRootError(f"everybody can write {path}, so what it holds cannot be trusted; chmod o-w it")


def check_companion_files(database: Path, *, writing: bool) -> None:
    """Refuse to open a database whose name, or that of a file beside it, leads elsewhere. Cost: 5 us.

    Args:
        database: the file.
        writing: whether it is to be written; then a second name of it is refused, too.

    Raises:
        UnsafeRootError: a link, no regular file, or a file with a second name.
        IntegrityError: a journal that names another file.
    """
    for suffix in ("", *_COMPANIONS):
        path = f"{database}{suffix}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) and (suffix or writing):
            raise UnsafeRootError(f"{path} is no regular file, and SQLite would use it as one")
        if writing and status.st_nlink > 1:
            raise UnsafeRootError(
                f"{path} has {status.st_nlink} names (hard links), so writing it here would change it there; copy it"
            )
        if suffix == _JOURNAL and _names_another(path):
            raise IntegrityError(f"{path} names a super-journal, which no journal of a session does")


def is_gone(path: Path) -> bool:
    """Whether a path leads to nothing. What cannot be looked at may be there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def _names_another(journal: str) -> bool:
    descriptor = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, len(_JOURNAL_MAGIC), max(0, size - len(_JOURNAL_MAGIC)))
    finally:
        os.close(descriptor)
    return size > len(_JOURNAL_MAGIC) and end == _JOURNAL_MAGIC
