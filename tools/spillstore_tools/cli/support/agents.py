"""What the commands about agents share: their argument and options, and how changes of files are carried out and told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.location import configured_root
from spillstore_tools.cli.support.output import note, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillstore_tools.agents.base import Agent, Place
    from spillstore_tools.agents.installation import Change

# The same as ``spillstore_tools.agents.registry.AGENTS``, which --help does without.
NAMES = ("claude-code", "codex", "opencode", "gemini", "copilot", "cursor", "pi")
_DONE = {"create": "wrote", "change": "changed", "remove": "removed"}

agent_argument = click.argument("agent", metavar="AGENT", type=click.Choice(NAMES))
scope_option = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    help="For all of the user's work, or for the git repository around the folder.  [default: user]",
)
dry_run_option = click.option("-n", "--dry-run", is_flag=True, help="Only show what would change, as a diff.")


def place_for(scope: str, *, rewrites: bool = False) -> Place:
    """Where this process installs.

    Raises:
        click.ClickException: one of our programs is not installed.
    """
    from spillstore_tools.agents.edit import ConfigurationError  # noqa: PLC0415  # not for --help
    from spillstore_tools.agents.place import here  # noqa: PLC0415  # likewise

    try:
        return here("project" if scope == "project" else "user", store_folder(), rewrites=rewrites)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None


def store_folder() -> str | None:
    """The store's folder, absolute; None for one on a server or in memory."""
    from spillstore.store import address_of, default_root  # noqa: PLC0415  # likewise

    root = configured_root() or default_root()
    return None if ":" in root.partition("/")[0] else address_of(root)


def performed(
    agent: Agent,
    scope: str,
    plan: Callable[[], list[Change]],
    notes: Sequence[str],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Carry changes out, or show them, and say what was done.

    Raises:
        click.ClickException: a file is left as it is, and so are all others.
    """
    from spillstore_tools.agents.edit import ConfigurationError  # noqa: PLC0415  # likewise
    from spillstore_tools.agents.installation import carry_out  # noqa: PLC0415  # likewise

    try:
        changes = plan()
        if not dry_run:
            carry_out(changes)
    except ConfigurationError as error:
        raise click.ClickException(f"nothing was changed: {error}") from None
    made = [change for change in changes if change.action != "none"]
    if as_json:
        print_json(
            {
                "agent": agent.name,
                "scope": scope,
                "dry_run": dry_run,
                "changed": bool(made),
                "files": [_as_json(change) for change in changes],
                "notes": list(notes),
            }
        )
        return
    for change in made:
        if dry_run:
            click.echo(change.diff(), nl=False)
        else:
            click.echo(f"{_DONE[change.action]} {change.content.path}")
    if not made:
        click.echo(f"{agent.title}: nothing to change")
    for text in notes:
        note(text)


def _as_json(change: Change) -> dict[str, object]:
    backup = None if change.record is None else change.record.backup
    return {
        "path": str(change.content.path),
        "action": change.action,
        "diff": change.diff(),
        "backup": None if backup is None else str(backup),
    }
