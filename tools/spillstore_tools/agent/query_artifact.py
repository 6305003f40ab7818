r"""Queries of stored JSON: the nodes that a JSONPath (RFC 9535) selects, with their paths. ``get_artifact(query=...)`` runs them.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     artifact = session.put('{"users": [{"name": "Ann", "age": 31}, {"name": "Bo", "age": 7}]}', source="doc")
    ...     answer = query_artifact(session, id=artifact.id, query="$.users[?@.age > 30]")
    ...     print(answer.text.replace(artifact.id, "ID"), end="")  # doctest: +ELLIPSIS
    [ID: node 1 of 1; $.users[?@.age > 30]]
    $['users'][0]: {"name":"Ann","age":31}
    [that is all] [~...]

Answers are bounded as those of ``get_artifact`` are, and a cursor leads to the next nodes. A value that is too large for
an answer is described by its parts and their sizes, with a query for one of them. After five seconds the answer has what
was found until then.
"""

from __future__ import annotations

import dataclasses
import json
import time
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from spillstore.exceptions import DroppedRangeError, NotJSONError, QueryLimitError
from spillstore.info import BadLine, json_text
from spillstore_tools.agent.answers import (
    MOST_CHARS,
    SECONDS,
    Answer,
    answer_size,
    max_chars_argument,
    reading_tool,
    signed,
)
from spillstore_tools.agent.arguments import ArgumentError, absent, flag, one_of, text, unquoted, whole
from spillstore_tools.agent.artifacts import STREAMS, find_artifact, json_view, ranges_are_off, view_of_cursor
from spillstore_tools.describe import counted
from spillstore_tools.output.signed_answers import ROOM as SIGNATURE_ROOM
from spillstore_tools.preview.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Artifact, Session
    from spillstore.info import QueryMatch, Stream

QUERY_CURSOR = "query:"  # the beginning of a query's cursor
_COUNTED = 1.0  # seconds for which nodes that do not fit are counted
_PARTS = 40  # members of a large value that are named
_SMALL = 60  # characters of a name, and of a value that is shown as it is
_EXAMPLE = 'get_artifact(id="{}", query="$.users[?@.age > 30].name")'


@reading_tool("query", called="get_artifact")
def query_artifact(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name in the tool's schema
    query: object = None,
    stream: object = None,
    lines: object = None,
    start_line: object = None,
    raw: object = None,
    cursor: object = None,
    max_chars: object = None,
    partial: bool = True,
) -> Answer:
    """The nodes of an artifact's JSON that a query selects, in at most ``max_chars`` characters. Arguments are a model's.

    Args:
        session: the session that holds the artifact.
        id: its id, or ``artifact://ID?stream=stdout``.
        query: a JSONPath (RFC 9535).
        stream: ``combined``, ``stdout`` or ``stderr``; by default ``combined``, or ``stdout`` if that alone is JSON.
        lines: whether each line is a document; None to find out.
        start_line: the line at which the JSON begins.
        raw: values alone, without their paths.
        cursor: from an earlier answer to the same query.
        max_chars: 8,000 by default, from 500 to 100,000.
        partial: whether queries are allowed (``enable_partial_retrieval``).

    Returns:
        The answer: a node a line, its normalized path and its value as compact JSON.

    Raises:
        ClosedError: the session is closed.
    """
    artifact, view = find_artifact(session, id)
    example = _EXAMPLE.format(artifact.id)
    if not partial:
        raise ranges_are_off(artifact, "queries")
    expression = text("query", query, example=example)
    if absent(expression) or expression is None:
        raise ArgumentError(f"query is missing; for example {example}")
    size = answer_size(max_chars)
    first = whole("start_line", start_line, least=1, example=example) or 1
    request = _Request(
        expression.strip(),
        None if absent(stream) and view is None else one_of("stream", stream, STREAMS, view or ""),
        None if absent(lines) else flag("lines", lines),
        first,
        None if absent(cursor) else _cursor(cursor, example),
        raw=flag("raw", raw),
    )
    answer = _QueryAnswer(artifact, request, size - SIGNATURE_ROOM).answer()
    return signed(session, answer, raw=request.raw)


