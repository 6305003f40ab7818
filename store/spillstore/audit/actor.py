"""Who does something: what ``acting`` says for all that is called in its block."""

from __future__ import annotations

import contextlib
import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Who(NamedTuple):
    """Who does something, and for which tool call."""

    actor: str | None
    tool_call_id: str | None


ACTING: ContextVar[Who | None] = ContextVar("spillstore_who", default=None)  # what ``acting`` has said


@contextlib.contextmanager
def acting(actor: str | None, tool_call_id: str | None, *, otherwise: str | None = None) -> Iterator[None]:
    """Say who does all that is called in it; what is None is as it was outside, or ``otherwise`` if nothing was."""
    outside = ACTING.get() or Who(os.environ.get("SPILLSTORE_ACTOR") or otherwise, None)
    if outside.actor is None:
        outside = outside._replace(actor=otherwise)
    token = ACTING.set(
        Who(
            outside.actor if actor is None else actor,
            outside.tool_call_id if tool_call_id is None else tool_call_id,
        )
    )
    try:
        yield
    finally:
        ACTING.reset(token)


def who(actor: str | None = None, tool_call_id: str | None = None) -> Who:
    """Who acts here: what is given, what ``acting`` has said, ``SPILLSTORE_ACTOR``, or ``library``."""
    said = ACTING.get()
    if said is None:
        return Who(actor or default_actor(), tool_call_id)
    return Who(actor or said.actor or default_actor(), tool_call_id or said.tool_call_id)


def default_actor() -> str:
    """Who acts where nobody says so."""
    return os.environ.get("SPILLSTORE_ACTOR") or "library"
