"""``spillstore audit``: what happened in a session, and who did it."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import select
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from spillstore.events.catalogue import RENDERED
from spillstore.model.ids import named_by
from spillstore_tools.cli.support.artifacts import LAST, find
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import at_terminal, json_option, local, moment_here, note, print_json
from spillstore_tools.cli.support.tables import fitted, with_room
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore import Page, Session
    from spillstore.info import Event
    from spillstore_tools.cli.support.location import Location

_HEADER = ("at", "kind", "actor", "call", "artifact", "detail")
_OPTIONAL = ("call", "actor", "artifact")  # which go first where there is no room
_LEAST = 24  # columns of a terminal that the detail has at least
_WIDTHS = (29, 9, 7, 12, 34, 0)  # of what is printed before anybody knows how wide it will be
_PAGE = 1000
_POLL = 0.5  # seconds


@click.command("audit")
@click.option(
    "--since",
    metavar="TIME",
    callback=moment_here,
    help="From then on: 30s, 5m, 2h, 7d ago, or a date and time here.",
)
@click.option("--until", metavar="TIME", callback=moment_here, help="Before then.")
@click.option("--kind", metavar="KIND", help="Only these: create, seal, read, search, denied, limit, ...")
@click.option("--artifact", metavar="ID", help="Only what happened to this artifact, which may be gone.")
@click.option("--actor", metavar="NAME", help="Only what this one did: model, cli, library, ...")
@click.option("--tool-call-id", metavar="ID", help="Only what was done for this tool call.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    metavar="N",
    help="Print N events at most.  [default: 100]",
)
@click.option(
    "--deleted", is_flag=True, help="Of sessions of this name that were deleted, where that is kept."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what is recorded from now on, or since TIME.")
@location_options
@json_option
def command(
    since: float | None,
    until: float | None,
    kind: str | None,
    artifact: str | None,
    actor: str | None,
    tool_call_id: str | None,
    limit: int,
    location: Location,
    *,
    deleted: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Print what happened in a session, the newest first: what was stored, read, refused, and by whom.

    What other processes have read within the last two seconds may be missing. Events of deleted sessions are kept where
    the setting audit_keep says so. With --follow they come as they are recorded, until Ctrl-C, with --json one a line.

    \b
    Example:
      spillstore audit --since 2h --kind read --actor model
      spillstore audit --artifact @last --json
      spillstore audit --kind denied
      spillstore audit --follow --since 1h --json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if follow:
        _refuse_with_follow(until=until, deleted=deleted)
        _follow(
            location,
            artifact,
            {"kind": kind, "actor": actor, "tool_call_id": tool_call_id, "since": since},
            as_json=as_json,
        )
    filters: dict[str, Any] = {
        "kind": kind,
        "actor": actor,
        "tool_call_id": tool_call_id,
        "since": since,
        "until": until,
    }
    if deleted:
        store = location.store()
        found = _first(
            lambda cursor: store.deleted_events(
                location.session,
                location.project,
                artifact_id=artifact,
                limit=_PAGE,
                cursor=cursor,
                **filters,
            ),
            limit + 1,
        )
    else:
        with location.open() as session:
            name = None if artifact is None else _named(session, artifact)
            found = _first(
                lambda cursor: session.events(artifact_id=name, limit=_PAGE, cursor=cursor, **filters),
                limit + 1,
            )
    more, found = len(found) > limit, found[:limit]
    if as_json:
        print_json({"events": [dataclasses.asdict(event) for event in found], "more": more})
        return
    if found:
        click.echo(fitted(_HEADER, [_row(event) for event in found], optional=_OPTIONAL, least=_LEAST))
    if more:
        note(f"there are more: --limit {limit * 10}")


def _refuse_with_follow(*, until: float | None, deleted: bool) -> None:
    given = click.get_current_context().get_parameter_source("limit") is ParameterSource.COMMANDLINE
    for name, is_given in (("--until", until is not None), ("--deleted", deleted), ("--limit", given)):
        if is_given:
            raise click.UsageError(f"give --follow or {name}, not both")


def _follow(location: Location, artifact: str | None, filters: dict[str, Any], *, as_json: bool) -> NoReturn:
    """Print events as they come, until a signal or until the reader of stdout ends."""
    with location.open() as session:
        name = None if artifact is None else _named(session, artifact)
        cursor = None
        while True:
            page = session.new_events(cursor, artifact_id=name, limit=_PAGE, **filters)
            for event in page:
                if event.kind != RENDERED:
                    click.echo(json.dumps(dataclasses.asdict(event)) if as_json else _line(event))
            cursor = page.cursor
            if len(page.items) < _PAGE:
                _wait()


def _wait() -> None:
    """Until the next look; who reads us may be gone for hours before there is something to write."""
    sys.stdout.flush()
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    if any(found & (select.POLLERR | select.POLLHUP) for _, found in poll.poll(_POLL * 1000)):
        os.kill(os.getpid(), signal.SIGPIPE)  # as if we had written
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))  # where that is ignored


def _line(event: Event) -> str:
    cells = [label(cell) for cell in _row(event)]
    room = shutil.get_terminal_size().columns if at_terminal() else None
    widths = [*_WIDTHS[:-1], _LEAST]
    columns = with_room(_HEADER, widths, sys.maxsize if room is None else room, optional=_OPTIONAL)
    return "  ".join(cells[at].ljust(_WIDTHS[at]) for at in columns).rstrip()[:room]


def _named(session: Session, name: str) -> str:
    """The id that a user means; one that is not there any more stands for itself."""
    name, _ = named_by(name)
    return find(session, name).id if name == LAST or session.matching(name, 1) else name


def _first(page: Callable[[str | None], Page[Event]], most: int) -> list[Event]:
    found: list[Event] = []
    for event in _every(page):
        if event.kind != RENDERED:
            found.append(event)
        if len(found) == most:
            break
    return found


def _every(page: Callable[[str | None], Page[Event]]) -> Iterator[Event]:
    cursor = None
    while True:
        events = page(cursor)
        yield from events
        cursor = events.cursor
        if cursor is None:
            return


def _row(event: Event) -> list[str]:
    detail = ", ".join(f"{name} {_word(value)}" for name, value in event.detail.items() if value is not None)
    return [
        local(event.at, fraction=True),
        event.kind,
        event.actor or "",
        event.tool_call_id or "-",
        event.artifact_id or "-",
        detail,
    ]


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
