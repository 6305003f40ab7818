"""Reads a whole artifact and recomputes everything that can be recomputed from its raw bytes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Protocol

from spillstore import info as infos
from spillstore.exceptions import IntegrityError
from spillstore.format import chunk_codec, grams
from spillstore.format.chunk import ALL_BITS, Totals
from spillstore.format.chunker import Chunker
from spillstore.format.digests import new_digest
from spillstore.model.records import COMBINED
from spillstore.read.sequence import Sequence

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from spillstore.engine.rows import Snapshot
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Algorithm
    from spillstore.info import Verification
    from spillstore.model.records import ArtifactRow, SessionRow

_BATCH = 16  # chunks fetched in one short statement
_TIME_COLUMNS = {
    chunk_codec.ChunkRow._fields.index("time_start"),
    chunk_codec.ChunkRow._fields.index("time_end"),
}


class _Session(Protocol):
    """Lends rows of a session."""

    row: SessionRow

    def reader(self) -> AbstractContextManager[Snapshot]:
        """Rows, each call on its own snapshot."""

    def snapshot(self, doing: str) -> AbstractContextManager[Snapshot]:
        """Rows, all calls on one snapshot."""

    def artifact_row(self, rows: Snapshot, artifact_id: str) -> ArtifactRow:
        """The verified row of an artifact."""


def verify(
    session: _Session, record: ArtifactRow, on_progress: Callable[[int, int], object] | None = None
) -> Verification:
    """Verify an artifact of which ``record`` was the row a moment ago.

    Each few chunks are read for themselves, so that nobody is held up. Meanwhile the artifact may be deleted or evicted, or
    grow, roll or end. So what looks like damage is looked at again in one snapshot, its row first, and only what is wrong in
    that is an error.

    Raises:
        ArtifactNotFoundError: it was deleted meanwhile.
        IntegrityError: says what is damaged, and where.
    """
    algorithm = session.row.digest_algorithm
    try:
        return Verifier(session.reader, record, algorithm, on_progress).run()
    except IntegrityError:
        with session.snapshot("verifying") as rows:
            record = session.artifact_row(rows, record.artifact_id)
            return Verifier(lambda: contextlib.nullcontext(rows), record, algorithm).run()


class Verifier:
    """Verifies one artifact as its row says it is; memory stays flat."""

    def __init__(
        self,
        reader: Callable[[], contextlib.AbstractContextManager[Snapshot]],
        record: ArtifactRow,
        algorithm: Algorithm,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Prepare to verify.

        Args:
            reader: lends rows for a few chunks.
            record: the artifact's row.
            algorithm: of the session.
            on_progress: called with the bytes that are verified and those that are kept, every few chunks.
        """
        self._reader = reader
        self._record = record
        self._algorithm = algorithm
        self._on_progress = on_progress
        self._hole = record.parsed_hole()
        self._content = new_digest(self._algorithm)
        self._digests = new_digest(self._algorithm)
        self._stored = self._size = self._chunks = 0
        self._before: bytes | None = b""  # the end of what stands before the next chunk; None behind a hole
        self._chunker = self._chunker_at(0, Totals())

    def run(self) -> Verification:
        """Verify everything.

        Raises:
            IntegrityError: says what is damaged, and where.
        """
        last = self._record.chunks - 1
        for first, end in self._present():
            for batch in range(first, end, _BATCH):
                for row in self._fetch(batch, min(batch + _BATCH, end)):
                    self._one(row, is_last=row.seq == last)
                if self._on_progress is not None:
                    self._on_progress(self._size, self._record.kept)
        if self._stray(last + 1, 2**62) is not None:
            raise IntegrityError(f"{self._record.artifact_id} holds chunks past its last one, {last}")
        self._compare_totals()
        return infos.Verification(chunks=self._chunks, size=self._size, content=self._content_known())

    def _present(self) -> list[tuple[int, int]]:
        """Ranges of the numbers of chunks that must exist; those in the hole must not, however many it has."""
        hole = self._hole
        if hole is None:
            return [(0, self._record.chunks)]
        if (found := self._stray(hole.first_seq, hole.last_seq - 1)) is not None:
            raise IntegrityError(
                f"chunk {found} of {self._record.artifact_id} was dropped, and is still there"
            )
        return [(0, hole.first_seq), (hole.last_seq, self._record.chunks)]

    def _chunker_at(self, seq: int, before: Totals) -> Chunker:
        content = new_digest(self._algorithm)
        return Chunker(self._record.chunk_size, self._record.terminator(), content, seq=seq, before=before)

    def _content_known(self) -> bool:
        return self._record.content_digest is not None and self._hole is None

    def _fetch(self, first: int, end: int) -> list[ChunkRow]:
        """The chunks ``[first, end)``; they are in their places, and their digests are right."""
        with self._reader() as rows:
            return Sequence(rows, self._record, self._algorithm).chunks(first, end)

    def _stray(self, first: int, last: int) -> int | None:
        with self._reader() as rows:
            return Sequence(rows, self._record, self._algorithm).stray(first, last)

    def _one(self, row: ChunkRow, *, is_last: bool) -> None:
        name, hole, seq = self._record.artifact_id, self._hole, row.seq
        raw = chunk_codec.decode(row)
        if hole is not None and seq == hole.last_seq:
            self._chunker = self._chunker_at(seq, _totals_before(row))
            self._before = None
        start = 0
        for segment in chunk_codec.segments_of(row):
            self._chunker.add(segment.stream, [raw[start : start + segment.length]], segment.time)
            start += segment.length
        whole = self._chunker.take()
        counted = whole[0] if whole else self._chunker.partial() if is_last else None
        if counted is None or _counters(tuple(row)) != _counters(chunk_codec.header(counted)):
            raise IntegrityError(f"chunk {seq} of {name} does not hold what its row says")
        if row.grams is not None and not grams.fits(row.grams, self._before, raw, len(row.data)):
            raise IntegrityError(
                f"the gram filter of chunk {seq} of {name} does not fit what the chunk holds; searches may have missed lines"
            )
        if self._before is not None or len(raw) >= grams.BEFORE:
            self._before = ((self._before or b"") + raw[-grams.BEFORE :])[-grams.BEFORE :]
        self._content.update(raw)
        self._digests.update(row.digest)
        self._chunks += 1
        self._size += len(raw)
        self._stored += row.stored_size

    def _compare_totals(self) -> None:
        record = self._record
        partial = self._chunker.partial()
        totals = partial.after() if partial is not None else self._chunker.totals
        facts: dict[str, tuple[object, object]] = {
            "size": (record.size, totals.size),
            "kept": (record.kept, self._size),
            "stored size": (record.stored_size, self._stored),
            "line ends": (record.view_line_ends(COMBINED), totals.lines),
            "stdout": ((record.stdout_size, record.stdout_lines), (totals.stdout_size, totals.stdout_lines)),
            "stderr": ((record.stderr_size, record.stderr_lines), (totals.stderr_size, totals.stderr_lines)),
            "line flags": (record.line_flags, totals.line_flags),
        }
        if self._hole is None:
            facts["chars"] = (record.chars, totals.chars)
        if record.chunks_digest is not None:
            facts["chunks digest"] = (record.chunks_digest, self._digests.digest())
        if self._content_known():
            facts["content digest"] = (record.content_digest, self._content.digest())
        for fact, (said, counted) in facts.items():
            if said != counted:
                raise IntegrityError(
                    f"{fact} of {record.artifact_id}: its row says {said!r}, its chunks {counted!r}"
                )


def _totals_before(row: ChunkRow) -> Totals:
    """The counters before a chunk, from its own row, which was verified."""
    return Totals(
        stdout_size=row.stdout_start,
        stdout_lines=row.stdout_line_start,
        stderr_size=row.stderr_start,
        stderr_lines=row.stderr_line_start,
        line_flags=row.line_flags & ALL_BITS,
    )


def _counters(columns: tuple[object, ...]) -> list[object]:
    """The columns that raw bytes determine: all before the digest but the times."""
    return [value for index, value in enumerate(columns[:14]) if index not in _TIME_COLUMNS]
