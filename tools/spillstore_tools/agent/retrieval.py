r"""What a model asks of stored artifacts: any part of one, what is known of it, which there are.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     artifact = session.put("".join(f"line {n}\n" for n in range(1, 1001)), source="doc")
    ...     answer = get_artifact(session, id=artifact.id, start_line=500, end_line=501)
    ...     print(answer.text.replace(artifact.id, "ID"), end="")  # doctest: +ELLIPSIS
    [ID: lines 500-501 of 1000, bytes 4383-4401 of 8893]
    line 500
    line 501
    [end of the range] [~...]

Every answer is bounded in characters, its own words included. What does not fit has a cursor: the same call with it goes
on where the answer stopped, to the byte, so walking the cursors gives everything once. What a model gets wrong (a range
past the end, one that is reversed, a number as text, an id that is not there) is put right or answered with a call that
would have been right; nothing raises but what is the caller's fault.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from typing import TYPE_CHECKING, cast

from spillstore import Artifact
from spillstore.exceptions import ArtifactNotFoundError, DroppedRangeError, SpillstoreError
from spillstore.model.ids import named_by
from spillstore_tools.agent.arguments import ArgumentError, absent, flag, moment, number, one_of, whole
from spillstore_tools.agent.audited import audited
from spillstore_tools.describe import described, human_size, utc
from spillstore_tools.output.rendering import kind_of
from spillstore_tools.output.signature import ROOM as MARK_ROOM
from spillstore_tools.output.signature import marked
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.text.clean import is_plain, one_line, split_lines
from spillstore_tools.preview.text.lines import Line
from spillstore_tools.preview.text.stream import settled_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import ArtifactInfo, HoleInfo, Session
    from spillstore.info import State, Stream
    from spillstore.jsonstring import JSONString

MAX_CHARS = 8000
QUERY_CURSOR = "query:"  # what cursors of queries begin with
LEAST_CHARS, MOST_CHARS = 500, 100_000
_PAGE_LINES = 2000  # of ``offset`` without ``limit``, as under ``opencode``
_WINDOW = 256 * 1024  # bytes that are looked at together; of a longer line each window is cleaned alone
_SCANNED = 16 * 1024 * 1024  # bytes that one answer looks through, where little of them can be shown
_LISTED, _MOST_LISTED = 20, 100
_TRIES = 20  # to read what is dropped meanwhile
_NAMED = 5  # ids that are named where one is wrong
_COMMAND = 60
_PATH = 100
STREAMS = ("combined", "stdout", "stderr")
_STATES = ("open", "sealed", "interrupted")
_CURSOR = re.compile(r"(combined|stdout|stderr):(\d{1,18})-(\d{1,18})?(:raw)?", re.ASCII)
_RIGHT = "get_artifact({}, start_line=1, end_line=100)"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model is told.

    Attributes:
        text: all of it.
        content: the part of ``text`` that is the artifact's own.
        is_error: whether the call could not be answered.
        cursor: where the rest begins; None where there is none.
        artifact_id: the artifact it is of, or None.
        ids: the artifacts that it lists.
        stream: the view that positions mean.
        start, end: the bytes ``[start, end)`` that ``content`` shows.
        first_line, last_line: the lines they are in; they and the bytes are 0 where a ``path`` or a ``query`` was asked for.
        total_size, total_lines: of the view, or of the string.
    """

    text: str
    content: str = ""
    is_error: bool = False
    cursor: str | None = None
    artifact_id: str | None = None
    ids: tuple[str, ...] = ()
    stream: str = "combined"
    start: int = 0
    end: int = 0
    first_line: int = 0
    last_line: int = 0
    total_size: int = 0
    total_lines: int = 0


def room_of(max_chars: object) -> int:
    """How many characters an answer may have: 8,000 where nothing was asked for, else from 500 to 100,000.

    Raises:
        ArgumentError: what was asked for is no number.
    """
    return whole("max_chars", max_chars, least=LEAST_CHARS, most=MOST_CHARS) or MAX_CHARS


def of_session(session: Session, answer: Answer) -> Answer:
    """The answer with its mark: it is of this session, and need not be stored again."""
    return dataclasses.replace(answer, text=marked(session, answer.text))


