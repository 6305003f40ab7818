r"""The tool ``get_artifact``: any part of a stored artifact.

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
from typing import TYPE_CHECKING, cast

from spillstore.exceptions import DroppedRangeError
from spillstore.text_scan import is_plain
from spillstore_tools.agent.answers import (
    Answer,
    answer_size,
    max_chars_argument,
    reading_tool,
    signed,
)
from spillstore_tools.agent.arguments import ArgumentError, absent, flag, one_of, unquoted
from spillstore_tools.agent.artifacts import (
    STREAMS,
    find_artifact,
    find_string,
    id_argument,
    name_of,
    ranges_are_off,
)
from spillstore_tools.agent.definitions import CURSOR, ID, MAX_CHARS, PATH, STREAM, ToolDefinition
from spillstore_tools.agent.query_artifact import QUERY_CURSOR, query_artifact
from spillstore_tools.agent.ranges import Range
from spillstore_tools.output.media_type import kind_of
from spillstore_tools.output.signed_answers import ROOM as SIGNATURE_ROOM
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.text.clean import split_lines
from spillstore_tools.preview.text.encoded import (
    character_end,
    decoded,
    encoding_of,
    line_end,
    offset_in,
    whole_units,
)
from spillstore_tools.preview.text.lines import Line
from spillstore_tools.preview.text.stream import settled_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Artifact, HoleInfo, Session
    from spillstore.info import Stream
    from spillstore.jsonstring import JSONString

_WINDOW = 256 * 1024  # bytes that are read at once; of a longer line each window is cleaned alone
_SCANNED = 16 * 1024 * 1024  # bytes that one answer reads, where little of them can be shown
_TRIES = 20  # to read an artifact that drops the range meanwhile

DEFINITION = ToolDefinition(
    name="get_artifact",
    description=(
        "Get any part of stored output: a range of lines, bytes or seconds, or all of it in parts. Answers are "
        "bounded and end with the call that brings the rest. Give one kind of range."
    ),
    properties={
        "id": ID,
        "start_line": {"type": "integer", "description": "First line, from 1; negative counts from the end"},
        "end_line": {"type": "integer", "description": "Last line, included"},
        "start_byte": {"type": "integer", "description": "First byte, from 0"},
        "end_byte": {"type": "integer", "description": "The byte after the last"},
        "start_time": {"type": "number", "description": "Seconds after the output began"},
        "end_time": {"type": "number", "description": "Seconds after the output began, not included"},
        "offset": {"type": "integer", "description": "Lines to skip"},
        "limit": {"type": "integer", "description": "Lines to show after offset (default: 2000)"},
        "tail": {"type": "integer", "description": "How many lines of the end to show"},
        "path": PATH,
        "query": {
            "type": "string",
            "description": "JSONPath (RFC 9535) of stored JSON or JSON Lines, such as $.users[?@.age > 30].name",
        },
        "stream": STREAM,
        "raw": {
            "type": "boolean",
            "description": "Keep escape sequences; show bytes that are no text as \\xNN",
        },
        "cursor": CURSOR,
        "max_chars": MAX_CHARS,
    },
    required=("id",),
    always_load=True,
)


@reading_tool("read")
def get_artifact(
    session: Session,
    *,
    id: object = None,  # noqa: A002  # the name in the tool's schema
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
        session: the session that holds the artifact.
        id: its id, or ``artifact://ID?stream=stdout``.
        path: a JSONPath (RFC 9535) that selects one string in stored JSON; lines and bytes are then those of the string.
        start_line: from 1; ``-n`` for the last n lines.
        end_line: the last line, included; ``-n`` counts from the end, likewise.
        start_byte: from 0; ``-n`` for the last n bytes.
        end_byte: the byte after the last; ``-n`` to leave out the last n.
        start_time: seconds after the artifact began.
        end_time: seconds after the artifact began, not included.
        offset: lines to skip.
        limit: lines after that; 2,000 by default.
        tail: the number of lines at the end.
        query: a JSONPath (RFC 9535): the answer has the nodes that it selects, of one document or of each line (see
            ``query_artifact``). Of the ranges only ``start_line`` goes with it, for JSON that begins there.
        stream: ``combined`` (the default), ``stdout`` or ``stderr``; each counts its own lines and bytes.
        raw: leave escape sequences and control characters in; bytes that are no text are shown as ``\xNN``.
        cursor: from an earlier answer; it replaces everything but ``id``, ``path``, ``query`` and ``max_chars``.
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
    given = {name: value for name, value in ranges.items() if not absent(value)}
    if not absent(query) or unquoted(cursor).startswith(QUERY_CURSOR):
        other = [*(name for name in given if name != "start_line"), *([] if absent(path) else ["path"])]
        if other:
            example = 'get_artifact(id=..., query="$.users[0]")'
            raise ArgumentError(f"give query or {' and '.join(other)}, not both; for example {example}")
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
    artifact, view = find_artifact(session, id)
    size = answer_size(max_chars)
    if not partial and ((given and absent(cursor)) or not absent(path)):
        raise ranges_are_off(artifact, "ranges")
    if not absent(path):
        if given.keys() & {"start_time", "end_time"}:
            raise ArgumentError("a string in JSON has no times; give lines or bytes")
        string, called = find_string(
            artifact, path, None if absent(stream) and view is None else stream or view
        )
        span = _range_of(given, string, "combined", called, cursor, raw)
        answer = _RangeAnswer(string, span, size, called).answer()
        # Positions in a string are not those of the artifact.
        return signed(
            session, dataclasses.replace(answer, start=0, end=0, first_line=0, last_line=0), raw=span.raw
        )
    called = id_argument(artifact)
    chosen = cast("Stream", one_of("stream", stream, STREAMS, view or "combined"))
    span = _range_of(given, artifact, chosen, called, cursor, raw)
    return signed(session, _RangeAnswer(artifact, span, size, called).answer(), raw=span.raw)


def _range_of(
    given: dict[str, object],
    source: Artifact | JSONString,
    stream: Stream,
    called: str,
    cursor: object,
    raw: object,
) -> Range:
    if not absent(cursor):
        return Range.of_cursor(cursor, called)
    return Range.of_arguments(given, source, stream, called, raw=flag("raw", raw))


class _RangeAnswer:
    """Makes the answer for one range.

    Args:
        artifact: what is read.
        span: the range.
        size: characters of the answer.
        called: the arguments that name the artifact in a call.
    """

    def __init__(self, artifact: Artifact | JSONString, span: Range, size: int, called: str) -> None:
        self._artifact = artifact
        self._called = called
        self._range = span
        self._chars = size
        self._refresh()
        self._terminator = self._info.terminator
        self._encoding = None if span.raw else encoding_of(artifact, span.stream)
        self._line_end = self._terminator if self._encoding is None else line_end(self._encoding)
        if self._encoding is not None:
            span.notes.append(f"decoded from {self._encoding}, but lines and bytes are those that are stored")
        elif not span.raw and kind_of(artifact.read_bytes(0, HEAD_BYTES, holes="skip"), self._info.size):
            span.raw = True
            span.notes.append(r"this is no text; bytes that are none are shown as \xNN")

    def _refresh(self) -> None:
        """Read the artifact's row again."""
        self._info = self._artifact.info
        view = self._info.view(self._range.stream)
        self._size, self._lines, self._hole = view.size, view.lines, view.hole

    def answer(self) -> Answer:
        """The answer, with room left for a signature.

        Raises:
            DroppedRangeError: the artifact has dropped the range in every attempt.
        """
        span = dataclasses.replace(self._range, notes=[*self._range.notes])
        for _ in range(_TRIES):
            with contextlib.suppress(DroppedRangeError):  # it has rolled since its row was read
                return self._answer()
            with contextlib.suppress(DroppedRangeError):
                self._refresh()
            self._range = dataclasses.replace(span, notes=[*span.notes])
        return self._answer()

    def _answer(self) -> Answer:
        span, hole = self._range, self._hole
        end = self._size
        if span.end is not None:
            end = span.end = self._character_end(min(span.end, self._size))
        start = min(self._character_end(span.start), end)
        if hole is not None and hole.start <= start < hole.end:
            start = min(end, hole.end)
            span.notes.append(self._dropped(hole))
        stop = hole.start if hole is not None and start < hole.start < end else end
        # The header and the footer depend on the content, so how much room they leave is known only afterwards.
        most = room = self._chars - SIGNATURE_ROOM
        while True:
            content, at, line_ends = self._page(start, stop, room)
            first = self._first_line(start)
            answer = self._composed(content, start, at, end, stop, first, first + line_ends)
            if len(answer.text) <= most:
                return answer
            room -= len(answer.text) - most

    def _character_end(self, at: int) -> int:
        return character_end(self._artifact, at, self._range.stream, self._encoding)

    def _first_line(self, start: int) -> int:
        span = self._range
        if span.first_line is None or start != span.start:
            span.start = start
            span.first_line = self._artifact.locate(byte=start, stream=span.stream).line
        return span.first_line

    def _composed(
        self, content: str, start: int, at: int, end: int, stop: int, first: int, last: int
    ) -> Answer:
        span = self._range
        cursor = None
        rest = "[end of the range]\n" if span.end is not None and span.end < self._size else "[end]\n"
        if at < end:
            cursor = self._cursor(at if at < stop or self._hole is None else self._hole.end)
            rest = f"[more: {self._call(cursor)}]\n"
            if at == stop and self._hole is not None:
                rest = f"[{self._dropped(self._hole)}]\n{rest}"
        elif span.end is None and self._info.state == "open":
            cursor = self._cursor(at)
            rest = f"[it is still being written; what comes: {self._call(cursor)}]\n"
        header = self._header(start, at, first, last)
        line_end = "" if not content or content.endswith("\n") else "\n"
        return Answer(
            text=f"{header}{content}{line_end}{rest}",
            content=content,
            cursor=cursor,
            artifact_id=self._artifact.id,
            stream=span.stream,
            start=start,
            end=at,
            first_line=first,
            last_line=last,
            total_size=self._size,
            total_lines=self._lines,
        )

    def _header(self, start: int, at: int, first: int, last: int) -> str:
        view = "" if self._range.stream == "combined" else f" of {self._range.stream}"
        shown = f"lines {first}-{last}" if last > first else f"line {first}"
        if at <= start:
            shown = "nothing" if self._size else "empty"
        notes = "".join(f"; {note}" for note in self._range.notes)
        return f"[{name_of(self._artifact)}: {shown} of {self._lines}, bytes {start}-{at} of {self._size}{view}{notes}]\n"

    def _dropped(self, hole: HoleInfo) -> str:
        return f"bytes {hole.start}-{hole.end} were {self._artifact.info.loss} and cannot be fetched"

    def _cursor(self, at: int) -> str:
        span = self._range
        end = "" if span.end is None else min(span.end, self._size)
        return f"{span.stream}:{at}-{end}{':raw' if span.raw else ''}"

    def _call(self, cursor: str) -> str:
        return f'get_artifact({self._called}, cursor="{cursor}"{max_chars_argument(self._chars)})'

    def _page(self, start: int, end: int, room: int) -> tuple[str, int, int]:
        """Text of at most ``room`` characters from a byte on, where it stops, and the line ends before its last byte.

        It is whole lines, if one fits.
        """
        shown: Callable[[bytes, int, int], tuple[str, int]] = _raw if self._range.raw else self._cleaned
        pieces: list[str] = []
        length, at, line_ends, ended = 0, start, 0, False
        while at < end and at - start < _SCANNED:
            data = self._artifact.read_bytes(at, min(end, at + _WINDOW), stream=self._range.stream)
            if at + len(data) < end:
                settled = (
                    settled_length(data) if self._encoding is None else whole_units(data, self._encoding)
                )
                whole_lines = (
                    data.rfind(self._line_end) + len(self._line_end) if self._line_end in data else 0
                )
                data = data[: whole_lines or settled or len(data)]
            plain = self._plain(data, room - length)
            if plain:  # whole lines that need no cleaning
                pieces.append(plain.decode("ascii"))
                line_ends += ended + plain.count(b"\n", 0, len(plain) - 1)
                length, at, ended = length + len(plain), at + len(plain), plain.endswith(b"\n")
                if len(plain) < len(data):
                    return "".join(pieces), at, line_ends
                continue
            for line in split_lines(data, self._line_end):
                text, stop = shown(line, at, room - length)
                if stop < at + len(line) and pieces:
                    return "".join(pieces), at, line_ends
                pieces.append(text)
                line_ends += ended
                ended = line.endswith((self._line_end, self._terminator), 0, stop - at)
                line_ends += line.count(self._terminator, 0, stop - at) - ended
                if stop < at + len(line):
                    return "".join(pieces), stop, line_ends
                length, at = length + len(text), stop
        return "".join(pieces), at, line_ends

    def _plain(self, data: bytes, room: int) -> bytes:
        """As many lines as fit, if nothing in them needs to be cleaned; else nothing."""
        if self._encoding is not None:
            return b""
        data = data if len(data) <= room else data[: data.rfind(b"\n", 0, room) + 1]
        return data if self._terminator == b"\n" and data.isascii() and is_plain(data) else b""

    def _cleaned(self, data: bytes, at: int, room: int) -> tuple[str, int]:
        """A line, or what fits of it, and where that ends."""
        line = Line(1, 0, decoded(data, self._encoding), self._terminator)
        if line.chars <= room:
            return line.text, at + len(data)
        text, end = line.prefix(room)
        return text, at + offset_in(data, self._encoding, end)


def _raw(data: bytes, at: int, room: int) -> tuple[str, int]:
    text = data.decode(errors="backslashreplace")
    if len(text) <= room:
        return text, at + len(data)
    piece = data[: max(1, room // 4)]
    piece = piece[: settled_length(piece) or len(piece)]
    return piece.decode(errors="backslashreplace"), at + len(piece)
