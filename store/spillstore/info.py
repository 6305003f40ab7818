"""What the store tells about what it holds: plain, frozen values."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from spillstore.exceptions import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator

State = Literal["open", "sealed", "interrupted"]
Stream = Literal["combined", "stdout", "stderr"]
Newline = Literal["auto", "lf", "cr"]
Holes = Literal["raise", "skip"]
T = TypeVar("T")
_LATEST_US = 253_402_300_799_000_000  # the end of the year 9999, the last that dates can have


@dataclasses.dataclass(frozen=True, kw_only=True)
class StreamInfo:
    """One view of an artifact: ``size`` in bytes (positions, the hole included) and ``lines``."""

    size: int
    lines: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class HoleInfo:
    """What the ``roll`` policy has dropped, in combined coordinates.

    Attributes:
        start: first dropped byte.
        end: the byte after the last dropped one.
        first_line: first line of which at least a part is gone.
        last_line: last such line.
    """

    start: int
    end: int
    first_line: int
    last_line: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArtifactInfo:
    """All that is known of an artifact without reading it.

    Attributes:
        id: ``art_{unix ms}_{random}``.
        session: the session it belongs to.
        project: that session's project, or None.
        source: the tool that printed it.
        tool_call_id: the call it answers, or None.
        command: the command or arguments, or None.
        content_type: a media type, or None.
        state: ``open`` while its owner lives, ``sealed``, or ``interrupted``.
        reason: why it was interrupted, or None.
        newline: what ends a line: ``lf``, ``cr``, or ``auto`` while undecided.
        size: bytes of the sequence; positions count to here. The hole is included.
        kept: bytes present.
        received: bytes handed to ``write``, before redaction and before any limit.
        stored_size: bytes that its compressed chunks take.
        lines: lines of the combined view; a last line without an end counts.
        chars: code points (bytes that do not continue a UTF-8 sequence).
        stdout: size and lines of that stream.
        stderr: likewise.
        digest: ``blake3:...`` or ``sha256:...`` over every byte of the sequence; None until it has ended.
        chunks_digest: over the digests of the chunks present; None until it has ended.
        exit_code: of the command, or None.
        created: seconds since 1970-01-01 UTC.
        ended: likewise; None while open.
        limit: raw bytes that it may keep.
        policy: what happens there.
        hole: what was dropped, or None.
        chunks: chunks cut so far, and
        chunk_size: raw bytes of each but the last.
    """

    id: str
    session: str
    project: str | None
    source: str
    tool_call_id: str | None
    command: str | None
    content_type: str | None
    state: State
    reason: str | None
    newline: Newline
    size: int
    kept: int
    received: int
    stored_size: int
    lines: int
    chars: int
    stdout: StreamInfo
    stderr: StreamInfo
    digest: str | None
    chunks_digest: str | None
    exit_code: int | None
    created: float
    ended: float | None
    limit: int
    policy: str
    hole: HoleInfo | None
    chunks: int
    chunk_size: int

    @property
    def duration(self) -> float | None:
        """Seconds from its creation to its end; None while open."""
        return None if self.ended is None else self.ended - self.created


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fate:
    """What a collection made of one session.

    Attributes:
        session: the session, as it was found.
        why: it was deleted for its ``age``, or for ``room``; or it was spared, for it was ``live``, ``young``, taken by
            somebody while it was looked at (``busy``), or could not be opened to be deleted (``unreadable``).
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
        leftovers: folders of processes that died while they made or deleted a session; they went, too.
        freed: bytes on the disk that all this took.
        left: bytes of the files of what stays.
        dry_run: whether nothing was done.
    """

    deleted: tuple[Fate, ...]
    spared: tuple[Fate, ...]
    leftovers: int
    freed: int
    left: int
    dry_run: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verification:
    """What ``Artifact.verify`` has read and found whole.

    Attributes:
        chunks: chunks whose digest, position and counters were checked.
        size: raw bytes decoded.
        content: whether the digest over the whole content was compared too (a rolled or unsealed artifact has none
            that could be).
    """

    chunks: int
    size: int
    content: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Export:
    """What ``Artifact.export`` has written.

    Attributes:
        size: bytes in the file.
        dropped: bytes of the hole that the file lacks.
    """

    size: int
    dropped: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckReport:
    """What ``Session.check`` has looked at; it raises where something is wrong."""

    artifacts: int
    chunks: int
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Position:
    """A place in a view.

    Attributes:
        byte: its byte, from 0.
        line: the line that byte is in, from 1.
    """

    byte: int
    line: int


class Cleaner(Protocol):
    """What a reader sees of stored lines, for a search that shall find what is seen."""

    def text(self, lines: bytes, terminator: bytes) -> bytes:
        """Whole lines, cleaned, in UTF-8; as many of them, each ending in LF."""
        ...

    def offset(self, line: bytes, terminator: bytes, index: int) -> int:
        """The byte of a stored line at which character ``index`` of its cleaned text stands."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A line that a search has found.

    Attributes:
        line: its number.
        byte: where its first match begins, in the stored bytes of the view.
        column: the same in characters of the line, from 1.
        text: the line without its ending, or the part around the match.
        clipped: whether it is a part.
        before: the lines before it, if they were asked for.
        after: those behind it.
    """

    line: int
    byte: int
    column: int
    text: str
    clipped: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of a search.

    Attributes:
        matches: the lines of this page.
        lines: matching lines up to here, those of the pages before included.
        total_matches: matches in them.
        complete: whether all was searched, so that the counts are the totals.
        scanned: bytes of the view that were looked through.
        size: bytes of the view.
        cursor: for the next page; None when all was searched.
        notes: what could not be searched as usual.
    """

    matches: tuple[Match, ...]
    lines: int
    total_matches: int
    complete: bool
    scanned: int
    size: int
    cursor: str | None
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class QueryMatch:
    """A node that a query has found.

    Attributes:
        path: its normalized path (RFC 9535), such as ``$['users'][0]``.
        value: its value: dict, list, str, int, float, bool or None; a ``Decimal`` where no float holds a number.
        number: from 1, in the order of the query, over all pages.
        line: the line it is in, where each line is a document; else None.
        byte: where the document, or the line, begins.
        cursor: goes on behind it.
    """

    path: str
    value: Any
    number: int
    line: int | None
    byte: int
    cursor: str


