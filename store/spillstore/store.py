"""The store: a folder of sessions."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore import _locks, _retention, _sql
from spillstore import info as infos
from spillstore._clock import SystemClock
from spillstore._database import (
    DATABASE,
    check_platform,
    connect,
    new_image,
    translated,
    wal_allowed,
)
from spillstore._digests import new_algorithm
from spillstore._engine import Engine
from spillstore._freshness import new_sum
from spillstore._ids import (
    ID_FILE,
    MAX_ID_BYTES,
    NO_PROJECT,
    check_id,
    folder_name,
    id_of_folder,
    needs_id_file,
)
from spillstore._keys import load_key
from spillstore._places import check_owner, check_private, read_small
from spillstore._records import SessionRow, read_session_row
from spillstore._trash import bury, disk_usage, remove_trash
from spillstore.exceptions import (
    IntegrityError,
    InvalidSettingError,
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

    from spillstore._clock import Clock
    from spillstore.info import CollectReport, Event, Fate, Page, SessionInfo
    from spillstore.redaction import RedactionRules

MEMORY = "memory:"
_TRASH = ".trash"
_STAMP = ".collected"
_NEW = ".new-"
_TORN = 60.0  # seconds after which a folder that is being made is one that was not finished
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
        **settings: object,
    ) -> None:
        """Name a store; nothing is made on disk before the first session.

        Args:
            root: the folder; None for ``SPILLSTORE_ROOT`` or the user's state folder. ``memory:`` is a private folder of
                this process in a file system in memory, which is removed when the process ends.
            redaction: the rules by which secrets are taken out; None for those that are built in.
            clock: where to read the time; a test brings its own.
            digest_key: 32 random bytes or more, or the path of a file that holds them; None for what the setting
                ``digest_key_file`` names. Sessions made with a key can be read with that key alone.
            settings: see ``Settings``; they win over the environment.

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
        self._clock: Clock = clock or SystemClock()
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
                of who read it, where that can be.

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
            if not self._exists(folder):
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
            else:
                return Session(
                    engine,
                    _release,
                    self._root / _TRASH,
                    self._root,
                    self._redaction,
                    before_create=self._make_room,
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
        return Session(engine, _release, file.parent)

    def sessions(self, project: str | None = None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project, in no particular order. Cost: a few system calls each."""
        wanted = None if project is None else folder_name(check_id("project", project))
        for project_folder in self._folders(self._root):
            if wanted is not None and project_folder.name != wanted:
                continue
            for folder in self._folders(project_folder):
                info = self._session_info(project_folder, folder)
                if info is not None:
                    yield info

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
            InvalidSettingError: a limit or cursor that means nothing.
            StorageError: the file cannot be read.
        """
        from spillstore import _kept  # noqa: PLC0415  # few ask

        filters = {"kind": kind, "artifact_id": artifact_id, "actor": actor, "tool_call_id": tool_call_id}
        return _kept.page(
            self._root / _kept.KEPT, self._settings, session_id, project, filters, since, until, limit, cursor
        )

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
    ) -> CollectReport:
        """Delete sessions that nobody alive holds: those that are too old, and the oldest while all take too much.

        A live session is never touched, nor is a folder that is no session. What goes is gone when this returns, and off
        the disk as soon as no reader has its file open.

        Args:
            older_than: seconds since a session was last written; None for the ``retention`` setting.
            keep_bytes: what the files of these sessions may take together; None for any size.
            project: look at this project's sessions alone; None for all.
            dry_run: only say what would go.

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
        leftovers, freed = self._remove_leftovers(dry_run=dry_run) if self._exists_root() else (0, 0)
        chosen, spared = _retention.plan(self.sessions(project), used_before=now - age, keep_bytes=keep_bytes)
        deleted: list[Fate] = []
        for fate in chosen:
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
        left = sum(fate.session.disk_size for fate in spared)
        if project is None and not dry_run:
            _retention.remember_size(self._root, left, self._clock)
        return infos.CollectReport(
            deleted=tuple(deleted),
            spared=tuple(spared),
            leftovers=leftovers,
            freed=freed,
            left=left,
            dry_run=dry_run,
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
            except SessionDeletedError:  # whoever began to delete it has not come to its end
                return self._finish_burying(folder)
            try:
                gone = engine.delete_session(self._root / _TRASH, force=False, unused_since=since)
            except BaseException:
                engine.shutdown()
                raise
            engine.abandon()
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
        """Once per ``collect_interval`` and root, by the modification time of one file."""
        stamp = self._root / _STAMP
        now = self._clock.time()
        try:
            if now - stamp.lstat().st_mtime < self._settings.collect_interval:
                return
        except FileNotFoundError:
            if not self._root.is_dir():
                return  # a new root: there is nothing to collect
        with translated(f"writing {stamp}"):
            flags = (
                os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            )  # a pipe must not block
            descriptor = os.open(stamp, flags, 0o600)
            try:
                os.utime(descriptor, (now, now))
            finally:
                os.close(descriptor)
        with contextlib.suppress(
            SpillstoreError
        ):  # an old session that cannot be opened must not block a new one
            self.collect()

    def _remove_leftovers(self, *, dry_run: bool) -> tuple[int, int]:
        """Unlink what a process that died had begun to delete or to make; returns how many folders, and their bytes."""
        count = freed = 0
        for folder in [*self._folders(self._root / _TRASH), *self._torn()]:
            count += 1
            freed += disk_usage(folder) if dry_run else remove_trash(folder)
        return count, freed

    def _torn(self) -> Iterator[Path]:
        """Folders of sessions that were never finished, and that nobody is making now."""
        for project in self._folders(self._root):
            for name in os.listdir(project):  # noqa: PTH208
                folder = project / name
                if name.startswith(_NEW):
                    with contextlib.suppress(OSError):
                        status = folder.lstat()
                        if stat.S_ISDIR(status.st_mode) and time.time() - status.st_mtime > _TORN:
                            yield folder

    def _exists_root(self) -> bool:
        """Whether there is a root; refuses a link in its place, and in that of the trash, which would be emptied."""
        for part in (self._root / _TRASH, self._root):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if not stat.S_ISDIR(part.lstat().st_mode):
                    raise UnsafeRootError(f"{part} is no folder; a store's folders must be real ones")
        return self._root.is_dir()

    # --- folders ----------------------------------------------------------------------------------------

    def _folder(self, session_id: str, project: str | None) -> Path:
        project_folder = NO_PROJECT if project is None else folder_name(project)
        return self._root / project_folder / folder_name(session_id)

    def _exists(self, folder: Path) -> bool:
        """Whether the session is there; refuses links on the way to it, and what belongs to somebody else."""
        root: os.stat_result | None = None
        for part in (self._root, folder.parent, folder):
            try:
                status = part.lstat()
            except FileNotFoundError:
                return False
            except OSError as error:
                raise StorageError(f"{part} cannot be used: {error}") from error
            if not stat.S_ISDIR(status.st_mode):
                what = "a symbolic link" if stat.S_ISLNK(status.st_mode) else "no folder"
                raise UnsafeRootError(f"{part} is {what}; a store's folders must be real ones")
            root = root or status
            check_owner(part, status, root)
        check_private(folder, status)
        database = folder / DATABASE
        try:
            status = database.lstat()
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(status.st_mode):
            raise UnsafeRootError(f"{database} is no regular file")
        check_owner(database, status, root or status)
        check_private(database, status)
        return True

    def _make(self, folder: Path, session_id: str, project: str | None) -> None:
        """Make a session's folder with all that is in it, under another name, and rename it: it is there or not.

        The rename fails if somebody else was first, which is as good.
        """
        with translated(f"making {folder}"):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            self._exists(folder)  # again, now that they are there: no links
            if needs_id_file(folder.parent.name):
                _write_new(folder.parent / ID_FILE, (project or "").encode(), exist_ok=True)
            hidden = folder.with_name(f"{_NEW}{os.urandom(8).hex()}")
            hidden.mkdir(mode=0o700)
            try:
                if needs_id_file(folder.name):
                    _write_new(hidden / ID_FILE, session_id.encode())
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
                wal = wal_allowed(self._root)
                image = new_image(row.parameters(), wal=wal)
                _write_new(hidden / DATABASE, image, sync=self._settings.durability == "full")
                hidden.rename(folder)
            except OSError as error:
                remove_trash(hidden)
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
            if self._settings.durability == "full":
                _sync_folder(folder.parent)

    def _open(self, path: Path, expected: tuple[str, str | None], *, read_only: bool) -> Engine:
        """Open a session's file, upgraded if it is older and may be written."""
        settings, clock, key = self._settings, self._clock, self._key
        try:
            try:
                return Engine(path, settings, clock, read_only=read_only, key=key, expected=expected)
            except SchemaTooOldError:
                if read_only:
                    raise
                from spillstore import _upgrade  # noqa: PLC0415  # Alembic costs half a second

                _upgrade.upgrade(path, settings)
                return Engine(path, settings, clock, read_only=False, key=key, expected=expected)
        except SpillstoreError:
            if not path.exists():
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
        try:
            connection = connect(folder / DATABASE, self._settings, read_only=True)
        except StorageError:
            if folder.exists():
                raise
            raise _VanishedError from None
        try:
            with translated("reading the session"):
                row = connection.execute(_sql.SESSION_GET, {"session_key": 1}).fetchone()
        finally:
            connection.close()
        record = read_session_row(row, self._key)
        if record.deleted_us is None:
            raise SessionBusyError(f"session {record.session_id!r} was just made anew")
        return bury(folder, self._root / _TRASH, record.uid)

    def _folders(self, folder: Path) -> Iterator[Path]:
        """The real sub-folders whose names are ours."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        hidden = folder.name == _TRASH
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and (hidden or not entry.name.startswith(".")):
                yield folder / entry.name

    def _session_info(self, project_folder: Path, folder: Path) -> SessionInfo | None:
        session_id = _read_id(folder)
        project = None if project_folder.name == NO_PROJECT else _read_id(project_folder)
        if session_id is None or (project is None and project_folder.name != NO_PROJECT):
            return None
        used, size = 0.0, 0
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # whoever closes a session takes its journal along
                size += status.st_size
                if entry.name in {DATABASE, f"{DATABASE}-wal"}:
                    used = max(used, status.st_mtime)
        if not used:
            return None  # no session.db: a folder of somebody else
        live = bool(_locks.live_owners(folder))
        return infos.SessionInfo(id=session_id, project=project, live=live, used=used, disk_size=size)


def _read_id(folder: Path) -> str | None:
    if not needs_id_file(folder.name):
        return id_of_folder(folder.name)
    data = read_small(folder / ID_FILE, MAX_ID_BYTES)
    try:
        value = "" if data is None else data.decode()
    except UnicodeError:
        return None
    # The name holds a digest of the id, so a file that names another is not ours.
    return value if value and folder_name(value) == folder.name else None


def _write_new(path: Path, data: bytes, *, exist_ok: bool = False, sync: bool = False) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        if exist_ok:
            return
        raise
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
