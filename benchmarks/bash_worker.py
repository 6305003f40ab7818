"""One large command in an interpreter of its own: ``python -m benchmarks.bash_worker SOURCE ROOT HOW``; prints JSON.

``HOW``: ``store`` writes the file's bytes alone, ``capture`` drains ``cat`` into a writer, else a profile of ``bash``.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import process
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore_tools.agent.bash import bash_sync
from spillstore_tools.process.output_reader import Process

_PIECE = 256 * 1024


def work(source: str, root: str, how: str) -> dict[str, Any]:
    """Store a file's content, and report the cost."""
    size = Path(source).stat().st_size
    before = process.peak_bytes()
    with Store(root, free_disk_floor=0).session(SESSION) as session:
        began = time.perf_counter()
        if how in {"store", "capture"}:
            with session.create(source="benchmark") as writer:
                if how == "capture":
                    Process.start(["cat", source]).drain(writer)
                else:
                    with open(source, "rb", buffering=0) as file:
                        while data := file.read(_PIECE):
                            writer.write(data)
        else:
            bash_sync(session, command=f"cat {shlex.quote(source)}", timeout=10**9, profile=how)
        wall = time.perf_counter() - began
        info = next(iter(session.infos()))
        right = info.size == size and info.state == "sealed"
    return {"wall": wall, "peak": process.peak_bytes() - before, "right": right}


if __name__ == "__main__":
    print(json.dumps(work(*sys.argv[1:4])))
