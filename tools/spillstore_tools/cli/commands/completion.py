"""``spillstore completion``: what a shell needs to complete commands, options and ids."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, print_json

if TYPE_CHECKING:
    from spillstore_tools.cli.support.location import Location

_SHELLS = ("bash", "zsh", "fish")
_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/spillstore.fish"}


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@location_options
@json_option
def command(shell: str | None, location: Location, *, as_json: bool) -> None:  # noqa: ARG001  # as all commands
    """Print a script that makes SHELL complete commands, options and ids; without SHELL, for the one in $SHELL.

    \b
    Example:
      eval "$(spillstore completion bash)"
      spillstore completion fish > ~/.config/fish/completions/spillstore.fish
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from click.shell_completion import get_completion_class  # noqa: PLC0415  # only this command needs it

    name = shell or os.path.basename(os.environ.get("SHELL", ""))  # noqa: PTH119  # the name alone
    found = get_completion_class(name) if name in _SHELLS else None
    if found is None:
        raise click.UsageError(f"name a shell, one of {', '.join(_SHELLS)}; $SHELL is {name or 'not set'}")
    group = click.get_current_context().find_root().command
    script = found(group, {}, "spillstore", "_SPILLSTORE_COMPLETE").source()
    if as_json:
        print_json({"shell": name, "script": script, "file": _FILES[name]})
    else:
        click.echo(script)
