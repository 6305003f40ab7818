"""``spillstore salvage``: get out of a damaged session what can be got."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import click

from spillstore_tools.cli.support.completion import complete_folder, complete_session
from spillstore_tools.cli.support.location import named_target, refuse_memory
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import fail, json_option, print_json
from spillstore_tools.describe import count, human_size
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from spillstore import Store
    from spillstore.info import SalvagedArtifact, SalvageReport
    from spillstore_tools.cli.support.location import Location

_FAILED = 125
_INCOMPLETE = 1


@click.command("salvage")
@click.argument("damaged", metavar="[FILE|SESSION]...", nargs=-1, shell_complete=complete_session)
@click.option(
    "--to",
    "target",
    default="salvaged",
    show_default=True,
    metavar="DIR",
    callback=named_target,
    shell_complete=complete_folder,
    help="The store that the new sessions are put in.",
)
@click.option(
    "--as", "name", metavar="SESSION", help="What the new session is called; by default, as the old one was."
)
@location_options
@json_option
def command(
    damaged: tuple[str, ...], target: str, name: str | None, location: Location, *, as_json: bool
) -> int | None:
    """Get out of damaged sessions what can be got: everything whose digest holds, into new sessions.

    What is damaged is only read. What is missing of an artifact is told by its bytes and lines: it is a hole of the new one,
    or that ends before it. The exit code is 1 if anything is missing. A FILE is what has a slash or is there; without one
    and without a SESSION it is the session that the options name.

    \b
    Example:
      spillstore salvage ci --to /mnt/rescued
      spillstore salvage ./session.db --as found
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if name is not None and len(damaged) > 1:
        raise click.UsageError("--as names one session: give one FILE or SESSION with it")
    refuse_memory(target)
    damaged = damaged or (location.session,)
    from spillstore import Store  # noqa: PLC0415  # as in all commands
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # likewise

    store = Store(target)
    done: list[dict[str, Any]] = []
    failed = False
    for each in damaged:
        try:
            report = _salvaged(store, each, name, location)
        except SpillstoreError as error:
            if len(damaged) == 1:
                raise
            failed = True
            fail(f"{label(each)} was not salvaged: {error}", _FAILED)
            done.append({"from": each, "error": str(error)})
            continue
        done.append({"from": each, "error": None, "complete": report.complete, **dataclasses.asdict(report)})
        if not as_json:
            _tell(report, store)
    if as_json:
        print_json({"to": store.name, "sessions": done})
    return _FAILED if failed else None if all(each["complete"] for each in done) else _INCOMPLETE


def _salvaged(store: Store, damaged: str, name: str | None, location: Location) -> SalvageReport:
    if os.sep in damaged or os.path.exists(damaged):  # noqa: PTH110  # a pathlib.Path takes a millisecond to import
        return store.salvage(damaged, project=location.project if name else None, salvaged_as=name)
    from spillstore.exceptions import SessionNotFoundError  # noqa: PLC0415  # likewise

    source = location.store()
    try:
        return store.salvage(source.address, session_id=damaged, project=location.project, salvaged_as=name)
    except SessionNotFoundError as error:
        raise SessionNotFoundError(
            f"no session {damaged!r} to be salvaged in {source.name}: {error}; `spillstore sessions` lists those that there are, "
            "and --session, --project and --root name one"
        ) from None


def _tell(report: SalvageReport, store: Store) -> None:
    """What was got of a session, and each range that is missing."""
    size = sum(each.size for each in report.artifacts)
    of = "" if report.project is None else f" of project {label(report.project)}"
    got = f"{count(len(report.artifacts), 'artifact')}, {human_size(size)}, {count(report.events, 'event')}"
    click.echo(f"Salvaged {got} as session {label(report.session)}{of} in {store.name}")
    for each in report.artifacts:
        for line in _missing(each):
            click.echo(line)
    if not report.known:
        click.echo("The session's own row is lost: when it was made and ended is not known")
    elif not report.all_rows:
        click.echo(
            "Artifacts may be missing of which nothing is left: the file has lost its end, or rows that the session counts"
        )
    for name in report.lost:
        click.echo(f"{name}: it was made, by the audit log, and nothing of it is left")
    if report.nameless:
        click.echo(f"{count(report.nameless, 'chunk')} of no artifact that is known are left out")


def _missing(each: SalvagedArtifact) -> list[str]:
    out = (
        []
        if each.known
        else [f"{each.id}: its row is lost; its tool, its command and where it ended are not known"]
    )
    out += [
        f"{each.id}: bytes {gap.start} to {gap.end - 1} are missing (lines {gap.first_line} to {gap.last_line})"
        for gap in each.missing
    ]
    return out + [
        f"{each.id}: bytes {part.range.start} to {part.range.end - 1} (lines {part.range.first_line} to "
        f"{part.range.last_line}) are {part.id}"
        for part in each.parts
    ]
