"""``spillstore rm``: delete one artifact."""

from __future__ import annotations

import click

from spillstore_tools.cli._location import Location, find, location_options, named_argument
from spillstore_tools.cli._output import json_option, print_json
from spillstore_tools.describe import human_size


@click.command("rm")
@named_argument
@location_options
@json_option
def command(artifact_id: str, location: Location, *, as_json: bool) -> None:
    """Delete an artifact and give its space back to the disk.

    That works on a disk that is full to the last byte, too.

    \b
    Example:
      spillstore rm art_1699234567890_a1b2c3d4e5f60718
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open(write=None) as session:  # for writing, so that an older file is brought up to date
        found = find(session, artifact_id).id
    freed = location.store().delete_artifact(location.session, found, location.project)
    if as_json:
        print_json({"id": found, "freed": freed})
        return
    click.echo(f"Removed {found} ({human_size(freed)} freed)")
