"""Rendered from the tables and statements of ``engine.relational``; a test keeps them equal. Do not edit."""

# fmt: off

SCHEMA_NUMBER = 2
REVISION = "0002"
APPLICATION_ID = 1399875948
PAGE_SIZE = 2048

DDL = (
    "CREATE TABLE artifact ( session_key BIGINT NOT NULL, artifact_key BIGINT NOT NULL, artifact_id TEXT NOT NULL, tool_call_id TEXT, source TEXT NOT NULL, command TEXT, content_type TEXT, state TEXT NOT NULL, reason TEXT, owner TEXT NOT NULL, newline TEXT NOT NULL, chunk_size BIGINT NOT NULL, size_limit BIGINT NOT NULL, policy TEXT NOT NULL, created_us BIGINT NOT NULL, ended_us BIGINT, exit_code BIGINT, chunks BIGINT NOT NULL, received BIGINT NOT NULL, size BIGINT NOT NULL, kept BIGINT NOT NULL, stored_size BIGINT NOT NULL, stdout_size BIGINT NOT NULL, stdout_lines BIGINT NOT NULL, stderr_size BIGINT NOT NULL, stderr_lines BIGINT NOT NULL, chars BIGINT NOT NULL, line_flags BIGINT NOT NULL, hole TEXT, content_digest BLOB, chunks_digest BLOB, digest BLOB NOT NULL, CONSTRAINT pk_artifact PRIMARY KEY (session_key, artifact_key) )",
    "CREATE INDEX ix_artifact_content ON artifact (session_key, content_digest) WHERE content_digest IS NOT NULL",
    "CREATE INDEX ix_artifact_created ON artifact (session_key, created_us, artifact_key)",
    "CREATE UNIQUE INDEX ix_artifact_id ON artifact (session_key, artifact_id)",
    "CREATE INDEX ix_artifact_unfinished ON artifact (session_key, artifact_key) WHERE state IN ('open', 'deleted')",
    "CREATE TABLE chunk ( session_key BIGINT NOT NULL, artifact_key BIGINT NOT NULL, seq BIGINT NOT NULL, size BIGINT NOT NULL, line_start BIGINT NOT NULL, stdout_start BIGINT NOT NULL, stdout_size BIGINT NOT NULL, stdout_line_start BIGINT NOT NULL, stdout_lines BIGINT NOT NULL, stderr_start BIGINT NOT NULL, stderr_size BIGINT NOT NULL, stderr_line_start BIGINT NOT NULL, stderr_lines BIGINT NOT NULL, time_start BIGINT NOT NULL, time_end BIGINT NOT NULL, line_flags BIGINT NOT NULL, digest BLOB NOT NULL, segments BLOB NOT NULL, data BLOB NOT NULL, grams BLOB, CONSTRAINT pk_chunk PRIMARY KEY (session_key, artifact_key, seq) )",
    "CREATE INDEX ix_chunk_line ON chunk (session_key, artifact_key, line_start, seq)",
    "CREATE INDEX ix_chunk_stderr_byte ON chunk (session_key, artifact_key, stderr_start, seq) WHERE stderr_size > 0",
    "CREATE INDEX ix_chunk_stderr_line ON chunk (session_key, artifact_key, stderr_line_start, seq) WHERE stderr_size > 0",
    "CREATE INDEX ix_chunk_stdout_byte ON chunk (session_key, artifact_key, stdout_start, seq) WHERE stdout_size > 0",
    "CREATE INDEX ix_chunk_stdout_line ON chunk (session_key, artifact_key, stdout_line_start, seq) WHERE stdout_size > 0",
    "CREATE INDEX ix_chunk_time ON chunk (session_key, artifact_key, time_start, seq)",
    "CREATE TABLE event ( session_key BIGINT NOT NULL, event_key BIGINT NOT NULL, at_us BIGINT NOT NULL, kind TEXT NOT NULL, artifact_id TEXT, actor TEXT, tool_call_id TEXT, detail TEXT, shown BLOB, CONSTRAINT pk_event PRIMARY KEY (session_key, event_key) )",
    "CREATE INDEX ix_event_artifact ON event (session_key, artifact_id, event_key) WHERE artifact_id IS NOT NULL",
    "CREATE INDEX ix_event_at ON event (session_key, at_us, event_key)",
    "CREATE INDEX ix_event_shown ON event (session_key, shown) WHERE shown IS NOT NULL",
    "CREATE TABLE session ( session_key BIGINT NOT NULL, session_id TEXT NOT NULL, project_id TEXT, uid TEXT NOT NULL, created_us BIGINT NOT NULL, ended_us BIGINT, deleted_us BIGINT, next_artifact_key BIGINT NOT NULL, digest_algorithm TEXT NOT NULL, artifacts_sum BLOB, digest BLOB NOT NULL, PRIMARY KEY (session_key) )",
    "CREATE VIEW v_artifacts AS SELECT artifact_id, source, command, content_type, tool_call_id, state, reason, exit_code, strftime('%Y-%m-%dT%H:%M:%fZ', created_us / 1e6, 'unixepoch') AS created, strftime('%Y-%m-%dT%H:%M:%fZ', ended_us / 1e6, 'unixepoch') AS ended, (ended_us - created_us) / 1e6 AS seconds, received, size, kept, stored_size, stdout_lines + stderr_lines + 1 - (line_flags & 1) AS lines, chunks, hole IS NOT NULL AS dropped FROM artifact WHERE state <> 'deleted'",
    "CREATE VIEW v_events AS SELECT event_key, strftime('%Y-%m-%dT%H:%M:%fZ', at_us / 1e6, 'unixepoch') AS at, kind, artifact_id, actor, tool_call_id, json_extract(detail, '$.tool') AS tool, json_extract(detail, '$.outcome') AS outcome, json_extract(detail, '$.ms') AS ms, detail FROM event WHERE kind <> 'rendered' AND json_valid(detail)",
    "CREATE VIEW v_reads AS SELECT event_key, at, kind, artifact_id, actor, tool_call_id, tool, coalesce(json_extract(detail, '$.stream'), 'combined') AS stream, json_extract(detail, '$.start') AS start_byte, json_extract(detail, '$.end') AS end_byte, json_extract(detail, '$.first') AS first_line, json_extract(detail, '$.last') AS last_line, json_extract(detail, '$.bytes') AS bytes, coalesce(outcome, 'ok') AS outcome, ms FROM v_events WHERE kind IN ('read', 'search', 'query', 'compare', 'export')",
    "CREATE VIEW v_never_read AS SELECT * FROM v_artifacts WHERE NOT EXISTS (SELECT 1 FROM event WHERE event.session_key = 1 AND event.artifact_id = v_artifacts.artifact_id AND event.kind IN ('read', 'search', 'query', 'compare', 'export') AND coalesce(json_extract(event.detail, '$.outcome'), 'ok') = 'ok')",
    "CREATE VIEW v_spilled_per_tool AS SELECT source AS tool, count(*) AS artifacts, sum(size) AS size, sum(kept) AS kept, sum(stored_size) AS stored_size, sum(dropped) AS with_losses, min(created) AS first, max(created) AS last FROM v_artifacts GROUP BY source",
    "CREATE VIEW v_calls_per_tool AS SELECT tool, sum(CASE kind WHEN 'passed' THEN json_extract(detail, '$.calls') ELSE 1 END) AS calls, sum(coalesce(json_extract(detail, '$.truncated'), 0)) AS truncated, sum(json_extract(detail, '$.received')) AS received, sum(json_extract(detail, '$.shown')) AS shown FROM v_events WHERE kind IN ('passed', 'preview') GROUP BY tool",
    "CREATE VIEW v_redactions AS SELECT v_events.at, v_events.artifact_id, v_events.tool_call_id, v_events.tool, counted.key AS secret, counted.value AS count FROM v_events, json_each(v_events.detail, '$.counts') AS counted WHERE kind = 'redaction'",
    "CREATE VIEW v_limits AS SELECT at, json_extract(detail, '$.limit') AS limit_name, artifact_id, tool_call_id, tool, json_extract(detail, '$.size') AS size, json_extract(detail, '$.most') AS most FROM v_events WHERE kind = 'limit'",
    "CREATE VIEW v_denied AS SELECT at, actor, tool_call_id, tool, json_extract(detail, '$.id') AS id, json_extract(detail, '$.why') AS why FROM v_events WHERE kind = 'denied'",
)
ARCHIVE_DDL = (
    "CREATE INDEX ix_archive_uid ON session (uid)",
    "CREATE INDEX ix_archive_name ON session (session_id, project_id)",
    "CREATE INDEX ix_archive_at ON event (at_us, session_key, event_key)",
)

