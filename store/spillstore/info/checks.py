"""How much of a session was checked, or copied."""

from __future__ import annotations

import dataclasses


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
