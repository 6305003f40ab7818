"""One chunk to one row and back: compression, header, digest.

zstandard's objects must never be shared between threads (sharing one crashes the interpreter), so each thread keeps
its own. Level 1 on 64 KiB keeps most of a stream's ratio; the batch call costs one release of the interpreter's lock
for 32 chunks instead of one each.
"""

from __future__ import annotations

import struct
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard

from spillstore.exceptions import IntegrityError
from spillstore.format import grams, segment_map
from spillstore.format.chunk import END_SHIFT, split_stream
from spillstore.format.digests import digest_bytes
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillstore.format.chunk import RawChunk
    from spillstore.format.digests import Algorithm

LEVEL = 1
MAX_CHUNK = 64 * KIB  # raw bytes
_MAX_STORED = MAX_CHUNK + KIB  # what does not compress grows by some bytes
_MAX_WINDOW = 1024 * KIB  # our frames need no window of their own; others might ask for gigabytes
_BATCH_FROM = 4  # chunks; below that the batch call's set-up costs more than it saves
_TEXT_SHARE = 0.94  # of a chunk's bytes, which text takes compressed at most
_HEADER = struct.Struct("<16q")
_local = threading.local()


class ChunkRow(NamedTuple):
    """A row of ``chunk``, in the order of its columns; ``engine.relational.schema`` says what each means."""

    seq: int
    size: int
    line_start: int
    stdout_start: int
    stdout_size: int
    stdout_line_start: int
    stdout_lines: int
    stderr_start: int
    stderr_size: int
    stderr_line_start: int
    stderr_lines: int
    time_start: int
    time_end: int
    line_flags: int
    digest: bytes
    segments: bytes
    data: bytes
    grams: bytes | None = None

    @property
    def stored_size(self) -> int:
        """Bytes of the compressed data, the map and the gram filter."""
        return len(self.data) + len(self.segments) + len(self.grams or b"")


_HEADER_COLUMNS = ChunkRow._fields.index("digest")


def compressor() -> zstandard.ZstdCompressor:
    """This thread's own compressor."""
    found: zstandard.ZstdCompressor | None = getattr(_local, "compressor", None)
    if found is None:
        found = _local.compressor = zstandard.ZstdCompressor(level=LEVEL)
    return found


def decompressor() -> zstandard.ZstdDecompressor:
    """This thread's own decompressor."""
    found: zstandard.ZstdDecompressor | None = getattr(_local, "decompressor", None)
    if found is None:
        found = _local.decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    return found


def encode(chunks: Sequence[RawChunk], start: bytes, algorithm: Algorithm) -> list[ChunkRow]:
    """The rows of consecutive chunks of one artifact; ``start`` is its prefix."""
    engine = compressor()
    frames: Any
    if len(chunks) >= _BATCH_FROM:
        frames = engine.multi_compress_to_buffer([chunk.raw for chunk in chunks], threads=1)
        frames = [frames[index].tobytes() for index in range(len(chunks))]
    else:
        frames = [engine.compress(chunk.raw) for chunk in chunks]
    filters = _filters(chunks, frames)
    return [
        _row(chunk, data, found, start, algorithm)
        for chunk, data, found in zip(chunks, frames, filters, strict=True)
    ]


def _filters(chunks: Sequence[RawChunk], frames: Sequence[bytes]) -> list[bytes]:
    """The gram filters of chunks, empty where there is none; made without the interpreter's lock, like the frames.

    What hardly compresses is drawn at random, and has so many grams that a filter would rule nothing out.
    """
    whole = [
        (chunk.lead if len(data) <= _TEXT_SHARE * len(chunk.raw) else None, chunk.raw, len(data))
        for chunk, data in zip(chunks, frames, strict=True)
    ]
    made = iter(grams.grams_of([each for each in whole if each[0] is not None]))  # type: ignore[misc]
    return [b"" if lead is None else next(made) for lead, _, _ in whole]


def header(chunk: RawChunk) -> tuple[int, ...]:
    """The columns of a row that come before its digest."""
    before = chunk.before
    return (
        chunk.seq,
        len(chunk.raw),
        before.lines,
        before.stdout_size,
        chunk.stdout_size,
        before.stdout_lines,
        chunk.stdout_lines,
        before.stderr_size,
        chunk.stderr_size,
        before.stderr_lines,
        chunk.stderr_lines,
        chunk.segments[0].time,
        chunk.segments[-1].time,
        before.line_flags | chunk.end_flags << END_SHIFT,
    )


