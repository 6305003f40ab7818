"""``python -m benchmarks [--quick] [NAME ...]``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks import (
    audit,
    bash,
    cold,
    concurrency,
    defaults,
    detection,
    growth,
    ingest,
    previews,
    reads,
    redaction,
    redaction_quality,
    report,
    retrieval,
    server,
    sessions,
    size,
    small,
    stages,
    truncation,
    viewing,
)
from benchmarks.data import FOLDER
from benchmarks.pages import RESULTS
from benchmarks.peers import measure as peers
from benchmarks.workspace import Workspace

_ALL = {
    "ingest": ingest.measure,
    "defaults": defaults.measure,
    "stages": stages.measure,
    "size": size.measure,
    "reads": reads.measure,
    "small": small.measure,
    "cold": cold.measure,
    "sessions": sessions.measure,
    "concurrency": concurrency.measure,
    "truncation": truncation.measure,
    "previews": previews.measure,
    "bash": bash.measure,
    "retrieval": retrieval.measure,
    "redaction": redaction.measure,
    "detection": detection.measure,
    "redaction_quality": redaction_quality.measure,
    "audit": audit.measure,
    "peers": peers.measure,
    "growth": growth.measure,
    "server": server.measure,
    "viewing": viewing.measure,
}


def main() -> int:
    """Run, print, keep. The exit code is 1 if any answer was wrong; a missed target is for people to judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, few rounds; results go to .data/quick"
    )
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where the results go instead")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join(_ALL)}; all but growth by default"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(_ALL):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(_ALL)}")
    correct = True
    with Workspace(quick=options.quick) as space:
        for name in options.names or [name for name in _ALL if name != "growth"]:
            begin = time.monotonic()
            rows = _ALL[name](space)
            print(f"\n## {name} ({time.monotonic() - begin:.0f} s)\n\n{report.table(rows)}", flush=True)
            command = f"python -m benchmarks {'--quick ' if options.quick else ''}{name}"
            if not rows:
                continue
            report.save(
                options.results or (FOLDER / "quick" if options.quick else RESULTS), name, command, rows
            )
            correct &= all(row.correct for row in rows)
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
