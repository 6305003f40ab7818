"""The store: all sessions in one place, and which of them go."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore import info as infos
from spillstore.engine.base import SessionRef, VanishedError
from spillstore.engine.errors import may_be_full
from spillstore.engine.registry import open_backend, open_file
from spillstore.engine.rows import END, EventFilter
from spillstore.exceptions import (
    ArtifactNotFoundError,
    IntegrityError,
    InvalidSettingError,
    NotASessionError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
    StorageError,
    StoreQuotaError,
)
from spillstore.format.digest_key import load_key
from spillstore.format.digests import new_algorithm
from spillstore.format.rollback_guard import new_sum
from spillstore.ingest.session_core import SessionCore
from spillstore.ingest.session_record import check_key
from spillstore.limits import retention as _retention
from spillstore.model.clock import SinceClock, SystemClock
from spillstore.model.ids import check_id, named_by
from spillstore.model.records import SessionRow
from spillstore.session import Session
from spillstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from spillstore.engine.base import Remains
    from spillstore.info import CollectReport, Event, Fate, Page, SessionInfo
    from spillstore.model.clock import Clock
    from spillstore.redaction import RedactionRules
    from spillstore.settings import SettingsOptions

_ATTEMPTS = 50


def default_root() -> Path:
    """``SPILLSTORE_ROOT``, else the user's state folder."""
    if root := os.environ.get("SPILLSTORE_ROOT"):
        return Path(root)
    import platformdirs  # noqa: PLC0415  # 5 ms that most callers do not need

    return Path(platformdirs.user_state_dir("spillstore"))


