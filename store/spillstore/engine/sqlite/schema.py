"""The stored format: one SQLite file a session, described here as SQLAlchemy Core tables.

A column of ``session``, ``artifact`` or ``chunk`` is declared once, as a field of its row class (``model.records``,
``format.chunk_codec``), with its type; the tables, all statements and the checks of a row's types follow from that. What it means
stands here, and a test compares the two. Besides, it is in the frozen revision that made it, which a test compares, too.

File: page size 2048, ``auto_vacuum=INCREMENTAL``, WAL where the file system allows it, ``application_id`` 0x5370696C
("Spil"), ``user_version`` the schema's number (also in ``alembic_version``). Every key begins with ``session_key``, so
that the same tables can live in a server database that is partitioned by session; in a file it is always 1, which
SQLite stores in no bytes at all.

``session`` (one row)
    ==================  =======  =================================================================================
    column              type     meaning and invariant
    ==================  =======  =================================================================================
    session_key         int      1 in a file
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

The views (``v_...``) are for people and their programs; nothing of ours reads them, since who made a file may have changed them.
"""

from __future__ import annotations

from typing import get_args, get_type_hints

import sqlalchemy as sa

from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import ArtifactRow, SessionRow

SCHEMA_NUMBER = 2
REVISION = "0002"
APPLICATION_ID = 0x5370696C
PAGE_SIZE = 2048

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

# For ``sqlite3``, Datasette and DuckDB: times as text, details as columns. One line each, as SQLite keeps the text as it is.
_ISO = "'%Y-%m-%dT%H:%M:%fZ'"
# Part of the stored format: a kind that is read from a later version on is in the views of a later schema.
_READS = "('read', 'search', 'query', 'compare', 'export')"
_VIEWS = {
    "v_artifacts": """
        SELECT artifact_id, source, command, content_type, tool_call_id, state, reason, exit_code,
        strftime(ISO, created_us / 1e6, 'unixepoch') AS created, strftime(ISO, ended_us / 1e6, 'unixepoch') AS ended, (ended_us - created_us) / 1e6 AS seconds,
        received, size, kept, stored_size, stdout_lines + stderr_lines + 1 - (line_flags & 1) AS lines, chunks,
        hole IS NOT NULL AS dropped FROM artifact WHERE state <> 'deleted'""",
    "v_events": """
        SELECT event_key, strftime(ISO, at_us / 1e6, 'unixepoch') AS at, kind, artifact_id, actor, tool_call_id,
        json_extract(detail, '$.tool') AS tool, json_extract(detail, '$.outcome') AS outcome,
        json_extract(detail, '$.ms') AS ms, detail
        FROM event WHERE kind <> 'rendered' AND json_valid(detail)""",
    "v_reads": """
        SELECT event_key, at, kind, artifact_id, actor, tool_call_id, tool,
        coalesce(json_extract(detail, '$.stream'), 'combined') AS stream, json_extract(detail, '$.start') AS start_byte,
        json_extract(detail, '$.end') AS end_byte, json_extract(detail, '$.first') AS first_line,
        json_extract(detail, '$.last') AS last_line, json_extract(detail, '$.bytes') AS bytes,
        coalesce(outcome, 'ok') AS outcome, ms FROM v_events WHERE kind IN READS""",
    "v_never_read": """
        SELECT * FROM v_artifacts WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.session_key = 1
        AND event.artifact_id = v_artifacts.artifact_id AND event.kind IN READS
        AND coalesce(json_extract(event.detail, '$.outcome'), 'ok') = 'ok')""",
    "v_spilled_per_tool": """
        SELECT source AS tool, count(*) AS artifacts, sum(size) AS size, sum(kept) AS kept, sum(stored_size) AS stored_size,
        sum(dropped) AS with_losses, min(created) AS first, max(created) AS last FROM v_artifacts GROUP BY source""",
    "v_calls_per_tool": """
        SELECT tool, sum(CASE kind WHEN 'passed' THEN json_extract(detail, '$.calls') ELSE 1 END) AS calls,
        sum(coalesce(json_extract(detail, '$.truncated'), 0)) AS truncated, sum(json_extract(detail, '$.received')) AS received,
        sum(json_extract(detail, '$.shown')) AS shown FROM v_events WHERE kind IN ('passed', 'preview') GROUP BY tool""",
    "v_redactions": """
        SELECT v_events.at, v_events.artifact_id, v_events.tool_call_id, v_events.tool, counted.key AS secret,
        counted.value AS count FROM v_events, json_each(v_events.detail, '$.counts') AS counted WHERE kind = 'redaction'""",
    "v_limits": """
        SELECT at, json_extract(detail, '$.limit') AS limit_name, artifact_id, tool_call_id, tool,
        json_extract(detail, '$.size') AS size, json_extract(detail, '$.most') AS most FROM v_events WHERE kind = 'limit'""",
    "v_denied": """
        SELECT at, actor, tool_call_id, tool, json_extract(detail, '$.id') AS id, json_extract(detail, '$.why') AS why
        FROM v_events WHERE kind = 'denied'""",
}
VIEWS = tuple(
    f"CREATE VIEW {name} AS {' '.join(body.split()).replace('ISO', _ISO).replace('READS', _READS)}"
    for name, body in _VIEWS.items()
)
# What an archive has besides, which holds the sessions of a project that were deleted: it looks for them by other columns.
ARCHIVE_INDEXES = (
    "CREATE INDEX ix_archive_uid ON session (uid)",
    "CREATE INDEX ix_archive_name ON session (session_id, project_id)",
    "CREATE INDEX ix_archive_at ON event (at_us, session_key, event_key)",
)
