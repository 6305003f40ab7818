"""Rendered from the tables and statements of ``engine.relational``; a test keeps them equal. Do not edit."""

# fmt: off

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

SESSION_GET = "SELECT session.session_id, session.project_id, session.uid, session.created_us, session.ended_us, session.deleted_us, session.next_artifact_key, session.digest_algorithm, session.artifacts_sum, session.digest FROM spillstore.session WHERE session.session_key = %(session_key)s"
SESSION_INSERT = "INSERT INTO spillstore.session (session_key, session_id, project_id, uid, created_us, ended_us, deleted_us, next_artifact_key, digest_algorithm, artifacts_sum, digest) VALUES (%(session_key)s, %(session_id)s, %(project_id)s, %(uid)s, %(created_us)s, %(ended_us)s, %(deleted_us)s, %(next_artifact_key)s, %(digest_algorithm)s, %(artifacts_sum)s, %(digest)s)"
SESSION_UPDATE = "UPDATE spillstore.session SET ended_us=%(ended_us)s, deleted_us=%(deleted_us)s, artifacts_sum=%(artifacts_sum)s, digest=%(digest)s WHERE session.session_key = %(session_key)s"
SESSION_DELETED = "SELECT session.deleted_us FROM spillstore.session WHERE session.session_key = %(session_key)s"
SESSION_NEXT_KEY = "UPDATE spillstore.session SET next_artifact_key=(session.next_artifact_key + 1) WHERE session.session_key = %(session_key)s RETURNING session.next_artifact_key"
ARTIFACT_INSERT = "INSERT INTO spillstore.artifact (session_key, artifact_key, artifact_id, tool_call_id, source, command, content_type, state, reason, owner, newline, chunk_size, size_limit, policy, created_us, ended_us, exit_code, chunks, received, size, kept, stored_size, stdout_size, stdout_lines, stderr_size, stderr_lines, chars, line_flags, hole, content_digest, chunks_digest, digest) VALUES (%(session_key)s, %(artifact_key)s, %(artifact_id)s, %(tool_call_id)s, %(source)s, %(command)s, %(content_type)s, %(state)s, %(reason)s, %(owner)s, %(newline)s, %(chunk_size)s, %(size_limit)s, %(policy)s, %(created_us)s, %(ended_us)s, %(exit_code)s, %(chunks)s, %(received)s, %(size)s, %(kept)s, %(stored_size)s, %(stdout_size)s, %(stdout_lines)s, %(stderr_size)s, %(stderr_lines)s, %(chars)s, %(line_flags)s, %(hole)s, %(content_digest)s, %(chunks_digest)s, %(digest)s)"
ARTIFACT_DIGEST = "SELECT artifact.digest FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.artifact_key = %(artifact_key)s"
ARTIFACT_DIGESTS = "SELECT artifact.digest FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s"
ARTIFACT_GET = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.artifact_id = %(artifact_id)s"
ARTIFACT_UPDATE = "UPDATE spillstore.artifact SET state=%(state)s, reason=%(reason)s, owner=%(owner)s, newline=%(newline)s, chunk_size=%(chunk_size)s, size_limit=%(size_limit)s, policy=%(policy)s, created_us=%(created_us)s, ended_us=%(ended_us)s, exit_code=%(exit_code)s, chunks=%(chunks)s, received=%(received)s, size=%(size)s, kept=%(kept)s, stored_size=%(stored_size)s, stdout_size=%(stdout_size)s, stdout_lines=%(stdout_lines)s, stderr_size=%(stderr_size)s, stderr_lines=%(stderr_lines)s, chars=%(chars)s, line_flags=%(line_flags)s, hole=%(hole)s, content_digest=%(content_digest)s, chunks_digest=%(chunks_digest)s, digest=%(digest)s WHERE artifact.session_key = %(session_key)s AND artifact.artifact_key = %(artifact_key)s"
ARTIFACT_REMOVE = "DELETE FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.artifact_key = %(artifact_key)s"
ARTIFACTS_UNFINISHED = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.state IN ('open', 'deleted')"
ARTIFACTS_PAGE = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.created_us >= %(since_us)s AND (artifact.created_us, artifact.artifact_key) < (%(before_us)s, %(before_key)s) AND artifact.state != 'deleted' AND (%(source)s::text IS NULL OR artifact.source = %(source)s) AND (%(tool_call_id)s::text IS NULL OR artifact.tool_call_id = %(tool_call_id)s) ORDER BY artifact.created_us DESC, artifact.artifact_key DESC LIMIT %(limit)s OFFSET 0"
ARTIFACTS_AFTER = "SELECT artifact.artifact_key, artifact.artifact_id, artifact.tool_call_id, artifact.source, artifact.command, artifact.content_type, artifact.state, artifact.reason, artifact.owner, artifact.newline, artifact.chunk_size, artifact.size_limit, artifact.policy, artifact.created_us, artifact.ended_us, artifact.exit_code, artifact.chunks, artifact.received, artifact.size, artifact.kept, artifact.stored_size, artifact.stdout_size, artifact.stdout_lines, artifact.stderr_size, artifact.stderr_lines, artifact.chars, artifact.line_flags, artifact.hole, artifact.content_digest, artifact.chunks_digest, artifact.digest FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.artifact_key > %(after)s ORDER BY artifact.artifact_key LIMIT %(limit)s OFFSET 0"
ARTIFACTS_MATCHING = "SELECT artifact.artifact_id FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.artifact_id >= %(low)s AND artifact.artifact_id < %(high)s AND artifact.state != 'deleted' ORDER BY artifact.artifact_id LIMIT %(limit)s OFFSET 0"
ARTIFACTS_OF_CONTENT = "SELECT artifact.artifact_id FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.content_digest = %(content_digest)s AND artifact.artifact_id != %(artifact_id)s AND artifact.state = 'sealed' AND artifact.hole IS NULL AND (artifact.policy != 'stop' OR artifact.size < artifact.size_limit) LIMIT %(limit)s OFFSET 0"
ARTIFACTS_SUMMARY = "SELECT count(*) AS count_1, coalesce(sum(artifact.kept), 0) AS coalesce_1 FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.state != 'deleted'"
ARTIFACTS_CREATED_SINCE = "SELECT count(*) AS count_1 FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.created_us > %(since_us)s AND artifact.created_us <= %(until_us)s"
ARTIFACTS_TO_EVICT = "SELECT artifact.artifact_id, (SELECT coalesce(max(event.event_key), 0) AS coalesce_1 FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.artifact_id = artifact.artifact_id AND event.kind IN ('read', 'search', 'query', 'compare', 'export')) AS last_read FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s AND artifact.state IN ('sealed', 'interrupted') AND artifact.stored_size > 0 ORDER BY last_read, artifact.created_us, artifact.artifact_key LIMIT %(limit)s OFFSET 0"
CHUNK_INSERT = "INSERT INTO spillstore.chunk (session_key, artifact_key, seq, size, line_start, stdout_start, stdout_size, stdout_line_start, stdout_lines, stderr_start, stderr_size, stderr_line_start, stderr_lines, time_start, time_end, line_flags, digest, segments, data, grams) VALUES (%(session_key)s, %(artifact_key)s, %(seq)s, %(size)s, %(line_start)s, %(stdout_start)s, %(stdout_size)s, %(stdout_line_start)s, %(stdout_lines)s, %(stderr_start)s, %(stderr_size)s, %(stderr_line_start)s, %(stderr_lines)s, %(time_start)s, %(time_end)s, %(line_flags)s, %(digest)s, %(segments)s, %(data)s, %(grams)s)"
CHUNKS_STORED = "SELECT coalesce(sum(length(chunk.data) + length(chunk.segments) + coalesce(length(chunk.grams), 0)), 0) AS coalesce_1 FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.seq >= %(first)s AND chunk.seq < %(last)s"
CHUNK_FIRST = "SELECT min(chunk.seq) AS min_1 FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s"
CHUNKS_WITHOUT_ARTIFACT = "SELECT DISTINCT chunk.artifact_key FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND (chunk.artifact_key NOT IN (SELECT artifact.artifact_key FROM spillstore.artifact WHERE artifact.session_key = %(session_key)s))"
RANGE_COMBINED = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.seq > %(after)s AND chunk.seq <= %(last)s ORDER BY chunk.seq LIMIT %(limit)s OFFSET 0"
RANGE_GRAMS = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, ''::bytea, ''::bytea, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.seq > %(after)s AND chunk.seq <= %(last)s ORDER BY chunk.seq LIMIT %(limit)s OFFSET 0"
LINE_COMBINED = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.line_start < %(line)s ORDER BY chunk.line_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
TIME_COMBINED = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.time_start < %(time)s ORDER BY chunk.time_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
RANGE_STDOUT = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.stdout_size > 0 AND chunk.stdout_start > %(after)s AND chunk.stdout_start <= %(last)s ORDER BY chunk.stdout_start, chunk.seq LIMIT %(limit)s OFFSET 0"
BYTE_STDOUT = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.stdout_size > 0 AND chunk.stdout_start <= %(position)s ORDER BY chunk.stdout_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
LINE_STDOUT = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.stdout_size > 0 AND chunk.stdout_line_start < %(line)s ORDER BY chunk.stdout_line_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
RANGE_STDERR = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.stderr_size > 0 AND chunk.stderr_start > %(after)s AND chunk.stderr_start <= %(last)s ORDER BY chunk.stderr_start, chunk.seq LIMIT %(limit)s OFFSET 0"
BYTE_STDERR = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.stderr_size > 0 AND chunk.stderr_start <= %(position)s ORDER BY chunk.stderr_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
LINE_STDERR = "SELECT chunk.seq, chunk.size, chunk.line_start, chunk.stdout_start, chunk.stdout_size, chunk.stdout_line_start, chunk.stdout_lines, chunk.stderr_start, chunk.stderr_size, chunk.stderr_line_start, chunk.stderr_lines, chunk.time_start, chunk.time_end, chunk.line_flags, chunk.digest, chunk.segments, chunk.data, chunk.grams FROM spillstore.chunk WHERE chunk.session_key = %(session_key)s AND chunk.artifact_key = %(artifact_key)s AND chunk.stderr_size > 0 AND chunk.stderr_line_start < %(line)s ORDER BY chunk.stderr_line_start DESC, chunk.seq DESC LIMIT 1 OFFSET 0"
EVENTS_OF_ARTIFACT = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.artifact_id = %(artifact_id)s AND (%(kind)s::text IS NULL OR event.kind = %(kind)s) ORDER BY event.event_key DESC LIMIT %(limit)s OFFSET 0"
EVENTS_PAGE = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.at_us >= %(since_us)s AND (event.at_us, event.event_key) < (%(before_us)s, %(before_key)s) AND (%(kind)s::text IS NULL OR event.kind = %(kind)s) AND (%(actor)s::text IS NULL OR event.actor = %(actor)s) AND (%(artifact_id)s::text IS NULL OR event.artifact_id = %(artifact_id)s) AND (%(tool_call_id)s::text IS NULL OR event.tool_call_id = %(tool_call_id)s) ORDER BY event.at_us DESC, event.event_key DESC LIMIT %(limit)s OFFSET 0"
EVENTS_OF_USE_SINCE = "SELECT count(*) AS count_1 FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.at_us > %(since_us)s AND event.at_us <= %(until_us)s AND event.kind != 'interrupt'"
EVENTS_AFTER = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.event_key > %(after)s ORDER BY event.event_key LIMIT %(limit)s OFFSET 0"
EVENTS_WHOLE_AFTER = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail, event.shown FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.event_key > %(after)s ORDER BY event.event_key LIMIT %(limit)s OFFSET 0"
EVENT_NEWEST = "SELECT coalesce(max(event.event_key), 0) AS coalesce_1 FROM spillstore.event WHERE event.session_key = %(session_key)s"
EVENTS_DROP_FIRST = "DELETE FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.event_key IN (SELECT event.event_key FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.event_key <= %(last)s AND event.kind != 'rendered' ORDER BY event.event_key LIMIT %(limit)s OFFSET 0)"
EVENTS_DROP_OLD = "DELETE FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.event_key IN (SELECT event.event_key FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.at_us < %(before_us)s AND event.kind != 'rendered' ORDER BY event.at_us, event.event_key LIMIT %(limit)s OFFSET 0)"
EVENTS_SHOWN = "SELECT event.event_key, event.at_us, event.kind, event.artifact_id, event.actor, event.tool_call_id, event.detail FROM spillstore.event WHERE event.session_key = %(session_key)s AND event.shown = %(shown)s AND (EXISTS (SELECT * FROM spillstore.artifact WHERE artifact.session_key = event.session_key AND artifact.artifact_id = event.artifact_id AND artifact.state != 'deleted')) LIMIT %(limit)s OFFSET 0"
EVENTS_INSERT = "INSERT INTO spillstore.event (session_key, event_key, at_us, kind, artifact_id, actor, tool_call_id, detail, shown) VALUES (%(session_key)s, %(event_key)s, %(at_us)s, %(kind)s, %(artifact_id)s, %(actor)s, %(tool_call_id)s, %(detail)s, %(shown)s)"
