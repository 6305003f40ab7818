"""Builds the native functions with the package; without a compiler the package works too, only slower.

The machine's own compiler is used where there is one (``CC``, else ``cc``, ``gcc`` or ``clang``). Where there is none, the
wheel ``ziglang``, which holds one, is asked for, on platforms that have it. If nothing works, the package is built without the
library, and its Python does the same work. A wheel with the library is for any Python 3 of one platform, since the library
is loaded by ``ctypes`` and knows nothing of Python.

``SPILLSTORE_TARGET`` names another platform, one of ``TARGETS``: ``ziglang`` compiles for it, the wheel is tagged for it, and a
failure ends the build. ``make wheels`` builds the wheels of all of them on one machine.
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
import tempfile
import uuid
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("store/spillstore/_native")
ZIG_PLATFORMS = {("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "x86_64"), ("darwin", "arm64")}
# What can be built for: the compiler's name, with the oldest C library or system that it is to run on, and the wheel's tag.
TARGETS = {
    "x86_64-linux-gnu": ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "aarch64-linux-gnu": ("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "x86_64-linux-musl": ("x86_64-linux-musl", "musllinux_1_1_x86_64"),
    "aarch64-linux-musl": ("aarch64-linux-musl", "musllinux_1_1_aarch64"),
    "x86_64-macos": ("x86_64-macos.11.0", "macosx_11_0_x86_64"),
    "aarch64-macos": ("aarch64-macos.11.0", "macosx_11_0_arm64"),
}
FLAGS = ("-O3", "-g0", "-std=c11", "-shared", "-fPIC")
# The functions of all files optimized as one, which saves a twentieth of the scanner's time: on all processors if the
# compiler can, and not at all where its linker cannot.
TOGETHER = (
    ("-flto=auto", "-fno-semantic-interposition"),
    ("-flto", "-fno-semantic-interposition"),
)


def own_compiler() -> list[str]:
    """The command of the machine's compiler, or nothing."""
    named = shlex.split(os.environ.get("CC", ""))
    if named:
        return named if shutil.which(named[0]) else []
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    return [found] if found else []


def compiler(target: str = "") -> list[str]:
    """The command of a compiler, or nothing; for another platform if a target is named."""
    if target:
        return [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[target][0]]
    if importlib.util.find_spec("ziglang") is not None and not own_compiler():
        return [sys.executable, "-m", "ziglang", "cc"]
    return own_compiler()


def build(folder: Path, into: Path | None = None, target: str = "") -> str:
    """Compile the sources, into their own folder or another one; returns what went wrong, or nothing."""
    command = compiler(target)
    if not command:
        named = os.environ.get("CC")
        missing = (
            f"{named!r}, the compiler that CC names, is not there" if named else "there is no C compiler"
        )
        return f"{missing}; install one, such as gcc or clang, or name one in CC"
    into = folder if into is None else into
    made = into / f"scan.{uuid.uuid4().hex}.tmp"  # process ids are not unique across containers
    arguments = ["-o", str(made), *map(str, sorted(folder.glob("*.c")))]
    try:
        for together in TOGETHER:
            with contextlib.suppress(subprocess.CalledProcessError):
                _run([*command, *FLAGS, *together, *arguments])
                break
        else:
            _run([*command, *FLAGS, *arguments])
        return _put_in_place(made, into / "scan.so")
    except subprocess.CalledProcessError as error:
        return f"{shlex.join(command)} failed: {error.stderr.strip()[-500:]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{shlex.join(command)} cannot be run: {error}"
    finally:
        made.unlink(missing_ok=True)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)


def _put_in_place(made: Path, library: Path) -> str:
    """Let a library take the place of the one before; returns what went wrong, or nothing."""
    try:
        made.replace(library)  # a process that has the old one loaded keeps it
    except OSError as error:
        return f"{library} was compiled, but cannot be put in its place: {error}"
    return ""


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel, and for an installation in place."""

    def dependencies(self) -> list[str]:
        """What the build needs besides: a compiler, where the machine has none and the index has one."""
        known = (sys.platform, platform.machine()) in ZIG_PLATFORMS
        needed = bool(self._target()) or (known and not own_compiler())
        return ["ziglang>=0.13"] if needed else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and mark the wheel as one of its platform if that worked."""
        if self.target_name != "wheel":
            return
        if target := self._target():
            self._for_another(target, build_data)
            return
        problem = build(Path(self.root, FOLDER))
        if problem:
            with contextlib.suppress(OSError):  # a folder that is only read; its library may still fit
                Path(self.root, FOLDER, "scan.so").unlink(missing_ok=True)
            self.app.display_warning(
                "spillstore is built without its native functions. It works and gives the same answers, but redaction, "
                f"search and previews are slower. The reason: {problem}. When that is mended, install it again."
            )
            return
        if version == "standard":
            name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{name}"
            build_data["artifacts"].append(f"/{FOLDER}/scan.so")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  # hatchling's
        """Remove what was compiled for another platform: it is in the wheel."""
        if self._made is not None:
            self._made.cleanup()

    _made: tempfile.TemporaryDirectory[str] | None = None

    def _target(self) -> str:
        """The platform to build for; nothing for this one."""
        target = os.environ.get("SPILLSTORE_TARGET", "")
        if target and target not in TARGETS:
            raise ValueError(f"SPILLSTORE_TARGET is {target!r}, and must be one of {', '.join(TARGETS)}")
        return target

    def _for_another(self, target: str, build_data: dict[str, Any]) -> None:
        """Compile into a folder of its own, so that this machine's library stays where it is."""
        self._made = tempfile.TemporaryDirectory()
        if problem := build(Path(self.root, FOLDER), Path(self._made.name), target):
            self._made.cleanup()
            raise RuntimeError(f"the native scanner cannot be built for {target}: {problem}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TARGETS[target][1]}"
        build_data["force_include"][str(Path(self._made.name, "scan.so"))] = "spillstore/_native/scan.so"
