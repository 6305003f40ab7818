"""``spillstore run``: run a command, keep all it prints, show what matters of it.

The command is started first and everything heavy is imported while it runs. Whatever happens to the store, the command
runs to its end, its output is shown, and its exit code is ours. Settings that make no sense are told and left aside.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from typing import TYPE_CHECKING, NoReturn

import click

from spillstore_tools.cli._location import Location, location_options, observe
from spillstore_tools.cli._output import json_option, note, print_json, write_text
from spillstore_tools.cli._profile import load_configuration, profile_option
from spillstore_tools.cli._signals import SignalRelay
from spillstore_tools.runners import StartError, start_program

if TYPE_CHECKING:
    from spillstore import ArtifactInfo, Session
    from spillstore_tools.capture import Outcome
    from spillstore_tools.configuration import TruncationConfiguration
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.base import Rendered
    from spillstore_tools.runners import Started


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("command_line", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--source",
    default="run",
    metavar="NAME",
    help="The tool that the output is stored under.  [default: run]",
)
@click.option("--tool-call-id", metavar="ID", help="The tool call that the output answers.")
@profile_option
@location_options
@json_option
def command(
    command_line: tuple[str, ...],
    source: str,
    tool_call_id: str | None,
    profile: ProfileName,
    location: Location,
    *,
    as_json: bool,
) -> None:
    """Run COMMAND, store all it prints, show what matters of it.

    Both streams are stored as they come. What is shown has at most 8,000 characters, notices included (other profiles
    have other limits): head, tail, the lines in between that matter, exactly what is left out and how to see it. The
    exit code is the command's, 128 + n if signal n ended it, 127 if it was not found, 126 if it could not be executed.
    Ctrl-C goes to the command.

    \b
    Example:
      spillstore run -- make test
      spillstore run --session ci --source make -- make -j8 all
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    asked = _Asked(source=source, tool_call_id=tool_call_id, profile=profile)
    with SignalRelay() as relay:
        try:
            started = start_program(
                command_line, env=location.environment(), stdin="inherit", own_group=False
            )
        except StartError as error:
            _give_up(error, as_json=as_json)
        relay.attach(started)
        record = _record(started, command_line, asked, location)
    if as_json:
        print_json(record.as_json())
    else:
        write_text([record.rendered.text])
        _tell(record)
    click.get_current_context().exit(record.outcome.exit_code)


def _give_up(error: StartError, *, as_json: bool) -> NoReturn:
    if as_json:
        print_json({"artifact": None, "preview": "", "exit_code": error.exit_code, "error": str(error)})
    note(str(error))
    click.get_current_context().exit(error.exit_code)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Asked:
    """What the options say."""

    source: str
    tool_call_id: str | None
    profile: ProfileName

    def configuration(self) -> tuple[TruncationConfiguration | None, str | None]:
        """The user's settings, or none and what is wrong with them: the command runs already, and shall go on."""
        from spillstore.exceptions import InvalidSettingError  # noqa: PLC0415  # the command has been started by now

        try:
            return load_configuration(self.profile), None
        except InvalidSettingError as error:
            return None, str(error)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Record:
    """A command that has ended, and what was stored and can be shown of it."""

    outcome: Outcome
    info: ArtifactInfo | None
    rendered: Rendered
    problem: str | None
    misconfigured: str | None

    def as_json(self) -> dict[str, object]:
        outcome = self.outcome
        return {
            "artifact": None if self.info is None else dataclasses.asdict(self.info),
            "preview": self.rendered.text,
            "omissions": [dataclasses.asdict(each) for each in self.rendered.omissions],
            "strategy": self.rendered.strategy,
            "exit_code": outcome.exit_code,
            "signal": outcome.signal,
            "duration": outcome.duration,
            "received": outcome.received,
            "stdout": outcome.stdout,
            "stderr": outcome.stderr,
            "held_open": list(outcome.held_open),
            "storage_error": self.problem,
            "configuration_error": self.misconfigured,
        }


def _record(started: Started, command_line: tuple[str, ...], asked: _Asked, location: Location) -> _Record:
    from spillstore.exceptions import (  # noqa: PLC0415  # the command has been started by now
        InvalidSettingError,
        SpillstoreError,
    )
    from spillstore.observers import begin  # noqa: PLC0415  # likewise
    from spillstore.redaction import DEFAULT  # noqa: PLC0415  # likewise
    from spillstore_tools.capture import LINGER  # noqa: PLC0415  # likewise
    from spillstore_tools.jobs import Job  # noqa: PLC0415  # likewise
    from spillstore_tools.observed import COMMAND  # noqa: PLC0415  # likewise
    from spillstore_tools.profiles import profile as profile_named  # noqa: PLC0415  # likewise
    from spillstore_tools.redaction import Redaction  # noqa: PLC0415  # likewise
    from spillstore_tools.spill import Spill  # noqa: PLC0415  # likewise

    configuration, misconfigured = asked.configuration()
    command = shlex.join(command_line)
    try:
        rules = Redaction(None, configuration, profile=asked.profile).rules(asked.source)
    except InvalidSettingError as error:  # the command runs already
        rules, misconfigured = DEFAULT, misconfigured or str(error)
    try:
        observe()
    except SpillstoreError as error:  # likewise
        misconfigured = misconfigured or str(error)
    work = begin(COMMAND, {"tool": asked.source})
    with contextlib.ExitStack() as stack:

        def session() -> Session:
            return stack.enter_context(location.open(create=True, write=True))

        spill = work.run(
            Spill,
            session,
            profile_named(asked.profile, configuration),
            source=asked.source,
            command=command,
            tool_call_id=asked.tool_call_id,
            content_type="text/plain",
            is_command=True,
            flags=location.flags,
            keep="all",
            redaction=rules,
        )
        job = Job(
            command,
            lambda: started,
            spill,
            linger=LINGER,
            heirs="leave",
            tool=asked.source,
            observed=work,
        )
        job.work()
        rendered = job.tell()
        assert job.outcome is not None  # it has ended, or ``tell`` had raised
        info = None if spill.artifact is None else spill.artifact.info
    return _Record(
        outcome=job.outcome, info=info, rendered=rendered, problem=spill.problem, misconfigured=misconfigured
    )


def _tell(record: _Record) -> None:
    """What is no part of the output, on stderr."""
    if record.misconfigured is not None:
        note(f"{record.misconfigured}; the defaults are used")
    from spillstore_tools.capture import GRACE  # noqa: PLC0415  # it is there by now

    if held_open := record.outcome.held_open:
        note(
            f"{' and '.join(held_open)} still held open by another process {GRACE} s after the command's end; "
            "what it prints from now on is lost"
        )
