"""Cursor: our MCP server. Its hooks cannot replace a command's output. Its documentation was read; it was not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place


def _targets(place: Place) -> tuple[Target, ...]:
    server = {"command": place.program, "args": ["mcp"]}
    edits = (Edit(("mcpServers", "spillstore"), server),)
    return (Target(path=place.folder(None, ".cursor", ".cursor") / "mcp.json", language="json", edits=edits),)


AGENT = Agent(
    name="cursor", title="Cursor", program="cursor-agent", tested=None, cut=None, targets=_targets,
    notes=lambda _: ("Cursor's hooks cannot replace the output of a command: the MCP server's own `bash` keeps what it runs",),
)  # fmt: skip
