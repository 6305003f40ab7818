"""``spillstore mcp``: the tools of a session for clients of the Model Context Protocol."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli._location import Location, location_options
from spillstore_tools.cli._output import json_option, note
from spillstore_tools.cli._profile import load_configuration, profile_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EXTRA = frozenset({"mcp", "mcp_types"})


@click.command("mcp")
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    help="stdin and stdout, or streamable HTTP.  [default: stdio]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Where HTTP is served; only this machine can be.  [default: 127.0.0.1]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Likewise.  [default: one that is free; it is printed on stderr]",
)
@click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Where commands run.  [default: here]",
)
@click.option("--read-only", is_flag=True, help="No commands, nothing is written; the session must be there.")
@profile_option
@location_options(session="", told="a new one")
@json_option
def command(
    transport: str,
    host: str,
    port: int,
    cwd: str | None,
    profile: str,
    location: Location,
    *,
    read_only: bool,
    as_json: bool,
) -> None:
    """Serve the tools of a session to a client of the Model Context Protocol.

    The tools are bash, get_artifact, search_artifact and the others that read; artifacts are resources, too. Over stdio
    there is one session; over HTTP each client has its own, unless one is named. Which session it is, and where HTTP is
    served, is printed on stderr; with SPILLSTORE_MCP_TOKEN set, clients over HTTP must send it. The server ends with its stdin, or on Ctrl-C or SIGTERM, and ends what it has started.

    \b
    Example:
      spillstore mcp
      spillstore mcp --session chat-42 --cwd ~/project
      spillstore mcp --session chat-42 --read-only --transport http --port 8765
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if read_only and not location.session:
        raise click.UsageError("--read-only needs a session that is there: name it with --session")
    with extra_needed():
        from spillstore_tools.mcp._shared import loopback  # noqa: PLC0415  # only where it is installed
        from spillstore_tools.mcp.serving import Serving, serve  # noqa: PLC0415  # likewise
    listen = None
    if transport == "http":
        try:
            listen = (loopback(host), port)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    code = serve(
        Serving(
            store=location.store(),
            session=location.session or None,
            project=location.project,
            read_only=read_only,
            profile=profile,
            configuration=load_configuration(profile),
            cwd=cwd,
            listen=listen,
            token=os.environ.get("SPILLSTORE_MCP_TOKEN") or None,
            announce=_announcer(as_json=as_json),
        )
    )
    click.get_current_context().exit(code)


def _announcer(*, as_json: bool) -> Callable[[str, str], None]:
    """Says what a person, or a program that has started us, may want to know."""

    def announce(what: str, value: str) -> None:
        if as_json:
            click.echo(json.dumps({what: value}), err=True)
        else:
            note(f"{what} {value}")

    return announce


@contextlib.contextmanager
def extra_needed() -> Iterator[None]:
    """A context that imports what only the extra ``mcp`` brings.

    Raises:
        click.ClickException: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise click.ClickException("this command needs an extra: pip install 'spillstore[mcp]'") from None
