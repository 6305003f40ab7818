"""One viewer in a process of its own; prints what it measured as JSON."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import time
from typing import Any

from benchmarks import process

_JUMPS = 200
_SIZE = (120, 40)


def line(number: int) -> bytes:
    """A line of the log."""
    return (
        b"2026-11-23T10:00:00.000 INFO worker-%02d request %08d /api/v1/items/%d answered 200 in %3d ms, no retries\n"
        % (
            number % 16,
            number,
            number * 7919 % 1_000_003,
            number * 31 % 997,
        )
    )


async def _drive(session: Any, artifact: Any, lines: int, begin: float) -> dict[str, Any]:
    from spillstore_tools.cli.commands.view import list_options
    from spillstore_tools.viewer.terminal.app import Viewer
    from spillstore_tools.viewer.terminal.log_view import LogView

    app = Viewer(list_options, session=session, artifact=artifact)
    drawn = random.Random(1)
    correct, times = True, []
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause()
        view = app.screen.query_one(LogView)
        first = view.render_line(0).text
        taken = time.process_time() - begin
        correct &= line(1).decode()[: _SIZE[0] - 20] in first
        for _ in range(_JUMPS):
            wanted = drawn.randrange(1, lines + 1)
            at = time.process_time()
            app.screen.go(app.screen.log_shown.row_of_line(wanted))
            await pilot.pause()
            times.append(time.process_time() - at)
            text = view.render_line(view.cursor - int(view.scroll_offset.y)).text
            correct &= line(wanted).decode().rstrip()[: _SIZE[0] - 20] in text
    return {
        "first": taken,
        "jump": statistics.median(times),
        "slowest": max(times),
        "jumps": _JUMPS,
        "correct": bool(correct),
    }


def main(root: str, session_id: str, artifact_id: str, lines: str) -> None:
    """Measure and print."""
    before = time.process_time()
    import spillstore_tools.viewer.terminal.app  # noqa: F401  # what is measured
    from spillstore import Store

    imported = time.process_time()
    with Store(root).session(session_id, read_only=True) as session:
        artifact = session.artifact(artifact_id)
        found = asyncio.run(_drive(session, artifact, int(lines), imported))
        found |= {"import": imported - before, "size": artifact.info.size}
    found["memory"] = process.peak_bytes() / 1e6
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
