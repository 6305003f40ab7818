r"""JSON that is stored, queried by a model: the nodes that a JSONPath query (RFC 9535) selects, with their places.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     artifact = session.put('{"users": [{"name": "Ann", "age": 31}, {"name": "Bo", "age": 7}]}', source="doc")
    ...     answer = query_artifact(session, id=artifact.id, query="$.users[?@.age > 30]")
    ...     print(answer.text.replace(artifact.id, "ID"), end="")  # doctest: +ELLIPSIS
    [ID: node 1 of 1; $.users[?@.age > 30]]
    $['users'][0]: {"name":"Ann","age":31}
    [that is all] [~...]

Answers are bounded as those of ``get_artifact`` are, and a cursor leads to the next nodes. A value that does not fit by
itself is told by its parts and their sizes, and how to ask for them. After five seconds the answer has what was found
until then.
"""

from __future__ import annotations

import dataclasses
import json
import time
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from spillstore.exceptions import DroppedRangeError, NotJSONError, QueryLimitError, SpillstoreError
from spillstore.info import BadLine, json_text
from spillstore_tools.agent.arguments import ArgumentError, absent, flag, one_of, text, whole
from spillstore_tools.agent.audited import audited
from spillstore_tools.agent.retrieval import (
    MAX_CHARS,
    MOST_CHARS,
    QUERY_CURSOR,
    STREAMS,
    Answer,
    closed,
    find_artifact,
    of_session,
    room_of,
)
from spillstore_tools.output.signature import ROOM as MARK_ROOM
from spillstore_tools.preview.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Artifact, Session
    from spillstore.info import QueryMatch, Stream

SECONDS = 5.0
_COUNTED = 1.0  # seconds after which nodes that do not fit are counted no further
_PARTS = 40  # of a value that does not fit, that are named
_SMALL = 60  # characters of a name, and of a value that is told as it is
_NOTHING = "$[0:0]"  # selects nothing, and needs JSON to do so
_RIGHT = 'get_artifact(id="{}", query="$.users[?@.age > 30].name")'


