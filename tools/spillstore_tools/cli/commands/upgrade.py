"""``spillstore upgrade``: make the tables of a store on a server, or bring them to the newest schema."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli.support.location import refuse_memory
from spillstore_tools.cli.support.output import json_option, note, print_json
from spillstore_tools.describe import count

if TYPE_CHECKING:
    from spillstore.info import Upgrade


@click.command("upgrade")
@click.argument("url", required=False, envvar="SPILLSTORE_ROOT")
@click.option("--dry-run", is_flag=True, help="Only say what is to be done.")
@click.option("--sql", is_flag=True, help="Print the SQL, for who runs it by hand, and change nothing.")
@json_option
def command(url: str | None, *, dry_run: bool, sql: bool, as_json: bool) -> None:
    """Make the tables of the store at URL, or bring them to the newest schema.

    All or nothing, in one transaction; safe to repeat, and while others do the same. Refused while processes have sessions open
    that a change of the schema would hurt. Without URL, that of SPILLSTORE_ROOT. Session files in a folder are upgraded when they are
    opened for writing.

    \b
    Example:
      spillstore upgrade postgresql://owner@db.example/spill
      spillstore upgrade --sql postgresql://owner@db.example/spill | less
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore import server  # noqa: PLC0415  # as in all commands

    refuse_memory(url)
    if sql:
        script = server.upgrade_sql(url)
        if as_json:
            print_json({"sql": script})
        else:
            click.echo(script, nl=False)
        return
    done = server.upgrade(url, dry_run=dry_run)
    if as_json:
        print_json({**dataclasses.asdict(done), "changed": done.changed})
    elif done.after is None:
        note(f"{done.store} is a folder: its session files are upgraded when they are opened for writing")
    else:
        click.echo(_sentence(done))


def _sentence(done: Upgrade) -> str:
    if not done.changed:
        return f"{done.store} has the schema {done.after} already"
    parts = []
    if done.before is None:
        parts.append(f"{'Would make' if done.dry_run else 'Made'} the schema {done.after} in {done.store}")
    elif done.before != done.after:
        word = "Would upgrade" if done.dry_run else "Upgraded"
        parts.append(f"{word} {done.store} from the schema {done.before} to {done.after}")
    if done.spread:
        word = "would spread" if done.dry_run else "spread"
        parts.append(f"{word} {count(len(done.spread), 'table')} by Citus")
    text = ", ".join(parts)
    return text[0].upper() + text[1:]
