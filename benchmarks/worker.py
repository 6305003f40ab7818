"""One ingest in an interpreter of its own, so that its memory and processor time are its own.

``python -m benchmarks.worker write SOURCE ROOT DURABILITY`` or ``... open ROOT``; prints JSON. Wall clock and processor
time begin in an open session, before ``create``, and end when the session is closed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks import process
from benchmarks.data import digest_of, read_blocks
from benchmarks.workspace import SESSION
from spillstore import Store


def write(source: str, root: str, durability: str) -> dict[str, object]:
    """Store a file, report the cost, then read it back."""
    store = Store(root, durability=durability, redact=False)
    session = store.session(SESSION)
    wall, cpu = time.perf_counter(), process.cpu_seconds()
    with session.create(source="benchmark") as writer:
        for block in read_blocks(Path(source)):
            writer.write(block)
    session.close()
    report: dict[str, object] = {
        "wall": time.perf_counter() - wall,
        "cpu": process.cpu_seconds() - cpu,
        "peak": process.peak_bytes(),
        "artifact": writer.id,
    }
    with store.session(SESSION, read_only=True) as again:
        artifact = again.artifact(writer.id)
        report["stored"] = artifact.info.stored_size
        report["digest"] = digest_of(artifact.chunks())
    report["file"] = next(Path(root).glob("*/*/session.db")).stat().st_size
    return report


def idle(root: str) -> dict[str, object]:
    """Import everything, open a session, write nothing."""
    with Store(root).session(SESSION):
        return {"peak": process.peak_bytes()}


if __name__ == "__main__":
    action = {"write": write, "open": idle}[sys.argv[1]]
    print(json.dumps(action(*sys.argv[2:])))