@audited("query")
def query_artifact(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name that models are told
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
        session: where the artifact is.
        id: its id, or ``artifact://ID?stream=stdout``.
        query: JSONPath as RFC 9535 has it.
        stream: ``combined``, ``stdout`` or ``stderr``; by default ``combined``, or ``stdout`` if that alone is JSON.
        lines: whether each line is a document; found out by default.
        start_line: where the JSON begins, if something else was printed before.
        raw: values alone, without their places.
        cursor: of a former answer, with the same query.
        max_chars: 8,000 by default, from 500 to 100,000.
        partial: whether parts may be asked for (``enable_partial_retrieval``).

    Returns:
        The answer: a node a line, its normalized path and its value as compact JSON.

    Raises:
        ClosedError: the session is closed.
    """
    try:
        artifact, view = find_artifact(session, id)
        example = _RIGHT.format(artifact.id)
        if not partial:
            raise ArgumentError(  # noqa: TRY301  # here it is told
                "queries are switched off here (enable_partial_retrieval); "
                f'get_artifact(id="{artifact.id}") shows all of it, a part at a time'
            )
        wanted = text("query", query, example=example)
        if absent(wanted) or wanted is None:
            raise ArgumentError(f"query is missing; for example {example}")  # noqa: TRY301  # here it is told
        room = room_of(max_chars)
        first = whole("start_line", start_line, least=1, example=example) or 1
        asked = _Asked(
            wanted.strip(),
            None if absent(stream) and view is None else one_of("stream", stream, STREAMS, view or ""),
            None if absent(lines) else flag("lines", lines),
            first,
            None if absent(cursor) else _cursor(cursor, example),
            raw=flag("raw", raw),
        )
        return of_session(session, _Answering(artifact, asked, room - MARK_ROOM).answer())
    except ArgumentError as error:
        return Answer(text=f"get_artifact: {error}\n", is_error=True)
    except SpillstoreError as error:
        if closed(session):
            raise
        return Answer(text=f"get_artifact: {one_line(str(error))}\n", is_error=True)


def _cursor(value: object, example: str) -> str:
    cursor = str(value).strip().strip("\"'`")
    if not cursor.startswith(QUERY_CURSOR):
        raise ArgumentError(
            f"{cursor[:80]!r} is no cursor of a query; take it from the answer before, or begin with {example}"
        )
    return cursor.removeprefix(QUERY_CURSOR)


def view_of_cursor(cursor: str) -> Stream:
    """The view that a cursor of the store means; ``combined`` for what is none, which the store refuses.

    Example:
        >>> view_of_cursor("stdout:document:7@0+7"), view_of_cursor("7")
        ('stdout', 'combined')
    """
    view = cursor.partition(":")[0]
    return cast("Stream", view if view in STREAMS else "combined")


def json_view(artifact: Artifact, start_line: int = 1, seconds: float | None = None) -> Stream:
    """The view that is JSON, where none was asked for: all, or what a command printed beside its warnings.

    Args:
        artifact: what is to be queried.
        start_line: where the JSON begins.
        seconds: after which ``combined`` is taken untried.

    Returns:
        ``combined``, unless that is no JSON and ``stdout`` is. Cost: none, if only one stream has anything; else reading
        both.

    Raises:
        SpillstoreError: it cannot be read.
    """
    info = artifact.info
    views: tuple[Stream, ...] = ("combined", "stdout") if info.stdout.size and info.stderr.size else ()
    for view in views:
        try:
            page = artifact.query(_NOTHING, stream=view, limit=0, start_line=start_line, seconds=seconds)
        except NotJSONError:
            continue
        except (DroppedRangeError, QueryLimitError, ValueError):
            return "combined"
        if not page.bad_line_count:
            return view
    return "combined"


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """What a model wants."""

    query: str
    stream: str | None
    lines: bool | None
    start_line: int
    cursor: str | None
    raw: bool


class _Shown(NamedTuple):
    """A node in an answer, and how many bad lines come before it."""

    text: str
    node: QueryMatch
    bad_before: int


class _Words(NamedTuple):
    """How many characters of what is not content an answer has room for, and how many bad lines it names."""

    query: int
    path: int
    problem: int
    bad_lines: int


# By the characters of an answer, so that some are always left for what was asked for.
_WORDS = ((3000, _Words(200, 400, 300, 3)), (1400, _Words(60, 150, 120, 1)), (0, _Words(0, 20, 60, 0)))


class _Answering:
    """Makes the answer to one query."""

    def __init__(self, artifact: Artifact, asked: _Asked, room: int) -> None:
        self._artifact = artifact
        self._asked = asked
        self._room = room
        self._notes: list[str] = []
        if asked.cursor is not None:
            self._stream = view_of_cursor(asked.cursor)
        elif asked.stream is not None:
            self._stream = cast("Stream", asked.stream)
        else:
            self._stream = json_view(artifact, asked.start_line, SECONDS / 2)
            if self._stream != "combined" and room >= _WORDS[1][0]:
                self._notes.append("stdout alone, since with stderr it is no JSON")
        self._words = next(words for least, words in _WORDS if room >= least)
        self._shown: list[_Shown] = []
        self._hidden: _Shown | None = None  # the first that does not fit
        self._bad: list[BadLine] = []  # the first of them
        self._bad_count = 0
        self._count = 0  # of all nodes, as far as they were counted
        self._exhausted = False
        self._problem: str | None = None
        self._timed_out = False

    def answer(self) -> Answer:
        """Whole nodes, if one fits."""
        self._collect()
        while self._shown or self._hidden is None:
            answer = self._composed()
            if len(answer.text) <= self._room:
                return answer
            self._hidden = self._shown.pop()
        # Alone it is too large: it is told by its parts, in what room there is.
        hidden, room = self._hidden, self._room
        while True:
            self._shown = [hidden._replace(text=self._shortened(hidden.node, room))]
            answer = self._composed()
            if len(answer.text) <= self._room:
                return answer
            room -= len(answer.text) - self._room

    def _collect(self) -> None:
        """The nodes that may fit, and how many there are as far as that is soon known."""
        left, full = self._room, 0.0
        try:
            for found in self._nodes():
                if isinstance(found, BadLine):
                    self._bad_count += 1
                    self._bad += [found] if len(self._bad) < self._words.bad_lines else []
                    continue
                self._count = found.number
                if self._hidden is None:
                    shown = _Shown(f"{self._label(found)}{_written(found.value)}\n", found, self._bad_count)
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
        asked = self._asked
        return self._artifact.nodes(
            asked.query,
            stream=self._stream,
            cursor=asked.cursor,
            lines=asked.lines,
            start_line=asked.start_line,
            seconds=SECONDS,
        )

    # --- in words ---------------------------------------------------------------------------------------

    def _composed(self) -> Answer:
        last = self._shown[-1] if self._shown else None
        unknown = not self._exhausted and (self._problem is None or self._timed_out)
        more = last is not None and (self._count > last.node.number or unknown)
        cursor = f"{QUERY_CURSOR}{last.node.cursor}" if last is not None and more else None
        content = "".join(shown.text for shown in self._shown)
        # Bad lines behind the last node that is shown are told with the nodes behind them.
        bad = self._bad_lines(last.bad_before if last is not None and more else self._bad_count)
        rest = "[that is all]\n" if self._problem is None else "[there may be more]\n"
        if cursor is not None:
            rest = f"[more: {self._call(cursor)}]\n"
        problem = ""
        if self._problem is not None:
            problem = f"[it ended there: {one_line(self._problem)[: self._words.problem]}]\n"
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
        query = _clipped(one_line(self._asked.query), self._words.query)
        notes = "".join(f"; {note}" for note in [query, *self._notes] if note)
        return f"{self._artifact.id}: {found}{view}{notes}"

    def _bad_lines(self, count: int) -> str:
        if not count:
            return ""
        named = [f"line {each.line}: {one_line(each.reason)[:100]}" for each in self._bad[:count]]
        names = f": {'; '.join(named)}{'; ...' if count > len(named) else ''}" if named else ""
        return f"[{count} {'line is' if count == 1 else 'lines are'} no JSON and left out{names}]\n"

    def _call(self, cursor: str) -> str:
        asked = self._asked
        if len(asked.query) > self._words.query:
            return f'get_artifact with the same arguments and cursor="{cursor}"'
        query = json.dumps(asked.query, ensure_ascii=False)
        raw = ", raw=True" if asked.raw else ""
        most = self._room + MARK_ROOM
        chars = "" if most == MAX_CHARS else f", max_chars={most}"
        return f'get_artifact(id="{self._artifact.id}", query={query}{raw}, cursor="{cursor}"{chars})'

    def _label(self, found: QueryMatch) -> str:
        if self._asked.raw:
            return ""
        line = "" if found.line is None else f"line {found.line} "
        return f"{line}{_clipped(one_line(found.path), self._words.path)}: "

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
        if len(path) <= self._words.query:
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
    """What a value is, and how large; itself, if it is small."""
    written = _written(value)
    if len(written) <= _SMALL:
        return written
    if not isinstance(value, (dict, list)):
        return f"({'text' if isinstance(value, str) else 'number'} of {len(written)} characters)"
    noun = "member" if isinstance(value, dict) else "element"
    size = f"{len(value)} {noun}{'' if len(value) == 1 else 's'}"
    return f"({'object' if isinstance(value, dict) else 'array'} of {size}, {len(written)} characters)"
