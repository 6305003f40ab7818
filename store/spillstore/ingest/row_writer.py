"""What is written inside a transaction: batches, the end of an artifact, its hole, events, limits.

Nothing here takes a lock, begins or ends a transaction, or knows of threads; the engine does. Each method works on the
rows of a session, inside a transaction that the caller holds. Who observes is told of an event when that is committed.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, NamedTuple

from spillstore.audit.audit_log import ROTATED_AT_ONCE, ROTATED_EVERY, detail_text, who
from spillstore.engine.base import NewEvent
from spillstore.events.catalogue import RENDERED
from spillstore.exceptions import (
    IntegrityError,
    RateLimitError,
    SessionQuotaError,
    SpillstoreError,
)
from spillstore.format import chunk_codec
from spillstore.format.chunk import ALL_BITS
from spillstore.format.chunker import Chunker
from spillstore.format.digests import new_digest
from spillstore.format.rollback_guard import changed_sum
from spillstore.model.arguments import storable
from spillstore.model.records import COMBINED, VIEWS, ArtifactRow, Hole, HoleSpan, SessionRow, View
from spillstore.read.sequence import Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spillstore.audit.audit_log import Audit, Entry
    from spillstore.engine.base import Transaction
    from spillstore.format.chunk import Totals
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Hash
    from spillstore.ingest.pipeline import Batch, Ending, Pipeline
    from spillstore.model.clock import Clock
    from spillstore.settings import Settings

_RENUMBER_CHUNKS = 64
_MINUTE_US = 60_000_000


class Stored(NamedTuple):
    """What the database holds of an artifact that is being written.

    Attributes:
        row: the artifact's.
        partial_size: stored bytes of its unfinished last chunk; None if there is none.
        chunk_digests: over the digests of its finished chunks.
        error: what kept it from being stored.
    """

    row: ArtifactRow
    partial_size: int | None
    chunk_digests: Hash
    error: SpillstoreError | None


class Recorder:
    """Writes rows of one session."""

    def __init__(self, session: SessionRow, settings: Settings, clock: Clock, audit: Audit) -> None:
        self.session = session
        self._settings = settings
        self._clock = clock
        self._audit = audit
        self._written = ROTATED_EVERY  # events since the oldest were looked at
        self._told: list[tuple[str, str | None, Mapping[str, object]]] = []  # of the transaction that goes on

    @contextlib.contextmanager
    def emitting(self) -> Iterator[None]:
        """Around a transaction: what is recorded in it is told when it has been committed."""
        try:
            yield
        except BaseException:
            self._told.clear()
            raise
        self.emit_recorded()

    def emit_recorded(self) -> None:
        """Tell what was recorded and is committed now."""
        told, self._told = self._told, []
        for kind, artifact_id, detail in told:
            self.emit(kind, artifact_id, detail)

    def emit(self, kind: str, artifact_id: str | None, detail: Mapping[str, object]) -> None:
        """Tell who observes of something that no event records."""
        self._audit.emit(kind, detail, artifact_id=artifact_id)

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        return int(self._clock.time() * 1e6)

    def update(self, tx: Transaction, row: ArtifactRow) -> ArtifactRow:
        """Store an artifact's row with its digest."""
        row = row.sealed(self.session.digest_algorithm)
        self._sum_up(tx, row.artifact_key, row.digest)
        tx.update_artifact(row)
        return row

    def insert(self, tx: Transaction, row: ArtifactRow) -> ArtifactRow:
        """Store the row of a new artifact with its digest."""
        row = row.sealed(self.session.digest_algorithm)
        self._sum_up(tx, row.artifact_key, row.digest)
        tx.insert_artifact(row)
        return row

    def remove(self, tx: Transaction, row: ArtifactRow) -> None:
        """Forget an artifact whose chunks are gone."""
        self._sum_up(tx, row.artifact_key, None)
        tx.remove_artifact(row.artifact_key)

    def _sum_up(self, tx: Transaction, artifact_key: int, new: bytes | None) -> None:
        """Bring the session's sum over its artifacts up to date, before a row changes; only with a digest key."""
        algorithm = self.session.digest_algorithm
        if algorithm.key is None:
            return
        before = tx.artifact_digest(artifact_key)
        row = tx.session_row()
        if row is None:
            raise IntegrityError("the session's row is missing")
        session = SessionRow(*row)._replace(digest_algorithm=algorithm)
        if session.computed_digest() != session.digest:
            raise IntegrityError("the session's row is damaged: its digest does not match")
        total = changed_sum(algorithm, session.artifacts_sum, before, new)
        tx.update_session(session._replace(artifacts_sum=total).sealed())

    def interrupt(
        self, tx: Transaction, row: ArtifactRow, reason: str, actor: str | None = None
    ) -> ArtifactRow:
        """Mark an artifact as interrupted."""
        row = self.update(tx, row._replace(state="interrupted", reason=reason, ended_us=self.now_us()))
        self.event(
            tx,
            "interrupt",
            row.artifact_id,
            {"reason": reason},
            row.tool_call_id,
            actor,
            told=_sizes(row),
        )
        return row

    def store(self, tx: Transaction, pipeline: Pipeline, batches: list[Batch]) -> Stored:
        """Write one artifact's batches inside the transaction; the pipeline learns of it when that is committed."""
        row, partial_size = pipeline.row, pipeline.partial_size
        chunk_digests = pipeline.chunk_digests
        filled = [batch for batch in batches if batch.rows]
        rows = _final_rows(filled)
        try:
            self.refuse_quota(tx, sum(chunk.stored_size for chunk in rows))
        except SessionQuotaError as error:
            self.limit(
                tx,
                row,
                "session_quota",
                row.kept + sum(chunk.size for chunk in rows),
                self._settings.session_quota,
                pipeline.actor,
            )
            row = self.interrupt(tx, row, str(error), pipeline.actor)
            return Stored(row, partial_size, chunk_digests, error)
        if rows:
            whole = row.hole is None
            row = self._insert(tx, row, rows, filled[-1].totals, partial_size)
            if whole and row.hole is not None:
                self.limit(tx, row, "artifact_limit", row.size, row.size_limit, pipeline.actor)
            partial_size = rows[-1].stored_size if filled[-1].partial else None
            chunk_digests = chunk_digests.copy()  # the transaction may come to nothing
            for chunk in rows[:-1] if filled[-1].partial else rows:
                chunk_digests.update(chunk.digest)
        row = row._replace(received=batches[-1].received)
        if (ending := batches[-1].ending) is not None:
            row = self._end(tx, row, ending, chunk_digests.digest(), pipeline.actor)
        if row != pipeline.row:
            row = self.update(tx, row)
        return Stored(row, partial_size, chunk_digests, None)

    def _insert(
        self,
        tx: Transaction,
        row: ArtifactRow,
        rows: list[ChunkRow],
        totals: Totals,
        partial_size: int | None,
    ) -> ArtifactRow:
        """Insert chunks, in place of the unfinished one if there is one; returns the artifact's new counters."""
        stored_size = row.stored_size
        if partial_size is not None:
            tx.drop_chunks(row.artifact_key, rows[0].seq, rows[0].seq + 1)
            stored_size -= partial_size
        kept = totals.size - (row.size - row.kept)
        row = row._replace(
            chunks=rows[-1].seq + 1,
            size=totals.size,
            kept=kept,
            stdout_size=totals.stdout_size,
            stdout_lines=totals.stdout_lines,
            stderr_size=totals.stderr_size,
            stderr_lines=totals.stderr_lines,
            chars=totals.chars,
            line_flags=totals.line_flags,
        )
        if row.policy == "roll" and kept > row.size_limit:
            row, stored_size, rows = self._roll(tx, row._replace(stored_size=stored_size), rows)
        tx.insert_chunks(row.artifact_key, rows)
        return row._replace(stored_size=stored_size + sum(chunk.stored_size for chunk in rows))

    def _end(
        self,
        tx: Transaction,
        row: ArtifactRow,
        ending: Ending,
        chunks_digest: bytes,
        actor: str | None,
    ) -> ArtifactRow:
        """The row of an artifact that ends now; may renumber its lines."""
        newline = ending.newline
        renumber = newline == "cr" and row.newline == "auto" and row.chunks > 0
        if renumber and row.hole is not None:
            newline, renumber = "lf", False  # nobody can tell any more how many CRs the dropped middle held
        if renumber:
            row = self._renumber(tx, row)
        if renumber or row.hole is not None:  # chunks went or changed since their digests were taken
            chunks_digest = self.chunks_digest(tx, row)
        kind = "seal" if ending.state == "sealed" else "interrupt"
        detail: dict[str, object] = {"size": row.size, "received": row.received}
        if ending.reason is not None:
            detail["reason"] = ending.reason
        if row.policy == "stop" and row.received > row.size_limit:
            self.limit(tx, row, "artifact_limit", row.received, row.size_limit, actor)
        if ending.redactions:
            redacted: dict[str, object] = {"tool": row.source, "counts": ending.redactions}
            secrets = {"secrets": sum(ending.redactions.values())}
            self.event(tx, "redaction", row.artifact_id, redacted, row.tool_call_id, actor, told=secrets)
        self.event(tx, kind, row.artifact_id, detail, row.tool_call_id, actor, told=_sizes(row))
        return row._replace(
            state=ending.state,
            reason=ending.reason,
            newline=newline,
            ended_us=max(self.now_us(), row.created_us),
            exit_code=ending.exit_code,
            content_digest=ending.content_digest,
            chunks_digest=chunks_digest,
        )

    def chunks_digest(self, tx: Transaction, row: ArtifactRow) -> bytes:
        """The digest over the digests of all chunks present, in order."""
        total = new_digest(self.session.digest_algorithm)
        hole = row.parsed_hole()
        dropped = range(0) if hole is None else range(hole.first_seq, hole.last_seq)
        present = (seq for seq in range(row.chunks) if seq not in dropped)
        for seq, digest in tx.chunk_digests(row.artifact_key):
            if (expected := next(present, None)) != seq:
                raise IntegrityError(
                    f"chunk {expected} of {row.artifact_id} is missing, and chunk {seq} stands there"
                )
            total.update(digest)
        if (expected := next(present, None)) is not None:
            raise IntegrityError(f"chunk {expected} of {row.artifact_id} is missing")
        return total.digest()

    def _roll(
        self, tx: Transaction, row: ArtifactRow, rows: list[ChunkRow]
    ) -> tuple[ArtifactRow, int, list[ChunkRow]]:
        """Drop whole chunks between the head and the tail until the artifact is within its limit.

        Args:
            tx: the transaction.
            row: the artifact with its new counters.
            rows: chunks that are about to be inserted; what falls into the hole at once never reaches the disk.

        Returns:
            The row, the stored bytes left in the database, and the chunks that remain to be inserted.
        """
        fresh = {chunk.seq: chunk for chunk in rows}
        hole = row.parsed_hole()
        first = hole.first_seq if hole else row.size_limit // 4 // row.chunk_size
        start = hole.last_seq if hole else first
        last = (
            start - (row.size_limit - row.kept) // row.chunk_size
        )  # that is, start + ceil(excess / chunk_size)
        begin = None if hole else fresh.get(first) or self._chunk(tx, row, first)
        newest = fresh.get(last - 1) or self._chunk(tx, row, last - 1)
        after = fresh.get(last) or self._chunk(tx, row, last)
        grown = _hole(row, hole, (first, last), begin, newest, after)
        stored = tx.stored_size(row.artifact_key, start, last)
        tx.drop_chunks(row.artifact_key, start, last)
        kept = row.kept - (last - start) * row.chunk_size
        remaining = [chunk for chunk in rows if not first <= chunk.seq < last]
        return row._replace(kept=kept, hole=grown.to_json()), row.stored_size - stored, remaining

    def _chunk(self, tx: Transaction, row: ArtifactRow, seq: int) -> ChunkRow:
        """One chunk's row that must be there."""
        (found,) = self._chunks(tx, row, seq, seq + 1)
        return found

    def _chunks(self, tx: Transaction, row: ArtifactRow, first: int, end: int) -> list[ChunkRow]:
        """The chunks ``[first, end)`` that are stored, none of them in the hole."""
        sequence = Sequence(tx, row, self.session.digest_algorithm)
        size = row.chunk_size
        return list(sequence.walk(COMBINED, first * size, min(end * size, row.size)))

    def _renumber(self, tx: Transaction, row: ArtifactRow) -> ArtifactRow:
        """Count CRs as line ends: chunk the stored bytes once more with the same borders, a few at a time."""
        algorithm = self.session.digest_algorithm
        chunker = Chunker(row.chunk_size, b"\r", new_digest(algorithm))
        stored = 0
        for first in range(0, row.chunks, _RENUMBER_CHUNKS):
            old = self._chunks(tx, row, first, first + _RENUMBER_CHUNKS)
            for chunk in old:
                raw, start = chunk_codec.decode(chunk), 0
                for segment in chunk_codec.segments_of(chunk):
                    chunker.add(segment.stream, [raw[start : start + segment.length]], segment.time)
                    start += segment.length
            chunks = chunker.take()
            if old[-1].seq == row.chunks - 1 and (last := chunker.partial()) is not None:
                chunks.append(last)
            rows = chunk_codec.encode(chunks, chunk_codec.prefix(row.artifact_id, "cr"), algorithm)
            tx.drop_chunks(row.artifact_key, first, first + _RENUMBER_CHUNKS)
            tx.insert_chunks(row.artifact_key, rows)
            stored += sum(chunk.stored_size for chunk in rows)
            totals = chunks[-1].after()
        return row._replace(
            stdout_lines=totals.stdout_lines,
            stderr_lines=totals.stderr_lines,
            line_flags=totals.line_flags,
            stored_size=stored,
        )

    def event(
        self,
        tx: Transaction,
        kind: str,
        artifact_id: str | None,
        detail: dict[str, object],
        tool_call_id: str | None = None,
        actor: str | None = None,
        *,
        told: Mapping[str, object] | None = None,
    ) -> None:
        """Write an event at once; who does it is told by the context, unless it is said.

        Args:
            tx: the transaction.
            kind: of the event.
            artifact_id: that it happened to.
            detail: what is recorded.
            tool_call_id: that it belongs to.
            actor: who did it.
            told: what else is told who observes.
        """
        self._told.append((kind, artifact_id, detail if told is None else {**detail, **told}))
        if self._audit.wants(kind):
            self.record(tx, kind, artifact_id, detail, tool_call_id, actor)

    def write_event(
        self,
        tx: Transaction,
        kind: str,
        artifact_id: str | None,
        detail: Mapping[str, object],
        tool_call_id: str | None = None,
        actor: str | None = None,
    ) -> None:
        """``event``, whatever the setting says."""
        if kind != RENDERED:
            self._told.append((kind, artifact_id, detail))
        self.record(tx, kind, artifact_id, detail, tool_call_id, actor)

    def record(
        self,
        tx: Transaction,
        kind: str,
        artifact_id: str | None,
        detail: Mapping[str, object],
        tool_call_id: str | None = None,
        actor: str | None = None,
    ) -> None:
        """``write_event``, and nobody is told."""
        acting, call = who()
        event = NewEvent(
            self.now_us(),
            kind,
            artifact_id,
            storable(actor or acting),
            storable(tool_call_id or call),
            json.dumps(detail),
            _shown(kind, detail),
        )
        tx.append_events([event])
        self._written += 1

    def events(self, tx: Transaction, entries: list[Entry]) -> None:
        """Write what the audit has taken, and let go of the oldest from time to time."""
        if entries:
            tx.append_events(
                [
                    NewEvent(
                        at,
                        kind,
                        name,
                        storable(actor),
                        storable(call),
                        detail_text(detail),
                        _shown(kind, detail),
                    )
                    for at, kind, name, actor, call, detail in entries
                ]
            )
        self._written += len(entries)
        if self._written >= min(ROTATED_EVERY, max(1, self._settings.audit_events // 10)):
            self._rotate(tx)

    def _rotate(self, tx: Transaction) -> None:
        """Delete the oldest events, a few at once, so that no transaction is long."""
        gone = tx.drop_events_through(tx.newest_event() - self._settings.audit_events, ROTATED_AT_ONCE)
        if self._settings.audit_age:
            before = self.now_us() - int(self._settings.audit_age * 1e6)
            gone = max(gone, tx.drop_events_before(before, ROTATED_AT_ONCE))
        if gone < ROTATED_AT_ONCE:  # else there may be more
            self._written = 0

    def limit(
        self,
        tx: Transaction,
        row: ArtifactRow,
        name: str,
        size: int,
        most: int,
        actor: str | None,
    ) -> None:
        """Write that an artifact has met a limit."""
        detail: dict[str, object] = {"limit": name, "tool": row.source, "size": size, "most": most}
        self.event(tx, "limit", row.artifact_id, detail, row.tool_call_id, actor)

    def refuse_rate(self, tx: Transaction) -> None:
        """Raise RateLimitError where too many artifacts were begun within a minute."""
        limit = self._settings.artifacts_per_minute
        if not limit:
            return
        now = self.now_us()
        # What was made while the clock was ahead is not of this minute.
        count = tx.artifacts_created(now - _MINUTE_US, now)
        if count >= limit:
            raise RateLimitError(
                f"{count} artifacts were created within a minute and {limit} are allowed; wait, or raise SPILLSTORE_ARTIFACTS_PER_MINUTE"
            )

    def refuse_quota(self, tx: Transaction, new_bytes: int) -> None:
        """Counted inside the transaction, in pages really taken, so writers in other processes count too."""
        used = tx.used()
        if used + new_bytes > self._settings.session_quota:
            evicting = self._settings.session_policy == "evict"
            way_out = "nothing is left to evict; " if evicting else "set SPILLSTORE_SESSION_POLICY=evict, "
            raise SessionQuotaError(
                f"session {self.session.session_id!r} takes {used} bytes, may take {self._settings.session_quota}, and {new_bytes} more "
                f"are wanted; {way_out}delete artifacts with `spillstore rm`, or raise SPILLSTORE_SESSION_QUOTA"
            )


def _sizes(row: ArtifactRow) -> dict[str, object]:
    """What is told of an artifact that ends, whatever its event says."""
    return {
        "tool": row.source,
        "size": row.size,
        "received": row.received,
        "stored_size": row.stored_size,
    }


def _shown(kind: str, detail: Mapping[str, object]) -> bytes | None:
    """The digest over what a read has shown."""
    digest = detail.get("digest") if kind == "read" else None
    try:
        return bytes.fromhex(digest) if isinstance(digest, str) else None
    except ValueError:  # somebody else's word
        return None


def _final_rows(batches: list[Batch]) -> list[ChunkRow]:
    """The rows of consecutive batches without unfinished chunks that a later batch has grown."""
    rows: list[ChunkRow] = []
    for batch in batches:
        if batch.rows and rows and rows[-1].seq == batch.rows[0].seq:
            rows.pop()
        rows.extend(batch.rows)
    return rows


def _hole(
    row: ArtifactRow,
    hole: Hole | None,
    seqs: tuple[int, int],
    begin: ChunkRow | None,
    newest: ChunkRow,
    after: ChunkRow,
) -> Hole:
    """The hole over the chunks ``[first, last)``, in the coordinates of every view.

    ``begin`` is the first dropped chunk, if there was no ``hole`` before; ``newest`` the last one; ``after`` the first
    of the tail.
    """
    spans: dict[str, HoleSpan] = {}
    for view in VIEWS.values():
        end, ends_after = _counters_before(after, view, row.chunk_size)
        if begin is not None:
            start, ends_before = _counters_before(begin, view, row.chunk_size)
        else:
            assert hole is not None, "without a hole there is a first dropped chunk"
            start, ends_before = hole.span(view).start, hole.span(view).line_ends_before
        spans[view.name] = HoleSpan(start, end, ends_before, ends_after)
    return Hole(
        first_seq=seqs[0],
        last_seq=seqs[1],
        time_start=begin.time_start if begin is not None else hole.time_start if hole is not None else 0,
        time_end=newest.time_end,
        flags=after.line_flags & ALL_BITS,
        spans=spans,
    )


def _counters_before(chunk: ChunkRow, view: View, chunk_size: int) -> tuple[int, int]:
    """Bytes and line ends of a view before a chunk."""
    if view.stream is None:
        return chunk.seq * chunk_size, chunk.line_start
    return (
        (chunk.stdout_start, chunk.stdout_line_start),
        (chunk.stderr_start, chunk.stderr_line_start),
    )[view.stream]