def json_text(value: Any) -> str:
    """The value of a node as compact JSON; what UTF-8 cannot hold is escaped.

    Example:
        >>> json_text({"a": [1, 1.5, None]})
        '{"a":[1,1.5,null]}'
    """
    from spillstore._json import encode  # noqa: PLC0415  # few programs query

    return encode(value).decode()


@dataclasses.dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no JSON, where each line should be.

    Attributes:
        line: its number.
        reason: what is wrong with it.
    """

    line: int
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class QueryResult:
    """A page of a query.

    Attributes:
        matches: the nodes of this page.
        before: nodes of the pages before.
        total: of all pages; None while that is not known.
        complete: whether all was looked through, and was JSON or a bad line.
        cursor: for the next page; None when there is none.
        lines: whether each line is a document of its own.
        bad_lines: the first 20 lines that are no JSON, of those that this page has passed.
        bad_line_count: how many it has passed.
        problem: why it ends here, if it does so before the end of what there is: damage, or a limit.
    """

    matches: tuple[QueryMatch, ...]
    before: int
    total: int | None
    complete: bool
    cursor: str | None
    lines: bool
    bad_lines: tuple[BadLine, ...] = ()
    bad_line_count: int = 0
    problem: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """A run of bytes that entered the sequence together.

    Attributes:
        stream: ``stdout`` or ``stderr``.
        time: seconds since the artifact began.
        data: the bytes.
    """

    stream: Literal["stdout", "stderr"]
    time: float
    data: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """Where bytes come from that were printed again.

    Attributes:
        artifact_id: the artifact that holds them.
        stream: the view that the positions mean.
        start, end: bytes ``[start, end)``.
    """

    artifact_id: str
    stream: Stream
    start: int
    end: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Event:
    """What happened in a session.

    Attributes:
        artifact_id: the artifact that it happened to, or None.
        at: seconds since 1970-01-01 UTC.
        kind: ``create``, ``seal``, ``export``, ... or what a tool calls it.
        actor: who did it, or None.
        tool_call_id: the tool call that it belongs to, or None.
        detail: what else was recorded; JSON values.
    """

    artifact_id: str | None
    at: float
    kind: str
    actor: str | None
    tool_call_id: str | None
    detail: dict[str, Any]


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


@dataclasses.dataclass(frozen=True)
class Page(Generic[T]):
    """Part of a list. Iterates over its items; ``cursor`` brings the next part, None ends the list."""

    items: list[T]
    cursor: str | None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
