"""Gemini CLI: a hook after tools, which sees the whole result before it is cut.

A hook before commands could run them in our shell. It is not used: Gemini's policies are asked about the changed command, so that
one that forbids `rm` let it pass (0.61.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place


def _targets(place: Place) -> tuple[Target, ...]:
    command = {"name": "spillstore", "type": "command", "command": place.hook("gemini"), "timeout": 30_000}
    edit = Edit(("hooks", "AfterTool"), {"matcher": ".*", "hooks": [command]}, element=True)
    folder = place.folder(None, ".gemini", ".gemini")
    return (Target(path=folder / "settings.json", language="json", edits=(edit,)),)


AGENT = Agent(
    name="gemini", title="Gemini CLI", program="gemini", tested="0.61.0", cut=40_000, targets=_targets,
)  # fmt: skip