@audited("read")
def get_artifact(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name that models are told
    path: object = None,
    start_line: object = None,
    end_line: object = None,
    start_byte: object = None,
    end_byte: object = None,
    start_time: object = None,
    end_time: object = None,
    offset: object = None,
    limit: object = None,
    tail: object = None,
    query: object = None,
    stream: object = None,
    raw: object = None,
    cursor: object = None,
    max_chars: object = None,
    partial: bool = True,
) -> Answer:
    r"""A part of an artifact, or the beginning of all of it, in at most ``max_chars`` characters. Arguments are a model's.

    Args:
        session: where the artifact is.
        id: its id, or ``artifact://ID?stream=stdout``.
        path: a JSONPath (RFC 9535) that finds one string in stored JSON: lines and bytes are those of that string then.
        start_line: from 1; ``-n`` for the last n lines.
        end_line: the last line, included.
        start_byte: from 0.
        end_byte: the byte after the last.
        start_time: seconds after the artifact began.
        end_time: likewise, not included.
        offset: lines to skip.
        limit: lines after that; 2,000 by default.
        tail: how many lines of the end.
        query: JSONPath (RFC 9535): the nodes that it selects, of a document or of each line (see ``querying``); of the
            ranges it takes ``start_line`` alone, for JSON that begins there.
        stream: ``combined`` (the default), ``stdout`` or ``stderr``; each counts its own lines and bytes.
        raw: leave escape sequences and control characters in; bytes that are no text are shown as ``\xNN``.
        cursor: of a former answer; it stands for everything but ``id``, ``path``, ``query`` and ``max_chars``.
        max_chars: 8,000 by default, from 500 to 100,000.
        partial: whether ranges are allowed (``enable_partial_retrieval``).

    Returns:
        The answer. Cost: a few chunks, wherever the range is and however large the artifact.

    Raises:
        ClosedError: the session is closed.
    """
    ranges = {
        "start_line": start_line,
        "end_line": end_line,
        "start_byte": start_byte,
        "end_byte": end_byte,
        "start_time": start_time,
        "end_time": end_time,
        "offset": offset,
        "limit": limit,
        "tail": tail,
    }
    if not absent(query) or str(cursor).strip("\"'` ").startswith(QUERY_CURSOR):
        given = [name for name, value in ranges.items() if not absent(value) and name != "start_line"]
        given += [] if absent(path) else ["path"]
        if given:
            example = 'get_artifact(id=..., query="$.users[0]")'
            words = f"give query or {' and '.join(given)}, not both; for example {example}"
            return Answer(text=f"get_artifact: {words}\n", is_error=True)
        from spillstore_tools.agent.query import query_artifact  # noqa: PLC0415  # it imports us, and few ask for JSON

        return query_artifact(
            session,
            id=id,
            query=query,
            stream=stream,
            start_line=start_line,
            raw=raw,
            cursor=cursor,
            max_chars=max_chars,
            partial=partial,
        )
    try:
        artifact, view = find_artifact(session, id)
        room = room_of(max_chars)
        asked = {name: value for name, value in ranges.items() if not absent(value)}
        if absent(path):
            source: Artifact | JSONString = artifact
            called = _named(artifact)
            chosen = cast("Stream", one_of("stream", stream, STREAMS, view or "combined"))
        else:
            _check_partial({"path": path}, artifact, partial=partial)
            if asked.keys() & {"start_time", "end_time"}:
                raise ArgumentError("a string in JSON has no times; give lines or bytes")  # noqa: TRY301  # here it is told
            source, called = string_of(
                artifact, path, None if absent(stream) and view is None else stream or view
            )
            chosen = "combined"
        if not absent(cursor):
            wanted = _Wanted.of_cursor(cursor, called)
        else:
            _check_partial(asked, artifact, partial=partial)
            wanted = _Wanted.of_ranges(asked, source, chosen, called, raw=flag("raw", raw))
        answer = _Reader(source, wanted, room, called).answer()
        if source is not artifact:  # positions of a string are none of the artifact's
            answer = dataclasses.replace(answer, start=0, end=0, first_line=0, last_line=0)
        return of_session(session, answer)
    except ArgumentError as error:
        return Answer(text=f"get_artifact: {error}\n", is_error=True)
    except SpillstoreError as error:
        if closed(session):
            raise
        return Answer(text=f"get_artifact: {error}\n", is_error=True)


def _named(artifact: Artifact) -> str:
    """The argument that names an artifact in a call."""
    return f'id="{artifact.id}"'


