"""What each stage of a writer takes alone, by kind of text: where the processor time of the defaults goes.

The stages work on one thread on what the stage before gave, in the pieces in which the writer gives it to them, and keep nothing. What
they come to together, half of it on each of two processors, is the least time that a writer can take of the wall.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import zstandard

from benchmarks.data import MIB
from benchmarks.plain import Table
from benchmarks.row import Row, compare
from benchmarks.samples import interleaved
from benchmarks.texts import TEN, texts
from spillstore.format import chunk_codec, grams
from spillstore.format.chunker import Chunker
from spillstore.format.digests import Algorithm, digest_bytes, new_digest
from spillstore.redaction import Redactor
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.workspace import Workspace
    from spillstore.format.chunk import RawChunk

_SIZE = 8 * MIB
_PIECE, _PASSED, _CHUNK = 512 * KIB, 256 * KIB, 64 * KIB  # what a redactor takes, what it gives, a chunk
_BATCH = 32  # chunks
_ALGORITHM = Algorithm("blake3")
_PEER = "zstd -1, one stream"
_COUNTS, _TOGETHER = "counts, digest of the whole", "all stages"


def measure(space: Workspace) -> list[Row]:
    """All rows."""
    rounds = 3 if space.quick else 9
    return [row for name, data in texts(_SIZE, TEN) for row in _kind(space, name, data, rounds)]


def _kind(space: Workspace, name: str, data: bytes, rounds: int) -> list[Row]:
    """The rows of one kind."""
    stages = _stages(space, data)
    answers: dict[str, set[object]] = {stage: set() for stage in stages}
    times = interleaved(
        {stage: lambda _, call=call: call() for stage, call in stages.items()},
        rounds,
        lambda stage, _, answer: answers[stage].add(answer),
        clock=time.process_time,
    )
    peer = times.pop(_PEER)
    times[_TOGETHER] = [sum(each) for each in zip(*times.values(), strict=True)]
    whole = len(data) // _CHUNK * _CHUNK
    right = all(len(found) == 1 for found in answers.values()) and answers[_COUNTS] == {whole}
    return [
        compare(f"{name}: {stage}", found, peer, _PEER, unit="ms", limit=None, correct=right, size=len(data))
        for stage, found in times.items()
    ]


def _stages(space: Workspace, data: bytes) -> dict[str, Callable[[], object]]:
    """The peer and what a writer does one behind the other; each returns what is the same each time."""
    pieces, passed = _cut(data, _PIECE), _cut(data, _PASSED)
    chunks = [chunk for batch in _chunks(passed) for chunk in batch]
    batches = [chunks[at : at + _BATCH] for at in range(0, len(chunks), _BATCH)]
    frames = [[chunk_codec.compressor().compress(chunk.raw) for chunk in batch] for batch in batches]

    def stream() -> int:
        engine = zstandard.ZstdCompressor(level=chunk_codec.LEVEL).compressobj()
        return sum(len(engine.compress(piece)) for piece in passed) + len(engine.flush())

    def redacted() -> int:
        redactor = Redactor()
        return sum(sum(map(len, redactor.pieces(piece))) for piece in pieces) + len(redactor.finish())

    def counted() -> int:
        return sum(len(chunk.raw) for batch in _chunks(passed) for chunk in batch)

    def compressed() -> int:
        engine = chunk_codec.compressor()
        return sum(
            len(frame.tobytes())
            for batch in batches
            for frame in engine.multi_compress_to_buffer([chunk.raw for chunk in batch], threads=1)
        )

    def filtered() -> int:
        made = 0
        for batch, found in zip(batches, frames, strict=True):
            texts_of = [
                (chunk.lead or b"", chunk.raw, len(frame)) for chunk, frame in zip(batch, found, strict=True)
            ]
            made += sum(map(len, grams.grams_of(texts_of)))
        return made

    def digested() -> bytes:
        return b"".join(digest_bytes(_ALGORITHM, frame) for batch in frames for frame in batch)

    def stored() -> int:
        table = Table(space.fresh("stages.db"), make=True)
        table.put_frames("one", (frame for batch in frames for frame in batch))
        table.close()
        return len(chunks)

    return {
        _PEER: stream,
        "redaction": redacted,
        _COUNTS: counted,
        "frames": compressed,
        "gram filters": filtered,
        "digests": digested,
        "rows in SQLite": stored,
    }


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _chunks(passed: list[bytes]) -> list[list[RawChunk]]:
    """The chunks of a text as a writer cuts them, without the one that is not full."""
    chunker = Chunker(_CHUNK, b"\n", new_digest(_ALGORITHM))
    found = []
    for piece in passed:
        chunker.add(0, [piece], 0)
        found.append(chunker.take())
    return found
