"""A store of folders: ``Backend`` of ``engine.base``, which says what the methods do.

A session is one folder with one SQLite file, ``ROOT/PROJECT/SESSION/session.db``. What lies in the root besides is the
room for deleting (``reserve``), how large the store is and when it was last collected (``usage_cache``). A folder appears by a rename,
complete and synced, or not at all; it disappears the same way.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from spillstore import info as infos
from spillstore.engine.base import SessionRef, VanishedError
from spillstore.engine.errors import translated
from spillstore.engine.sqlite import (
    fork_safety,
    owner_locks,
    reserve,
    usage_cache,
)
from spillstore.engine.sqlite.database import DATABASE, check_version, connect, new_image, wal_allowed
from spillstore.engine.sqlite.folder_names import (
    ID_FILE,
    NO_PROJECT,
    folder_name,
    id_of_folder,
    needs_id_file,
)
from spillstore.engine.sqlite.folders import make_root, open_project, open_root
from spillstore.engine.sqlite.path_safety import check_owner, check_private, is_gone
from spillstore.engine.sqlite.session_file import SessionFile, is_open
from spillstore.engine.sqlite.soft_delete import (
    DELETED_PREFIX,
    NEW_PREFIX,
    Buried,
    bury,
    disk_usage,
)
from spillstore.exceptions import (
    LockedError,
    SchemaTooOldError,
    SessionBusyError,
    SessionDeletedError,
    SpillstoreError,
    StorageError,
    UnsafeRootError,
)
from spillstore.model.ids import MAX_ID_BYTES
from spillstore.model.validation import read_session_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from spillstore.engine.rows import EventFilter
    from spillstore.engine.sqlite.damaged_file import DamagedFile
    from spillstore.engine.sqlite.folders import Folder
    from spillstore.engine.sqlite.importing import FolderImport
    from spillstore.info import Event, Page, SessionInfo
    from spillstore.model.clock import Clock
    from spillstore.model.records import SessionRow
    from spillstore.settings import Settings

_ALONE_PATIENCE: Final = 2.0  # seconds that who must be alone with a session waits for others


class FolderBackend:
    """The sessions below one folder. Safe from any thread."""

    def __init__(self, root: Path, settings: Settings, key: bytes | None, clock: Clock) -> None:
        """Name the folder; nothing is made before the first session.

        Args:
            root: the folder, absolute.
            settings: what is in force.
            key: the store's digest key, or None.
            clock: where to read the time.

        Raises:
            UnsupportedError: SQLite is too old.
        """
        check_version()
        self._root = root
        self._settings = settings
        self._durable = settings.durability == "full"
        self._key = key
        self._clock = clock

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    @property
    def name(self) -> str:
        """Its path."""
        return str(self._root)

    @property
    def address(self) -> str:
        """Its path."""
        return str(self._root)

    def place(self, ref: SessionRef) -> str:
        """The path of a session's folder."""
        return str(self._folder(ref))

    def _folder(self, ref: SessionRef) -> Path:
        return self._project(ref.project) / folder_name(ref.session_id)

    def _project(self, project: str | None) -> Path:
        return self._root / (NO_PROJECT if project is None else folder_name(project))

    # --- one session --------------------------------------------------------------------------------------

    def exists(self, ref: SessionRef, *, repair: bool = False) -> bool:
        """Whether the session is there; refuses links on the way to it, and what belongs to somebody else."""
        folder = self._folder(ref)
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
                replaced = status is None and not project.leads_to(folder.name, session)
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
        if replaced:  # what was opened is gone, and another one has its name
            return self.exists(ref, repair=repair)
        if repair and (status is None or not status.st_size):
            return self.set_aside(ref, failed=False) is None and status is not None
        return status is not None

    def make(self, ref: SessionRef, row: SessionRow) -> None:
        """Make a session's folder with all that is in it, under another name, and rename it: it is there or not.

        The rename fails if somebody else was first, which is as good. The file is synced before, whatever the
        durability: one that a power cut made empty would be in the way of its name. With ``full`` all names on the way
        to it are synced, too: a file system need not do that with a file.
        """
        folder = self._folder(ref)
        with translated(f"making {folder}"), self._made_project(ref) as within:
            hidden = f"{NEW_PREFIX}{os.urandom(8).hex()}"
            within.make(hidden)
            try:
                with within.folder(hidden) as inside:
                    if needs_id_file(folder.name):
                        inside.write_new(ID_FILE, ref.session_id.encode())
                    inside.write_new(DATABASE, new_image(row, wal=wal_allowed(self._root)))
                    if self._durable:
                        inside.sync()
                within.rename(hidden, folder.name)
            except OSError as error:
                within.remove(hidden)
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
            if self._durable:
                within.sync()

    @contextlib.contextmanager
    def _made_project(self, ref: SessionRef) -> Iterator[Folder]:
        """The folder of a session's project, made if it is not there."""
        name = self._project(ref.project).name
        make_root(self._root, durable=self._durable)
        with open_root(self._root) as root:
            reserve.provide(root)
            with contextlib.suppress(FileExistsError):
                root.make(name)
            if self._durable:  # also where somebody else has just made it
                root.sync()
            with open_project(root, name) as within:
                if needs_id_file(name):
                    with contextlib.suppress(FileExistsError):
                        within.write_new(ID_FILE, (ref.project or "").encode())
                yield within

    def importing(self, ref: SessionRef, row: SessionRow) -> contextlib.AbstractContextManager[FolderImport]:
        """Fill a session's folder under another name, and rename it."""
        with translated("storing a copy"):  # an import opens files
            from spillstore.engine.sqlite import importing  # noqa: PLC0415  # few copy

        return importing.importing(self._made_project(ref), ref, row, self._settings)

    @contextlib.contextmanager
    def opening(self, ref: SessionRef) -> Iterator[None]:
        """Around all that opening takes: whatever is missing because the session went is a ``VanishedError``."""
        path = self._folder(ref) / DATABASE
        try:
            with translated(f"opening {path}"):  # whatever it needs a descriptor for, late imports included
                yield
        except SpillstoreError as error:
            # By now somebody may have made another one of that name.
            if isinstance(error.__cause__, FileNotFoundError) or is_gone(path):
                raise VanishedError from None
            raise

    def open(self, ref: SessionRef, *, read_only: bool) -> SessionFile:
        """Open a session's file; an older one is upgraded by who writes, and read as it is by who only reads."""
        path = self._folder(ref) / DATABASE
        try:
            return SessionFile(path, self._settings, read_only=read_only)
        except SchemaTooOldError:
            if read_only:
                raise
        from spillstore.engine.sqlite import upgrade  # noqa: PLC0415  # Alembic costs half a second

        with fork_safety.using:
            upgrade.upgrade(path, self._settings)
        return SessionFile(path, self._settings, read_only=False)

    def open_alone(self, ref: SessionRef) -> SessionFile | None:
        """Open a session for deleting where nothing can be claimed; None if somebody has it open, or it must be upgraded first."""
        folder = self._folder(ref)
        database = folder / DATABASE
        with translated("looking for other processes"):
            owners = owner_locks.live_owners(folder)
        if owners or is_open(database):
            return None
        reserve.lend(folder)
        patience = min(self._settings.busy_timeout, _ALONE_PATIENCE)
        settings = dataclasses.replace(self._settings, busy_timeout=patience)
        try:
            return SessionFile(database, settings, read_only=False, alone=True)
        except (LockedError, SchemaTooOldError):  # to be upgraded, which takes room
            return None

    def give_reserve(self) -> bool:
        """Give the reserve's room to the disk; whether there was one."""
        return reserve.give_back(self._root)

    def keep_reserve(self) -> None:
        """Make the reserve anew, where there is room."""
        reserve.provide_in(self._root)

    def set_aside(self, ref: SessionRef, *, failed: bool) -> Buried | None:
        """Move what a power cut has left of a session out of the way; see ``partial_sessions``."""
        return _set_aside(self._folder(ref), failed=failed)

    def finish_deletion(self, ref: SessionRef) -> Buried:
        """Rename a session out of sight that somebody has marked as deleted, if it is still that one."""
        folder = self._folder(ref)
        with fork_safety.using:
            try:
                connection = connect(folder / DATABASE, self._settings, read_only=True)
            except StorageError as error:
                if not isinstance(error, SessionDeletedError) and not is_gone(folder):
                    raise
                raise VanishedError from None
            with contextlib.closing(connection), translated("reading the session"):
                record = read_session_row(connection.session_row(), self._key)
        if record.deleted_us is None:
            raise SessionBusyError(f"session {record.session_id!r} was just made anew")
        return Buried(bury(folder, record.uid), durable=self._durable)

    def remove_unwritten(self, ref: SessionRef) -> Buried:
        """Delete a session on a disk that takes no more, without writing anything first."""
        with translated("deleting the session"):  # an import opens files
            from spillstore.engine.sqlite import full_disk  # noqa: PLC0415  # a disk is seldom full

            gone = full_disk.delete(self._folder(ref), ref, self._settings, self._key, self._clock)
        self.forget_size()
        return Buried(gone, durable=self._durable)

    def damaged(self, ref: SessionRef) -> contextlib.AbstractContextManager[DamagedFile]:
        """What is left in a session's file, page by page."""
        with translated("salvaging"):  # an import opens files
            from spillstore.engine.sqlite import damaged_file  # noqa: PLC0415  # few need it

        return damaged_file.damaged(self._folder(ref) / DATABASE, ref)

    def size_of(self, ref: SessionRef) -> int:
        """Bytes that a session takes on the disk."""
        return disk_usage(self._folder(ref))

    # --- all sessions -------------------------------------------------------------------------------------

    def sessions(self, project: str | None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project."""
        with translated(f"listing {self._root}"), contextlib.ExitStack() as stack:
            try:
                root = stack.enter_context(open_root(self._root))
            except FileNotFoundError:
                return
            names = stack.enter_context(root.listed()) if project is None else (self._project(project).name,)
            for name in names:
                if not name.startswith("."):
                    yield from _sessions_of(root, name)

    def aged(self, info: SessionInfo, now: float, *, dry_run: bool) -> SessionInfo:
        """A session whose last use lies in the future, with a time from which its age can be told."""
        return usage_cache.aged(info, now, self._folder(SessionRef(info.id, info.project)), dry_run=dry_run)

    def last_look(self, now: float, interval: float) -> float | None:
        """When the store was looked at before, if it is time to do so again."""
        return usage_cache.due(self._root, now, interval)

    def size(self, quota: int, measure: Callable[[], int]) -> tuple[int, bool]:
        """About how many bytes the store takes, and whether that was found just now."""
        return usage_cache.size_of(self._root, quota, self._clock, measure)

    def remember_size(self, size: int, took: float) -> None:
        """Keep a size that was found in ``took`` seconds."""
        usage_cache.remember_size(self._root, size, self._clock, took)

    def forget_size(self) -> None:
        """Something was deleted, so the next who asks looks again."""
        usage_cache.forget_size(self._root)

    def deleted_events(
        self, ref: SessionRef, wanted: EventFilter, limit: int, cursor: str | None
    ) -> Page[Event]:
        """Events that were kept of deleted sessions of that name."""
        with translated("reading kept events"):  # an import opens files
            from spillstore.engine.sqlite import archive  # noqa: PLC0415  # few ask

        return archive.page(self._project(ref.project), self._settings, ref, wanted, limit, cursor)

    def remove_leftovers(self, now: float, *, dry_run: bool) -> tuple[int, int, tuple[str, ...]]:
        """Unlink what a process that died had begun to delete or to make, and what a power cut has left of a session.

        Returns:
            How many folders, their bytes, and which files of kept events were moved aside.
        """
        with translated("looking for leftovers"):  # an import opens files
            from spillstore.engine.sqlite import leftovers  # noqa: PLC0415  # once a day

        return leftovers.remove(self._root, self._settings.retention, now, dry_run=dry_run)


def _set_aside(folder: Path, *, failed: bool) -> Buried | None:
    if is_open(folder / DATABASE):
        return None
    with translated("looking for what a power cut has left"):  # an import opens files
        from spillstore.engine.sqlite import partial_sessions  # noqa: PLC0415  # they are rare

    found = partial_sessions.clear(folder, failed=failed)
    if found is None:
        return None
    buried = Buried(found, durable=False)
    if found.name.startswith(DELETED_PREFIX):
        buried.free()
    return buried


def _sessions_of(root: Folder, name: str) -> Iterator[SessionInfo]:
    """All sessions in a folder of the root; none if it is no folder, or gone."""
    with (
        contextlib.suppress(FileNotFoundError, UnsafeRootError),
        root.folder(name) as project,
        project.listed() as names,
    ):
        for each in names:
            if info := _session_info(project, each):
                yield info


def _session_info(project: Folder, name: str) -> SessionInfo | None:
    """The entry of ``Store.sessions`` for a folder; None if it is no session."""
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
            return None if project.leads_to(name, session) else _session_info(project, name)
        return infos.SessionInfo(
            id=session_id,
            project=project_id,
            live=bool(owner_locks.live_owners(session.path)),
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
