"""``spillstore query``: the nodes of an artifact's JSON that a JSONPath query selects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.cli.support.artifacts import LAST, find
from spillstore_tools.cli.support.options import location_options, stream_option
from spillstore_tools.cli.support.output import json_option, note, write_bytes
from spillstore_tools.cli.support.read import json_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.info import BadLine, QueryMatch
    from spillstore_tools.cli.support.location import Location

_NOTHING_FOUND = 1
_NAMED = 20  # bad lines that are named
_NOT_ASCII = re.compile(r"[^\0-\x7f]+")  # of JSON, where it stands in texts alone


@click.command("query")
@click.argument("names", metavar="[ID] PATH", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Print N nodes at most.")
@click.option("--cursor", metavar="CURSOR", help="Go on where a query with a limit stopped.")
@click.option("--paths", is_flag=True, help="Where each node is, before its value and a tab.")
@click.option(
    "--lines/--document", "lines", default=None, help="Each line is a document, or all is one.  [found out]"
)
@click.option(
    "--start-line",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Where the JSON begins, if something else was printed before.",
)
@stream_option
@location_options
@json_option
def command(
    names: tuple[str, ...],
    limit: int | None,
    cursor: str | None,
    start_line: int,
    stream: str,
    location: Location,
    *,
    paths: bool,
    lines: bool | None,
    as_json: bool,
) -> None:
    """Print the nodes of JSON that a JSONPath query (RFC 9535) selects, one a line, as compact JSON.

    JSON Lines are queried line by line; what is no JSON among them is told on stderr. Documents of any size are read in
    flat memory. The exit code is 1 if nothing was found. Of a running artifact what is there is queried; a document that
    is not whole yet gives what stands before its end, and an error.

    \b
    Example:
      echo '{"users": [{"name": "Ann", "age": 31}]}' | spillstore put -
      spillstore query @last '$.users[?@.age > 30].name'
      spillstore query '$..name' --paths --limit 20
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if len(names) > 2:  # noqa: PLR2004  # the two
        raise click.UsageError("give an ID and a PATH; for example spillstore query @last '$.users[0]'")
    artifact_id, path = names if len(names) == 2 else (LAST, names[0])  # noqa: PLR2004  # likewise
    with location.reading("query") as session:
        artifact = find(session, artifact_id)
        view = json_stream(artifact, stream, cursor, start_line)
        found = _Found(
            artifact.nodes(path, stream=view, cursor=cursor, lines=lines, start_line=start_line), limit
        )
        if as_json:
            write_bytes(found.as_json())
        else:
            write_bytes(found.with_paths() if paths else found.values())
            found.report()
    if found.problem is not None:
        raise click.ClickException(found.problem)
    if not found.count:
        click.get_current_context().exit(_NOTHING_FOUND)


class _Found:
    """Nodes on their way to stdout, counted, and the messages after them."""

    def __init__(self, nodes: Iterator[QueryMatch | BadLine], limit: int | None) -> None:
        self._nodes = nodes
        self._limit = limit
        self._bad: list[BadLine] = []
        self.bad_count = 0
        self.count = 0
        self.cursor: str | None = None
        self.problem: str | None = None

    def matches(self) -> Iterator[QueryMatch]:
        """The nodes, as far as the limit."""
        from spillstore.exceptions import (  # noqa: PLC0415  # not before the store is
            DroppedRangeError,
            NotJSONError,
            QueryLimitError,
        )
        from spillstore.info import BadLine  # noqa: PLC0415  # likewise

        last = None
        try:
            for found in self._nodes:
                if isinstance(found, BadLine):
                    self.bad_count += 1
                    self._bad += [found] if len(self._bad) < _NAMED else []
                    continue
                if last is not None and self.count == self._limit:
                    self.cursor = last.cursor
                    return
                self.count += 1
                last = found
                yield found
        except (DroppedRangeError, NotJSONError, QueryLimitError) as error:
            self.problem = str(error)

    def values(self) -> Iterator[bytes]:
        """A value a line."""
        from spillstore.info import json_text  # noqa: PLC0415  # not before the store is

        return (f"{json_text(match.value)}\n".encode() for match in self.matches())

    def with_paths(self) -> Iterator[bytes]:
        """The line, where there are lines, the path, and a value a line."""
        from spillstore.info import json_text  # noqa: PLC0415  # not before the store is

        for match in self.matches():
            line = "" if match.line is None else f"{match.line}:"
            yield f"{line}{match.path}\t{json_text(match.value)}\n".encode()

    def as_json(self) -> Iterator[bytes]:
        """One document, written as the nodes come."""
        from spillstore.info import json_text  # noqa: PLC0415  # not before the store is

        for number, match in enumerate(self.matches()):
            fields = {"path": match.path, "line": match.line, "value": match.value}
            text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], json_text(fields))
            yield ("," if number else '{"matches": [').encode() + f"\n  {text}".encode()
        rest = {
            "count": self.count,
            "complete": self.cursor is None and self.problem is None,
            "cursor": self.cursor,
            "problem": self.problem,
            "bad_line_count": self.bad_count,
            "bad_lines": [{"line": bad.line, "reason": bad.reason} for bad in self._bad],
        }
        begin = "\n], " if self.count else '{"matches": [], '
        yield f"{begin}{json.dumps(rest, indent=2)[1:].lstrip()}\n".encode()

    def report(self) -> None:
        """Report bad lines, and the cursor of the rest."""
        for bad in self._bad:
            note(f"line {bad.line} is no JSON: {bad.reason}")
        if self.bad_count > len(self._bad):
            note(f"{self.bad_count} lines are no JSON; the first {len(self._bad)} are named")
        if self.cursor is not None:
            note(f"there is more: --cursor {self.cursor}")
