"""A store of dictionaries: ``Backend`` and ``SessionBackend`` of ``engine.base``, which says what the methods do."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

from spillstore import info as infos
from spillstore.engine.base import SessionRef, VanishedError
from spillstore.engine.memory.importing import MemoryImport
from spillstore.engine.memory.rows import EMPTY, ROW_BYTES, MemoryRows, MemoryTransaction, State
from spillstore.engine.rows import END, Row
from spillstore.exceptions import (
    InvalidSettingError,
    SessionBusyError,
    SessionDeletedError,
    SpillstoreError,
    UnsupportedError,
)
from spillstore.model.records import ArtifactRow, SessionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore.engine.base import DamagedRows, SessionBackend
    from spillstore.engine.rows import EventFilter, Snapshot, Transaction
    from spillstore.info import Event, Page, SessionInfo
    from spillstore.model.clock import Clock


class _Live(MemoryRows):
    """Borrowed rows: each call sees the newest state, except while a snapshot is pinned."""

    def __init__(self, held: _Held) -> None:
        self._held = held
        self.pinned: State | None = None

    @property
    def _state(self) -> State:  # type: ignore[override]  # where the base keeps one
        return self._held.state if self.pinned is None else self.pinned


class _Held:
    """A session, for all who have it open."""

    def __init__(self, name: str, row: SessionRow) -> None:
        self.name = name
        self.state = EMPTY._replace(session=tuple(row))
        self.owners: set[str] = set()
        self.writing = threading.RLock()
        self.used = 0.0  # when it was last written
        self.gone = False

    @property
    def row(self) -> SessionRow:
        """The session's own row."""
        assert self.state.session is not None, "a session is made with it"
        return SessionRow(*self.state.session)


class MemorySession:
    """``SessionBackend``, which says what the methods do."""

    longest_pause = 0.0

    def __init__(self, store: MemoryBackend, held: _Held, *, read_only: bool) -> None:
        self.read_only = read_only
        self.using: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        self._owner = "" if read_only else f"owner-{os.urandom(8).hex()}"
        self._store = store
        self._held = held
        if not read_only:
            held.owners.add(self._owner)

    @property
    def path(self) -> None:
        """There is no file."""

    @property
    def name(self) -> str:
        """The store's name and the session's id."""
        return self._held.name

    def still_there(self) -> bool:
        """Whether it was not deleted."""
        return not self._held.gone

    def close(self) -> None:
        """Give up the claim."""
        self._held.owners.discard(self._owner)

    def disown(self) -> None:
        """A child has a copy of its own, which nobody else sees; so it refuses it, as all engines do."""

    @contextlib.contextmanager
    def reader(self) -> Iterator[Snapshot]:
        """Rows, each call on the newest state."""
        yield self.borrow()

    @contextlib.contextmanager
    def snapshot(self, doing: str) -> Iterator[Snapshot]:
        """Rows, all calls on one state."""
        rows = self.borrow()
        with self.together(rows, doing):
            yield rows

    def borrow(self) -> _Live:
        """Rows, each call on the newest state."""
        return _Live(self._held)

    def current(self, rows: Any) -> Any:
        """They are never old."""
        return rows

    @contextlib.contextmanager
    def together(self, rows: Any, doing: str) -> Iterator[None]:  # noqa: ARG002  # nothing fails here
        """Pin the newest state."""
        rows.pinned = self._held.state
        try:
            yield
        finally:
            rows.pinned = None

    def give_back(self, rows: Any) -> None:
        """Nothing is kept."""

    @contextlib.contextmanager
    def transaction(self, doing: str, *, patient: bool = True) -> Iterator[Transaction]:  # noqa: ARG002  # as above
        """Copies, put in place at the end."""
        held = self._held
        with held.writing:
            if held.gone or held.row.deleted_us is not None:
                raise SessionDeletedError("the session was deleted; nothing more can be stored in it")
            tx = MemoryTransaction(held.state)
            yield tx
            held.state = tx.state
            held.used = self._store.now()

    def separate_transaction(self, doing: str) -> contextlib.AbstractContextManager[Transaction]:
        """Likewise."""
        return self.transaction(doing)

    def check_room(self) -> None:
        """There is no disk."""

    def space_for(self, stored: int, artifacts: int) -> int:
        """As ``used`` counts."""
        return stored + 4 * ROW_BYTES * artifacts

    def archive_events(self, tx: Transaction, session: SessionRow, now_us: int) -> None:  # noqa: ARG002  # none age here
        """Keep them for as long as the store is there."""
        rows = tx.events_after(-1, END)
        self._store.kept.setdefault((session.session_id, session.project_id), []).extend(rows)

    def remove(self, uid: str) -> MemoryRemains:  # noqa: ARG002  # it has no other
        """Take it out of the store."""
        self._store.forget(self._held)
        return MemoryRemains(self._held)

    def give_way(self, new: _Held) -> MemoryRemains | None:
        """Let another session have its name; None if it does not have it any more."""
        return MemoryRemains(self._held) if self._store.exchange(self._held, new) else None

    def committed(self, stored: int, batches: int) -> bool:  # noqa: ARG002  # nothing waits
        """No upkeep is needed."""
        return False

    def maintain(self, wanted: Callable[[], bool]) -> None:
        """Nothing is to be done."""

    def release_space(self) -> None:
        """It is given back already."""

    def settle(self) -> None:
        """It is where it stays."""

    def give_reserve(self) -> bool:
        """There is none."""
        return False

    def keep_reserve(self) -> None:
        """None is needed."""

    def structure_problems(self, rows: Snapshot) -> list[str]:  # noqa: ARG002  # there is no structure
        """Dictionaries have none."""
        return []

    @property
    def owner(self) -> str:
        """The name of this claim."""
        return self._owner

    def alive(self, owner: str, rows: Snapshot | None = None) -> bool:  # noqa: ARG002  # for servers
        """Whether it is open still."""
        return owner in self._held.owners

    def is_left_open(self, artifact_id: str) -> bool:
        """Whether it is open now."""
        row = self.borrow().artifact_row(artifact_id)
        return row is not None and ArtifactRow(*row).state == "open"

    def others(self, rows: Snapshot | None = None) -> list[str]:  # noqa: ARG002  # for servers
        """The other owners that have it open for writing."""
        return ["this process"] * len(self._held.owners - {self._owner})

    def remove_dead(self) -> None:
        """There are none: a process takes its store along."""


