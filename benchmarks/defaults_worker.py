"""One file on its way into a store, in an interpreter of its own: ``python -m benchmarks.defaults_worker HOW SOURCE ROOT``.

``HOW``: ``writer`` writes it with the default settings, ``plain`` without redaction, ``idle`` opens a session alone,
``redactor`` stores nothing and filters; prints JSON. ``command ARGUMENTS`` is the command line ``spillstore ARGUMENTS``; prints the most memory that it had in a line at the end.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

from blake3 import blake3

from benchmarks import process
from benchmarks.data import digest_of, read_blocks
from benchmarks.workspace import SESSION
from spillstore import Store
from spillstore.redaction import Redactor


def work(how: str, source: str, root: str) -> dict[str, Any]:
    """Store a file, report the cost, then read it back."""
    if how == "redactor":
        return redacted(source)
    store = Store(root, free_disk_floor=0, **({"redact": False} if how == "plain" else {}))
    session = store.session(SESSION)
    if how == "idle":
        session.close()
        return {"peak": process.peak_bytes()}
    wall, cpu = time.perf_counter(), process.cpu_seconds()
    with session.create(source="benchmark") as writer:
        for block in read_blocks(Path(source)):
            writer.write(block)
    session.close()
    report = {
        "wall": time.perf_counter() - wall,
        "cpu": process.cpu_seconds() - cpu,
        "peak": process.peak_bytes(),
    }
    with store.session(SESSION, read_only=True) as again:
        report["digest"] = digest_of(again.artifact(writer.id).chunks())
    return report


def redacted(source: str) -> dict[str, Any]:
    """Through the filter alone, in pieces as a pump takes them."""
    redactor, total = Redactor(), blake3()
    spent = {"wall": 0.0, "cpu": 0.0}
    for block in itertools.chain(read_blocks(Path(source)), [None]):
        wall, cpu = time.perf_counter(), process.cpu_seconds()
        text = redactor.finish() if block is None else redactor.feed(block)
        spent["wall"] += time.perf_counter() - wall
        spent["cpu"] += process.cpu_seconds() - cpu
        total.update(text)
    return {**spent, "peak": process.peak_bytes(), "digest": total.hexdigest()}


def command(arguments: list[str]) -> None:
    """Run the command line, and print its peak of memory behind what it prints."""
    from spillstore_tools.cli import main  # as late as the command itself would

    with contextlib.suppress(SystemExit):
        main(arguments)  # else the process would end there
    print(f"\n{process.peak_bytes()}")


if __name__ == "__main__":
    if sys.argv[1] == "command":
        command(sys.argv[2:])
    else:
        print(json.dumps(work(*sys.argv[1:4])))
