"""A session as it is listed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore.model.clock import in_utc

if TYPE_CHECKING:
    from datetime import datetime


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
