"""The segment map: which bytes of a chunk came from which stream, and when.

A segment is (stream, length, time): bytes that entered the sequence together. A chunk that is one single segment has
no map at all, its row says everything. Otherwise the map is columnar, so that zstd sees like beside like:

    ============  ==================================================================================
    bytes         meaning
    ============  ==================================================================================
    1             format: 0 the columns follow as they are, 1 they are one zstd frame
    4             n, the number of segments, little endian
    n             stream of each segment (0 stdout, 1 stderr)
    n + n         length - 1 of each segment, as low bytes, then high bytes (a chunk has at most 64 KiB)
    8 x n         microseconds since the previous segment (the first: since the chunk's ``time_start``),
                  as eight planes from the lowest byte to the highest
    ============  ==================================================================================

Alternating lines of two streams cost about a sixth of the compressed chunk this way; varints were larger and twice
as slow to decode in Python. A map never passes 64 KiB: if one would (tens of thousands of one-byte writes in one
chunk, each at its own time), times are rounded down to ever coarser ticks until it fits.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from spillstore.exceptions import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Sequence


STDOUT, STDERR = 0, 1
MAX_MAP_BYTES = 64 * 1024
_ZSTD_FROM = 8  # segments; below that a frame's header costs more than it saves
_BYTES_PER_SEGMENT = 11
_FIRST_TICK_US = 10_000


class Segment(NamedTuple):
    """A run of bytes of one stream; ``time`` is in microseconds since the artifact began."""

    stream: int
    length: int
    time: int


def encode(segments: Sequence[Segment], time_start: int, compressor: zstandard.ZstdCompressor) -> bytes:
    """The map of a chunk's segments; ``b""`` for a single one. ``time_start`` is the first segment's time."""
    if len(segments) == 1:
        return b""
    tick = _FIRST_TICK_US
    while len(encoded := _encode(segments, time_start, compressor)) > MAX_MAP_BYTES:
        segments = _coarsen(segments, tick)
        tick *= 4
    return encoded


def _coarsen(segments: Sequence[Segment], tick: int) -> list[Segment]:
    """A coarser segment map: times differ by at least ``tick`` microseconds, and neighbours of one stream are merged."""
    out: list[Segment] = []
    now = segments[0].time
    for stream, length, time in segments:
        if time - now >= tick:
            now = time
        if out and out[-1].stream == stream and out[-1].time == now:
            out[-1] = Segment(stream, out[-1].length + length, now)
        else:
            out.append(Segment(stream, length, now))
    return out


def _encode(segments: Sequence[Segment], time_start: int, compressor: zstandard.ZstdCompressor) -> bytes:
    count = len(segments)
    lengths = array("H", [segment.length - 1 for segment in segments]).tobytes()
    times = [segment.time for segment in segments]
    deltas = array("Q", [b - a for a, b in zip([time_start, *times], times, strict=False)]).tobytes()
    columns = b"".join(
        (
            bytes([segment.stream for segment in segments]),
            lengths[0::2],
            lengths[1::2],
            *(deltas[plane::8] for plane in range(8)),
        )
    )
    packed = compressor.compress(columns) if count > _ZSTD_FROM else columns
    compressed = len(packed) < len(columns)
    return bytes([compressed]) + count.to_bytes(4, "little") + (packed if compressed else columns)


def decode(
    encoded: bytes,
    time_start: int,
    stdout_size: int,
    stderr_size: int,
    decompressor: zstandard.ZstdDecompressor,
) -> list[Segment]:
    """The segments of a chunk whose row was verified.

    Raises:
        IntegrityError: the map contradicts the row (it can only have been stored so).
    """
    if not encoded:
        return [Segment(STDERR if stderr_size else STDOUT, stdout_size + stderr_size, time_start)]
    count = int.from_bytes(encoded[1:5], "little")
    if not 0 < count <= stdout_size + stderr_size:  # each has at least one byte
        raise IntegrityError(f"a segment map of {count} segments for {stdout_size + stderr_size} bytes")
    total = count * _BYTES_PER_SEGMENT
    columns = encoded[5:]
    if encoded[0]:
        # What a frame announces is made at once, so that is checked before; a frame need not announce anything.
        announced = zstandard.frame_content_size(columns)
        columns = decompressor.decompress(columns, allow_extra_data=False) if announced == total else b""
    if len(columns) != total:
        raise IntegrityError(
            f"a segment map of {count} segments holds {len(columns)} bytes instead of {total}"
        )
    lengths = bytearray(2 * count)
    lengths[0::2], lengths[1::2] = columns[count : 2 * count], columns[2 * count : 3 * count]
    planes = bytearray(8 * count)
    for plane in range(8):
        planes[plane::8] = columns[(3 + plane) * count : (4 + plane) * count]
    segments: list[Segment] = []
    time = time_start
    for stream, length, delta in zip(
        columns[:count], array("H", bytes(lengths)), array("Q", bytes(planes)), strict=True
    ):
        time += delta
        segments.append(Segment(stream, length + 1, time))
    sizes = [0, 0]
    for segment in segments:
        if segment.stream > STDERR:
            raise IntegrityError(f"a segment map names stream {segment.stream}")
        sizes[segment.stream] += segment.length
    if sizes != [stdout_size, stderr_size]:
        raise IntegrityError("a segment map does not add up to its chunk")
    return segments
