"""What a storage engine does, as protocols: ``Backend`` for all sessions, ``SessionBackend`` for one of them.

The rows of a session are read and written through ``Snapshot`` and ``Transaction`` of ``rows``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from spillstore.engine.rows import EventFilter, Row, Snapshot, Transaction
    from spillstore.info import Event, Page, SessionInfo
    from spillstore.model.records import SessionRow


class VanishedError(Exception):
    """A session was deleted between two steps of opening it; the caller may try again."""

    def __init__(self) -> None:
        super().__init__("the session was deleted while it was opened; open it again, which makes a new one")


class SessionRef(NamedTuple):
    """The name of a session.

    Attributes:
        session_id: its id.
        project: the id of its project; None for none.
    """

    session_id: str
    project: str | None


class Remains(Protocol):
    """A deleted session whose files are not unlinked yet. Its methods never raise."""

    def size(self) -> int:
        """Bytes that it takes still."""

    def free(self) -> int:
        """Free them; another process may be doing the same. Returns how many were freed here."""


class SessionImport(Protocol):
    """A session that is filled with the rows of another store's before it is there. One thread uses it.

    Rows are written as they are given, with their keys and digests; the caller has checked them. Artifacts and events come in
    the order of their keys, an artifact before its chunks, and these in the order of their numbers; none comes twice. Each
    call is a batch, which is written at once or gathered with others: what an engine keeps in memory has a bound.

    Before ``commit`` nobody finds the session, whatever is written already: an engine fills it under a name or key that no
    session has, or in one transaction whose end makes it visible. If the block ends without ``commit``, nothing is left.
    What a process that died has left is removed by ``Backend.remove_leftovers`` and by the next import of that session, and
    what a live one fills by neither, however long that takes. Of two that fill a session of one name, and of one that
    fills and one that makes it, the first to commit wins; where the other has to wait for that, it does so for the setting
    ``busy_timeout`` (``LockedError``). Their rows never mix.

    Raises, from every method:
        UnsupportedError: a row holds what this engine cannot store as it is; the message names its artifact or event.
        ForkError: a parent process has begun it.
        StorageError: it cannot be stored.
    """

    def add_artifacts(self, rows: Sequence[Row]) -> None:
        """Write rows of artifacts, in the order of ``ArtifactRow``."""

    def add_chunks(self, artifact_key: int, rows: Sequence[Row]) -> None:
        """Write rows of chunks of an artifact, in the order of ``ChunkRow``."""

    def add_events(self, rows: Sequence[Row]) -> None:
        """Write rows of events: ``EVENT_FIELDS`` and ``shown``."""

    def commit(self) -> None:
        """Make the session visible with all that was added, as one that nobody holds and that was written just now.

        Raises:
            SessionExistsError: one of that name is there. Nothing has changed, and ``commit`` may be called again.
        """

    def replace(self, old: SessionBackend, prepare: Callable[[Transaction], None]) -> Remains:
        """Make the session visible as ``commit`` does, in place of the one that has its name, and in one step.

        Whoever looks at any moment, and after this process was killed at any, finds the one or the other, whole. Who has the
        old one open finds it deleted.

        Args:
            old: the one that has the name, open for writing here. The caller sees to it that nothing is written to it now.
            prepare: called once with its rows, while nobody can write to it. Rows of it may be changed; they go with it.

        Returns:
            What is left of the old one.

        Raises:
            SessionDeletedError: it does not have the name any more. Nothing has changed, and ``commit`` may be called again.
            UnsupportedError: that cannot be done in one step here. Nothing has changed, likewise.
            LockedError: others have written to it for longer than the setting ``busy_timeout``.
            Exception: what ``prepare`` raises.
        """


class RowPlace(Protocol):
    """Where a row of a damaged session was found."""

    @property
    def is_free(self) -> bool:
        """Whether that is space that is free, so that the row was deleted, or moved to another place."""


class DamagedRows(Protocol):
    """The rows that are left of a session that cannot be read as it is. Nothing of them can be trusted, and nothing is changed.

    Raises, from every method:
        StorageError: it cannot be read.
    """

    @property
    def ref(self) -> SessionRef | None:
        """The session's name by where it lies; None if that does not tell."""

    @property
    def is_cut(self) -> bool:
        """Whether its end is missing, by what is left of it."""

    def places(self) -> Iterator[tuple[str, Row, RowPlace]]:
        """The table, the first three columns and the place of every row: of one that there is more than once, the newest first."""

    def row(self, place: RowPlace) -> Row | None:
        """All columns of a row, its keys first; None if a part of it is gone."""

    def ids(self) -> set[str]:
        """All texts that look like an artifact's id."""


