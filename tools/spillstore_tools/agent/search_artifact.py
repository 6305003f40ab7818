r"""The tool ``search_artifact``: the lines of an artifact that match a pattern, as a reader sees them.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     artifact = session.put("one\n\x1b[31merror\x1b[0m: two\nthree\n", source="doc")
    ...     answer = search_artifact(session, id=artifact.id, pattern="^error", context=1)
    ...     print(answer.text.replace(artifact.id, "ID"), end="")  # doctest: +ELLIPSIS
    [ID: 1 matching line (1 match) of 3]
    1-one
    2:error: two
    3-three
    [that is all] [~...]

Answers are bounded as those of ``get_artifact`` are, and a cursor leads to the next matches. Patterns are RE2's, whose
time is linear in the text.
"""

from __future__ import annotations

import dataclasses
import json
import time
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from spillstore_tools.agent.answers import MAX_CHARS, SECONDS, Answer, reading_tool, signed
from spillstore_tools.agent.arguments import (
    ArgumentError,
    absent,
    at_most,
    flag,
    one_of,
    text,
    unquoted,
    whole,
)
from spillstore_tools.agent.artifacts import STREAMS, find_artifact, find_string, id_argument, name_of
from spillstore_tools.agent.definitions import CURSOR, ID, PATH, STREAM, ToolDefinition
from spillstore_tools.preview.text.clean import clean, escaped, is_clean, one_line
from spillstore_tools.preview.text.encoded import encoding_of, in_utf8, line_end, offset_in
from spillstore_tools.preview.text.offsets import ByteOffsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spillstore import Artifact, Session
    from spillstore.info import Match, SearchResult, Stream
    from spillstore.jsonstring import JSONString

_LIMIT, _MOST = 50, 1000
_STRETCH = 64 * 1024  # bytes that are cleaned together
_STEP = 25  # matches that are searched for at a time
_MOST_CONTEXT = 20
_LINE = 500  # characters of a line that are shown
_LEFT_OUT = 64  # characters of the words for lines that are left out at one side of a match
_LONG_PATTERN = 300
_AROUND = 800  # characters that an answer has besides its matches and its pattern
_EXAMPLE = 'search_artifact(id="{}", pattern="error|failed", context=2)'

DEFINITION = ToolDefinition(
    name="search_artifact",
    description=(
        "Search stored output for lines that match a regular expression, with their numbers. Look-around and "
        "back-references are not supported."
    ),
    properties={
        "id": ID,
        "pattern": {"type": "string", "description": "Regular expression (RE2 syntax), matched within lines"},
        "stream": STREAM,
        "path": PATH,
        "context": {"type": "integer", "description": "Lines before and after each match (default: 0)"},
        "limit": {"type": "integer", "description": "Matching lines at most (default: 50)"},
        "cursor": CURSOR,
        "ignore_case": {"type": "boolean", "description": "Take capitals and small letters for the same"},
        "literal": {"type": "boolean", "description": "The pattern is text, not an expression"},
        "invert": {"type": "boolean", "description": "Lines that do not match"},
        "raw": {"type": "boolean", "description": "Search the stored bytes, escape sequences and all"},
        "count": {"type": "boolean", "description": "Tell only how many lines match"},
    },
    required=("id", "pattern"),
    always_load=True,
)


class TextCleaner:
    """Cleans stored lines as previews do, so that a search sees what a reader sees. A ``spillstore.info.Cleaner``.

    Args:
        encoding: of text in UTF-16 or UTF-32, which is decoded.
    """

    def __init__(self, encoding: str | None = None) -> None:
        self._encoding = encoding
        self.keeps_plain = encoding is None
        self.line_end = None if encoding is None else line_end(encoding)

    def is_clean(self, data: bytes | memoryview) -> bool:
        """As in ``Cleaner``."""
        return self._encoding is None and is_clean(data)

    def text(self, lines: bytes, terminator: bytes) -> bytes:
        """As in ``Cleaner``; the same object where there is nothing to clean."""
        if self._encoding is not None:
            return clean(in_utf8(lines, self._encoding), terminator).encode()
        if terminator == b"\n" and is_clean(lines):
            return lines
        stretches: list[bytes] = []  # most of what is not clean is so in a few places
        at = 0
        while at < len(lines):
            end = lines.rfind(terminator, at, at + _STRETCH) + 1 or lines.find(terminator, at + _STRETCH) + 1
            stretch = lines[at : end or len(lines)]
            is_done = terminator == b"\n" and is_clean(stretch)
            stretches.append(stretch if is_done else clean(stretch, terminator).encode())
            at = end or len(lines)
        cleaned = b"".join(stretches)
        return lines if cleaned == lines else cleaned

    def offset(self, line: bytes, terminator: bytes, index: int) -> int:
        """As in ``Cleaner``."""
        shown = ByteOffsets(in_utf8(line, self._encoding), terminator).offset(index)
        return offset_in(line, self._encoding, shown)


