"""The stored format: the tables that hold sessions, as SQLAlchemy Core tables. A file has one session; a server has all.

A column of ``session``, ``artifact`` or ``chunk`` is declared once, as a field of its row class (``model.records``,
``format.chunk_codec``), with its type; the tables, all statements and the checks of a row's types follow from that. What it means
stands here, and a test compares the two. Besides, it is in the frozen revision that made it, which a test compares, too.

Every key begins with ``session_key``, so that a server database can be partitioned by session; in a file it is always 1,
which SQLite stores in no bytes at all.

``session`` (one row)
    ==================  =======  =================================================================================
    column              type     meaning and invariant
    ==================  =======  =================================================================================
    session_key         int      1 in a file; on a server, made from the ids with the store's ``name_key``
    session_id          text     as the caller gave it
    project_id          text     likewise; NULL for no project
    uid                 text     128 random bits, hex: tells this session from a later one at the same path
    created_us          int      microseconds since 1970-01-01 UTC
    ended_us            int      when ``end()`` was called; NULL before
    deleted_us          int      the tombstone: once set, every write transaction refuses
    next_artifact_key   int      never reused, so that a stale reader finds nothing instead of another's chunks
    digest_algorithm    text     ``blake3`` or ``sha256``, of every digest in the file; ``blake3-keyed:CHECK`` and
                                 ``sha256-keyed:CHECK`` with a key outside it, of which CHECK is 16 hex digits
    artifacts_sum       blob     with a key: proves that no artifact's row was put back (``format.rollback_guard``); else NULL
    digest              blob     over all columns but ``session_key``, ``next_artifact_key`` and itself
    ==================  =======  =================================================================================

``artifact``
    ==================  =======  =================================================================================
    artifact_key        int      internal; appears in no digest
    artifact_id         text     ``art_{unix ms}_{16 hex digits}``, unique in the session
    tool_call_id        text     the caller's; may be NULL
    source              text     the tool's name
    command             text     the command or arguments it ran, or NULL
    content_type        text     a media type, or NULL
    state               text     ``open``, ``sealed``, ``interrupted``; ``deleted`` while its chunks are being freed
    reason              text     why it was interrupted, or NULL
    owner               text     the lock file ``owner-*.lock`` that lives as long as the writing process
    newline             text     ``auto`` (undecided, open only), ``lf`` or ``cr``: what ends a line
    chunk_size          int      raw bytes of every chunk but the last
    size_limit          int      bytes that may be kept
    policy              text     ``roll``, ``stop`` or ``reject`` at that limit
    created_us          int      when it began, wall clock; segment times count from here
    ended_us            int      when it was sealed or interrupted
    exit_code           int      of the command, or NULL
    chunks              int      chunks ever cut, so also the next ``seq``
    received            int      bytes handed to ``write``, before redaction
    size                int      positions in the sequence: kept bytes and the hole
    kept                int      bytes present: ``size`` minus the hole
    stored_size         int      bytes of compressed data, maps and gram filters present
    stdout_size         int      bytes of stdout in the sequence
    stdout_lines        int      line ends of stdout in it
    stderr_size         int      bytes of stderr in it
    stderr_lines        int      line ends of stderr in it
    chars               int      bytes that do not continue a UTF-8 sequence
    line_flags          int      bits 1, 2, 4: combined, stdout, stderr end at the start of a line
    hole                text     NULL, or JSON: ``{"seq": [a, b], "time": [a, b], "flags": n, VIEW: {"bytes": [a, b],
                                 "lines": [a, b]}}``; lines are line ends before the hole and before its end,
                                 flags as in ``line_flags`` for the hole's end
    content_digest      blob     over all bytes of the sequence in order (those of the hole included); at seal
    chunks_digest       blob     over the digests of the chunks present, in order; at seal
    digest              blob     over all columns from ``artifact_id`` on, but itself
    ==================  =======  =================================================================================

``chunk``
    ==================  =======  =================================================================================
    seq                 int      0, 1, 2, ...; ``byte_start = seq * chunk_size``
    size                int      raw bytes; ``chunk_size`` for all but the last
    line_start          int      line ends of the combined view before this chunk
    stdout_start        int      stdout bytes before this chunk; ``byte_start - stdout_start`` are stderr's
    stdout_size         int      stdout bytes in this chunk
    stdout_line_start   int      stdout line ends before this chunk
    stdout_lines        int      stdout line ends in it
    stderr_start        int      stderr bytes before this chunk
    stderr_size         int      stderr bytes in this chunk
    stderr_line_start   int      stderr line ends before this chunk
    stderr_lines        int      stderr line ends in it
    time_start          int      time of the first segment, microseconds since the artifact began; never decreases
    time_end            int      time of the last segment
    line_flags          int      bits 1, 2, 4 as above where the chunk begins; bits 8, 16, 32 where it ends
    digest              blob     over the header below, then ``segments``, then ``data``
    segments            blob     the segment map (``format.segment_map``); empty for one single segment
    data                blob     the raw bytes as one zstd frame
    grams               blob     the gram filter (``format.grams``), which has a digest of its own; NULL for none: the first chunks
                                 and the last one, lines that end in CR, a chunk that takes little, a file that was upgraded
    ==================  =======  =================================================================================

The header that a chunk's digest begins with: the artifact id's length as one byte and the id (with a CR behind it, which
counts, where lines end in CR), then, each as 8 bytes little endian, ``seq`` to ``line_flags`` in the order above and the
lengths of ``segments`` and ``data``.

``event`` (the audit log)
    ==================  =======  =================================================================================
    event_key           int      counts up
    at_us               int      wall clock
    kind                text     one of ``events.catalogue``, or what a tool calls it
    artifact_id         text     the artifact that it happened to, or NULL
    actor               text     who did it, or NULL
    tool_call_id        text     the tool call that it belongs to, or NULL
    detail              text     JSON without content, except of the kind ``rendered``: the text of a preview that shows
                                 what its artifact has dropped since
    shown               blob     the digest over what a read has shown, where that may come back as the output of a command
    ==================  =======  =================================================================================

Events that have ``shown``, or are of the kind ``rendered``, are kept as long as their session; of the others the oldest go.
"""

