"""``spillstore put``: store a file, or what comes in on stdin."""

from __future__ import annotations

import dataclasses
import functools
import sys
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli._location import Location, location_options
from spillstore_tools.cli._output import count, exact_size, human_size, json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import Newline

_READ = 1024 * 1024


@click.command("put")
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True, dir_okay=False))
@click.option("--source", default="put", metavar="NAME", help="The tool it comes from.  [default: put]")
@click.option("--content-type", metavar="TYPE", help="Its media type, such as application/json.")
@click.option(
    "--newline",
    type=click.Choice(["auto", "lf", "cr"]),
    default="auto",
    help="What ends a line; auto takes CR where there is no LF.  [default: auto]",
)
@location_options
@json_option
def command(
    file: str, source: str, content_type: str | None, newline: str, location: Location, *, as_json: bool
) -> None:
    """Store FILE, or stdin, and print the id of the artifact.

    \b
    Example:
      spillstore put build.log
      curl -s https://example.com/data.json | spillstore put - --content-type application/json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open(create=True, write=True) as session:
        artifact = session.put(
            _blocks(file),
            source=source,
            command=None if file == "-" else file,
            content_type=content_type,
            newline=cast("Newline", newline),
        )
        info = artifact.info
    if as_json:
        print_json(dataclasses.asdict(info))
        return
    click.echo(info.id)
    click.echo(
        f"{exact_size(info.size)}, {count(info.lines, 'line')}, stored in {human_size(info.stored_size)}"
    )


def _blocks(file: str) -> Iterator[bytes]:
    if file == "-" and sys.stdin is None:
        raise click.UsageError("stdin is closed; name a file")
    # Unbuffered, so that what comes in slowly is stored as it comes.
    with open(0 if file == "-" else file, "rb", buffering=0, closefd=file != "-") as source:
        yield from iter(functools.partial(source.read, _READ), b"")
