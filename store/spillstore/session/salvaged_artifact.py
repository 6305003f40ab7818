"""What is left of one artifact of a damaged session: the chunks whose digests hold, and a row that says what is missing.

The format has one hole for each artifact (``model.records.Hole``), of whole chunks that were there and are not. So of the runs of
chunks that are left, the artifact keeps the first and the last, in their places and with the digests that they have, and what lay
between them is its hole. A run in the middle becomes an artifact of its own, a *part*, whose chunks are made anew from its
verified bytes: a chunk's digest covers the artifact's id and all that came before it. Where the end is missing, the artifact ends
where its last chunk does. Nothing is put in the place of what is gone: a filler would be bytes that nobody has printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore import info as infos
from spillstore.exceptions import IntegrityError
from spillstore.format import chunk_codec
from spillstore.format.chunk import ALL_BITS, END_SHIFT
from spillstore.format.chunk_codec import ChunkRow
from spillstore.format.digests import DIGEST_SIZE, new_digest
from spillstore.model.records import COMBINED, SALVAGED, VIEWS, ArtifactRow, Hole, HoleSpan, View
from spillstore.session.salvaged_part import Part
from spillstore.session.salvaged_runs import Good, Run, ends, line_after, starts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.engine.base import DamagedRows, RowPlace
    from spillstore.format.digests import Algorithm
    from spillstore.info import MissingRange

_KEYS: Final = 2  # columns of ``chunk`` before those of ``ChunkRow``
_COLUMNS: Final = len(ChunkRow._fields)
_CONTINUES: Final = bytes(range(0x80, 0xC0))  # bytes that continue a UTF-8 sequence
_ROWS: Final = 32  # chunks that are written at once


class SalvagedArtifact:
    """The chunks of an artifact that are whole, once ``look`` has found them."""

    def __init__(
        self,
        found: DamagedRows,
        algorithm: Algorithm,
        record: ArtifactRow,
        places: dict[int, list[RowPlace]],
        *,
        is_known: bool = True,
    ) -> None:
        """Take an artifact on.

        Args:
            found: the damaged session.
            algorithm: of the session.
            record: the artifact's row; made up of what its chunks say where it ``is_known`` no more.
            places: where the rows of each of its chunks may be.
            is_known: whether the row is that of the file.
        """
        self.record = record
        self._found = found
        self.algorithm = algorithm
        self._places = places
        self.is_known = is_known
        self._prefix = chunk_codec.prefix(record.artifact_id, record.newline)
        self._chars = 0
        self._content = new_digest(algorithm)
        self._has_all_filters = True
        self.runs: list[Run] = []

    # --- finding ------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Read all chunks, and keep in mind which are whole."""
        hole = self.record.parsed_hole()
        before: Good | None = None
        for seq in sorted(self._places):
            if hole is not None and hole.first_seq <= seq < hole.last_seq:
                continue
            good = self._whole(seq, before)
            if good is None:
                continue
            if before is None or before.row.seq + 1 < seq:
                self.runs.append(Run([]))
            self.runs[-1].chunks.append(good)
            before = good

    def _whole(self, seq: int, before: Good | None) -> Good | None:
        for place in self._places[seq]:
            row = self._read(place)
            if row is None or row.seq != seq or not self._fits(row, before):
                continue
            raw = chunk_codec.decode(row)
            self._chars += len(raw.translate(None, _CONTINUES))
            self._content.update(raw)
            return Good(place, row._replace(segments=b"", data=b"", grams=None), row.stored_size)
        return None

    def _read_raw(self, place: RowPlace) -> ChunkRow | None:
        values = self._found.row(place)
        if values is None:
            return None
        columns = values[_KEYS:]
        return ChunkRow._make(columns + (None,) * (_COLUMNS - len(columns)))

    def _read(self, place: RowPlace) -> ChunkRow | None:
        """A chunk's row if its digest holds and it can be decoded; without its gram filter if that is damaged."""
        row = self._read_raw(place)
        if row is None:
            return None
        try:
            chunk_codec.verify(row, self._prefix, self.algorithm)
            chunk_codec.decode(row)
            chunk_codec.segments_of(row)
        except IntegrityError:
            return None
        try:
            chunk_codec.verify_grams(row, self._prefix, self.algorithm)
        except IntegrityError:
            self._has_all_filters = False
            return row._replace(grams=None)
        return row

    def _fits(self, row: ChunkRow, before: Good | None) -> bool:
        """Whether a chunk is the one that the artifact has there, and goes on where the one before ends."""
        record, size = self.record, self.record.chunk_size
        if self.is_known and row.size != min(size, record.size - row.seq * size):
            return False
        if row.size > size or row.stdout_start + row.stderr_start != row.seq * size:
            return False
        if before is not None and before.row.seq + 1 == row.seq:
            return before.row.size == size and ends(before.row) == starts(row)
        return row.seq > 0 or starts(row) == (0, 0, 0, 0, 0)

    # --- what is stored -----------------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Whether all of it is there, and its row is right as it is."""
        record, hole = self.record, self.record.parsed_hole()
        wanted = record.chunks if hole is None else record.chunks - (hole.last_seq - hole.first_seq)
        is_there = sum(len(run.chunks) for run in self.runs) == wanted and self._is_tail_whole
        return self.is_known and is_there and self._has_all_filters

    @property
    def _is_tail_whole(self) -> bool:
        if not self.runs:
            return self.is_known and not self.record.chunks
        record, last = self.record, self.runs[-1].last
        totals = (record.stdout_size, record.stdout_lines, record.stderr_size, record.stderr_lines)
        return self.is_known and last.seq == record.chunks - 1 and ends(last)[1:] == totals

    @property
    def _kept(self) -> tuple[Run | None, Run | None]:
        """The run from the beginning, and the one behind the hole."""
        if not self.runs:
            return None, None
        head = self.runs[0] if self.runs[0].first.seq == 0 else None
        tail = self.runs[-1] if head is None or len(self.runs) > 1 else None
        return head, tail

    def row(self) -> ArtifactRow:
        """The row that says what is there."""
        if self.is_whole:
            return self.record
        head, tail = self._kept
        kept = [good for run in (head, tail) if run is not None for good in run.chunks]
        stored = sum(good.stored_size for good in kept)
        digests = new_digest(self.algorithm)
        for good in kept:
            digests.update(good.row.digest)
        missing = self.missing()
        record = self.record._replace(stored_size=stored, chunks_digest=digests.digest())
        if not missing and self.is_known:  # a gram filter alone was damaged
            return record.sealed(self.algorithm)
        last = kept[-1].row if kept else None
        hole = None if tail is None else _hole(head, tail)
        is_tail_whole = self._is_tail_whole
        record = record._replace(
            state="interrupted",
            reason=_reason(missing, known=self.is_known),
            newline="cr" if record.newline == "cr" else "lf",
            ended_us=record.ended_us or record.created_us + (0 if last is None else last.time_end),
            hole=None if hole is None else hole.to_json(),
            kept=sum(good.row.size for good in kept),
            content_digest=self._content_digest(hole, is_tail_whole=is_tail_whole),
        )
        if not is_tail_whole:
            record = _ending_with(record, last)
        if not self.is_known:
            record = record._replace(received=record.size)
        if hole is None or not is_tail_whole:
            record = record._replace(chars=self._chars if hole is None else min(self._chars, record.size))
        return record.sealed(self.algorithm)

    def _content_digest(self, hole: Hole | None, *, is_tail_whole: bool) -> bytes | None:
        if hole is None:
            return self._content.digest()
        return self.record.content_digest if is_tail_whole else None

    def chunks(self) -> Iterator[list[ChunkRow]]:
        """The chunks that the artifact keeps, some at a time."""
        for run in self._kept:
            if run is not None:
                yield from self.rows_of(run)

    def rows_of(self, run: Run) -> Iterator[list[ChunkRow]]:
        """The rows of a run, some at a time."""
        for at in range(0, len(run.chunks), _ROWS):
            rows = [self._read(good.place) for good in run.chunks[at : at + _ROWS]]
            if None in rows:
                raise IntegrityError("the damaged file changes while it is read; salvage a copy of it")
            yield [row for row in rows if row is not None]

    def parts(self) -> list[Part]:
        """The runs that become artifacts of their own."""
        return [
            Part(self.record, self.algorithm, run, self.rows_of)
            for run in self.runs
            if all(run is not each for each in self._kept)
        ]

    def missing(self) -> list[MissingRange]:
        """What is lost, in the order of its bytes; what ``roll`` had dropped before is not."""
        record, hole, size = self.record, self.record.parsed_hole(), self.record.chunk_size
        out: list[MissingRange] = []
        before: ChunkRow | None = None
        for run in self.runs:
            out += self._gap(before, run.first, hole, size)
            before = run.last
        end = record.chunks if self.is_known else (0 if before is None else before.seq + 1)
        first = 0 if before is None else before.seq + 1
        line = 1 if before is None else line_after(before)
        lines = record.view_lines(COMBINED)
        out += [
            infos.MissingRange(
                start=low * size, end=min(high * size, record.size), first_line=line, last_line=lines
            )
            for low, high in _without(hole, first, end)
        ]
        return out

    def _gap(
        self, before: ChunkRow | None, after: ChunkRow, hole: Hole | None, size: int
    ) -> list[MissingRange]:
        first, end = (0 if before is None else before.seq + 1), after.seq
        line = 1 if before is None else line_after(before)
        last = starts(after)[0] + (0 if after.line_flags & COMBINED.bit else 1)
        return [
            infos.MissingRange(start=low * size, end=high * size, first_line=line, last_line=max(line, last))
            for low, high in _without(hole, first, end)
        ]


