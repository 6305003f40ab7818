"""``spillstore info``: what is known of an artifact without reading it."""

from __future__ import annotations

import dataclasses

import click

from spillstore_tools.cli._location import Location, find, id_argument, location_options
from spillstore_tools.cli._output import json_option, print_json
from spillstore_tools.describe import described, tokens
from spillstore_tools.preview.clean import one_line


@click.command("info")
@id_argument
@location_options
@json_option
def command(artifact_id: str, location: Location, *, as_json: bool) -> None:
    """Print what is known of an artifact: sizes, lines, state, digest.

    \b
    Example:
      spillstore info @last
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        info = find(session, artifact_id).info
    if as_json:
        print_json({**dataclasses.asdict(info), "duration": info.duration, "estimated_tokens": tokens(info)})
        return
    for name, value in described(info):
        click.echo(f"{name}: {one_line(value)}")
