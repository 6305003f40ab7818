"""``spillstore diff``: what an artifact has that an older one has not, and what is gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import click

from spillstore_tools.cli.support.artifacts import LAST, find
from spillstore_tools.cli.support.completion import complete_id
from spillstore_tools.cli.support.options import location_options, stream_option
from spillstore_tools.cli.support.output import json_option, local, note, styled
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.describe import human_size
from spillstore_tools.process.working_folders import folder_of

if TYPE_CHECKING:
    from spillstore import Artifact, Session
    from spillstore.info import Stream
    from spillstore_tools.cli.support.location import Location
    from spillstore_tools.compare.differences import Differences

_DIFFERENT = 1
_STYLES = {"new": "32", "gone": "31"}  # as git has them
_SLICE = 0.2  # seconds between two updates of the progress


@click.command("diff")
@click.argument("ids", metavar="[BASE] [ID]", nargs=-1, shell_complete=complete_id)
@click.option("--exact", is_flag=True, help="Compare times, numbers and addresses, too.")
@stream_option
@location_options
@json_option
def command(ids: tuple[str, ...], stream: str, location: Location, *, exact: bool, as_json: bool) -> None:
    """Print the lines that artifact ID has and BASE has not, after a plus, and those that are gone, after a minus.

    Without BASE, ID is compared with the last artifact before it of the same tool and command, run in the same folder. Lines are compared as a
    reader sees them, without what differs between any two runs: times, numbers, addresses. Their order is not compared.
    What matters comes first. The exit code is 1 if something differs.

    \b
    Example:
      spillstore diff @last
      spillstore diff art_1699234567890_a1b2c3d4e5f60718 @last --stream stderr --json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore_tools.compare.differences import Differences  # noqa: PLC0415  # with it come the previews
    from spillstore_tools.compare.report import facts, summary  # noqa: PLC0415  # likewise

    if len(ids) > 2:  # noqa: PLR2004  # the two
        raise click.UsageError("give one or two artifacts; for example spillstore diff @last")
    with location.reading("compare") as session:
        artifact = find(session, ids[-1] if ids else LAST)
        base = find(session, ids[0]) if len(ids) > 1 else _previous(session, artifact)
        found = Differences(base, artifact, stream=cast("Stream", stream), exact=exact)
        with progress(f"comparing {human_size(sum(found.sizes))}") as done:
            while not found.run(_SLICE):
                done(round(100 * found.progress), 100)
        if as_json:
            _print_json(base, artifact, found, {"stream": stream, "exact": exact})
        else:
            note(f"base {base.id}: {facts(base.info, found.stream, local)}")
            note(f"now {artifact.id}: {facts(artifact.info, found.stream, local)}")
            note(summary(found, exact=exact))
            _print_text(base, artifact, found, location.flags)
        if found.differs:
            click.get_current_context().exit(_DIFFERENT)


def _previous(session: Session, artifact: Artifact) -> Artifact:
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415
    from spillstore_tools.agent.artifacts import previous_run  # noqa: PLC0415  # with it come the previews

    if (found := previous_run(session, artifact)) is not None:
        return found
    folder = folder_of(artifact)
    where = "" if folder is None else f", run in {folder}"
    raise ArtifactNotFoundError(
        f"nothing was stored before {artifact.id} of the same tool and command{where}; name the older one, as in "
        f"`spillstore diff BASE {artifact.id}`; `spillstore list` shows what there is"
    )


def _print_text(base: Artifact, artifact: Artifact, found: Differences, flags: str) -> None:
    from spillstore_tools.compare.report import change_row, section_title  # noqa: PLC0415

    sections = found.sections()
    for section in sections:
        click.echo(styled(f"[{section_title(section, sections)}]", "1"))
        last = 0
        for change in found.changes(section):
            if last and change.line > last + 1:
                click.echo("--")
            last = change.line
            owner = artifact if change.sort == "new" else base
            view = "" if found.stream == "combined" else f" --stream {found.stream}"
            show = f"spillstore show {owner.id} --bytes {change.start}-{change.end}{view}{flags}"
            text = change_row(change, None, f"all of it: {show}").removesuffix("\n")
            click.echo(styled(text, _STYLES[change.sort]))


def _print_json(base: Artifact, artifact: Artifact, found: Differences, options: dict[str, Any]) -> None:
    """Print one document, written while its changes are read."""
    new, gone, both = found.totals()
    document = {
        "base": base.id,
        "id": artifact.id,
        **options,
        "verdict": found.verdict,
        "new": new,
        "gone": gone,
        "both": both,
        "differ_at": found.differ_at,
        "notes": found.notes,
    }
    start = json.dumps(document, indent=2).removesuffix("\n}")
    click.echo(f'{start},\n  "changes": [', nl=False)
    separator = "\n    "
    for section in found.sections():
        for change in found.changes(section):
            click.echo(separator + json.dumps({**change._asdict(), "telling": section.important}), nl=False)
            separator = ",\n    "
    click.echo("\n  ]\n}" if separator.startswith(",") else "]\n}")
