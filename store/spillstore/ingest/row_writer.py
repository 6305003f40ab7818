"""Writes rows of artifacts and chunks inside a transaction: batches, and the end of an artifact.

Nothing here takes a lock, or begins or ends a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore.exceptions import IntegrityError, SessionQuotaError, SpillstoreError
from spillstore.format.digests import new_digest
from spillstore.format.rollback_guard import changed_sum
from spillstore.ingest.quotas import refuse_quota
from spillstore.ingest.renumber import renumber
from spillstore.ingest.roll import roll
from spillstore.model.records import ArtifactRow, SessionRow

if TYPE_CHECKING:
    from spillstore.engine.rows import Transaction
    from spillstore.format.chunk import Totals
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.format.digests import Hash
    from spillstore.ingest.event_writer import EventWriter
    from spillstore.ingest.pipeline import Batch, Ending, Pipeline
    from spillstore.settings import Settings


class Stored(NamedTuple):
    """The row of an artifact that is being written, as it is committed.

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


class RowWriter:
    """Writes rows of one session, and the events of what it writes."""

    def __init__(self, session: SessionRow, settings: Settings, events: EventWriter) -> None:
        self.session = session
        self.events = events
        self._settings = settings

    def update(self, tx: Transaction, row: ArtifactRow) -> ArtifactRow:
        """Store an artifact's row with its digest."""
        row = self._sealed(tx, row)
        tx.update_artifact(row)
        return row

    def insert(self, tx: Transaction, row: ArtifactRow) -> ArtifactRow:
        """Store the row of a new artifact with its digest."""
        row = self._sealed(tx, row)
        tx.insert_artifact(row)
        return row

    def _sealed(self, tx: Transaction, row: ArtifactRow) -> ArtifactRow:
        row = row.sealed(self.session.digest_algorithm)
        self._sum_up(tx, row.artifact_key, row.digest)
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
        row = self.update(tx, row._replace(state="interrupted", reason=reason, ended_us=self.events.now_us()))
        self.events.record(
            tx,
            "interrupt",
            row.artifact_id,
            {"reason": reason},
            row.tool_call_id,
            actor,
            also=_sizes(row),
        )
        return row

    def store(self, tx: Transaction, pipeline: Pipeline, batches: list[Batch]) -> Stored:
        """Write one artifact's batches inside the transaction; the pipeline learns of it when that is committed."""
        row, partial_size = pipeline.row, pipeline.partial_size
        chunk_digests = pipeline.chunk_digests
        filled = [batch for batch in batches if batch.rows]
        rows = _final_rows(filled)
        try:
            refuse_quota(
                tx, self._settings, self.session.session_id, sum(chunk.stored_size for chunk in rows)
            )
        except SessionQuotaError as error:
            self.events.limit(
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
                self.events.limit(tx, row, "artifact_limit", row.size, row.size_limit, pipeline.actor)
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
            row, stored_size, rows = roll(
                tx, row._replace(stored_size=stored_size), rows, self.session.digest_algorithm
            )
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
        counted_anew = newline == "cr" and row.newline == "auto" and row.chunks > 0
        if counted_anew and row.hole is not None:
            newline, counted_anew = (
                "lf",
                False,
            )  # nobody knows any more how many CRs the dropped middle held
        if counted_anew:
            row = renumber(tx, row, self.session.digest_algorithm)
        if counted_anew or row.hole is not None:  # chunks went or changed since their digests were taken
            chunks_digest = self.chunks_digest(tx, row)
        kind = "seal" if ending.state == "sealed" else "interrupt"
        detail: dict[str, object] = {"size": row.size, "received": row.received}
        if ending.reason is not None:
            detail["reason"] = ending.reason
        if row.policy == "stop" and row.received > row.size_limit:
            self.events.limit(tx, row, "artifact_limit", row.received, row.size_limit, actor)
        if ending.redactions:
            redacted: dict[str, object] = {"tool": row.source, "counts": ending.redactions}
            secrets = {"secrets": sum(ending.redactions.values())}
            self.events.record(
                tx, "redaction", row.artifact_id, redacted, row.tool_call_id, actor, also=secrets
            )
        self.events.record(tx, kind, row.artifact_id, detail, row.tool_call_id, actor, also=_sizes(row))
        return row._replace(
            state=ending.state,
            reason=ending.reason,
            newline=newline,
            ended_us=max(self.events.now_us(), row.created_us),
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


def _sizes(row: ArtifactRow) -> dict[str, object]:
    """The fields that observers receive besides the event's detail when an artifact ends."""
    return {
        "tool": row.source,
        "size": row.size,
        "received": row.received,
        "stored_size": row.stored_size,
    }


def _final_rows(batches: list[Batch]) -> list[ChunkRow]:
    """The rows of consecutive batches without unfinished chunks that a later batch has grown."""
    rows: list[ChunkRow] = []
    for batch in batches:
        if batch.rows and rows and rows[-1].seq == batch.rows[0].seq:
            rows.pop()
        rows.extend(batch.rows)
    return rows
