"""Chooses the engine of a store by the store's name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore.exceptions import UnsupportedError, UsageError

if TYPE_CHECKING:
    from spillstore.engine.base import Backend, SessionBackend
    from spillstore.model.clock import Clock
    from spillstore.settings import Settings

MEMORY = "memory:"  # a folder in a file system in memory
DICTIONARIES = "dict:"  # for tests: ``dict:NAME`` is one store a name and process


def open_backend(
    named: str | os.PathLike[str], settings: Settings, key: bytes | None, clock: Clock
) -> tuple[Backend, Settings]:
    """The engine of a store, and the settings that it works with.

    Args:
        named: a folder, ``memory:`` or ``dict:NAME``.
        settings: what is in force.
        key: the store's digest key, or None.
        clock: where to read the time.

    Raises:
        UsageError: a database URL (servers are not supported yet).
        UnsupportedError: this engine does not work here.
    """
    if isinstance(named, str) and "://" in named:
        raise UsageError(f"{named!r} is a database URL; this version stores sessions in a folder")
    text = os.fspath(named)
    if text.startswith(DICTIONARIES):
        from spillstore.engine.memory.backend import backend_named  # noqa: PLC0415  # for tests

        return backend_named(text, clock), settings
    if os.name != "posix":
        raise UnsupportedError(
            f"Spillstore needs POSIX file locks; {os.name!r} has none (Linux and macOS do)"
        )
    from spillstore.engine.sqlite.backend import FolderBackend  # noqa: PLC0415  # the others do without

    if text == MEMORY:
        from spillstore.engine.sqlite import tmpfs_root  # noqa: PLC0415  # few need it

        named, share = tmpfs_root.memory_root()
        settings = tmpfs_root.memory_settings(settings, share)
    root = Path(os.path.abspath(named))  # noqa: PTH100  # no link is followed
    return FolderBackend(root, settings, key, clock), settings


def open_file(file: Path, settings: Settings) -> SessionBackend:
    """A session's file that somebody sent, for reading alone; nothing beside it is made."""
    from spillstore.engine.sqlite.session_file import SessionFile  # noqa: PLC0415  # as above

    immutable = not file.with_name(f"{file.name}-wal").exists()
    return SessionFile(file, settings, read_only=True, immutable=immutable, foreign=True)
