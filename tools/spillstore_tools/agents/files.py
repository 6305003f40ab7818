"""Files of others: read as they are, and replaced whole, with their mode and owner."""

from __future__ import annotations

import codecs
import contextlib
import dataclasses
import os
import secrets
import stat
from typing import TYPE_CHECKING

from spillstore_tools.agents.edit import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

_MARK = codecs.BOM_UTF8.decode()
_LARGEST = 16 * 1024 * 1024  # bytes; a configuration has some thousand


@dataclasses.dataclass(frozen=True)
class Content:
    """What a file holds.

    Attributes:
        path: the file itself, behind links.
        data: its bytes; None where there is no file.
    """

    path: Path
    data: bytes | None

    @property
    def text(self) -> str | None:
        """Its text without the mark of UTF-8 at its beginning.

        Raises:
            ConfigurationError: it is not UTF-8, with the place.
        """
        if self.data is None:
            return None
        try:
            return self.data.decode().removeprefix(_MARK)
        except UnicodeDecodeError as error:
            before = self.data[: error.start]
            line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
            raise ConfigurationError("this is not UTF-8", line, column) from None

    def encoded(self, text: str) -> bytes:
        """Another text for the same file: with the mark if the file has it."""
        mark = codecs.BOM_UTF8 if (self.data or b"").startswith(codecs.BOM_UTF8) else b""
        return mark + text.encode()


def read(path: Path) -> Content:
    """What a file holds; a link is followed.

    Raises:
        ConfigurationError: it is no regular file, or larger than any configuration.
        OSError: it cannot be read.
    """
    path = path.resolve()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Content(path, None)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ConfigurationError("this is no regular file")
        if status.st_size > _LARGEST:
            raise ConfigurationError(f"this file has more than {_LARGEST} bytes")
        return Content(path, opened.read())


def replace(content: Content, data: bytes) -> None:
    """Write a file anew: beside it, synced, then renamed over it. Mode and owner stay; folders are made as needed.

    Raises:
        ConfigurationError: somebody has changed it since it was read.
        OSError: it cannot be written; the file is as it was.
    """
    path = content.path
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    status = path.stat() if content.data is not None else None
    try:
        descriptor = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if status else 0o666
        )
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
            if status is not None:
                made = os.fstat(descriptor)
                if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
                    os.fchown(descriptor, status.st_uid, status.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            opened.flush()
            os.fsync(descriptor)
        _check_unchanged(content)
        beside.rename(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise
    _sync_folder(path.parent)


def remove(content: Content) -> None:
    """Remove a file.

    Raises:
        ConfigurationError: somebody has changed it since it was read.
        OSError: it cannot be removed.
    """
    _check_unchanged(content)
    content.path.unlink()
    _sync_folder(content.path.parent)


def missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for a file, the innermost first."""
    return [folder for folder in path.parents if not folder.exists()]


def _check_unchanged(content: Content) -> None:
    if read(content.path).data != content.data:
        raise ConfigurationError("somebody has changed this file just now; try again")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
