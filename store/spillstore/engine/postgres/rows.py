"""The rows of a session on a server: ``Snapshot`` of ``engine.rows``, which says what each answers.

Costs: each answer is one round trip; 0.2 to 0.5 ms beside the server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

from spillstore.engine.postgres import control
from spillstore.engine.postgres import sql as _sql
from spillstore.engine.postgres.asking import Asking
from spillstore.exceptions import SessionDeletedError
from spillstore.format.chunk_codec import ChunkRow
from spillstore.model.records import ArtifactRow, SessionRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore.engine.postgres.connections import Connections
    from spillstore.engine.rows import ArtifactFilter, EventFilter, Row, Rows

_RANGE: Final = {None: _sql.RANGE_COMBINED, 0: _sql.RANGE_STDOUT, 1: _sql.RANGE_STDERR}
_LINE: Final = {None: _sql.LINE_COMBINED, 0: _sql.LINE_STDOUT, 1: _sql.LINE_STDERR}
_BYTE: Final = {0: _sql.BYTE_STDOUT, 1: _sql.BYTE_STDERR}
_DIGESTS: Final = 4096  # that are read at once
assert ArtifactRow._fields == _sql.ARTIFACT_COLUMNS
assert SessionRow._fields == _sql.SESSION_COLUMNS
assert ChunkRow._fields == _sql.CHUNK_COLUMNS


def deleted() -> SessionDeletedError:
    """The error for a session that is gone, or is another one by now."""
    return SessionDeletedError("the session was deleted; nothing more can be read from it or stored in it")


class AnsweredRows(ABC):
    """The operations of ``Snapshot``, by statements that ``_fetch`` runs."""

    def __init__(self, session_key: int) -> None:
        self._session_key = session_key

    @abstractmethod
    def _fetch(self, sql: str, **values: Any) -> list[Row]:
        """The rows that a statement gives for this session."""

    def ask_beside(self, sql: str, **values: Any) -> list[Row]:
        """What a statement gives that asks for something else of the session, on the same connection."""
        return self._fetch(sql, **values)

    def _one(self, sql: str, **values: Any) -> Row | None:
        found = self._fetch(sql, **values)
        return found[0] if found else None

    def _number(self, sql: str, **values: Any) -> int:
        ((number,),) = self._fetch(sql, **values)
        return int(number)  # a sum is a ``Decimal``

    def _column(self, sql: str, **values: Any) -> list[Any]:
        return [value for (value,) in self._fetch(sql, **values)]

    def session_row(self) -> Row | None:
        """The session's own row."""
        return self._one(_sql.SESSION_GET)

    def artifact_row(self, artifact_id: str) -> Row | None:
        """The row of an artifact."""
        return self._one(_sql.ARTIFACT_GET, artifact_id=artifact_id)

    def artifact_digest(self, artifact_key: int) -> bytes | None:
        """The digest of an artifact's row."""
        found = self._one(_sql.ARTIFACT_DIGEST, artifact_key=artifact_key)
        return None if found is None else found[0]

    def artifact_digests(self) -> list[bytes]:
        """The digests of the rows of all artifacts."""
        return self._column(_sql.ARTIFACT_DIGESTS)

    def unfinished(self) -> Sequence[Row]:
        """The rows of artifacts that are ``open`` or ``deleted``."""
        return self._fetch(_sql.ARTIFACTS_UNFINISHED)

    def artifacts(self, wanted: ArtifactFilter, limit: int) -> Sequence[Row]:
        """Rows of artifacts, the newest first."""
        return self._fetch(_sql.ARTIFACTS_PAGE, **wanted._asdict(), limit=limit)

    def artifacts_after(self, artifact_key: int, limit: int) -> Sequence[Row]:
        """Rows of artifacts in any state with a larger key."""
        return self._fetch(_sql.ARTIFACTS_AFTER, after=artifact_key, limit=limit)

    def artifact_ids(self, low: str, high: str, limit: int) -> list[str]:
        """Ids from ``low`` on and before ``high``."""
        return self._column(_sql.ARTIFACTS_MATCHING, low=low, high=high, limit=limit)

    def same_content(self, content_digest: bytes, but: str, limit: int) -> list[str]:
        """Ids of sealed artifacts that hold all of their content, which has that digest."""
        return self._column(
            _sql.ARTIFACTS_OF_CONTENT, content_digest=content_digest, artifact_id=but, limit=limit
        )

    def artifacts_created(self, since_us: int, until_us: int) -> int:
        """How many artifacts were begun in that time."""
        return self._number(_sql.ARTIFACTS_CREATED_SINCE, since_us=since_us, until_us=until_us)

    def kept_size(self) -> int:
        """The bytes of content of all artifacts."""
        found = self._one(_sql.ARTIFACTS_SUMMARY)
        return 0 if found is None else int(found[1])

    def to_evict(self, limit: int) -> list[tuple[str, int]]:
        """Ids of ended artifacts that take room, in the order in which they go."""
        return [(name, last_read) for name, last_read in self._fetch(_sql.ARTIFACTS_TO_EVICT, limit=limit)]

    def chunks(self, artifact_key: int, stream: int | None, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks, in order."""
        return FetchedRows(
            self._fetch(_RANGE[stream], artifact_key=artifact_key, after=after, last=last, limit=limit)
        )

    def chunk_grams(self, artifact_key: int, after: int, last: int, limit: int) -> Rows:
        """Rows of chunks without segments and data."""
        return FetchedRows(
            self._fetch(_sql.RANGE_GRAMS, artifact_key=artifact_key, after=after, last=last, limit=limit)
        )

    def chunk_before_line(self, artifact_key: int, stream: int | None, line: int) -> Row | None:
        """The last chunk that counts fewer line ends before itself."""
        return self._one(_LINE[stream], artifact_key=artifact_key, line=line)

    def chunk_before_time(self, artifact_key: int, time_us: int) -> Row | None:
        """The last chunk that begins before that time."""
        return self._one(_sql.TIME_COMBINED, artifact_key=artifact_key, time=time_us)

    def chunk_at_byte(self, artifact_key: int, stream: int, position: int) -> Row | None:
        """The last chunk whose part of a stream begins at that byte or before it."""
        return self._one(_BYTE[stream], artifact_key=artifact_key, position=position)

    def first_chunk(self, artifact_key: int) -> int | None:
        """The number of the first chunk that is there."""
        found = self._one(_sql.CHUNK_FIRST, artifact_key=artifact_key)
        return None if found is None else found[0]

    def chunk_digests(self, artifact_key: int) -> Iterator[tuple[int, bytes]]:
        """Number and digest of each chunk, in order."""
        after = -1
        while found := self._fetch(
            control.CHUNK_DIGESTS, artifact_key=artifact_key, after=after, limit=_DIGESTS
        ):
            yield from ((seq, digest) for seq, digest in found)
            if len(found) < _DIGESTS:
                return
            after = found[-1][0]

    def stored_size(self, artifact_key: int, first: int, end: int) -> int:
        """The bytes that chunks take."""
        return self._number(_sql.CHUNKS_STORED, artifact_key=artifact_key, first=first, last=end)

    def orphan_chunks(self) -> list[int]:
        """Keys under which there are chunks and no artifact."""
        return self._column(_sql.CHUNKS_WITHOUT_ARTIFACT)

    def events(self, wanted: EventFilter, limit: int) -> list[Row]:
        """Rows of events, the newest first."""
        return self._fetch(_sql.EVENTS_PAGE, **wanted._asdict(), limit=limit)

    def events_after(self, event_key: int, limit: int) -> list[Row]:
        """Rows of events with a larger key."""
        return self._fetch(_sql.EVENTS_AFTER, after=event_key, limit=limit)

    def whole_events_after(self, event_key: int, limit: int) -> list[Row]:
        """The same with ``shown``."""
        return self._fetch(_sql.EVENTS_WHOLE_AFTER, after=event_key, limit=limit)

    def events_of(self, artifact_id: str, kind: str | None, limit: int) -> list[Row]:
        """Rows of an artifact's events."""
        return self._fetch(_sql.EVENTS_OF_ARTIFACT, artifact_id=artifact_id, kind=kind, limit=limit)

    def events_shown(self, shown: bytes, limit: int) -> list[Row]:
        """Rows of events that have shown what has that digest."""
        return self._fetch(_sql.EVENTS_SHOWN, shown=shown, limit=limit)

    def newest_event(self) -> int:
        """The largest key of an event."""
        return self._number(_sql.EVENT_NEWEST)

    def uses(self, since_us: int, until_us: int) -> int:
        """How many events were of use in that time."""
        return self._number(_sql.EVENTS_OF_USE_SINCE, since_us=since_us, until_us=until_us)

    def used(self) -> int:
        """The bytes that the session takes, by the estimates of ``control``."""
        found = self._one(control.PLACE_THERE)
        if found is None:
            raise deleted()
        size: int = found[0]
        return size


class ServerRows(AnsweredRows, Asking):
    """``Snapshot``: what is borrowed. A session that turns out to be gone is a ``SessionDeletedError``."""

    def __init__(self, connections: Connections, session_key: int) -> None:
        AnsweredRows.__init__(self, session_key)
        Asking.__init__(self, connections, "reading the session")

    def _fetch(self, sql: str, **values: Any) -> list[Row]:
        found, there = self.fetch(sql, {"session_key": self._session_key, **values})
        if there is not None and not there:
            raise deleted()
        return found

    def begin_together(self, doing: str) -> None:
        """From now on all answers are of one state, in which the session is there."""
        self.doing = doing
        self.begin_snapshot((control.PLACE_THERE, {"session_key": self._session_key}))

    def session_row(self) -> Row | None:
        """The session's own row."""
        return self._if_there(super().session_row())

    def artifact_row(self, artifact_id: str) -> Row | None:
        """The row of an artifact."""
        return self._if_there(super().artifact_row(artifact_id))

    def _if_there(self, row: Row | None) -> Row | None:
        """What was found; for nothing, look whether the session is still there."""
        if row is None and not self._fetch(control.PLACE_THERE):
            raise deleted()
        return row


class FetchedRows:
    """``Rows`` that were all fetched at once."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> FetchedRows:
        return self

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        """Ask for no more."""
        self._rows = iter(())
