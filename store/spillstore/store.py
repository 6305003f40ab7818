"""The store: all sessions in one place."""

from __future__ import annotations

import os
from functools import cached_property, partial
from typing import TYPE_CHECKING

from spillstore.deleting import Deleter, named_session
from spillstore.engine import registry
from spillstore.engine.base import SessionRef
from spillstore.engine.errors import translated
from spillstore.exceptions import InvalidSettingError
from spillstore.format.digest_key import load_key
from spillstore.limits.collector import Collector
from spillstore.model.clock import SinceClock, SystemClock
from spillstore.model.ids import check_id
from spillstore.runtime.delegation import delegated
from spillstore.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Unpack

    from spillstore.info import CopyReport, Event, Page, SalvageReport, SessionInfo
    from spillstore.ingest.session_pool import SessionPool
    from spillstore.model.clock import Clock
    from spillstore.redaction import RedactionRules
    from spillstore.session import Session
    from spillstore.settings import SettingsOptions


def default_root() -> str:
    """What names the store where nothing else does: ``SPILLSTORE_ROOT``, else the user's state folder."""
    if root := os.environ.get("SPILLSTORE_ROOT"):
        return root
    import platformdirs  # noqa: PLC0415  # 5 ms that most callers do not need

    return platformdirs.user_state_dir("spillstore")


def address_of(root: str | os.PathLike[str] | None = None) -> str:
    """What names a store to another process: ``Store.address``, without making a ``Store``.

    Args:
        root: what names the store here; None for the default one.

    Returns:
        An absolute path, or a URL without its password.

    Raises:
        UsageError: the URL cannot be read.

    Example:
        >>> address_of("postgresql://agent@db.example/spill?sslpassword=...")
        'postgresql://agent@db.example/spill'
    """
    return registry.address_of(default_root() if root is None else root)


