"""Gemini CLI: a hook before commands, and one after all other tools, which sees the whole result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place

COMMAND = "run_shell_command"


def _targets(place: Place) -> tuple[Target, ...]:
    def hook(matcher: str) -> dict[str, object]:
        command = {
            "name": "spillstore",
            "type": "command",
            "command": place.hook("gemini"),
            "timeout": 30_000,
        }
        return {"matcher": matcher, "hooks": [command]}

    edits = (
        Edit(("hooks", "AfterTool"), hook(f"^(?!{COMMAND}$).*"), element=True),
        Edit(("hooks", "BeforeTool"), hook(f"^{COMMAND}$"), element=True),
    )
    folder = place.folder(None, ".gemini", ".gemini")
    return (Target(path=folder / "settings.json", language="json", edits=edits),)


AGENT = Agent(
    name="gemini", title="Gemini CLI", program="gemini", tested="0.61.0", cut=40_000, targets=_targets,
)  # fmt: skip
