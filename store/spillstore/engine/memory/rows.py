"""The rows of a session in dictionaries: ``Snapshot`` and ``Transaction`` of ``engine.rows``, which says what each answers.

A session's state is one immutable value of dictionaries that are never changed once they are in it. A transaction works on
copies of what it changes, which then take the old state's place, so a snapshot is a reference. Look-ups walk over all rows:
this shows what an engine has to answer, not how to answer it quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spillstore.engine.rows import EVENT_FIELDS, NewEvent, Row
from spillstore.events.catalogue import READS, RENDERED
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import ArtifactRow, SessionRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spillstore.engine.rows import ArtifactFilter, EventFilter, Rows

ROW_BYTES: Final = 256  # what a row counts for besides its bytes and texts
_STATE: Final = ArtifactRow._fields.index("state")
_EventRow = tuple[Any, ...]  # EVENT_FIELDS, then ``shown``


class State(NamedTuple):
    """All rows: the session's, then artifacts and events by their keys, and chunks by that of their artifact and their number."""

    session: Row | None
    artifacts: dict[int, Row]
    chunks: dict[int, dict[int, Row]]
    events: dict[int, _EventRow]


EMPTY: Final = State(None, {}, {}, {})


class MemoryRows:
    """``Snapshot`` of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def session_row(self) -> Row | None:
        """The session's own row."""
        return self._state.session

    def _artifacts(self) -> Iterator[ArtifactRow]:
        return (ArtifactRow(*row) for row in self._state.artifacts.values())

    def _there(self) -> Iterator[ArtifactRow]:
        return (row for row in self._artifacts() if row.state != "deleted")

    def artifact_row(self, artifact_id: str) -> Row | None:
        """The row of an artifact."""
        return next((row for row in self._artifacts() if row.artifact_id == artifact_id), None)

    def artifact_digest(self, artifact_key: int) -> bytes | None:
        """The digest of an artifact's row."""
        row = self._state.artifacts.get(artifact_key)
        return None if row is None else ArtifactRow(*row).digest

    def artifact_digests(self) -> list[bytes]:
        """The digests of the rows of all artifacts."""
        return [row.digest for row in self._artifacts()]

    def unfinished(self) -> list[ArtifactRow]:
        """The rows of artifacts that are ``open`` or ``deleted``."""
        return [row for row in self._artifacts() if row.state in {"open", "deleted"}]

    def artifacts(self, wanted: ArtifactFilter, limit: int) -> list[ArtifactRow]:
        """Rows of artifacts, the newest first."""
        found = [
            row
            for row in self._there()
            if row.created_us >= wanted.since_us
            and (row.created_us, row.artifact_key) < (wanted.before_us, wanted.before_key)
            and wanted.source in {None, row.source}
            and wanted.tool_call_id in {None, row.tool_call_id}
        ]
        return sorted(found, key=lambda row: (row.created_us, row.artifact_key), reverse=True)[:limit]

    def artifacts_after(self, artifact_key: int, limit: int) -> list[Row]:
        """Rows of artifacts in any state with a larger key."""
        return [row for key, row in sorted(self._state.artifacts.items()) if key > artifact_key][:limit]

    def artifact_ids(self, low: str, high: str, limit: int) -> list[str]:
        """Ids from ``low`` on and before ``high``."""
        return sorted(row.artifact_id for row in self._there() if low <= row.artifact_id < high)[:limit]

    def same_content(self, content_digest: bytes, but: str, limit: int) -> list[str]:
        """Ids of sealed artifacts that hold all of their content, which has that digest."""
        return [
            row.artifact_id
            for row in self._artifacts()
            if row.content_digest == content_digest
            and row.artifact_id != but
            and row.state == "sealed"
            and row.hole is None
            and (row.policy != "stop" or row.size < row.size_limit)
        ][:limit]

    def artifacts_created(self, since_us: int, until_us: int) -> int:
        """How many artifacts were begun in that time."""
        return sum(since_us < row.created_us <= until_us for row in self._artifacts())

    def kept_size(self) -> int:
        """The bytes of content of all artifacts."""
        return sum(row.kept for row in self._there())

    def to_evict(self, limit: int) -> list[tuple[str, int]]:
        """Ids of ended artifacts that take room, in the order in which they go."""
        last_read = {event[3]: key for key, event in sorted(self._state.events.items()) if event[2] in READS}
        rows = [
            row for row in self._artifacts() if row.state in {"sealed", "interrupted"} and row.stored_size
        ]
        rows.sort(key=lambda row: (last_read.get(row.artifact_id, 0), row.created_us, row.artifact_key))
        return [(row.artifact_id, last_read.get(row.artifact_id, 0)) for row in rows[:limit]]

    def _of(self, artifact_key: int, stream: int | None) -> list[ChunkRow]:
        """The chunks of an artifact, or those that hold some of a stream, in order."""
        rows = [ChunkRow(*row) for _, row in sorted(self._state.chunks.get(artifact_key, {}).items())]
        return rows if stream is None else [row for row in rows if _size(row, stream)]

    def chunks(self, artifact_key: int, stream: int | None, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks, in order."""
        rows = self._of(artifact_key, stream)
        found = [row for row in rows if after < (row.seq if stream is None else _start(row, stream)) <= last]
        return _Rows(found[:limit])

    def chunk_grams(self, artifact_key: int, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks without segments and data."""
        found = [row for row in self._of(artifact_key, None) if after < row.seq <= last]
        return _Rows([row._replace(segments=b"", data=b"") for row in found[:limit]])

    def chunk_before_line(self, artifact_key: int, stream: int | None, line: int) -> Row | None:
        """The last chunk that counts fewer line ends before itself."""
        rows = self._of(artifact_key, stream)
        return _last(
            row for row in rows if (row.line_start if stream is None else _lines(row, stream)) < line
        )

    def chunk_before_time(self, artifact_key: int, time_us: int) -> Row | None:
        """The last chunk that begins before that time."""
        return _last(row for row in self._of(artifact_key, None) if row.time_start < time_us)

    def chunk_at_byte(self, artifact_key: int, stream: int, position: int) -> Row | None:
        """The last chunk whose part of a stream begins at that byte or before it."""
        return _last(row for row in self._of(artifact_key, stream) if _start(row, stream) <= position)

    def first_chunk(self, artifact_key: int) -> int | None:
        """The number of the first chunk that is there."""
        return min(self._state.chunks.get(artifact_key, {}), default=None)

    def chunk_digests(self, artifact_key: int) -> Iterator[tuple[int, bytes]]:
        """Number and digest of each chunk, in order."""
        return ((row.seq, row.digest) for row in self._of(artifact_key, None))

    def stored_size(self, artifact_key: int, first: int, end: int) -> int:
        """The bytes that chunks take."""
        return sum(row.stored_size for row in self._of(artifact_key, None) if first <= row.seq < end)

    def orphan_chunks(self) -> list[int]:
        """Keys under which there are chunks and no artifact."""
        return [key for key, rows in self._state.chunks.items() if rows and key not in self._state.artifacts]

    def events(self, wanted: EventFilter, limit: int) -> list[Row]:
        """Rows of events, the newest first."""
        names = ("kind", "actor", "artifact_id", "tool_call_id")
        filters = [(EVENT_FIELDS.index(name), getattr(wanted, name)) for name in names]
        found = [
            event
            for event in self._state.events.values()
            if event[1] >= wanted.since_us
            and (event[1], event[0]) < (wanted.before_us, wanted.before_key)
            and all(value in {None, event[index]} for index, value in filters)
        ]
        return _told(sorted(found, key=lambda event: (event[1], event[0]), reverse=True)[:limit])

    def events_after(self, event_key: int, limit: int) -> list[Row]:
        """Rows of events with a larger key."""
        return _told(self.whole_events_after(event_key, limit))

    def whole_events_after(self, event_key: int, limit: int) -> list[Row]:
        """The same with ``shown``."""
        return [event for key, event in sorted(self._state.events.items()) if key > event_key][:limit]

    def events_of(self, artifact_id: str, kind: str | None, limit: int) -> list[Row]:
        """Rows of an artifact's events."""
        newest = sorted(self._state.events.values(), reverse=True)
        return _told([e for e in newest if e[3] == artifact_id and kind in {None, e[2]}][:limit])

    def events_shown(self, shown: bytes, limit: int) -> list[Row]:
        """Rows of events that have shown what has that digest."""
        there = {row.artifact_id for row in self._there()}
        return _told([e for e in self._state.events.values() if e[-1] == shown and e[3] in there][:limit])

    def newest_event(self) -> int:
        """The largest key of an event."""
        return max(self._state.events, default=0)

    def uses(self, since_us: int, until_us: int) -> int:
        """How many events were of use in that time."""
        return sum(since_us < e[1] <= until_us and e[2] != "interrupt" for e in self._state.events.values())

    def used(self) -> int:
        """The bytes that the session takes."""
        state = self._state
        rows = [row for row in (state.session, *state.artifacts.values(), *state.events.values()) if row]
        chunks = [row for each in state.chunks.values() for row in each.values()]
        return sum(ROW_BYTES + _bytes(row) for row in rows) + sum(
            ChunkRow(*row).stored_size for row in chunks
        )


class MemoryTransaction(MemoryRows):
    """``Transaction`` on copies, which the backend puts in place at the commit."""

    def __init__(self, state: State) -> None:
        super().__init__(State(state.session, dict(state.artifacts), dict(state.chunks), dict(state.events)))

    @property
    def state(self) -> State:
        """What there will be."""
        return self._state

    def insert_session(self, row: Row) -> None:
        """Write the row of a new session."""
        self._state = self._state._replace(session=tuple(row))

    def update_session(self, row: Row) -> None:
        """Replace the session's row."""
        assert self._state.session is not None
        key = SessionRow(*self._state.session).next_artifact_key
        self._state = self._state._replace(session=tuple(SessionRow(*row)._replace(next_artifact_key=key)))

    def next_artifact_key(self) -> int:
        """A key that no artifact has had or will have."""
        assert self._state.session is not None
        session = SessionRow(*self._state.session)
        session = session._replace(next_artifact_key=session.next_artifact_key + 1)
        self._state = self._state._replace(session=tuple(session))
        return session.next_artifact_key

    def insert_artifact(self, row: Row) -> None:
        """Write the row of a new artifact."""
        self._state.artifacts[row[0]] = tuple(row)

    def update_artifact(self, row: Row) -> None:
        """Replace an artifact's row, from ``state`` on."""
        self._state.artifacts[row[0]] = (*self._state.artifacts[row[0]][:_STATE], *row[_STATE:])

    def remove_artifact(self, artifact_key: int) -> None:
        """Remove an artifact's row."""
        self._state.artifacts.pop(artifact_key, None)

    def insert_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Write rows of new chunks."""
        new = {row[0]: tuple(row) for row in rows}
        self._state.chunks[artifact_key] = {**self._state.chunks.get(artifact_key, {}), **new}

    def drop_chunks(self, artifact_key: int, first: int, end: int) -> None:
        """Remove chunks."""
        rows = self._state.chunks.get(artifact_key, {})
        self._state.chunks[artifact_key] = {seq: row for seq, row in rows.items() if not first <= seq < end}

    def append_events(self, events: Sequence[NewEvent]) -> None:
        """Write events, with keys that follow the largest one."""
        for key, event in enumerate(events, self.newest_event() + 1):
            self._state.events[key] = (key, *event)

    def drop_events_through(self, event_key: int, limit: int) -> int:
        """Remove the first events."""
        return self._drop(sorted(key for key in self._state.events if key <= event_key), limit)

    def drop_events_before(self, at_us: int, limit: int) -> int:
        """Remove the oldest events."""
        old = sorted((event[1], key) for key, event in self._state.events.items() if event[1] < at_us)
        return self._drop([key for _, key in old], limit)

    def _drop(self, keys: Iterable[int], limit: int) -> int:
        doomed = [key for key in keys if self._state.events[key][2] != RENDERED][:limit]
        for key in doomed:
            del self._state.events[key]
        return len(doomed)


class _Rows:
    """``Rows`` of a list."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> _Rows:
        return self

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        """Ask for no more."""
        self._rows = iter(())


def _start(row: ChunkRow, stream: int) -> int:
    return (row.stdout_start, row.stderr_start)[stream]


def _size(row: ChunkRow, stream: int) -> int:
    return (row.stdout_size, row.stderr_size)[stream]


def _lines(row: ChunkRow, stream: int) -> int:
    return (row.stdout_line_start, row.stderr_line_start)[stream]


def _last(rows: Iterable[ChunkRow]) -> ChunkRow | None:
    return max(rows, key=lambda row: row.seq, default=None)


def _told(events: Iterable[_EventRow]) -> list[Row]:
    return [event[: len(EVENT_FIELDS)] for event in events]


def _bytes(row: Row) -> int:
    return sum(len(value) for value in row if isinstance(value, (bytes, str)))