SESSION_COLUMNS = (
    "session_id",
    "project_id",
    "uid",
    "created_us",
    "ended_us",
    "deleted_us",
    "next_artifact_key",
    "digest_algorithm",
    "artifacts_sum",
    "digest",
)
ARTIFACT_COLUMNS = (
    "artifact_key",
    "artifact_id",
    "tool_call_id",
    "source",
    "command",
    "content_type",
    "state",
    "reason",
    "owner",
    "newline",
    "chunk_size",
    "size_limit",
    "policy",
    "created_us",
    "ended_us",
    "exit_code",
    "chunks",
    "received",
    "size",
    "kept",
    "stored_size",
    "stdout_size",
    "stdout_lines",
    "stderr_size",
    "stderr_lines",
    "chars",
    "line_flags",
    "hole",
    "content_digest",
    "chunks_digest",
    "digest",
)
CHUNK_COLUMNS = (
    "seq",
    "size",
    "line_start",
    "stdout_start",
    "stdout_size",
    "stdout_line_start",
    "stdout_lines",
    "stderr_start",
    "stderr_size",
    "stderr_line_start",
    "stderr_lines",
    "time_start",
    "time_end",
    "line_flags",
    "digest",
    "segments",
    "data",
    "grams",
)

SESSION_GET = "SELECT session.session_id, session.project_id, session.uid, session.created_us, session.ended_us, session.deleted_us, session.next_artifact_key, session.digest_algorithm, session.artifacts_sum, session.digest FROM session WHERE session.session_key = :session_key"
SESSION_INSERT = "INSERT INTO session (session_key, session_id, project_id, uid, created_us, ended_us, deleted_us, next_artifact_key, digest_algorithm, artifacts_sum, digest) VALUES (:session_key, :session_id, :project_id, :uid, :created_us, :ended_us, :deleted_us, :next_artifact_key, :digest_algorithm, :artifacts_sum, :digest)"
SESSION_UPDATE = "UPDATE session SET ended_us=:ended_us, deleted_us=:deleted_us, artifacts_sum=:artifacts_sum, digest=:digest WHERE session.session_key = :session_key"
SESSION_DELETED = "SELECT session.deleted_us FROM session WHERE session.session_key = :session_key"
SESSION_NEXT_KEY = "UPDATE session SET next_artifact_key=(session.next_artifact_key + 1) WHERE session.session_key = :session_key RETURNING next_artifact_key"
ARTIFACT_INSERT = "INSERT INTO artifact (session_key, artifact_key, artifact_id, tool_call_id, source, command, content_type, state, reason, owner, newline, chunk_size, size_limit, policy, created_us, ended_us, exit_code, chunks, received, size, kept, stored_size, stdout_size, stdout_lines, stderr_size, stderr_lines, chars, line_flags, hole, content_digest, chunks_digest, digest) VALUES (:session_key, :artifact_key, :artifact_id, :tool_call_id, :source, :command, :content_type, :state, :reason, :owner, :newline, :chunk_size, :size_limit, :policy, :created_us, :ended_us, :exit_code, :chunks, :received, :size, :kept, :stored_size, :stdout_size, :stdout_lines, :stderr_size, :stderr_lines, :chars, :line_flags, :hole, :content_digest, :chunks_digest, :digest)"
ARTIFACT_DIGEST = "SELECT artifact.digest FROM artifact WHERE artifact.session_key = :session_key AND artifact.artifact_key = :artifact_key"
ARTIFACT_DIGESTS = "SELECT artifact.digest FROM artifact WHERE artifact.session_key = :session_key"
ARTIFACT_GET = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM artifact WHERE artifact.session_key = :session_key AND artifact.artifact_id = :artifact_id"
ARTIFACT_UPDATE = "UPDATE artifact SET state=:state, reason=:reason, owner=:owner, newline=:newline, chunk_size=:chunk_size, size_limit=:size_limit, policy=:policy, created_us=:created_us, ended_us=:ended_us, exit_code=:exit_code, chunks=:chunks, received=:received, size=:size, kept=:kept, stored_size=:stored_size, stdout_size=:stdout_size, stdout_lines=:stdout_lines, stderr_size=:stderr_size, stderr_lines=:stderr_lines, chars=:chars, line_flags=:line_flags, hole=:hole, content_digest=:content_digest, chunks_digest=:chunks_digest, digest=:digest WHERE artifact.session_key = :session_key AND artifact.artifact_key = :artifact_key"
ARTIFACT_REMOVE = "DELETE FROM artifact WHERE artifact.session_key = :session_key AND artifact.artifact_key = :artifact_key"
ARTIFACTS_UNFINISHED = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM artifact WHERE artifact.session_key = :session_key AND artifact.state IN ('open', 'deleted')"
ARTIFACTS_PAGE = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM artifact WHERE artifact.session_key = :session_key AND artifact.created_us >= :since_us AND (artifact.created_us, artifact.artifact_key) < (:before_us, :before_key) AND artifact.state != 'deleted' AND (:source IS NULL OR artifact.source = :source) AND (:tool_call_id IS NULL OR artifact.tool_call_id = :tool_call_id) ORDER BY artifact.created_us DESC, artifact.artifact_key DESC LIMIT :limit OFFSET 0"
ARTIFACTS_AFTER = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM artifact WHERE artifact.session_key = :session_key AND artifact.artifact_key > :after ORDER BY artifact.artifact_key LIMIT :limit OFFSET 0"
ARTIFACTS_MATCHING = "SELECT artifact.artifact_id FROM artifact WHERE artifact.session_key = :session_key AND artifact.artifact_id >= :low AND artifact.artifact_id < :high AND artifact.state != 'deleted' ORDER BY artifact.artifact_id LIMIT :limit OFFSET 0"
ARTIFACTS_OF_CONTENT = "SELECT artifact.artifact_id FROM artifact WHERE artifact.session_key = :session_key AND artifact.content_digest = :content_digest AND artifact.artifact_id != :artifact_id AND artifact.state = 'sealed' AND artifact.hole IS NULL AND (artifact.policy != 'stop' OR artifact.size < artifact.size_limit) LIMIT :limit OFFSET 0"
ARTIFACTS_SUMMARY = "SELECT count(*) AS count_1, coalesce(sum(artifact.kept), 0) AS coalesce_1 FROM artifact WHERE artifact.session_key = :session_key AND artifact.state != 'deleted'"
ARTIFACTS_CREATED_SINCE = "SELECT count(*) AS count_1 FROM artifact WHERE artifact.session_key = :session_key AND artifact.created_us > :since_us AND artifact.created_us <= :until_us"
ARTIFACTS_TO_EVICT = "SELECT artifact.artifact_id, (SELECT coalesce(max(event.event_key), 0) AS coalesce_1 FROM event WHERE event.session_key = :session_key AND event.artifact_id = artifact.artifact_id AND event.kind IN ('read', 'search', 'query', 'compare', 'export')) AS last_read FROM artifact WHERE artifact.session_key = :session_key AND artifact.state IN ('sealed', 'interrupted') AND artifact.stored_size > 0 ORDER BY last_read, artifact.created_us, artifact.artifact_key LIMIT :limit OFFSET 0"
CHUNK_INSERT = "INSERT INTO chunk (session_key, artifact_key, seq, size, line_start, stdout_start, stdout_size, stdout_line_start, stdout_lines, stderr_start, stderr_size, stderr_line_start, stderr_lines, time_start, time_end, line_flags, digest, segments, data, grams) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
CHUNKS_DROP = "DELETE FROM chunk WHERE chunk.session_key = :session_key AND chunk.artifact_key = :artifact_key AND chunk.seq >= :first AND chunk.seq < :last"
CHUNKS_STORED = "SELECT coalesce(sum(length(chunk.data) + length(chunk.segments) + coalesce(length(chunk.grams), 0)), 0) AS coalesce_1 FROM chunk WHERE chunk.session_key = :session_key AND chunk.artifact_key = :artifact_key AND chunk.seq >= :first AND chunk.seq < :last"
CHUNK_FIRST = "SELECT min(chunk.seq) AS min_1 FROM chunk WHERE chunk.session_key = :session_key AND chunk.artifact_key = :artifact_key"
CHUNK_DIGESTS = "SELECT chunk.seq, chunk.digest FROM chunk WHERE chunk.session_key = :session_key AND chunk.artifact_key = :artifact_key ORDER BY chunk.seq"
CHUNKS_WITHOUT_ARTIFACT = "SELECT DISTINCT chunk.artifact_key FROM chunk WHERE chunk.session_key = :session_key AND (chunk.artifact_key NOT IN (SELECT artifact.artifact_key FROM artifact WHERE artifact.session_key = :session_key))"
RANGE_COMBINED = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.seq > ? AND chunk.seq <= ? ORDER BY chunk.seq LIMIT ? OFFSET 0"
RANGE_GRAMS = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, x'', x'', chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.seq > ? AND chunk.seq <= ? ORDER BY chunk.seq LIMIT ? OFFSET 0"
LINE_COMBINED = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.line_start < ? ORDER BY chunk.line_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
TIME_COMBINED = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.time_start < ? ORDER BY chunk.time_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
RANGE_STDOUT = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.stdout_size > 0 AND chunk.stdout_start > ? AND chunk.stdout_start <= ? ORDER BY chunk.stdout_start, chunk.seq LIMIT ? OFFSET 0"
BYTE_STDOUT = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.stdout_size > 0 AND chunk.stdout_start <= ? ORDER BY chunk.stdout_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
LINE_STDOUT = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.stdout_size > 0 AND chunk.stdout_line_start < ? ORDER BY chunk.stdout_line_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
RANGE_STDERR = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.stderr_size > 0 AND chunk.stderr_start > ? AND chunk.stderr_start <= ? ORDER BY chunk.stderr_start, chunk.seq LIMIT ? OFFSET 0"
BYTE_STDERR = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.stderr_size > 0 AND chunk.stderr_start <= ? ORDER BY chunk.stderr_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
LINE_STDERR = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM chunk WHERE chunk.session_key = ? AND chunk.artifact_key = ? AND chunk.stderr_size > 0 AND chunk.stderr_line_start < ? ORDER BY chunk.stderr_line_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
EVENTS_OF_ARTIFACT = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM event WHERE event.session_key = :session_key AND event.artifact_id = :artifact_id AND (:kind IS NULL OR event.kind = :kind) ORDER BY event.event_key DESC LIMIT :limit OFFSET 0"
EVENTS_PAGE = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM event WHERE event.session_key = :session_key AND event.at_us >= :since_us AND (event.at_us, event.event_key) < (:before_us, :before_key) AND (:kind IS NULL OR event.kind = :kind) AND (:actor IS NULL OR event.actor = :actor) AND (:artifact_id IS NULL OR event.artifact_id = :artifact_id) AND (:tool_call_id IS NULL OR event.tool_call_id = :tool_call_id) ORDER BY event.at_us DESC, event.event_key DESC LIMIT :limit OFFSET 0"
EVENTS_OF_USE_SINCE = "SELECT count(*) AS count_1 FROM event WHERE event.session_key = :session_key AND event.at_us > :since_us AND event.at_us <= :until_us AND event.kind != 'interrupt'"
EVENT_INSERT = "INSERT INTO event (session_key, event_key, at_us, kind, artifact_id, actor, tool_call_id, detail, shown) SELECT :session_key AS anon_1, coalesce(max(event.event_key), 0) + 1 AS anon_2, :at_us AS anon_3, :kind AS anon_4, :artifact_id AS anon_5, :actor AS anon_6, :tool_call_id AS anon_7, :detail AS anon_8, :shown AS anon_9 FROM event WHERE event.session_key = :session_key"
EVENTS_AFTER = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM event WHERE event.session_key = :session_key AND event.event_key > :after ORDER BY event.event_key LIMIT :limit OFFSET 0"
EVENTS_WHOLE_AFTER = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail, event.shown FROM event WHERE event.session_key = :session_key AND event.event_key > :after ORDER BY event.event_key LIMIT :limit OFFSET 0"
EVENT_NEWEST = "SELECT coalesce(max(event.event_key), 0) AS coalesce_1 FROM event WHERE event.session_key = :session_key"
EVENTS_DROP_FIRST = "DELETE FROM event WHERE event.session_key = :session_key AND event.event_key IN (SELECT event.event_key FROM event WHERE event.session_key = :session_key AND event.event_key <= :last AND event.kind != 'rendered' ORDER BY event.event_key LIMIT :limit OFFSET 0)"
EVENTS_DROP_OLD = "DELETE FROM event WHERE event.session_key = :session_key AND event.event_key IN (SELECT event.event_key FROM event WHERE event.session_key = :session_key AND event.at_us < :before_us AND event.kind != 'rendered' ORDER BY event.at_us, event.event_key LIMIT :limit OFFSET 0)"
EVENTS_SHOWN = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM event WHERE event.session_key = :session_key AND event.shown = :shown AND (EXISTS (SELECT * FROM artifact WHERE artifact.session_key = event.session_key AND artifact.artifact_id = event.artifact_id AND artifact.state != 'deleted')) LIMIT :limit OFFSET 0"
EVENTS_INSERT = "INSERT INTO event (session_key, event_key, at_us, kind, artifact_id, actor, tool_call_id, detail, shown) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
ARCHIVE_KEY = "SELECT session.session_key FROM session WHERE session.uid = :uid"
ARCHIVE_NEXT_KEY = "SELECT coalesce(max(session.session_key), 0) + 1 AS anon_1 FROM session"
ARCHIVE_SESSIONS = "SELECT session.session_key, session.uid FROM session WHERE session.session_id = :session_id AND session.project_id IS :project_id"
ARCHIVE_COUNT = "SELECT count(*) AS count_1 FROM event"
ARCHIVE_DROP_OLD = "DELETE FROM event WHERE event.at_us < :before_us RETURNING session_key"
ARCHIVE_DROP_FIRST = "DELETE FROM event WHERE (event.session_key, event.event_key) IN (SELECT event.session_key, event.event_key FROM event ORDER BY event.at_us, event.session_key, event.event_key LIMIT :limit OFFSET 0) RETURNING session_key"
ARCHIVE_DROP_SESSION = "DELETE FROM session WHERE session.session_key = :session_key AND NOT (EXISTS (SELECT * FROM event WHERE event.session_key = session.session_key))"
