"""What real tools print, from tools that every machine with Python has, over Python's own standard library.

``dis``, ``tokenize``, ``ast``, ``compileall -f`` and ``python -v`` print disassembly, tables, trees, file lists and
import traces. A pool of their output is made once; then its files are repeated in a new order each time under a prompt
line, which no compressor can see through, because the same file comes back only megabytes later.
"""

from __future__ import annotations

import random
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_POOL_BYTES = 96 * 1024 * 1024
_TOOLS = (("dis",), ("tokenize",), ("ast",))


def _run(arguments: list[str]) -> bytes:
    return subprocess.run(
        [sys.executable, *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout


def _whole_library(library: Path) -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as prefix:
        command = ["-X", f"pycache_prefix={prefix}", "-m", "compileall", "-f", str(library / "json")]
        yield "compileall json", _run(command)
    imports = "import asyncio, concurrent.futures, email, http.client, logging.config, unittest, xml.dom"
    yield "python -v", _run(["-v", "-c", imports])


def pool(limit: int) -> Iterator[tuple[str, bytes]]:
    """Commands and what they printed, up to about ``limit`` bytes."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = sorted(library.glob("*.py")) + sorted((library / "asyncio").glob("*.py"))
    random.Random(7).shuffle(sources)
    size = 0
    for number, (name, output) in enumerate(_whole_library(library)):
        size += len(output)
        yield f"{number} {name}", output
    for number, source in enumerate(sources):
        tool = _TOOLS[number % len(_TOOLS)]
        output = _run(["-m", *tool, str(source)])
        size += len(output)
        yield f"python -m {tool[0]} {source.name}", output
        if size >= limit:
            return


def blocks(limit: int = _POOL_BYTES) -> Iterator[bytes]:
    """Prompts and outputs without end."""
    outputs = list(pool(limit))
    rng = random.Random(11)
    run = 0
    while True:
        run += 1
        rng.shuffle(outputs)
        for name, output in outputs:
            yield f"$ {name}  # run {run}, job {rng.getrandbits(32):08x}\n".encode()
            yield output
