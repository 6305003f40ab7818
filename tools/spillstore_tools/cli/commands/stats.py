"""``spillstore stats``: what was spilled, cut, read and refused, in numbers."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, note, print_json
from spillstore_tools.cli.support.tables import fitted
from spillstore_tools.describe import count, human_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spillstore_tools.cli.support.location import Location
    from spillstore_tools.telemetry.statistics import Retrieval, Statistics, ToolStatistics, Totals

_TOOLS = (
    "tool", "calls", "cut", "received", "shown", "less", "artifacts", "size", "stored", "reads", "never read",
)  # fmt: skip
# Which go first where there is no room.
_OPTIONAL = ("stored", "never read", "less", "size", "received", "reads", "shown", "cut", "artifacts")
_OPTIONAL_READS = ("p50 ms", "bytes", "failed", "p95 ms")
_READS = ("kind", "calls", "failed", "bytes", "p50 ms", "p95 ms")


@click.command("stats")
@click.option(
    "--all", "all_sessions", is_flag=True, help="Of all sessions of the store, whatever their project."
)
@click.option(
    "--prometheus", is_flag=True, help="Print the text format of Prometheus, for its textfile collector."
)
@location_options
@json_option
def command(location: Location, *, all_sessions: bool, prometheus: bool, as_json: bool) -> None:
    """Print what a session's audit log adds up to: what was kept, shown and read back, for each tool, too.

    "Errors" are lines that report one, which a preview has shown, and no cut to beginning and end of the same length would have.
    Under "cut" is the share of calls that was not shown whole, under "less" the share of bytes that was not shown.

    \b
    Example:
      spillstore stats
      spillstore stats --all --json
      spillstore stats --all --prometheus
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if prometheus and as_json:
        raise click.UsageError("give --prometheus or --json, not both")
    from spillstore_tools.telemetry.statistics import Statistics  # noqa: PLC0415  # not for --help

    statistics = Statistics()
    if all_sessions:
        _add_all(statistics, location)
    else:
        with location.open() as session:
            statistics.add(session)
    if as_json:
        print_json(statistics.as_dict())
        return
    if prometheus:
        from spillstore_tools.telemetry import exposition  # noqa: PLC0415  # only where it is asked for

        click.echo(exposition(statistics), nl=False)
        return
    click.echo("\n\n".join(filter(None, _tables(statistics))))


def _add_all(statistics: Statistics, location: Location) -> None:
    from spillstore.exceptions import SessionNotFoundError, SpillstoreError  # noqa: PLC0415  # it is loaded by now

    store = location.store()
    for info in store.sessions():
        with contextlib.suppress(SessionNotFoundError):  # deleted meanwhile
            try:
                with store.session(info.id, info.project, read_only=True) as session:
                    statistics.add(session)
            except SessionNotFoundError:
                raise
            except SpillstoreError as error:
                note(f"session {info.id!r} is left out: {error}")


def _tables(statistics: Statistics) -> list[str]:
    tools = [_tool(name, tool) for name, tool in sorted(statistics.tools.items())]
    reads = [_retrieval(kind, each) for kind, each in sorted(statistics.retrievals.items())]
    rate = statistics.artifacts_per_hour
    summary = [
        count(statistics.sessions, "session"),
        count(statistics.created, "artifact")
        + " created"
        + ("" if rate is None else f" ({rate:.1f} an hour)"),
        f"{count(statistics.denied, 'id')} refused",
        f"{count(statistics.damaged, 'read')} met damage",
        f"{count(statistics.evicted, 'artifact')} evicted",
    ]
    return [
        _worth(statistics.totals()),
        fitted(_TOOLS, tools, right=_TOOLS[1:], optional=_OPTIONAL) if tools else "",
        fitted(_READS, reads, right=_READS[1:], optional=_OPTIONAL_READS) if reads else "",
        _counted("read by", statistics.readers),
        _counted("limit", statistics.limits),
        _counted("secret removed", statistics.redactions),
        ", ".join(summary),
    ]


def _worth(totals: Totals) -> str:
    """What it was good for, in four lines; nothing where there is nothing."""
    if not totals.kept and not totals.received:
        return ""
    return "\n".join(
        [
            f"kept:      {count(totals.kept, 'output')}, {human_size(totals.size)}, in {human_size(totals.stored_size)}",
            f"shown:     {count(totals.shown, 'character')} of {human_size(totals.received)} that came",
            f"read back: {count(totals.reads, 'time')}, {human_size(totals.read_size)}",
            f"errors:    {count(totals.rescued, 'line')} that both ends would have lost",
        ]
    )


def _tool(name: str, tool: ToolStatistics) -> Sequence[str]:
    return (
        name or "-",
        str(tool.calls),
        _share(tool.truncation_rate),
        human_size(tool.received),
        human_size(tool.shown),
        _share(tool.reduction),
        str(tool.artifacts),
        human_size(tool.size),
        human_size(tool.stored_size),
        str(tool.reads),
        str(tool.never_read),
    )


def _retrieval(kind: str, retrieval: Retrieval) -> Sequence[str]:
    numbers = retrieval.as_dict()
    times = ("-" if numbers[name] is None else f"{numbers[name]:.1f}" for name in ("p50_ms", "p95_ms"))
    return (kind, str(retrieval.calls), str(retrieval.failed), human_size(retrieval.size), *times)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _counted(name: str, counts: Mapping[str, int]) -> str:
    rows = [(what or "-", str(number)) for what, number in sorted(counts.items(), key=lambda item: -item[1])]
    return fitted((name, "times"), rows, right=("times",)) if rows else ""
