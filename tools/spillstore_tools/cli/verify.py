"""``spillstore verify``: read everything and compare every digest."""

from __future__ import annotations

import dataclasses

import click

from spillstore_tools.cli._location import Location, find, location_options
from spillstore_tools.cli._output import json_option, print_json
from spillstore_tools.describe import count, exact_size


@click.command("verify")
@click.argument("artifact_id", metavar="[ID]", required=False)
@location_options
@json_option
def command(artifact_id: str | None, location: Location, *, as_json: bool) -> None:
    """Check an artifact, or the whole session with all that is in it.

    Every chunk is read and every digest and counter computed anew. Exits with 125 and says what is damaged, and
    where, if anything is.

    \b
    Example:
      spillstore verify @last
      spillstore verify --session ci
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        if artifact_id is None:
            report = session.check()
            if as_json:
                print_json({"session": session.id, "ok": True, **dataclasses.asdict(report)})
                return
            checked = f"{count(report.chunks, 'chunk')}, {exact_size(report.size)}"
            click.echo(f"session {session.id} is whole: {count(report.artifacts, 'artifact')}, {checked}")
            return
        artifact = find(session, artifact_id)
        found = artifact.verify()
    if as_json:
        print_json({"id": artifact.id, "ok": True, **dataclasses.asdict(found)})
        return
    click.echo(f"{artifact.id} is whole: {count(found.chunks, 'chunk')}, {exact_size(found.size)}")
