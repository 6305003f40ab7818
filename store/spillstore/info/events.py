"""The events of a session."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from spillstore.exceptions import IntegrityError
from spillstore.model.clock import in_utc

if TYPE_CHECKING:
    from datetime import datetime

_LATEST_US = 253_402_300_799_000_000  # the end of the year 9999, the last that dates can have


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
