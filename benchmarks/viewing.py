"""The viewer in a terminal on one log: its first screen, jumps, and memory, each in a process of its own.

The figures are processor time, since a screen that waits for the machine tells nothing of the viewer. The rows on the screen are compared
with the content after each jump.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.row import Row
from benchmarks.viewing_worker import line
from benchmarks.workspace import SESSION
from spillstore import Store

if TYPE_CHECKING:
    from benchmarks.workspace import Workspace

_LINES = 10_000_000
_QUICK = 500_000
_BLOCK = 20_000
_FIRST_MS, _JUMP_MS, _MEMORY_MB = 300, 100, 80


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    lines = _QUICK if space.quick else _LINES
    root = space.fresh("viewing")
    with (
        Store(root, redact=False).session(SESSION) as session,
        session.create(source="log", newline="lf", limit=1 << 40) as writer,
    ):
        for first in range(1, lines + 1, _BLOCK):
            writer.write(b"".join(map(line, range(first, min(first + _BLOCK, lines + 1)))))
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.viewing_worker", str(root), SESSION, writer.id, str(lines)],
        check=True,
        capture_output=True,
    )
    found = json.loads(answer.stdout)
    what = f"{lines:,} lines, {found['size'] / 2**20:,.0f} MiB"
    correct = found["correct"]
    return [
        Row(
            what=f"view, first screen after the import: {what}",
            ours=found["first"],
            unit="s",
            limit=_FIRST_MS / 1000,
            of_ratio=False,
            correct=correct,
            extra={"import": found["import"]},
        ),
        Row(
            what=f"view, a jump to any line, median: {what}",
            ours=found["jump"],
            unit="s",
            limit=_JUMP_MS / 1000,
            of_ratio=False,
            correct=correct,
            extra={"slowest": found["slowest"], "jumps": found["jumps"]},
        ),
        Row(
            what=f"view, most memory of the process: {what}",
            ours=found["memory"],
            unit="MB",
            limit=_MEMORY_MB,
            of_ratio=False,
            correct=correct,
        ),
    ]