class SessionBackend(Protocol):
    """One process's hold on one session, for reading alone or for writing. Safe from any thread.

    A session that a process has open for writing is claimed, from its first transaction on at the latest: others see that it
    is alive until ``close``, or until the process ends in whatever way. Whoever uses rows is inside ``using`` for as long and entered it before any lock of its
    own, because a fork waits for that; nothing that is open is inherited by a child, in which ``disown`` is called.

    Raises, from every method that reads or writes:
        SessionDeletedError: the session was deleted, or another one stands in its place.
        StorageError: it cannot be done.
    """

    read_only: bool
    longest_pause: float  # seconds between two looks of who waits for more, where each costs a round trip; 0.0 if it costs nothing
    using: AbstractContextManager[None]

    @property
    def path(self) -> Path | None:
        """The session's file, for other programs; None where it is in no file."""

    @property
    def name(self) -> str:
        """Where the session is, as messages say it, without a password."""

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
        """``reader`` without a context manager, for callers that cannot afford one: the same thread calls ``give_back``.

        What it shows may be older than what was committed last. Whoever misses something asks for ``current``.
        """

    def current(self, rows: Snapshot) -> Snapshot:
        """The borrowed rows, or new ones in their place if those show an old state."""

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

    def separate_transaction(self, doing: str) -> AbstractContextManager[Transaction]:
        """``transaction`` on a connection of its own, for a session that is open for reading alone, from any thread; it waits for two seconds at most."""

    def check_room(self) -> None:
        """Raise DiskFullError where less is free than must stay free."""

    def space_for(self, stored: int, artifacts: int) -> int:
        """An upper bound of what ``stored`` bytes of chunks, of ``artifacts`` artifacts, add to ``used``."""

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
        """Damage in the engine's own structures, one line for each finding."""

    # Owners and their liveness.

    @property
    def owner(self) -> str:
        """The name of this claim, which artifacts that are written bear; "" for a session that is open for reading."""

    # Both are asked by who has rows, which may be on the only connection that a process has.

    def alive(self, owner: str, rows: Snapshot | None = None) -> bool:
        """Whether the process with that claim still lives; ``rows`` are what the caller has borrowed, or its transaction."""

    def is_left_open(self, artifact_id: str) -> bool:
        """Whether an artifact that a snapshot shows as open, and whose owner is gone, is open now: it may have been sealed since."""

    def others(self, rows: Snapshot | None = None) -> list[str]:
        """The other live owners of the session, described for an error message."""

    def remove_dead(self) -> None:
        """Forget the claims of processes that are gone."""


class Backend(Protocol):
    """The sessions of one store: a folder, or a database. Safe from any thread.

    Raises, from every method:
        UnsafeRootError: what is there is not what this user may trust.
        StorageError: it cannot be done.
    """

    @property
    def root(self) -> Path | None:
        """The folder; None where the sessions are in none."""

    @property
    def name(self) -> str:
        """The store, as messages name it: a path, or a URL with ``***`` for the password."""

    @property
    def address(self) -> str:
        """What names the store to another process, without a password: an absolute path, or a URL."""

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

    def importing(self, ref: SessionRef, row: SessionRow) -> AbstractContextManager[SessionImport]:
        """Fill a session with rows from elsewhere; it is there with its ``commit``, whole, or not at all.

        Args:
            ref: its name, which ``row`` has too.
            row: its own row, as it is elsewhere.
        """

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

    def damaged(self, ref: SessionRef) -> AbstractContextManager[DamagedRows]:
        """What is left of a session that cannot be read as it is, while nobody has it open for writing.

        Raises:
            SessionNotFoundError: it is not there.
            SessionBusyError: somebody has it open.
            UnsupportedError: this engine cannot look behind what its database says.
        """

    def size_of(self, ref: SessionRef) -> int:
        """Bytes that a session takes, and nobody else would have if it stayed; 0 if it is gone."""

    # All sessions.

    def sessions(self, project: str | None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project, in no order."""

    def aged(self, info: SessionInfo, now: float, *, dry_run: bool) -> SessionInfo:
        """A session whose last use lies in the future, with a time from which its age can be computed; any other as it is."""

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
