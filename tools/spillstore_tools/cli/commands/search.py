"""``spillstore search``: the lines of an artifact, or of all of a session's, that match."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, cast

import click

from spillstore_tools.cli.support.artifacts import LAST, find
from spillstore_tools.cli.support.options import location_options, stream_option
from spillstore_tools.cli.support.output import coloured, json_option, note, print_json, styled
from spillstore_tools.cli.support.progress import progress
from spillstore_tools.cli.support.read import json_stream, path_option
from spillstore_tools.describe import human_size
from spillstore_tools.preview.text.clean import escaped, label, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Artifact, Session
    from spillstore.info import SearchResult, Stream
    from spillstore.jsonstring import JSONString
    from spillstore_tools.cli.support.location import Location

_NOTHING_FOUND = 1
_MATCH, _PLACE, _HEADING = "1;31", "32", "1;35"  # as grep and rg have them
_ID = re.compile(r"@.*|art_[0-9].*")


@click.command("search")
@click.argument("names", metavar="PATTERN [ID]", nargs=-1, required=True)
@click.option(
    "--all", "all_of_them", is_flag=True, help="Search every artifact of the session, the newest first."
)
@click.option("-i", "--ignore-case", is_flag=True, help="Take capitals and small letters for the same.")
@click.option("-F", "--literal", is_flag=True, help="PATTERN is text, not an expression.")
@click.option("-v", "--invert", is_flag=True, help="Lines that do not match.")
@click.option(
    "-A", "--after", type=click.IntRange(min=0), metavar="N", help="N lines behind each match, too."
)
@click.option(
    "-B", "--before", type=click.IntRange(min=0), metavar="N", help="N lines before each match, too."
)
@click.option(
    "-C",
    "--context",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="N lines around each match, too.",
)
@click.option("-n", "--line-number", is_flag=True, help="Print line numbers, as is done anyway.")
@click.option("-o", "--only-matching", is_flag=True, help="Print the parts that match alone.")
@click.option("-l", "--ids-only", is_flag=True, help="Print the ids of artifacts that match alone.")
@click.option(
    "-m",
    "--limit",
    type=click.IntRange(min=1),
    default=1000,
    metavar="N",
    help="Print N matching lines of an artifact at most.  [default: 1000]",
)
@click.option("--cursor", metavar="CURSOR", help="Go on where a search with a limit stopped.")
@click.option("-c", "--count", is_flag=True, help="Print how many lines match, and nothing else.")
@click.option("--raw", is_flag=True, help="Search the exact bytes, escape sequences and all.")
@path_option
@stream_option
@location_options
@json_option
def command(names: tuple[str, ...], location: Location, *, as_json: bool, **values: Any) -> None:
    """Print the lines of an artifact that match a regular expression (RE2 syntax), with their numbers.

    What is searched is what a reader sees: no escape sequences, the last state of a progress bar. The time is linear in
    the size whatever the pattern is. The exit code is 1 if nothing was found. ID and PATTERN may change places where one
    of them can only be an id.

    \b
    Example:
      spillstore search 'error|failed' -C 2
      spillstore search -F 'a.b[0]' @last~1 --count
      spillstore search --all -l 'Segmentation fault'
      spillstore search 'error' @last --path '$.stdout'
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    options = _Options(**values)
    with location.reading("search") as session:
        pattern, artifacts = _named(session, names, all_of_them=options.all_of_them)
        found = _found(artifacts, pattern, options)
        alone = not options.all_of_them
        total = _print_json(found, alone=alone) if as_json else _print(found, pattern, options)
    if not total:
        click.get_current_context().exit(_NOTHING_FOUND)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Options:
    """The options of the call."""

    all_of_them: bool
    ignore_case: bool
    literal: bool
    invert: bool
    after: int | None
    before: int | None
    context: int
    line_number: bool
    only_matching: bool
    ids_only: bool
    limit: int
    cursor: str | None
    count: bool
    raw: bool
    path: str | None
    stream: str

    def __post_init__(self) -> None:
        if self.cursor is not None and self.all_of_them:
            raise click.UsageError("--cursor goes on in one artifact; name it instead of --all")
        if self.path is not None and self.all_of_them:
            raise click.UsageError("--path is of one artifact; name it instead of --all")
        if self.only_matching and self.invert:
            raise click.UsageError("lines that do not match have no part that does: give -o or -v, not both")

    @property
    def around(self) -> tuple[int, int]:
        """Lines before and after each match."""
        return (
            self.context if self.before is None else self.before,
            self.context if self.after is None else self.after,
        )


def _named(session: Session, names: tuple[str, ...], *, all_of_them: bool) -> tuple[str, Iterator[Artifact]]:
    """The pattern, and the artifacts to search."""
    from spillstore.exceptions import ArtifactNotFoundError  # noqa: PLC0415  # it is loaded by now

    if all_of_them:
        if len(names) > 1:
            raise click.UsageError("--all searches every artifact; leave the ID out")
        return names[0], (session.artifact(info.id) for info in session.infos())
    if len(names) > 2:  # noqa: PLR2004  # the two
        raise click.UsageError("give one PATTERN and one ID; a PATTERN with spaces needs quotes")
    if len(names) == 1:
        return names[0], iter([find(session, LAST)])
    first, second = names
    if _ID.fullmatch(first) and not _ID.fullmatch(second):  # the other order is allowed, too
        return second, iter([find(session, first)])
    try:
        return first, iter([find(session, second)])
    except ArtifactNotFoundError as unknown:
        if _ID.fullmatch(second):
            raise
        try:
            return second, iter([find(session, first)])
        except ArtifactNotFoundError:
            raise unknown from None


