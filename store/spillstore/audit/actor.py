"""The actor of what happens: ``acting`` sets it for all calls inside its block."""

from __future__ import annotations

import contextlib
import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class CallContext(NamedTuple):
    """An actor, and the id of the tool call that it answers; None where that is not known."""

    actor: str | None
    tool_call_id: str | None


ACTING: ContextVar[CallContext | None] = ContextVar("spillstore_who", default=None)  # set by ``acting``


@contextlib.contextmanager
def acting(actor: str | None, tool_call_id: str | None, *, otherwise: str | None = None) -> Iterator[None]:
    """Set the actor and the tool call for this block. None keeps the outer value; ``otherwise`` is the actor if there is none."""
    outside = ACTING.get() or CallContext(os.environ.get("SPILLSTORE_ACTOR") or otherwise, None)
    if outside.actor is None:
        outside = outside._replace(actor=otherwise)
    token = ACTING.set(
        CallContext(
            outside.actor if actor is None else actor,
            outside.tool_call_id if tool_call_id is None else tool_call_id,
        )
    )
    try:
        yield
    finally:
        ACTING.reset(token)


def call_context(actor: str | None = None, tool_call_id: str | None = None) -> CallContext:
    """The current actor and tool call: what is given, else what ``acting`` has set, else ``SPILLSTORE_ACTOR``, else ``library``."""
    said = ACTING.get()
    if said is None:
        return CallContext(actor or default_actor(), tool_call_id)
    return CallContext(actor or said.actor or default_actor(), tool_call_id or said.tool_call_id)


def default_actor() -> str:
    """The actor where ``acting`` has set none."""
    return os.environ.get("SPILLSTORE_ACTOR") or "library"
