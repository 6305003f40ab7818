"""``spillstore view``: sessions, artifacts and logs in a terminal."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any, cast

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.completion import complete_id
from spillstore_tools.cli.support.garbage import look_as_usual
from spillstore_tools.cli.support.options import location_options, stream_option

if TYPE_CHECKING:
    from spillstore.info import Stream
    from spillstore_tools.cli.support.location import Location


@click.command("view")
@click.argument("artifact_id", metavar="[ID]", required=False, shell_complete=complete_id)
@click.option("--line", type=click.IntRange(min=1), default=1, metavar="N", help="Begin with line N.")
@click.option("--sessions", is_flag=True, help="Begin with the sessions of the store.")
@stream_option
@location_options
def command(artifact_id: str | None, stream: str, line: int, location: Location, *, sessions: bool) -> None:
    """Look at artifacts in a terminal: at any line of any size, with what the model saw of it.

    Without ID, the artifacts of the session are listed. F1 lists the keys. Needs an extra: pip install 'spillstore[view]'.

    \b
    Example:
      spillstore view @last
      spillstore view --sessions
      spillstore view @last --line 500 --stream stderr
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if sessions and artifact_id is not None:
        raise click.UsageError("give an ID or --sessions, not both")
    try:
        from spillstore_tools.viewer.terminal.app import Viewer  # noqa: PLC0415  # a quarter of a second
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"textual", "rich"}:
            raise
        raise click.ClickException(
            "view needs an extra: pip install 'spillstore[view]'; `spillstore show` needs none"
        ) from None
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        raise click.ClickException("view needs a terminal; `spillstore show` prints to anything")
    look_as_usual()
    store = location.store()
    if sessions:
        Viewer(list_options, store=store, project=location.project).run()
        return
    with location.open() as session:
        artifact = None if artifact_id is None else find(session, artifact_id)
        Viewer(
            list_options,
            session=session,
            artifact=artifact,
            store=store,
            project=location.project,
            stream=cast("Stream", stream),
            line=line,
        ).run()


def list_options(text: str) -> dict[str, Any]:
    """The options of ``spillstore list`` as arguments of ``chosen_artifacts``.

    Raises:
        UsageError: they are none.

    Example:
        >>> list_options("--failed --sort size")["order"]
        'size'
    """
    from spillstore.exceptions import UsageError  # noqa: PLC0415  # with the store
    from spillstore_tools.cli.commands.list_ import choice_of, command  # noqa: PLC0415  # with the viewer

    try:
        words = shlex.split(text)
        if {"-h", "--help"} & set(words):  # which would print
            raise click.UsageError("give options that choose artifacts")
        # The names of its own help option, which a command keeps from its first context on.
        given = command.make_context("list", words, help_option_names=["-h", "--help"]).params
    except (click.ClickException, ValueError) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        raise UsageError(f"{message} (`spillstore list --help` has the options)") from None
    return {
        "choice": choice_of(given),
        "order": given["sort"],
        "limit": given["limit"],
        "reverse": given["reverse"],
    }
