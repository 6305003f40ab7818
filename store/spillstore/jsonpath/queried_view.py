"""The view of an artifact that is queried: its bytes and lines, what was dropped of it, and what is wrong in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spillstore.exceptions import DroppedRangeError, NotJSONError, RangeError
from spillstore.jsonpath.document_reader import DocumentReader

if TYPE_CHECKING:
    from spillstore.info import Stream
    from spillstore.jsonpath.context import Context
    from spillstore.model.json_values import MalformedError
    from spillstore.read.byte_source import ByteSource

LIMIT = 16 * 1024 * 1024  # bytes of a value in a larger one that is
BLOCK = 256 * 1024  # bytes that are read at once
_HINT_BYTES = 1024 * 1024  # that are looked through for where JSON may begin
_BANNER = 100  # lines before it that are taken for no part of the document
_BEGINS = re.compile(
    rb'[ \t]*(?:\{[ \t\r]*(?:["}]|$)|\[[ \t\r]*(?:[\[{"\]]|$|(?:-?\d[\d.eE+-]*|true|false|null)[ \t\r]*(?:,|\][ \t\r]*$|$)))'
)
_SHOWN = 60  # bytes


class QueriedView:
    """One view of an artifact, as it is committed now.

    Args:
        artifact: the artifact, or a string in one.
        stream: the view.

    Attributes:
        stream: as given.
        info: the artifact's.
        size: bytes of the view.
        state: the artifact's, by now.
        terminator: what ends a line.
    """

    def __init__(self, artifact: ByteSource, stream: Stream) -> None:
        self._artifact = artifact
        self.stream: Stream = stream
        self.info = artifact.info
        self.size, self.state = artifact.extent(stream)
        self.terminator = self.info.terminator

    def reader(self, start: int, end: int, context: Context) -> DocumentReader:
        """Reads a document in ``[start, end)``."""
        return DocumentReader(self.read, start, end, context, limit=LIMIT, block=BLOCK)

    def read(self, start: int, size: int) -> bytes:
        """Bytes from a position on.

        Raises:
            DroppedRangeError: some of them were dropped.
        """
        return self._artifact.read_bytes(start, start + size, stream=self.stream, max_bytes=size)

    def block(self, at: int, end: int) -> bytes:
        """Bytes from a position on: a block of them, or fewer before ``end``."""
        return self.read(at, min(BLOCK, end - at))

    def hole(self) -> tuple[int, int, int]:
        """The bytes that were dropped by now, and the last line of which some are; nothing, at the end, where none were."""
        hole = self._artifact.info.view(self.stream).hole
        return (self.size, self.size, 0) if hole is None else (hole.start, hole.end, hole.last_line)

    def start_of(self, line: int) -> int:
        """The first byte of a line.

        Raises:
            RangeError: there are fewer.
        """
        byte = self.byte_of(line)
        if byte >= self.size > 0:
            raise RangeError(f"start_line is {line}, and there are fewer lines; the first is 1")
        return byte

    def byte_of(self, line: int) -> int:
        """The first byte of a line; the end of the view behind the last one."""
        return self._artifact.locate(line=line, stream=self.stream, holes="skip").byte

    def line_of(self, byte: int) -> int:
        """The number of the line that a byte is in."""
        return self._artifact.locate(byte=byte, stream=self.stream, holes="skip").line

    def end_of_line(self, at: int, end: int) -> int:
        """The byte behind the line end that comes next."""
        while at < end:
            data = self.block(at, end)
            found = data.find(self.terminator)
            if found >= 0:
                return at + found + 1
            at += len(data)
        return end

    def raise_dropped(self, at: int) -> None:
        """Raise the error of a document that breaks off there.

        Raises:
            DroppedRangeError: always; the bytes there were dropped, for good.
        """
        try:
            self.read(at, 1)
        except DroppedRangeError as error:
            low, high = error.dropped_bytes
            raise DroppedRangeError(
                f"the document of {self.info.id} breaks off at byte {low}: bytes {low}-{high} were {self.info.loss}, "
                "and JSON cannot be read past what is missing; what stands before was looked through",
                dropped_bytes=error.dropped_bytes,
                dropped_lines=error.dropped_lines,
                before=error.before,
                after=error.after,
            ) from None

    def not_json(self, error: MalformedError, start: int) -> NotJSONError:
        """The error for a document that is no JSON: where, what stands there, and what may help."""
        line = self.line_of(error.at)
        where = f"{self.stream} of {self.info.id}" if self.stream != "combined" else self.info.id
        near = self.excerpt(error.at, self.size)
        hints = [f"near {near}"] if near else []
        if error.at >= self.size and self.state != "sealed":
            hints.append(
                "it is still being written" if self.state == "open" else "what printed it was interrupted"
            )
        if "\\x1b" in near:
            hints.append("it is coloured; have it printed without colours")
        begins = self._begins_at(line, start)
        if begins is not None:
            hints.append(f"JSON may begin at line {begins}: start_line={begins}")
        return NotJSONError(
            f"{where} is no JSON at byte {error.at} of {self.size} (line {line}): {'; '.join([error.reason, *hints])}",
            byte=error.at,
            line=line,
        )

    def excerpt(self, at: int, end: int) -> str:
        """An excerpt of the bytes from a position on, for an error message."""
        data = self._glance(at, min(_SHOWN, end - at))
        return repr(data.split(b"\n")[0].decode(errors="backslashreplace")) if data else ""

    def _glance(self, start: int, size: int) -> bytes:
        """Bytes for a message, of which some may be missing."""
        end = start + max(0, size)
        return self._artifact.read_bytes(start, end, stream=self.stream, holes="skip", max_bytes=end - start)

    def _begins_at(self, line: int, start: int) -> int | None:
        """The first line, behind the one that JSON does not begin with, that looks as if it did."""
        first = self.line_of(start)
        if line > first + _BANNER:
            return None
        data = self._glance(start, min(_HINT_BYTES, self.size - start))
        for number, each in enumerate(data.split(self.terminator), first):
            if number > first and _BEGINS.match(each):
                return number
        return None
