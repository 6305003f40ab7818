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

    \b
    Example:
      spillstore rm art_1699234567890_a1b2c3d4e5f60718
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open(write=True) as session:
        artifact = find(session, artifact_id)
        freed = artifact.info.stored_size
        artifact.delete()
    if as_json:
        print_json({"id": artifact.id, "freed": freed})
        return
    click.echo(f"Removed {artifact.id} ({human_size(freed)} freed)")
