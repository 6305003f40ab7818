"""The tables of a server: those of sessions, as in session files of schema 2, and those that say who has them. And the views.

Revision: 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SESSION = """
    session_key bigint PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C",
    uid text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    ended_us bigint,
    deleted_us bigint,
    next_artifact_key bigint NOT NULL,
    digest_algorithm text COLLATE "C" NOT NULL,
    artifacts_sum bytea,
    digest bytea NOT NULL
"""
_ARTIFACT = """
    session_key bigint NOT NULL,
    artifact_key bigint NOT NULL,
    artifact_id text COLLATE "C" NOT NULL,
    tool_call_id text COLLATE "C",
    source text COLLATE "C" NOT NULL,
    command text COLLATE "C",
    content_type text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    owner text COLLATE "C" NOT NULL,
    newline text COLLATE "C" NOT NULL,
    chunk_size bigint NOT NULL,
    size_limit bigint NOT NULL,
    policy text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    ended_us bigint,
    exit_code bigint,
    chunks bigint NOT NULL,
    received bigint NOT NULL,
    size bigint NOT NULL,
    kept bigint NOT NULL,
    stored_size bigint NOT NULL,
    stdout_size bigint NOT NULL,
    stdout_lines bigint NOT NULL,
    stderr_size bigint NOT NULL,
    stderr_lines bigint NOT NULL,
    chars bigint NOT NULL,
    line_flags bigint NOT NULL,
    hole text COLLATE "C",
    content_digest bytea,
    chunks_digest bytea,
    digest bytea NOT NULL,
    CONSTRAINT pk_artifact PRIMARY KEY (session_key, artifact_key)
"""
_CHUNK = """
    session_key bigint NOT NULL,
    artifact_key bigint NOT NULL,
    seq bigint NOT NULL,
    size bigint NOT NULL,
    line_start bigint NOT NULL,
    stdout_start bigint NOT NULL,
    stdout_size bigint NOT NULL,
    stdout_line_start bigint NOT NULL,
    stdout_lines bigint NOT NULL,
    stderr_start bigint NOT NULL,
    stderr_size bigint NOT NULL,
    stderr_line_start bigint NOT NULL,
    stderr_lines bigint NOT NULL,
    time_start bigint NOT NULL,
    time_end bigint NOT NULL,
    line_flags bigint NOT NULL,
    digest bytea NOT NULL,
    segments bytea NOT NULL,
    data bytea NOT NULL,
    grams bytea,
    CONSTRAINT pk_chunk PRIMARY KEY (session_key, artifact_key, seq)
"""
_EVENT = """
    session_key bigint NOT NULL,
    event_key bigint NOT NULL,
    at_us bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    artifact_id text COLLATE "C",
    actor text COLLATE "C",
    tool_call_id text COLLATE "C",
    detail text COLLATE "C"
"""
_NAME = """
    name text COLLATE "C" PRIMARY KEY,
    session_key bigint NOT NULL,
    uid text COLLATE "C" NOT NULL
"""
_PLACE = """
    session_key bigint PRIMARY KEY,
    uid text COLLATE "C" NOT NULL,
    project_id text COLLATE "C",
    session_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    token bytea,
    stored_bytes bigint NOT NULL,
    used_at timestamptz NOT NULL
"""
_CLAIM = """
    session_key bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    about text COLLATE "C" NOT NULL,
    beat timestamptz NOT NULL,
    token bytea,
    CONSTRAINT pk_claim PRIMARY KEY (session_key, owner)
"""
_DOOMED = """
    session_key bigint PRIMARY KEY,
    project_id text COLLATE "C",
    stored_bytes bigint NOT NULL,
    doomed_at timestamptz NOT NULL
"""
_KEPT_SESSION = """
    name text COLLATE "C" NOT NULL,
    session_key bigint NOT NULL,
    uid text COLLATE "C" NOT NULL,
    kept_at timestamptz NOT NULL,
    CONSTRAINT pk_kept_session PRIMARY KEY (name, session_key)
"""
_STORE = """
    one smallint PRIMARY KEY CHECK (one = 1),
    looked_at double precision,
    size bigint,
    measured_at timestamptz
