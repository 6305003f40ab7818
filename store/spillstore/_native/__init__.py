"""The native functions: a shared library of C that is built with the package, and None where there is none."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

__all__ = ["LIBRARY", "library", "path"]

LIBRARY = "scan.so"


def path() -> Path | None:
    """Where the library is; None where it was not built, or where ``SPILLSTORE_NATIVE`` is ``0``."""
    file = Path(__file__).with_name(LIBRARY)
    return file if os.environ.get("SPILLSTORE_NATIVE") != "0" and file.exists() else None


def library() -> ctypes.CDLL | None:
    """The library, loaded; None where there is none that this machine can load."""
    file = path()
    if file is None:
        return None
    try:
        return ctypes.CDLL(str(file))
    except OSError:  # built for another platform
        return None
