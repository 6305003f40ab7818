"""``spillstore verify``: read everything and compare every digest."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, print_json
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.describe import count, exact_size, human_size, incomplete
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from spillstore_tools.cli.support.location import Location

_ARE = ("are", "is")


@click.command("verify")
@click.argument("artifact_id", metavar="[ID]", required=False)
@location_options
@json_option
def command(artifact_id: str | None, location: Location, *, as_json: bool) -> None:
    """Check an artifact, or the whole session with all that is in it.

    Every chunk is read and every digest and counter computed anew. Exits with 125 and says what is damaged, and
    where, if anything is. What is intact but lacks what was dropped at a limit, or ends where its writer died, is not
    called whole.

    \b
    Example:
      spillstore verify @last
      spillstore verify --session ci
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        if artifact_id is None:
            with progress(f"checking session {label(session.id)}") as done:
                report = session.check(on_progress=done)
            lacking = sum(incomplete(info) is not None for info in session.infos())
            if as_json:
                document = {"session": session.id, "ok": True, **dataclasses.asdict(report)}
                print_json({**document, "incomplete": lacking})
                return
            checked = f"{count(report.artifacts, 'artifact')}, {count(report.chunks, 'chunk')}, {exact_size(report.size)}"
            whole = (
                f"intact; {lacking:,} of its artifacts {_ARE[lacking == 1]} incomplete"
                if lacking
                else "whole"
            )
            click.echo(f"session {session.id} is {whole}: {checked}")
            return
        artifact = find(session, artifact_id)
        with progress(f"verifying {human_size(artifact.info.size)}") as done:
            found = artifact.verify(on_progress=done)
        lacks = incomplete(artifact.info)
    if as_json:
        print_json({"id": artifact.id, "ok": True, **dataclasses.asdict(found), "incomplete": lacks})
        return
    whole = f"intact, but not whole, for {lacks}" if lacks else "whole"
    click.echo(f"{artifact.id} is {whole}: {count(found.chunks, 'chunk')}, {exact_size(found.size)}")
