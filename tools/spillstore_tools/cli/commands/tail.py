"""``spillstore tail``: the last lines of an artifact, and those to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.options import id_argument, location_options, stream_option
from spillstore_tools.cli.support.output import at_terminal, json_option, print_json, write_bytes, write_text
from spillstore_tools.cli.support.read import (
    artifact_text,
    note_missing_lines,
    start_of_last_lines,
    whole_characters,
)
from spillstore_tools.preview.text.encoded import encoding_of
from spillstore_tools.preview.text.stream import clean_blocks

if TYPE_CHECKING:
    from spillstore.info import Stream
    from spillstore_tools.cli.support.location import Location


@click.command("tail")
@id_argument
@click.option(
    "-n", "--lines", type=click.IntRange(min=0), default=10, metavar="N", help="Print N lines.  [default: 10]"
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
    with location.reading("read") as session:
        artifact = find(session, artifact_id)
        start = start_of_last_lines(artifact, lines, stream=view)
        end = artifact.info.view(view).size
        if follow:
            note_missing_lines(artifact, lines, view)
            blocks = artifact.follow(start, stream=view, holes="skip")
        else:
            blocks = artifact.chunks(start, end, stream=view, holes="skip")
        whole = whole_characters(artifact, blocks, start, None, view)
        text = clean_blocks(whole, artifact.info.terminator, lambda: encoding_of(artifact, view))
        if as_json:
            text = artifact_text(artifact, text, start, end, view)
            print_json({"id": artifact.id, "stream": stream, "start": start, "text": "".join(text)})
        elif raw:
            write_bytes(blocks if follow else artifact.reading(blocks, start, end, stream=view), flush=follow)
        else:
            text = text if follow else artifact_text(artifact, text, start, end, view)
            write_text(text, flush=follow, seen=at_terminal())
        if not follow:
            note_missing_lines(artifact, lines, view)
