"""Claude Code: commands by its shell prefix, results of MCP servers by a hook.

A hook that rewrites a command before it runs is not used: the rules of permission would see the rewritten command. The prefix
is put before the command after they have decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents.base import READING, Agent, Target
from spillstore_tools.agents.edit import Edit

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Place

MATCHER = "mcp__.*"


def _targets(place: Place) -> tuple[Target, ...]:
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude", ".claude")
    # Absolute paths are one machine's own: a project's are in the file that is not shared.
    name = "settings.local.json" if place.scope == "project" else "settings.json"
    hook = {
        "matcher": MATCHER,
        "hooks": [{"type": "command", "command": place.hook("claude-code"), "timeout": 30}],
    }
    edits = (
        Edit(("env", "CLAUDE_CODE_SHELL_PREFIX"), place.shell),
        Edit(("hooks", "PostToolUse"), hook, element=True),
        *(
            Edit(("permissions", "allow"), f"Bash(spillstore {name}:*)", element=True)
            for name in reversed(READING)
        ),
    )
    return (Target(path=folder / name, language="json", edits=edits),)


def _refusal(place: Place) -> str | None:
    if " -" in place.shell:
        return f"Claude Code takes what follows ' -' in {place.shell!r} for arguments; install Spillstore in another folder"
    return None


AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    program="claude",
    tested="2.1.330",
    cut=30_000,
    targets=_targets,
    refusal=_refusal,
)
