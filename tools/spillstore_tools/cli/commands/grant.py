"""``spillstore grant``: the rights that a role of a server needs."""

from __future__ import annotations

import click

from spillstore_tools.cli.support.location import refuse_memory
from spillstore_tools.cli.support.output import json_option, note, print_json


@click.command("grant")
@click.argument("url", required=False, envvar="SPILLSTORE_ROOT")
@click.option("--role", required=True, metavar="NAME", help="Who gets the rights.")
@click.option("--project", metavar="NAME", help="Only for the sessions of this project.  [default: all]")
@click.option("--read-only", is_flag=True, help="For who only reads; its reads leave no events.")
@click.option("--apply", is_flag=True, help="Run the SQL, as the role that owns the tables.")
@json_option
def command(
    url: str | None, role: str, project: str | None, *, read_only: bool, apply: bool, as_json: bool
) -> None:
    """Print the SQL that gives a role of the server at URL exactly the rights that a store needs.

    With --project the role sees and writes the sessions of that project alone (row-level security). What the role had before on
    the tables is taken away, so a second call with other options changes its rights. Without URL, that of SPILLSTORE_ROOT.

    \b
    Example:
      spillstore grant --role agent postgresql://owner@db.example/spill | psql spill
      spillstore grant --role web --project web --apply postgresql://owner@db.example/spill
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    from spillstore import server  # noqa: PLC0415  # as in all commands

    refuse_memory(url)
    script = server.grant(url, role=role, project=project, read_only=read_only, apply=apply)
    if as_json:
        print_json({"role": role, "project": project, "applied": apply, "sql": script})
    elif apply:
        which = "the sessions of all projects" if project is None else f"the sessions of project {project!r}"
        note(f"{role!r} may {'read' if read_only else 'use'} {which}")
    else:
        click.echo(script, nl=False)
