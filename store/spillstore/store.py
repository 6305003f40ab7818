"""The store: a folder of sessions."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import math
import os
import re
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore import _forks, _full_disk, _locks, _reserve, _retention, _sql, _torn
from spillstore import info as infos
from spillstore._clock import SinceClock, SystemClock
from spillstore._database import (
    DATABASE,
    check_platform,
    connect,
    new_image,
    translated,
    wal_allowed,
)
from spillstore._digests import new_algorithm
from spillstore._engine import Engine, is_open
from spillstore._folders import open_project, open_root
from spillstore._freshness import new_sum
from spillstore._ids import (
    ID_FILE,
    MAX_ID_BYTES,
    NO_PROJECT,
    check_id,
    folder_name,
    id_of_folder,
    named_by,
    needs_id_file,
)
from spillstore._keys import load_key
from spillstore._places import check_owner, check_private
from spillstore._records import SessionRow, read_session_row
from spillstore._trash import GONE, NEW, TORN, bury, disk_usage, remove_trash
from spillstore.exceptions import (
    ArtifactNotFoundError,
    IntegrityError,
    InvalidSettingError,
    LockedError,
    NotASessionError,
    SchemaTooOldError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
    StorageError,
    StoreQuotaError,
    UnsafeRootError,
    UsageError,
)
from spillstore.session import Session
from spillstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from spillstore._clock import Clock
    from spillstore._folders import Folder
    from spillstore.info import CollectReport, Event, Fate, Page, SessionInfo
    from spillstore.redaction import RedactionRules
    from spillstore.settings import SettingsOptions

MEMORY = "memory:"
_UNFINISHED = 60.0  # seconds after which a folder that is being made is one that was not finished
_DAMAGED = re.compile(r"\.audit-damaged-[0-9a-f]{8}\.db")
_ATTEMPTS = 50
_ALONE_PATIENCE = 2.0  # seconds that who must be alone with a session waits for others


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
                this process in a file system in memory, which is removed when the process ends.
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
        check_platform()
        if isinstance(root, str) and "://" in root:
            raise UsageError(f"{root!r} is a database URL; this version stores sessions in a folder")
        named = default_root() if root is None else root
        self._settings = Settings.load(None, **settings)
        self._key = load_key(digest_key, self._settings.digest_key_file)
        if os.fspath(named) == MEMORY:
            from spillstore import _memory  # noqa: PLC0415  # few need it

            named, share = _memory.memory_root()
            self._settings = _memory.memory_settings(self._settings, share)
        self._root = Path(os.path.abspath(named))  # noqa: PTH100  # no link is followed
        self._clock: Clock = SinceClock(clock or SystemClock())
        self._redaction = redaction

    def __repr__(self) -> str:
        return f"Store({str(self._root)!r})"

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

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
        folder = self._folder(session_id, project)
        for _ in range(_ATTEMPTS):
            there = self._exists(folder, repair=not read_only)
            if not there:
                if read_only or not create:
                    raise SessionNotFoundError(
                        f"no session {session_id!r} of project {project!r} in {self._root}; Store.sessions() lists "
                        "what there is"
                    )
                self._collect_if_due()
                self._make_room()
                self._make(folder, session_id, project)
            try:
                engine = _acquire(
                    folder,
                    self._key,
                    lambda: self._open(folder / DATABASE, (session_id, project), read_only=read_only),
                    read_only=read_only,
                )
            except SessionDeletedError:
                # Somebody set the tombstone and has not renamed the folder yet, or died in between: finish for them.
                # Or somebody else has already, and perhaps made a new one.
                with contextlib.suppress(SessionBusyError, _VanishedError):
                    self._bury(folder)
            except _VanishedError:
                continue  # deleted between two of our steps
            except (IntegrityError, NotASessionError):
                if read_only or self._clear(folder, failed=True) is None:
                    raise
            else:
                return Session(
                    engine,
                    _release,
                    self._root,
                    self._redaction,
                    before_create=self._make_room,
                    deleted=lambda: _retention.forget_size(self._root),
                    key=self._key,
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
        immutable = not file.with_name(f"{file.name}-wal").exists()
        settings = Settings.load()
        engine = Engine(
            file,
            settings,
            SystemClock(),
            read_only=True,
            immutable=immutable,
            foreign=True,
            key=load_key(digest_key, settings.digest_key_file),
        )
        engine.users = 1
        return Session(engine, _release)

    def sessions(self, project: str | None = None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project, in no particular order. Cost: a few system calls each."""
        wanted = None if project is None else folder_name(check_id("project", project))
        with translated(f"listing {self._root}"), contextlib.ExitStack() as stack:
            try:
                root = stack.enter_context(open_root(self._root))
            except FileNotFoundError:
                return
            for name in root.names():
                if name.startswith(".") or (wanted is not None and name != wanted):
                    continue
                with contextlib.suppress(FileNotFoundError, UnsafeRootError), root.folder(name) as folder:
                    found = [info for each in folder.names() if (info := _session_info(folder, each))]
                    yield from found

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
        folder = self._folder(session_id, project)
        torn = self._clear(folder, failed=False) if os.path.lexists(folder) else None
        if torn is not None:
            remove_trash(torn)
            return
        there = os.path.lexists(folder / DATABASE)
        try:
            with self.session(session_id, project, create=False) as session:
                session.delete(force=force)
        except StorageError as error:
            if not _full_disk.may_be_why(error):
                raise
            self._delete_unwritten(folder, (session_id, project))
        except SessionNotFoundError:
            if not there:
                raise  # else it went meanwhile, or was a part of one and was moved out of the way

    def _delete_unwritten(self, folder: Path, expected: tuple[str, str | None]) -> Path:
        """Delete a session on a disk that takes no more; returns where its folder was when it was removed."""
        gone = _full_disk.delete(folder, expected, self._settings, self._key, self._clock)
        _retention.forget_size(self._root)
        return gone

    def delete_artifact(self, session_id: str, artifact_id: str, project: str | None = None) -> int:
        r"""Delete one artifact of a session that need not be open; also on a disk that takes not one byte more.

        There the room for SQLite's journal comes from a reserve of 512 KiB, which is kept in the root for this. It becomes the
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
            if not _full_disk.may_be_why(error):
                raise
        folder = self._folder(session_id, project)
        try:
            if (freed := self._delete_alone(folder, (session_id, project), artifact_id)) is not None:
                return freed
            _reserve.give_back(self._root)
            return delete()
        except ArtifactNotFoundError:
            if size is None:
                raise
            return size  # it was deleted before, and its space is free now
        finally:
            _reserve.provide_in(self._root)

    def _delete_alone(self, folder: Path, expected: tuple[str, str | None], artifact_id: str) -> int | None:
        """Delete an artifact while nobody has its session open; None if somebody has."""
        database = folder / DATABASE
        with translated(f"opening {database}"), _opening_of((str(folder), False)):
            if _locks.live_owners(folder) or is_open(database):
                return None
            _reserve.lend(folder)
            patience = min(self._settings.busy_timeout, _ALONE_PATIENCE)
            settings = dataclasses.replace(self._settings, busy_timeout=patience)
            try:
                engine = Engine(
                    database,
                    settings,
                    self._clock,
                    read_only=False,
                    alone=True,
                    key=self._key,
                    expected=expected,
                )
            except LockedError:
                return None
            try:
                return engine.delete_artifact(named_by(artifact_id)[0]).stored_size
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
        with translated("reading kept events"):  # an import opens files
            from spillstore import _kept  # noqa: PLC0415  # few ask

        if project is not None:
            check_id("project", project)
        filters = {"kind": kind, "artifact_id": artifact_id, "actor": actor, "tool_call_id": tool_call_id}
        folder = self._folder("-", project).parent
        return _kept.page(folder, self._settings, session_id, project, filters, since, until, limit, cursor)

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
                if self._exists(self._folder(info.id, info.project)):
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
        leftovers, freed, damaged = self._remove_leftovers(now, dry_run=dry_run)
        found = (
            _retention.aged(info, now, self._folder(info.id, info.project), dry_run=dry_run)
            for info in self.sessions(project)
        )
        chosen, spared = _retention.plan(found, used_before=used_before, keep_bytes=keep_bytes)
        took = self._clock.monotonic() - began
        deleted: list[Fate] = []
        for number, fate in enumerate(chosen):
            if on_progress is not None and number:
                on_progress(number, len(chosen))
            info = fate.session
            takes = disk_usage(self._folder(info.id, info.project))
            if dry_run:
                freed += takes
                deleted.append(fate)
                continue
            try:
                gone = self._discard(info, now)
            except (_VanishedError, SessionNotFoundError):
                continue  # somebody else has deleted it
            except SessionBusyError as error:
                spared.append(infos.Fate(session=info, why="busy", detail=str(error)))
            except SpillstoreError as error:
                spared.append(infos.Fate(session=info, why="unreadable", detail=str(error)))
            else:
                remove_trash(gone)
                freed += takes - disk_usage(gone)
                deleted.append(fate)
        if on_progress is not None and chosen:
            on_progress(len(chosen), len(chosen))
        left = sum(fate.session.disk_size for fate in spared)
        if project is None and not dry_run:
            _retention.remember_size(self._root, left, self._clock, took)
        return infos.CollectReport(
            deleted=tuple(deleted),
            spared=tuple(spared),
            leftovers=leftovers,
            freed=freed,
            left=left,
            dry_run=dry_run,
            damaged=damaged,
        )

    def _discard(self, info: SessionInfo, since: float) -> Path:
        """Delete a session that nobody holds and nobody has used since ``since``; returns where its folder lies now.

        Nobody in this process opens it for writing meanwhile; in another process, either they see our claim and we theirs,
        and it stays, or they see the tombstone and get a new session.

        Raises:
            SessionBusyError: somebody does.
            SpillstoreError: it cannot be opened, or not be deleted.
        """
        folder = self._folder(info.id, info.project)
        if not self._exists(folder):
            raise SessionNotFoundError(f"session {info.id!r} is gone")
        with _opening_of((str(folder), False)):
            with _registry_guard:
                known = [_registry.get((str(folder), read_only)) for read_only in (False, True)]
            if any(engine is not None and engine.still_there() for engine in known):
                raise SessionBusyError(f"session {info.id!r} is open in this process")
            try:
                engine = self._open(folder / DATABASE, (info.id, info.project), read_only=False)
                try:
                    gone = engine.delete_session(force=False, unused_since=since)
                except BaseException:
                    engine.shutdown()
                    raise
                engine.abandon()
            except SessionDeletedError:  # whoever began to delete it has not come to its end
                return self._finish_burying(folder)
            except (IntegrityError, NotASessionError):
                torn = self._clear(folder, failed=True)
                if torn is None:
                    raise
                return torn
            except StorageError as error:
                if not _full_disk.may_be_why(error):
                    raise
                return self._delete_unwritten(folder, (info.id, info.project))
        return gone

    def _make_room(self) -> None:
        """Called before something new is begun: the store's quota, by a size that is known roughly.

        Raises:
            StoreQuotaError: the sessions take more, and none may go that would help.
        """
        quota = self._settings.store_quota
        if not quota:
            return
        size, fresh = _retention.size_of(
            self._root, quota, self._clock, lambda: sum(info.disk_size for info in self.sessions())
        )
        collecting = self._settings.store_policy == "collect"
        if size >= quota and fresh and collecting:
            # Somewhat less, so that the next one need not do this again.
            size = self.collect(keep_bytes=quota // 10 * 9).left
        if size >= quota:
            what = "and none that is left may go" if collecting else "and SPILLSTORE_STORE_POLICY is refuse"
            raise StoreQuotaError(
                f"the sessions in {self._root} take {size} bytes and may take {quota}, {what}; delete some with "
                "`spillstore gc`, or raise SPILLSTORE_STORE_QUOTA"
            )

    def _collect_if_due(self) -> None:
        """Once per ``collect_interval`` and root: what was too old when it was looked at before is too old."""
        now = self._clock.time()
        before = _retention.due(self._root, now, self._settings.collect_interval)
        if before is None:
            return
        with contextlib.suppress(
            SpillstoreError
        ):  # an old session that cannot be opened must not block a new one
            self._collect(now, min(before, now) - self._settings.retention, None, None, dry_run=False)

    def _remove_leftovers(self, now: float, *, dry_run: bool) -> tuple[int, int, tuple[str, ...]]:
        """Unlink what a process that died had begun to delete or to make, and what a power cut has left of a session.

        Returns:
            How many folders, their bytes, and which files of kept events were moved aside.
        """
        with translated(f"looking at {self._root}"), contextlib.ExitStack() as stack:
            try:
                root = stack.enter_context(open_root(self._root))
            except FileNotFoundError:
                return 0, 0, ()
            count = freed = 0
            damaged: list[str] = []
            for name in root.names():
                if name.startswith("."):
                    continue
                with (
                    contextlib.suppress(FileNotFoundError, UnsafeRootError),
                    open_project(root, name) as project,
                ):
                    if not dry_run:
                        self._clear_all(project)
                    names = project.names()
                    damaged += [str(project.path / each) for each in names if _DAMAGED.fullmatch(each)]
                    for each in names:
                        if self._is_leftover(project, each, now):
                            count += 1
                            freed += project.usage(each) if dry_run else project.remove(each)
        return count, freed, tuple(damaged)

    @staticmethod
    def _clear_all(project: Folder) -> None:
        """Move what a power cut has left of new sessions out of the way."""
        for name in project.names():
            if name.startswith("."):
                continue
            with contextlib.suppress(FileNotFoundError, UnsafeRootError), project.folder(name) as session:
                status = session.stat(DATABASE)
                if status is not None and status.st_size:
                    continue
                if not is_open(session.path / DATABASE):
                    with contextlib.suppress(NotASessionError, SessionBusyError):  # not ours to touch
                        _torn.clear(session.path, failed=False)

    def _is_leftover(self, project: Folder, name: str, now: float) -> bool:
        """Whether that is a folder that no session has, and that nobody is making now or may want to look into."""
        if name.startswith(GONE):
            return True
        status = project.stat(name) if name.startswith((NEW, TORN)) else None
        if status is None or not stat.S_ISDIR(status.st_mode):
            return False
        if name.startswith(NEW):
            return abs(time.time() - status.st_mtime) > _UNFINISHED
        return now - status.st_ctime > self._settings.retention

    @staticmethod
    def _clear(folder: Path, *, failed: bool) -> Path | None:
        """Move what a power cut has left of a session out of the way; see ``_torn``."""
        if is_open(folder / DATABASE):
            return None
        torn = _torn.clear(folder, failed=failed)
        if torn is not None and torn.name.startswith(GONE):
            remove_trash(torn)
        return torn

    # --- folders ----------------------------------------------------------------------------------------

    def _folder(self, session_id: str, project: str | None) -> Path:
        project_folder = NO_PROJECT if project is None else folder_name(project)
        return self._root / project_folder / folder_name(session_id)

    def _exists(self, folder: Path, *, repair: bool = False) -> bool:
        """Whether the session is there; refuses links on the way to it, and what belongs to somebody else.

        Args:
            folder: the session's.
            repair: move what a power cut has left of a session out of the way.
        """
        database = folder / DATABASE
        try:
            with (
                open_root(self._root) as root,
                open_project(root, folder.parent.name) as project,
                project.folder(folder.name) as session,
            ):
                within = root.status
                check_owner(folder, session.status, within)
                check_private(folder, session.status)
                status = session.stat(DATABASE)
                if status is not None:
                    if not stat.S_ISREG(status.st_mode):
                        raise UnsafeRootError(f"{database} is no regular file")
                    check_owner(database, status, within)
                    check_private(database, status)
        except FileNotFoundError:
            return False
        except OSError as error:
            part = self._root if str(error.filename) == str(self._root) else folder
            raise StorageError(f"{part} cannot be used: {error.strerror}") from error
        if repair and (status is None or not status.st_size):
            return self._clear(folder, failed=False) is None and status is not None
        return status is not None

    def _make(self, folder: Path, session_id: str, project: str | None) -> None:
        """Make a session's folder with all that is in it, under another name, and rename it: it is there or not.

        The rename fails if somebody else was first, which is as good. The file is synced before, whatever the
        durability: one that a power cut made empty would be in the way of its name.
        """
        with translated(f"making {folder}"):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open_root(self._root) as root:
                _reserve.provide(root)
                with contextlib.suppress(FileExistsError):
                    root.make(folder.parent.name)
                with open_project(root, folder.parent.name) as within:
                    if needs_id_file(folder.parent.name):
                        with contextlib.suppress(FileExistsError):
                            _write_new(within, ID_FILE, (project or "").encode())
                    hidden = f"{NEW}{os.urandom(8).hex()}"
                    within.make(hidden)
                    try:
                        with within.folder(hidden) as inside:
                            if needs_id_file(folder.name):
                                _write_new(inside, ID_FILE, session_id.encode())
                            _write_new(inside, DATABASE, self._new_image(session_id, project))
                        within.rename(hidden, folder.name)
                    except OSError as error:
                        within.remove(hidden)
                        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                            raise
                    if self._settings.durability == "full":
                        within.sync()

    def _new_image(self, session_id: str, project: str | None) -> bytes:
        uid = os.urandom(16).hex()
        algorithm = new_algorithm(self._settings.digest, uid, self._key)
        row = SessionRow(
            session_id=session_id,
            project_id=project,
            uid=uid,
            created_us=int(self._clock.time() * 1e6),
            ended_us=None,
            deleted_us=None,
            next_artifact_key=0,
            digest_algorithm=algorithm,
            artifacts_sum=new_sum(algorithm),
            digest=b"",
        ).sealed()
        return new_image(row.parameters(), wal=wal_allowed(self._root))

    def _open(self, path: Path, expected: tuple[str, str | None], *, read_only: bool) -> Engine:
        """Open a session's file, upgraded if it is older and may be written."""
        settings, clock, key = self._settings, self._clock, self._key
        try:
            with translated(f"opening {path}"):  # whatever it needs a descriptor for, late imports included
                try:
                    return Engine(path, settings, clock, read_only=read_only, key=key, expected=expected)
                except SchemaTooOldError:
                    if read_only:
                        raise
                    from spillstore import _upgrade  # noqa: PLC0415  # Alembic costs half a second

                    with _forks.using:
                        _upgrade.upgrade(path, settings)
                    return Engine(path, settings, clock, read_only=False, key=key, expected=expected)
        except SpillstoreError as error:
            # By now somebody may have made another one of that name.
            if isinstance(error.__cause__, FileNotFoundError) or not path.exists():
                raise _VanishedError from None
            raise

    def _bury(self, folder: Path) -> None:
        """Finish a deletion that somebody has begun, if it is still that one."""
        remove_trash(self._finish_burying(folder))

    def _finish_burying(self, folder: Path) -> Path:
        """Rename such a folder out of sight; returns where it lies then.

        Raises:
            SessionBusyError: it is another session by now.
            _VanishedError: it is gone.
        """
        with _forks.using:
            try:
                connection = connect(folder / DATABASE, self._settings, read_only=True)
            except StorageError:
                if folder.exists():
                    raise
                raise _VanishedError from None
            with contextlib.closing(connection), translated("reading the session"):
                row = connection.execute(_sql.SESSION_GET, {"session_key": 1}).fetchone()
        record = read_session_row(row, self._key)
        if record.deleted_us is None:
            raise SessionBusyError(f"session {record.session_id!r} was just made anew")
        return bury(folder, record.uid)


