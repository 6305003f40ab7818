"""Statements on the tables that a server has besides those of sessions: what there is, who writes, and what is to be freed.

``name``
    A session's name, and the key under which its rows are. A session that is deleted loses its name at once; a later one of
    that name has another key, so it meets nothing old. ``name`` is the id of the session, behind that of its project and a
    line end if it has one: ids hold no control characters.
``place``
    One row for each session, which every write locks. ``version`` counts commits, ``token`` is that of the last one,
    ``stored_bytes`` what the session takes, by the estimates below.
``claim``
    Who has a session open for writing. A claim lives while its ``beat``, by the server's clock, is not older than the
    setting ``lease``; whoever acts on a dead one deletes it, and then its owner cannot write any more. ``token`` is that of
    the owner's last commit: after a lost connection it tells whether that commit was done.
``doomed``
    Sessions without a name, whose rows are removed in steps.
``kept_session``, ``kept_event``
    Events of deleted sessions, with ``audit_keep``.
``store``
    One row: when the store was looked at for what is too old, and how large it was.

The time is ``statement_timestamp()``, which is one value for a whole statement: where tables are distributed, Citus takes no
``clock_timestamp()`` in what changes rows.
"""

from __future__ import annotations

from typing import Final

# What rows take on the disk, with their indexes; measured on logs that compress to a fifth.
CHUNK_BYTES: Final = 700  # besides its data
ARTIFACT_BYTES: Final = 1000
EVENT_BYTES: Final = 400
SESSION_BYTES: Final = 500
_DATA: Final = "113 / 100"  # of a chunk's bytes: pages of the table beside

BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"  # whatever the server's default is
BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"
SET_LOCAL: Final = (
    "SELECT set_config('lock_timeout', %(lock_timeout)s, true), set_config('synchronous_commit', %(durable)s, true),"
    " set_config('statement_timeout', %(statement_timeout)s, true),"
    " set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true)"
)

# From PostgreSQL 17 on: also of who was stopped while it was sending, which no other limit of the server knows.
SET_LONGEST: Final = "SELECT set_config('transaction_timeout', %(longest)s, true)"

NAME_GET: Final = "SELECT session_key, uid FROM spillstore.name WHERE name = %(name)s"
NAME_INSERT: Final = (
    "INSERT INTO spillstore.name (name, session_key, uid) VALUES (%(name)s, %(session_key)s, %(uid)s)"
)
NAME_DELETE: Final = "DELETE FROM spillstore.name WHERE name = %(name)s AND session_key = %(session_key)s"

PLACE_INSERT: Final = (
    "INSERT INTO spillstore.place (session_key, uid, project_id, session_id, version, stored_bytes, used_at)"
    f" VALUES (%(session_key)s, %(uid)s, %(project_id)s, %(session_id)s, 0, {SESSION_BYTES}, statement_timestamp())"
)
PLACE_THERE: Final = "SELECT stored_bytes, version FROM spillstore.place WHERE session_key = %(session_key)s"
PLACE_LOCK: Final = (
    "SELECT version, token, stored_bytes FROM spillstore.place WHERE session_key = %(session_key)s FOR UPDATE"
)
PLACE_UPDATE: Final = (
    "UPDATE spillstore.place SET version = version + 1, token = %(token)s, stored_bytes = stored_bytes + %(added)s,"
    " used_at = statement_timestamp() WHERE session_key = %(session_key)s"
)
PLACE_DOOM: Final = (
    "INSERT INTO spillstore.doomed (session_key, project_id, stored_bytes, doomed_at)"
    " SELECT session_key, project_id, stored_bytes, statement_timestamp() FROM spillstore.place"
    " WHERE session_key = %(session_key)s"
)
PLACE_DELETE: Final = "DELETE FROM spillstore.place WHERE session_key = %(session_key)s"

