"""An artifact's sizes, lines, state and metadata, and what was dropped of it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore.model.clock import in_utc
from spillstore.model.records import VIEWS, loss, view_of

if TYPE_CHECKING:
    from datetime import datetime

    from spillstore.info.choices import Newline, State, Stream
    from spillstore.model.records import ArtifactRow, Hole, SessionRow, View


@dataclasses.dataclass(frozen=True, kw_only=True)
class HoleInfo:
    """What the ``roll`` policy has dropped, in the coordinates of one view.

    Attributes:
        start: first dropped byte.
        end: the byte after the last dropped one.
        first_line: first line of which at least a part is gone.
        last_line: last such line.
        torn: whether the hole ends inside that line, so that the rest of the line stands behind it.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    torn: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamInfo:
    """One view of an artifact: both streams as they came, or one of them.

    Attributes:
        size: bytes; positions count to here, so the hole is included.
        lines: its lines; a last line without an end counts.
        hole: what was dropped of it, in its own coordinates, or None.
    """

    size: int
    lines: int
    hole: HoleInfo | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArtifactInfo:
    """All that is known of an artifact without reading it.

    Attributes:
        id: ``art_{unix ms}_{random}``.
        session: the session it belongs to.
        project: that session's project, or None.
        source: the tool that printed it.
        tool_call_id: the call it answers, or None.
        command: the command or arguments, or None.
        content_type: a media type, or None.
        state: ``open`` while its owner lives, ``sealed``, or ``interrupted``.
        reason: why it was interrupted, or None.
        newline: what ends a line: ``lf``, ``cr``, or ``auto`` while undecided.
        size: bytes of the sequence; positions count to here. The hole is included.
        kept: bytes present.
        received: bytes handed to ``write``, before redaction and before any limit.
        stored_size: bytes that its compressed chunks take.
        lines: lines of the combined view; a last line without an end counts.
        chars: code points (bytes that do not continue a UTF-8 sequence).
        stdout: size, lines and hole of that stream.
        stderr: likewise.
        digest: ``blake3:...`` or ``sha256:...`` over every byte of the sequence; None until it has ended.
        chunks_digest: over the digests of the chunks present; None until it has ended.
        exit_code: of the command, or None.
        created: seconds since 1970-01-01 UTC.
        ended: likewise; None while open.
        limit: raw bytes that it may keep.
        policy: what happens there.
        hole: what was dropped, in the combined view, or None.
        chunks: number of chunks so far.
        chunk_size: raw bytes of each chunk but the last.
    """

    id: str
    session: str
    project: str | None
    source: str
    tool_call_id: str | None
    command: str | None
    content_type: str | None
    state: State
    reason: str | None
    newline: Newline
    size: int
    kept: int
    received: int
    stored_size: int
    lines: int
    chars: int
    stdout: StreamInfo
    stderr: StreamInfo
    digest: str | None
    chunks_digest: str | None
    exit_code: int | None
    created: float
    ended: float | None
    limit: int
    policy: str
    hole: HoleInfo | None
    chunks: int
    chunk_size: int

    def view(self, stream: Stream = "combined") -> StreamInfo:
        """Size, lines and hole of one view. Cost: none.

        Args:
            stream: ``combined``, ``stdout`` or ``stderr``, as for what reads.

        Raises:
            RangeError: there is no such stream.
        """
        combined = StreamInfo(size=self.size, lines=self.lines, hole=self.hole)
        return {"combined": combined, "stdout": self.stdout, "stderr": self.stderr}[view_of(stream).name]

    @property
    def terminator(self) -> bytes:
        """The byte that ends a line: CR where ``newline`` is ``cr``, else LF."""
        return b"\r" if self.newline == "cr" else b"\n"

    @property
    def loss(self) -> str:
        """What has happened to the bytes of its hole: they were ``dropped at the artifact's limit``, or ``damaged before it was salvaged``."""
        return loss(self.reason)

    @property
    def created_at(self) -> datetime:
        """``created`` as a time in UTC."""
        return in_utc(self.created)

    @property
    def ended_at(self) -> datetime | None:
        """``ended`` as a time in UTC; None while open."""
        return None if self.ended is None else in_utc(self.ended)

    @property
    def duration(self) -> float | None:
        """Seconds from its creation to its end; None while open."""
        return None if self.ended is None else self.ended - self.created


def artifact_info(session: SessionRow, row: ArtifactRow) -> ArtifactInfo:
    """The public form of a verified row."""
    algorithm = session.digest_algorithm
    hole = row.parsed_hole()
    combined, stdout, stderr = (
        StreamInfo(size=row.view_size(view), lines=row.view_lines(view), hole=_hole_of(hole, view))
        for view in VIEWS.values()
    )
    content, chunks = (
        None if digest is None else f"{algorithm.public_name}:{digest.hex()}"
        for digest in (row.content_digest, row.chunks_digest)
    )
    return ArtifactInfo(
        id=row.artifact_id,
        session=session.session_id,
        project=session.project_id,
        source=row.source,
        tool_call_id=row.tool_call_id,
        command=row.command,
        content_type=row.content_type,
        state=row.state,  # type: ignore[arg-type]  # the row was verified, so it is one of the three
        reason=row.reason,
        newline=row.newline,  # type: ignore[arg-type]  # likewise
        size=row.size,
        kept=row.kept,
        received=row.received,
        stored_size=row.stored_size,
        lines=combined.lines,
        chars=row.chars,
        stdout=stdout,
        stderr=stderr,
        digest=content,
        chunks_digest=chunks,
        exit_code=row.exit_code,
        created=row.created_us / 1e6,
        ended=None if row.ended_us is None else row.ended_us / 1e6,
        limit=row.size_limit,
        policy=row.policy,
        hole=combined.hole,
        chunks=row.chunks,
        chunk_size=row.chunk_size,
    )


def _hole_of(hole: Hole | None, view: View) -> HoleInfo | None:
    """What a view has lost; None if that is nothing."""
    if hole is None or (span := hole.span(view)).start == span.end:
        return None
    first, last = hole.lines(view)
    return HoleInfo(
        start=span.start, end=span.end, first_line=first, last_line=last, torn=not hole.flags & view.bit
    )
