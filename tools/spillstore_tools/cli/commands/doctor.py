"""``spillstore doctor``: whether agents keep their outputs here, and what to do if not."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.agents import NAMES, place_for, scope_option, store_folder
from spillstore_tools.cli.support.output import json_option, print_json, styled
from spillstore_tools.cli.support.profile import load_configuration

if TYPE_CHECKING:
    from spillstore_tools.agents.examination import Finding, Report

_STYLES = {"ok": "32", "advice": "33", "problem": "31"}


@click.command("doctor")
@click.argument("agents", metavar="[AGENT]...", type=click.Choice(NAMES), nargs=-1)
@scope_option
@json_option
def command(agents: tuple[str, ...], scope: str, *, as_json: bool) -> None:
    """Look whether agents keep their outputs here: which are installed and configured, and whether that works.

    Tried are the store (can it be written?), the programs that the entries name (are they there, do they run?) and the
    length of previews (does the agent cut them again?). The exit code is 1 if there is a problem, or if an agent that was named
    is not configured; else 0.

    \b
    Example:
      spillstore doctor
      spillstore doctor claude-code --json
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore_tools.agents.examination import examine  # noqa: PLC0415  # not for --help
    from spillstore_tools.agents.registry import AGENTS  # noqa: PLC0415  # likewise

    place = place_for(scope)
    configuration = load_configuration("default")
    limit = None if configuration is None else configuration.inline_limit
    store = _store_finding()
    reports = [examine(AGENTS[name], place, limit) for name in agents or NAMES]
    failed = store.level == "problem" or any(
        finding.level == "problem" for report in reports for finding in report.findings
    )
    failed = failed or any(report.configured != "yes" for report in reports if report.agent in agents)
    if as_json:
        found = [dataclasses.asdict(report) for report in reports]
        print_json({"ok": not failed, "scope": scope, "store": dataclasses.asdict(store), "agents": found})
    else:
        _print(store, reports)
    click.get_current_context().exit(1 if failed else 0)


def _print(store: Finding, reports: list[Report]) -> None:
    click.echo(f"{styled(store.level, _STYLES[store.level])}: {store.what}: {store.text}")
    for report in reports:
        state = {"yes": "configured", "no": "not configured"}.get(report.configured, report.configured)
        version = report.version or ("installed" if report.program else "not installed")
        click.echo(f"\n{styled(report.agent, '1')}  {version}, {state}")
        for finding in report.findings:
            click.echo(f"  {styled(finding.level, _STYLES[finding.level])}: {finding.what}: {finding.text}")


def _store_finding() -> Finding:
    """Whether something can be stored."""
    from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # as in all commands
    from spillstore.store import address_of  # noqa: PLC0415  # likewise
    from spillstore_tools.agents.examination import Finding  # noqa: PLC0415  # likewise

    folder = store_folder()
    if folder is None:
        return Finding("ok", "store", f"{address_of()} is no folder; it was not tried")
    try:
        existing = folder
        while not os.path.lexists(existing):  # paths as they are named
            existing = os.path.dirname(existing)  # noqa: PTH120  # likewise
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"\0")
            file.flush()
    except (OSError, SpillstoreError) as error:
        return Finding(
            "problem",
            "store",
            f"{folder} cannot be written: {error}; set SPILLSTORE_ROOT to a folder that can",
        )
    return Finding("ok", "store", f"{folder} can be written")