CLAIM_INSERT: Final = (
    "INSERT INTO spillstore.claim (session_key, owner, about, beat)"
    " VALUES (%(session_key)s, %(owner)s, %(about)s, statement_timestamp())"
)
CLAIM_LOCK: Final = (
    "SELECT token FROM spillstore.claim WHERE session_key = %(session_key)s AND owner = %(owner)s FOR UPDATE"
)
CLAIM_UPDATE: Final = (
    "UPDATE spillstore.claim SET token = %(token)s, beat = statement_timestamp()"
    " WHERE session_key = %(session_key)s AND owner = %(owner)s"
)
# Whether the claim is there. One whose owner writes just now is left alone: the commit beats for it.
CLAIM_BEAT: Final = (
    "WITH mine AS (SELECT session_key, owner FROM spillstore.claim WHERE session_key = %(session_key)s AND owner = %(owner)s"
    " FOR UPDATE SKIP LOCKED), beaten AS (UPDATE spillstore.claim SET beat = statement_timestamp() FROM mine"
    " WHERE claim.session_key = mine.session_key AND claim.owner = mine.owner)"
    " SELECT FROM spillstore.claim WHERE session_key = %(session_key)s AND owner = %(owner)s"
)
CLAIM_DELETE: Final = "DELETE FROM spillstore.claim WHERE session_key = %(session_key)s AND owner = %(owner)s"
_ALIVE: Final = "beat >= statement_timestamp() - make_interval(secs => %(lease)s)"
CLAIM_ALIVE: Final = (
    f"SELECT {_ALIVE} FROM spillstore.claim WHERE session_key = %(session_key)s AND owner = %(owner)s"
)
CLAIMS_DELETE_DEAD: Final = (
    f"DELETE FROM spillstore.claim WHERE session_key = %(session_key)s AND NOT {_ALIVE} RETURNING owner"
)
CLAIMS_DELETE: Final = "DELETE FROM spillstore.claim WHERE session_key = %(session_key)s"
CLAIMS_LIVING: Final = f"SELECT owner, about FROM spillstore.claim WHERE session_key = %(session_key)s AND {_ALIVE} ORDER BY owner"
CLAIMS_ALL_LIVING: Final = f"SELECT about FROM spillstore.claim WHERE {_ALIVE} ORDER BY about"

SESSION_ROW_DELETE: Final = "DELETE FROM spillstore.session WHERE session_key = %(session_key)s"
SESSION_KEY_SET: Final = "UPDATE spillstore.session SET next_artifact_key = %(next_artifact_key)s WHERE session_key = %(session_key)s"

# A chunk's share of ``stored_bytes`` is the same when it comes and when it goes.
_SHARE: Final = (
    f"((length(data) + length(segments) + coalesce(length(grams), 0))::int8 * {_DATA} + {CHUNK_BYTES})"
)
CHUNKS_DROP: Final = (
    "WITH gone AS (DELETE FROM spillstore.chunk WHERE session_key = %(session_key)s AND artifact_key = %(artifact_key)s"
    f" AND seq >= %(first)s AND seq < %(last)s RETURNING {_SHARE} AS share)"
    " UPDATE spillstore.place SET stored_bytes = stored_bytes - (SELECT coalesce(sum(share), 0)::int8 FROM gone)"
    " WHERE session_key = %(session_key)s"
)
CHUNK_DIGESTS: Final = (
    "SELECT seq, digest FROM spillstore.chunk WHERE session_key = %(session_key)s AND artifact_key = %(artifact_key)s"
    " AND seq > %(after)s ORDER BY seq LIMIT %(limit)s"
)

