"""Reads of one artifact, each an event: ranges, iterations, a file object."""

from __future__ import annotations

import copy
import io
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.audit.read_log import ReadLog, iterated, recorded
from spillstore.exceptions import RangeError, UsageError
from spillstore.model import arguments
from spillstore.model.arguments import LARGEST, MAX_BYTES, byte_limit
from spillstore.model.records import view_of
from spillstore.read import iteration
from spillstore.read.file_object import RawFile
from spillstore.read.handle import ArtifactHandle
from spillstore.read.ranges import RangeReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from spillstore.info import ArtifactInfo, Holes, Position, Segment, State, Stream
    from spillstore.ingest.session_core import SessionCore
    from spillstore.model.records import ArtifactRow, View


class ArtifactReader:
    """Reads what an artifact holds; ``Artifact`` describes the parameters that the methods share."""

    def __init__(self, core: SessionCore, artifact_id: str, record: ArtifactRow | None = None) -> None:
        self._core = core
        self._handle = ArtifactHandle(core, artifact_id, record)
        self._log: ReadLog | None = ReadLog(core.audit, artifact_id)

    def __repr__(self) -> str:
        return f"<Artifact {self.id} in session {self._core.row.session_id!r}>"

    def unrecorded(self) -> Self:
        """The same artifact; what is read of it is not recorded. For a tool that records one event of its own."""
        twin = copy.copy(self)
        twin._handle, twin._log = self._handle.copy(), None  # noqa: SLF001  # of the same class
        return twin

    @property
    def id(self) -> str:
        """The id that a model is shown."""
        return self._handle.artifact_id

    @property
    def info(self) -> ArtifactInfo:
        """What is known of the artifact now. Cost: one indexed row, none once it is sealed.

        Raises:
            ArtifactNotFoundError: it was deleted.
        """
        return infos.artifact_info(self._core.row, self._handle.row())

    def extent(self, stream: Stream = "combined") -> tuple[int, State]:
        """Bytes of a stream that are committed by now, and the artifact's state, from one snapshot."""
        view = view_of(stream)
        record = self._handle.row()
        return record.view_size(view), record.state  # type: ignore[return-value]  # verified: one of the three

    def _pauses(self, poll: float) -> iteration.Pauses:
        """The pauses of ``follow``, for who waits in another way."""
        return iteration.Pauses(self._handle, poll)

    # --- ranges -----------------------------------------------------------------------------------------

    @recorded("read", first="first", last="last", stream="stream")
    def read_lines(
        self,
        first: int,
        last: int,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Lines ``first`` to ``last``, from 1 and both included, with their endings. Each stream counts its own lines.

        Returns:
            The bytes; ``b""`` past the end. Cost: the chunks that hold them, and at most one more.

        Raises:
            RangeError: not two whole numbers with 1 <= first <= last.
            RangeTooLargeError, DroppedRangeError, IntegrityError: see the class.
        """
        low, high = arguments.line_range(first, last)
        return self._handle.read(stream, holes, RangeReader.read_lines, low, high, byte_limit(max_bytes))

    @recorded("read", start="start", end="end", stream="stream")
    def read_bytes(
        self,
        start: int,
        end: int,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Bytes ``[start, end)``, from 0. Each stream counts its own bytes.

        Returns:
            The bytes; ``b""`` past the end. Cost: exactly the chunks that hold them.

        Raises:
            RangeError: not two whole numbers with 0 <= start <= end.
            RangeTooLargeError, DroppedRangeError, IntegrityError: see the class.
        """
        low, high = arguments.byte_range(start, end)
        return self._handle.read(stream, holes, RangeReader.read_bytes, low, high, byte_limit(max_bytes))

    @recorded("read", start="from", end="to", stream="stream")
    def read_time(
        self,
        start: float,
        end: float,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """Bytes that arrived in ``[start, end)`` seconds after the artifact began, at segment resolution (10 ms).

        Raises:
            RangeError: not two numbers with 0 <= start <= end.
            RangeTooLargeError, DroppedRangeError, IntegrityError: see the class.
        """
        low, high = arguments.time_range(start, end)
        return self._handle.read(stream, holes, RangeReader.read_time, low, high, byte_limit(max_bytes))

    @recorded("read", stream="stream")
    def read(
        self, *, stream: Stream = "combined", holes: Holes = "raise", max_bytes: int = MAX_BYTES
    ) -> bytes:
        """All bytes of a view; ``chunks`` and ``lines`` iterate over more than ``max_bytes``.

        Raises:
            RangeTooLargeError, DroppedRangeError, IntegrityError: see the class.
        """
        return self._handle.read(stream, holes, RangeReader.read_bytes, 0, LARGEST, byte_limit(max_bytes))

    def read_text(
        self,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
        encoding: str = "utf-8",
        errors: str = "replace",
    ) -> str:
        """All of a view as text, decoded as ``bytes.decode`` does; line ends stay as they are.

        Raises:
            UsageError: there is no such encoding, or ``errors="strict"`` and the bytes are not of it.
            RangeTooLargeError, DroppedRangeError, IntegrityError: see the class.
        """
        data = self.read(stream=stream, holes=holes, max_bytes=max_bytes)
        try:
            return data.decode(encoding, errors)
        except (LookupError, UnicodeError) as error:
            raise UsageError(f"{self.id} cannot be decoded: {error}") from error

    @recorded("read", lines="tail", stream="stream")
    def tail(
        self,
        lines: int = 50,
        *,
        stream: Stream = "combined",
        holes: Holes = "raise",
        max_bytes: int = MAX_BYTES,
    ) -> bytes:
        """The last ``lines`` lines.

        Raises:
            RangeError: ``lines`` is no whole number from 0.
            RangeTooLargeError, DroppedRangeError, IntegrityError: see the class.
        """
        count = arguments.whole_number(lines, "lines", "tail(50)")
        return self._handle.read(stream, holes, RangeReader.read_tail, count, byte_limit(max_bytes))

    def locate(
        self,
        *,
        line: int | None = None,
        byte: int | None = None,
        time: float | None = None,
        stream: Stream = "combined",
        holes: Holes = "raise",
    ) -> Position:
        """Where a line (from 1) begins, which line a byte (from 0) is in, or what came first at a time (seconds) or later.

        Returns:
            The byte and its line; the end, and the line that would come next, for what lies past it. Cost: one or two
            chunks.

        Raises:
            RangeError: not exactly one of the three, or one that means nothing.
            DroppedRangeError, IntegrityError: see the class.
        """
        if sum(given is not None for given in (line, byte, time)) != 1:
            raise RangeError("give one of line, byte and time; for example locate(line=100)")
        if line is not None:
            line = arguments.line_number(line, "line", "locate(line=100)")
        if byte is not None:
            byte = arguments.byte_position(byte, "byte", "locate(byte=65536)")
        time_us = None if time is None else arguments.time_us(time, "time", "locate(time=2.5)")
        return self._handle.read(stream, holes, _position_of, view_of(stream), line, byte, time_us)

    # --- iteration --------------------------------------------------------------------------------------

    def chunks(
        self, start: int = 0, end: int | None = None, *, stream: Stream = "combined", holes: Holes = "raise"
    ) -> Iterator[bytes]:
        """The bytes ``[start, end)`` in blocks of at most 64 KiB, in flat memory.

        Without ``end``: up to what is committed when the iteration begins. Each few blocks are one short transaction and
        none is held in between, so an abandoned iterator costs nothing. Above 4 MiB the next three or four megabytes are
        prefetched on two threads.

        Raises:
            RangeError, DroppedRangeError, IntegrityError: see the class.
        """
        blocks = iteration.chunks(self._handle, start, end, stream, holes)
        return iterated(self._log, blocks, {"start": start, "end": end, "stream": stream}, len)

    def lines(
        self, *, stream: Stream = "combined", holes: Holes = "raise", max_bytes: int = MAX_BYTES
    ) -> Iterator[bytes]:
        r"""The lines of a view with their endings, one by one, in the memory that the longest of them takes.

        What is committed when the iteration begins; a last line without an end counts. Of a line that was cut by a hole that
        is skipped, each part is a line of its own.

        Raises:
            RangeTooLargeError: a line is longer than ``max_bytes``.
            RangeError, DroppedRangeError, IntegrityError: see the class.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     list(session.put("one\ntwo").lines())
            [b'one\n', b'two']
        """
        view_of(stream)
        lines = iteration.lines(self._handle, stream, holes, byte_limit(max_bytes))
        return iterated(self._log, lines, {"stream": stream}, len)

    def follow(
        self, start: int = 0, *, stream: Stream = "combined", poll: float = 0.1, holes: Holes = "raise"
    ) -> Iterator[bytes]:
        """Like ``chunks``, but waits for more until the artifact ends, as ``tail -f`` does.

        ``poll`` is the time between two looks, in seconds; on a server it doubles up to a second while nothing comes. ``holes="skip"`` leaves out what is dropped before it was read.
        """
        blocks = iteration.follow(self._handle, start, stream, poll, holes)
        return iterated(self._log, blocks, {"start": start, "stream": stream}, len)

    def segments(
        self, start: int = 0, end: int | None = None, *, stream: Stream = "combined", holes: Holes = "raise"
    ) -> Iterator[Segment]:
        """The bytes ``[start, end)`` in the order of the sequence, each run with its stream, time and place, in flat memory.

        Without ``end``: up to what is committed when the iteration begins. One write may be several segments, and several one:
        those of one stream within 10 ms are one, and none is larger than a chunk.

        Raises:
            RangeError, DroppedRangeError, IntegrityError: see the class.
        """
        segments = iteration.segments(self._handle, start, end, stream, holes)
        detail: dict[str, object] = {"start": start, "end": end, "stream": stream}
        return iterated(self._log, segments, detail, lambda segment: len(segment.data))

    def open(self, *, stream: Stream = "combined", holes: Holes = "raise") -> io.BufferedReader:
        """A seekable binary file object over what is committed now; ``holes="skip"`` is not seekable past a hole.

        Raises:
            DroppedRangeError, IntegrityError: while reading, at a hole or at a damaged chunk.
        """
        return io.BufferedReader(RawFile(self._handle, self._log, stream, holes), 65536)


def _position_of(
    ranges: RangeReader, view: View, line: int | None, byte: int | None, time_us: int | None
) -> Position:
    if line is not None:
        position = ranges.start_of_line(line)
    elif byte is not None:
        position = min(byte, ranges.record.view_size(view))
    else:
        position = ranges.start_of_time(time_us or 0)
    return infos.Position(position, ranges.line_of(position))