def _check_partial(asked: dict[str, object], artifact: Artifact, *, partial: bool) -> None:
    if asked and not partial:
        raise ArgumentError(
            "ranges are switched off here (enable_partial_retrieval); "
            f'get_artifact(id="{artifact.id}") shows all of it, a part at a time'
        )


@audited("info")
def artifact_info(session: Session, *, id: object = None) -> Answer:  # noqa: A002  # the name that models are told
    """What is known of an artifact without reading it.

    Raises:
        ClosedError: the session is closed.
    """
    try:
        artifact, _ = find_artifact(session, id)
        text = "".join(f"{name}: {one_line(value)[:500]}\n" for name, value in described(artifact.info))
    except (ArgumentError, SpillstoreError) as error:
        if closed(session):
            raise
        return Answer(text=f"artifact_info: {error}\n", is_error=True)
    return of_session(session, Answer(text=text, artifact_id=artifact.id))


@audited("list")
def list_artifacts(
    session: Session,
    *,
    source: object = None,
    state: object = None,
    since: object = None,
    limit: object = None,
    cursor: object = None,
) -> Answer:
    """The artifacts of a session, the newest first, a line each, in at most 8,000 characters.

    Args:
        session: the session.
        source: only those of this tool.
        state: only ``open``, ``sealed`` or ``interrupted`` ones.
        since: only those begun since then: ``2h`` ago, a date and time in UTC, or seconds since 1970.
        limit: at most so many; 20 by default, 100 at most.
        cursor: of a former answer.

    Raises:
        ClosedError: the session is closed.
    """
    try:
        count = whole("limit", limit, least=1, example="list_artifacts(limit=20)") or _LISTED
        filters: dict[str, object] = {
            "source": None if absent(source) else str(source),
            "state": None if absent(state) else cast("State", one_of("state", state, _STATES, "")),
            "since": moment("since", since),
            "cursor": None if absent(cursor) else str(cursor),
        }
        return _listed(session, min(count, _MOST_LISTED), filters)
    except (ArgumentError, SpillstoreError) as error:
        if closed(session):
            raise
        return Answer(text=f"list_artifacts: {error}\n", is_error=True)


def _listed(session: Session, count: int, filters: dict[str, object]) -> Answer:
    page = session.infos(limit=count, **filters)  # type: ignore[arg-type]  # checked by the caller
    lines: list[str] = []
    length = 0
    for info in page:
        line = _entry(info)
        if length + len(line) > MAX_CHARS - 200:
            return _listed(session, len(lines), filters)  # so that the cursor is right
        lines.append(line)
        length += len(line)
    if not lines:
        return Answer(text="[no artifacts]\n")
    more = f'[more: list_artifacts(cursor="{page.cursor}")]\n' if page.cursor else "[that is all]\n"
    listed = "".join(lines)
    ids = tuple(info.id for info in page)
    return of_session(session, Answer(text=listed + more, content=listed, cursor=page.cursor, ids=ids))


def _entry(info: ArtifactInfo) -> str:
    command = one_line(info.command or "")
    command = command if len(command) <= _COMMAND else f"{command[: _COMMAND - 3]}..."
    ended = info.state if info.exit_code is None else f"exit code {info.exit_code}"
    return (
        f"{info.id}  {human_size(info.size)}, {info.lines} lines, {ended}, {one_line(info.source)[:40]}, "
        f"{utc(info.created)}  {command}".rstrip()
        + "\n"
    )


# --- which artifact ---------------------------------------------------------------------------------------


def find_artifact(session: Session, value: object) -> tuple[Artifact, str | None]:
    """The artifact of an id, and the view that the id names.

    Raises:
        ArgumentError: there is none; the same for ids that are malformed, unknown or another session's.
    """
    if absent(value):
        raise ArgumentError(f"id is missing; {_there(session)}")
    name = str(value).strip().strip("\"'`")
    name, view = named_by(name)
    try:
        return session.artifact(name), view
    except ArtifactNotFoundError:
        shown = one_line(name)[:80]
        raise ArgumentError(
            f"404 not found: no artifact {shown!r} in this session; {_there(session)}"
        ) from None


