"""One session opened in a fresh interpreter: ``python -m benchmarks.growth_worker ROOT SESSION``; prints its peak of memory as JSON."""

from __future__ import annotations

import json
import sys

from benchmarks import process
from benchmarks.growth import SETTINGS
from spillstore import Store


def look(root: str, name: str) -> dict[str, object]:
    """Open, list, read, search and create once."""
    with Store(root, **SETTINGS).session(name) as session:
        (info,) = session.infos(limit=1)
        artifact = session.artifact(info.id)
        middle = info.lines // 2
        lines = artifact.read_lines(middle, middle + 9)
        found = artifact.search("status=", limit=50)
        with session.create(source="benchmark") as writer:
            writer.write(lines)
        right = (
            lines.count(b"\n") == 10
            and len(found.matches) == 50
            and session.artifact(writer.id).read() == lines
        )
    return {"peak": process.peak_bytes(), "right": right}


if __name__ == "__main__":
    print(json.dumps(look(*sys.argv[1:3])))
