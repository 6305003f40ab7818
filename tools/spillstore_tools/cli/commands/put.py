"""``spillstore put``: store a file, or what comes in on stdin; or show of it what a model would see."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
import sys
import time
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli.support.completion import complete_source, complete_words
from spillstore_tools.cli.support.options import location_options
from spillstore_tools.cli.support.output import json_option, note, print_json, write_text
from spillstore_tools.cli.support.profile import PROFILES, STRATEGIES, known_profile, load_configuration
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.cli.support.redactions import no_redact_option, redactions_of, report_redactions
from spillstore_tools.describe import count, exact_size, human_size, incomplete
from spillstore_tools.process.working_folders import note_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Session
    from spillstore.info import Newline
    from spillstore_tools.cli.support.location import Location
    from spillstore_tools.cli.support.progress import Progress
    from spillstore_tools.config import TruncationConfiguration
    from spillstore_tools.profiles import ProfileName

_READ = 1024 * 1024


@click.command("put")
@click.argument("file", metavar="FILE|-", type=click.Path(allow_dash=True, dir_okay=False))
@click.option(
    "--source",
    default="put",
    metavar="NAME",
    shell_complete=complete_source,
    help="The tool it comes from.  [default: put]",
)
@click.option("--content-type", metavar="TYPE", help="Its media type, such as application/json.")
@click.option(
    "--newline",
    type=click.Choice(["auto", "lf", "cr"]),
    default="auto",
    help="What ends a line; auto takes CR where no LF stands but at the end.  [default: auto]",
)
@click.option(
    "--profile",
    metavar="NAME",
    callback=known_profile,
    shell_complete=complete_words(*PROFILES),
    help=f"Print what a model would see: {', '.join(PROFILES)}.",
)
@click.option(
    "--strategy",
    metavar="NAME",
    shell_complete=complete_words(*STRATEGIES),
    help=f"How a model's view is cut: {', '.join(STRATEGIES)}.",
)
@click.option(
    "--inline-limit", type=click.IntRange(min=1), metavar="N", help="Characters that a model sees at most."
)
@no_redact_option
@location_options
@json_option
def command(
    file: str,
    source: str,
    content_type: str | None,
    newline: str,
    profile: ProfileName | None,
    strategy: str | None,
    inline_limit: int | None,
    location: Location,
    *,
    no_redact: bool,
    as_json: bool,
) -> None:
    """Store FILE, or stdin, and print the id of the artifact; or print what a model would see of it.

    With --profile, --strategy or --inline-limit the output is exactly the text that a model would be given, and what is
    shown whole is not stored (lace stores everything). The exit code is 1 if the profile refuses what is too large, or
    if not all could be kept: an artifact has a limit (SPILLSTORE_ARTIFACT_LIMIT), and a file above it is told of before
    it is read. Secrets are taken out, which is said on stderr.

    \b
    Example:
      spillstore put build.log
      curl -s https://example.com/data.json | spillstore put - --content-type application/json
      spillstore put build.log --source execute_command --profile acode
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if profile or strategy or inline_limit:
        name = profile or "default"
        configuration = load_configuration(name, strategy=strategy, inline_limit=inline_limit)
        if configuration is None and (strategy or inline_limit):
            raise click.UsageError(
                f"profile {name} has its own limits; leave out --strategy and --inline-limit"
            )
        meta = {"source": source, "content_type": content_type, "newline": newline}
        _show(file, name, configuration, meta, location, redact=not no_redact, as_json=as_json)
        return
    with _opened(file) as blocks, location.open(create=True, write=True) as session:
        first = next(blocks, b"")
        total = _size_of(file)
        _warn(file, total, session)
        reading = _Reading(itertools.chain([first], blocks), total)
        with (
            _told_what_stays(session),
            progress("storing", lambda: human_size(reading.size)) as reading.progress,
        ):
            artifact = session.put(
                reading,
                source=source,
                command=None if file == "-" else file,
                content_type=content_type or _looks_like(first, is_file=file != "-"),
                newline=cast("Newline", newline),
                redact=False if no_redact else None,
            )
        note_folder(session, artifact.id)
        info, redactions = artifact.info, redactions_of(artifact)
    lacks = incomplete(info)
    if as_json:
        print_json({**dataclasses.asdict(info), "redactions": redactions, "incomplete": lacks})
    else:
        click.echo(info.id)
        click.echo(
            f"{exact_size(info.size)}, {count(info.lines, 'line')}, stored in {human_size(info.stored_size)}"
        )
        report_redactions(redactions)
        if lacks:
            note(f"NOT KEPT WHOLE: {lacks}")
    if lacks:
        click.get_current_context().exit(1)


