"""The agents that there are, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.agents import claude_code, codex, copilot, cursor, gemini, opencode, pi

if TYPE_CHECKING:
    from spillstore_tools.agents.base import Agent

AGENTS: dict[str, Agent] = {
    each.AGENT.name: each.AGENT for each in (claude_code, codex, opencode, gemini, copilot, cursor, pi)
}
