"""The native functions: a shared library of C that is built with the package, and None where there is none."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

__all__ = ["LIBRARY", "fits", "functions", "library", "path"]

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


def functions(
    function: str,
    version: int,
    first: type[Any],
    second: type[Any],
    **calls: tuple[Any, ...],
) -> ctypes.CDLL | None:
    """The library, for those who call the functions of one file of C; None where there is none, or where they are others.

    Args:
        function: as for ``fits``, like the three that follow.
        version: of the functions.
        first: a structure that they read, or another type of ctypes.
        second: likewise.
        calls: the functions, each with the type of its result and those of its arguments.
    """
    loaded = library()
    if loaded is None or not fits(loaded, function, version, first, second):
        return None
    for name, (result, *arguments) in calls.items():
        called = getattr(loaded, name)
        called.restype, called.argtypes = result, arguments
    return loaded


def fits(
    loaded: ctypes.CDLL,
    function: str,
    version: int,
    first: type[Any],
    second: type[Any],
) -> bool:
    """Whether functions of the library are those that are called here; a library of another version may have been left behind.

    Args:
        loaded: the library.
        function: says the version of the functions that stand beside it, in one file of C.
        version: of their arguments, and of what is in their tables.
        first: a structure that they read, or another type of ctypes, whose size must be the same, too.
        second: likewise.
    """
    try:
        says = getattr(loaded, function)
    except AttributeError:
        return False
    says.restype, says.argtypes = ctypes.c_uint64, []
    return bool(says() == version << 32 | ctypes.sizeof(first) << 8 | ctypes.sizeof(second))
