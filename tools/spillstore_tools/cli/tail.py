"""``spillstore tail``: the last lines of an artifact, and those to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli._location import Location, find, id_argument, location_options, stream_option
from spillstore_tools.cli._output import json_option, print_json, write_bytes, write_text
from spillstore_tools.cli._read import start_of_last_lines, terminator
from spillstore_tools.preview.lines import clean_blocks

if TYPE_CHECKING:
    from spillstore.info import Stream


@click.command("tail")
@id_argument
@click.option(
    "-n", "--lines", type=click.IntRange(min=0), default=10, metavar="N", help="So many lines.  [default: 10]"
)
@click.option("-f", "--follow", is_flag=True, help="Go on until the artifact is complete.")
@stream_option
@click.option("--raw", is_flag=True, help="The exact bytes, escape sequences and all.")
@location_options
@json_option
def command(
    artifact_id: str,
    lines: int,
    stream: str,
    location: Location,
    *,
    follow: bool,
    raw: bool,
    as_json: bool,
) -> None:
    """Print the last lines of an artifact, cleaned for reading.

    \b
    Example:
      spillstore tail @last -n 50
      spillstore tail @last -f --stream stderr
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if follow and as_json:
        raise click.UsageError("give --follow or --json, not both")
    view = cast("Stream", stream)
    with location.open() as session:
        artifact = find(session, artifact_id)
        start = start_of_last_lines(artifact, lines, stream=view)
        blocks = (artifact.follow if follow else artifact.chunks)(start, stream=view, holes="skip")
        end_of_line = terminator(artifact)
        if as_json:
            text = "".join(clean_blocks(blocks, end_of_line))
            print_json({"id": artifact.id, "stream": stream, "start": start, "text": text})
        elif raw:
            write_bytes(blocks, flush=follow)
        else:
            write_text(clean_blocks(blocks, end_of_line), flush=follow)
