"""The test suite of Strands Agents with our storage in the place of its storage in memory. Run by hand, and by ``make adapters``.

    python tests/adapters/strands_suite.py [--keep FOLDER]

It fetches the source distribution of the version that is installed, and runs its tests of storages, of the offloader, and of what
else stores, each with ``SpillStorage`` wherever the test says ``InMemoryStorage``. Tests that look into that class, or are about it
alone, are named in ``strands_in_spillstore`` with the reason, and must fail; all others must pass.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILES = (
    "tests/strands/storage/test_in_memory_storage.py",
    "tests/strands/storage/test_storage.py",
    "tests/strands/storage/search/test_keyword.py",
    "tests/strands/vended_plugins/context_offloader/test_plugin.py",
    "tests/strands/vended_plugins/context_offloader/test_search.py",
    "tests/strands/agent/test_agent_storage.py",
    "tests/strands/_context_manager",
    "tests/strands/session/test_snapshot_session_manager.py",
)


def fetched(folder: Path) -> Path:
    """The folder of the sources."""
    name = f"strands-agents=={version('strands-agents')}"
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        ":all:",
        "--dest",
        str(folder),
    ]
    if not list(folder.glob("strands_agents-*.tar.gz")):
        subprocess.run([*command, name], check=True)
    (archive,) = folder.glob("strands_agents-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="a folder for the sources, which stay there")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sources = fetched((given.keep or Path(temporary)).resolve())
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "strands_in_spillstore",
            "--rootdir",
            str(sources),
        ]
        environment = {**os.environ, "PYTHONPATH": str(HERE)}
        return subprocess.run(
            [*command, *given.pytest, *FILES], cwd=sources, env=environment, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
