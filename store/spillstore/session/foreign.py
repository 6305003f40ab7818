"""Reads a session that is in no store of ours, out of its file alone."""

from __future__ import annotations

import os
from pathlib import Path

from spillstore.engine.errors import translated
from spillstore.engine.registry import is_url, open_file
from spillstore.exceptions import SessionNotFoundError, UsageError
from spillstore.format.digest_key import load_key
from spillstore.ingest.session_core import SessionCore
from spillstore.ingest.session_pool import release
from spillstore.model.clock import SystemClock
from spillstore.session import Session
from spillstore.settings import Settings


def open_foreign(path: str | os.PathLike[str], digest_key: bytes | str | os.PathLike[str] | None) -> Session:
    """See ``Store.open_file``."""
    if is_url(os.fspath(path)):
        raise UsageError("a URL names a store on a server, and no file; Store(URL) opens it")
    file = Path(os.path.abspath(path))  # noqa: PTH100  # a link in it leads on as it is
    with translated(f"opening {file}"):
        if not file.is_file():
            raise SessionNotFoundError(f"there is no file {file}")
    settings = Settings.load()
    key = load_key(digest_key, settings.digest_key_file)
    core = SessionCore(open_file(file, settings), settings, SystemClock(), foreign=True, key=key)
    core.users = 1
    return Session(core, release)