def string_of(artifact: Artifact, path: object, stream: object) -> tuple[JSONString, str]:
    """The string that a model's JSONPath finds, and the arguments that name it in a call.

    Args:
        artifact: that holds the JSON.
        path: a model's.
        stream: the view that is JSON; None finds out.

    Raises:
        ArgumentError: the path is no text.
        SpillstoreError: it finds no string.
    """
    from spillstore_tools.agent.query import SECONDS, json_view  # noqa: PLC0415  # it imports us

    wanted = str(path).strip()
    called = f"{_named(artifact)}, path={json.dumps(wanted, ensure_ascii=False)}"
    if stream is None:
        view = json_view(artifact, seconds=SECONDS)
    else:
        view = cast("Stream", one_of("stream", stream, STREAMS, "combined"))
        called += "" if view == "combined" else f', stream="{view}"'
    return artifact.string(wanted, stream=view, seconds=SECONDS), called


def _there(session: Session) -> str:
    ids = [artifact.id for artifact in session.artifacts(limit=_NAMED)]
    if not ids:
        return "it holds none yet"
    newest = f'id="{ids[0]}"'
    return f"the newest are {', '.join(ids)}; for example {_RIGHT.format(newest)}"


def closed(session: Session) -> bool:
    """Whether a session is closed, which is its caller's fault and not a model's."""
    try:
        session.exists("")
    except SpillstoreError:
        return True
    return False


# --- which part -------------------------------------------------------------------------------------------


@dataclasses.dataclass(slots=True)
class _Wanted:
    """Bytes ``[start, end)`` of a view; without an end, up to what there is."""

    stream: Stream
    start: int
    end: int | None
    raw: bool
    first_line: int | None = None  # the line that begins at ``start``, where that is known
    notes: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def of_cursor(cls, cursor: object, called: str) -> _Wanted:
        match = _CURSOR.fullmatch(str(cursor).strip().strip("\"'`"))
        if match is None:
            raise ArgumentError(
                f"{str(cursor)[:80]!r} is no cursor; take it from the answer before, or begin with "
                + _RIGHT.format(called)
            )
        end = None if match[3] is None else int(match[3])
        return cls(cast("Stream", match[1]), int(match[2]), end, bool(match[4]))

    @classmethod
    def of_ranges(
        cls,
        asked: dict[str, object],
        artifact: Artifact | JSONString,
        stream: Stream,
        called: str,
        *,
        raw: bool,
    ) -> _Wanted:
        wanted = cls(stream, 0, None, raw)
        kinds = {
            "lines": {"start_line", "end_line"} & asked.keys(),
            "bytes": {"start_byte", "end_byte"} & asked.keys(),
            "times": {"start_time", "end_time"} & asked.keys(),
            "offset and limit": {"offset", "limit"} & asked.keys(),
            "tail": {"tail"} & asked.keys(),
        }
        given = [kind for kind, names in kinds.items() if names]
        if len(given) > 1:
            raise ArgumentError(
                f"give one kind of range, not {' and '.join(given)}; for example {_RIGHT.format(called)}"
            )
        if not given:
            return wanted
        view = artifact.info.view(stream)
        if given == ["bytes"]:
            wanted._bytes(asked, view.size)
        elif given == ["times"]:
            wanted._times(asked, cast("Artifact", artifact))  # a string has none, which was checked
        else:
            wanted._lines(asked, artifact, view.lines, _RIGHT.format(called))
        return wanted

    def _bytes(self, asked: dict[str, object], size: int) -> None:
        example = "get_artifact(id=..., start_byte=0, end_byte=65536)"
        start = whole("start_byte", asked.get("start_byte"), least=None, example=example) or 0
        end = whole("end_byte", asked.get("end_byte"), least=None, example=example)
        if start < 0:
            start = max(0, size + start)
            self.notes.append(f"start_byte counted from the end: {start}")
        if end is not None and end < start:
            start, end = max(0, end), start
            self.notes.append("start_byte and end_byte were swapped")
        if start >= size > 0:
            raise ArgumentError(f"start_byte={start} is past the end: there are {size} bytes; {example}")
        self.start, self.end = start, end if end is None else min(end, size)

    def _times(self, asked: dict[str, object], artifact: Artifact) -> None:
        example = "get_artifact(id=..., start_time=0, end_time=2.5)"
        start = number("start_time", asked.get("start_time"), example=example) or 0.0
        end = number("end_time", asked.get("end_time"), example=example)
        if end is not None and end < start:
            start, end = end, start
            self.notes.append("start_time and end_time were swapped")
        self.start = artifact.locate(time=start, stream=self.stream, holes="skip").byte
        if end is not None:
            self.end = artifact.locate(time=end, stream=self.stream, holes="skip").byte

    def _lines(
        self, asked: dict[str, object], artifact: Artifact | JSONString, lines: int, example: str
    ) -> None:
        first = whole("start_line", asked.get("start_line"), least=None, example=example)
        last = whole("end_line", asked.get("end_line"), least=None, example=example)
        if "tail" in asked:
            count = whole("tail", asked["tail"], least=1, example="get_artifact(id=..., tail=50)") or 0
            first, last = lines - count + 1, None
        elif asked.keys() & {"offset", "limit"}:
            paging = "get_artifact(id=..., offset=0, limit=2000)"
            skip = whole("offset", asked.get("offset"), least=0, example=paging) or 0
            count = whole("limit", asked.get("limit"), least=1, example=paging) or _PAGE_LINES
            first, last = skip + 1, skip + count
        if first == 0:
            self.notes.append("lines count from 1, so start_line is 1")
        if first is not None and first < 0:
            first = max(1, lines + first + 1)
            self.notes.append(f"start_line counted from the end: {first}")
        if last is not None and last < 0:
            last = max(1, lines + last + 1)
            self.notes.append(f"end_line counted from the end: {last}")
        first = max(1, first or 1)
        if last is not None and last < first:
            first, last = max(1, last), first
            self.notes.append("start_line and end_line were swapped")
        if first > lines > 0:
            raise ArgumentError(
                f"line {first} is past the end: there are {lines} lines; for example {example}"
            )
        begin = artifact.locate(line=first, stream=self.stream, holes="skip")
        self.start, self.first_line = begin.byte, begin.line
        if last is not None and last < lines:
            self.end = artifact.locate(line=last + 1, stream=self.stream, holes="skip").byte


