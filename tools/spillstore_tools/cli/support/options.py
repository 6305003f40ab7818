"""Arguments and options that several commands have."""

from __future__ import annotations

import functools
import math
import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spillstore.audit.actor import acting
from spillstore.model.ids import named_by
from spillstore_tools.cli.support.artifacts import LAST
from spillstore_tools.cli.support.completion import complete_folder, complete_id, complete_session
from spillstore_tools.cli.support.location import Location, named_root, refuse_memory, without_password
from spillstore_tools.cli.support.working_folders import project_session

if TYPE_CHECKING:
    from collections.abc import Callable

_SERVERS = ("mcp", "mcp-proxy")  # commands that run for as long as their artifacts are used


class Number(click.FloatRange):
    """A number within bounds; ``nan``, which is within none, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As in click."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


id_argument = click.argument(
    "artifact_id", metavar="[ID]", default=LAST, required=False, shell_complete=complete_id
)
ids_argument = click.argument("artifact_ids", metavar="[ID]...", nargs=-1, shell_complete=complete_id)
stream_option = click.option(
    "--stream",
    type=click.Choice(["combined", "stdout", "stderr"]),
    default="combined",
    help="One stream alone; each counts its own lines and bytes.  [default: combined]",
)
skip_holes_option = click.option(
    "--skip-holes",
    is_flag=True,
    help="Leave out what was dropped at the artifact's limit, instead of failing.",
)


def location_options(
    function: Callable[..., Any] | None = None, *, session: str | None = None, shown: str = "the project's"
) -> Callable[..., Any]:
    """Give a command ``--session``, ``--project`` and ``--root``, which it gets as ``location``.

    Args:
        function: the command; None for a decorator with the other arguments.
        session: the default session; None for the project's.
        shown: the default in the help text.
    """
    if function is None:
        return functools.partial(location_options, session=session, shown=shown)

    @click.option(
        "--session",
        envvar="SPILLSTORE_SESSION",
        default=session,
        metavar="NAME",
        shell_complete=complete_session,
        help=f"The session.  [SPILLSTORE_SESSION; default: {shown}]",
    )
    @click.option(
        "--project", envvar="SPILLSTORE_PROJECT", metavar="NAME", help="Its project.  [SPILLSTORE_PROJECT]"
    )
    @click.option(
        "--root",
        envvar="SPILLSTORE_ROOT",
        metavar="STORE",
        callback=named_root,
        shell_complete=complete_folder,
        help="The store: a folder, or the URL of a server.  [SPILLSTORE_ROOT; default: in the user's state folder]",
    )
    @functools.wraps(function)
    def with_location(
        *args: object, session: str | None, project: str | None, root: str | None, **kwargs: object
    ) -> Any:
        context = click.get_current_context()
        if context.info_name not in _SERVERS:
            refuse_memory(root)
        flags = "".join(
            f" --{name} {shlex.quote(value)}"
            for name, value in (("session", session), ("project", project), ("root", without_password(root)))
            if value is not None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        )
        name = project_session() if session is None else session
        _resolve_uris(context, kwargs)
        location = Location(session=name, project=project, root=root, flags=flags)
        # A server acts for its clients.
        with acting(None, None, otherwise=None if context.info_name in _SERVERS else "cli"):
            return function(*args, location=location, **kwargs)

    return with_location


def _resolve_uris(context: click.Context, arguments: dict[str, Any]) -> None:
    """Replace ``artifact://ID?stream=stderr`` among the arguments by its id, and set the stream if none was given."""
    for key in ("artifact_id", "artifact_ids", "ids", "names"):
        given = arguments.get(key)
        if not given:
            continue
        named = [named_by(each) for each in ([given] if isinstance(given, str) else given)]
        ids = tuple(name for name, _ in named)
        arguments[key] = ids[0] if isinstance(given, str) else ids
        views = {view for _, view in named if view is not None}
        chosen = context.get_parameter_source("stream") is ParameterSource.COMMANDLINE
        if len(views) == 1 and not chosen and "stream" in arguments:
            arguments["stream"] = views.pop()
