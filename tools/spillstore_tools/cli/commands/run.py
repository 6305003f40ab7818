"""``spillstore run``: run a command, store its output, show the lines that matter.

At a terminal the output is shown as it comes, elsewhere a preview in the end. The command is started first, and
everything heavy is imported while it runs. Whatever happens to the store, the command runs to its end, its output is shown, and its exit code is ours. Wrong settings are reported and ignored.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import signal
import threading
from typing import TYPE_CHECKING, NoReturn

import click
from click.core import ParameterSource

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.cli.support.completion import complete_command, complete_source
from spillstore_tools.cli.support.live import Hint, show, summary
from spillstore_tools.cli.support.location import Location, observe
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import at_terminal, fail, json_option, note, print_json, write_text
from spillstore_tools.cli.support.profile import load_configuration, profile_option
from spillstore_tools.cli.support.redactions import no_redact_option, report_redactions
from spillstore_tools.cli.support.signals import FOR_ALL, CommandInterruptedError, SignalRelay
from spillstore_tools.configured import is_configured
from spillstore_tools.process.environment import MARK
from spillstore_tools.process.runners import StartError, start_program
from spillstore_tools.process.watchdog import guarding
from spillstore_tools.process.working_folders import note_folder

if TYPE_CHECKING:
    from spillstore import ArtifactInfo, Session
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.process.output_reader import Outcome
    from spillstore_tools.process.runners import Started
    from spillstore_tools.profiles import ProfileName
    from spillstore_tools.profiles.rendered import Rendered

# Hardly the name of a program: a line for a shell, an assignment before a command, or a command built into shells.
_SHELL_SYNTAX = re.compile(
    r"[\s|&;<>*?$`(){}]|\A\w+=|\A(?:\.|alias|bg|cd|eval|export|fg|jobs|set|source|trap|type|ulimit|umask|unset)\Z"
)


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument(
    "command_line",
    metavar="COMMAND...",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=complete_command,
)
@click.option(
    "--source",
    default="run",
    metavar="NAME",
    shell_complete=complete_source,
    help="The tool that the output is stored under.  [default: run]",
)
@click.option("--tool-call-id", metavar="ID", help="The tool call that the output answers.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    envvar="SPILLSTORE_QUIET",
    help="Show a preview at the end, at a terminal, too.  [SPILLSTORE_QUIET]",
)
@no_redact_option
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
    quiet: bool,
    no_redact: bool,
    as_json: bool,
) -> None:
    """Run COMMAND, store all it prints, show what matters of it.

    Both streams are stored as they come. At a terminal they are shown as they come, too, and a summary follows on
    stderr. Elsewhere, and with --quiet or a --profile, a preview is shown when the command has ended. It has at most
    8,000 characters, notices included (other profiles have other limits): head, tail, the lines in between that matter,
    exactly what is left out and how to see it.

    The exit code is the command's, 128 + n if signal n ended it, 127 if it was not found, 126 if it could not be
    executed. Secrets are taken out of what is stored and of previews, which is said on stderr; not of what is shown as it
    comes. Ctrl-C goes to the command; if it dies of it, so does this. SIGTERM and SIGHUP end all that it has started, and
    so does the end of this, even by kill -9.

    \b
    Example:
      spillstore run -- make test
      spillstore run --session ci --source make -- make -j8 all
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    is_live = not (quiet or as_json or _was_chosen("profile")) and at_terminal()
    options = _Options(
        source=source, tool_call_id=tool_call_id, profile=profile, live=is_live, redact=not no_redact
    )
    # Inside another command of ours the mark begins with that one's, so that this command ends with it.
    mark = ".".join(filter(None, (os.environ.get(MARK), os.urandom(8).hex())))
    environment = {**location.environment(), MARK: mark}
    with SignalRelay() as relay:
        try:
            started = start_program(
                command_line,
                env=environment,
                stdin="inherit",
                own_group=False,
                mark=mark,
                watched=False,
                read_ahead=True,
            )
        except StartError as error:
            _give_up(error, command_line, as_json=as_json)
        _wait_in_thread(started)
        relay.attach(started)
        with guarding(started.pid, mark):
            record = _record(started, command_line, options, location)
            if FOR_ALL.intersection(relay.received):
                _end_all(started)
    if as_json:
        print_json(record.as_json())
    elif is_live:
        for line in summary(record.outcome, record.info, record.rendered, record.problem, location.flags):
            note(line)
        _report(record)
    else:
        write_text([record.rendered.text])
        _report(record)
    if signal.SIGINT in relay.received and record.outcome.signal == "SIGINT":
        raise CommandInterruptedError
    click.get_current_context().exit(record.outcome.exit_code)


