"""The store: a folder of sessions."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from spillstore import _locks, _sql
from spillstore._clock import SystemClock
from spillstore._database import (
    DATABASE,
    check_platform,
    connect,
    new_image,
    translated,
    wal_allowed,
)
from spillstore._engine import Engine
from spillstore._ids import ID_FILE, NO_PROJECT, check_id, folder_name, id_of_folder, needs_id_file
from spillstore._records import SessionRow
from spillstore._trash import bury, remove_trash
from spillstore.exceptions import (
    SchemaTooOldError,
    SessionBusyError,
    SessionDeletedError,
    SessionNotFoundError,
    SpillstoreError,
    StorageError,
    UnsafeRootError,
    UsageError,
)
from spillstore.info import SessionInfo
from spillstore.session import Session
from spillstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore._clock import Clock

_TRASH = ".trash"
_STAMP = ".collected"
_NEW = ".new-"
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
        self, root: str | os.PathLike[str] | None = None, *, clock: Clock | None = None, **settings: object
    ) -> None:
        """Name a store; nothing is made on disk before the first session.

        Args:
            root: the folder; None for ``SPILLSTORE_ROOT`` or the user's state folder.
            clock: where to read the time; a test brings its own.
            settings: see ``Settings``; they win over the environment.

        Raises:
            InvalidSettingError: an unknown setting or a value out of range.
            UnsupportedError: no store can be on this platform.
            UsageError: a database URL (servers are not supported yet).
        """
        check_platform()
        if isinstance(root, str) and "://" in root:
            raise UsageError(f"{root!r} is a database URL; this version stores sessions in a folder")
        self._root = Path(os.path.abspath(default_root() if root is None else root))  # noqa: PTH100  # no link is followed
        self._settings = Settings.load(None, **settings)
        self._clock: Clock = clock or SystemClock()

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
                self._make(folder, session_id, project)
            try:
                engine = _acquire(folder, self._settings, self._clock, read_only=read_only)
            except SessionDeletedError:
                # Somebody set the tombstone and has not renamed the folder yet, or died in between: finish for them.
                self._bury(folder)
            except _VanishedError:
                continue  # deleted between two of our steps
            else:
                return Session(engine, _release, self._root / _TRASH, self._root)
        raise SessionBusyError(
            f"session {session_id!r} is being deleted and made anew all the time; try again later"
        )

    @staticmethod
    def open_file(path: str | os.PathLike[str]) -> Session:
        """Read a ``session.db`` that somebody sent, wherever it lies.

        Args:
            path: the file.

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
        engine = Engine(
            file, Settings.load(), SystemClock(), read_only=True, immutable=immutable, foreign=True
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

    def check(self) -> int:
        """``Session.check`` for every session; returns how many were checked.

        Raises:
            IntegrityError: the first session in which something is wrong.
        """
        count = 0
        for info in self.sessions():
            try:
                with self.session(info.id, info.project, read_only=True) as session:
                    session.check()
            except SessionNotFoundError:
                continue  # deleted meanwhile
            count += 1
        return count

    # --- retention --------------------------------------------------------------------------------------

    def collect(self, *, older_than: float | None = None, dry_run: bool = False) -> list[SessionInfo]:
        """Delete sessions that nobody alive holds and that were last written longer ago than retention allows.

        Args:
            older_than: seconds; None for the ``retention`` setting.
            dry_run: only say what would go.

        Returns:
            What went. A live session is never touched.

        Raises:
            StorageError: the root cannot be read.
        """
        age = self._settings.retention if older_than is None else older_than
        limit = self._clock.time() - age
        gone: list[SessionInfo] = []
        if not self._root.is_dir():
            return gone
        if not dry_run:
            self._empty_trash()
        for info in list(self.sessions()):
            if info.live or info.used > limit:
                continue
            if not dry_run:
                try:
                    session = self.session(info.id, info.project, create=False)
                except SessionNotFoundError:
                    continue
                try:
                    session.delete()
                except SessionBusyError:
                    session.close()  # somebody took it between our two looks
                    continue
            gone.append(info)
        return gone

    def _collect_if_due(self) -> None:
        """Once per ``collect_interval`` and root, by the modification time of one file."""
        stamp = self._root / _STAMP
        now = self._clock.time()
        try:
            if now - stamp.stat().st_mtime < self._settings.collect_interval:
                return
        except FileNotFoundError:
            if not self._root.is_dir():
                return  # a new root: there is nothing to collect
        with translated(f"writing {stamp}"):
            descriptor = os.open(stamp, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            os.close(descriptor)
            os.utime(stamp, (now, now))
        with contextlib.suppress(
            SpillstoreError
        ):  # an old session that cannot be opened must not block a new one
            self.collect()

    def _empty_trash(self) -> None:
        """Unlink what a process that died had begun to delete or to make."""
        for folder in self._folders(self._root / _TRASH):
            remove_trash(folder)
        for project in self._folders(self._root):
            for name in os.listdir(project):  # noqa: PTH208
                if name.startswith(_NEW) and not _locks.live_owners(project / name):
                    with contextlib.suppress(OSError):
                        if time.time() - (project / name).stat().st_mtime > 60:  # noqa: PLR2004  # being made now
                            remove_trash(project / name)

    # --- folders ----------------------------------------------------------------------------------------

    def _folder(self, session_id: str, project: str | None) -> Path:
        project_folder = NO_PROJECT if project is None else folder_name(project)
        return self._root / project_folder / folder_name(session_id)

    def _exists(self, folder: Path) -> bool:
        """Whether the session is there; refuses links on the way to it."""
        for part in (self._root, folder.parent, folder):
            try:
                mode = part.lstat().st_mode
            except FileNotFoundError:
                return False
            except OSError as error:
                raise StorageError(f"{part} cannot be used: {error}") from error
            if not stat.S_ISDIR(mode):
                what = "a symbolic link" if stat.S_ISLNK(mode) else "no folder"
                raise UnsafeRootError(f"{part} is {what}; a store's folders must be real ones")
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG((folder / DATABASE).lstat().st_mode):
                raise UnsafeRootError(f"{folder / DATABASE} is no regular file")
            return True
        return False

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
                row = SessionRow(
                    session_id=session_id,
                    project_id=project,
                    uid=os.urandom(16).hex(),
                    created_us=int(self._clock.time() * 1e6),
                    ended_us=None,
                    deleted_us=None,
                    next_artifact_key=0,
                    digest_algorithm=self._settings.digest,
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

    def _bury(self, folder: Path) -> None:
        """Finish a deletion that somebody has begun, if it is still that one."""
        connection = connect(folder / DATABASE, self._settings, read_only=True)
        try:
            row = connection.execute(_sql.SESSION_GET, {"session_key": 1}).fetchone()
        finally:
            connection.close()
        record = SessionRow(*row)
        if record.deleted_us is not None:
            remove_trash(bury(folder, self._root / _TRASH, record.uid))

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
        try:
            for entry in os.scandir(folder):
                status = entry.stat(follow_symlinks=False)
                size += status.st_size
                if entry.name in {DATABASE, f"{DATABASE}-wal"}:
                    used = max(used, status.st_mtime)
        except FileNotFoundError:
            return None
        if not used:
            return None  # no session.db: a folder of somebody else
        live = bool(_locks.live_owners(folder))
        return SessionInfo(id=session_id, project=project, live=live, used=used, disk_size=size)


def _read_id(folder: Path) -> str | None:
    if not needs_id_file(folder.name):
        return id_of_folder(folder.name)
    try:
        return (folder / ID_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return None


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


def _acquire(folder: Path, settings: Settings, clock: Clock, *, read_only: bool) -> Engine:
    key = (str(folder), read_only)
    with _opening[hash(key) % len(_opening)]:
        with _registry_guard:
            engine = _registry.get(key)
            if engine is not None and engine.still_there():
                engine.users += 1
                return engine
        engine = _open(folder / DATABASE, settings, clock, read_only=read_only)
        engine.users = 1
        with _registry_guard:
            _registry[key] = engine
        return engine


def _open(path: Path, settings: Settings, clock: Clock, *, read_only: bool) -> Engine:
    """Open a session's file, upgraded if it is older and may be written."""
    try:
        try:
            return Engine(path, settings, clock, read_only=read_only)
        except SchemaTooOldError:
            if read_only:
                raise
            from spillstore import _upgrade  # noqa: PLC0415  # Alembic costs half a second

            _upgrade.upgrade(path, settings)
            return Engine(path, settings, clock, read_only=False)
    except SpillstoreError:
        if not path.exists():
            raise _VanishedError from None
        raise


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
