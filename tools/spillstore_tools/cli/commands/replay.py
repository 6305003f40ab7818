"""``spillstore replay``: what a command printed, again, in its own time."""

from __future__ import annotations

import base64
import json
import sys
import time
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.options import Number, id_argument, location_options, skip_holes_option
from spillstore_tools.cli.support.output import json_option_for, note
from spillstore_tools.cli.support.read import byte_blocks, holes
from spillstore_tools.describe import exact_size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillstore.info import Segment
    from spillstore_tools.cli.support.location import Location

_LONGEST = 1e8  # seconds; a system refuses to sleep for some hundred years


@click.command("replay")
@id_argument
@click.option(
    "--speed",
    type=Number(min=0, min_open=True),
    default=1.0,
    metavar="N",
    help="How many times as fast; inf does not wait at all.  [default: 1]",
)
@click.option(
    "--max-wait",
    type=Number(min=0),
    metavar="SECONDS",
    help="Shorten every silence to this, before the speed applies.",
)
@skip_holes_option
@location_options
@json_option_for("A JSON object a line for each piece, without waiting, for programs.")
def command(
    artifact_id: str,
    speed: float,
    max_wait: float | None,
    location: Location,
    *,
    skip_holes: bool,
    as_json: bool,
) -> None:
    """Print what a command printed once more, with its timing, stdout to stdout and stderr to stderr.

    What is stored comes to the byte; secrets were taken out before, if any are reported by info.

    \b
    Example:
      spillstore replay @last
      spillstore replay @last --speed 10 --max-wait 2
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.reading("read") as session:
        artifact = find(session, artifact_id)
        size = artifact.info.size
        byte_blocks(artifact, 0, size, skip=skip_holes)  # refuses a hole before anything is printed
        segments = artifact.segments(holes=holes(skip_holes))
        written = _list(segments) if as_json else _play(segments, speed, max_wait)
        loss = artifact.info.loss
    if written < size:
        note(f"{exact_size(size - written)} are missing here: they were {loss}")


def _play(segments: Iterable[Segment], speed: float, max_wait: float | None) -> int:
    """Print segments when their time has come; returns how many bytes."""
    written = 0
    due = time.monotonic()
    before = 0.0
    for segment in segments:
        wait = segment.time - before
        before = segment.time
        due += (wait if max_wait is None else min(wait, max_wait)) / speed
        time.sleep(min(max(0.0, due - time.monotonic()), _LONGEST))
        out = (sys.stdout if segment.stream == "stdout" else sys.stderr).buffer
        out.write(segment.data)
        out.flush()
        written += len(segment.data)
    return written


def _list(segments: Iterable[Segment]) -> int:
    """Print segments as JSON lines; returns how many bytes they hold."""
    written = 0
    for segment in segments:
        data = segment.data
        content = {"text": data.decode()} if _is_text(data) else {"base64": base64.b64encode(data).decode()}
        click.echo(json.dumps({"time": segment.time, "stream": segment.stream, **content}))
        written += len(data)
    return written


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
