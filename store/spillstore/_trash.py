"""Deleting a session's folder: out of sight at once, off the disk when there is time."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from spillstore._database import translated

if TYPE_CHECKING:
    from pathlib import Path


def bury(folder: Path, trash: Path, uid: str) -> Path:
    """Rename a session's folder out of sight; atomic, and fine if somebody else did it already."""
    with translated(f"deleting {folder}"):
        trash.mkdir(mode=0o700, exist_ok=True)
        gone = trash / uid
        with contextlib.suppress(FileNotFoundError):
            folder.rename(gone)
        return gone


def remove_trash(gone: Path) -> None:
    """Unlink what was buried; another process may be doing the same."""
    shutil.rmtree(gone, ignore_errors=True)
