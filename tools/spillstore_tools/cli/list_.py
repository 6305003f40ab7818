"""``spillstore list``: the artifacts of a session, chosen and in order."""

from __future__ import annotations

import dataclasses
import functools
import heapq
from typing import TYPE_CHECKING, Any, cast

import click

from spillstore_tools.arguments import ArgumentError, moment
from spillstore_tools.cli._location import Location, location_options
from spillstore_tools.cli._output import boxed, json_option, print_json, table
from spillstore_tools.describe import count, human_size, utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore import ArtifactInfo
    from spillstore.info import State

_COMMAND = 60
_HEADER = ("id", "size", "stored", "lines", "type", "state", "exit", "source", "created", "command")
_NUMBERS = ("size", "stored", "lines", "exit")
_BOX = (("ID", 25), ("Size", 8), ("Type", 22), ("Source", 15))
_KEYS: dict[str, Callable[[ArtifactInfo], Any]] = {
    "created": lambda info: info.created,
    "size": lambda info: info.size,
    "stored": lambda info: info.stored_size,
    "lines": lambda info: info.lines,
    "duration": lambda info: info.duration or 0.0,
    "source": lambda info: info.source,
}
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def _moment(_: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    try:
        return moment(str(parameter.name), text)
    except ArgumentError as error:
        raise click.BadParameter(str(error).removeprefix(f"{parameter.name}: ")) from None


def _bytes(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    number = text.upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    digits = number.removesuffix(unit)
    if not (digits.isascii() and digits.isdigit()):
        raise click.BadParameter(f"{text!r} is no size; for example 500, 64K, 10M or 2G")
    return int(digits) * _UNITS[unit]


@click.command("list")
@click.option("--source", metavar="NAME", help="Only those of this tool.")
@click.option(
    "--state", type=click.Choice(["open", "sealed", "interrupted"]), help="Only those in this state."
)
@click.option(
    "--since",
    metavar="TIME",
    callback=_moment,
    help="Only those begun since then: 30s, 5m, 2h, 7d ago, or a date and time in UTC.",
)
@click.option("--until", metavar="TIME", callback=_moment, help="Only those begun before then.")
@click.option("--command", "called", metavar="TEXT", help="Only those whose command has TEXT in it.")
@click.option("--type", "content_type", metavar="TYPE", help="Only those of this media type.")
@click.option(
    "--min-size", metavar="SIZE", callback=_bytes, help="Only those of SIZE or more: 500, 64K, 10M."
)
@click.option("--failed", is_flag=True, help="Only commands that ended with an exit code other than 0.")
@click.option(
    "--sort",
    type=click.Choice(list(_KEYS)),
    default="created",
    help="The largest, or the newest, first; names from A.  [default: created]",
)
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, metavar="N", help="At most so many.  [default: 100]"
)
@click.option("--box", is_flag=True, help="Id, size, type and source alone, in a frame.")
@location_options
@json_option
def command(
    source: str | None,
    state: str | None,
    since: float | None,
    until: float | None,
    called: str | None,
    content_type: str | None,
    min_size: int | None,
    sort: str,
    limit: int,
    location: Location,
    *,
    failed: bool,
    reverse: bool,
    box: bool,
    as_json: bool,
) -> None:
    """List the artifacts of a session, the newest first.

    \b
    Example:
      spillstore list
      spillstore list --source make --since 2h --json
      spillstore list --failed --sort size --limit 5
    """  # noqa: D301  # click's mark for text that is not to be wrapped

    def wanted(info: ArtifactInfo) -> bool:
        return (
            (until is None or info.created < until)
            and (called is None or called in (info.command or ""))
            and (content_type is None or content_type == info.content_type)
            and (min_size is None or info.size >= min_size)
            and not (failed and not info.exit_code)
        )

    with location.open() as session:
        every = iter(session.infos(source=source, state=cast("State | None", state), since=since))
        found = _chosen(filter(wanted, every), sort, limit + 1, ascending=reverse is not (sort == "source"))
    more, found = len(found) > limit, found[:limit]
    total = {
        "artifacts": len(found),
        "size": sum(info.size for info in found),
        "stored_size": sum(info.stored_size for info in found),
        "more": more,
    }
    if as_json:
        print_json({"artifacts": [dataclasses.asdict(info) for info in found], "total": total})
        return
    hint = f"; there are more: --limit {limit * 10}" if more else ""
    size = human_size(total["size"])
    if box:
        click.echo(boxed("Session Artifacts", _BOX, [_boxed(info) for info in found]))
        click.echo(f"Total: {count(len(found), 'artifact')}, {size}{hint}")
        return
    if found:
        click.echo(table(_HEADER, [_row(info) for info in found], right=_NUMBERS))
    stored = human_size(total["stored_size"])
    click.echo(f"Total: {count(len(found), 'artifact')}, {size}, stored in {stored}{hint}")


def _chosen(infos: Iterator[ArtifactInfo], sort: str, most: int, *, ascending: bool) -> list[ArtifactInfo]:
    """The first ``most`` of them in that order; no more than these are held."""
    if sort == "created" and not ascending:
        return [info for _, info in zip(range(most), infos, strict=False)]
    choose = functools.partial(heapq.nsmallest if ascending else heapq.nlargest, most, infos)
    return choose(key=_KEYS[sort])


def _row(info: ArtifactInfo) -> tuple[str, ...]:
    called = info.command or ""
    return (
        info.id,
        human_size(info.size),
        human_size(info.stored_size),
        f"{info.lines:,}",
        info.content_type or "",
        info.state,
        "" if info.exit_code is None else str(info.exit_code),
        info.source,
        utc(info.created),
        called if len(called) <= _COMMAND else f"{called[: _COMMAND - 3]}...",
    )


def _boxed(info: ArtifactInfo) -> tuple[str, ...]:
    return info.id, human_size(info.size), info.content_type or "", info.source
