"""A session as it is listed, checked and collected, and its events."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Literal

from spillstore.exceptions import IntegrityError
from spillstore.model.clock import in_utc

if TYPE_CHECKING:
    from datetime import datetime

_LATEST_US = 253_402_300_799_000_000  # the end of the year 9999, the last that dates can have


@dataclasses.dataclass(frozen=True, kw_only=True)
class SessionInfo:
    """A session as ``Store.sessions`` lists it.

    Attributes:
        id: the session's id.
        project: its project, or None.
        live: whether a process that lives holds it.
        used: when it was last written, seconds since 1970-01-01 UTC.
        disk_size: bytes of its files.
    """

    id: str
    project: str | None
    live: bool
    used: float
    disk_size: int

    @property
    def used_at(self) -> datetime:
        """``used`` as a time in UTC."""
        return in_utc(self.used)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fate:
    """What happened to one session in a collection.

    Attributes:
        session: the session, as it was found.
        why: it was deleted for its ``age``, or for ``room``; or it was spared, for it was ``live``, ``young``, taken by
            somebody meanwhile (``busy``), or could not be opened to be deleted (``unreadable``).
        detail: the error that spared it, or "".
    """

    session: SessionInfo
    why: Literal["age", "room", "live", "young", "busy", "unreadable"]
    detail: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CollectReport:
    """What ``Store.collect`` did, or would do.

    Attributes:
        deleted: the sessions that went, the oldest first.
        spared: those that stay.
        leftovers: folders of processes that died while they made or deleted a session, and what power cuts left of new
            ones; they went, too.
        freed: bytes on the disk that all this took.
        left: bytes of the files of what stays.
        damaged: files of kept events (``audit_keep``) that could not be used and were moved aside; remove them when you have
            saved what you can. They are listed as long as they are there.
        dry_run: whether nothing was done.
    """

    deleted: tuple[Fate, ...]
    spared: tuple[Fate, ...]
    leftovers: int
    freed: int
    left: int
    dry_run: bool
    damaged: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckReport:
    """How much ``Session.check`` has read and found undamaged."""

    artifacts: int
    chunks: int
    size: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class CopyReport:
    """How much ``Store.copy_session`` has copied.

    Attributes:
        artifacts: artifacts that the copy has.
        open: those of them that were being written, and are ``interrupted`` in the copy.
        chunks: chunks that were checked and copied.
        events: rows of the audit log.
        size: raw bytes of the artifacts.
        stored_size: bytes of their chunks, as they are stored.
    """

    artifacts: int
    open: int
    chunks: int
    events: int
    size: int
    stored_size: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened in a session.

    Attributes:
        artifact_id: the artifact that it happened to, or None.
        at: seconds since 1970-01-01 UTC.
        kind: ``create``, ``seal``, ``export``, ... or what a tool calls it.
        actor: who did it, or None.
        tool_call_id: the tool call that it belongs to, or None.
        detail: the other recorded facts, as JSON values.
    """

    artifact_id: str | None
    at: float
    kind: str
    actor: str | None
    tool_call_id: str | None
    detail: dict[str, Any]

    @property
    def recorded_at(self) -> datetime:
        """``at`` as a time in UTC."""
        return in_utc(self.at)


def event_of(row: tuple[int, int, str, str | None, str | None, str | None, str | None]) -> Event:
    """The public form of an event's row.

    Raises:
        IntegrityError: it is none; events have no digest.
    """
    key, at, kind, artifact_id, actor, call, detail = row
    try:
        parsed = json.loads(detail) if detail else {}
    except (ValueError, TypeError, RecursionError):
        parsed = None
    texts = (kind, *(text or "" for text in (artifact_id, actor, call)))
    sound = type(at) is int and 0 <= at < _LATEST_US and all(isinstance(text, str) for text in texts)
    if not sound or not isinstance(parsed, dict):
        raise IntegrityError(f"event {repr(key)[:30]} of the audit log is damaged")
    return Event(
        artifact_id=artifact_id,
        at=at / 1e6,
        kind=kind,
        actor=actor,
        tool_call_id=call,
        detail=parsed,
    )
