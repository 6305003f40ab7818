"""``spillstore clean``: delete a session."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, print_json
from spillstore_tools.describe import count, human_size
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore_tools.cli.support.location import Location

_PAGE = 1000


@click.command("clean")
@click.option(
    "--force",
    is_flag=True,
    help="Delete it while somebody is using it, too: what they print from then on is lost. It may also be gone already.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask at a terminal.")
@location_options
@json_option
def command(location: Location, *, force: bool, yes: bool, as_json: bool) -> None:
    """Delete this session with all its artifacts. At a terminal it asks first.

    \b
    Example:
      spillstore clean --session ci
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore.exceptions import (  # noqa: PLC0415  # as in all commands
        DamageError,
        SessionNotFoundError,
        StorageError,
    )

    missing: SessionNotFoundError | None = None
    removed = None
    try:
        with location.open() as session:
            removed = _count(session)
    except SessionNotFoundError as error:
        missing = error  # or a power cut has left a folder without a file
    except (DamageError, StorageError):
        pass  # deleting says whether that is in its way
    freed = _disk_size(location)
    if missing is None and not (yes or as_json) and sys.stdin is not None and sys.stdin.isatty():
        what = "all that is in it" if removed is None else count(removed, "artifact")
        question = f"Delete session {label(location.session)} with {what} ({human_size(freed)})?"
        if not click.confirm(question, err=True):
            raise click.ClickException("nothing was deleted")
    try:
        location.store().delete(location.session, location.project, force=force)
    except SessionNotFoundError as error:
        if not force:
            raise (missing or error) from None
        removed = 0
    if as_json:
        print_json({"session": location.session, "artifacts": removed, "freed": freed})
        return
    what = "the session" if removed is None else count(removed, "artifact")
    click.echo(f"Removed {what} ({human_size(freed)} freed)")


def _count(session: Session) -> int:
    total, cursor = 0, None
    while True:
        page = session.infos(limit=_PAGE, cursor=cursor)
        total += len(page)
        cursor = page.cursor
        if cursor is None:
            return total


def _disk_size(location: Location) -> int:
    for info in location.store().sessions(location.project):
        if (info.id, info.project) == (location.session, location.project):
            return info.disk_size
    return 0
