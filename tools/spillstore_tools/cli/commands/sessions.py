"""``spillstore sessions``: the sessions of the store."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, local, print_json
from spillstore_tools.cli.support.tables import fitted
from spillstore_tools.describe import count, human_size
from spillstore_tools.viewer.model.listing import sessions_by_use

if TYPE_CHECKING:
    from spillstore_tools.cli.support.location import Location

_HEADER = ("", "session", "project", "size", "last used", "state")
_OPTIONAL = ("project", "last used", "size")  # which go first where there is no room


@click.command("sessions")
@location_options
@json_option
def command(location: Location, *, as_json: bool) -> None:
    """List the sessions of the store, the one used last first; a star marks the one that commands use here.

    Without --session that is the session of the git repository around the folder, outside of any `default`.

    \b
    Example:
      spillstore sessions
      spillstore list --session default
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    infos = sessions_by_use(location.store(), location.project)
    if as_json:
        print_json({"sessions": [dataclasses.asdict(info) for info in infos], "here": location.session})
        return
    here = (location.session, location.project)
    rows = [
        (
            "*" if (info.id, info.project) == here else "",
            info.id,
            info.project or "",
            human_size(info.disk_size),
            local(info.used),
            "in use" if info.live else "",
        )
        for info in infos
    ]
    if rows:
        click.echo(fitted(_HEADER, rows, right=("size",), optional=_OPTIONAL))
    click.echo(f"Total: {count(len(infos), 'session')}, {human_size(sum(info.disk_size for info in infos))}")