def _found(
    artifacts: Iterator[Artifact], pattern: str, options: _Options
) -> Iterator[tuple[Artifact, SearchResult]]:
    """The result of each artifact; with ``--all``, only of those with matches."""
    from spillstore_tools.agent.search_artifact import TextCleaner  # noqa: PLC0415  # with it come the previews
    from spillstore_tools.preview.text.encoded import encoding_of  # noqa: PLC0415  # likewise

    before, after = options.around
    limit = 0 if options.count else 1 if options.ids_only else options.limit
    for artifact in artifacts:
        source: Artifact | JSONString = artifact
        if options.path is not None:
            source = artifact.string(options.path, stream=json_stream(artifact, options.stream))
        with progress(f"searching {human_size(source.info.size)} of {artifact.id}") as done:
            stream = cast("Stream", options.stream if source is artifact else "combined")
            result = source.search(
                pattern,
                stream=stream,
                context=0 if options.only_matching else max(before, after),
                limit=limit,
                cursor=options.cursor,
                ignore_case=options.ignore_case,
                literal=options.literal,
                invert=options.invert,
                cleaner=None if options.raw else TextCleaner(encoding_of(source, stream)),
                on_progress=done,
            )
        matches = tuple(
            dataclasses.replace(
                match, before=match.before[max(0, len(match.before) - before) :], after=match.after[:after]
            )
            for match in result.matches
        )
        if result.lines or not options.all_of_them:
            yield artifact, dataclasses.replace(result, matches=matches)


def _print_json(found: Iterator[tuple[Artifact, SearchResult]], *, alone: bool) -> int:
    documents = [{"id": artifact.id, **dataclasses.asdict(result)} for artifact, result in found]
    print_json(documents[0] if alone else {"artifacts": documents})
    return sum(cast("int", document["lines"]) for document in documents)


def _print(found: Iterator[tuple[Artifact, SearchResult]], pattern: str, options: _Options) -> int:
    """Print the results; returns how many lines matched."""
    total = 0
    for artifact, result in found:
        if options.ids_only:
            if result.lines:
                click.echo(artifact.id)
        elif options.count:
            click.echo(f"{artifact.id}:{result.lines}" if options.all_of_them else result.lines)
        else:
            if options.all_of_them:
                blank = "\n" if total else ""
                click.echo(
                    f"{blank}{styled(artifact.id, _HEADING)} {label(artifact.info.command or '')}".rstrip(" ")
                )
            _print_rows(result, pattern, options)
        _report(artifact, result, options)
        total += result.lines
    return total


def _print_rows(result: SearchResult, pattern: str, options: _Options) -> None:
    from spillstore_tools.agent.search_artifact import grouped  # noqa: PLC0415  # with it come the previews

    parts = _Parts(pattern, options)
    if options.only_matching:
        for match in result.matches:
            for part in parts.of(match.text):
                click.echo(f"{styled(f'{match.line}:', _PLACE)}{styled(parts.shown(part), _MATCH)}")
        return
    for rows in grouped(result.matches, separated=max(options.around) > 0):
        for row in rows:
            text = parts.marked(row.text) if row.column else parts.shown(row.text)
            click.echo(f"{styled(row.label, _PLACE)}{text}{' [...]' if row.clipped else ''}")


def _report(artifact: Artifact, result: SearchResult, options: _Options) -> None:
    of = f" {artifact.id}" if options.all_of_them else ""
    for each in result.notes:
        note(f"{of and f'in{of}: '}{each}")
    if result.cursor is not None and not (options.ids_only or options.count):
        note(f"there may be more{of and f' in{of}'}: --cursor {result.cursor}{of}")


class _Parts:
    """Finds the parts of a line that match."""

    def __init__(self, pattern: str, options: _Options) -> None:
        from spillstore.search.patterns import compiled  # noqa: PLC0415  # with the search

        self._invert = options.invert
        self.shown = escaped if options.raw else one_line
        self._pattern = compiled(
            pattern, ignore_case=options.ignore_case, literal=options.literal, latin=False
        )

    def _spans(self, text: bytes) -> Iterator[tuple[int, int]]:
        for match in self._pattern.finditer(text):
            if match.end() > match.start():
                yield match.start(), match.end()

    def of(self, text: str) -> Iterator[str]:
        """The parts of a line, in their order."""
        data = text.encode(errors="surrogatepass")
        return (data[start:end].decode(errors="replace") for start, end in self._spans(data))

    def marked(self, text: str) -> str:
        """The line, with its parts in colour where colours are used."""
        if self._invert or not coloured():
            return self.shown(text)
        data, at, out = text.encode(errors="surrogatepass"), 0, ""
        for start, end in self._spans(data):
            out += self.shown(data[at:start].decode(errors="replace"))
            out += styled(self.shown(data[start:end].decode(errors="replace")), _MATCH)
            at = end
        return out + self.shown(data[at:].decode(errors="replace"))
