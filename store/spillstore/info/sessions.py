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
class MissingRange:
    """What is not there any more of an artifact, in the combined view.

    Attributes:
        start: its first byte.
        end: the byte behind it.
        first_line: first line of which at least a part is gone.
        last_line: last such line.
    """

    start: int
    end: int
    first_line: int
    last_line: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class SalvagedPart:
    """A range of an artifact that became an artifact of its own, because what is missing lies on both sides of it.

    Attributes:
        id: of the new artifact.
        range: where its bytes and lines stood in the old one.
    """

    id: str
    range: MissingRange


@dataclasses.dataclass(frozen=True, kw_only=True)
class SalvagedArtifact:
    """What was got of one artifact.

    Attributes:
        id: its id, which it keeps.
        complete: whether all of it is there, to the byte.
        known: whether its row was whole; else its tool, its command and its end are not known.
        size: bytes that were got, those of its parts included.
        missing: what is lost, in order; of an artifact that is not ``known``, what follows the last range is not known either.
        parts: ranges that became artifacts of their own.
    """

    id: str
    complete: bool
    known: bool
    size: int
    missing: tuple[MissingRange, ...]
    parts: tuple[SalvagedPart, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SalvageReport:
    """What ``Store.salvage`` has got out of a damaged session.

    Attributes:
        session: the id of the new session.
        project: its project, or None.
        known: whether the session's own row was whole.
        all_rows: likewise, and no artifact's row is known to be missing. With a digest key, the session's sum over them tells
            that, and whether one is older; without, only whether the end of the file is gone.
        artifacts: every artifact of which anything was found.
        lost: ids of artifacts of which nothing was found, while the audit log says that they were made, and not that they were
            deleted.
        events: rows of the audit log that were got.
        nameless: chunks that belong to no artifact whose id is known, and were left.
    """

    session: str
    project: str | None
    known: bool
    all_rows: bool
    artifacts: tuple[SalvagedArtifact, ...]
    lost: tuple[str, ...]
    events: int
    nameless: int

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing."""
        is_all = self.known and self.all_rows and not (self.nameless or self.lost)
        return is_all and all(each.complete for each in self.artifacts)


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
