"""``spillstore rm``: delete one artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.completion import complete_id
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, print_json
from spillstore_tools.describe import human_size

if TYPE_CHECKING:
    from spillstore_tools.cli.support.location import Location


@click.command("rm")
@click.argument("artifact_ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_id)
@location_options
@json_option
def command(artifact_ids: tuple[str, ...], location: Location, *, as_json: bool) -> None:
    """Delete artifacts and give their space back to the disk. If one of them is not there, none is deleted.

    With --json it is one document, or a list of them for several artifacts.

    That works on a disk that is full to the last byte, too.

    \b
    Example:
      spillstore rm art_1699234567890_a1b2c3d4e5f60718
      spillstore rm @last @last~1
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    freed: dict[str, int] = {}
    with location.open() as session:
        found = dict.fromkeys(find(session, name).id for name in artifact_ids)
    try:
        for artifact_id in found:
            freed[artifact_id] = location.store().delete_artifact(
                location.session, artifact_id, location.project
            )
    finally:  # also if a later one could not be deleted
        _print(freed, as_json=as_json)


def _print(freed: dict[str, int], *, as_json: bool) -> None:
    if as_json and freed:
        documents = [{"id": artifact_id, "freed": size} for artifact_id, size in freed.items()]
        print_json(documents[0] if len(documents) == 1 else documents)
    elif not as_json:
        for artifact_id, size in freed.items():
            click.echo(f"Removed {artifact_id} ({human_size(size)} freed)")
