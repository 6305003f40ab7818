"""Codex: its MCP server, a root that its sandbox may write, and, if wanted, a hook before commands.

Codex has no shell setting, and what its hooks see after a command is already cut. So a command can only be kept if it is
rewritten before it runs, and then Codex's own rules see the rewritten one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import Agent, Target
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place


def _targets(place: Place) -> tuple[Target, ...]:
    folder = place.folder("CODEX_HOME", ".codex", ".codex")
    edits = []
    if place.root is not None:
        edits.append(Edit(("sandbox_workspace_write", "writable_roots"), place.root, element=True))
    edits.append(Edit(("mcp_servers", "spillstore"), {"command": place.program, "args": ["mcp"]}))
    found = [Target(path=folder / "config.toml", language="toml", edits=tuple(edits))]
    if place.rewrites:
        hook = {
            "matcher": "^Bash$",
            "hooks": [{"type": "command", "command": place.hook("codex"), "timeout": 30}],
        }
        edit = Edit(("hooks", "PreToolUse"), hook, element=True)
        found.append(Target(path=folder / "hooks.json", language="json", edits=(edit,)))
    return tuple(found)


def _notes(place: Place) -> tuple[str, ...]:
    if place.rewrites:
        return (
            (
                "Codex's rules for commands (execpolicy) now see `spillstore-sh -c ...` instead of the command: "
                "a rule that forbids a command by its name no longer does"
            ),
            "trust the hook once with /hooks in Codex",
        )
    return (
        (
            "commands are not kept: Codex has no shell setting, so they would have to be rewritten before they run, and Codex's rules "
            "for commands would see `spillstore-sh` instead; --i-know does it all the same"
        ),
    )


AGENT = Agent(
    name="codex", title="Codex", program="codex", tested="0.169.0", cut=10_000, targets=_targets, notes=_notes,
)  # fmt: skip
