"""``spillstore search``: the lines of an artifact that match."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli._location import Location, find, id_argument, location_options, stream_option
from spillstore_tools.cli._output import json_option, note, print_json
from spillstore_tools.preview.clean import one_line

if TYPE_CHECKING:
    from spillstore.info import Stream

_NOTHING_FOUND = 1


@click.command("search")
@id_argument
@click.argument("pattern")
@click.option("-i", "--ignore-case", is_flag=True, help="Letters of either case are the same.")
@click.option("-F", "--literal", is_flag=True, help="PATTERN is text, not an expression.")
@click.option("-v", "--invert", is_flag=True, help="Lines that do not match.")
@click.option(
    "-C", "--context", type=click.IntRange(min=0), default=0, metavar="N", help="So many lines around each."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="At most so many matching lines.  [default: 1000]",
)
@click.option("--cursor", metavar="CURSOR", help="Go on where a search with a limit stopped.")
@click.option("-c", "--count", is_flag=True, help="Print how many lines match, and nothing else.")
@click.option("--raw", is_flag=True, help="Search the exact bytes, escape sequences and all.")
@stream_option
@location_options
@json_option
def command(
    artifact_id: str,
    pattern: str,
    context: int,
    limit: int,
    cursor: str | None,
    stream: str,
    location: Location,
    *,
    ignore_case: bool,
    literal: bool,
    invert: bool,
    count: bool,
    raw: bool,
    as_json: bool,
) -> None:
    """Print the lines of an artifact that match a regular expression (RE2 syntax), with their numbers.

    What is searched is what a reader sees: no escape sequences, the last state of a progress bar. The time is linear in
    the size whatever the pattern is. The exit code is 1 if nothing was found.

    \b
    Example:
      spillstore search @last 'error|failed' -C 2
      spillstore search @last -F 'a.b[0]' --count
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore_tools.searching import Seen, grouped  # noqa: PLC0415  # with it come the previews

    with location.reading("search") as session:
        result = find(session, artifact_id).search(
            pattern,
            stream=cast("Stream", stream),
            context=context,
            limit=0 if count else limit,
            cursor=cursor,
            ignore_case=ignore_case,
            literal=literal,
            invert=invert,
            cleaner=None if raw else Seen(),
        )
    if as_json:
        print_json(dataclasses.asdict(result))
    elif count:
        click.echo(result.lines)
    else:
        for rows in grouped(result.matches, separated=context > 0):
            for row in rows:
                click.echo(f"{row.label}{one_line(row.text)}{' [...]' if row.clipped else ''}")
    if not as_json:
        for each in result.notes:
            note(each)
        if result.cursor is not None:
            note(f"there may be more: --cursor {result.cursor}")
    if not result.lines:
        click.get_current_context().exit(_NOTHING_FOUND)
