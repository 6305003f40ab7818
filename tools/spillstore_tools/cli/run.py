"""``spillstore run``: run a command, keep all it prints, show both ends of it.

The command is started first and everything heavy is imported while it runs. Whatever happens to the store, the command
runs to its end, its output is shown, and its exit code is ours.
"""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, NoReturn

import click

from spillstore_tools.capture import GRACE, Outcome, Process, StartError
from spillstore_tools.cli._location import Location, location_options
from spillstore_tools.cli._output import (
    count,
    exact_size,
    human_size,
    json_option,
    note,
    print_json,
    write_text,
)
from spillstore_tools.cli._preview import WHOLE, WINDOW, Content, Gap, Preview, preview
from spillstore_tools.cli._signals import SignalRelay
from spillstore_tools.cli._text import clean_text

if TYPE_CHECKING:
    from spillstore import Artifact, ArtifactInfo, Session, Writer

_REASON = 500  # characters of an error that a preview quotes


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("command_line", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--source",
    default="run",
    metavar="NAME",
    help="The tool that the output is stored under.  [default: run]",
)
@click.option("--tool-call-id", metavar="ID", help="The tool call that the output answers.")
@location_options
@json_option
def command(
    command_line: tuple[str, ...], source: str, tool_call_id: str | None, location: Location, *, as_json: bool
) -> None:
    """Run COMMAND, store all it prints, show head and tail.

    Both streams are stored as they come. What is shown has at most 8,000 characters, notices included, and says
    exactly what it leaves out and how to see it. The exit code is the command's, 128 + n if signal n ended it, 127 if
    it was not found, 126 if it could not be executed. Ctrl-C goes to the command.

    \b
    Example:
      spillstore run -- make test
      spillstore run --session ci --source make -- make -j8 all
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with SignalRelay() as relay:
        try:
            process = Process.start(
                command_line, env=location.environment(), stdin="inherit", own_group=False
            )
        except StartError as error:
            _give_up(error, as_json=as_json)
        relay.attach(process)
        record = _record(process, command_line, source, tool_call_id, location)
    if as_json:
        print_json(record.as_json())
    else:
        write_text([record.preview.text])
    click.get_current_context().exit(record.outcome.exit_code)


def _give_up(error: StartError, *, as_json: bool) -> NoReturn:
    if as_json:
        print_json({"artifact": None, "preview": "", "exit_code": error.exit_code, "error": str(error)})
    note(str(error))
    click.get_current_context().exit(error.exit_code)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Record:
    """A command that has ended, and what was stored and can be shown of it."""

    outcome: Outcome
    info: ArtifactInfo | None
    preview: Preview
    problem: str | None

    def as_json(self) -> dict[str, object]:
        outcome = self.outcome
        return {
            "artifact": None if self.info is None else dataclasses.asdict(self.info),
            "preview": self.preview.text,
            "omitted": None if self.preview.gap is None else dataclasses.asdict(self.preview.gap),
            "exit_code": outcome.exit_code,
            "signal": outcome.signal,
            "duration": outcome.duration,
            "received": outcome.received,
            "stdout": outcome.stdout,
            "stderr": outcome.stderr,
            "held_open": list(outcome.held_open),
            "storage_error": self.problem,
        }


def _record(
    process: Process,
    command_line: tuple[str, ...],
    source: str,
    tool_call_id: str | None,
    location: Location,
) -> _Record:
    try:
        session, writer = _open(command_line, source, tool_call_id, location)
    except Exception as error:  # noqa: BLE001  # whatever it is, the command goes first
        outcome = process.drain()
        return _Record(
            outcome=outcome,
            info=None,
            problem=str(error),
            preview=_unstored(outcome, None, str(error), location),
        )
    with session:
        outcome = process.drain(writer)
        problem = _seal(writer, outcome)
        try:
            artifact = session.artifact(writer.id)
            info = artifact.info
            if problem is None:
                shown = _stored(artifact, info, outcome, location)
                return _Record(outcome=outcome, info=info, problem=None, preview=shown)
        except Exception as error:  # noqa: BLE001  # likewise: it must not cost the exit code
            info, problem = None, problem or str(error)
    return _Record(
        outcome=outcome, info=info, problem=problem, preview=_unstored(outcome, info, problem, location)
    )


def _open(
    command_line: tuple[str, ...], source: str, tool_call_id: str | None, location: Location
) -> tuple[Session, Writer]:
    session = location.open(create=True, write=True)
    try:
        return session, session.create(
            source=source,
            tool_call_id=tool_call_id,
            command=shlex.join(command_line),
            content_type="text/plain",
            newline="lf",
        )
    except BaseException:
        session.close()
        raise


def _seal(writer: Writer, outcome: Outcome) -> str | None:
    """End the artifact; returns what kept its output from being stored."""
    try:
        writer.close(exit_code=outcome.exit_code)
    except _storage_failure() as error:
        return str(outcome.storage_error or error)
    return None if outcome.storage_error is None else str(outcome.storage_error)


def _storage_failure() -> type[Exception]:
    from spillstore import SpillstoreError  # noqa: PLC0415  # the command has been started by now

    return SpillstoreError


# --- what is shown --------------------------------------------------------------------------------------


def _stored(artifact: Artifact, info: ArtifactInfo, outcome: Outcome, location: Location) -> Preview:
    """Both ends of what was stored, in its order."""

    def notice(gap: Gap) -> str:
        lines = f"--lines {gap.first_line}-{gap.last_line}"
        call = f"--bytes {gap.start}-{gap.end}" if gap.inside else lines
        return (
            f"[... {_gap_lines(gap)} of {count(info.lines, 'line')} omitted, bytes {gap.start}-{gap.end} "
            f"({human_size(gap.end - gap.start)})\n"
            f"     show them: spillstore show {info.id} {call}{location.flags}\n"
            f"     search it: spillstore cat {info.id}{location.flags} | rg PATTERN ...]\n"
        )

    footer = (
        f"[artifact {info.id}: {exact_size(info.size)}, {count(info.lines, 'line')}; {_ending(outcome)}]\n"
    )
    return preview(_content_of(artifact, info), notice, _dropped(info) + _held_open(outcome) + footer)


def _gap_lines(gap: Gap) -> str:
    part = "parts of " if gap.inside else ""
    if gap.first_line == gap.last_line:
        return f"{part}line {gap.first_line}"
    return f"{part}lines {gap.first_line}-{gap.last_line}"


def _content_of(artifact: Artifact, info: ArtifactInfo) -> Content:
    if info.size <= WHOLE and info.hole is None:
        return Content(size=info.size, lines=info.lines, head=artifact.read_bytes(0, info.size), tail=b"")
    low, high = WINDOW, info.size - WINDOW
    if info.hole is not None:
        low, high = min(low, info.hole.start), max(high, info.hole.end)
    return Content(
        size=info.size,
        lines=info.lines,
        head=artifact.read_bytes(0, low),
        tail=artifact.read_bytes(high, info.size),
    )


def _unstored(outcome: Outcome, info: ArtifactInfo | None, problem: str, location: Location) -> Preview:
    """Both ends of what was received, from memory, and what became of it."""

    def notice(gap: Gap) -> str:
        return f"[... bytes {gap.start}-{gap.end} ({human_size(gap.end - gap.start)}) omitted ...]\n"

    kept = "nothing was kept of it"
    if info is not None and info.kept:
        kept = (
            f"the first {exact_size(info.kept)} of it are kept in artifact {info.id}: "
            f"spillstore show {info.id} --lines 1-{info.lines}{location.flags}"
        )
    footer = (
        f"[NOT STORED COMPLETELY: {clean_text(problem)[:_REASON]}]\n"
        f"[{exact_size(outcome.received)} received; {kept}]\n"
        f"[{_ending(outcome)}]\n"
    )
    head, tail = (outcome.head, outcome.tail) if outcome.omitted else (outcome.head + outcome.tail, b"")
    content = Content(size=outcome.received, lines=None, head=head, tail=tail)
    return preview(content, notice, _held_open(outcome) + footer)


def _ending(outcome: Outcome) -> str:
    killed = "" if outcome.signal is None else f" ({outcome.signal})"
    return f"exit code {outcome.exit_code}{killed}, {outcome.duration:.1f} s"


def _dropped(info: ArtifactInfo) -> str:
    """What the artifact's limit has cost."""
    limit = human_size(info.limit)
    if info.hole is not None:
        hole = info.hole
        return (
            f"[lines {hole.first_line}-{hole.last_line}, bytes {hole.start}-{hole.end}, were dropped: an artifact may "
            f"keep {limit}]\n"
        )
    if info.size < info.received:
        lost = exact_size(info.received - info.size)
        return f"[the last {lost} were not kept: an artifact may keep {limit}]\n"
    return ""


def _held_open(outcome: Outcome) -> str:
    if not outcome.held_open:
        return ""
    return (
        f"[{' and '.join(outcome.held_open)} still held open by another process {GRACE} s after the command's end; "
        "what it prints from now on is lost]\n"
    )
