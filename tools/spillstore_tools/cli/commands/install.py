"""``spillstore install``: put what is needed into an agent's configuration."""

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


@click.command("install")
@agent_argument
@scope_option
@dry_run_option
@click.option(
    "--force",
    is_flag=True,
    help="Replace another value, or another file, where ours goes; uninstalling brings it back.",
)
@click.option(
    "--i-know",
    "rewrites",
    is_flag=True,
    help="Codex: rewrite commands before they run. Its rules for commands then see `spillstore-sh` instead of the command.",
)
@json_option
def command(agent: str, scope: str, *, dry_run: bool, force: bool, rewrites: bool, as_json: bool) -> None:
    """Put Spillstore into the configuration of AGENT: its commands and results are kept whole, and shown in part.

    Comments and all other entries stay. A file is replaced at once, or not at all; its old content is kept beside the
    notes for `spillstore uninstall`, which restores it to the byte. Twice is once.

    \b
    Example:
      spillstore install claude-code --dry-run
      spillstore install claude-code
      spillstore install opencode --scope project
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore_tools.agents import installation  # noqa: PLC0415  # not for --help
    from spillstore_tools.agents.place import is_temporary  # noqa: PLC0415  # likewise
    from spillstore_tools.agents.registry import AGENTS  # noqa: PLC0415  # likewise

    found = AGENTS[agent]
    place = place_for(scope, rewrites=rewrites)
    notes = list(found.notes(place))
    if is_temporary(place.program):
        notes.append(
            f"{place.program} is in a cache, which may be emptied: `uv tool install spillstore` or `pip install spillstore` "
            "first, then this again"
        )
    performed(
        found,
        scope,
        lambda: installation.install(found, place, force=force),
        notes,
        dry_run=dry_run,
        as_json=as_json,
    )