class Store:
    r"""Where sessions are: a folder, with one SQLite file for each, or a server. Cheap to make; safe from any thread and after a fork.

    A session is named by its id, 1 to 200 bytes of UTF-8 without control characters, and its project, likewise, or None.
    Methods that take them raise ``InvalidIdError`` for others.

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
        """Name a store; nothing is made on disk, and nobody connects, before the first session.

        Args:
            root: the folder, or the URL of a database of PostgreSQL; None for ``SPILLSTORE_ROOT`` or the user's state
                folder. A text may begin with ``~``, the user's home. ``memory:`` is a private folder of this process in a file system in memory, which is removed when the
                process ends. ``dict:NAME`` is for tests: a store of dictionaries, the same for all who name it in this
                process, which no other program sees.
            redaction: the rules by which secrets are taken out; None for those that are built in.
            clock: where to read the time; a test brings its own.
            digest_key: 32 random bytes or more, or the path of a file that holds them; None for what the setting
                ``digest_key_file`` names. Sessions made with a key can be read with that key alone.
            settings: see ``Settings``; they win over the environment. A size may be a text: ``artifact_limit="64MiB"``.

        Raises:
            InvalidSettingError: an unknown setting or a value out of range.
            UnsupportedError: no store can be on this platform, or psycopg is missing, which a server needs.
            UsageError: a URL that cannot be read, or of another database; the error repeats no password.
        """
        loaded = Settings.load(None, **settings)
        self._key = load_key(digest_key, loaded.digest_key_file)
        self._clock = SystemClock() if clock is None else SinceClock(clock)
        named = default_root() if root is None else root
        self._backend, self._settings = registry.open_backend(named, loaded, self._key, self._clock)
        self._redaction = redaction

    # What opens sessions is imported with the first one: many programs name a store and never need it.
    @cached_property
    def _pool(self) -> SessionPool:
        with translated("opening the store"):  # an import opens files
            from spillstore.ingest.session_pool import SessionPool  # noqa: PLC0415

        return SessionPool(self._backend, self._settings, self._clock, self._key)

    @cached_property
    def _collector(self) -> Collector:
        return Collector(self._pool)

    @property
    def _deleter(self) -> Deleter:
        return Deleter(self._pool, self.session)

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    @property
    def root(self) -> Path | None:
        """The folder; None where the store is in none, as on a server."""
        return self._backend.root

    @property
    def name(self) -> str:
        """The store, as messages name it: the folder's path, or the URL with ``***`` for its password."""
        return self._backend.name

    @property
    def address(self) -> str:
        """What names the store to another process, by ``--root`` or ``SPILLSTORE_ROOT``: the folder's path, or the URL without its password."""
        return self._backend.address

    @property
    def settings(self) -> Settings:
        """The settings that sessions opened through this store get."""
        return self._settings

    def session(
        self, session_id: str, project: str | None = None, *, create: bool = True, read_only: bool = False
    ) -> Session:
        """Open a session, and make it if it is not there, unless ``create`` is false or it is opened for reading.

        For reading alone (``read_only``) nothing is claimed or made, and nothing written but the events of its reads,
        where that can be. On a full disk, what a killed process has left in its journal is brought into the file.

        Returns:
            The session. Sessions of one id share what this process holds of it. Cost: about 2 ms for a new one.

        Raises:
            SessionNotFoundError: it is not there and is not to be made.
            UnsafeRootError: a folder on the way is a symbolic link.
            SchemaTooNewError, NotASessionError, IntegrityError: the file cannot be trusted.
            StorageError: it cannot be opened or made.
        """
        ref = named_session(session_id, project)
        makes = create and not read_only
        with translated("opening the session"):  # an import opens files
            from spillstore.ingest.session_pool import release  # noqa: PLC0415
            from spillstore.session import Session  # noqa: PLC0415

        return Session(
            self._pool.acquire(
                ref, read_only=read_only, before_make=self._collector.before_make if makes else None
            ),
            release,
            self.root,
            self.address,
            self._redaction,
            redact=self._settings.redact,
            before_create=self._collector.make_room,
            deleted=self._backend.forget_size,
            remove_unwritten=lambda: self._backend.remove_unwritten(ref),
        )

    @staticmethod
    def open_file(
        path: str | os.PathLike[str], *, digest_key: bytes | str | os.PathLike[str] | None = None
    ) -> Session:
        """Read a ``session.db`` that somebody sent, wherever it lies; ``digest_key`` is that of ``Store``.

        The file is not trusted: it is only read if its schema is ours to the letter, so nothing in it is executed.

        Returns:
            A session opened for reading; nothing beside the file is made, and no artifact counts as alive.

        Raises:
            SessionNotFoundError: there is no such file.
            UsageError: it is the URL of a store.
            NotASessionError, SchemaTooNewError, IntegrityError: it cannot be trusted.
        """
        with translated("opening the session"):  # an import opens files
            from spillstore.session.foreign import open_foreign  # noqa: PLC0415

        return open_foreign(path, digest_key)

    def sessions(self, project: str | None = None) -> Iterator[SessionInfo]:
        """All sessions, or those of one project, in no particular order. Cost: a few system calls each, as they are asked for."""
        if project is not None:
            check_id("project", project)
        return self._backend.sessions(project)

    def copy_session(
        self,
        session_id: str,
        project: str | None = None,
        *,
        to: Store,
        force: bool = False,
        replace: bool = False,
        on_progress: Callable[[int, int], object] | None = None,
    ) -> CopyReport:
        r"""Copy a session to another store, of any engine, row by row: the same bytes, ids, times, events and digests.

        Every chunk and row is checked on the way, in one snapshot. The copy is there when all of it is, or not at all:
        whatever ends the call, nothing is left of what was begun but what ``collect`` removes, and it can be called again.
        Neither session records that it was copied. The copy counts as written now, for the retention of ``to``.

        Args:
            session_id: its id, which the copy has, too.
            project: its project, likewise.
            to: the other store; with the same digest key, if there is one.
            force: while somebody has it open for writing, too; what is being written is ``interrupted`` in the copy.
            replace: in place of a session of that name, which goes when the copy is complete, and in one step: at any moment,
                and whatever ends this process, the one or the other is there. Where a file system cannot exchange two names
                (network file systems, macOS) it is deleted first, as ``delete`` does, and for a moment there is neither.
            on_progress: called, on this thread, every few chunks with the bytes that are copied and those that there are.

        Returns:
            How much was copied. Cost: reading and writing what is stored, in flat memory; a fork waits ten seconds at most.

        Raises:
            SessionNotFoundError, SessionExistsError: it is not there; ``to`` has one of that name.
            SessionBusyError: somebody has it open for writing, or holds the one that is to be replaced.
            DigestKeyError, IntegrityError: ``to`` has not the same digest key; it is damaged, of which ``check`` tells more.
            StorageError: it cannot be read, or not be stored, for a quota or a full disk among others.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
            ...     with Store(here, free_disk_floor=0).session("chat-42") as session:
            ...         _ = session.put("hello\n")
            ...     Store(here).copy_session("chat-42", to=Store(there, free_disk_floor=0)).artifacts
            1
        """
        ref = named_session(session_id, project)
        if not isinstance(to, Store):
            raise InvalidSettingError(f"to must be a Store, not {to!r:.80}")
        with translated("copying the session"):  # an import opens files
            from spillstore.session.copying import CopyTarget, SessionCopy  # noqa: PLC0415

        target = CopyTarget(
            to._backend, to._settings, to._key, to._collector.before_make, to._pool, to.delete
        )
        return SessionCopy(ref, target, force=force, replace=replace, on_progress=on_progress).run(self._pool)

    def salvage(
        self,
        path: str | os.PathLike[str],
        *,
        session_id: str | None = None,
        project: str | None = None,
        salvaged_as: str | None = None,
    ) -> SalvageReport:
        r"""Get out of a damaged session what can be got, into a new session of this store that ``check`` passes.

        Every artifact, chunk and row whose digest holds is taken, whatever has become of the rest of the file, which is
        not changed. What is missing of an artifact is its hole, or it ends before it; it is ``interrupted`` then, its
        reason and an event ``salvage`` say what is lost, and what stands between two missing ranges is an artifact of its own.

        Args:
            path: a session's file; or, with ``session_id``, the folder of a store.
            session_id: the session of that store; ``project`` is its project.
            project: see there.
            salvaged_as: the name of the new session; None for the one that it had.

        Returns:
            What was got of each artifact, and what is missing. Cost: reading the file three times, and storing it.

        Raises:
            SessionNotFoundError, SessionExistsError: it is not there, or was deleted; this store has one of that name.
            SessionBusyError: somebody has it open.
            DigestKeyError: its digests have a key, and this store another one or none.
            StorageError: it cannot be read, or not be stored.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
            ...     with Store(here, free_disk_floor=0).session("chat-42") as session:
            ...         _ = session.put("hello\n")
            ...     Store(there, free_disk_floor=0).salvage(here, session_id="chat-42").complete
            True
        """
        with translated("salvaging the session"):  # an import opens files
            from spillstore.session.salvaging import salvage  # noqa: PLC0415  # few need it

        ref = None if session_id is None else named_session(session_id, project)
        named = None if salvaged_as is None else named_session(salvaged_as, project)
        return salvage(path, ref, named, self._backend, self._settings, self._key, self._clock)

    delete = delegated(Deleter.delete, "_deleter")
    delete_artifact = delegated(Deleter.delete_artifact, "_deleter")

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

        The filters, ``limit`` and ``cursor`` are those of ``Session.events``. The page is empty where nothing was kept.

        Raises:
            InvalidSettingError: a limit or cursor that means nothing.
            StorageError, IntegrityError: the file cannot be read.
        """
        if project is not None:
            check_id("project", project)
        with translated("reading kept events"):  # an import opens files
            from spillstore.session.events import event_filter  # noqa: PLC0415

        filters = event_filter(kind, artifact_id, actor, tool_call_id, since, until)
        return self._backend.deleted_events(SessionRef(session_id, project), filters, limit, cursor)

    def check(self) -> int:
        """``Session.check`` for every session; returns how many were checked.

        Others may go on writing and deleting; a session that is deleted meanwhile is not counted.

        Raises:
            IntegrityError: the first session in which something is wrong.
            StorageError: one cannot be read.
        """
        with translated("checking the sessions"):  # an import opens files
            from spillstore.session.check_all import check_all  # noqa: PLC0415

        return check_all(self._backend, partial(self.session, read_only=True))

    collect = delegated(Collector.collect, "_collector")
