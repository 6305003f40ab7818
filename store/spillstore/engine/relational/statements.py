"""Every statement of the store, written once as SQLAlchemy Core.

Importing SQLAlchemy costs 300 ms and running a look-up through it four times what ``sqlite3`` takes. So each engine
renders the statements into plain strings, in a module ``sql.py`` of its own, which is all that it needs at run time; a test
renders them again and compares.

Query shapes were chosen by measurement. A look-up is ``counter < k ORDER BY counter DESC, seq DESC LIMIT 1`` on an
index that ends in ``seq``, because one line may span 100,000 chunks, all with the same counter. Ranges are bounded on
both sides by the key itself: ``counter < k`` as an upper bound made the planner walk the index (15 ms at 1 GiB instead
of 0.2). ``<stream>_size > 0`` stands there as a literal so that the partial indexes apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from spillstore.engine.relational.schema import artifact, chunk, event, session
from spillstore.events.catalogue import READS, RENDERED

if TYPE_CHECKING:
    from sqlalchemy.sql.elements import ClauseElement

_P = sa.bindparam
_ZERO: sa.ColumnElement[int] = sa.literal_column("0")
_EMPTY: sa.ColumnElement[bytes] = sa.literal_column("x''")
_ONE: sa.ColumnElement[int] = sa.literal_column("1")

# The event by which somebody has last looked into an artifact; 0 if nobody has.
_LAST_READ = (
    sa.select(sa.func.coalesce(sa.func.max(event.c.event_key), _ZERO))
    .where(
        event.c.session_key == _P("session_key"),
        event.c.artifact_id == artifact.c.artifact_id,
        event.c.kind.in_([sa.literal_column(f"'{kind}'") for kind in READS]),
    )
    .scalar_subquery()
    .label("last_read")
)
_MUTABLE_ARTIFACT = [column.name for column in artifact.columns][
    list(artifact.columns.keys()).index("state") :
]
CHUNK_COLUMNS = [column for column in chunk.columns if column.name not in {"session_key", "artifact_key"}]
_EVENT_COLUMNS = [column for column in event.columns if column.name not in {"session_key", "shown"}]
ARTIFACT_COLUMNS = [column for column in artifact.columns if column.name != "session_key"]
SESSION_COLUMNS = [column for column in session.columns if column.name != "session_key"]


def _of(table: sa.Table, *more: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.session_key == _P("session_key"), *more)


def _of_artifact(*more: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return _of(chunk, chunk.c.artifact_key == _P("artifact_key"), *more)


def _chunks(where: sa.ColumnElement[bool], *order: sa.ColumnElement[Any], limit: Any) -> sa.Select[Any]:
    return sa.select(*CHUNK_COLUMNS).where(where).order_by(*order).limit(limit).offset(_ZERO)


def _locate(where: sa.ColumnElement[bool], *order: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return _chunks(where, *(column.desc() for column in order), limit=_ONE)


def statements() -> dict[str, ClauseElement]:
    """All statements by name, in the order in which they are rendered."""
    return _of_sessions() | _of_artifacts() | _of_chunks() | _of_events() | _of_archive()


def _of_sessions() -> dict[str, ClauseElement]:
    return {
        "SESSION_GET": sa.select(*SESSION_COLUMNS).where(_of(session)),
        "SESSION_INSERT": sa.insert(session),
        "SESSION_UPDATE": sa.update(session)
        .where(_of(session))
        .values(
            ended_us=_P("ended_us"),
            deleted_us=_P("deleted_us"),
            artifacts_sum=_P("artifacts_sum"),
            digest=_P("digest"),
        ),
        "SESSION_DELETED": sa.select(session.c.deleted_us).where(_of(session)),
        "SESSION_NEXT_KEY": sa.update(session)
        .where(_of(session))
        .values(next_artifact_key=session.c.next_artifact_key + _ONE)
        .returning(session.c.next_artifact_key),
    }


def _of_artifacts() -> dict[str, ClauseElement]:
    return {
        "ARTIFACT_INSERT": sa.insert(artifact),
        "ARTIFACT_DIGEST": sa.select(artifact.c.digest).where(
            _of(artifact, artifact.c.artifact_key == _P("artifact_key"))
        ),
        "ARTIFACT_DIGESTS": sa.select(artifact.c.digest).where(_of(artifact)),
        "ARTIFACT_GET": sa.select(*ARTIFACT_COLUMNS).where(
            _of(artifact, artifact.c.artifact_id == _P("artifact_id"))
        ),
        "ARTIFACT_UPDATE": sa.update(artifact)
        .where(_of(artifact, artifact.c.artifact_key == _P("artifact_key")))
        .values({name: _P(name) for name in _MUTABLE_ARTIFACT}),
        "ARTIFACT_REMOVE": sa.delete(artifact).where(
            _of(artifact, artifact.c.artifact_key == _P("artifact_key"))
        ),
        "ARTIFACTS_UNFINISHED": sa.select(*ARTIFACT_COLUMNS).where(
            _of(artifact, artifact.c.state.in_([sa.literal_column("'open'"), sa.literal_column("'deleted'")]))
        ),
        "ARTIFACTS_PAGE": sa.select(*ARTIFACT_COLUMNS)
        .where(
            _of(
                artifact,
                artifact.c.created_us >= _P("since_us"),
                sa.tuple_(artifact.c.created_us, artifact.c.artifact_key)
                < sa.tuple_(_P("before_us", type_=sa.BigInteger), _P("before_key", type_=sa.BigInteger)),
                artifact.c.state != sa.literal_column("'deleted'"),
                *(
                    sa.or_(_P(name, type_=sa.Text).is_(None), artifact.c[name] == _P(name))
                    for name in ("source", "tool_call_id")
                ),
            )
        )
        .order_by(artifact.c.created_us.desc(), artifact.c.artifact_key.desc())
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO),
        "ARTIFACTS_AFTER": sa.select(*ARTIFACT_COLUMNS)
        .where(_of(artifact, artifact.c.artifact_key > _P("after")))
        .order_by(artifact.c.artifact_key)
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO),
        "ARTIFACTS_MATCHING": sa.select(artifact.c.artifact_id)
        .where(
            _of(
                artifact,
                artifact.c.artifact_id >= _P("low"),
                artifact.c.artifact_id < _P("high"),
                artifact.c.state != sa.literal_column("'deleted'"),
            )
        )
        .order_by(artifact.c.artifact_id)
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO),
        # Without ORDER BY: for the order of the primary key, the planner would walk that. The index gives rows in
        # the order in which they were inserted.
        "ARTIFACTS_OF_CONTENT": sa.select(artifact.c.artifact_id)
        .where(
            _of(
                artifact,
                artifact.c.content_digest == _P("content_digest"),
                artifact.c.artifact_id != _P("artifact_id"),
                artifact.c.state == sa.literal_column("'sealed'"),
                artifact.c.hole.is_(None),
                sa.or_(
                    artifact.c.policy != sa.literal_column("'stop'"),
                    artifact.c.size < artifact.c.size_limit,
                ),
            )
        )
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO),
        "ARTIFACTS_SUMMARY": sa.select(
            sa.func.count(), sa.func.coalesce(sa.func.sum(artifact.c.kept), _ZERO)
        ).where(_of(artifact, artifact.c.state != sa.literal_column("'deleted'"))),
        "ARTIFACTS_CREATED_SINCE": sa.select(sa.func.count()).where(
            _of(artifact, artifact.c.created_us > _P("since_us"), artifact.c.created_us <= _P("until_us"))
        ),
        "ARTIFACTS_TO_EVICT": sa.select(artifact.c.artifact_id, _LAST_READ)
        .where(
            _of(
                artifact,
                artifact.c.state.in_([sa.literal_column("'sealed'"), sa.literal_column("'interrupted'")]),
                artifact.c.stored_size > _ZERO,
            )
        )
        .order_by(_LAST_READ, artifact.c.created_us, artifact.c.artifact_key)
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO),
    }


def _of_chunks() -> dict[str, ClauseElement]:
    c = chunk.c
    out: dict[str, ClauseElement] = {
        "CHUNK_INSERT": sa.insert(chunk),
        "CHUNKS_DROP": sa.delete(chunk).where(_of_artifact(c.seq >= _P("first"), c.seq < _P("last"))),
        "CHUNKS_STORED": sa.select(
            sa.func.coalesce(
                sa.func.sum(
                    sa.func.length(c.data)
                    + sa.func.length(c.segments)
                    + sa.func.coalesce(sa.func.length(c.grams), _ZERO)
                ),
                _ZERO,
            )
        ).where(_of_artifact(c.seq >= _P("first"), c.seq < _P("last"))),
        "CHUNK_FIRST": sa.select(sa.func.min(c.seq)).where(_of_artifact()),
        "CHUNK_DIGESTS": sa.select(c.seq, c.digest).where(_of_artifact()).order_by(c.seq),
        "CHUNKS_WITHOUT_ARTIFACT": sa.select(c.artifact_key)
        .where(_of(chunk, c.artifact_key.not_in(sa.select(artifact.c.artifact_key).where(_of(artifact)))))
        .distinct(),
        "RANGE_COMBINED": _chunks(
            _of_artifact(c.seq > _P("after"), c.seq <= _P("last")),
            c.seq,
            limit=_P("limit", type_=sa.BigInteger),
        ),
        "RANGE_GRAMS": sa.select(
            *(_EMPTY if each.name in {"segments", "data"} else each for each in CHUNK_COLUMNS)
        )
        .where(_of_artifact(c.seq > _P("after"), c.seq <= _P("last")))
        .order_by(c.seq)
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO),
        "LINE_COMBINED": _locate(_of_artifact(c.line_start < _P("line")), c.line_start, c.seq),
        "TIME_COMBINED": _locate(_of_artifact(c.time_start < _P("time")), c.time_start, c.seq),
    }
    for stream in ("stdout", "stderr"):
        start, line_start, size = c[f"{stream}_start"], c[f"{stream}_line_start"], c[f"{stream}_size"]
        out[f"RANGE_{stream.upper()}"] = _chunks(
            _of_artifact(size > _ZERO, start > _P("after"), start <= _P("last")),
            start,
            c.seq,
            limit=_P("limit", type_=sa.BigInteger),
        )
        out[f"BYTE_{stream.upper()}"] = _locate(
            _of_artifact(size > _ZERO, start <= _P("position")), start, c.seq
        )
        out[f"LINE_{stream.upper()}"] = _locate(
            _of_artifact(size > _ZERO, line_start < _P("line")), line_start, c.seq
        )
    return out


def _of_events() -> dict[str, ClauseElement]:
    out: dict[str, ClauseElement] = {}
    out["EVENTS_OF_ARTIFACT"] = (
        sa.select(*_EVENT_COLUMNS)
        .where(
            _of(
                event,
                event.c.artifact_id == _P("artifact_id"),
                sa.or_(_P("kind", type_=sa.Text).is_(None), event.c.kind == _P("kind")),
            )
        )
        .order_by(event.c.event_key.desc())
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO)
    )
    out["EVENTS_PAGE"] = (
        sa.select(*_EVENT_COLUMNS)
        .where(
            _of(
                event,
                event.c.at_us >= _P("since_us"),
                sa.tuple_(event.c.at_us, event.c.event_key)
                < sa.tuple_(_P("before_us", type_=sa.BigInteger), _P("before_key", type_=sa.BigInteger)),
                *(
                    sa.or_(_P(name, type_=sa.Text).is_(None), event.c[name] == _P(name))
                    for name in ("kind", "actor", "artifact_id", "tool_call_id")
                ),
            )
        )
        .order_by(event.c.at_us.desc(), event.c.event_key.desc())
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO)
    )
    # An ``interrupt`` may be what a dead process left, written by the process that opens the session to delete it.
    out["EVENTS_OF_USE_SINCE"] = sa.select(sa.func.count()).where(
        _of(
            event,
            event.c.at_us > _P("since_us"),
            event.c.at_us <= _P("until_us"),
            event.c.kind != sa.literal_column("'interrupt'"),
        )
    )
    out["EVENT_INSERT"] = sa.insert(event).from_select(
        [column.name for column in event.columns],
        sa.select(
            _P("session_key", type_=sa.BigInteger),
            sa.func.coalesce(sa.func.max(event.c.event_key), _ZERO) + _ONE,
            *(_P(column.name, type_=column.type) for column in list(event.columns)[2:]),
        ).where(_of(event)),
    )
    for name, columns in (
        ("EVENTS_AFTER", _EVENT_COLUMNS),
        ("EVENTS_WHOLE_AFTER", [*_EVENT_COLUMNS, event.c.shown]),
    ):
        out[name] = (
            sa.select(*columns)
            .where(_of(event, event.c.event_key > _P("after")))
            .order_by(event.c.event_key)
            .limit(_P("limit", type_=sa.BigInteger))
            .offset(_ZERO)
        )
    out["EVENT_NEWEST"] = sa.select(sa.func.coalesce(sa.func.max(event.c.event_key), _ZERO)).where(_of(event))
    for name, past, order in (
        ("EVENTS_DROP_FIRST", event.c.event_key <= _P("last"), (event.c.event_key,)),
        ("EVENTS_DROP_OLD", event.c.at_us < _P("before_us"), (event.c.at_us, event.c.event_key)),
    ):
        doomed = (
            sa.select(event.c.event_key)
            .where(_of(event, past, event.c.kind != sa.literal_column(f"'{RENDERED}'")))
            .order_by(*order)
            .limit(_P("limit", type_=sa.BigInteger))
            .offset(_ZERO)
        )
        out[name] = sa.delete(event).where(_of(event, event.c.event_key.in_(doomed)))
    # Without ORDER BY, like ARTIFACTS_OF_CONTENT.
    out["EVENTS_SHOWN"] = (
        sa.select(*_EVENT_COLUMNS)
        .where(
            _of(
                event,
                event.c.shown == _P("shown"),
                sa.exists().where(
                    artifact.c.session_key == event.c.session_key,
                    artifact.c.artifact_id == event.c.artifact_id,
                    artifact.c.state != sa.literal_column("'deleted'"),
                ),
            )
        )
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO)
    )
    out["EVENTS_INSERT"] = sa.insert(event)
    return out


def _of_archive() -> dict[str, ClauseElement]:
    """The statements of archives, which hold rows of many sessions. All others are shared with session files."""
    oldest = (
        sa.select(event.c.session_key, event.c.event_key)
        .order_by(event.c.at_us, event.c.session_key, event.c.event_key)
        .limit(_P("limit", type_=sa.BigInteger))
        .offset(_ZERO)
    )
    return {
        "ARCHIVE_KEY": sa.select(session.c.session_key).where(session.c.uid == _P("uid")),
        "ARCHIVE_NEXT_KEY": sa.select(sa.func.coalesce(sa.func.max(session.c.session_key), _ZERO) + _ONE),
        "ARCHIVE_SESSIONS": sa.select(session.c.session_key, session.c.uid).where(
            session.c.session_id == _P("session_id"),
            session.c.project_id.is_not_distinct_from(_P("project_id")),
        ),
        "ARCHIVE_COUNT": sa.select(sa.func.count()).select_from(event),
        "ARCHIVE_DROP_OLD": sa.delete(event)
        .where(event.c.at_us < _P("before_us"))
        .returning(event.c.session_key),
        "ARCHIVE_DROP_FIRST": sa.delete(event)
        .where(sa.tuple_(event.c.session_key, event.c.event_key).in_(oldest))
        .returning(event.c.session_key),
        "ARCHIVE_DROP_SESSION": sa.delete(session).where(
            _of(session, ~sa.exists().where(event.c.session_key == session.c.session_key))
        ),
    }
