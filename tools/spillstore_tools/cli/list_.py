"""``spillstore list``: the artifacts of a session, the newest first."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.arguments import ArgumentError, moment
from spillstore_tools.cli._location import Location, location_options
from spillstore_tools.cli._output import json_option, print_json, table
from spillstore_tools.describe import count, human_size, utc

if TYPE_CHECKING:
    from spillstore import ArtifactInfo
    from spillstore.info import State

_COMMAND = 60
_HEADER = ("id", "size", "stored", "lines", "state", "source", "created", "command")
_NUMBERS = ("size", "stored", "lines")


def _parse_since(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    try:
        return moment("since", text)
    except ArgumentError as error:
        raise click.BadParameter(str(error).removeprefix("since: ")) from None


@click.command("list")
@click.option("--source", metavar="NAME", help="Only those of this tool.")
@click.option(
    "--state", type=click.Choice(["open", "sealed", "interrupted"]), help="Only those in this state."
)
@click.option(
    "--since",
    metavar="TIME",
    callback=_parse_since,
    help="Only those begun since then: 30s, 5m, 2h, 7d ago, or a date and time in UTC.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, metavar="N", help="At most so many.  [default: 100]"
)
@location_options
@json_option
def command(
    source: str | None,
    state: str | None,
    since: float | None,
    limit: int,
    location: Location,
    *,
    as_json: bool,
) -> None:
    """List the artifacts of a session, the newest first.

    \b
    Example:
      spillstore list
      spillstore list --source make --since 2h --json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        page = session.infos(source=source, state=cast("State | None", state), since=since, limit=limit)
    total = {
        "artifacts": len(page),
        "size": sum(info.size for info in page),
        "stored_size": sum(info.stored_size for info in page),
        "more": page.cursor is not None,
    }
    if as_json:
        print_json({"artifacts": [dataclasses.asdict(info) for info in page], "total": total})
        return
    if page.items:
        click.echo(table(_HEADER, [_row(info) for info in page], right=_NUMBERS))
    more = f"; there are more: --limit {limit * 10}" if page.cursor is not None else ""
    click.echo(
        f"Total: {count(len(page), 'artifact')}, {human_size(total['size'])}, "
        f"stored in {human_size(total['stored_size'])}{more}"
    )


def _row(info: ArtifactInfo) -> tuple[str, ...]:
    called = info.command or ""
    return (
        info.id,
        human_size(info.size),
        human_size(info.stored_size),
        f"{info.lines:,}",
        info.state,
        info.source,
        utc(info.created),
        called if len(called) <= _COMMAND else f"{called[: _COMMAND - 3]}...",
    )
