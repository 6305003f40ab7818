"""``spillstore uninstall``: take what was put into an agent's configuration out again."""

from __future__ import annotations

import click

from spillstore_tools.cli.support.agents import (
    agent_argument,
    dry_run_option,
    performed,
    place_for,
    scope_option,
)
from spillstore_tools.cli.support.output import json_option


@click.command("uninstall")
@agent_argument
@scope_option
@dry_run_option
@json_option
def command(agent: str, scope: str, *, dry_run: bool, as_json: bool) -> None:
    """Take Spillstore out of the configuration of AGENT. What is stored stays.

    The files are as they were before `spillstore install`, to the byte. Where somebody has changed them since, our entries
    go, and nothing else.

    \b
    Example:
      spillstore uninstall claude-code
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore_tools.agents import installation  # noqa: PLC0415  # not for --help
    from spillstore_tools.agents.registry import AGENTS  # noqa: PLC0415  # likewise

    found = AGENTS[agent]
    place = place_for(scope)
    performed(
        found, scope, lambda: installation.uninstall(found, place), [], dry_run=dry_run, as_json=as_json
    )
