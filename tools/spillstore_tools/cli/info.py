"""``spillstore info``: what is known of an artifact without reading it."""

from __future__ import annotations

import dataclasses

import click

from spillstore_tools.cli._location import Location, find, ids_argument, location_options
from spillstore_tools.cli._output import json_option, print_json
from spillstore_tools.describe import described, tokens
from spillstore_tools.preview.clean import label


@click.command("info")
@ids_argument
@location_options
@json_option
def command(artifact_ids: tuple[str, ...], location: Location, *, as_json: bool) -> None:
    """Print what is known of artifacts: sizes, lines, state, digest.

    With --json it is one document, or a list of them for several artifacts.

    \b
    Example:
      spillstore info @last
      spillstore info art_1699234567890_a1b2c3d4e5f60718 @last --json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        infos = [find(session, artifact_id).info for artifact_id in artifact_ids]
    if as_json:
        documents = [
            {**dataclasses.asdict(info), "duration": info.duration, "estimated_tokens": tokens(info)}
            for info in infos
        ]
        print_json(documents[0] if len(documents) == 1 else documents)
        return
    click.echo(
        "\n\n".join("\n".join(f"{name}: {label(value)}" for name, value in described(info)) for info in infos)
    )