def _without(hole: Hole | None, first: int, end: int) -> list[tuple[int, int]]:
    """Chunks from one to another, but those that were dropped before, which are not missing."""
    pieces = [(first, end)]
    if hole is not None and first <= hole.first_seq and hole.last_seq <= end:
        pieces = [(first, hole.first_seq), (hole.last_seq, end)]
    return [(low, high) for low, high in pieces if low < high]


def _hole(head: Run | None, tail: Run) -> Hole:
    """What lies between two runs, or before the only one."""
    first, after = (0 if head is None else head.last.seq + 1), tail.first
    before = (0, 0, 0, 0, 0) if head is None else ends(head.last)
    behind = starts(after)

    def span(view: View) -> HoleSpan:
        if view.stream is None:
            return HoleSpan(before[1] + before[3], behind[1] + behind[3], before[0], behind[0])
        at = 1 + 2 * view.stream
        return HoleSpan(before[at], behind[at], before[at + 1], behind[at + 1])

    begin = 0 if head is None else head.last.time_end
    spans = {name: span(view) for name, view in VIEWS.items()}
    return Hole(first, after.seq, begin, after.time_start, after.line_flags & ALL_BITS, spans)


def _ending_with(record: ArtifactRow, last: ChunkRow | None) -> ArtifactRow:
    """The row of an artifact that ends with that chunk."""
    at_end = (0, 0, 0, 0, 0) if last is None else ends(last)
    return record._replace(
        chunks=0 if last is None else last.seq + 1,
        size=at_end[1] + at_end[3],
        stdout_size=at_end[1],
        stdout_lines=at_end[2],
        stderr_size=at_end[3],
        stderr_lines=at_end[4],
        line_flags=ALL_BITS if last is None else last.line_flags >> END_SHIFT & ALL_BITS,
        chars=0,
    )


def _reason(missing: list[MissingRange], *, known: bool) -> str:
    lost = sum(each.end - each.start for each in missing)
    what = [] if known else ["its row is lost"]
    if lost:
        what.append(f"{lost} bytes in {len(missing)} ranges are missing")
    return f"{SALVAGED}: {'; '.join(what)}"


def made_up(artifact_id: str, key: int, newline: str, chunk_size: int) -> ArtifactRow:
    """A row for chunks whose artifact's row is lost: its id, its time of creation, and nothing that nobody knows."""
    created = int(artifact_id.split("_")[1]) * 1000
    return ArtifactRow(
        key, artifact_id, None, "unknown", None, None, "interrupted", "salvaged", "owner-0000000000000000.lock", newline,
        chunk_size, 2**40, "stop", created, None, None, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ALL_BITS, None, None, None, b"\0" * DIGEST_SIZE,
    )  # fmt: skip
