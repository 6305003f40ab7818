"""Reads a whole artifact and recomputes everything that can be recomputed from its raw bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore import _codec, _sql
from spillstore import info as infos
from spillstore._chunker import ALL_BITS, Chunker, Totals
from spillstore._database import SESSION_KEY
from spillstore._digests import new_digest
from spillstore._records import COMBINED
from spillstore.exceptions import IntegrityError

if TYPE_CHECKING:
    from spillstore._codec import ChunkRow
    from spillstore._engine import Engine
    from spillstore._records import ArtifactRow
    from spillstore.info import Verification

_BATCH = 16  # chunks fetched in one short statement
_TIME_COLUMNS = {_codec.ChunkRow._fields.index("time_start"), _codec.ChunkRow._fields.index("time_end")}


class Verifier:
    """Verifies one artifact as its row says it is; memory stays flat."""

    def __init__(self, engine: Engine, record: ArtifactRow) -> None:
        self._engine = engine
        self._record = record
        self._algorithm = engine.row.digest_algorithm
        self._hole = record.parsed_hole()
        self._content = new_digest(self._algorithm)
        self._digests = new_digest(self._algorithm)
        self._stored = self._size = self._chunks = 0
        self._chunker = self._chunker_at(0, Totals())

    def run(self) -> Verification:
        """Verify everything.

        Raises:
            IntegrityError: says what is damaged, and where.
        """
        last = self._record.chunks - 1
        for first, end in self._present():
            for batch in range(first, end, _BATCH):
                rows = self._fetch(batch, min(batch + _BATCH, end) - 1)
                for seq in range(batch, min(batch + _BATCH, end)):
                    self._one(seq, rows.get(seq), is_last=seq == last)
        if self._fetch(last + 1, 2**62):
            raise IntegrityError(f"{self._record.artifact_id} holds chunks past its last one, {last}")
        self._compare_totals()
        return infos.Verification(chunks=self._chunks, size=self._size, content=self._content_known())

    def _present(self) -> list[tuple[int, int]]:
        """Which chunks must be there; those of the hole must not, however many it has."""
        hole = self._hole
        if hole is None:
            return [(0, self._record.chunks)]
        if found := self._fetch(hole.first_seq, hole.last_seq - 1):
            raise IntegrityError(
                f"chunk {min(found)} of {self._record.artifact_id} was dropped, and is still there"
            )
        return [(0, hole.first_seq), (hole.last_seq, self._record.chunks)]

    def _chunker_at(self, seq: int, before: Totals) -> Chunker:
        content = new_digest(self._algorithm)
        return Chunker(self._record.chunk_size, self._record.terminator(), content, seq=seq, before=before)

    def _content_known(self) -> bool:
        return self._record.content_digest is not None and self._hole is None

    def _fetch(self, first: int, last: int) -> dict[int, ChunkRow]:
        with self._engine.reader() as connection:
            found = connection.execute(
                _sql.RANGE_COMBINED, (SESSION_KEY, self._record.artifact_key, first - 1, last, _BATCH)
            ).fetchall()
        return {row[0]: _codec.ChunkRow(*row) for row in found}

    def _one(self, seq: int, row: ChunkRow | None, *, is_last: bool) -> None:
        name, hole = self._record.artifact_id, self._hole
        if row is None:
            raise IntegrityError(f"chunk {seq} of {name} is missing")
        _codec.verify(row, _codec.prefix(name, self._record.newline), self._algorithm)
        raw = _codec.decode(row)
        if hole is not None and seq == hole.last_seq:
            self._chunker = self._chunker_at(seq, _totals_before(row))
        start = 0
        for segment in _codec.segments_of(row):
            self._chunker.add(segment.stream, [raw[start : start + segment.length]], segment.time)
            start += segment.length
        whole = self._chunker.take()
        counted = whole[0] if whole else self._chunker.partial() if is_last else None
        if counted is None or _counters(tuple(row)) != _counters(_codec.header(counted)):
            raise IntegrityError(f"chunk {seq} of {name} does not hold what its row says")
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
