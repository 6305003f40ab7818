"""The peer of ingest and size: one zstd stream at level 1 on one thread, as a command of its own.

The ``zstd`` command where it is installed, else the same through the zstandard library: ``python -m benchmarks.stream
SOURCE TARGET``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import zstandard

from benchmarks.data import MIB, digest_of

_TOOL = shutil.which("zstd")


def version() -> str:
    """Which of the two, and its version."""
    if _TOOL is None:
        return f"zstandard library {zstandard.__version__}, stream, level 1"
    text = subprocess.run([_TOOL, "--version"], check=True, capture_output=True, text=True).stdout
    return "zstd -1 -T1, " + next((word for word in text.replace(",", " ").split() if word[:2] == "v1"), "?")


def command(source: Path, target: Path) -> list[str]:
    """The command that compresses ``source`` to ``target``."""
    if _TOOL is None:
        return [sys.executable, "-m", "benchmarks.stream", str(source), str(target)]
    return [_TOOL, "-1", "-T1", "-q", "-f", str(source), "-o", str(target)]


def read_back(path: Path) -> str:
    """The digest of what a stream holds."""
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        return digest_of(iter(lambda: reader.read(MIB), b""))


def main(source: str, target: str) -> None:
    """Compress one file."""
    engine = zstandard.ZstdCompressor(level=1)
    with open(source, "rb") as incoming, open(target, "wb") as outgoing:
        engine.copy_stream(incoming, outgoing, size=Path(source).stat().st_size, read_size=MIB)


if __name__ == "__main__":
    main(*sys.argv[1:])
