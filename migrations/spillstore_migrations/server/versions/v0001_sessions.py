"""The tables of a server: those of sessions, as in session files of schema 2, and those that say who has them.

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
    "INDEX ix_kept_event_at ON spillstore.kept_event (session_key, at_us, event_key)",
    "INDEX ix_place_project ON spillstore.place (project_id, session_key)",
)


def upgrade() -> None:
    """Make all tables, with nothing in them."""
    for name, (columns, options) in _TABLES.items():
        op.execute(sa.text(f"CREATE TABLE spillstore.{name} ({columns}) {options}"))
    op.execute(sa.text("ALTER TABLE spillstore.chunk ALTER data SET STORAGE EXTERNAL"))
    for index in _INDEXES:
        op.execute(sa.text(f"CREATE {index}"))
    op.execute(sa.text("INSERT INTO spillstore.store (one) VALUES (1)"))
