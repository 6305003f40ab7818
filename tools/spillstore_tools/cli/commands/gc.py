"""``spillstore gc``: delete sessions that are too old, or the oldest while all take too much."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import Counter
from typing import TYPE_CHECKING

import click

from spillstore_tools.agent.arguments import ArgumentError, moment
from spillstore_tools.cli.support.location import Location, named_root, refuse_memory
from spillstore_tools.cli.support.output import json_option, local, note, print_json
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.cli.support.ranges import size_option
from spillstore_tools.cli.support.tables import fitted
from spillstore_tools.describe import count, human_size

if TYPE_CHECKING:
    from spillstore.info import CollectReport, Fate

_HEADER = ("session", "project", "size", "last used", "why")
_OPTIONAL = ("project", "last used", "size")  # which go first where there is no room
_WORDS = {
    "age": "too old",
    "room": "the oldest, to make room",
    "live": "in use",
    "young": "young enough",
    "busy": "taken by somebody meanwhile",
    "unreadable": "unreadable",
}


def _age(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    """Seconds, from ``7d`` or a moment."""
    if text is None:
        return None
    from spillstore.exceptions import InvalidSettingError  # noqa: PLC0415  # as in all commands
    from spillstore.settings import parse_duration  # noqa: PLC0415  # likewise

    with contextlib.suppress(InvalidSettingError):
        return parse_duration("--older-than", text)
    with contextlib.suppress(ArgumentError):
        at = moment("--older-than", text, here=True)
        if at is not None and text.strip()[:1] != "-":  # no moment is before 1970
            return max(0.0, time.time() - at)
    raise click.BadParameter(
        f"{text!r} is no age; for example 30m, 12h, 7d, 3600 (seconds) or 2026-11-20T08:00"
    )


@click.command("gc")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option(
    "--older-than",
    metavar="AGE",
    callback=_age,
    help="What was last written so long ago: 12h, 7d.  [SPILLSTORE_RETENTION; default: 7d]",
)
@click.option(
    "--keep",
    metavar="SIZE",
    callback=size_option,
    help="The oldest, too, until what stays takes no more than SIZE: 500M, 5G.",
)
@click.option("--project", metavar="NAME", help="Only the sessions of this project.  [default: all]")
@click.option(
    "--root",
    envvar="SPILLSTORE_ROOT",
    metavar="STORE",
    callback=named_root,
    help="The store: a folder, or the URL of a server.  [SPILLSTORE_ROOT; default: in the user's state folder]",
)
@json_option
def command(
    older_than: float | None,
    keep: int | None,
    project: str | None,
    root: str | None,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Delete old sessions of the store, and what died processes have left.

    A session that a living process holds is never touched.

    \b
    Example:
      spillstore gc --dry-run
      spillstore gc --older-than 2d --keep 5G
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    refuse_memory(root)
    store = Location(session="", project=None, root=root, flags="").store()
    with progress("deleting old sessions") as done:
        report = store.collect(
            older_than=older_than, keep_bytes=keep, project=project, dry_run=dry_run, on_progress=done
        )
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    for fate in report.spared:
        if fate.why == "unreadable":
            note(f"{_named(fate)} stays, for it cannot be opened: {fate.detail}")
    for file in report.damaged:
        note(
            f"{file} holds events of deleted sessions that could not be used; remove it when you need it no more"
        )
    if report.deleted:
        rows = [_row(fate) for fate in report.deleted]
        click.echo(fitted(_HEADER, rows, right=("size",), optional=_OPTIONAL))
    click.echo(_summary(report))


def _named(fate: Fate) -> str:
    of = f" of project {fate.session.project!r}" if fate.session.project is not None else ""
    return f"session {fate.session.id!r}{of}"


def _row(fate: Fate) -> tuple[str, ...]:
    info = fate.session
    return info.id, info.project or "", human_size(info.disk_size), local(info.used), _WORDS[fate.why]


def _summary(report: CollectReport) -> str:
    did, freed = ("Would remove", "to be freed") if report.dry_run else ("Removed", "freed")
    more = f" and {count(report.leftovers, 'leftover')} of processes that died" if report.leftovers else ""
    reasons = Counter(fate.why for fate in report.spared)
    why = ": " + ", ".join(f"{number:,} {_WORDS[word]}" for word, number in sorted(reasons.items()))
    stay = f"{count(len(report.spared), 'session')} ({human_size(report.left)}) {'stays' if len(report.spared) == 1 else 'stay'}"
    return (
        f"{did} {count(len(report.deleted), 'session')}{more} ({human_size(report.freed)} {freed}); "
        f"{stay}{why if reasons else ''}"
    )
