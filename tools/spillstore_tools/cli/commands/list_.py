"""``spillstore list``: the artifacts of a session, chosen and in order."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, cast

import click

from spillstore_tools.cli.support.completion import complete_source
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, local, moment_here, print_json, styled
from spillstore_tools.cli.support.ranges import size_option
from spillstore_tools.cli.support.tables import boxed, fitted
from spillstore_tools.describe import count, human_size, incomplete, shortened
from spillstore_tools.process.working_folders import folder_of
from spillstore_tools.viewer.model.listing import ORDERS, Choice, chosen_artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore import ArtifactInfo, Session
    from spillstore_tools.cli.support.location import Location
    from spillstore_tools.viewer.model.listing import Order

_HEADER = ("id", "size", "stored", "lines", "type", "state", "exit", "source", "created", "command")
_NUMBERS = ("size", "stored", "lines", "exit")
_BOX = (("ID", 25), ("Size", 8), ("Type", 22), ("Source", 15))
_LEAST_COMMAND = 16  # columns of a terminal that a command has at least
_OPTIONAL = (
    "stored",
    "type",
    "source",
    "created",
    "lines",
    "size",
    "exit",
)  # which go first where there is no room
_STYLES = {"open": "32", "interrupted": "33", "incomplete": "33"}


@click.command("list")
@click.option("--source", metavar="NAME", shell_complete=complete_source, help="Only those of this tool.")
@click.option(
    "--state", type=click.Choice(["open", "sealed", "interrupted"]), help="Only those in this state."
)
@click.option(
    "--since",
    metavar="TIME",
    callback=moment_here,
    help="Only those begun since then: 30s, 5m, 2h, 7d ago, or a date and time here.",
)
@click.option("--until", metavar="TIME", callback=moment_here, help="Only those begun before then.")
@click.option("--command", "called", metavar="TEXT", help="Only those whose command has TEXT in it.")
@click.option("--type", "content_type", metavar="TYPE", help="Only those of this media type.")
@click.option(
    "--min-size", metavar="SIZE", callback=size_option, help="Only those of SIZE or more: 500, 64K, 10M."
)
@click.option("--failed", is_flag=True, help="Only commands that ended with an exit code other than 0.")
@click.option(
    "--sort",
    type=click.Choice(list(ORDERS)),
    default="created",
    help="The largest, or the newest, first; names from A.  [default: created]",
)
@click.option("--reverse", is_flag=True, help="Reverse the order: the smallest, or the oldest, first.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, metavar="N", help="List N at most.  [default: 100]"
)
@click.option("--box", is_flag=True, help="Id, size, type and source alone, in a frame.")
@location_options
@json_option
def command(
    sort: str, limit: int, location: Location, *, reverse: bool, box: bool, as_json: bool, **_: object
) -> None:
    """List the artifacts of a session, the newest first.

    Sealed ones of which a part was dropped at their limit are called incomplete.

    \b
    Example:
      spillstore list
      spillstore list --source make --since 2h --json
      spillstore list --failed --sort size --limit 5
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    choice = choice_of(click.get_current_context().params)
    with location.open() as session:
        chosen = chosen_artifacts(session, choice, order=cast("Order", sort), limit=limit, reverse=reverse)
        found = chosen.infos
        folders = [_folder(session, info) for info in found] if as_json else []
    more = chosen.artifacts > len(found)
    total = {
        "artifacts": chosen.artifacts,
        "size": chosen.size,
        "stored_size": chosen.stored_size,
        "shown": len(found),
        "more": more,
    }
    if as_json:
        artifacts = [
            {**dataclasses.asdict(info), "cwd": cwd} for info, cwd in zip(found, folders, strict=True)
        ]
        print_json({"artifacts": artifacts, "total": total})
        return
    hint = f"; {len(found):,} are shown, all with --limit {chosen.artifacts}" if more else ""
    size = human_size(total["size"], unit="B" if box else "iB")
    if box:
        click.echo(boxed("Session Artifacts", _BOX, [_boxed(info) for info in found]))
        click.echo(f"Total: {count(chosen.artifacts, 'artifact')}, {size}{hint}")
        return
    if found:
        click.echo(_table(found))
    stored = human_size(total["stored_size"])
    click.echo(f"Total: {count(chosen.artifacts, 'artifact')}, {size}, stored in {stored}{hint}")


def choice_of(given: Mapping[str, Any]) -> Choice:
    """Which artifacts the options choose, by the names of the parameters."""
    return Choice(
        source=given["source"],
        state=given["state"],
        since=given["since"],
        until=given["until"],
        command=given["called"],
        content_type=given["content_type"],
        min_size=given["min_size"],
        failed=given["failed"],
    )


def _folder(session: Session, info: ArtifactInfo) -> str | None:
    """The folder in which its command ran; None if it is unknown or the artifact was deleted meanwhile."""
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415  # it is loaded by now

    try:
        return folder_of(session.artifact(info.id))
    except ArtifactNotFoundError:
        return None


def _table(infos: list[ArtifactInfo]) -> str:
    return fitted(
        _HEADER,
        [_row(info) for info in infos],
        right=_NUMBERS,
        optional=_OPTIONAL,
        least=_LEAST_COMMAND,
        style=lambda line, number: _styled(line, None if number is None else infos[number]),
    )


def _styled(line: str, info: ArtifactInfo | None) -> str:
    """A row with its state in colour; the header is bold."""
    if info is None:
        return styled(line, "1")
    state = _state(info)
    style = _STYLES.get(state, "31" if info.exit_code else "")
    # The first word of that name that stands behind spaces: what comes before it is ids, numbers and types.
    return line.replace(f"  {state}", f"  {styled(state, style)}", 1) if style else line


def _row(info: ArtifactInfo) -> tuple[str, ...]:
    called = info.command or ""
    return (
        info.id,
        human_size(info.size),
        human_size(info.stored_size),
        f"{info.lines:,}",
        shortened(info.content_type or ""),  # of this and of the source a server that is proxied has the say
        _state(info),
        "" if info.exit_code is None else str(info.exit_code),
        shortened(info.source),
        local(info.created),
        shortened(called),
    )


def _state(info: ArtifactInfo) -> str:
    """The state, marked where not all of what was printed is there."""
    return "incomplete" if info.state == "sealed" and incomplete(info) else info.state


def _boxed(info: ArtifactInfo) -> tuple[str, ...]:
    size = human_size(info.size, unit="B")  # as the manual of `acode` writes it
    return info.id, size, shortened(info.content_type or ""), shortened(info.source)
