"""Reads a few rows at once: text with its streams and times, in reads that are bounded whatever the lines are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.viewer.model.rows import HEX_BYTES, Place, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Artifact
    from spillstore.info import Segment, Stream
    from spillstore_tools.viewer.model.rows import Region

ROWS = 64  # of a block
ROW_BYTES = 4096  # of a line that a row holds
_PIECE = 32 * 1024  # bytes that are read at once


class Block(NamedTuple):
    """Rows that follow each other.

    Attributes:
        rows: at most ``ROWS``.
        end: the byte behind the last of them.
        size: about how much memory they take, in bytes.
    """

    rows: tuple[Row, ...]
    end: int
    size: int


def line_block(artifact: Artifact, stream: Stream, region: Region, block: int, start: int | None) -> Block:
    """Lines of a region; ``start`` is where the block begins, if it is known. Cost: some chunks; for long lines, two for each."""
    first = block * ROWS
    wanted = min(ROWS, region.rows - first)
    number = region.number + first
    if start is None:
        start = _start_of(artifact, stream, region, number)
    rows: list[Row] = []
    at = start
    while len(rows) < wanted and at < region.end:
        piece = _Piece(artifact, stream, region, at, min(region.end, at + _PIECE))
        for low, high, is_ended in piece.lines(artifact.info.terminator):
            whole = is_ended or high == region.end
            if not whole and low > piece.start:
                break  # it is read again, from its beginning
            end, ended = high, is_ended
            if not whole:
                end = _start_of(artifact, stream, region, number + 1)
                ended = _ends_line(artifact, stream, end)
            rows.append(piece.row(region.index + first + len(rows), number, low, high, end, ended=ended))
            number += 1
            at = end
            if len(rows) == wanted or not whole:
                break
        if piece.is_empty:  # dropped, or deleted, since the layout was read
            break
    return _block(rows, at)


def hex_block(artifact: Artifact, stream: Stream, region: Region, block: int) -> Block:
    """Rows of 16 bytes."""
    first = block * ROWS
    at = region.start + first * HEX_BYTES
    end = min(region.end, at + min(ROWS, region.rows - first) * HEX_BYTES)
    piece = _Piece(artifact, stream, region, at, end)
    rows = [
        piece.row(
            region.index + first + index,
            low,
            low,
            min(low + HEX_BYTES, piece.end),
            min(low + HEX_BYTES, piece.end),
            ended=True,
            kind="hex",
        )
        for index, low in enumerate(range(at, piece.end, HEX_BYTES))
    ]
    return _block(rows, end)


def _block(rows: list[Row], end: int) -> Block:
    return Block(tuple(rows), end, sum(len(row.data) + 512 for row in rows))


def _start_of(artifact: Artifact, stream: Stream, region: Region, number: int) -> int:
    """Where a line of a region begins; the region's end for one behind it."""
    if number == region.number:
        return region.start
    found = artifact.locate(line=number, stream=stream, holes="skip").byte
    return min(max(found, region.start), region.end)


def _ends_line(artifact: Artifact, stream: Stream, end: int) -> bool:
    """Whether the byte before ``end`` ends a line."""
    return artifact.read_bytes(end - 1, end, stream=stream, holes="skip") == artifact.info.terminator


class _Piece:
    """Some bytes of a view, with the byte before them, which tells how long nothing had come."""

    def __init__(self, artifact: Artifact, stream: Stream, region: Region, start: int, end: int) -> None:
        self._stream = stream
        self.start = start
        low = max(region.start, start - 1)
        segments = list(artifact.segments(low, end, stream=stream, holes="skip"))
        self._before = segments[0].time if low < start and segments else None
        if low < start and segments:
            segments[0] = _without_first(segments[0])
        self._data = b"".join([segment.data for segment in segments])
        self.end = start + len(self._data)
        self._segments = segments
        self._ends: list[int] = []
        at = start
        for segment in segments:
            at += len(segment.data)
            self._ends.append(at)
        self._at = 0  # the segment that the last row has ended in

    @property
    def is_empty(self) -> bool:
        return not self._data

    def lines(self, terminator: bytes) -> Iterator[tuple[int, int, bool]]:
        """Where each line begins and ends, and whether it has its ending; the last one may go on behind the piece."""
        at = 0
        while at < len(self._data):
            found = self._data.find(terminator, at)
            end = len(self._data) if found < 0 else found + 1
            yield self.start + at, self.start + end, found >= 0
            at = end

    def row(
        self, index: int, number: int, low: int, high: int, end: int, *, ended: bool, kind: str = "line"
    ) -> Row:
        """The row of bytes ``[low, high)``, of a line that ends at ``end``. Rows are made in their order."""
        body = end - (ended and kind == "line")
        data = self._data[low - self.start : min(body, low + ROW_BYTES) - self.start]
        if kind == "line" and ended and data.endswith(b"\r") and len(data) == body - low:
            data, body = data[:-1], body - 1
        cut = body - low - len(data)
        first, before = self._segment_at(low), self._before
        last = self._segment_at(high - 1)
        places = self._places(low, high, end)
        self._before = last.time
        return Row(
            index=index,
            kind="line" if kind == "line" else "hex",
            number=number,
            start=low,
            end=end,
            data=data,
            cut=cut,
            ended=ended,
            stream=first.stream,
            time=first.time,
            gap=None if before is None else max(0.0, last.time - before),
            places=places,
        )

    def _segment_at(self, byte: int) -> Segment:
        while self._ends[self._at] <= byte:
            self._at += 1
        return self._segments[self._at]

    def _places(self, low: int, high: int, end: int) -> tuple[Place, ...]:
        """Where bytes ``[low, high)`` stand in each view; ``end`` is where the row ends in this one."""
        found: dict[Stream, tuple[int, int]] = {}
        for index in range(self._at, -1, -1):
            segment, behind = self._segments[index], self._ends[index]
            begin = behind - len(segment.data)
            if behind <= low:
                break
            skipped, size = max(0, low - begin), min(high, behind) - max(low, begin)
            for name, at in (("combined", segment.byte), (segment.stream, segment.stream_byte)):
                view: Stream = name  # type: ignore[assignment]  # both are views
                known = found.get(view, (at + skipped, at + skipped + size))
                found[view] = min(known[0], at + skipped), max(known[1], at + skipped + size)
        found[self._stream] = low, end
        return tuple(Place(name, *span) for name, span in found.items())


def _without_first(segment: Segment) -> Segment:
    return type(segment)(
        segment.stream, segment.time, segment.data[1:], segment.byte + 1, segment.stream_byte + 1
    )
