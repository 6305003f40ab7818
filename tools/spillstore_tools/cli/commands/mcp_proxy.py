"""``spillstore mcp-proxy``: a server of the Model Context Protocol in front of another one."""

from __future__ import annotations

import dataclasses
import secrets
import shlex
import sys
import time
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.garbage import look_as_usual
from spillstore_tools.cli.support.location import Location, observe
from spillstore_tools.cli.support.metrics import metrics_option, served_metrics
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import announcer, json_option, note
from spillstore_tools.cli.support.profile import load_configuration, profile_option
from spillstore_tools.cli.support.ranges import size_option

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore_tools.profiles import ProfileName


_LEAST = 64 * 1024  # bytes that a message may have in any case


def _bytes(context: click.Context, parameter: click.Parameter, text: str) -> int:
    size = size_option(context, parameter, text)
    if size < _LEAST:
        raise click.BadParameter(f"{text!r} is less than a message of the protocol may need, 64K")
    return size


@click.command("mcp-proxy", context_settings={"allow_interspersed_args": False})
@click.argument("command_line", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--max-message",
    metavar="SIZE",
    default="256M",
    callback=_bytes,
    help="Longest message of the server; a longer one is thrown away, and its call gets an error.  [default: 256M]",
)
@click.option(
    "--structured",
    is_flag=True,
    envvar="SPILLSTORE_MCP_STRUCTURED",
    help="Answers of our tools as structured content, too, with output schemas.  [SPILLSTORE_MCP_STRUCTURED]",
)
@metrics_option
@profile_option
@location_options(session="", shown="a new one")
@json_option
def command(
    command_line: tuple[str, ...],
    max_message: int,
    profile: ProfileName,
    location: Location,
    *,
    metrics: tuple[str, int] | None,
    structured: bool,
    as_json: bool,
) -> None:
    """Put an MCP server behind one that stores its oversized tool results.

    COMMAND starts the server, which speaks the protocol on stdin and stdout, and so does this. All that it offers passes
    through as it is; of tool results that are too large a preview is shown, and the tools get_artifact, search_artifact
    and the others that read bring the rest. Without --session each start has a session of its own. Which it is is printed
    on stderr once there is something in it. The exit code is the server's if it ends by itself, 128 + n after signal n,
    else 0.

    \b
    Example:
      spillstore mcp-proxy -- mcp-server-git --repository .
      spillstore mcp-proxy --session chat-42 --profile omni -- npx some-mcp-server
      spillstore mcp-proxy --metrics 127.0.0.1:9464 -- mcp-server-git --repository .
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore_tools.mcp.proxy.lazy_session import LazySession  # noqa: PLC0415  # not for --help
    from spillstore_tools.mcp.proxy.proxy import Proxy, signals_as_events  # noqa: PLC0415  # likewise
    from spillstore_tools.process.runners import StartError  # noqa: PLC0415  # likewise

    if sys.stdin is None:
        raise click.UsageError("stdin is closed; the client is to speak there")
    configuration = load_configuration(profile)
    context = click.get_current_context()
    if not location.session:
        location = _own_session(location)

    made: list[bool] = []

    def session() -> Session:
        from spillstore.exceptions import SessionNotFoundError  # noqa: PLC0415  # as in all commands

        try:
            found = location.open(write=True)
        except SessionNotFoundError:
            found = location.open(create=True, write=True)
            made.append(True)
        announce("session", found.id)
        return found

    announce = announcer(as_json=as_json)
    observe()  # the session, and with it the store, is opened when it is needed
    look_as_usual()
    with served_metrics(metrics, announce), signals_as_events() as events:
        try:
            proxy = Proxy(
                command_line,
                LazySession(session, configuration, made=lambda: bool(made)),
                profile=profile,
                configuration=configuration,
                flags=location.flags,
                streams=(sys.stdin.fileno(), sys.stdout.fileno()),
                max_message=max_message,
                structured=structured,
                events=events,
            )
        except StartError as error:
            note(str(error))
            context.exit(error.exit_code)
        code = proxy.run()
    context.exit(code)


def _own_session(location: Location) -> Location:
    """A new session, which notices name so that a shell finds it."""
    name = f"mcp-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
    return dataclasses.replace(
        location, session=name, flags=f"{location.flags} --session {shlex.quote(name)}"
    )
