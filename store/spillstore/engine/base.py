"""What a storage engine does, as protocols, and the rules that every engine keeps.

An engine stores rows and gives them back. It does not look into them: digests are computed and checked, counters compared
and rows made into values by who calls (``model``, ``format``, ``read``). A row is a tuple of plain values in the
order of ``ArtifactRow``, ``SessionRow``, ``ChunkRow`` or ``EVENT_FIELDS``; one that was damaged may hold anything.

Positions, counters and keys are whole numbers from 0 to 2**63 - 1; times are microseconds since 1970-01-01 UTC; texts hold
no half surrogates. Each method is one exchange with a server. What is asked for in numbers (``limit``) is a bound, and an
answer may be read row by row, so that a row that is too large can be refused before the next is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from spillstore.info import Event, Page, SessionInfo
    from spillstore.model.records import SessionRow

Row: TypeAlias = tuple[Any, ...]
EVENT_FIELDS: Final = ("event_key", "at_us", "kind", "artifact_id", "actor", "tool_call_id", "detail")
END: Final = 2**63 - 1  # after every time and key


class VanishedError(Exception):
    """A session went between two steps of who opens it; it can be looked for again."""


class SessionRef(NamedTuple):
    """Which session.

    Attributes:
        session_id: its id.
        project: the id of its project; None for none.
    """

    session_id: str
    project: str | None


class ArtifactFilter(NamedTuple):
    """Which artifacts a page lists: those begun from ``since_us`` on, and before the last one of the page before.

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
    """Which events a page lists; a field that is None lets all pass.

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
    """Rows on their way; whoever does not read all of them closes it."""

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

    def chunks_of_nobody(self) -> list[int]:
        """Keys under which there are chunks and no artifact."""

    def events(self, wanted: EventFilter, limit: int) -> list[Row]:
        """Rows of events, the newest first, those of one time by their keys."""

    def events_after(self, event_key: int, limit: int) -> list[Row]:
        """Rows of events with a larger key, in the order of their keys."""

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

    def insert_session(self, row: Row) -> None:
        """Write the row of a new session."""

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


class Remains(Protocol):
    """What is left of a session that nobody finds any more. Never raises."""

    def size(self) -> int:
        """Bytes that it takes still."""

    def free(self) -> int:
        """Free them; another process may be doing the same. Returns how many were freed here."""


class SessionBackend(Protocol):
    """One process's hold on one session, for reading alone or for writing. Safe from any thread.

    A session that a process has open for writing is claimed: others see that it is alive until ``close``, or until the
    process ends in whatever way. Whoever uses rows is inside ``using`` for as long and entered it before any lock of its
    own, because a fork waits for that; nothing that is open is inherited by a child, in which ``disown`` is called.

    Raises, from every method that reads or writes:
        SessionDeletedError: the session was deleted, or another one stands in its place.
        StorageError: it cannot be done.
    """

    read_only: bool
    using: AbstractContextManager[None]

    @property
    def path(self) -> Path:
        """Where the session is, for messages and for who looks into it with other programs."""

    def still_there(self) -> bool:
        """Whether who opened the session now would find this one."""

    def close(self) -> None:
        """Let go of the session and of the claim."""

    def disown(self) -> None:
        """In a forked child: touch nothing of the parent's, and let nobody else wait for it."""

    # Reading.

    def reader(self) -> AbstractContextManager[Snapshot]:
        """Rows, each call on its own snapshot."""

    def snapshot(self, doing: str) -> AbstractContextManager[Snapshot]:
        """Rows, all calls on one snapshot, which is not to live long; ``doing`` is what an error will say."""

    def borrow(self) -> Snapshot:
        """As ``reader``, for who cannot afford a context manager: the same thread calls ``give_back``.

        What it shows may be older than what was committed last. Whoever misses something asks for ``current``.
        """

    def current(self, rows: Snapshot) -> Snapshot:
        """What was borrowed, or other rows in its place if it shows an old state."""

    def together(self, rows: Snapshot, doing: str) -> AbstractContextManager[None]:
        """One snapshot for several calls on what was borrowed."""

    def give_back(self, rows: Snapshot) -> None:
        """Return what ``borrow`` or ``current`` gave."""

    # Writing.

    def transaction(self, doing: str, *, patient: bool = True) -> AbstractContextManager[Transaction]:
        """Rows to be changed. The caller sees to it that one thread at a time is here, inside ``using``.

        Raises:
            LockedError: others have written for longer than the setting ``busy_timeout``; at once if not ``patient``.
            NotStoredError: nothing was stored, and it can be tried again.
        """

    def transaction_beside(self, doing: str) -> AbstractContextManager[Transaction]:
        """``transaction`` for who has the session open for reading alone, from any thread; it waits for two seconds at most."""

    def check_room(self) -> None:
        """Raise DiskFullError where less is free than must stay free."""

    def space_for(self, stored: int, artifacts: int) -> int:
        """What so many bytes of chunks, of so many artifacts, add to ``used`` at most."""

    def archive_events(self, tx: Transaction, session: SessionRow, now_us: int) -> None:
        """Copy the events of a session that is about to be deleted to where they stay, and remove what is too old there."""

    def remove(self, uid: str) -> Remains:
        """Take the session out of sight at once, after it was marked as deleted; returns what is left of it."""

    # Upkeep.

    def committed(self, stored: int, batches: int) -> bool:
        """Count what a transaction has stored; returns whether ``maintain`` is due. One thread at a time."""

    def maintain(self, wanted: Callable[[], bool]) -> None:
        """Do in the background what makes later calls cheap, if ``wanted`` still says so. Never raises."""

    def release_space(self) -> None:
        """Give back what removed rows took; one thread at a time, as for ``transaction``, and outside of one."""

    def give_reserve(self) -> bool:
        """Where nothing can be stored: free the room that is kept for deleting; whether there was any."""

    def keep_reserve(self) -> None:
        """Keep such room again, if there is enough now. Never raises."""

    def settle(self) -> None:
        """Bring what was committed to where it stays; likewise."""

    def structure_problems(self, rows: Snapshot) -> list[str]:
        """What the engine finds wrong with its own structures, a line for each."""

    # Who is alive.

    @property
    def owner(self) -> str:
        """The name of this claim, which artifacts that are written bear; "" for who only reads."""

    def alive(self, owner: str) -> bool:
        """Whether the process with that claim still lives."""

    def others(self) -> list[str]:
        """Who else has a claim and lives, as a person would like to read it."""

    def remove_dead(self) -> None:
        """Forget the claims of processes that are gone."""


