"""The rows of one session, as an engine reads and writes them: protocols, and the rules that every engine keeps.

An engine does not look into rows: digests are computed and checked, counters compared and rows made into values by who
calls (``model``, ``format``, ``read``). A row is a tuple of plain values in the order of ``ArtifactRow``, ``SessionRow``,
``ChunkRow`` or ``EVENT_FIELDS``; one that was damaged may hold anything.

Positions, counters and keys are whole numbers from 0 to 2**63 - 1; times are microseconds since 1970-01-01 UTC; texts hold
no half surrogates. Each method is one exchange with a server. ``limit`` is the largest number of rows in an answer, and an
answer may be read row by row, so that a row that is too large can be refused before the next is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Row: TypeAlias = tuple[Any, ...]
EVENT_FIELDS: Final = ("event_key", "at_us", "kind", "artifact_id", "actor", "tool_call_id", "detail")
END: Final = 2**63 - 1  # after every time and key


class ArtifactFilter(NamedTuple):
    """The filter of a page of artifacts: those begun from ``since_us`` on, and before the last one of the page before.

    Attributes:
        since_us: the earliest time of creation.
        before_us: the time of creation behind the page's first artifact.
        before_key: its key, for those of the same time.
        source: only those of this tool; None for all.
        tool_call_id: only those that answer this call; None for all.
    """

    since_us: int = 0
    before_us: int = END
    before_key: int = 0
    source: str | None = None
    tool_call_id: str | None = None


class EventFilter(NamedTuple):
    """The filter of a page of events; a field that is None matches all.

    Attributes:
        since_us: the earliest time.
        before_us: the time behind the page's first event.
        before_key: its key, for those of the same time.
        kind: only these.
        actor: only what this one did.
        artifact_id: only what happened to this artifact.
        tool_call_id: only what was done for this call.
    """

    since_us: int = 0
    before_us: int = END
    before_key: int = 0
    kind: str | None = None
    actor: str | None = None
    artifact_id: str | None = None
    tool_call_id: str | None = None


class NewEvent(NamedTuple):
    """An event to be written; its key is the engine's to give.

    Attributes:
        at_us: when.
        kind: what happened.
        artifact_id: to which artifact.
        actor: who did it.
        tool_call_id: for which call.
        detail: the rest, as JSON.
        shown: the digest over what a read has shown; None for other events.
    """

    at_us: int
    kind: str
    artifact_id: str | None
    actor: str | None
    tool_call_id: str | None
    detail: str
    shown: bytes | None


class Rows(Iterator[Row], Protocol):
    """An iterator over rows; a caller that does not read all of them closes it."""

    def close(self) -> object:
        """Ask for no more."""


class Snapshot(Protocol):
    """Reads rows of one session. Inside ``snapshot()`` of its session all calls see the same state.

    Raises, from every method:
        StorageError: the engine cannot read; IntegrityError where what it reads is no database of ours any more.
    """

    def session_row(self) -> Row | None:
        """The session's own row."""

    def artifact_row(self, artifact_id: str) -> Row | None:
        """The row of an artifact."""

    def artifact_digest(self, artifact_key: int) -> bytes | None:
        """The digest of an artifact's row."""

    def artifact_digests(self) -> list[bytes]:
        """The digests of the rows of all artifacts, in no order."""

    def unfinished(self) -> Sequence[Row]:
        """The rows of artifacts that are ``open`` or ``deleted``."""

    def artifacts(self, wanted: ArtifactFilter, limit: int) -> Sequence[Row]:
        """Rows of artifacts that are not ``deleted``, the newest first, those of one time by their keys."""

    def artifacts_after(self, artifact_key: int, limit: int) -> Sequence[Row]:
        """Rows of artifacts in any state with a larger key, in the order of their keys."""

    def artifact_ids(self, low: str, high: str, limit: int) -> list[str]:
        """Ids from ``low`` on and before ``high``, in the order of their bytes, of artifacts that are not ``deleted``."""

    def same_content(self, content_digest: bytes, but: str, limit: int) -> list[str]:
        """Ids of sealed artifacts that hold all of their content, which has that digest; in no order.

        None that the ``stop`` policy may have cut, none with a hole, and not ``but``.
        """

    def artifacts_created(self, since_us: int, until_us: int) -> int:
        """How many artifacts were begun later than ``since_us``, and at ``until_us`` at the latest."""

    def kept_size(self) -> int:
        """The bytes of content of all artifacts that are not ``deleted``."""

    def to_evict(self, limit: int) -> list[tuple[str, int]]:
        """Ids of ended artifacts that take room, with the key of the event by which each was last read, or 0.

        In the order in which they go: those that were read longest ago first, those of one event the oldest first.
        """

    def chunks(self, artifact_key: int, stream: int | None, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks, in order: with numbers above ``after`` and up to ``last``.

        With a stream (0 for stdout, 1 for stderr): those that hold bytes of it, by the position of its first byte in them.
        """

    def chunk_grams(self, artifact_key: int, after: int, last: int, limit: int) -> Rows:
        """The same of both streams together, with nothing in place of ``segments`` and ``data``, which are not fetched."""

    def chunk_before_line(self, artifact_key: int, stream: int | None, line: int) -> Row | None:
        """The last chunk that counts fewer than ``line`` line ends before itself; of a stream, of those that hold some of it."""

    def chunk_before_time(self, artifact_key: int, time_us: int) -> Row | None:
        """The last chunk that begins before that time."""

    def chunk_at_byte(self, artifact_key: int, stream: int, position: int) -> Row | None:
        """The last chunk whose part of a stream begins at that byte or before it."""

    def first_chunk(self, artifact_key: int) -> int | None:
        """The number of the first chunk that is there."""

    def chunk_digests(self, artifact_key: int) -> Iterator[tuple[int, bytes]]:
        """Number and digest of each chunk, in order."""

    def stored_size(self, artifact_key: int, first: int, end: int) -> int:
        """The bytes that the chunks ``[first, end)`` take, with their maps."""

    def orphan_chunks(self) -> list[int]:
        """Keys under which there are chunks and no artifact."""

    def events(self, wanted: EventFilter, limit: int) -> list[Row]:
        """Rows of events, the newest first, those of one time by their keys."""

    def events_after(self, event_key: int, limit: int) -> list[Row]:
        """Rows of events with a larger key, in the order of their keys."""

    def whole_events_after(self, event_key: int, limit: int) -> list[Row]:
        """The same with ``shown`` behind the other fields."""

    def events_of(self, artifact_id: str, kind: str | None, limit: int) -> list[Row]:
        """Rows of an artifact's events, of one kind or of all, those with the largest keys first."""

    def events_shown(self, shown: bytes, limit: int) -> list[Row]:
        """Rows of events with that ``shown``, of artifacts that are there and not ``deleted``; in no order."""

    def newest_event(self) -> int:
        """The largest key of an event; 0 if there is none."""

    def uses(self, since_us: int, until_us: int) -> int:
        """How many events but ``interrupt`` came later than ``since_us``, and at ``until_us`` at the latest."""

    def used(self) -> int:
        """The bytes that the session takes for all that it holds; what was freed and can be taken again does not count."""


class Transaction(Snapshot, Protocol):
    """Changes rows of one session; all of it is there when the block ends, or nothing.

    No other transaction of any process runs at the same time on this session. What it has written it sees.
    """

    def update_session(self, row: Row) -> None:
        """Replace the session's row, but for ``next_artifact_key``."""

    def next_artifact_key(self) -> int:
        """A key that no artifact of this session has had or will have."""

    def insert_artifact(self, row: Row) -> None:
        """Write the row of a new artifact."""

    def update_artifact(self, row: Row) -> None:
        """Replace an artifact's row, from ``state`` on."""

    def remove_artifact(self, artifact_key: int) -> None:
        """Remove an artifact's row; its chunks are gone already."""

    def insert_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Write rows of new chunks."""

    def drop_chunks(self, artifact_key: int, first: int, end: int) -> None:
        """Remove the chunks ``[first, end)`` that are there."""

    def append_events(self, events: Sequence[NewEvent]) -> None:
        """Write events, with keys that follow the largest one."""

    def drop_events_through(self, event_key: int, limit: int) -> int:
        """Remove events with keys up to that one, the smallest first, but none that ``rendered``; returns how many."""

    def drop_events_before(self, at_us: int, limit: int) -> int:
        """Remove events from before that time, the oldest first, but none that ``rendered``; returns how many."""