# --- the answer -------------------------------------------------------------------------------------------


class _Reader:
    """Makes the answer for one range."""

    def __init__(self, artifact: Artifact | JSONString, wanted: _Wanted, room: int, called: str) -> None:
        self._artifact = artifact
        self._called = called
        self._wanted = wanted
        self._room = room
        self._look()
        self._terminator = self._info.terminator
        if not wanted.raw and kind_of(artifact.read_bytes(0, HEAD_BYTES, holes="skip"), self._info.size):
            wanted.raw = True
            wanted.notes.append(r"this is no text; bytes that are none are shown as \xNN")

    def _look(self) -> None:
        """What there is now."""
        self._info = self._artifact.info
        view = self._info.view(self._wanted.stream)
        self._size, self._lines, self._hole = view.size, view.lines, view.hole

    def answer(self) -> Answer:
        """The answer, with room left for a mark.

        Raises:
            DroppedRangeError: time and again the artifact dropped what was about to be read.
        """
        wanted = dataclasses.replace(self._wanted, notes=[*self._wanted.notes])
        for _ in range(_TRIES):
            with contextlib.suppress(DroppedRangeError):  # it has rolled since its row was read
                return self._answer()
            with contextlib.suppress(DroppedRangeError):
                self._look()
            self._wanted = dataclasses.replace(wanted, notes=[*wanted.notes])
        return self._answer()

    def _answer(self) -> Answer:
        wanted, hole = self._wanted, self._hole
        end = self._size if wanted.end is None else min(wanted.end, self._size)
        start = min(wanted.start, end)
        if hole is not None and hole.start <= start < hole.end:
            start = min(end, hole.end)
            wanted.notes.append(self._dropped(hole))
        stop = hole.start if hole is not None and start < hole.start < end else end
        # The words around the content are bounded, but how long they are is known only when it is there.
        most = room = self._room - MARK_ROOM
        while True:
            content, at, line_ends = self._page(start, stop, room)
            first = self._first_line(start)
            answer = self._composed(content, start, at, end, stop, first, first + line_ends)
            if len(answer.text) <= most:
                return answer
            room -= len(answer.text) - most

    def _first_line(self, start: int) -> int:
        wanted = self._wanted
        if wanted.first_line is None or start != wanted.start:
            wanted.start = start
            wanted.first_line = self._artifact.locate(byte=start, stream=wanted.stream).line
        return wanted.first_line

    def _composed(
        self, content: str, start: int, at: int, end: int, stop: int, first: int, last: int
    ) -> Answer:
        wanted = self._wanted
        cursor = None
        rest = "[end of the range]\n" if wanted.end is not None and wanted.end < self._size else "[end]\n"
        if at < end:
            cursor = self._cursor(at if at < stop or self._hole is None else self._hole.end)
            call = f'get_artifact({self._called}, cursor="{cursor}"{self._chars()})'
            rest = f"[more: {call}]\n"
            if at == stop and self._hole is not None:
                rest = f"[{self._dropped(self._hole)}]\n{rest}"
        elif wanted.end is None and self._info.state == "open":
            cursor = self._cursor(at)
            call = f'get_artifact({self._called}, cursor="{cursor}"{self._chars()})'
            rest = f"[it is still being written; what comes: {call}]\n"
        header = self._header(start, at, first, last)
        line_end = "" if not content or content.endswith("\n") else "\n"
        return Answer(
            text=f"{header}{content}{line_end}{rest}",
            content=content,
            cursor=cursor,
            artifact_id=self._artifact.id,
            stream=wanted.stream,
            start=start,
            end=at,
            first_line=first,
            last_line=last,
            total_size=self._size,
            total_lines=self._lines,
        )

    def _header(self, start: int, at: int, first: int, last: int) -> str:
        view = "" if self._wanted.stream == "combined" else f" of {self._wanted.stream}"
        shown = f"lines {first}-{last}" if last > first else f"line {first}"
        if at <= start:
            shown = "nothing" if self._size else "empty"
        notes = "".join(f"; {note}" for note in self._wanted.notes)
        path = "" if isinstance(self._artifact, Artifact) else f" {one_line(self._artifact.path)[:_PATH]}"
        return f"[{self._artifact.id}{path}: {shown} of {self._lines}, bytes {start}-{at} of {self._size}{view}{notes}]\n"

    def _dropped(self, hole: HoleInfo) -> str:
        return f"bytes {hole.start}-{hole.end} were dropped at the artifact's limit and cannot be fetched"

    def _cursor(self, at: int) -> str:
        wanted = self._wanted
        end = "" if wanted.end is None else min(wanted.end, self._size)
        return f"{wanted.stream}:{at}-{end}{':raw' if wanted.raw else ''}"

    def _chars(self) -> str:
        return "" if self._room == MAX_CHARS else f", max_chars={self._room}"

    def _page(self, start: int, end: int, room: int) -> tuple[str, int, int]:
        """Text of at most ``room`` characters from a byte on, where it stops, and the line ends before its last byte.

        It is whole lines, if one fits.
        """
        shown: Callable[[bytes, int, int], tuple[str, int]] = _raw if self._wanted.raw else self._cleaned
        pieces: list[str] = []
        length, at, line_ends, ended = 0, start, 0, False
        while at < end and at - start < _SCANNED:
            data = self._artifact.read_bytes(at, min(end, at + _WINDOW), stream=self._wanted.stream)
            if at + len(data) < end:
                data = data[: data.rfind(self._terminator) + 1 or settled_length(data) or len(data)]
            plain = self._plain(data, room - length)
            if plain:  # whole lines that need no cleaning
                pieces.append(plain.decode("ascii"))
                line_ends += ended + plain.count(b"\n", 0, len(plain) - 1)
                length, at, ended = length + len(plain), at + len(plain), plain.endswith(b"\n")
                if len(plain) < len(data):
                    return "".join(pieces), at, line_ends
                continue
            for line in split_lines(data, self._terminator):
                text, stop = shown(line, at, room - length)
                if stop < at + len(line) and pieces:
                    return "".join(pieces), at, line_ends
                pieces.append(text)
                line_ends += ended
                if stop < at + len(line):
                    return "".join(pieces), stop, line_ends
                length, at, ended = length + len(text), stop, line.endswith(self._terminator)
        return "".join(pieces), at, line_ends

    def _plain(self, data: bytes, room: int) -> bytes:
        """As many lines as fit, if nothing in them needs to be cleaned; else nothing."""
        data = data if len(data) <= room else data[: data.rfind(b"\n", 0, room) + 1]
        return data if self._terminator == b"\n" and data.isascii() and is_plain(data) else b""

    def _cleaned(self, data: bytes, at: int, room: int) -> tuple[str, int]:
        """A line, or what fits of it, and where that ends."""
        line = Line(1, at, data, self._terminator)
        return (line.text, line.end) if line.chars <= room else line.prefix(room)


def _raw(data: bytes, at: int, room: int) -> tuple[str, int]:
    text = data.decode(errors="backslashreplace")
    if len(text) <= room:
        return text, at + len(data)
    piece = data[: max(1, room // 4)]
    piece = piece[: settled_length(piece) or len(piece)]
    return piece.decode(errors="backslashreplace"), at + len(piece)