class Backend(Protocol):
    """The sessions of one store: a folder, or a database. Safe from any thread.

    Raises, from every method:
        UnsafeRootError: what is there is not what this user may trust.
        StorageError: it cannot be done.
    """

    @property
    def root(self) -> Path:
        """The folder; errors name it, and commands are told to look there."""

    def place(self, ref: SessionRef) -> str:
        """Where a session is: one text for one session, in this process."""

    # One session.

    def exists(self, ref: SessionRef, *, repair: bool = False) -> bool:
        """Whether the session is there, or is being deleted.

        Args:
            ref: which.
            repair: move what a power cut has left of a new session out of the way.
        """

    def make(self, ref: SessionRef, row: SessionRow) -> None:
        """Make a session that holds its row and nothing else; it is there whole, or not at all. Fine if somebody was first."""

    def opening(self, ref: SessionRef) -> AbstractContextManager[None]:
        """Around all that opening a session takes.

        Raises:
            VanishedError: it failed because the session is not there any more.
        """

    def open(self, ref: SessionRef, *, read_only: bool) -> SessionBackend:
        """Open a session, brought up to date if it is of an older version and may be written.

        Raises:
            SchemaTooNewError, SchemaTooOldError, NotASessionError, IntegrityError: it cannot be read as it is.
        """

    def open_alone(self, ref: SessionRef) -> SessionBackend | None:
        """Open a session for deleting where nothing can be stored, with the room kept for that; None if somebody has it open."""

    def give_reserve(self) -> bool:
        """Free the room that is kept for deleting; whether there was any."""

    def keep_reserve(self) -> None:
        """Keep such room again, if there is enough now. Never raises."""

    def set_aside(self, ref: SessionRef, *, failed: bool) -> Remains | None:
        """Move what a power cut has left of a session out of the way; None if that is not what is there.

        Args:
            ref: which.
            failed: opening it has just failed.
        """

    def finish_deletion(self, ref: SessionRef) -> Remains:
        """Take a session out of sight that somebody has marked as deleted.

        Raises:
            SessionBusyError: it is another session by now.
            VanishedError: it is gone.
        """

    def remove_unwritten(self, ref: SessionRef) -> Remains:
        """Delete a session where nothing can be stored.

        Raises:
            SessionBusyError: somebody has it open.
        """

    def size_of(self, ref: SessionRef) -> int:
        """Bytes that a session takes, and nobody else would have if it stayed; 0 if it is gone."""

    # All sessions.

    def sessions(self, project: str | None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project, in no order."""

    def aged(self, info: SessionInfo, now: float, *, dry_run: bool) -> SessionInfo:
        """A session whose last use lies in the future, with a time from which its age can be told; any other as it is."""

    def last_look(self, now: float, interval: float) -> float | None:
        """When somebody looked for what is too old; None if that is less than ``interval`` seconds ago, or was never.

        Whoever gets a time is to look now: the next one gets this time.
        """

    def size(self, quota: int, measure: Callable[[], int]) -> tuple[int, bool]:
        """About how many bytes the store takes, and whether that was found just now, with ``measure``."""

    def remember_size(self, size: int, took: float) -> None:
        """Keep a size that was found in ``took`` seconds."""

    def forget_size(self) -> None:
        """Something was deleted, so the next who asks measures again."""

    def remove_leftovers(self, now: float, *, dry_run: bool) -> tuple[int, int, tuple[str, ...]]:
        """Finish what processes that died had begun to delete or to make.

        Returns:
            How many sessions, their bytes, and which archives of events were damaged and set aside.
        """

    def deleted_events(
        self, ref: SessionRef, wanted: EventFilter, limit: int, cursor: str | None
    ) -> Page[Event]:
        """Events that were kept of deleted sessions of that name, the newest first."""
