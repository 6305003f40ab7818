"""A run of chunks between two that are missing, as an artifact of its own: its chunks are made anew from their verified bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.format import chunk_codec
from spillstore.format.chunker import Chunker
from spillstore.format.digests import new_digest
from spillstore.model.ids import new_artifact_id
from spillstore.model.records import SALVAGED
from spillstore.session.salvaged_runs import range_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.format.chunk import Totals
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Algorithm, Hash
    from spillstore.model.records import ArtifactRow
    from spillstore.session.salvaged_runs import Run


class Part:
    """A run in the middle, as an artifact of its own."""

    def __init__(
        self,
        record: ArtifactRow,
        algorithm: Algorithm,
        run: Run,
        rows_of: Callable[[Run], Iterator[list[ChunkRow]]],
    ) -> None:
        """Take a run on.

        Args:
            record: the row of the artifact that it was in.
            algorithm: of the session.
            run: its chunks.
            rows_of: reads their rows, some at a time.
        """
        self._record = record
        self._algorithm = algorithm
        self._run = run
        self._rows_of = rows_of
        self._newline = "cr" if record.newline == "cr" else "lf"
        self.name = new_artifact_id(record.created_us / 1e6)
        self.range = range_of(run.first, run.last)

    def chunks(
        self, ended: list[Totals] | None = None, content: Hash | None = None
    ) -> Iterator[list[ChunkRow]]:
        """Its chunks, some at a time, the same each time; ``ended`` gets the counters at the end."""
        record, algorithm = self._record, self._algorithm
        prefix = chunk_codec.prefix(self.name, self._newline)
        chunker = Chunker(record.chunk_size, record.terminator(), content or new_digest(algorithm))
        for batch in self._rows_of(self._run):
            for row in batch:
                raw, start = chunk_codec.decode(row), 0
                for segment in chunk_codec.segments_of(row):
                    chunker.add(segment.stream, [raw[start : start + segment.length]], segment.time)
                    start += segment.length
            if cut := chunker.take():
                yield chunk_codec.encode(cut, prefix, algorithm)
        last = chunker.finish()
        if last is not None:
            yield chunk_codec.encode([last], prefix, algorithm)
        if ended is not None:
            ended.append(chunker.totals if last is None else last.after())

    def row(self, key: int) -> ArtifactRow:
        """Its row. Cost: making its chunks once."""
        record, algorithm = self._record, self._algorithm
        ended: list[Totals] = []
        content, digests = new_digest(algorithm), new_digest(algorithm)
        stored = chunks = 0
        for rows in self.chunks(ended, content):
            for row in rows:
                digests.update(row.digest)
                stored += row.stored_size
            chunks += len(rows)
        totals = ended[0]
        return record._replace(
            artifact_key=key,
            artifact_id=self.name,
            tool_call_id=None,
            state="interrupted",
            reason=f"{SALVAGED}: bytes {self.range.start} to {self.range.end - 1} of {record.artifact_id}",
            newline=self._newline,
            ended_us=record.ended_us or record.created_us + self._run.last.time_end,
            chunks=chunks,
            received=totals.size,
            size=totals.size,
            kept=totals.size,
            stored_size=stored,
            stdout_size=totals.stdout_size,
            stdout_lines=totals.stdout_lines,
            stderr_size=totals.stderr_size,
            stderr_lines=totals.stderr_lines,
            chars=totals.chars,
            line_flags=totals.line_flags,
            hole=None,
            content_digest=content.digest(),
            chunks_digest=digests.digest(),
        ).sealed(algorithm)
