"""``spillstore ui``: sessions, logs and their audit trail, in a browser on this machine."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.garbage import look_as_usual
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import announcer, json_option
from spillstore_tools.loopback.addresses import loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.cli.support.location import Location

_EXTRA = frozenset({"starlette", "uvicorn", "h11", "anyio"})


@click.command("ui")
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Where it is served; only this machine can be.  [default: 127.0.0.1]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port.  [default: one that is free]",
)
@location_options(session="", shown="all of them")
@json_option
def command(host: str, port: int, location: Location, *, as_json: bool) -> None:
    """Show sessions and their artifacts in a browser on this machine: whole logs, with what the model saw of them.

    The URL that is printed on stderr lets one browser in, once. Nobody else on this machine is served, nothing is changed, and what is read is recorded with the actor `viewer`. It ends
    on Ctrl-C.

    \b
    Example:
      spillstore ui
      spillstore ui --port 8765 --session chat-42
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    try:
        address = loopback(host)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with _extra_needed():
        from spillstore_tools.viewer.web.serve import serve, session_address  # noqa: PLC0415  # it brings a web server

    from spillstore_tools.cli.support.server_log import warnings_as_notes  # noqa: PLC0415  # not for --help

    announce = announcer(as_json=as_json)
    home = "/"
    if location.session:
        location.open().close()  # so that an error is reported now
        home = session_address(location.session, location.project)
    look_as_usual()
    with warnings_as_notes():
        code = serve(location.store(), address, port, lambda url: announce("url", url), home)
    click.get_current_context().exit(code)


@contextlib.contextmanager
def _extra_needed() -> Iterator[None]:
    """A context that imports what only the extra ``ui`` brings.

    Raises:
        click.ClickException: it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise click.ClickException(
            "the viewer in a browser needs an extra: pip install 'spillstore[ui]'"
        ) from None
