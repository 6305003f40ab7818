"""Chooses the engine of a store by the store's name."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore.exceptions import UnsupportedError, UsageError
from spillstore.runtime import lazy_patterns as re

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Literal

    from spillstore.engine.base import Backend, DamagedRows, SessionBackend
    from spillstore.model.clock import Clock
    from spillstore.settings import Settings

MEMORY = "memory:"  # a folder in a file system in memory
DICTIONARIES = "dict:"  # for tests: ``dict:NAME`` is one store a name and process
_MANGLED = re.compile(r"postgres(ql)?(\+\w+)?:/")


def open_backend(
    named: str | os.PathLike[str], settings: Settings, key: bytes | None, clock: Clock
) -> tuple[Backend, Settings]:
    """The engine of a store, and the settings that it works with.

    Args:
        named: a folder, ``memory:``, ``dict:NAME`` or the URL of a server.
        settings: what is in force.
        key: the store's digest key, or None.
        clock: where to read the time.

    Raises:
        UsageError: a URL that cannot be read, or of another database; what is no path.
        UnsupportedError: this engine does not work here.
    """
    text = _text(named)
    if is_url(text):
        return _server(text, settings, key, clock), settings
    if text.startswith(MEMORY) and text != MEMORY:
        raise UsageError(
            f"{text!r} is no store: {MEMORY!r} takes no name; for a folder of that name, ./{text}"
        )
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
    return FolderBackend(Path(_folder(named)), settings, key, clock), settings


def _text(named: object) -> str:
    text = os.fspath(named) if isinstance(named, os.PathLike) else named
    if not isinstance(text, str) or not text or "\0" in text:
        raise UsageError(
            f"a store is named by a path or a URL, not {text!r}; for example Store('outputs'), or Store() for the default one"
        )
    return text


def _folder(named: str | os.PathLike[str]) -> str:
    """The absolute path of a folder; no link is followed.

    A text may begin with ``~``, as for a shell: those of variables and of the configurations of agents never met one, and a
    folder ``~`` in the working directory is what nobody means. A ``Path`` is taken as it is, as everywhere in Python.
    """
    return os.path.abspath(os.path.expanduser(named) if isinstance(named, str) else named)  # noqa: PTH100, PTH111


def _server(url: str, settings: Settings, key: bytes | None, clock: Clock) -> Backend:
    from spillstore.engine.postgres.address import parse  # noqa: PLC0415  # few have a server

    address = parse(url)
    backend: Backend = server_module("backend").ServerBackend(address, settings, key, clock)
    return backend


def server_module(name: Literal["backend", "granting", "upgrading"]) -> ModuleType:
    """A module of the engine of servers.

    Raises:
        UnsupportedError: psycopg is missing.
    """
    try:
        return importlib.import_module(f"spillstore.engine.postgres.{name}")
    except ImportError as error:
        raise UnsupportedError(
            f"a store on a server needs psycopg, which cannot be imported ({error}); pip install 'spillstore[postgres]'"
        ) from error


def is_url(named: str) -> bool:
    """Whether a text is meant as a URL and not as a path, also where ``Path`` has made one slash of two."""
    return "://" in named or _MANGLED.match(named) is not None


def address_of(named: str | os.PathLike[str]) -> str:
    """What names a store to another process; see ``Store.address``.

    Raises:
        UsageError: a URL that cannot be read; what is no path.
    """
    text = _text(named)
    if is_url(text):
        from spillstore.engine.postgres.address import parse  # noqa: PLC0415  # as above

        return parse(text).without_credentials
    return text if text == MEMORY or text.startswith(DICTIONARIES) else _folder(named)


def open_file(file: Path, settings: Settings) -> SessionBackend:
    """A session's file that somebody sent, for reading alone; nothing beside it is made."""
    from spillstore.engine.sqlite.path_safety import is_gone  # noqa: PLC0415  # as above
    from spillstore.engine.sqlite.session_file import SessionFile  # noqa: PLC0415  # as above

    immutable = is_gone(file.with_name(f"{file.name}-wal"))
    return SessionFile(file, settings, read_only=True, immutable=immutable, foreign=True)


def damaged_file(file: Path) -> AbstractContextManager[DamagedRows]:
    """What is left in a session's file that cannot be read as it is, wherever it lies."""
    from spillstore.engine.sqlite.damaged_file import damaged  # noqa: PLC0415  # as above

    return damaged(file)
