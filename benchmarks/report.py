"""What was measured, told: a table for people, and one small JSON file a measurement and day."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import os
import re
from typing import TYPE_CHECKING, Any

from benchmarks import machine
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HEAD = ("measurement", "ours", "peer", "ratio", "ratio of min", "target", "verdict", "correct")
_FILE = re.compile(r"\d{4}-\d\d-\d\d-(\w+)\.json")


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table that also reads well in a terminal."""
    cells = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        f"{row.ours:.4g} {row.unit}",
        "" if row.peer is None else f"{row.peer:.4g} {row.unit} ({row.peer_name})",
        "" if row.ratio is None else f"{row.ratio:.2f}",
        "" if row.ratio_min is None else f"{row.ratio_min:.2f}",
        row.target,
        row.verdict,
        "yes" if row.correct else "NO",
    )


def save(folder: Path, name: str, command: str, rows: Sequence[Row]) -> None:
    """Write one measurement's file."""
    folder.mkdir(parents=True, exist_ok=True)
    day = dt.datetime.now(dt.UTC).date().isoformat()
    content = {
        "benchmark": name,
        "date": day,
        "command": command,
        "machine": machine.describe(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "rows": [_rounded(dataclasses.asdict(row) | {"verdict": row.verdict}) for row in rows],
    }
    (folder / f"{day}-{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def _rounded(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in fields.items()}


def newest(folder: Path) -> dict[str, dict[str, Any]]:
    """The newest file of each measurement, by its name."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        if match := _FILE.fullmatch(path.name):
            found[match[1]] = json.loads(path.read_text())
    return found


def rows_of(content: dict[str, Any]) -> list[Row]:
    """The rows of a file."""
    fields = {field.name for field in dataclasses.fields(Row)}
    return [Row(**{key: value for key, value in row.items() if key in fields}) for row in content["rows"]]
