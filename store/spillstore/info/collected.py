"""What a collection of old sessions did."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from spillstore.info.sessions import SessionInfo


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