class MemoryRemains:
    """``Remains`` of a session that was deleted."""

    def __init__(self, held: _Held) -> None:
        self._held: _Held | None = held

    def size(self) -> int:
        """The size of rows that a reader may still hold."""
        return 0 if self._held is None else MemoryRows(self._held.state).used()

    def free(self) -> int:
        """Let go of them; who has the session open still sees what it had."""
        freed, self._held = self.size(), None
        return freed


class MemoryBackend:
    """``Backend``: the sessions of one name."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.kept: dict[SessionRef | tuple[str, str | None], list[Row]] = {}
        self._name = name
        self._clock = clock
        self._sessions: dict[SessionRef, _Held] = {}
        self._guard = threading.Lock()  # protects _sessions
        self._looked: float | None = None

    def unlock(self) -> None:
        """In a forked child: no other thread is there any more."""
        self._guard = threading.Lock()
        for held in self._sessions.values():
            held.writing = threading.RLock()

    def now(self) -> float:
        """The time."""
        return self._clock.time()

    @property
    def root(self) -> None:
        """There is no folder."""

    @property
    def name(self) -> str:
        """``dict:NAME``."""
        return self._name

    @property
    def address(self) -> str:
        """``dict:NAME``, which means another store in each process."""
        return self._name

    def place(self, ref: SessionRef) -> str:
        """A name that no other session has."""
        return f"{self._name}\n{ref!r}"

    def exists(self, ref: SessionRef, *, repair: bool = False) -> bool:  # noqa: ARG002  # nothing breaks
        """Whether it is there."""
        return ref in self._sessions

    def make(self, ref: SessionRef, row: SessionRow) -> None:
        """Make it, unless it is there."""
        with self._guard:
            held = self._sessions.setdefault(ref, _Held(f"{self._name}/{ref.session_id}", row))
        held.used = held.used or self.now()

    def importing(self, ref: SessionRef, row: SessionRow) -> contextlib.AbstractContextManager[MemoryImport]:
        """Fill a state that nobody sees."""

        def put(state: State) -> bool:
            held = self._held(ref, row, state)
            with self._guard:
                return self._sessions.setdefault(ref, held) is held

        def put_instead(state: State, old: SessionBackend) -> MemoryRemains | None:
            assert isinstance(old, MemorySession), "it is one of this engine"
            return old.give_way(self._held(ref, row, state))

        return contextlib.nullcontext(MemoryImport(row, put, put_instead))

    def _held(self, ref: SessionRef, row: SessionRow, state: State) -> _Held:
        held = _Held(f"{self._name}/{ref.session_id}", row)
        held.state, held.used = state, self.now()
        return held

    @contextlib.contextmanager
    def opening(self, ref: SessionRef) -> Iterator[None]:
        """A missing session was deleted: raise ``VanishedError``."""
        try:
            yield
        except KeyError:
            raise VanishedError from None
        except SpillstoreError:
            if ref not in self._sessions:
                raise VanishedError from None
            raise

    def open(self, ref: SessionRef, *, read_only: bool) -> MemorySession:
        """Open it."""
        return MemorySession(self, self._sessions[ref], read_only=read_only)

    def open_alone(self, ref: SessionRef) -> MemorySession | None:
        """Memory is never full in a way that this could mend."""
        held = self._sessions[ref]
        return None if held.owners else MemorySession(self, held, read_only=False)

    def give_reserve(self) -> bool:
        """There is none."""
        return False

    def keep_reserve(self) -> None:
        """None is needed."""

    def set_aside(self, ref: SessionRef, *, failed: bool) -> MemoryRemains | None:  # noqa: ARG002  # likewise
        """No power cut leaves anything."""
        return None

    def finish_deletion(self, ref: SessionRef) -> MemoryRemains:
        """Take a session out that is marked as deleted."""
        held = self._sessions.get(ref)
        if held is None:
            raise VanishedError
        if held.row.deleted_us is None:
            raise SessionBusyError(f"session {ref.session_id!r} was just made anew")
        self.forget(held)
        return MemoryRemains(held)

    def remove_unwritten(self, ref: SessionRef) -> MemoryRemains:
        """Take a session out."""
        held = self._sessions[ref]
        if held.owners:
            raise SessionBusyError(f"session {ref.session_id!r} is open somewhere")
        self.forget(held)
        return MemoryRemains(held)

    def forget(self, held: _Held) -> None:
        """A session was deleted."""
        with self._guard:
            held.gone = True
            self._sessions = {ref: each for ref, each in self._sessions.items() if each is not held}

    def exchange(self, held: _Held, new: _Held) -> bool:
        """A session takes the place of another one; False if that is gone."""
        with self._guard:
            is_there = any(each is held for each in self._sessions.values())
            held.gone = True
            self._sessions = {ref: new if each is held else each for ref, each in self._sessions.items()}
            return is_there

    def damaged(self, ref: SessionRef) -> contextlib.AbstractContextManager[DamagedRows]:
        """Not here."""
        raise UnsupportedError(
            f"session {ref.session_id!r} cannot be salvaged: a store of dictionaries has no file that could be damaged"
        )

    def size_of(self, ref: SessionRef) -> int:
        """Bytes of its rows."""
        held = self._sessions.get(ref)
        return 0 if held is None else MemoryRows(held.state).used()

    def sessions(self, project: str | None) -> Iterator[SessionInfo]:
        """All of them, or those of a project."""
        for ref, held in list(self._sessions.items()):
            if project in {None, ref.project}:
                yield infos.SessionInfo(
                    id=ref.session_id,
                    project=ref.project,
                    live=bool(held.owners),
                    used=held.used,
                    disk_size=MemoryRows(held.state).used(),
                )

    def aged(self, info: SessionInfo, now: float, *, dry_run: bool) -> SessionInfo:  # noqa: ARG002  # one clock
        """The time is that of the store's own clock."""
        return info

    def last_look(self, now: float, interval: float) -> float | None:
        """When it was looked at before, if it is time."""
        before = self._looked
        due = before is not None and not 0 <= now - before < interval
        if before is None or due:
            self._looked = now
        return before if due else None

    def size(self, quota: int, measure: Callable[[], int]) -> tuple[int, bool]:  # noqa: ARG002  # it is cheap
        """Found anew each time."""
        return measure(), True

    def remember_size(self, size: int, took: float) -> None:
        """It is cheap to find."""

    def forget_size(self) -> None:
        """Likewise."""

    def remove_leftovers(self, now: float, *, dry_run: bool) -> tuple[int, int, tuple[str, ...]]:  # noqa: ARG002  # none
        """There are none."""
        return 0, 0, ()

    def deleted_events(
        self, ref: SessionRef, wanted: EventFilter, limit: int, cursor: str | None
    ) -> Page[Event]:
        """The events that were archived."""
        rows = MemoryRows(EMPTY._replace(events=dict(enumerate(self.kept.get(ref, []))))).events(wanted, END)
        if cursor is not None and not cursor.isdecimal():
            raise InvalidSettingError(f"{cursor!r} is no cursor; take it from the page before")
        first = int(cursor or 0)
        page = [infos.event_of(row) for row in rows[first : first + limit]]
        return infos.Page(page, str(first + limit) if len(rows) > first + limit else None)


_backends: dict[str, MemoryBackend] = {}


def _unlock_after_fork() -> None:
    """The locks' holders may not exist in a child."""
    for backend in _backends.values():
        backend.unlock()


os.register_at_fork(after_in_child=_unlock_after_fork)


def backend_named(name: str, clock: Clock) -> MemoryBackend:
    """The store of that name in this process."""
    return _backends.setdefault(name, MemoryBackend(name, clock))