def _cursor(value: object, example: str) -> str:
    """The store's cursor in that of an answer."""
    cursor = unquoted(value)
    if not cursor.startswith(QUERY_CURSOR):
        raise ArgumentError(
            f"{cursor[:80]!r} is no cursor of a query; take it from the answer before, or begin with {example}"
        )
    return cursor.removeprefix(QUERY_CURSOR)


@dataclasses.dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of a call."""

    query: str
    stream: str | None
    lines: bool | None
    start_line: int
    cursor: str | None
    raw: bool


class _Node(NamedTuple):
    """A node as text, and how many bad lines come before it."""

    text: str
    node: QueryMatch
    bad_before: int


class _Room(NamedTuple):
    """How many characters of the query, of a path and of an error an answer shows, and how many bad lines it names."""

    query: int
    path: int
    problem: int
    bad_lines: int


# By the characters of an answer, so that some are always left for its content.
_ROOMS = ((3000, _Room(200, 400, 300, 3)), (1400, _Room(60, 150, 120, 1)), (0, _Room(0, 20, 60, 0)))


class _QueryAnswer:
    """Makes the answer to one query, in at most ``room`` characters."""

    def __init__(self, artifact: Artifact, request: _Request, room: int) -> None:
        self._artifact = artifact
        self._request = request
        self._room = room
        self._notes: list[str] = []
        if request.cursor is not None:
            self._stream = view_of_cursor(request.cursor)
        elif request.stream is not None:
            self._stream = cast("Stream", request.stream)
        else:
            self._stream = json_view(artifact, request.start_line, SECONDS / 2)
            if self._stream != "combined" and room >= _ROOMS[1][0]:
                self._notes.append("stdout alone, since with stderr it is no JSON")
        self._around = next(around for least, around in _ROOMS if room >= least)
        self._shown: list[_Node] = []
        self._hidden: _Node | None = None  # the first that does not fit
        self._bad: list[BadLine] = []  # the first of them
        self._bad_count = 0
        self._count = 0  # of all nodes, as far as they were counted
        self._exhausted = False
        self._problem: str | None = None
        self._timed_out = False

    def answer(self) -> Answer:
        """Whole nodes if one fits, else the parts of the first."""
        self._collect()
        while self._shown or self._hidden is None:
            answer = self._composed()
            if len(answer.text) <= self._room:
                return answer
            self._hidden = self._shown.pop()
        # Alone it is too large: its parts are described instead.
        hidden, room = self._hidden, self._room
        while True:
            self._shown = [hidden._replace(text=self._shortened(hidden.node, room))]
            answer = self._composed()
            if len(answer.text) <= self._room:
                return answer
            room -= len(answer.text) - self._room

    def _collect(self) -> None:
        """Collect the nodes that may fit, and count the others for a while."""
        left, full = self._room, 0.0
        try:
            for found in self._nodes():
                if isinstance(found, BadLine):
                    self._bad_count += 1
                    self._bad += [found] if len(self._bad) < self._around.bad_lines else []
                    continue
                self._count = found.number
                if self._hidden is None:
                    shown = _Node(f"{self._label(found)}{_written(found.value)}\n", found, self._bad_count)
                    left -= len(shown.text)
                    if left >= 0:
                        self._shown.append(shown)
                    else:
                        self._hidden, full = shown, time.monotonic()
                elif time.monotonic() - full > _COUNTED:
                    return
            self._exhausted = True
        except (NotJSONError, DroppedRangeError, QueryLimitError) as error:
            if not self._count:
                raise
            self._problem = str(error)
            self._timed_out = isinstance(error, QueryLimitError) and error.seconds is not None

    def _nodes(self) -> Iterator[QueryMatch | BadLine]:
        request = self._request
        return self._artifact.nodes(
            request.query,
            stream=self._stream,
            cursor=request.cursor,
            lines=request.lines,
            start_line=request.start_line,
            seconds=SECONDS,
        )

    def _composed(self) -> Answer:
        last = self._shown[-1] if self._shown else None
        unknown = not self._exhausted and (self._problem is None or self._timed_out)
        more = last is not None and (self._count > last.node.number or unknown)
        cursor = f"{QUERY_CURSOR}{last.node.cursor}" if last is not None and more else None
        content = "".join(shown.text for shown in self._shown)
        # Bad lines behind the last node that is shown are reported with the nodes behind them.
        bad = self._bad_lines(last.bad_before if last is not None and more else self._bad_count)
        rest = "[that is all]\n" if self._problem is None else "[there may be more]\n"
        if cursor is not None:
            rest = f"[more: {self._call(cursor)}]\n"
        problem = ""
        if self._problem is not None:
            problem = f"[it ended there: {one_line(self._problem)[: self._around.problem]}]\n"
        return Answer(
            text=f"[{self._header()}]\n{content}{bad}{problem}{rest}",
            content=content,
            cursor=cursor,
            artifact_id=self._artifact.id,
            stream=self._stream,
        )

    def _header(self) -> str:
        total = f"{self._count}" if self._exhausted else f"at least {self._count}"
        found = "no nodes"
        if self._shown:
            first, last = self._shown[0].node.number, self._shown[-1].node.number
            found = f"nodes {first}-{last} of {total}" if last > first else f"node {first} of {total}"
        elif self._count:
            found = f"no more nodes; there are {total}"
        view = "" if self._stream == "combined" else f" of {self._stream}"
        query = _clipped(one_line(self._request.query), self._around.query)
        notes = "".join(f"; {note}" for note in [query, *self._notes] if note)
        return f"{self._artifact.id}: {found}{view}{notes}"

    def _bad_lines(self, count: int) -> str:
        if not count:
            return ""
        named = [f"line {each.line}: {one_line(each.reason)[:100]}" for each in self._bad[:count]]
        names = f": {'; '.join(named)}{'; ...' if count > len(named) else ''}" if named else ""
        return f"[{count} {'line is' if count == 1 else 'lines are'} no JSON and left out{names}]\n"

    def _call(self, cursor: str) -> str:
        request = self._request
        if len(request.query) > self._around.query:
            return f'get_artifact with the same arguments and cursor="{cursor}"'
        query = json.dumps(request.query, ensure_ascii=False)
        raw = ", raw=true" if request.raw else ""
        chars = max_chars_argument(self._room + SIGNATURE_ROOM)
        return f'get_artifact(id="{self._artifact.id}", query={query}{raw}, cursor="{cursor}"{chars})'

    def _label(self, found: QueryMatch) -> str:
        if self._request.raw:
            return ""
        line = "" if found.line is None else f"line {found.line} "
        return f"{line}{_clipped(one_line(found.path), self._around.path)}: "

    def _shortened(self, found: QueryMatch, room: int) -> str:
        """A value that is too large for an answer: its parts, or its beginning."""
        value, label = found.value, self._label(found)
        if not isinstance(value, (dict, list)):
            written = _written(value)
            hint = f" [... {len(written)} characters in all; max_chars={MOST_CHARS} shows more]\n"
            return f"{label}{written[: max(0, room - len(label) - len(hint))]}{hint}"
        members = isinstance(value, dict)
        parts = list(islice(value.items() if isinstance(value, dict) else enumerate(value), _PARTS))
        path = found.path + "".join(_step(key) for key, _ in parts[:1])
        hint = "\n[too large to be shown whole; query a part of it]\n"
        if len(path) <= self._around.query:
            call = json.dumps(one_line(path), ensure_ascii=False)
            hint = f"\n[too large to be shown whole; ask for a part, for example query={call}]\n"
        text = f"{label}{_kind(value)}"
        for number, (key, child) in enumerate(parts):
            name = json.dumps(key, ensure_ascii=False) if members else f"[{key}]"
            part = one_line(f"{', ' if number else ': '}{name[:_SMALL]} {_kind(child)}")
            if len(text) + len(part) + len(hint) + len(", ...") > room:
                return f"{text}, ...{hint}"
            text += part
        return f"{text}{', ...' if len(value) > _PARTS else ''}{hint}"


def _written(value: Any) -> str:
    return one_line(json_text(value))


def _clipped(text: str, length: int) -> str:
    if not length:
        return ""
    return text if len(text) <= length else f"{text[:length]}..."


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    name = key.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{name}']"


def _kind(value: Any) -> str:
    """The type and the size of a value; a small one as it is."""
    written = _written(value)
    if len(written) <= _SMALL:
        return written
    if not isinstance(value, (dict, list)):
        return f"({'text' if isinstance(value, str) else 'number'} of {len(written)} characters)"
    noun = "member" if isinstance(value, dict) else "element"
    size = counted(len(value), noun)
    return f"({'object' if isinstance(value, dict) else 'array'} of {size}, {len(written)} characters)"
