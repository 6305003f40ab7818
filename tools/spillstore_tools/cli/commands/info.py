"""``spillstore info``: what is known of an artifact without reading it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.artifacts import LAST, find
from spillstore_tools.cli.support.options import ids_argument, location_options
from spillstore_tools.cli.support.output import json_option, local, print_json, styled
from spillstore_tools.cli.support.redactions import redaction_summary, redactions_of
from spillstore_tools.describe import described, tokens
from spillstore_tools.preview.text.clean import label
from spillstore_tools.process.working_folders import folder_of

if TYPE_CHECKING:
    from spillstore import ArtifactInfo
    from spillstore_tools.cli.support.location import Location


@click.command("info")
@ids_argument
@location_options
@json_option
def command(artifact_ids: tuple[str, ...], location: Location, *, as_json: bool) -> None:
    """Print what is known of artifacts: sizes, lines, state, digest, secrets taken out.

    With --json it is one document, or a list of them for several artifacts.

    \b
    Example:
      spillstore info @last
      spillstore info art_1699234567890_a1b2c3d4e5f60718 @last --json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        artifacts = [find(session, artifact_id) for artifact_id in artifact_ids or (LAST,)]
        infos = [(artifact.info, redactions_of(artifact), folder_of(artifact)) for artifact in artifacts]
        path = None if session.path is None else str(session.path)
        where = ("Path", path) if path is not None else ("Store", session.address or "")
    if as_json:
        documents = [
            {
                **dataclasses.asdict(info),
                "duration": info.duration,
                "estimated_tokens": tokens(info.chars),
                "redactions": redactions,
                "cwd": folder,
                "path": path,
            }
            for info, redactions, folder in infos
        ]
        print_json(documents[0] if len(documents) == 1 else documents)
        return
    click.echo("\n\n".join(_described(*each, where) for each in infos))


def _described(
    info: ArtifactInfo, redactions: dict[str, int], folder: str | None, where: tuple[str, str]
) -> str:
    rows = [*described(info, local), where]
    if folder is not None:
        rows.append(("Folder", folder))
    if words := redaction_summary(redactions):
        rows.append(("Redacted", f"{words}; run or put it with --no-redact to keep them"))
    return "\n".join(f"{styled(f'{name}:', '1')} {label(value)}" for name, value in rows)