def _was_chosen(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def _wait_in_thread(started: Started) -> None:
    """Note the time of the command's end, even if it comes while modules are still being imported."""
    with contextlib.suppress(RuntimeError):  # no more threads can be started: the end is noted later
        threading.Thread(target=started.wait, name="spillstore-wait", daemon=True).start()


def _end_all(started: Started) -> None:
    """End the processes of the command that have ignored a signal for all of them."""
    from spillstore_tools.process.output_reader import end_together  # noqa: PLC0415  # imported by now

    if started.signal_all(0) and end_together([started]):
        note("some of its processes could not be ended")


def _give_up(error: StartError, command_line: tuple[str, ...], *, as_json: bool) -> NoReturn:
    hint = ""
    if _SHELL_SYNTAX.search(command_line[0]):
        line = command_line[0] if len(command_line) == 1 else shlex.join(command_line)
        hint = f"; a shell runs it: spillstore run -- sh -c {shlex.quote(line)}"
    message = f"{error}{hint}"
    if as_json:
        print_json(
            {
                "artifact": None,
                "preview": "",
                "omissions": [],
                "strategy": "none",
                "exit_code": error.exit_code,
                "signal": None,
                "duration": 0.0,
                **dict.fromkeys(("received", "stdout", "stderr"), 0),
                "redactions": {},
                "held_open": [],
                "storage_error": None,
                "configuration_error": None,
                "error": message,
            }
        )
    click.get_current_context().exit(fail(message, error.exit_code))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Options:
    """The options of the call."""

    source: str
    tool_call_id: str | None
    profile: ProfileName
    live: bool
    redact: bool

    def configuration(self) -> tuple[TruncationConfiguration | None, str | None]:
        """The user's settings; or None and what is wrong with them, since the command runs already."""
        if self.profile == "default" and not is_configured():
            return None, None
        from spillstore.exceptions import InvalidSettingError  # noqa: PLC0415  # after the command has started

        try:
            return load_configuration(self.profile), None
        except InvalidSettingError as error:
            return None, str(error)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Record:
    """A command that has ended: its outcome, its artifact, its preview, and what went wrong beside."""

    outcome: Outcome
    info: ArtifactInfo | None
    rendered: Rendered
    problem: str | None
    misconfigured: str | None
    redactions: dict[str, int]

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
            "redactions": self.redactions,
            "held_open": list(outcome.held_open),
            "storage_error": self.problem,
            "configuration_error": self.misconfigured,
            "error": None,
        }


def _record(
    started: Started, command_line: tuple[str, ...], options: _Options, location: Location
) -> _Record:
    from spillstore.exceptions import (  # noqa: PLC0415  # after the command has started
        InvalidSettingError,
        SpillstoreError,
    )
    from spillstore.observers import begin_operation  # noqa: PLC0415  # likewise
    from spillstore.redaction import DEFAULT  # noqa: PLC0415  # likewise
    from spillstore.settings import Settings  # noqa: PLC0415  # likewise
    from spillstore_tools.config.redaction_rules import Redaction  # noqa: PLC0415  # likewise
    from spillstore_tools.output.output_events import COMMAND  # noqa: PLC0415  # likewise
    from spillstore_tools.output.spill import Spill  # noqa: PLC0415  # likewise
    from spillstore_tools.process.jobs import Job  # noqa: PLC0415  # likewise
    from spillstore_tools.process.output_reader import LINGER  # noqa: PLC0415  # likewise
    from spillstore_tools.profiles import profile as profile_named  # noqa: PLC0415  # likewise
    from spillstore_tools.profiles.default import Default  # noqa: PLC0415  # likewise

    configuration, misconfigured = options.configuration()
    command = shlex.join(command_line)
    try:
        rules = Redaction(None, configuration, enabled=options.redact, profile=options.profile).rules(
            options.source
        )
    except InvalidSettingError as error:  # the command runs already
        rules, misconfigured = DEFAULT, misconfigured or str(error)
    try:
        observe()
    except SpillstoreError as error:  # likewise
        misconfigured = misconfigured or str(error)
    for variable, wrong in Settings.wrong(os.environ).items():  # likewise, and has its own environment
        del os.environ[variable]
        misconfigured = misconfigured or wrong
    operation = begin_operation(COMMAND, {"tool": options.source})
    hint = Hint(location.flags)
    sessions: list[Session] = []
    chosen = profile_named(options.profile, configuration)
    if isinstance(chosen, Default):
        chosen.people = at_terminal()
    with contextlib.ExitStack() as stack:
        stack.callback(hint.stop)
        if not options.live:
            hint.start()

        def session() -> Session:
            sessions.append(stack.enter_context(location.open(create=True, write=True)))
            return sessions[-1]

        def spilled(artifact_id: str) -> None:
            hint.artifact_id = artifact_id
            note_folder(sessions[-1], artifact_id)

        spill = operation.run(
            Spill,
            session,
            chosen,
            source=options.source,
            command=command,
            tool_call_id=options.tool_call_id,
            content_type="text/plain",
            is_command=True,
            flags=location.flags,
            keep="all",
            redaction=rules,
            on_spill=spilled,
            began=getattr(started, "began_at", None),
        )
        job = Job(
            command,
            lambda: started,
            spill,
            on_output=show if options.live else None,
            linger=LINGER,
            orphans="leave",
            tool=options.source,
            observed=operation,
        )
        job.work()
        hint.stop()
        rendered = job.tell()
        assert job.outcome is not None  # it has ended, or ``tell`` would have raised
        info = None if spill.artifact is None else spill.artifact.info
    return _Record(
        outcome=job.outcome,
        info=info,
        rendered=rendered,
        problem=spill.problem,
        misconfigured=misconfigured,
        redactions=spill.redactions,
    )


def _report(record: _Record) -> None:
    """Report on stderr what is no part of the output."""
    if record.misconfigured is not None:
        note(f"{record.misconfigured}; the defaults are used")
    report_redactions(record.redactions)
    from spillstore_tools.process.output_reader import GRACE  # noqa: PLC0415  # imported by now

    if held_open := record.outcome.held_open:
        note(
            f"{' and '.join(held_open)} still held open by another process {GRACE} s after the command's end; "
            "what it prints from now on is lost"
        )
