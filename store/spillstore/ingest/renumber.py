"""Lines that turn out to end in CR: their chunks are counted anew when the artifact ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.format import chunk_codec
from spillstore.format.chunker import Chunker
from spillstore.format.digests import new_digest
from spillstore.read.sequence import Sequence

if TYPE_CHECKING:
    from spillstore.engine.rows import Transaction
    from spillstore.format.digests import Algorithm
    from spillstore.model.records import ArtifactRow

_CHUNKS = 64  # at a time


def renumber(tx: Transaction, row: ArtifactRow, algorithm: Algorithm) -> ArtifactRow:
    """Count CRs as line ends: chunk the stored bytes once more with the same borders, a few at a time.

    Returns:
        The artifact's row with its new counters.
    """
    sequence = Sequence(tx, row, algorithm)
    chunker = Chunker(row.chunk_size, b"\r", new_digest(algorithm))
    stored = 0
    for first in range(0, row.chunks, _CHUNKS):
        old = sequence.chunks(first, first + _CHUNKS)
        for chunk in old:
            raw, start = chunk_codec.decode(chunk), 0
            for segment in chunk_codec.segments_of(chunk):
                chunker.add(segment.stream, [raw[start : start + segment.length]], segment.time)
                start += segment.length
        chunks = chunker.take()
        if old[-1].seq == row.chunks - 1 and (last := chunker.partial()) is not None:
            chunks.append(last)
        rows = chunk_codec.encode(chunks, chunk_codec.prefix(row.artifact_id, "cr"), algorithm)
        tx.drop_chunks(row.artifact_key, first, first + _CHUNKS)
        tx.insert_chunks(row.artifact_key, rows)
        stored += sum(chunk.stored_size for chunk in rows)
        totals = chunks[-1].after()
    return row._replace(
        stdout_lines=totals.stdout_lines,
        stderr_lines=totals.stderr_lines,
        line_flags=totals.line_flags,
        stored_size=stored,
    )
