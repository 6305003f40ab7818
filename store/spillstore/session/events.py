"""The events of a session: those that are recorded, read page by page, and those that callers add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.audit.actor import acting
from spillstore.engine.rows import END, EventFilter
from spillstore.exceptions import SessionDeletedError
from spillstore.model.arguments import LARGEST, filter_text, filter_time, page_start, storable
from spillstore.model.ids import named_by

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from spillstore.audit.action import Action
    from spillstore.engine.rows import Row
    from spillstore.info import Event, Page
    from spillstore.session.handle import SessionHandle

_PAGE = 100
_KEY, _AT_US = 0, 1  # columns of an event's row
_EQUAL = ("kind", "artifact_id", "actor", "tool_call_id")  # filters that are attributes of an event, too


def event_filter(
    kind: str | None,
    artifact_id: str | None,
    actor: str | None,
    tool_call_id: str | None,
    since: float | None,
    until: float | None,
) -> EventFilter:
    """The events that the arguments of ``Session.events`` choose.

    Raises:
        InvalidSettingError: one of them is no text, or no time.
    """
    named = storable(filter_text(artifact_id, "artifact_id"))
    before_us = filter_time(until, "until")
    return EventFilter(
        since_us=filter_time(since, "since") or 0,
        before_us=END if before_us is None else before_us,
        kind=storable(filter_text(kind, "kind")),
        actor=storable(filter_text(actor, "actor")),
        artifact_id=None if named is None else named_by(named)[0],
        tool_call_id=storable(filter_text(tool_call_id, "tool_call_id")),
    )


class SessionEvents:
    """The audit log of one session."""

    def __init__(self, session: SessionHandle) -> None:
        self._session = session

    def events(
        self,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Event]:
        """What happened in the session, the newest first: iterate over all of it, or take a page at a time.

        Args:
            kind: only these: ``create``, ``seal``, ``read``, ...
            artifact_id: only what happened to this artifact, which may be gone by now.
            actor: only what this one did.
            tool_call_id: only what was done for this tool call.
            since: only from this time on, in seconds since 1970.
            until: only before this time.
            limit: the most that a page holds; None for 100, and iteration over all pages, as for ``artifacts``.
            cursor: a former page's ``cursor``, for the next one.

        Returns:
            The page. Cost: an index walk over the events of that time.

        Raises:
            InvalidSettingError: a filter, limit or cursor that means nothing.
        """
        most = _PAGE if limit is None else limit
        filters = self._filter(kind, artifact_id, actor, tool_call_id, since, until)
        start = page_start(most, cursor)
        most = min(most, LARGEST)
        if start is not None:
            filters = filters._replace(before_us=start[0], before_key=start[1])

        def page(filters: EventFilter) -> Page[Event]:
            self._session.check_open()
            self._session.core.audit.flush()
            with self._session.core.reader() as snapshot:
                rows = snapshot.events(filters, most + 1)
            found = [infos.event_of(row) for row in rows[:most]]
            if len(rows) <= most:
                return infos.Page(found, None)
            last = rows[most - 1]
            return infos.Page(
                found, _cursor(last[_AT_US], last[_KEY]), None if limit is not None else following
            )

        def following(cursor: str) -> Page[Event]:
            at_us, key = page_start(most, cursor) or (END, 0)
            return page(filters._replace(before_us=at_us, before_key=key))

        return page(filters)

    def _filter(
        self,
        kind: str | None,
        artifact_id: str | None,
        actor: str | None,
        tool_call_id: str | None,
        since: float | None,
        until: float | None = None,
    ) -> EventFilter:
        """As ``event_filter``; the id of a tool call is recorded without the secrets in it, and so looked for."""
        call = filter_text(tool_call_id, "tool_call_id")
        call = None if call is None else self._session.redacted_name(call)
        return event_filter(kind, artifact_id, actor, call, since, until)

    def new_events(
        self,
        cursor: str | None = None,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        limit: int = _PAGE,
    ) -> Page[Event]:
        r"""What was recorded after a former call, in the order in which it reached the file; to follow the session.

        That order is not quite that of time: a process writes what it has read up to two seconds later.

        ``cursor`` is that of the page before; without one, it begins ``since`` a time in seconds since 1970, or now. The filters
        are those of ``events``; ``limit`` is the most that a page holds.

        Returns:
            The page; its ``cursor`` is never None. Fewer than ``limit`` events are all that there are for now. Cost: a look
            at each event that was recorded since.

        Raises:
            InvalidSettingError: a filter, limit or cursor that means nothing.
            SessionDeletedError: the session is gone.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     cursor = session.new_events().cursor
            ...     _ = session.put("one\n")
            ...     page = session.new_events(cursor)
            ...     [event.kind for event in page], session.new_events(page.cursor).items
            (['create', 'seal'], [])
        """
        filters = self._filter(kind, artifact_id, actor, tool_call_id, since)
        at_us, after = page_start(limit, cursor) or (0, 0)
        core = self._session.core
        self._session.check_open()
        if not core.still_there():
            raise SessionDeletedError(f"session {core.row.session_id!r} was deleted")
        core.audit.flush()
        wanted = filters._asdict()
        equal = {name: wanted[name] for name in _EQUAL if wanted[name] is not None}
        since_us = filters.since_us
        found: list[Event] = []
        with core.reader() as snapshot:
            newest = snapshot.newest_event()
            if cursor is None and since is None:
                return infos.Page([], _cursor(int(core.clock.time() * 1e6), newest))
            if newest < after:  # all of them were rotated away, and the keys have begun anew
                after, since_us = 0, at_us
            while True:
                rows: list[Row] = snapshot.events_after(after, _PAGE)
                for row in rows:
                    event = infos.event_of(row)
                    after, at_us = row[_KEY], max(at_us, row[_AT_US])
                    if row[_AT_US] >= since_us and all(
                        getattr(event, name) == value for name, value in equal.items()
                    ):
                        found.append(event)
                    if len(found) == limit:
                        break
                if len(rows) < _PAGE or len(found) == limit:
                    return infos.Page(found, _cursor(at_us, after))

    def acting(
        self, actor: str | None = None, tool_call_id: str | None = None, *, otherwise: str | None = None
    ) -> AbstractContextManager[None]:
        r"""Set the actor of the events in a ``with`` block: a model, a user, a program.

        It holds for this thread, for what ``asyncio.to_thread`` calls, and for every session.

        Args:
            actor: its name; None for the outer one: ``SPILLSTORE_ACTOR``, or ``library``.
            tool_call_id: the tool call that it is done for; None as outside.
            otherwise: the actor if neither an outer block nor ``SPILLSTORE_ACTOR`` names one.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("s") as session:
            ...     artifact = session.put("one\ntwo\n")
            ...     with session.acting("model", "call_7"):
            ...         _ = artifact.read_lines(1, 1)
            ...     [(event.actor, event.tool_call_id, event.detail["bytes"]) for event in artifact.events("read")]
            [('model', 'call_7', 4)]
        """
        if isinstance(tool_call_id, str):
            tool_call_id = self._session.redacted_name(tool_call_id)
        return acting(actor, tool_call_id, otherwise=otherwise)

    def action(self, kind: str, tool: str | None = None) -> AbstractContextManager[Action]:
        """Make all that is read in a ``with`` block one event; for tools that read here and there for one answer.

        Args:
            kind: of the event: ``read``, ``search``, ``query``, ``compare``, ``list``, ``info``.
            tool: its name.

        Returns:
            The action, to which the block may add: ``artifact_id``, ``detail`` (values that JSON can hold, no content) and
            ``outcome``, ``ok`` or why there was no answer. An error that leaves the block is its outcome.
        """
        return self._session.core.audit.action(kind, tool)

    def note(self, kind: str, detail: Mapping[str, object], *, artifact_id: str | None = None) -> None:
        """Add an event that is written with the next batch; ``Artifact.record`` writes at once.

        Args:
            kind: what happened, in one word.
            detail: what there is to say of it, without content; long texts are cut, and secrets taken out where the store
                takes them out.
            artifact_id: the artifact that it happened to, if there is one.
        """
        self._session.check_open()
        redacted = self._session.redacted_detail(detail)
        if isinstance(tool := redacted.get("tool"), str):
            redacted["tool"] = self._session.hidden(tool)
        self._session.core.audit.add(kind, artifact_id, redacted)

    def count_passed(self, tool: str, size: int, shown: int | None = None, *, calls: int = 1) -> None:
        """Count output that was shown whole and so not stored. It is written with the next events, never by itself.

        Args:
            tool: what printed it.
            size: its bytes.
            shown: characters of the text that was shown; None for as many as bytes.
            calls: how many calls printed it.
        """
        self._session.check_open()
        name = self._session.hidden(self._session.redacted_name(tool))
        self._session.core.audit.passed(name, size, size if shown is None else shown, calls)


def _cursor(at_us: int, key: int) -> str:
    return f"{at_us}-{key}"
