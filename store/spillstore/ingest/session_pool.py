"""The sessions of one store that this process has open: one core for each session and mode, however many share it."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from spillstore.engine.base import VanishedError
from spillstore.engine.errors import may_be_full
from spillstore.exceptions import (
    IntegrityError,
    NotASessionError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
    StorageError,
)
from spillstore.format.digests import new_algorithm
from spillstore.format.rollback_guard import new_sum
from spillstore.ingest.session_core import SessionCore
from spillstore.ingest.session_record import check_key
from spillstore.model.ids import named_by
from spillstore.model.records import SessionRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.engine.base import Backend, Remains, SessionRef
    from spillstore.model.clock import Clock
    from spillstore.settings import Settings

_ATTEMPTS = 50  # to open a session that is deleted and made anew meanwhile
_LOCKS = 64


class _Registry:
    """The cores of this process, by place and mode."""

    def __init__(self) -> None:
        self.cores: dict[tuple[str, bool], SessionCore] = {}
        self.guard = threading.Lock()  # protects ``cores`` and ``SessionCore.users``
        # One at a time opens a session, but a session that is slow to open (locked, or being upgraded) must not hold up the
        # others: each session has one of these, chosen by its place.
        self.opening = tuple(threading.Lock() for _ in range(_LOCKS))

    def opening_of(self, place: str, *, read_only: bool) -> threading.Lock:
        """Held while a session is opened, or deleted because nobody here has it open."""
        return self.opening[hash((place, read_only)) % _LOCKS]


_registry = _Registry()


class SessionPool:
    """Opens sessions of one store, makes them, and deletes them while nobody has them open. Safe from any thread."""

    def __init__(self, backend: Backend, settings: Settings, clock: Clock, key: bytes | None) -> None:
        self.backend = backend
        self.settings = settings
        self.clock = clock
        self._key = key

    def make(self, ref: SessionRef) -> None:
        """Make a session that holds nothing. Fine if somebody was first."""
        uid = os.urandom(16).hex()
        algorithm = new_algorithm(self.settings.digest, uid, self._key)
        row = SessionRow(
            session_id=ref.session_id,
            project_id=ref.project,
            uid=uid,
            created_us=int(self.clock.time() * 1e6),
            ended_us=None,
            deleted_us=None,
            next_artifact_key=0,
            digest_algorithm=algorithm,
            artifacts_sum=new_sum(algorithm),
            digest=b"",
        )
        self.backend.make(ref, row.sealed())

    def acquire(
        self, ref: SessionRef, *, read_only: bool, before_make: Callable[[], None] | None
    ) -> SessionCore:
        """The core of a session, which the caller gives back with ``release``.

        Args:
            ref: which session.
            read_only: for reading alone.
            before_make: called before a session that is not there is made; None to make none.

        Raises:
            SessionNotFoundError: it is not there and is not to be made.
            SessionBusyError: it is deleted and made anew all the time.
        """
        for _ in range(_ATTEMPTS):
            if not self.backend.exists(ref, repair=not read_only):
                if before_make is None:
                    raise SessionNotFoundError(
                        f"no session {ref.session_id!r} of project {ref.project!r} in {self.backend.name}; "
                        "Store.sessions() lists what there is"
                    )
                before_make()
                self.make(ref)
            try:
                return self._shared(ref, read_only=read_only)
            except SessionDeletedError:
                # Somebody has marked it and has not taken it away yet, or died in between: finish for them.
                # Or somebody else has already, and perhaps made a new one.
                with contextlib.suppress(SessionBusyError, VanishedError):
                    self.backend.finish_deletion(ref).free()
            except VanishedError:
                continue  # deleted between two of our steps
            except (IntegrityError, NotASessionError):
                if read_only or self.backend.set_aside(ref, failed=True) is None:
                    raise
        raise SessionBusyError(
            f"session {ref.session_id!r} is being deleted and made anew all the time; try again later"
        )

    def _shared(self, ref: SessionRef, *, read_only: bool) -> SessionCore:
        """The core that this process has of the session, or a new one."""
        place = self.backend.place(ref)
        with _registry.opening_of(place, read_only=read_only):
            with _registry.guard:
                core = _registry.cores.get((place, read_only))
                if core is not None and core.still_there():
                    check_key(core.row, self._key)
                    core.users += 1
                    return core
            core = self._open(ref, read_only=read_only)
            core.users = 1
            with _registry.guard:
                _registry.cores[place, read_only] = core
            return core

    def _open(self, ref: SessionRef, *, read_only: bool) -> SessionCore:
        """Open a session, upgraded if it is older and may be written."""
        with self.backend.opening(ref):
            opened = self.backend.open(ref, read_only=read_only)
            return SessionCore(opened, self.settings, self.clock, key=self._key, expected=ref)

    def delete_unused(self, ref: SessionRef, since: float) -> Remains:
        """Delete a session that nobody holds and nobody has used since ``since``; returns what is left of it.

        Nobody in this process opens it for writing meanwhile; in another process, either they see our claim and we theirs,
        and it stays, or they see the tombstone and get a new session. One that cannot be opened, for damage or on a full disk,
        goes too.

        Raises:
            SessionNotFoundError, VanishedError: it is gone.
            SessionBusyError: somebody holds it or has used it.
            SpillstoreError: it cannot be opened, or not be deleted.
        """
        if not self.backend.exists(ref):
            raise SessionNotFoundError(f"session {ref.session_id!r} is gone")
        place = self.backend.place(ref)
        with _registry.opening_of(place, read_only=False):
            with _registry.guard:
                known = [_registry.cores.get((place, read_only)) for read_only in (False, True)]
            if any(core is not None and core.still_there() for core in known):
                raise SessionBusyError(f"session {ref.session_id!r} is open in this process")
            try:
                core = self._open(ref, read_only=False)
                try:
                    gone = core.delete_session(force=False, unused_since=since)
                except BaseException:
                    core.shutdown()
                    raise
                core.abandon()
            except SessionDeletedError:  # another process is still deleting it
                return self.backend.finish_deletion(ref)
            except (IntegrityError, NotASessionError):
                torn = self.backend.set_aside(ref, failed=True)
                if torn is None:
                    raise
                return torn
            except StorageError as error:
                if not may_be_full(error):
                    raise
                return self.backend.remove_unwritten(ref)
        return gone

    def delete_artifact_alone(self, ref: SessionRef, artifact_id: str) -> int | None:
        """Delete an artifact where nothing can be stored, while nobody has its session open; None if somebody has.

        Returns:
            Bytes that its chunks took.
        """
        with _registry.opening_of(self.backend.place(ref), read_only=False):
            with self.backend.opening(ref):
                opened = self.backend.open_alone(ref)
                if opened is None:
                    return None
                core = SessionCore(opened, self.settings, self.clock, key=self._key, expected=ref)
            try:
                return core.ingest.remover.remove(named_by(artifact_id)[0]).stored_size
            finally:
                core.shutdown()


def release(core: SessionCore) -> None:
    """Give a core back; the last one out closes it."""
    with _registry.guard:
        core.users -= 1
        last = core.users == 0
        if last:
            for key in [key for key, value in _registry.cores.items() if value is core]:
                del _registry.cores[key]
    if last:
        core.shutdown()


def _restart_after_fork() -> None:
    global _registry  # noqa: PLW0603  # the parent's locks may be held by threads that do not exist here
    _registry = _Registry()


os.register_at_fork(after_in_child=_restart_after_fork)
