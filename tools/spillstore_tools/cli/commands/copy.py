"""``spillstore copy``: copy sessions to another store."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spillstore_tools.cli.support.completion import complete_folder, complete_session
from spillstore_tools.cli.support.location import named_target, refuse_memory
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import fail, json_option, note, print_json
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.describe import count, human_size
from spillstore_tools.preview.text.clean import label

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Store
    from spillstore.info import CopyReport
    from spillstore_tools.cli.support.location import Location

_FAILED = 125
_COUNTS = ("artifacts", "open", "chunks", "events", "size", "stored_size")


@click.command("copy")
@click.argument("sessions", metavar="[SESSION]...", nargs=-1, shell_complete=complete_session)
@click.option(
    "--to",
    "target",
    required=True,
    metavar="DIR",
    callback=named_target,
    shell_complete=complete_folder,
    help="The store that they are copied to.",
)
@click.option(
    "--all", "every", is_flag=True, help="All sessions of the store, or of the --project that is named here."
)
@click.option("--skip-existing", is_flag=True, help="Leave out those that are there already.")
@click.option("--replace", is_flag=True, help="Put the copy in place of a session of that name.")
@click.option(
    "--force", is_flag=True, help="Copy what somebody has open for writing, too, as it is at this moment."
)
@location_options
@json_option
def command(
    sessions: tuple[str, ...],
    target: str,
    location: Location,
    *,
    every: bool,
    skip_existing: bool,
    replace: bool,
    force: bool,
    as_json: bool,
) -> int | None:
    """Copy sessions to another store, to the byte: artifacts, times, events and digests.

    Everything is checked on the way. A copy is there when all of it is: one that breaks off leaves nothing that others
    see, and with --skip-existing the same call goes on where it ended. If one of several fails, the others are copied.

    \b
    Example:
      spillstore copy --to /mnt/archive
      spillstore copy ci nightly --to /mnt/archive --replace
      spillstore copy --all --to /mnt/archive --skip-existing
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if every and sessions:
        raise click.UsageError("--all copies all sessions: name none")
    if replace and skip_existing:
        raise click.UsageError("--replace and --skip-existing exclude each other")
    refuse_memory(target)
    from spillstore import Store  # noqa: PLC0415  # as in all commands

    store = location.store()
    tell = (lambda _: None) if as_json else note
    copies = _Copies(store, Store(target), tell, skip_existing=skip_existing, replace=replace, force=force)
    wanted = _wanted(store, location, sessions, every=every)
    for name, project in wanted:
        copies.copy(name, project, alone=len(wanted) == 1 and not every)
    if as_json:
        print_json({"to": copies.target.name, "sessions": copies.done})
    else:
        click.echo(copies.summary())
    return _FAILED if copies.failed else None


def _wanted(
    store: Store, location: Location, sessions: tuple[str, ...], *, every: bool
) -> list[tuple[str, str | None]]:
    """The sessions to be copied, with their projects."""
    if not every:
        return [(name, location.project) for name in dict.fromkeys(sessions or (location.session,))]
    source = click.get_current_context().get_parameter_source("project")
    project = location.project if source is ParameterSource.COMMANDLINE else None
    found = ((info.id, info.project) for info in store.sessions(project))
    return sorted(found, key=lambda each: (each[1] or "", each[0]))


class _Copies:
    """What became of each session."""

    def __init__(
        self,
        source: Store,
        target: Store,
        tell: Callable[[str], object],
        *,
        skip_existing: bool,
        replace: bool,
        force: bool,
    ) -> None:
        self.source = source
        self._tell = tell
        self.target = target
        self.done: list[dict[str, Any]] = []
        self._skip_existing = skip_existing
        self._replace = replace
        self._force = force

    @property
    def failed(self) -> int:
        """How many could not be copied."""
        return sum(each["outcome"] == "failed" for each in self.done)

    def copy(self, name: str, project: str | None, *, alone: bool) -> None:
        """Copy one, and say so; an error is raised if it is ``alone``, else it is told."""
        from spillstore.exceptions import SessionExistsError, SpillstoreError  # noqa: PLC0415  # likewise

        try:
            report = self._copied(name, project)
        except SessionExistsError as error:
            if self._skip_existing:
                self._tell(f"session {_named(name, project)} is there already")
                self._add(name, project, "skipped")
                return
            self._fail(name, project, error, alone=alone)
        except SpillstoreError as error:
            self._fail(name, project, error, alone=alone)
        else:
            self._add(name, project, "copied", report)
            if report.open:
                of = _named(name, project)
                note(
                    f"session {of} is being written: {count(report.open, 'artifact')} interrupted in the copy"
                )

    def _copied(self, name: str, project: str | None) -> CopyReport:
        from spillstore.exceptions import SessionNotFoundError  # noqa: PLC0415  # likewise

        with progress(f"copying session {label(name)}") as done:
            try:
                return self.source.copy_session(
                    name,
                    project,
                    to=self.target,
                    force=self._force,
                    replace=self._replace,
                    on_progress=done,
                )
            except SessionNotFoundError:
                raise SessionNotFoundError(
                    f"no session {_named(name, project)} in {self.source.name}; `spillstore sessions` lists those that there "
                    "are, and --session, --project and --root name one"
                ) from None

    def _fail(self, name: str, project: str | None, error: Exception, *, alone: bool) -> None:
        if alone:
            raise error
        fail(f"session {_named(name, project)} was not copied: {error}", _FAILED)
        self._add(name, project, "failed", error=str(error))

    def _add(
        self,
        name: str,
        project: str | None,
        outcome: str,
        report: CopyReport | None = None,
        error: str | None = None,
    ) -> None:
        counts = dict.fromkeys(_COUNTS) if report is None else dataclasses.asdict(report)
        said = {"session": name, "project": project, "outcome": outcome, "error": error}
        self.done.append({**said, **counts})

    def summary(self) -> str:
        """All of them in one line."""
        outcomes = [each["outcome"] for each in self.done]
        artifacts, size = (
            sum(each[name] or 0 for each in self.done) for name in ("artifacts", "stored_size")
        )
        what = f"{count(artifacts, 'artifact')}, {human_size(size)}"
        copied = f"Copied {count(outcomes.count('copied'), 'session')} ({what})"
        rest = {"there already": outcomes.count("skipped"), "not copied": self.failed}
        return "; ".join([copied, *(f"{number} {what}" for what, number in rest.items() if number)])


def _named(name: str, project: str | None) -> str:
    return f"{name!r}" if project is None else f"{name!r} of project {project!r}"
