"""The real agents, at pinned versions, from the npm registry: downloaded once, unpacked once, skipped where that is impossible."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

ON_LINUX = platform.system() == "Linux" and platform.machine() == "x86_64"
PATIENCE = 300


class Program(NamedTuple):
    """A package of the registry, and the file in it that is run."""

    package: str
    version: str
    path: str
    linux_only: bool = True


PROGRAMS = {
    "claude-code": Program("@anthropic-ai/claude-code-linux-x64", "2.1.330", "claude"),
    "codex": Program("@openai/codex", "0.169.0-linux-x64", "vendor/x86_64-unknown-linux-musl/bin/codex"),
    "opencode": Program("opencode-linux-x64", "1.18.33", "bin/opencode"),
    "gemini": Program("@google/gemini-cli", "0.61.0", "bundle/gemini.js", linux_only=False),
}


def cache() -> Path:
    """Where packages are kept: SPILLSTORE_TEST_AGENTS, else the user's cache."""
    named = os.environ.get("SPILLSTORE_TEST_AGENTS")
    return Path(named) if named else Path.home() / ".cache" / "spillstore-test-agents"


@functools.cache
def program(name) -> Path:
    """The executable of an agent; skips the test where there is none."""
    package, version, path, linux_only = PROGRAMS[name]
    if linux_only and not ON_LINUX:
        pytest.skip(f"{package} is for Linux on x86-64")
    folder = cache() / f"{name}-{version}"
    if not folder.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        folder.parent.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            ["npm", "pack", "--silent", f"{package}@{version}"],
            cwd=folder.parent, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        if packed.returncode:
            pytest.skip(f"npm cannot bring {package}@{version}: {packed.stderr.strip()[-200:]}")
        archive = folder.parent / packed.stdout.split()[-1]
        beside = folder.with_suffix(f".{os.getpid()}")
        beside.mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", beside], check=True)
        archive.unlink()
        beside.rename(folder)
    return folder / "package" / path


def node() -> str:
    """Node, for programs in JavaScript."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found
