"""What a session file has besides the tables of ``relational.schema``: its numbers, and views for people and their programs.

Page size 2048, ``auto_vacuum=INCREMENTAL``, WAL where the file system allows it, ``application_id`` 0x5370696C ("Spil"),
``user_version`` the schema's number (also in ``alembic_version``).

Nothing of ours reads the views (``v_...``), since who made a file may have changed them.
"""

from __future__ import annotations

SCHEMA_NUMBER = 2
REVISION = "0002"
APPLICATION_ID = 0x5370696C
PAGE_SIZE = 2048

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
