"""The first schema: session, artifact, chunk, event.

Revision: 0001, after none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_VIEWS = (
    (
        "CREATE VIEW v_artifacts AS SELECT artifact_id, source, command, content_type, tool_call_id, state, "
        "reason, exit_code, strftime('%Y-%m-%dT%H:%M:%fZ', created_us / 1e6, 'unixepoch') AS created, "
        "strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended, (ended_us - created_us) / 1e6 AS "
        "seconds, received, size, kept, stored_size, stdout_lines + stderr_lines + 1 - (line_flags & 1) AS lines, "
        "chunks, hole IS NOT NULL AS dropped FROM artifact WHERE state <> 'deleted'"
    ),
    (
        "CREATE VIEW v_events AS SELECT event_key, strftime('%Y-%m-%dT%H:%M:%fZ', at_us / 1e6, 'unixepoch') AS "
        "at, kind, artifact_id, actor, tool_call_id, json_extract(detail, '$.tool') AS tool, json_extract(detail, "
        "'$.outcome') AS outcome, json_extract(detail, '$.ms') AS ms, detail FROM event WHERE kind <> 'rendered' "
        "AND json_valid(detail)"
    ),
    (
        "CREATE VIEW v_reads AS SELECT event_key, at, kind, artifact_id, actor, tool_call_id, tool, "
        "coalesce(json_extract(detail, '$.stream'), 'combined') AS stream, json_extract(detail, '$.start') AS "
        "start_byte, json_extract(detail, '$.end') AS end_byte, json_extract(detail, '$.first') AS first_line, "
        "json_extract(detail, '$.last') AS last_line, json_extract(detail, '$.bytes') AS bytes, coalesce(outcome, "
        "'ok') AS outcome, ms FROM v_events WHERE kind IN ('read', 'search', 'query', 'compare', 'export')"
    ),
    (
        "CREATE VIEW v_never_read AS SELECT * FROM v_artifacts WHERE NOT EXISTS (SELECT 1 FROM event WHERE "
        "event.session_key = 1 AND event.artifact_id = v_artifacts.artifact_id AND event.kind IN ('read', "
        "'search', 'query', 'compare', 'export') AND coalesce(json_extract(event.detail, '$.outcome'), 'ok') = "
        "'ok')"
    ),
    (
        "CREATE VIEW v_spilled_per_tool AS SELECT source AS tool, count(*) AS artifacts, sum(size) AS size, "
        "sum(kept) AS kept, sum(stored_size) AS stored_size, sum(dropped) AS with_losses, min(created) AS first, "
        "max(created) AS last FROM v_artifacts GROUP BY source"
    ),
    (
        "CREATE VIEW v_calls_per_tool AS SELECT tool, sum(CASE kind WHEN 'passed' THEN json_extract(detail, "
        "'$.calls') ELSE 1 END) AS calls, sum(coalesce(json_extract(detail, '$.truncated'), 0)) AS truncated, "
        "sum(json_extract(detail, '$.received')) AS received, sum(json_extract(detail, '$.shown')) AS shown FROM "
        "v_events WHERE kind IN ('passed', 'preview') GROUP BY tool"
    ),
    (
        "CREATE VIEW v_redactions AS SELECT v_events.at, v_events.artifact_id, v_events.tool_call_id, "
        "v_events.tool, counted.key AS secret, counted.value AS count FROM v_events, json_each(v_events.detail, "
        "'$.counts') AS counted WHERE kind = 'redaction'"
    ),
    (
        "CREATE VIEW v_limits AS SELECT at, json_extract(detail, '$.limit') AS limit_name, artifact_id, "
        "tool_call_id, tool, json_extract(detail, '$.size') AS size, json_extract(detail, '$.most') AS most FROM "
        "v_events WHERE kind = 'limit'"
    ),
    (
        "CREATE VIEW v_denied AS SELECT at, actor, tool_call_id, tool, json_extract(detail, '$.id') AS id, "
        "json_extract(detail, '$.why') AS why FROM v_events WHERE kind = 'denied'"
    ),
)


def upgrade() -> None:
    """Make the tables of an empty file."""
    op.create_table(
        "session",
        sa.Column("session_key", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("project_id", sa.Text),
        sa.Column("uid", sa.Text, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("ended_us", sa.BigInteger),
        sa.Column("deleted_us", sa.BigInteger),
        sa.Column("next_artifact_key", sa.BigInteger, nullable=False),
        sa.Column("digest_algorithm", sa.Text, nullable=False),
        sa.Column("artifacts_sum", sa.LargeBinary),
        sa.Column("digest", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "artifact",
        sa.Column("session_key", sa.BigInteger, nullable=False),
        sa.Column("artifact_key", sa.BigInteger, nullable=False),
        sa.Column("artifact_id", sa.Text, nullable=False),
        sa.Column("tool_call_id", sa.Text),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("command", sa.Text),
        sa.Column("content_type", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("newline", sa.Text, nullable=False),
        sa.Column("chunk_size", sa.BigInteger, nullable=False),
        sa.Column("size_limit", sa.BigInteger, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("created_us", sa.BigInteger, nullable=False),
        sa.Column("ended_us", sa.BigInteger),
        sa.Column("exit_code", sa.BigInteger),
        sa.Column("chunks", sa.BigInteger, nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("kept", sa.BigInteger, nullable=False),
        sa.Column("stored_size", sa.BigInteger, nullable=False),
        sa.Column("stdout_size", sa.BigInteger, nullable=False),
        sa.Column("stdout_lines", sa.BigInteger, nullable=False),
        sa.Column("stderr_size", sa.BigInteger, nullable=False),
        sa.Column("stderr_lines", sa.BigInteger, nullable=False),
        sa.Column("chars", sa.BigInteger, nullable=False),
        sa.Column("line_flags", sa.BigInteger, nullable=False),
        sa.Column("hole", sa.Text),
        sa.Column("content_digest", sa.LargeBinary),
        sa.Column("chunks_digest", sa.LargeBinary),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session_key", "artifact_key", name="pk_artifact"),
    )
    op.create_index(
        "ix_artifact_content",
        "artifact",
        ["session_key", "content_digest"],
        sqlite_where=sa.text("content_digest IS NOT NULL"),
    )
    op.create_index("ix_artifact_created", "artifact", ["session_key", "created_us", "artifact_key"])
    op.create_index("ix_artifact_id", "artifact", ["session_key", "artifact_id"], unique=True)
    op.create_index(
        "ix_artifact_unfinished",
        "artifact",
        ["session_key", "artifact_key"],
        sqlite_where=sa.text("state IN ('open', 'deleted')"),
    )
    op.create_table(
        "chunk",
        sa.Column("session_key", sa.BigInteger, nullable=False),
        sa.Column("artifact_key", sa.BigInteger, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("line_start", sa.BigInteger, nullable=False),
        sa.Column("stdout_start", sa.BigInteger, nullable=False),
        sa.Column("stdout_size", sa.BigInteger, nullable=False),
        sa.Column("stdout_line_start", sa.BigInteger, nullable=False),
        sa.Column("stdout_lines", sa.BigInteger, nullable=False),
        sa.Column("stderr_start", sa.BigInteger, nullable=False),
        sa.Column("stderr_size", sa.BigInteger, nullable=False),
        sa.Column("stderr_line_start", sa.BigInteger, nullable=False),
        sa.Column("stderr_lines", sa.BigInteger, nullable=False),
        sa.Column("time_start", sa.BigInteger, nullable=False),
        sa.Column("time_end", sa.BigInteger, nullable=False),
        sa.Column("line_flags", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("segments", sa.LargeBinary, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("session_key", "artifact_key", "seq", name="pk_chunk"),
    )
    op.create_index("ix_chunk_line", "chunk", ["session_key", "artifact_key", "line_start", "seq"])
    for stream in ("stderr", "stdout"):
        for name, column in (("byte", f"{stream}_start"), ("line", f"{stream}_line_start")):
            op.create_index(
                f"ix_chunk_{stream}_{name}",
                "chunk",
                ["session_key", "artifact_key", column, "seq"],
                sqlite_where=sa.text(f"{stream}_size > 0"),
            )
    op.create_index("ix_chunk_time", "chunk", ["session_key", "artifact_key", "time_start", "seq"])
    op.create_table(
        "event",
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
    )
    op.create_index(
        "ix_event_artifact",
        "event",
        ["session_key", "artifact_id", "event_key"],
        sqlite_where=sa.text("artifact_id IS NOT NULL"),
        postgresql_where=sa.text("artifact_id IS NOT NULL"),
    )
    op.create_index("ix_event_at", "event", ["session_key", "at_us", "event_key"])
    op.create_index(
        "ix_event_shown",
        "event",
        ["session_key", "shown"],
        sqlite_where=sa.text("shown IS NOT NULL"),
    )
    for view in _VIEWS:
        op.execute(view)
    op.execute(sa.text("PRAGMA application_id = 1399875948"))
    op.execute(sa.text("PRAGMA user_version = 1"))
