"""``spillstore list``: the artifacts of a session, the newest first."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
import time
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli._location import Location, location_options
from spillstore_tools.cli._output import count, human_size, json_option, print_json, table, utc

if TYPE_CHECKING:
    from spillstore import ArtifactInfo
    from spillstore.info import State

_AGO = re.compile(r"(\d+)([smhd])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_COMMAND = 60
_HEADER = ("id", "size", "stored", "lines", "state", "source", "created", "command")
_NUMBERS = ("size", "stored", "lines")


def _parse_since(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    if match := _AGO.fullmatch(text):
        return time.time() - int(match[1]) * _SECONDS[match[2]]
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; for example 2h, 7d or 2026-11-20T08:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()


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
