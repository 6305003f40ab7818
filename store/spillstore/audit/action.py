"""A call of a tool that reads here and there for one answer: all of it is one event."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

OK: Final = "ok"
CURRENT: ContextVar[Action | None] = ContextVar(
    "spillstore_action", default=None
)  # the one that goes on here


class Action:
    """One call of a tool, which is one event whatever it reads.

    Attributes:
        kind: ``read``, ``search``, ...
        artifact_id: what it was about, or None.
        detail: what the event says, without content.
        outcome: ``ok``, or why there was no answer.
        failed: the name of the last error that the store raised in it.
    """

    __slots__ = ("artifact_id", "at_once", "audit", "detail", "failed", "kind", "outcome")

    def __init__(self, audit: object, kind: str) -> None:
        self.audit = audit
        self.kind = kind
        self.artifact_id: str | None = None
        self.detail: dict[str, object] = {}
        self.outcome = OK
        self.failed: str | None = None
        self.at_once = False  # somebody else needs to know of it when it is over
