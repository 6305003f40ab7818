"""The tools that outputs are made with: those of the machine, and packages that are installed beside the data.

``python -m benchmarks.corpus tools`` installs them, in the versions of ``python.txt`` and ``package.json``. A case whose
commands are missing is skipped and named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.data import FOLDER

HERE = Path(__file__).parent
TOOLS = FOLDER / "corpus" / "tools"
NODE_MODULES = TOOLS / "node" / "node_modules"


def search_path() -> str:
    """Where commands are looked for."""
    own = [
        TOOLS / "python" / "bin",
        NODE_MODULES / ".bin",
        NODE_MODULES / "bats" / "bin",
        Path.home() / ".cargo" / "bin",
    ]
    servers = sorted(Path("/usr/lib/postgresql").glob("*/bin"))  # where Debian keeps what only servers need
    return os.pathsep.join([*map(str, own), os.environ.get("PATH", os.defpath), *map(str, servers)])


def install() -> None:
    """Install what the registries have; what fails is said by the registry's client."""
    python = TOOLS / "python"
    subprocess.run([sys.executable, "-m", "venv", str(python)], check=True)
    pip = [str(python / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", str(HERE / "python.txt")], check=True)
    node = TOOLS / "node"
    node.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", node)
    if shutil.which("npm") is None:
        print("npm is missing: no tools of Node")
        return
    subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=node, check=True)