def _size_of(file: str) -> int:
    """The size of a file; 0 if it is unknown."""
    return os.path.getsize(file) if file != "-" and os.path.isfile(file) else 0  # noqa: PTH113, PTH202  # paths as they are named


def _warn(file: str, size: int, session: Session) -> None:
    """Report, before a large file is read, that it will not be kept whole."""
    settings = session.settings
    if size <= settings.artifact_limit:
        return
    what = {
        "roll": "its middle will be dropped",
        "stop": "its end will not be kept",
        "reject": "it will be refused",
    }[settings.artifact_policy]
    note(
        f"{file} has {human_size(size)} and an artifact may keep {human_size(settings.artifact_limit)}, so {what}; "
        "SPILLSTORE_ARTIFACT_LIMIT raises that"
    )


def _looks_like(first: bytes, *, is_file: bool) -> str | None:
    from spillstore_tools.output.media_type import media_type_of  # noqa: PLC0415  # not where the type is given

    return media_type_of(first, whole=is_file and len(first) < _READ)


@contextlib.contextmanager
def _told_what_stays(session: Session) -> Iterator[None]:
    """A context that stores an artifact; an interrupt reports what is stored already."""
    began = time.time()
    try:
        yield
    except KeyboardInterrupt:
        from spillstore.exceptions import SpillstoreError  # noqa: PLC0415  # as in all commands

        with contextlib.suppress(SpillstoreError):  # the interrupt is what is told
            if any(info.created >= began for info in session.infos(limit=1).items):
                note(
                    "interrupted; what was read so far stays as the artifact @last, which `spillstore rm @last` deletes"
                )
        raise


class _Reading:
    """Blocks of a file, counted."""

    def __init__(self, blocks: Iterator[bytes], total: int) -> None:
        self._blocks = blocks
        self._total = total
        self.size = 0
        self.progress: Progress | None = None

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.size += len(block)
            if self.progress is not None:
                self.progress(self.size, self._total)
            yield block


def _show(
    file: str,
    profile: ProfileName,
    configuration: TruncationConfiguration | None,
    meta: dict[str, str | None],
    location: Location,
    *,
    redact: bool,
    as_json: bool,
) -> None:
    from spillstore_tools.output.truncation import TruncationProcessor  # noqa: PLC0415  # the plain command does without

    with contextlib.ExitStack() as stack:

        def session() -> Session:
            return stack.enter_context(location.open(create=True, write=True))

        processor = TruncationProcessor(
            session, profile=profile, configuration=configuration, flags=location.flags, redact=redact
        )
        result = processor.process(
            stack.enter_context(_opened(file)),
            str(meta["source"]),
            command=None if file == "-" else file,
            content_type=meta["content_type"],
            newline=cast("Newline", meta["newline"]),
        )
    if as_json:
        included = None if configuration is None else configuration.metadata
        print_json(
            {
                "content": result.content,
                "metadata": result.metadata.as_dict(included),
                "omissions": [dataclasses.asdict(each) for each in result.omissions],
                "artifact_id": result.artifact_id,
                "redactions": result.redactions,
                "is_error": result.is_error,
            }
        )
    else:
        write_text([result.content])
        report_redactions(result.redactions)
    if result.is_error:
        click.get_current_context().exit(1)


@contextlib.contextmanager
def _opened(file: str) -> Iterator[Iterator[bytes]]:
    """Pieces of a file or of stdin; a file that cannot be opened fails before anything is made."""
    if file == "-" and sys.stdin is None:
        raise click.UsageError("stdin is closed; name a file")
    # Unbuffered, so that what comes in slowly is stored as it comes.
    with open(0 if file == "-" else file, "rb", buffering=0, closefd=file != "-") as source:
        yield iter(functools.partial(source.read, _READ), b"")