from __future__ import annotations

from typing import get_args, get_type_hints

import sqlalchemy as sa

from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import ArtifactRow, SessionRow

metadata = sa.MetaData()


def _columns(row: type[tuple[object, ...]]) -> list[sa.Column[object]]:
    """The columns of a table, from the fields of its row class."""
    return [_column(name, hint) for name, hint in get_type_hints(row).items()]


def _column(name: str, hint: object) -> sa.Column[object]:
    kind, *null = get_args(hint) or (hint,)  # of ``int | None``, both
    (column,) = (each for type_, each in _TYPES.items() if issubclass(kind, type_))
    return sa.Column(name, column, nullable=bool(null))


_TYPES = {int: sa.BigInteger, str: sa.Text, bytes: sa.LargeBinary}

session = sa.Table(
    "session",
    metadata,
    sa.Column("session_key", sa.BigInteger, primary_key=True, autoincrement=False),
    *_columns(SessionRow),
)

artifact = sa.Table(
    "artifact",
    metadata,
    sa.Column("session_key", sa.BigInteger, nullable=False),
    *_columns(ArtifactRow),
    sa.PrimaryKeyConstraint("session_key", "artifact_key", name="pk_artifact"),
    sa.Index("ix_artifact_id", "session_key", "artifact_id", unique=True),
    sa.Index(
        "ix_artifact_content",
        "session_key",
        "content_digest",
        sqlite_where=sa.text("content_digest IS NOT NULL"),
        postgresql_where=sa.text("content_digest IS NOT NULL"),
    ),
    sa.Index("ix_artifact_created", "session_key", "created_us", "artifact_key"),
    sa.Index(
        "ix_artifact_unfinished",
        "session_key",
        "artifact_key",
        sqlite_where=sa.text("state IN ('open', 'deleted')"),
        postgresql_where=sa.text("state IN ('open', 'deleted')"),
    ),
)

chunk = sa.Table(
    "chunk",
    metadata,
    sa.Column("session_key", sa.BigInteger, nullable=False),
    sa.Column("artifact_key", sa.BigInteger, nullable=False),
    *_columns(ChunkRow),
    sa.PrimaryKeyConstraint("session_key", "artifact_key", "seq", name="pk_chunk"),
    sa.Index("ix_chunk_line", "session_key", "artifact_key", "line_start", "seq"),
    sa.Index("ix_chunk_time", "session_key", "artifact_key", "time_start", "seq"),
    *(
        sa.Index(
            f"ix_chunk_{stream}_{what}",
            "session_key",
            "artifact_key",
            f"{stream}_{what}_start" if what == "line" else f"{stream}_start",
            "seq",
            sqlite_where=sa.text(f"{stream}_size > 0"),
            postgresql_where=sa.text(f"{stream}_size > 0"),
        )
        for stream in ("stdout", "stderr")
        for what in ("byte", "line")
    ),
)

event = sa.Table(
    "event",
    metadata,
    sa.Column("session_key", sa.BigInteger, nullable=False),
    sa.Column("event_key", sa.BigInteger, nullable=False),
    sa.Column("at_us", sa.BigInteger, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("artifact_id", sa.Text),
    sa.Column("actor", sa.Text),
    sa.Column("tool_call_id", sa.Text),
    sa.Column("detail", sa.Text),
    sa.Column("shown", sa.LargeBinary),
    sa.PrimaryKeyConstraint("session_key", "event_key", name="pk_event"),
    sa.Index(
        "ix_event_artifact",
        "session_key",
        "artifact_id",
        "event_key",
        sqlite_where=sa.text("artifact_id IS NOT NULL"),
        postgresql_where=sa.text("artifact_id IS NOT NULL"),
    ),
    sa.Index("ix_event_at", "session_key", "at_us", "event_key"),
    sa.Index(
        "ix_event_shown",
        "session_key",
        "shown",
        sqlite_where=sa.text("shown IS NOT NULL"),
        postgresql_where=sa.text("shown IS NOT NULL"),
    ),
)
