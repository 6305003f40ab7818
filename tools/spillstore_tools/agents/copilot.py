"""GitHub Copilot CLI: a hook after tools, in a file of its own. Its documentation was read; it was not run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place


def _targets(place: Place) -> tuple[Target, ...]:
    folder = place.folder("COPILOT_HOME", ".copilot", ".github")
    hook = {"type": "command", "bash": place.hook("copilot"), "timeoutSec": 30}
    content = json.dumps({"version": 1, "hooks": {"postToolUse": [hook]}}, indent=2) + "\n"
    return (Target(path=folder / "hooks" / "spillstore.json", language=None, content=content),)


AGENT = Agent(
    name="copilot", title="GitHub Copilot CLI", program="copilot", tested=None, cut=None, targets=_targets,
    notes=lambda _: ("Copilot calls hooks after successful tools alone: the output of a failed command stays as it cuts it",),
)  # fmt: skip