@reading_tool("search")
def search_artifact(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name in the tool's schema
    pattern: object = None,
    path: object = None,
    stream: object = None,
    context: object = None,
    limit: object = None,
    cursor: object = None,
    ignore_case: object = None,
    literal: object = None,
    invert: object = None,
    raw: object = None,
    count: object = None,
) -> Answer:
    """Matching lines with their numbers, in at most 8,000 characters. Arguments are a model's.

    Args:
        session: the session that holds the artifact.
        id: its id.
        pattern: a regular expression (RE2), matched within lines as a reader sees them.
        path: a JSONPath (RFC 9535) that selects one string in stored JSON, whose lines are then searched.
        stream: ``combined`` (the default), ``stdout`` or ``stderr``.
        context: lines before and after each match; at most 20.
        limit: the most matching lines of an answer; 50 by default, 1,000 at most.
        cursor: from the answer before, with the same arguments.
        ignore_case: whether capitals and small letters are the same.
        literal: whether the pattern is plain text.
        invert: search for lines that do not match.
        raw: search the bytes as they are stored, escape sequences and all.
        count: answer only with the number of matches.

    Returns:
        The answer; after five seconds it has the matches up to there, and says how far the search has come.

    Raises:
        ClosedError: the session is closed.
    """
    artifact, view = find_artifact(session, id)
    example = _EXAMPLE.format(artifact.id)
    expression = text("pattern", pattern, example=example)
    if not expression:
        raise ArgumentError(f"pattern is missing; for example {example}")
    source: Artifact | JSONString = artifact
    called = id_argument(artifact)
    chosen = cast("Stream", one_of("stream", stream, STREAMS, view or "combined"))
    if not absent(path):
        source, called = find_string(artifact, path, None if absent(stream) and view is None else chosen)
        chosen = "combined"
    notes: list[str] = []
    options: dict[str, Any] = {
        "stream": chosen,
        "context": at_most("context", whole("context", context) or 0, _MOST_CONTEXT, notes),
        "ignore_case": flag("ignore_case", ignore_case),
        "literal": flag("literal", literal),
        "invert": flag("invert", invert),
    }
    most = at_most("limit", whole("limit", limit, least=1) or _LIMIT, _MOST, notes)
    search = _Search(source, expression, options, called, most, notes, cleaned=not flag("raw", raw))
    start = None if absent(cursor) else unquoted(cursor)
    answer = search.count(start) if flag("count", count) else search.page(start)
    if source is not artifact:  # positions in a string are not those of the artifact
        answer = dataclasses.replace(answer, end=0)
    return signed(session, answer, raw=flag("raw", raw))