"""
# Chunks: what is compressed is not compressed again, and vacuum begins before a fiftieth of them is dead. Rows that change
# with each commit leave room for it in their page.
_OFTEN = "WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)"
_DYING = (
    "WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,"
    " toast.autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_cost_delay = 0)"
)
_TABLES = {
    "session": (_SESSION, ""),
    "artifact": (_ARTIFACT, ""),
    "chunk": (_CHUNK, _DYING),
    "event": (f"{_EVENT}, shown bytea, CONSTRAINT pk_event PRIMARY KEY (session_key, event_key)", ""),
    "name": (_NAME, ""),
    "place": (_PLACE, _OFTEN),
    "claim": (_CLAIM, _OFTEN),
    "doomed": (_DOOMED, ""),
    "kept_session": (_KEPT_SESSION, ""),
    "kept_event": (f"{_EVENT}, CONSTRAINT pk_kept_event PRIMARY KEY (session_key, event_key)", ""),
    "store": (_STORE, ""),
}
_STREAMS = tuple(
    f"INDEX ix_chunk_{stream}_{what} ON spillstore.chunk"
    f" (session_key, artifact_key, {stream}_{'line_start' if what == 'line' else 'start'}, seq) WHERE {stream}_size > 0"
    for stream in ("stdout", "stderr")
    for what in ("byte", "line")
)
_INDEXES = (
    "UNIQUE INDEX ix_artifact_id ON spillstore.artifact (session_key, artifact_id)",
    "INDEX ix_artifact_content ON spillstore.artifact (session_key, content_digest) WHERE content_digest IS NOT NULL",
    "INDEX ix_artifact_created ON spillstore.artifact (session_key, created_us, artifact_key)",
    "INDEX ix_artifact_unfinished ON spillstore.artifact (session_key, artifact_key) WHERE state IN ('open', 'deleted')",
    "INDEX ix_chunk_line ON spillstore.chunk (session_key, artifact_key, line_start, seq)",
    "INDEX ix_chunk_time ON spillstore.chunk (session_key, artifact_key, time_start, seq)",
    *_STREAMS,
    "INDEX ix_event_artifact ON spillstore.event (session_key, artifact_id, event_key) WHERE artifact_id IS NOT NULL",
    "INDEX ix_event_at ON spillstore.event (session_key, at_us, event_key)",
    "INDEX ix_event_shown ON spillstore.event (session_key, shown) WHERE shown IS NOT NULL",
    "INDEX ix_kept_session_key ON spillstore.kept_session (session_key)",
    "INDEX ix_kept_event_at ON spillstore.kept_event (session_key, at_us, event_key)",
    "INDEX ix_place_project ON spillstore.place (project_id, session_key)",
)

# The detail of an event as JSON, and NULL for what is none. Texts of the server hold neither NUL nor half surrogates, which
# JSON may name: then U+FFFD stands for each. ``IS JSON`` and ``pg_input_is_valid`` would not do: both let through what cannot
# be read in the end, a number of a million digits or a hundred thousand brackets.
_PARSED = r"""
    CREATE FUNCTION spillstore.parsed(detail text) RETURNS pg_catalog.jsonb LANGUAGE plpgsql STABLE STRICT AS $function$
    BEGIN
        RETURN detail::pg_catalog.jsonb;
    EXCEPTION WHEN others THEN
        BEGIN
            RETURN pg_catalog.regexp_replace(
                detail, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::pg_catalog.jsonb;
        EXCEPTION WHEN others THEN
            RETURN NULL;
        END;
    END
    $function$
"""


def _iso(column: str) -> str:
    """A time as ISO 8601 in UTC, with milliseconds that are rounded as SQLite does; NULL outside of the years 1 to 9999."""
    julian = 210_866_760_000_000  # milliseconds from where SQLite counts to 1970
    return (
        f"CASE WHEN {column} BETWEEN -62135596800000000 AND 253402300799999000 THEN to_char("
        f"to_timestamp((floor({column} / 1e6::float8 * 1000 + {julian} + 0.5) - {julian}) / 1000) AT TIME ZONE 'UTC',"
        ' \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') END'
    )


def _text(name: str) -> str:
    """A field of an event's detail as text."""
    return f"(detail_of ->> '{name}')"


def _number(value: str) -> str:
    """A JSON value as a number; NULL for what is neither that nor true or false."""
    return f"CASE jsonb_typeof({value}) WHEN 'number' THEN ({value})::numeric WHEN 'boolean' THEN ({value})::boolean::int END"


def _field(name: str) -> str:
    """A field of an event's detail as a number."""
    return _number(f"detail_of -> '{name}'")


_READS = "('read', 'search', 'query', 'compare', 'export')"
_OF_SESSION = "SELECT session.project_id, session.session_id"
_ARTIFACTS = f"""
    {_OF_SESSION}, artifact.artifact_id, artifact.source, artifact.command, artifact.content_type, artifact.tool_call_id,
    artifact.state, artifact.reason, artifact.exit_code, {_iso("artifact.created_us")} AS created,
    {_iso("artifact.ended_us")} AS ended, (artifact.ended_us - artifact.created_us) / 1e6::float8 AS seconds,
    artifact.received, artifact.size, artifact.kept, artifact.stored_size,
    artifact.stdout_lines + artifact.stderr_lines + 1 - (artifact.line_flags & 1) AS lines, artifact.chunks,
    (artifact.hole IS NOT NULL)::int AS dropped
    FROM spillstore.session JOIN spillstore.artifact USING (session_key) WHERE artifact.state <> 'deleted'
"""
_OF_EVENT = f"{_OF_SESSION}, event.event_key, {_iso('event.at_us')} AS at"
_EVENTS = """
    FROM spillstore.session JOIN spillstore.event USING (session_key)
    CROSS JOIN LATERAL spillstore.parsed(event.detail) AS detail_of
    WHERE event.kind <> 'rendered' AND detail_of IS NOT NULL
"""
_VIEWS = {
    "v_artifacts": _ARTIFACTS,
    "v_events": f"""
        {_OF_EVENT}, event.kind, event.artifact_id, event.actor, event.tool_call_id, {_text("tool")} AS tool,
        {_text("outcome")} AS outcome, {_field("ms")} AS ms, event.detail {_EVENTS}
    """,
    "v_reads": f"""
        {_OF_EVENT}, event.kind, event.artifact_id, event.actor, event.tool_call_id, {_text("tool")} AS tool,
        coalesce({_text("stream")}, 'combined') AS stream, {_field("start")} AS start_byte, {_field("end")} AS end_byte,
        {_field("first")} AS first_line, {_field("last")} AS last_line, {_field("bytes")} AS bytes,
        coalesce({_text("outcome")}, 'ok') AS outcome, {_field("ms")} AS ms {_EVENTS} AND event.kind IN {_READS}
    """,
    "v_never_read": f"""
        {_ARTIFACTS} AND NOT EXISTS (SELECT FROM spillstore.event CROSS JOIN LATERAL spillstore.parsed(event.detail) AS detail_of
        WHERE event.session_key = artifact.session_key AND event.artifact_id = artifact.artifact_id
        AND event.kind IN {_READS} AND coalesce({_text("outcome")}, 'ok') = 'ok')
    """,
    "v_spilled_per_tool": """
        SELECT project_id, session_id, source AS tool, count(*) AS artifacts, sum(size) AS size, sum(kept) AS kept,
        sum(stored_size) AS stored_size, sum(dropped) AS with_losses, min(created) AS first, max(created) AS last
        FROM spillstore.v_artifacts GROUP BY project_id, session_id, source
    """,
    "v_calls_per_tool": f"""
        {_OF_SESSION}, {_text("tool")} AS tool,
        sum(CASE event.kind WHEN 'passed' THEN {_field("calls")} ELSE 1 END) AS calls,
        sum(coalesce({_field("truncated")}, 0)) AS truncated, sum({_field("received")}) AS received,
        sum({_field("shown")}) AS shown {_EVENTS} AND event.kind IN ('passed', 'preview')
        GROUP BY session.session_key, session.project_id, session.session_id, {_text("tool")}
    """,
    "v_redactions": f"""
        {_OF_SESSION}, {_iso("event.at_us")} AS at, event.artifact_id, event.tool_call_id, {_text("tool")} AS tool,
        counted.key AS secret, {_number("counted.value")} AS count
        FROM spillstore.session JOIN spillstore.event USING (session_key)
        CROSS JOIN LATERAL spillstore.parsed(event.detail) AS detail_of
        CROSS JOIN LATERAL jsonb_each(CASE jsonb_typeof(detail_of -> 'counts') WHEN 'object' THEN detail_of -> 'counts' END)
        AS counted WHERE event.kind = 'redaction'
    """,
    "v_limits": f"""
        {_OF_SESSION}, {_iso("event.at_us")} AS at, {_text("limit")} AS limit_name, event.artifact_id, event.tool_call_id,
        {_text("tool")} AS tool, {_field("size")} AS size, {_field("most")} AS most {_EVENTS} AND event.kind = 'limit'
    """,
    "v_denied": f"""
        {_OF_SESSION}, {_iso("event.at_us")} AS at, event.actor, event.tool_call_id, {_text("tool")} AS tool,
        {_text("id")} AS id, {_text("why")} AS why {_EVENTS} AND event.kind = 'denied'
    """,
}


def upgrade() -> None:
    """Make all tables, with nothing in them, and the views, which show everybody what his rights show him."""
    for name, (columns, options) in _TABLES.items():
        op.execute(sa.text(f"CREATE TABLE spillstore.{name} ({columns}) {options}"))
    op.execute(sa.text("ALTER TABLE spillstore.chunk ALTER data SET STORAGE EXTERNAL"))
    for index in _INDEXES:
        op.execute(sa.text(f"CREATE {index}"))
    op.execute(sa.text("INSERT INTO spillstore.store (one) VALUES (1)"))
    op.execute(sa.text(_PARSED))
    for name, body in _VIEWS.items():
        text = " ".join(body.split())
        op.execute(sa.text(f"CREATE VIEW spillstore.{name} WITH (security_invoker = true) AS {text}"))