def _row(chunk: RawChunk, data: bytes, found: bytes, start: bytes, algorithm: Algorithm) -> ChunkRow:
    columns = header(chunk)
    segments = segment_map.encode(chunk.segments, chunk.segments[0].time, compressor())
    digest = _digest(start, columns, segments, data, algorithm)
    sealed = grams.sealed(found, _place(start, columns, digest), algorithm)
    return ChunkRow._make((*columns, digest, segments, data, sealed))


@lru_cache(maxsize=64)
def prefix(artifact_id: str, newline: str) -> bytes:
    """The common prefix of the digests of an artifact's chunks.

    Content whose lines were found to end in CR is counted anew at its end, so its chunks must not pass for those before.
    """
    raw = artifact_id.encode() + (b"\r" if newline == "cr" else b"")
    return bytes([len(raw)]) + raw


def _digest(
    start: bytes, columns: tuple[Any, ...], segments: bytes, data: bytes, algorithm: Algorithm
) -> bytes:
    packed = _HEADER.pack(*columns, len(segments), len(data))
    return digest_bytes(algorithm, b"".join((start, packed, segments, data)))


def _place(start: bytes, columns: tuple[Any, ...], digest: bytes) -> bytes:
    """What binds a gram filter to its chunk: where and what that is."""
    return b"".join((start, _HEADER.pack(*columns, 0, 0), digest))


def verify_grams(row: ChunkRow, start: bytes, algorithm: Algorithm) -> None:
    """Raise IntegrityError unless the gram filter, and every column before the digest, are what was written with that digest.

    Args:
        row: its ``segments`` and ``data`` are not looked at.
        start: the artifact's prefix.
        algorithm: of the session.
    """
    try:
        is_right = row.grams is None or grams.is_sealed(
            row.grams, _place(start, row[:_HEADER_COLUMNS], row.digest), algorithm
        )
    except (struct.error, TypeError) as error:
        raise IntegrityError(f"chunk {row.seq!r:.30} holds a value of a wrong type: {error}") from None
    if not is_right:
        raise IntegrityError(
            f"the gram filter of chunk {row.seq} of {start[1:].decode().rstrip()} is damaged"
        )


def verify(row: ChunkRow, start: bytes, algorithm: Algorithm) -> None:
    """Raise IntegrityError unless every column of the row is what was written; ``start`` is the artifact's prefix."""
    try:
        if len(row.data) > _MAX_STORED or len(row.segments) > _MAX_STORED:
            raise IntegrityError(f"chunk {row.seq!r:.30} holds more than a chunk can")
        expected = _digest(start, row[:_HEADER_COLUMNS], row.segments, row.data, algorithm)
    except (struct.error, TypeError) as error:
        raise IntegrityError(f"chunk {row.seq!r} holds a value of a wrong type: {error}") from None
    if expected != row.digest:
        raise IntegrityError(
            f"chunk {row.seq} of {start[1:].decode().rstrip()} is damaged: its digest does not match (bytes of this chunk are not "
            "returned; `verify` says more)"
        )


def decode(row: ChunkRow) -> bytes:
    """The raw bytes of a verified row. Never more than a chunk can have is made, whatever the frame announces.

    Each thread keeps the chunk that it has decoded last: who finds a line in a chunk reads it next.
    """
    last: tuple[ChunkRow, bytes] | None = getattr(_local, "decoded", None)
    if last is not None and last[0] == row:
        return last[1]
    if not 0 < row.size <= MAX_CHUNK or row.stdout_size + row.stderr_size != row.size:
        raise IntegrityError(f"chunk {row.seq} cannot have {row.size} bytes")
    try:
        if zstandard.frame_content_size(row.data) != row.size:
            raise IntegrityError(f"chunk {row.seq} announces another size than its row")
        raw = decompressor().decompress(row.data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise IntegrityError(f"chunk {row.seq} cannot be decompressed: {error}") from None
    if len(raw) != row.size:
        raise IntegrityError(f"chunk {row.seq} has {len(raw)} bytes instead of {row.size}")
    _local.decoded = row, raw
    return raw


def segments_of(row: ChunkRow) -> list[segment_map.Segment]:
    """The segments of a verified row."""
    try:
        return segment_map.decode(
            row.segments, row.time_start, row.stdout_size, row.stderr_size, decompressor()
        )
    except (zstandard.ZstdError, IndexError) as error:
        raise IntegrityError(f"the segment map of chunk {row.seq} cannot be decompressed: {error}") from None


def stream_part(row: ChunkRow, raw: bytes, stream: int) -> bytes:
    """The bytes of one stream out of a decoded row."""
    if not row.stderr_size or not row.stdout_size:
        present = segment_map.STDERR if row.stderr_size else segment_map.STDOUT
        return raw if present == stream else b""
    return split_stream(raw, segments_of(row), stream)
