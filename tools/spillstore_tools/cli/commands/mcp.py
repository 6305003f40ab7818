"""``spillstore mcp``: the tools of a session for clients of the Model Context Protocol."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.garbage import look_as_usual
from spillstore_tools.cli.support.metrics import metrics_option, served_metrics
from spillstore_tools.cli.support.options import Number, location_options
from spillstore_tools.cli.support.output import announcer, json_option
from spillstore_tools.cli.support.profile import load_configuration, profile_option
from spillstore_tools.loopback.addresses import loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.cli.support.location import Location
    from spillstore_tools.profiles import ProfileName

_EXTRA = frozenset({"mcp", "mcp_types"})
_SDK = (2, 2)  # the oldest that bounds the sessions of clients; the extra says the same


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
    help="With --transport http: the port.  [default: one that is free; it is printed on stderr]",
)
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --transport http: connections at once. The one without a request for the longest time gives way.  [default: a quarter of the descriptors]",
)
@click.option(
    "--max-sessions",
    type=click.IntRange(min=1),
    metavar="N",
    default=100,
    help="Of clients over HTTP; one that was never used gives way.  [default: 100]",
)
@click.option(
    "--unused",
    type=Number(min=1),
    metavar="SECONDS",
    default=600.0,
    help="When a session over HTTP ends that has called nothing.  [default: 600]",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="HOST:PORT",
    help="A Host that requests may have besides this address and port, as behind a tunnel. May be repeated.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="URL",
    help="An Origin likewise, such as http://localhost:6274. May be repeated.",
)
@click.option(
    "--cwd",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Where commands run.  [default: here]",
)
@click.option("--read-only", is_flag=True, help="No commands, nothing is written; the session must be there.")
@click.option(
    "--timeout",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    default=50.0,
    envvar="SPILLSTORE_MCP_TIMEOUT",
    help="A call waits for its command so long at most; then that goes on in the background.  [SPILLSTORE_MCP_TIMEOUT; default: 50]",
)
@click.option(
    "--structured",
    is_flag=True,
    envvar="SPILLSTORE_MCP_STRUCTURED",
    help="Answers as structured content, too, with output schemas.  [SPILLSTORE_MCP_STRUCTURED]",
)
@metrics_option
@profile_option
@location_options(session="", shown="a new one")
@json_option
def command(
    transport: str,
    host: str,
    port: int,
    max_connections: int | None,
    max_sessions: int,
    unused: float,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    cwd: str | None,
    timeout: float,
    profile: ProfileName,
    location: Location,
    *,
    metrics: tuple[str, int] | None,
    read_only: bool,
    structured: bool,
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
      spillstore mcp --metrics 127.0.0.1:9464
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if read_only and not location.session:
        raise click.UsageError("--read-only needs a session that is there: name it with --session")
    from spillstore_tools.cli.support.server_log import warnings_as_notes  # noqa: PLC0415  # not for --help
    from spillstore_tools.mcp.server.serve import ServerOptions, serve  # noqa: PLC0415  # likewise

    listen = admission = None
    if transport == "http":
        try:
            with extra_needed():
                from spillstore_tools.mcp.server.http import Admission  # noqa: PLC0415  # it brings the SDK and a web server

            listen = (loopback(host), port)
            admission = Admission(
                token=os.environ.get("SPILLSTORE_MCP_TOKEN") or None,
                hosts=hosts,
                origins=origins,
                connections=max_connections,
                sessions=max_sessions,
                unused=unused,
            )
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    announce = announcer(as_json=as_json)
    store = location.store()
    options = ServerOptions(
        store=store,
        session=location.session or None,
        project=location.project,
        read_only=read_only,
        profile=profile,
        configuration=load_configuration(profile),
        cwd=cwd,
        timeout=timeout,
        structured=structured,
        listen=listen,
        admission=admission,
        announce=announce,
    )
    look_as_usual()
    with warnings_as_notes(), served_metrics(metrics, announce), location.named(store):
        code = serve(options)
    click.get_current_context().exit(code)


@contextlib.contextmanager
def extra_needed() -> Iterator[None]:
    """A context that imports what only the extra ``mcp`` brings.

    Raises:
        click.ClickException: it is not installed, or another package has brought an older one.
    """
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # only over HTTP

    try:
        installed = version("mcp")
        found = re.match(r"(\d+)\.(\d+)", installed)
        if found is None or (int(found[1]), int(found[2])) < _SDK:
            least = ".".join(map(str, _SDK))
            raise click.ClickException(
                f"HTTP needs mcp {least} or newer, and {installed} is installed: pip install 'spillstore[mcp]'; stdio needs none"
            )
        yield
    except (ModuleNotFoundError, PackageNotFoundError) as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise click.ClickException("HTTP needs an extra: pip install 'spillstore[mcp]'") from None
