"""Foreign exceptions made into ours. Each engine registers what its own library raises."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from spillstore.exceptions import DiskFullError, IntegrityError, ReadOnlyError, SpillstoreError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class NotStoredError(StorageError):
    """Nothing of a transaction was stored, for a reason that is gone when it is tried again."""


_translations: list[Callable[[Exception, str], SpillstoreError | None]] = []


def register(translation: Callable[[Exception, str], SpillstoreError | None]) -> None:
    """Add what makes an engine's exceptions into ours; it returns None for all others."""
    _translations.append(translation)


class translated:  # noqa: N801  # used as a function is; a generator takes four times as long
    """Turn foreign exceptions of what is done in a ``with`` block into ours.

    Raises:
        StorageError: or one of its kinds; ours pass as they are, and what is a mistake in the program stays what it is.
    """

    __slots__ = ("_doing",)

    def __init__(self, doing: str) -> None:
        """Say what is done in the block, as the message will."""
        self._doing = doing

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            raise_translated(error, self._doing)


def raise_translated(error: BaseException, doing: str) -> None:
    """Raise our exception for a foreign one; return where there is none, so that the caller raises what it has."""
    ours = translation(error, doing) if isinstance(error, Exception) else None
    if ours is not None:
        raise ours from error


def translation(error: Exception, doing: str) -> SpillstoreError | None:
    """Our exception for a foreign one; None for one of ours and for mistakes in the program."""
    if isinstance(error, SpillstoreError):
        return None
    if isinstance(error, OSError):
        return _of_system(error, doing)
    if isinstance(error, MemoryError):
        return StorageError(f"{doing} failed: there is not enough memory")
    for each in _translations:
        ours = each(error, doing)
        if ours is not None:
            return ours
    if isinstance(error, UnicodeDecodeError):  # how a damaged text shows
        return IntegrityError(f"{doing} failed: the session's database is damaged ({error})")
    return None


def storing_failed(error: BaseException) -> SpillstoreError:
    """What a writer raises for an error that ended its artifact: ours as it is, or one that says what is kept."""
    if isinstance(error, SpillstoreError):
        return error
    return StorageError(
        f"storing failed: {error!r}; what was committed before is kept and can be read, what came after is lost: store it "
        "again as a new artifact"
    )


def may_be_full(error: StorageError) -> bool:
    """Whether an error may come from a disk that takes no more: engines and the system call that by many names."""
    return isinstance(error, DiskFullError) or type(error) is StorageError


def _of_system(error: OSError, doing: str) -> StorageError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiskFullError(
            f"{doing} failed: {error}; free some space, or delete whole sessions with `spillstore clean`, which needs none"
        )
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return ReadOnlyError(
            f"{doing} failed: {error}; let this user write there, or name another store: what is only read is opened with "
            "read_only=True"
        )
    return StorageError(f"{doing} failed: {error}")