def _session_info(project: Folder, name: str) -> SessionInfo | None:
    """What is told of a session; None for what is none."""
    if name.startswith("."):
        return None
    with contextlib.suppress(FileNotFoundError, UnsafeRootError), project.folder(name) as session:
        session_id = _read_id(session)
        project_id = None if project.path.name == NO_PROJECT else _read_id(project)
        if session_id is None or (project_id is None and project.path.name != NO_PROJECT):
            return None
        # Whoever closes a session takes its journal along.
        found = {each: status for each in session.names() if (status := session.stat(each)) is not None}
        if DATABASE not in found:
            return None
        return infos.SessionInfo(
            id=session_id,
            project=project_id,
            live=bool(_locks.live_owners(session.path)),
            used=max(found[each].st_mtime for each in (DATABASE, f"{DATABASE}-wal") if each in found),
            disk_size=sum(status.st_size for status in found.values()),
        )
    return None


def _read_id(folder: Folder) -> str | None:
    name = folder.path.name
    if not needs_id_file(name):
        return id_of_folder(name)
    data = folder.read_small(ID_FILE, MAX_ID_BYTES)
    try:
        value = "" if data is None else data.decode()
    except UnicodeError:
        return None
    # The name holds a digest of the id, so a file that names another is not ours.
    return value if value and folder_name(value) == name else None


def _write_new(folder: Folder, name: str, data: bytes) -> None:
    with os.fdopen(folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


# --- engines: one a process, session and mode ---------------------------------------------------------------


class _VanishedError(Exception):
    """The session's file went between two of our steps."""


_registry: dict[tuple[str, bool], Engine] = {}
_registry_guard = threading.Lock()  # protects _registry and Engine.users
# One at a time opens a session, but a session that is slow to open (locked, or being upgraded) must not hold up the
# others: each session has one of these, chosen by its key.
_opening = tuple(threading.Lock() for _ in range(64))


def _opening_of(key: tuple[str, bool]) -> threading.Lock:
    return _opening[hash(key) % len(_opening)]


def _acquire(folder: Path, key: bytes | None, opened: Callable[[], Engine], *, read_only: bool) -> Engine:
    """The engine that this process has of the session, or the one that ``opened`` makes."""
    name = (str(folder), read_only)
    with _opening_of(name):
        with _registry_guard:
            engine = _registry.get(name)
            if engine is not None and engine.still_there():
                engine.check_key(key)
                engine.users += 1
                return engine
        engine = opened()
        engine.users = 1
        with _registry_guard:
            _registry[name] = engine
        return engine


def _release(engine: Engine) -> None:
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
