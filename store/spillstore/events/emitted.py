"""Events as observers receive them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class EmittedEvent(NamedTuple):
    """Something that has happened.

    Attributes:
        kind: as of events, or ``output``, ``command``, ``commit``, ``failure``.
        detail: the rest, which observers do not change.
        session: the session's id, or None where there is none.
        artifact_id: the artifact, or None.
        seconds: how long it took, or None where nobody knows.
    """

    kind: str
    detail: Mapping[str, object]
    session: str | None = None
    artifact_id: str | None = None
    seconds: float | None = None
