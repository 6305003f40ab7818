"""The rows of a session, read and written with SQLite's statements: ``Snapshot`` and ``Transaction`` of ``engine.rows``.

Costs: a look-up is one descent of an index, 5 to 20 us; ``chunks`` besides takes a few microseconds for each row.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.rows import END
from spillstore.engine.sqlite import sql as _sql
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import ArtifactRow, SessionRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore.engine.rows import ArtifactFilter, EventFilter, NewEvent, Row, Rows

SESSION_KEY: Final = 1  # a file holds one session
_RANGE: Final = {None: _sql.RANGE_COMBINED, 0: _sql.RANGE_STDOUT, 1: _sql.RANGE_STDERR}
_LINE: Final = {None: _sql.LINE_COMBINED, 0: _sql.LINE_STDOUT, 1: _sql.LINE_STDERR}
_BYTE: Final = {0: _sql.BYTE_STDOUT, 1: _sql.BYTE_STDERR}
_KEY: Final = {"session_key": SESSION_KEY}
_BEHIND_ALL: Final = b"\xff" * 1024  # SQLite orders all bytes behind all texts, and these behind all numbers
assert ArtifactRow._fields == _sql.ARTIFACT_COLUMNS
assert SessionRow._fields == _sql.SESSION_COLUMNS
assert ChunkRow._fields == _sql.CHUNK_COLUMNS


class SessionRows(sqlite3.Connection):
    """A connection with the operations of ``Snapshot``, and inside a transaction those of ``Transaction``.

    Attributes:
        touched: about how many chunks and other rows were read since somebody set it to 0.
    """

    touched = 0

    def session_row(self) -> Row | None:
        """The session's own row."""
        return self._one(_sql.SESSION_GET, _KEY)

    def deleted_us(self) -> int | None:
        """When the session was deleted."""
        found = self._one(_sql.SESSION_DELETED, _KEY)
        return None if found is None else found[0]

    def artifact_row(self, artifact_id: str) -> Row | None:
        """The row of an artifact."""
        return self._one(_sql.ARTIFACT_GET, {**_KEY, "artifact_id": artifact_id})

    def artifact_digest(self, artifact_key: int) -> bytes | None:
        """The digest of an artifact's row."""
        found = self._one(_sql.ARTIFACT_DIGEST, {**_KEY, "artifact_key": artifact_key})
        return None if found is None else found[0]

    def artifact_digests(self) -> list[bytes]:
        """The digests of the rows of all artifacts."""
        return self._column(_sql.ARTIFACT_DIGESTS, _KEY)

    def unfinished(self) -> list[Row]:
        """The rows of artifacts that are ``open`` or ``deleted``."""
        return self.execute(_sql.ARTIFACTS_UNFINISHED, _KEY).fetchall()

    def artifacts(self, wanted: ArtifactFilter, limit: int) -> list[Row]:
        """Rows of artifacts, the newest first."""
        values = {**_KEY, **wanted._asdict(), "limit": limit}
        # A time that was damaged may be of any type: its row is found all the same, and its digest tells.
        if wanted.before_us == END:
            values["before_us"] = _BEHIND_ALL
        if not wanted.since_us:
            values["since_us"] = -END
        return self.execute(_sql.ARTIFACTS_PAGE, values).fetchall()

    def artifacts_after(self, artifact_key: int, limit: int) -> list[Row]:
        """Rows of artifacts in any state with a larger key."""
        wanted = {**_KEY, "after": artifact_key, "limit": limit}
        return self.execute(_sql.ARTIFACTS_AFTER, wanted).fetchall()

    def artifact_ids(self, low: str, high: str, limit: int) -> list[str]:
        """Ids from ``low`` on and before ``high``."""
        return self._column(_sql.ARTIFACTS_MATCHING, {**_KEY, "low": low, "high": high, "limit": limit})

    def same_content(self, content_digest: bytes, but: str, limit: int) -> list[str]:
        """Ids of sealed artifacts that hold all of their content, which has that digest."""
        wanted = {**_KEY, "content_digest": content_digest, "artifact_id": but, "limit": limit}
        return self._column(_sql.ARTIFACTS_OF_CONTENT, wanted)

    def artifacts_created(self, since_us: int, until_us: int) -> int:
        """How many artifacts were begun in that time."""
        return self._number(
            _sql.ARTIFACTS_CREATED_SINCE, {**_KEY, "since_us": since_us, "until_us": until_us}
        )

    def kept_size(self) -> int:
        """The bytes of content of all artifacts."""
        found = self._one(_sql.ARTIFACTS_SUMMARY, _KEY)
        return 0 if found is None else found[1]

    def to_evict(self, limit: int) -> list[tuple[str, int]]:
        """Ids of ended artifacts that take room, in the order in which they go."""
        return self.execute(_sql.ARTIFACTS_TO_EVICT, {**_KEY, "limit": limit}).fetchall()

    def chunks(self, artifact_key: int, stream: int | None, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks, in order."""
        self.touched += limit
        return self.execute(_RANGE[stream], (SESSION_KEY, artifact_key, after, last, limit))

    def chunk_grams(self, artifact_key: int, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks without segments and data."""
        self.touched += limit
        return self.execute(_sql.RANGE_GRAMS, (SESSION_KEY, artifact_key, after, last, limit))

    def chunk_before_line(self, artifact_key: int, stream: int | None, line: int) -> Row | None:
        """The last chunk that counts fewer line ends before itself."""
        return self._one(_LINE[stream], (SESSION_KEY, artifact_key, line))

    def chunk_before_time(self, artifact_key: int, time_us: int) -> Row | None:
        """The last chunk that begins before that time."""
        return self._one(_sql.TIME_COMBINED, (SESSION_KEY, artifact_key, time_us))

    def chunk_at_byte(self, artifact_key: int, stream: int, position: int) -> Row | None:
        """The last chunk whose part of a stream begins at that byte or before it."""
        return self._one(_BYTE[stream], (SESSION_KEY, artifact_key, position))

    def first_chunk(self, artifact_key: int) -> int | None:
        """The number of the first chunk that is there."""
        found = self._one(_sql.CHUNK_FIRST, {**_KEY, "artifact_key": artifact_key})
        return None if found is None else found[0]

    def chunk_digests(self, artifact_key: int) -> Iterator[tuple[int, bytes]]:
        """Number and digest of each chunk, in order."""
        return self.execute(_sql.CHUNK_DIGESTS, {**_KEY, "artifact_key": artifact_key})

    def stored_size(self, artifact_key: int, first: int, end: int) -> int:
        """The bytes that chunks take."""
        return self._number(
            _sql.CHUNKS_STORED, {**_KEY, "artifact_key": artifact_key, "first": first, "last": end}
        )

    def orphan_chunks(self) -> list[int]:
        """Keys under which there are chunks and no artifact."""
        return self._column(_sql.CHUNKS_WITHOUT_ARTIFACT, _KEY)

    def events(self, wanted: EventFilter, limit: int) -> list[Row]:
        """Rows of events, the newest first."""
        return self.execute(_sql.EVENTS_PAGE, {**_KEY, **wanted._asdict(), "limit": limit}).fetchall()

    def events_after(self, event_key: int, limit: int) -> list[Row]:
        """Rows of events with a larger key."""
        return self.execute(_sql.EVENTS_AFTER, {**_KEY, "after": event_key, "limit": limit}).fetchall()

    def whole_events_after(self, event_key: int, limit: int) -> list[Row]:
        """The same with ``shown``."""
        wanted = {**_KEY, "after": event_key, "limit": limit}
        return self.execute(_sql.EVENTS_WHOLE_AFTER, wanted).fetchall()

    def events_of(self, artifact_id: str, kind: str | None, limit: int) -> list[Row]:
        """Rows of an artifact's events."""
        wanted = {**_KEY, "artifact_id": artifact_id, "kind": kind, "limit": limit}
        return self.execute(_sql.EVENTS_OF_ARTIFACT, wanted).fetchall()

    def events_shown(self, shown: bytes, limit: int) -> list[Row]:
        """Rows of events that have shown what has that digest."""
        return self.execute(_sql.EVENTS_SHOWN, {**_KEY, "shown": shown, "limit": limit}).fetchall()

    def newest_event(self) -> int:
        """The largest key of an event."""
        return self._number(_sql.EVENT_NEWEST, _KEY)

    def uses(self, since_us: int, until_us: int) -> int:
        """How many events were of use in that time."""
        return self._number(_sql.EVENTS_OF_USE_SINCE, {**_KEY, "since_us": since_us, "until_us": until_us})

    def used(self) -> int:
        """The bytes of pages that hold something."""
        pages, free = self._number("PRAGMA page_count"), self._number("PRAGMA freelist_count")
        return (pages - free) * self._number("PRAGMA page_size")

    # --- inside a transaction -----------------------------------------------------------------------------

    def insert_session(self, row: Row) -> None:
        """Write the row of a new session."""
        self.execute(_sql.SESSION_INSERT, {**_KEY, **dict(zip(_sql.SESSION_COLUMNS, row, strict=True))})

    def update_session(self, row: Row) -> None:
        """Replace the session's row."""
        self.execute(_sql.SESSION_UPDATE, {**_KEY, **dict(zip(_sql.SESSION_COLUMNS, row, strict=True))})

    def next_artifact_key(self) -> int:
        """A key that no artifact has had or will have."""
        return self._number(_sql.SESSION_NEXT_KEY, _KEY)

    def insert_artifact(self, row: Row) -> None:
        """Write the row of a new artifact."""
        self.execute(_sql.ARTIFACT_INSERT, {**_KEY, **dict(zip(_sql.ARTIFACT_COLUMNS, row, strict=True))})

    def update_artifact(self, row: Row) -> None:
        """Replace an artifact's row."""
        self.execute(_sql.ARTIFACT_UPDATE, {**_KEY, **dict(zip(_sql.ARTIFACT_COLUMNS, row, strict=True))})

    def remove_artifact(self, artifact_key: int) -> None:
        """Remove an artifact's row."""
        self.execute(_sql.ARTIFACT_REMOVE, {**_KEY, "artifact_key": artifact_key})

    def insert_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Write rows of new chunks."""
        self.executemany(_sql.CHUNK_INSERT, [(SESSION_KEY, artifact_key, *row) for row in rows])

    def drop_chunks(self, artifact_key: int, first: int, end: int) -> None:
        """Remove chunks."""
        self.execute(_sql.CHUNKS_DROP, {**_KEY, "artifact_key": artifact_key, "first": first, "last": end})

    def append_events(self, events: Sequence[NewEvent]) -> None:
        """Write events, with keys that follow the largest one."""
        if len(events) == 1:
            self.execute(_sql.EVENT_INSERT, {**_KEY, **events[0]._asdict()})
            return
        newest = self.newest_event()
        rows = [(SESSION_KEY, key, *event) for key, event in enumerate(events, newest + 1)]
        self.executemany(_sql.EVENTS_INSERT, rows)

    def insert_events(self, rows: Sequence[Row]) -> None:
        """Write rows of events of another store, with the keys that they have."""
        self.executemany(_sql.EVENTS_INSERT, [(SESSION_KEY, *row) for row in rows])

    def drop_events_through(self, event_key: int, limit: int) -> int:
        """Remove the first events."""
        return self.execute(_sql.EVENTS_DROP_FIRST, {**_KEY, "last": event_key, "limit": limit}).rowcount

    def drop_events_before(self, at_us: int, limit: int) -> int:
        """Remove the oldest events."""
        return self.execute(_sql.EVENTS_DROP_OLD, {**_KEY, "before_us": at_us, "limit": limit}).rowcount

    # --- statements ---------------------------------------------------------------------------------------

    def _one(self, sql: str, values: Any) -> Row | None:
        found: Row | None = self.execute(sql, values).fetchone()
        return found

    def _number(self, sql: str, values: Any = ()) -> int:
        number: int
        (number,) = self.execute(sql, values).fetchone()
        return number

    def _column(self, sql: str, values: Any) -> list[Any]:
        return [value for (value,) in self.execute(sql, values)]
