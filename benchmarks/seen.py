"""What the models of agents saw of one failing command, with and without Spillstore: ``seen.json``, and its table on two pages.

``make agents NOTE=1`` runs the real agents (``tests/agents``) and writes the file; ``python -m benchmarks.pages`` writes the table into
``README.md`` and ``docs/agents/index.md``. Characters are those of the tool's result in the agent's next request to its model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "seen.json"
BEGIN = "<!-- What models saw: written by python -m benchmarks.pages, compared by a test. -->"
END = "<!-- End of what models saw. -->"
NAMES = {"claude-code": "Claude Code", "codex": "Codex", "opencode": "opencode", "gemini": "Gemini CLI"}


class Seen(NamedTuple):
    """What one agent's model saw of the command: characters, and whether the error was among them."""

    version: str
    date: str
    without: int
    without_error: bool
    with_spillstore: int
    with_error: bool


def read() -> dict[str, Seen]:
    """What was measured, by the agent's name."""
    return {name: Seen(**each) for name, each in json.loads(FILE.read_text(encoding="utf-8")).items()}


def note(name: str, seen: Seen) -> None:
    """Keep what was measured of one agent."""
    known = read() if FILE.exists() else {}
    known[name] = seen
    ordered = {each: known[each]._asdict() for each in NAMES if each in known}
    FILE.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


def table(found: dict[str, Seen]) -> str:
    """The table, between its marks."""
    lines = ["| agent | by itself | characters | with Spillstore | characters |", "|---|---|---|---|---|"]
    for name, seen in found.items():
        lines.append(
            f"| {NAMES[name]} {seen.version} | {_told(seen.without_error)} | {seen.without:,} "
            f"| **{_told(seen.with_error)}** | {seen.with_spillstore:,} |"
        )
    return "\n".join([BEGIN, "", *lines, "", END])


def written(page: str, found: dict[str, Seen]) -> str:
    """A page with the table of today."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + table(found) + after


def _told(shown: bool) -> str:  # noqa: FBT001  # a cell
    return "error shown" if shown else "error not shown"