class Store:
    r"""A folder that holds sessions, one SQLite file each. Cheap to make; safe from any thread and after a fork.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as root:
        ...     store = Store(root, artifact_limit=64 * 1024**2)
        ...     with store.session("chat-42") as session:
        ...         _ = session.put("hello\n")
        ...     [info.id for info in store.sessions()]
        ['chat-42']
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        redaction: RedactionRules | None = None,
        clock: Clock | None = None,
        digest_key: bytes | str | os.PathLike[str] | None = None,
        **settings: Unpack[SettingsOptions],
    ) -> None:
        """Name a store; nothing is made on disk before the first session.

        Args:
            root: the folder; None for ``SPILLSTORE_ROOT`` or the user's state folder. ``memory:`` is a private folder of
                this process in a file system in memory, which is removed when the process ends. ``dict:NAME`` is for tests:
                a store of dictionaries, the same for all who name it in this process, which no other program sees.
            redaction: the rules by which secrets are taken out; None for those that are built in.
            clock: where to read the time; a test brings its own.
            digest_key: 32 random bytes or more, or the path of a file that holds them; None for what the setting
                ``digest_key_file`` names. Sessions made with a key can be read with that key alone.
            settings: see ``Settings``; they win over the environment. A size may be a text: ``artifact_limit="64MiB"``.

        Raises:
            InvalidSettingError: an unknown setting or a value out of range.
            UnsupportedError: no store can be on this platform.
            UsageError: a database URL (servers are not supported yet).
        """
        loaded = Settings.load(None, **settings)
        self._key = load_key(digest_key, loaded.digest_key_file)
        self._clock: Clock = SystemClock() if clock is None else SinceClock(clock)
        named = default_root() if root is None else root
        self._backend, self._settings = open_backend(named, loaded, self._key, self._clock)
        self._redaction = redaction

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    @property
    def root(self) -> Path:
        """The folder."""
        return self._backend.root

    @property
    def settings(self) -> Settings:
        """The settings that sessions opened through this store get."""
        return self._settings

    # --- sessions ---------------------------------------------------------------------------------------

    def session(
        self, session_id: str, project: str | None = None, *, create: bool = True, read_only: bool = False
    ) -> Session:
        """Open a session, and make it if it is not there.

        Args:
            session_id: 1 to 200 bytes of UTF-8 without control characters.
            project: likewise; None for none.
            create: make it if it is not there; never for reading.
            read_only: open it for reading alone: nothing is claimed or made, and nothing written but what is recorded
                of who read it, where that can be. On a full disk, what a killed process has left in its journal is brought into
                the file.

        Returns:
            The session. Sessions of one id share what this process holds of it. Cost: about 2 ms for a new one.

        Raises:
            InvalidIdError: an id that is not allowed.
            SessionNotFoundError: it is not there and is not to be made.
            UnsafeRootError: a folder on the way is a symbolic link.
            SchemaTooNewError, NotASessionError, IntegrityError: the file cannot be trusted.
            StorageError: it cannot be opened or made.
        """
        check_id("session", session_id)
        if project is not None:
            check_id("project", project)
        ref = SessionRef(session_id, project)
        for _ in range(_ATTEMPTS):
            if not self._backend.exists(ref, repair=not read_only):
                if read_only or not create:
                    raise SessionNotFoundError(
                        f"no session {session_id!r} of project {project!r} in {self.root}; Store.sessions() lists "
                        "what there is"
                    )
                self._collect_if_due()
                self._make_room()
                self._backend.make(ref, self._new_row(ref))
            try:
                engine = _acquire(
                    self._backend.place(ref),
                    self._key,
                    lambda: self._open(ref, read_only=read_only),
                    read_only=read_only,
                )
            except SessionDeletedError:
                # Somebody has marked it and has not taken it away yet, or died in between: finish for them.
                # Or somebody else has already, and perhaps made a new one.
                with contextlib.suppress(SessionBusyError, VanishedError):
                    self._backend.finish_deletion(ref).free()
            except VanishedError:
                continue  # deleted between two of our steps
            except (IntegrityError, NotASessionError):
                if read_only or self._backend.set_aside(ref, failed=True) is None:
                    raise
            else:
                return Session(
                    engine,
                    _release,
                    self.root,
                    self._redaction,
                    before_create=self._make_room,
                    deleted=self._backend.forget_size,
                    remove_unwritten=lambda: self._backend.remove_unwritten(ref),
                )
        raise SessionBusyError(
            f"session {session_id!r} is being deleted and made anew all the time; try again later"
        )

    @staticmethod
    def open_file(
        path: str | os.PathLike[str], *, digest_key: bytes | str | os.PathLike[str] | None = None
    ) -> Session:
        """Read a ``session.db`` that somebody sent, wherever it lies.

        The file is not trusted: it is only read if its schema is ours to the letter, so nothing in it is executed.

        Args:
            path: the file.
            digest_key: as for ``Store``.

        Returns:
            A session opened for reading; nothing beside the file is made, and no artifact counts as alive.

        Raises:
            SessionNotFoundError: there is no such file.
            NotASessionError, SchemaTooNewError, IntegrityError: it cannot be trusted.
        """
        file = Path(os.path.abspath(path))  # noqa: PTH100
        if not file.is_file():
            raise SessionNotFoundError(f"there is no file {file}")
        settings = Settings.load()
        key = load_key(digest_key, settings.digest_key_file)
        engine = SessionCore(open_file(file, settings), settings, SystemClock(), foreign=True, key=key)
        engine.users = 1
        return Session(engine, _release)

    def sessions(self, project: str | None = None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project, in no particular order. Cost: a few system calls each."""
        if project is not None:
            check_id("project", project)
        return self._backend.sessions(project)

    def delete(self, session_id: str, project: str | None = None, *, force: bool = False) -> None:
        """Delete a session with all its artifacts; also one that a full disk or a power cut keeps from being opened.

        Where the disk takes not one byte more, nothing is written: the session's folder is renamed while nobody has it
        open, and removed. With ``audit_keep`` its events are kept when that has made room.

        Args:
            session_id: the session's id.
            project: its project, or None.
            force: delete it even though somebody alive holds it; they get ``SessionDeletedError``.

        Raises:
            SessionNotFoundError: it is not there.
            SessionBusyError: somebody alive holds it; on a full disk, whatever ``force`` says.
            IntegrityError, NotASessionError: it cannot be trusted.
            StorageError: it cannot be deleted.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as root:
            ...     store = Store(root)
            ...     store.session("chat-42").close()
            ...     store.delete("chat-42")
            ...     list(store.sessions())
            []
        """
        check_id("session", session_id)
        if project is not None:
            check_id("project", project)
        ref = SessionRef(session_id, project)
        torn = self._backend.set_aside(ref, failed=False)
        if torn is not None:
            torn.free()
            return
        there = self._backend.exists(ref)
        try:
            with self.session(session_id, project, create=False) as session:
                session.delete(force=force)
        except StorageError as error:
            if not may_be_full(error):
                raise
            self._backend.remove_unwritten(ref).free()
        except SessionNotFoundError:
            if not there:
                raise  # else it went meanwhile, or was a part of one and was moved out of the way

    def delete_artifact(self, session_id: str, artifact_id: str, project: str | None = None) -> int:
        r"""Delete one artifact of a session that need not be open; also on a disk that takes not one byte more.

        There the room for a journal comes from a reserve of 512 KiB, which is kept in the root for this. It becomes the
        session's journal where nobody has the session open; else it is given back to the disk, and tried again at once. It is
        made anew when there is room.

        Args:
            session_id: the session's id.
            artifact_id: the artifact's, or its URI ``artifact://ID``.
            project: the session's project, or None.

        Returns:
            Bytes that the artifact's chunks took.

        Raises:
            SessionNotFoundError, ArtifactNotFoundError: it is not there.
            SessionBusyError: it is still being written.
            IntegrityError, NotASessionError: the session cannot be trusted.
            StorageError: it cannot be deleted.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as root:
            ...     store = Store(root)
            ...     with store.session("chat-42") as session:
            ...         artifact = session.put("hello\n")
            ...     freed = store.delete_artifact("chat-42", artifact.id)
            ...     0 < freed < 1000
            True
        """
        size: int | None = None

        def delete() -> int:
            nonlocal size
            with self.session(session_id, project, create=False) as session:
                artifact = session.artifact(artifact_id)
                size = artifact.info.stored_size
                artifact.delete()
            return size

        try:
            return delete()
        except StorageError as error:
            if not may_be_full(error):
                raise
        ref = SessionRef(session_id, project)
        try:
            if (freed := self._delete_alone(ref, artifact_id)) is not None:
                return freed
            self._backend.give_reserve()
            return delete()
        except ArtifactNotFoundError:
            if size is None:
                raise
            return size  # it was deleted before, and its space is free now
        except VanishedError:
            if size is None:
                raise SessionNotFoundError(f"session {session_id!r} was deleted") from None
            return size  # with its session
        finally:
            self._backend.keep_reserve()

    def _delete_alone(self, ref: SessionRef, artifact_id: str) -> int | None:
        """Delete an artifact while nobody has its session open; None if somebody has."""
        with _opening_of((self._backend.place(ref), False)):
            with self._backend.opening(ref):
                opened = self._backend.open_alone(ref)
                if opened is None:
                    return None
                engine = SessionCore(opened, self._settings, self._clock, key=self._key, expected=ref)
            try:
                return engine.ingest.remover.remove(named_by(artifact_id)[0]).stored_size
            finally:
                engine.shutdown()

    def deleted_events(
        self,
        session_id: str,
        project: str | None = None,
        *,
        kind: str | None = None,
        artifact_id: str | None = None,
        actor: str | None = None,
        tool_call_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Event]:
        """What happened in sessions of that name that were deleted, where ``audit_keep`` is set; the newest first.

        Args:
            session_id: the name that they had.
            project: theirs, or None.
            kind: only these; the other filters are those of ``Session.events``.
            artifact_id: only what happened to this artifact.
            actor: only what this one did.
            tool_call_id: only what was done for this tool call.
            since: only from this time on, in seconds since 1970.
            until: only before this time.
            limit: the most that a page holds.
            cursor: a former page's ``cursor``, for the next one.

        Returns:
            The page; an empty one where nothing was kept.

        Raises:
            InvalidIdError: a project that is no name.
            InvalidSettingError: a limit or cursor that means nothing.
            StorageError, IntegrityError: the file cannot be read.
        """
        if project is not None:
            check_id("project", project)
        wanted = EventFilter(
            since_us=0 if since is None else int(since * 1e6),
            before_us=END if until is None else int(until * 1e6),
            kind=kind,
            actor=actor,
            artifact_id=artifact_id,
            tool_call_id=tool_call_id,
        )
        return self._backend.deleted_events(SessionRef(session_id, project), wanted, limit, cursor)

    def check(self) -> int:
        """``Session.check`` for every session; returns how many were checked.

        Others may go on writing and deleting; a session that is deleted meanwhile is not counted.

        Raises:
            IntegrityError: the first session in which something is wrong.
            StorageError: one cannot be read.
        """
        count = 0
        for info in self.sessions():
            try:
                with self.session(info.id, info.project, read_only=True) as session:
                    session.check()
            except SessionNotFoundError:
                continue
            except (IntegrityError, StorageError):
                if self._backend.exists(SessionRef(info.id, info.project)):
                    raise
                continue  # what went wrong is that it was deleted
            count += 1
        return count

    # --- retention --------------------------------------------------------------------------------------

    def collect(
        self,
        *,
        older_than: float | None = None,
        keep_bytes: int | None = None,
        project: str | None = None,
        dry_run: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CollectReport:
        """Delete sessions that nobody alive holds: those that are too old, and the oldest while all take too much.

        A live session is never touched, nor is a folder that is no session. What goes is gone when this returns, and off
        the disk as soon as no reader has its file open.

        Args:
            older_than: seconds since a session was last written; None for the ``retention`` setting.
            keep_bytes: what the files of these sessions may take together; None for any size.
            project: look at this project's sessions alone; None for all.
            dry_run: only say what would go.
            on_progress: called, on this thread, after each session with how many are done and how many shall go.

        Returns:
            What went and what stays, each with why. Cost: a few system calls for each session, and what deleting takes.

        Raises:
            InvalidSettingError: a number that means nothing.
            StorageError: the root cannot be read.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as root:
            ...     store = Store(root)
            ...     store.session("chat-42").close()
            ...     report = store.collect(older_than=0, dry_run=True)
            >>> [(fate.session.id, fate.why) for fate in report.deleted]
            [('chat-42', 'age')]
        """
        age = self._settings.retention if older_than is None else older_than
        for name, value in (("older_than", age), ("keep_bytes", keep_bytes)):
            if value is not None and (type(value) not in {int, float} or math.isnan(value)):
                raise InvalidSettingError(f"{name} must be a number, not {value!r}")
        now = self._clock.time()
        return self._collect(now, now - age, keep_bytes, project, dry_run=dry_run, on_progress=on_progress)

    def _collect(
        self,
        now: float,
        used_before: float,
        keep_bytes: int | None,
        project: str | None,
        *,
        dry_run: bool,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CollectReport:
        """See ``collect``; ``used_before`` is the time before which a session was used that is too old."""
        began = self._clock.monotonic()
        leftovers, freed, damaged = self._backend.remove_leftovers(now, dry_run=dry_run)
        found = (self._backend.aged(info, now, dry_run=dry_run) for info in self.sessions(project))
        chosen, spared = _retention.plan(found, used_before=used_before, keep_bytes=keep_bytes)
        took = self._clock.monotonic() - began
        deleted: list[Fate] = []
        for number, fate in enumerate(chosen):
            if on_progress is not None and number:
                on_progress(number, len(chosen))
            info = fate.session
            takes = self._backend.size_of(SessionRef(info.id, info.project))
            if dry_run:
                freed += takes
                deleted.append(fate)
                continue
            try:
                gone = self._discard(info, now)
            except (VanishedError, SessionNotFoundError):
                continue  # somebody else has deleted it
            except SessionBusyError as error:
                spared.append(infos.Fate(session=info, why="busy", detail=str(error)))
            except SpillstoreError as error:
                spared.append(infos.Fate(session=info, why="unreadable", detail=str(error)))
            else:
                gone.free()
                freed += takes - gone.size()
                deleted.append(fate)
        if on_progress is not None and chosen:
            on_progress(len(chosen), len(chosen))
        left = sum(fate.session.disk_size for fate in spared)
        if project is None and not dry_run:
            self._backend.remember_size(left, took)
        return infos.CollectReport(
            deleted=tuple(deleted),
            spared=tuple(spared),
            leftovers=leftovers,
            freed=freed,
            left=left,
            dry_run=dry_run,
            damaged=damaged,
        )

    def _discard(self, info: SessionInfo, since: float) -> Remains:
        """Delete a session that nobody holds and nobody has used since ``since``; returns what is left of it.

        Nobody in this process opens it for writing meanwhile; in another process, either they see our claim and we theirs,
        and it stays, or they see the tombstone and get a new session.

        Raises:
            SessionBusyError: somebody does.
            SpillstoreError: it cannot be opened, or not be deleted.
        """
        ref = SessionRef(info.id, info.project)
        if not self._backend.exists(ref):
            raise SessionNotFoundError(f"session {info.id!r} is gone")
        place = self._backend.place(ref)
        with _opening_of((place, False)):
            with _registry_guard:
                known = [_registry.get((place, read_only)) for read_only in (False, True)]
            if any(engine is not None and engine.still_there() for engine in known):
                raise SessionBusyError(f"session {info.id!r} is open in this process")
            try:
                engine = self._open(ref, read_only=False)
                try:
                    gone = engine.delete_session(force=False, unused_since=since)
                except BaseException:
                    engine.shutdown()
                    raise
                engine.abandon()
            except SessionDeletedError:  # whoever began to delete it has not come to its end
                return self._backend.finish_deletion(ref)
            except (IntegrityError, NotASessionError):
                torn = self._backend.set_aside(ref, failed=True)
                if torn is None:
                    raise
                return torn
            except StorageError as error:
                if not may_be_full(error):
                    raise
                return self._backend.remove_unwritten(ref)
        return gone

    def _make_room(self) -> None:
        """Called before something new is begun: the store's quota, by a size that is known roughly.

        Raises:
            StoreQuotaError: the sessions take more, and none may go that would help.
        """
        quota = self._settings.store_quota
        if not quota:
            return
        size, fresh = self._backend.size(quota, lambda: sum(info.disk_size for info in self.sessions()))
        collecting = self._settings.store_policy == "collect"
        if size >= quota and fresh and collecting:
            # Somewhat less, so that the next one need not do this again.
            size = self.collect(keep_bytes=quota // 10 * 9).left
        if size >= quota:
            what = "and none that is left may go" if collecting else "and SPILLSTORE_STORE_POLICY is refuse"
            raise StoreQuotaError(
                f"the sessions in {self.root} take {size} bytes and may take {quota}, {what}; delete some with "
                "`spillstore gc`, or raise SPILLSTORE_STORE_QUOTA"
            )

    def _collect_if_due(self) -> None:
        """Once per ``collect_interval`` and root: what was too old when it was looked at before is too old."""
        now = self._clock.time()
        before = self._backend.last_look(now, self._settings.collect_interval)
        if before is None:
            return
        with contextlib.suppress(
            SpillstoreError
        ):  # an old session that cannot be opened must not block a new one
            self._collect(now, min(before, now) - self._settings.retention, None, None, dry_run=False)

    def _new_row(self, ref: SessionRef) -> SessionRow:
        uid = os.urandom(16).hex()
        algorithm = new_algorithm(self._settings.digest, uid, self._key)
        return SessionRow(
            session_id=ref.session_id,
            project_id=ref.project,
            uid=uid,
            created_us=int(self._clock.time() * 1e6),
            ended_us=None,
            deleted_us=None,
            next_artifact_key=0,
            digest_algorithm=algorithm,
            artifacts_sum=new_sum(algorithm),
            digest=b"",
        ).sealed()

    def _open(self, ref: SessionRef, *, read_only: bool) -> SessionCore:
        """Open a session, upgraded if it is older and may be written."""
        with self._backend.opening(ref):
            opened = self._backend.open(ref, read_only=read_only)
            return SessionCore(opened, self._settings, self._clock, key=self._key, expected=ref)


# --- engines: one a process, session and mode ---------------------------------------------------------------


_registry: dict[tuple[str, bool], SessionCore] = {}
_registry_guard = threading.Lock()  # protects _registry and SessionCore.users
# One at a time opens a session, but a session that is slow to open (locked, or being upgraded) must not hold up the
# others: each session has one of these, chosen by its key.
_opening = tuple(threading.Lock() for _ in range(64))


def _opening_of(key: tuple[str, bool]) -> threading.Lock:
    return _opening[hash(key) % len(_opening)]


def _acquire(
    place: str, key: bytes | None, opened: Callable[[], SessionCore], *, read_only: bool
) -> SessionCore:
    """The engine that this process has of the session, or the one that ``opened`` makes."""
    name = (place, read_only)
    with _opening_of(name):
        with _registry_guard:
            engine = _registry.get(name)
            if engine is not None and engine.still_there():
                check_key(engine.row, key)
                engine.users += 1
                return engine
        engine = opened()
        engine.users = 1
        with _registry_guard:
            _registry[name] = engine
        return engine


def _release(engine: SessionCore) -> None:
    with _registry_guard:
        engine.users -= 1
        last = engine.users == 0
        if last:
            for key in [key for key, value in _registry.items() if value is engine]:
                del _registry[key]
    if last:
        engine.shutdown()


def _restart_after_fork() -> None:
    global _registry_guard, _opening  # noqa: PLW0603  # the parent's may be held by threads that do not exist here
    _registry_guard = threading.Lock()
    _opening = tuple(threading.Lock() for _ in range(64))
    _registry.clear()


os.register_at_fork(after_in_child=_restart_after_fork)
