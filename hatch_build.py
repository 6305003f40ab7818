"""Builds the native functions with the package; without a compiler the package works too, only slower.

The machine's own compiler is used where there is one (``CC``, else ``cc``, ``gcc`` or ``clang``). Where there is none, the
wheel ``ziglang``, which holds one, is asked for, on platforms that have it. If nothing works, the package is built without the
library, and its Python does the same work. A wheel with the library is for any Python 3 of one platform, since the library
is loaded by ``ctypes`` and knows nothing of Python.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import uuid
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("store/spillstore/_native")
SOURCES = ("scan.c", "text.c", "lines.c")
ZIG_PLATFORMS = {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "x86_64"), ("darwin", "arm64")}


def own_compiler() -> list[str]:
    """The command of the machine's compiler, or nothing."""
    named = shlex.split(os.environ.get("CC", ""))
    if named:
        return named if shutil.which(named[0]) else []
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    return [found] if found else []


def compiler() -> list[str]:
    """The command of a compiler, or nothing."""
    if importlib.util.find_spec("ziglang") is not None and not own_compiler():
        return [sys.executable, "-m", "ziglang", "cc"]
    return own_compiler()


def build(folder: Path) -> str:
    """Compile the sources in their folder; returns what went wrong, or nothing."""
    command = compiler()
    if not command:
        return "there is no C compiler"
    target = folder / "scan.so"
    made = folder / f"scan.{uuid.uuid4().hex}.tmp"  # process ids are not unique across containers
    sources = [str(folder / name) for name in SOURCES]
    arguments = ["-O3", "-std=c11", "-shared", "-fPIC", "-o", str(made), *sources]
    try:
        subprocess.run([*command, *arguments], check=True, capture_output=True, text=True, timeout=300)
        made.replace(target)  # a process that has the old one loaded keeps it
    except subprocess.CalledProcessError as error:
        return f"{shlex.join(command)} failed: {error.stderr.strip()[-500:]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{shlex.join(command)} cannot be run: {error}"
    finally:
        made.unlink(missing_ok=True)
    return ""


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel, and for an installation in place."""

    def dependencies(self) -> list[str]:
        """What the build needs besides: a compiler, where the machine has none and the index has one."""
        known = (sys.platform, platform.machine()) in ZIG_PLATFORMS
        return [] if own_compiler() or not known else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and mark the wheel as one of this platform if that worked."""
        if self.target_name != "wheel":
            return
        problem = build(Path(self.root, FOLDER))
        if problem:
            with contextlib.suppress(OSError):  # a folder that is only read; its library may still fit
                Path(self.root, FOLDER, "scan.so").unlink(missing_ok=True)
            self.app.display_warning(f"spillstore is built without its native functions: {problem}")
            return
        if version == "standard":
            name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{name}"
            build_data["artifacts"].append(f"/{FOLDER}/scan.so")
