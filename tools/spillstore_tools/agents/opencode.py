"""opencode: commands by its setting `shell`, and a plugin that names the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target, first_existing
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from pathlib import Path

    from spillstore_tools.agents.base import Place

_PLUGIN = """\
// Written by `spillstore install opencode`; `spillstore uninstall opencode` removes it.
// Outputs of one conversation are kept in one session.
export const Spillstore = async () => ({
  "shell.env": async (input, output) => {
    if (input.sessionID) output.env.SPILLSTORE_SESSION = `opencode-${input.sessionID}`
  },
})
"""


def _folder(place: Place) -> Path:
    moved = place.environment.get("XDG_CONFIG_HOME")
    return (place.home / ".config" if not moved else place.home / moved) / "opencode"


def _targets(place: Place) -> tuple[Target, ...]:
    if place.scope == "project":
        settings, plugins = place.project, place.project / ".opencode"
    else:
        settings = plugins = _folder(place)
    return (
        Target(
            path=first_existing(settings, "opencode.json", "opencode.jsonc"),
            language="json",
            edits=(Edit(("shell",), place.shell),),
        ),
        Target(path=plugins / "plugins" / "spillstore.js", language=None, content=_PLUGIN),
    )


AGENT = Agent(
    name="opencode", title="opencode", program="opencode", tested="1.18.33", cut=50_000, targets=_targets,
)  # fmt: skip
