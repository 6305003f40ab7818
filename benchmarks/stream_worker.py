"""One stream in an interpreter of its own: ``python -m benchmarks.stream_worker SOURCE ROOT store|PROFILE SIZE``; prints JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks import process
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore_tools.output.spill import Spill
from spillstore_tools.profiles import profile

_PIECE = 256 * 1024


def stream(source: str, root: str, how: str, size: int) -> dict[str, Any]:
    """Write the first ``size`` bytes of a file, as a command would, and report the cost."""
    with Store(root, free_disk_floor=0, redact=False).session(SESSION) as session, open(source, "rb") as file:
        began = time.perf_counter()
        sink: Any = (
            session.create(source="benchmark")
            if how == "store"
            else Spill(lambda: session, profile(how), source="benchmark")
        )
        written = 0
        while written < size:
            data = file.read(min(_PIECE, size - written))
            written += len(data)
            sink.write(data)
        text = "" if how == "store" else sink.finish().text
        if how == "store":
            sink.close()
        wall = time.perf_counter() - began
        info = next(iter(session.infos()))
        right = info.size == size and info.state == "sealed" and (how == "store" or 0 < len(text) <= 8000)
    return {"wall": wall, "peak": process.peak_bytes(), "right": right}


if __name__ == "__main__":
    print(json.dumps(stream(*sys.argv[1:4], int(sys.argv[4]))))