class _Search:
    """Makes the answer of one search.

    Args:
        artifact: what is searched.
        pattern: the regular expression.
        options: of ``Artifact.search``.
        called: the arguments that name the artifact in a call.
        limit: the most matching lines of an answer.
        notes: what was corrected in the arguments.
        cleaned: whether lines are searched as a reader sees them.
    """

    def __init__(
        self,
        artifact: Artifact | JSONString,
        pattern: str,
        options: dict[str, Any],
        called: str,
        limit: int,
        notes: Sequence[str],
        *,
        cleaned: bool,
    ) -> None:
        self._artifact = artifact
        self._corrected = notes
        self._called = called
        self._limit = limit
        self._pattern = pattern
        self._options = options
        self._cleaner = TextCleaner(encoding_of(artifact, options["stream"])) if cleaned else None
        self._shown = one_line if cleaned else escaped
        self._deadline = time.monotonic() + SECONDS

    def page(self, cursor: str | None) -> Answer:
        """As many matches as fit, of ``limit`` at most; a few are searched for at a time, since their sizes are unknown."""
        room = MAX_CHARS - _AROUND - min(len(self._pattern), 2 * _LONG_PATTERN)
        found: tuple[Match, ...] = ()
        shown: SearchResult | None = None
        while True:
            result = self._run(min(self._limit - len(found), _STEP), cursor)
            content, fitting = self._fitting(found + result.matches, room)
            more = fitting - len(found)
            if more < len(result.matches):
                if more > 0 or shown is None:
                    shown = self._run(more, cursor)  # with the cursor behind the last match that fits
                return self._answer(shown, content)
            found, shown, cursor = found + result.matches, result, result.cursor
            if cursor is None or len(found) >= self._limit or time.monotonic() > self._deadline:
                return self._answer(shown, content)

    def count(self, cursor: str | None) -> Answer:
        """The number of matches alone."""
        return self._answer(self._run(0, cursor), "")

    def _run(self, limit: int, cursor: str | None) -> SearchResult:
        return self._artifact.search(
            self._pattern,
            limit=limit,
            cursor=cursor,
            cleaner=self._cleaner,
            seconds=max(0.0, self._deadline - time.monotonic()),
            **self._options,
        )

    def _fitting(self, matches: Sequence[Match], room: int) -> tuple[str, int]:
        """The matches that fit, as text, and how many they are; at least one, if need be with less context."""
        pieces: list[str] = []
        length = 0
        for number, rows in enumerate(grouped(matches, separated=self._options["context"] > 0)):
            lines = [f"{row.label}{_clipped(row, self._shown)}\n" for row in rows]
            piece = "".join(lines)
            if length + len(piece) > room:
                return ("".join(pieces), number) if pieces else (_nearest(rows, lines, room), 1)
            pieces.append(piece)
            length += len(piece)
        return "".join(pieces), len(matches)

    def _answer(self, result: SearchResult, content: str) -> Answer:
        total = self._artifact.info.view(self._options["stream"]).lines
        what = "line that does not match" if self._options["invert"] else "matching line"
        lines = what if result.lines == 1 else what.replace("line", "lines").replace("does", "do")
        matches = (
            ""
            if self._options["invert"]
            else f" ({result.total_matches} match{'' if result.total_matches == 1 else 'es'})"
        )
        found = f"{result.lines} {lines}{matches} of {total}"
        if not result.complete:
            found = f"at least {found}; searched to byte {result.scanned} of {result.size}"
        notes = "".join(f"; {note}" for note in (*self._corrected, *result.notes))
        end = f"[more: {self._call(result.cursor)}]\n" if result.cursor else "[that is all]\n"
        return Answer(
            text=f"[{name_of(self._artifact)}: {found}{notes}]\n{content}{end}",
            content=content,
            cursor=result.cursor,
            artifact_id=self._artifact.id,
            stream=self._options["stream"],
            end=result.scanned,
            total_size=result.size,
            total_lines=total,
        )

    def _call(self, cursor: str) -> str:
        if len(self._pattern) > _LONG_PATTERN:
            return f'search_artifact with the same arguments and cursor="{cursor}"'
        options: dict[str, object] = {"pattern": self._pattern}
        options |= {name: value for name, value in self._options.items() if value and value != "combined"}
        if self._cleaner is None:
            options["raw"] = True
        if self._limit != _LIMIT:
            options["limit"] = self._limit
        arguments = ", ".join(f"{name}={_written(value)}" for name, value in options.items())
        return f'search_artifact({self._called}, {arguments}, cursor="{cursor}")'


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (str, bool)) else str(value)


class Row(NamedTuple):
    """A line to print.

    Attributes:
        label: ``12:`` before a match, ``11-`` before context, ``--`` for a gap.
        text: the line.
        column: where in ``text`` the match begins, from 1; 0 in a line without one.
        clipped: whether ``text`` is a part of the line.
    """

    label: str
    text: str
    column: int = 0
    clipped: bool = False


def grouped(matches: Sequence[Match], *, separated: bool) -> Iterator[list[Row]]:
    """The rows of each match: its line, and the context lines that no other match shows; ``--`` before a gap."""
    shown = 0
    for match, following in zip_longest(matches, matches[1:]):
        rows: list[Row] = []
        first = match.line - len(match.before)
        if separated and shown and first > shown + 1:
            rows.append(Row("--", ""))
        rows += [Row(f"{number}-", line) for number, line in enumerate(match.before, first) if number > shown]
        rows.append(Row(f"{match.line}:", match.text, match.text_column, match.clipped))
        shown = match.line
        for number, line in enumerate(match.after, match.line + 1):
            if following is None or number < following.line:
                rows.append(Row(f"{number}-", line))
                shown = number
        yield rows


def _nearest(rows: Sequence[Row], lines: Sequence[str], room: int) -> str:
    """A match with the lines around it that fit, the nearest first, and which are left out.

    Args:
        rows: the match and its context.
        lines: the same as they are printed.
        room: characters.
    """
    match = next(number for number, row in enumerate(rows) if row.column)
    low, high = match, match
    room -= 2 * _LEFT_OUT
    for number in sorted(range(len(rows)), key=lambda number: abs(number - match)):
        room -= len(lines[number])
        if room < 0:
            break
        low, high = min(low, number), max(high, number)
    return f"{_left_out(rows[:low])}{''.join(lines[low : high + 1])}{_left_out(rows[high + 1 :])}"


def _left_out(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    first, last = rows[0].label[:-1], rows[-1].label[:-1]
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"[no room for {lines}]\n"


def _clipped(row: Row, shown: Callable[[str], str]) -> str:
    """The part of a line around its match that is shown, as a reader sees it or with what is stored as escapes."""
    line = shown(row.text)
    low = 0
    if len(line) > _LINE and row.column:
        place = len(shown(row.text[: row.column - 1]))
        low = max(0, min(place - _LINE // 4, len(line) - _LINE))
    before = "[...]" if low or row.clipped else ""
    return f"{before}{line[low : low + _LINE]}{'[...]' if low + _LINE < len(line) or row.clipped else ''}"
