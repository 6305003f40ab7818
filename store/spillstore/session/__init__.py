"""A session: the artifacts of one conversation, in one file."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Self

from spillstore.engine.errors import may_be_full, translated
from spillstore.exceptions import StorageError
from spillstore.runtime.delegation import delegated
from spillstore.session.creation import ArtifactCreator
from spillstore.session.events import SessionEvents
from spillstore.session.handle import SessionHandle
from spillstore.session.listing import ArtifactListing
from spillstore.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from spillstore.engine.base import Remains
    from spillstore.info import CheckReport
    from spillstore.ingest.session_core import SessionCore
    from spillstore.redaction import RedactionRules
    from spillstore.settings import Settings

__all__ = ["Session"]

_BACKGROUND_BYTES = 16 * MIB  # from which on a deleted session's files are unlinked on another thread


class Session:
    r"""All artifacts of one conversation. Made by ``Store.session``; safe from any thread; a context manager.

    Leaving the block closes the session and keeps it.

    Example:
        >>> import tempfile
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root, Store(root).session("chat-42", project="web") as session:
        ...     artifact = session.put("hello\n", source="doc", tool_call_id="call_1")
        ...     [found.id == artifact.id for found in session.artifacts(source="doc")]
        [True]
    """

    def __init__(
        self,
        core: SessionCore,
        release: Callable[[SessionCore], None],
        root: Path | None = None,
        address: str | None = None,
        rules: RedactionRules | None = None,
        *,
        redact: bool | None = None,
        before_create: Callable[[], None] = lambda: None,
        deleted: Callable[[], None] = lambda: None,
        remove_unwritten: Callable[[], Remains] | None = None,
    ) -> None:
        """Look at a session that was opened; see ``Store.session``.

        Args:
            core: what this process holds of it.
            release: gives the core back.
            root: the store's folder, or None.
            address: what names the store to another process, or None.
            rules: by which secrets are taken out; None for the built-in ones.
            redact: whether they are; None for what the core's settings say.
            before_create: called before an artifact is made; makes room for it.
            deleted: called when the session was deleted.
            remove_unwritten: deletes the session where nothing can be stored.
        """
        self._engine = core
        self._handle = SessionHandle(core, rules, redact=core.settings.redact if redact is None else redact)
        self._events = SessionEvents(self._handle)
        self._listing = ArtifactListing(self._handle)
        self._creator = ArtifactCreator(self._handle, before_create)
        self._release = release
        self._root = root
        self._address = address
        self._deleted = deleted
        self._remove_unwritten = remove_unwritten
        self._cleanup = core.settings.cleanup_on_exit
        self._before_close = contextlib.ExitStack()
        self._close_guard = threading.Lock()  # so that of two threads one releases

    def __repr__(self) -> str:
        where = self._engine.store.name if self.path is None else self.path.parent
        return f"<Session {self.id!r} of project {self.project!r} in {where}>"

    @property
    def id(self) -> str:
        """The id as the caller gave it."""
        return self._engine.row.session_id

    @property
    def project(self) -> str | None:
        """The project it belongs to, or None."""
        return self._engine.row.project_id

    @property
    def root(self) -> Path | None:
        """The store's folder; None where the store is in none, as on a server, and where one file was opened."""
        return self._root

    @property
    def address(self) -> str | None:
        """What names the store to another process, as ``Store.address`` does; None where one file was opened."""
        return self._address

    @property
    def path(self) -> Path | None:
        """Its file; None where it is in none, as on a server."""
        return self._engine.store.path

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading alone."""
        return self._engine.read_only

    @property
    def present(self) -> bool:
        """Whether its file is still where it was opened, and not deleted or exchanged. Cost: one system call."""
        return self._engine.still_there()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._engine.settings

    @property
    def cleanup_on_exit(self) -> bool:
        """Whether ``end`` deletes the session; ``close`` keeps it all the same.

        At first the store's setting. Tools set it where their profile, or its configuration, says so.
        """
        return self._cleanup

    @cleanup_on_exit.setter
    def cleanup_on_exit(self, value: bool) -> None:
        self._cleanup = value

    create = delegated(ArtifactCreator.create, "_creator")
    put = delegated(ArtifactCreator.put, "_creator")
    redaction = delegated(SessionHandle.redaction, "_handle")
    artifact = delegated(ArtifactListing.artifact, "_listing")
    exists = delegated(ArtifactListing.exists, "_listing")
    matching = delegated(ArtifactListing.matching, "_listing")
    artifacts = delegated(ArtifactListing.artifacts, "_listing")
    infos = delegated(ArtifactListing.infos, "_listing")
    find = delegated(ArtifactListing.find, "_listing")
    events = delegated(SessionEvents.events, "_events")
    new_events = delegated(SessionEvents.new_events, "_events")
    acting = delegated(SessionEvents.acting, "_events")
    action = delegated(SessionEvents.action, "_events")
    note = delegated(SessionEvents.note, "_events")
    count_passed = delegated(SessionEvents.count_passed, "_events")

    def sign(self, data: bytes) -> str:
        """Eleven characters that only somebody who can open this session can make of ``data``: a keyed digest of 64 bits.

        A text that came out of the session can so be distinguished from one that only looks like it. The key is part of the
        session, and gone with it.
        """
        return self._engine.sign(data)

    def check(self, *, on_progress: Callable[[int, int], object] | None = None) -> CheckReport:
        """Check everything: the storage engine's own structure, every row's digest, every chunk, and that nothing is left over.

        Cost: reading and decoding the whole session, in flat memory. Others may go on writing, deleting and evicting: what
        goes meanwhile is not counted, and nothing is called damaged that was not there any more or had changed.
        ``on_progress`` is called, on this thread, every few chunks with the bytes that are checked and those that there are.

        Raises:
            IntegrityError: lists what is wrong.
            SessionDeletedError, StorageError: it cannot be read to its end, which says nothing about what is in it.
        """
        self._handle.check_open()
        with translated("checking the session"):  # an import opens files
            from spillstore.session.check import check  # noqa: PLC0415  # few check

        return check(self._engine, self._listing, on_progress)

    def end(self, *, cleanup: bool | None = None) -> None:
        """Record that the conversation is over and close; delete at once where ``cleanup_on_exit`` is set.

        ``cleanup`` deletes or keeps it, whatever that property says.

        Raises:
            SessionBusyError: it is to be deleted and somebody else holds it.
        """
        self._handle.check_open()
        self._before_close.close()
        if self._cleanup if cleanup is None else cleanup:
            self.delete()
            return
        self._engine.end_session()
        self.close()

    def delete(self, *, force: bool = False) -> None:
        """Delete the session with all its artifacts, atomically; large files are unlinked in the background.

        ``force`` deletes it even though somebody alive holds it; they get ``SessionDeletedError``.

        Raises:
            SessionBusyError: somebody alive holds it, or a writer is open here.
            ReadOnlyError: it was opened for reading.
        """
        self._handle.check_open()
        core = self._engine
        try:
            gone = core.delete_session(force=force)
        except StorageError as error:
            if self._remove_unwritten is None or not may_be_full(error) or core.users > 1:
                raise
            self.close()  # as the last who has it open here
            self._remove_unwritten().free()
            return
        size = gone.size()
        self.close()
        self._deleted()

        def free() -> None:
            core.abandon()
            gone.free()

        if size < _BACKGROUND_BYTES:
            free()
        else:
            # Not a daemon: a process that ends now waits the tenth of a second that a gigabyte takes.
            threading.Thread(target=free, name="spillstore-unlink").start()

    def on_close(self, function: Callable[[], object]) -> None:
        """Call ``function`` when this object is about to be closed, while it can still be used; the last added first.

        So what writes into the session can come to its end. What ``function`` raises is raised by ``close``, when the
        session has been let go of.

        Raises:
            ClosedError: it is closed.
        """
        self._handle.check_open()
        self._before_close.callback(function)

    def close(self) -> None:
        """Let go of the session; artifacts still open through it are sealed as ``interrupted`` by the last one out."""
        try:
            self._before_close.close()
        finally:
            with self._close_guard:
                closed, self._handle.closed = self._handle.closed, True
            if not closed:
                self._release(self._engine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