SESSIONS_PAGE: Final = (
    "SELECT place.session_key, place.session_id, place.project_id,"
    " extract(epoch FROM statement_timestamp() - place.used_at)::float8, place.stored_bytes,"
    f" EXISTS (SELECT FROM spillstore.claim WHERE claim.session_key = place.session_key AND {_ALIVE})"
    " FROM spillstore.place WHERE place.session_key > %(after)s"
    " AND (%(project_id)s::text IS NULL OR place.project_id = %(project_id)s)"
    " ORDER BY place.session_key LIMIT %(limit)s"
)
STORE_SIZE: Final = "SELECT coalesce(sum(stored_bytes), 0)::int8 FROM spillstore.place"
STORE_MEASURED: Final = (
    "SELECT size, extract(epoch FROM statement_timestamp() - measured_at)::float8 FROM spillstore.store"
    " WHERE size IS NOT NULL"
)
STORE_REMEMBER: Final = "UPDATE spillstore.store SET size = %(size)s, measured_at = statement_timestamp()"
STORE_FORGET: Final = "UPDATE spillstore.store SET size = NULL"
# When the store was looked at before, and whether it is time again: then this is the time for whoever asks next.
STORE_LOOKED: Final = (
    "WITH before AS (SELECT looked_at FROM spillstore.store FOR UPDATE), looked AS"
    " (UPDATE spillstore.store SET looked_at = %(now)s FROM before WHERE before.looked_at IS NULL"
    " OR %(now)s < before.looked_at OR %(now)s - before.looked_at >= %(interval)s RETURNING 1)"
    " SELECT looked_at, EXISTS (SELECT FROM looked) FROM before"
)

DOOMED: Final = "SELECT session_key, stored_bytes FROM spillstore.doomed ORDER BY session_key"
DOOMED_SIZE: Final = "SELECT stored_bytes FROM spillstore.doomed WHERE session_key = %(session_key)s"
DOOMED_DELETE: Final = "DELETE FROM spillstore.doomed WHERE session_key = %(session_key)s"
DOOMED_FREED: Final = (
    "UPDATE spillstore.doomed SET stored_bytes = greatest(stored_bytes - %(freed)s, 0)"
    " WHERE session_key = %(session_key)s"
)
# Whether there are rows still, also such as another process is about to remove: each by the first of its index.
DOOMED_LEFT: Final = " UNION ALL ".join(
    f"(SELECT session_key FROM spillstore.{table} WHERE session_key = %(session_key)s ORDER BY {order} LIMIT 1)"
    for table, order in (("chunk", "artifact_key, seq"), ("artifact", "artifact_key"), ("event", "event_key"))
)
# One step of freeing; returns how many rows went, and their share.
DOOMED_CHUNKS: Final = (
    "WITH gone AS (DELETE FROM spillstore.chunk WHERE session_key = %(session_key)s AND (artifact_key, seq) IN"
    " (SELECT artifact_key, seq FROM spillstore.chunk WHERE session_key = %(session_key)s ORDER BY artifact_key, seq"
    f" LIMIT %(limit)s) RETURNING {_SHARE} AS share) SELECT count(*), coalesce(sum(share), 0)::int8 FROM gone"
)
DOOMED_ARTIFACTS: Final = (
    "WITH gone AS (DELETE FROM spillstore.artifact WHERE session_key = %(session_key)s AND artifact_key IN"
    " (SELECT artifact_key FROM spillstore.artifact WHERE session_key = %(session_key)s ORDER BY artifact_key"
    f" LIMIT %(limit)s) RETURNING 1) SELECT count(*), count(*) * {ARTIFACT_BYTES} FROM gone"
)
DOOMED_EVENTS: Final = (
    "WITH gone AS (DELETE FROM spillstore.event WHERE session_key = %(session_key)s AND event_key IN"
    " (SELECT event_key FROM spillstore.event WHERE session_key = %(session_key)s ORDER BY event_key"
    f" LIMIT %(limit)s) RETURNING 1) SELECT count(*), count(*) * {EVENT_BYTES} FROM gone"
)


def chunk_bytes(stored: int) -> int:
    """What a chunk of so many stored bytes counts for: the share of ``stored_bytes`` that its removal gives back."""
    return stored * 113 // 100 + CHUNK_BYTES
