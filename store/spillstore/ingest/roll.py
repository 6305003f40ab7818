"""The roll policy: an artifact that grows past its limit loses whole chunks between its head and its tail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.format.chunk import ALL_BITS
from spillstore.model.records import VIEWS, Hole, HoleSpan
from spillstore.read.sequence import Sequence

if TYPE_CHECKING:
    from spillstore.engine.rows import Transaction
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Algorithm
    from spillstore.model.records import ArtifactRow


def roll(
    tx: Transaction, row: ArtifactRow, rows: list[ChunkRow], algorithm: Algorithm
) -> tuple[ArtifactRow, int, list[ChunkRow]]:
    """Drop whole chunks between the head and the tail until the artifact is within its limit.

    Args:
        tx: the transaction.
        row: the artifact with its new counters.
        rows: chunks that are about to be inserted; what falls into the hole at once never reaches the disk.
        algorithm: of the session's digests.

    Returns:
        The row, the stored bytes left in the database, and the chunks that remain to be inserted.
    """
    fresh = {chunk.seq: chunk for chunk in rows}
    sequence = Sequence(tx, row, algorithm)
    hole = row.parsed_hole()
    first = hole.first_seq if hole else row.size_limit // 4 // row.chunk_size
    start = hole.last_seq if hole else first
    last = start - (row.size_limit - row.kept) // row.chunk_size  # that is, start + ceil(excess / chunk_size)

    def chunk(seq: int) -> ChunkRow:
        return fresh.get(seq) or sequence.chunks(seq, seq + 1)[0]

    grown = _hole(row, (first, last), hole or chunk(first), chunk(last - 1), chunk(last))
    stored = tx.stored_size(row.artifact_key, start, last)
    tx.drop_chunks(row.artifact_key, start, last)
    kept = row.kept - (last - start) * row.chunk_size
    remaining = [chunk for chunk in rows if not first <= chunk.seq < last]
    return row._replace(kept=kept, hole=grown.to_json()), row.stored_size - stored, remaining


def _hole(
    row: ArtifactRow,
    seqs: tuple[int, int],
    begin: Hole | ChunkRow,
    newest: ChunkRow,
    after: ChunkRow,
) -> Hole:
    """The hole over the chunks ``[first, last)``, in the coordinates of every view.

    Args:
        row: the artifact.
        seqs: the two numbers.
        begin: the hole as it was, or the first chunk that is dropped where there was none.
        newest: the last chunk that is dropped.
        after: the chunk that comes next.
    """
    spans: dict[str, HoleSpan] = {}
    for view in VIEWS.values():
        end, _, ends_after, _ = view.place(after, row.chunk_size)
        if isinstance(begin, Hole):
            start, ends_before = begin.span(view).start, begin.span(view).line_ends_before
        else:
            start, _, ends_before, _ = view.place(begin, row.chunk_size)
        spans[view.name] = HoleSpan(start, end, ends_before, ends_after)
    return Hole(
        first_seq=seqs[0],
        last_seq=seqs[1],
        time_start=begin.time_start,
        time_end=newest.time_end,
        flags=after.line_flags & ALL_BITS,
        spans=spans,
    )
