"""``spillstore cat``: all of an artifact, to the byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli._location import (
    Location,
    find,
    id_argument,
    location_options,
    skip_holes_option,
    stream_option,
)
from spillstore_tools.cli._output import note, write_bytes
from spillstore_tools.cli._pager import paged, pager_option
from spillstore_tools.cli._read import byte_blocks, view_of
from spillstore_tools.describe import exact_size

if TYPE_CHECKING:
    from spillstore.info import Stream


@click.command("cat")
@id_argument
@stream_option
@skip_holes_option
@pager_option
@location_options
def command(artifact_id: str, stream: str, location: Location, *, skip_holes: bool, no_pager: bool) -> None:
    """Write all of an artifact to stdout, to the byte; at a terminal, through a pager.

    \b
    Example:
      spillstore cat @last | rg -n 'error|fatal'
      spillstore cat art_1699234567890_a1b2c3d4e5f60718 --stream stderr > err.log
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    view = cast("Stream", stream)
    with location.reading("read") as session:
        artifact = find(session, artifact_id)
        size = view_of(artifact, view)[0]
        blocks = byte_blocks(artifact, 0, size, stream=view, skip=skip_holes)
        written = size  # by who leaves the pager, nothing is missed
        with paged(off=no_pager):
            written = write_bytes(artifact.reading(blocks, 0, size, stream=view))
    if written < size:
        note(f"{exact_size(size - written)} are missing here: they were dropped at the artifact's limit")
