"""``spillstore cat``: all that is stored of an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.options import (
    id_argument,
    location_options,
    skip_holes_option,
    stream_option,
)
from spillstore_tools.cli.support.output import at_terminal, note, write_bytes, write_text
from spillstore_tools.cli.support.pager import paged, pager_option
from spillstore_tools.cli.support.read import artifact_text, byte_blocks
from spillstore_tools.describe import exact_size
from spillstore_tools.preview.text.encoded import encoding_of
from spillstore_tools.preview.text.stream import clean_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import Stream
    from spillstore_tools.cli.support.location import Location


@click.command("cat")
@id_argument
@stream_option
@click.option("--raw", is_flag=True, help="The exact bytes at a terminal, too, escape sequences and all.")
@skip_holes_option
@pager_option
@location_options
def command(
    artifact_id: str, stream: str, location: Location, *, raw: bool, skip_holes: bool, no_pager: bool
) -> None:
    """Write all of an artifact to stdout, to the byte as it is stored; at a terminal, cleaned and through a pager.

    Secrets were taken out before it was stored (info says how many), unless run or put was told --no-redact.
    A terminal obeys escape sequences, also those that somebody else has put into an output; --raw leaves them in.

    \b
    Example:
      spillstore cat @last | rg -n 'error|fatal'
      spillstore cat art_1699234567890_a1b2c3d4e5f60718 --stream stderr > err.log
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    view = cast("Stream", stream)
    with location.reading("read") as session:
        artifact = find(session, artifact_id)
        size = artifact.info.view(view).size
        blocks = byte_blocks(artifact, 0, size, stream=view, skip=skip_holes)
        counted = _Counted(blocks)
        cleaned = at_terminal() and not raw
        is_whole = False  # by who leaves the pager, nothing is missed
        with paged(off=no_pager):
            if cleaned:
                texts = clean_blocks(counted, artifact.info.terminator, lambda: encoding_of(artifact, view))
                write_text(artifact_text(artifact, texts, 0, size, view), seen=True)
            else:
                write_bytes(artifact.reading(counted, 0, size, stream=view))
            is_whole = True
        loss = artifact.info.loss
    if is_whole and counted.size < size:
        note(f"{exact_size(size - counted.size)} are missing here: they were {loss}")


class _Counted:
    """Blocks as they are, and how many bytes they had."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.size += len(block)
            yield block
