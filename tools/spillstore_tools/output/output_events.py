"""The event ``output``, which observers receive when output was made a text: how much of how much, and where the rest is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spillstore import Session
    from spillstore_tools.profiles.rendered import Rendered

OUTPUT = "output"
COMMAND = "command"
FAILED = "failed"
HIDDEN = "hidden"


def tool_of(name: str, session: Session | None) -> str:
    """The name of a tool in events: ``hidden`` where sources are hidden."""
    return HIDDEN if name and session is not None and session.settings.hidden_metadata else name


def output_detail(
    rendered: Rendered,
    *,
    tool: str,
    profile: str,
    received: int,
    artifact_id: str | None,
    problem: bool = False,
    shown: int | None = None,
) -> dict[str, object]:
    """The detail of the event ``output``.

    Args:
        rendered: its text.
        tool: that printed it.
        profile: that made the text.
        received: bytes that came.
        artifact_id: where all of it is, or None.
        problem: whether it was to be stored and could not be.
        shown: characters that were shown of it; None for the text. What ``news`` shows later has events of its own.
    """
    omitted = omitted_chars(rendered)
    if rendered.refused:
        outcome, shown = "refused", 0
    elif problem:
        outcome = "lost"
    elif rendered.was_truncated:
        outcome = "dropped" if artifact_id is None else "truncated"
    else:
        outcome = "whole" if artifact_id is None else "stored"
    return {
        "tool": tool,
        "profile": profile,
        "strategy": rendered.strategy,
        "outcome": outcome,
        "truncated": rendered.was_truncated,
        "received": received,
        "original_size": received if omitted is None else shown_chars(rendered) + omitted,
        "shown": len(rendered.text) if shown is None else shown,
    }


def shown_chars(rendered: Rendered) -> int:
    """Code points of the output that are shown: neither markers nor words of our own."""
    texts = rendered.fields.values() if rendered.fields else (rendered.text,)
    ours = [length for _, length in rendered.notes] + [each.length for each in rendered.omissions]
    return sum(map(len, texts)) - sum(ours)


def omitted_chars(rendered: Rendered) -> int | None:
    """Code points that are missing, or None if they were not counted."""
    counted = [each.chars for each in rendered.omissions if each.chars is not None]
    return None if rendered.refused or len(counted) < len(rendered.omissions) else sum(counted)
