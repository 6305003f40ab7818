"""Events of deleted sessions, where ``audit_keep`` is set: rows of ``kept_event``, copied in the transaction that deletes."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from spillstore import info as infos
from spillstore.engine.postgres.asking import Asking
from spillstore.engine.rows import EVENT_FIELDS
from spillstore.events.catalogue import RENDERED
from spillstore.model.arguments import page_cursor

if TYPE_CHECKING:
    from spillstore.engine.postgres.connections import Connections, Statement
    from spillstore.engine.postgres.transactions import ServerTransaction
    from spillstore.engine.rows import EventFilter, Row
    from spillstore.info import Event, Page
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_CURSOR: Final = re.compile(r"(\d{1,18})-(\d{1,19})-(\d{1,18})", re.ASCII)
_LARGEST: Final = 2**62
_AT_ONCE: Final = 100  # sessions whose events are asked for in one round trip
_Place: TypeAlias = tuple[int, int, int]  # of an event among all: its time, session and key
_COLUMNS: Final = ", ".join(EVENT_FIELDS)
_SESSION: Final = (
    "INSERT INTO spillstore.kept_session (name, session_key, uid, kept_at) VALUES (%(name)s, %(session_key)s, %(uid)s,"
    " statement_timestamp()) ON CONFLICT DO NOTHING"
)
_EVENTS: Final = (
    f"INSERT INTO spillstore.kept_event (session_key, {_COLUMNS}) SELECT session_key, {_COLUMNS} FROM spillstore.event"
    f" WHERE session_key = %(session_key)s AND kind <> '{RENDERED}' ON CONFLICT DO NOTHING"
)
_OLD: Final = (
    "DELETE FROM spillstore.kept_event WHERE session_key = %(session_key)s AND at_us < %(before_us)s"
)
_SESSIONS: Final = "SELECT session_key FROM spillstore.kept_session WHERE name = %(name)s"
_PAGE: Final = (
    f"SELECT {_COLUMNS} FROM spillstore.kept_event WHERE session_key = %(session_key)s AND at_us >= %(since_us)s"
    " AND (at_us, event_key) < (%(before_us)s, %(before_key)s)"
    + "".join(
        f" AND (%({name})s::text IS NULL OR {name} = %({name})s)"
        for name in ("kind", "actor", "artifact_id", "tool_call_id")
    )
    + " ORDER BY at_us DESC, event_key DESC LIMIT %(limit)s"
)


def append(tx: ServerTransaction, name: str, session: SessionRow, settings: Settings, now_us: int) -> None:
    """Copy the events of a session that is being deleted.

    Args:
        tx: the transaction that marks it as deleted.
        name: by which it is found.
        session: its row.
        settings: how long events are kept.
        now_us: the time.
    """
    tx.write(_SESSION, name=name, uid=session.uid)
    tx.write(_EVENTS)
    if settings.audit_age:
        tx.write(_OLD, before_us=now_us - int(settings.audit_age * 1e6))


def page(
    connections: Connections, name: str, events: EventFilter, limit: int, cursor: str | None
) -> Page[Event]:
    """A page of the events of all deleted sessions of a name, the newest first; see ``Store.deleted_events``.

    One round trip for the sessions, and one for each hundred of them. Each is asked again where the connection was lost.
    """
    match = page_cursor(limit, cursor, _CURSOR)
    # Time, session and key of the last event of the page before.
    last = (events.before_us, 0, 0) if match is None else (int(match[1]), int(match[2]), int(match[3]))
    limit = min(limit, _LARGEST)
    with Asking(connections, "reading kept events") as server:
        keys = [key for (key,) in server.ask(_SESSIONS, name=name)]
        found: list[tuple[_Place, Row]] = []
        for first in range(0, len(keys), _AT_ONCE):
            asked = keys[first : first + _AT_ONCE]
            answers = server.run(*(_events_before(key, last, events, limit + 1) for key in asked))
            for key, answer in zip(asked, answers, strict=True):
                found += [((row[1], key, row[0]), row) for row in answer.fetchall()]
            found = sorted(found, key=operator.itemgetter(0), reverse=True)[: limit + 1]
    cursor = "{}-{}-{}".format(*found[limit - 1][0]) if len(found) > limit else None
    return infos.Page([infos.event_of(row) for _, row in found[:limit]], cursor)


def _events_before(key: int, last: _Place, events: EventFilter, limit: int) -> Statement:
    """What asks for a session's events behind the last one of the page before."""
    at_us, last_session, last_key = last
    before = (at_us, last_key) if key == last_session else (at_us + (key < last_session), 0)
    values = {**events._asdict(), **dict(zip(("before_us", "before_key"), before, strict=True))}
    return _PAGE, {**values, "session_key": key, "limit": limit}
