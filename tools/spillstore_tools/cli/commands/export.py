"""``spillstore export``: write an artifact to a file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli.support.artifacts import LAST, find
from spillstore_tools.cli.support.options import location_options, skip_holes_option, stream_option
from spillstore_tools.cli.support.output import json_option, note, print_json
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.cli.support.read import holes
from spillstore_tools.describe import exact_size, human_size

if TYPE_CHECKING:
    from spillstore.info import Stream
    from spillstore_tools.cli.support.location import Location


@click.command("export")
@click.argument("names", metavar="[ID] FILE", nargs=-1, required=True, type=click.Path())
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
@stream_option
@skip_holes_option
@location_options
@json_option
def command(
    names: tuple[str, ...],
    stream: str,
    location: Location,
    *,
    overwrite: bool,
    skip_holes: bool,
    as_json: bool,
) -> None:
    """Write an artifact to FILE, whole or not at all.

    \b
    Example:
      spillstore export @last build.log
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if len(names) > 2:  # noqa: PLR2004  # the two
        raise click.UsageError("give at most an ID and a FILE; for example spillstore export @last build.log")
    artifact_id, file = names if len(names) == 2 else (LAST, names[0])  # noqa: PLR2004  # likewise
    if file == "-":
        raise click.UsageError(
            f"what goes to stdout is `spillstore cat {artifact_id}`; a file of that name is ./-"
        )
    with location.open() as session:
        artifact = find(session, artifact_id)
        with progress(f"exporting {human_size(artifact.info.size)}") as far:
            done = artifact.export(
                file,
                stream=cast("Stream", stream),
                overwrite=overwrite,
                holes=holes(skip_holes),
                on_progress=far,
            )
        loss = artifact.info.loss
    if as_json:
        print_json({"id": artifact.id, "file": file, **dataclasses.asdict(done)})
        return
    click.echo(f"Exported {artifact.id} to {file} ({exact_size(done.size)})")
    if done.dropped:
        note(f"{exact_size(done.dropped)} are missing there: they were {loss}")
