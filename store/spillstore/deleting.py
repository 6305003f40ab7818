"""Deletes sessions and artifacts by their names, for ``Store``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from spillstore.engine.base import SessionRef
from spillstore.engine.errors import translated
from spillstore.model.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.ingest.session_pool import SessionPool
    from spillstore.session import Session


def named_session(session_id: str, project: str | None) -> SessionRef:
    """The session of that id.

    Raises:
        InvalidIdError: an id that is not allowed.
    """
    check_id("session", session_id)
    if project is not None:
        check_id("project", project)
    return SessionRef(session_id, project)


class Deleter:
    """Deletes what is in one store.

    Args:
        pool: its sessions.
        open_session: ``Store.session``.
    """

    def __init__(self, pool: SessionPool, open_session: Callable[..., Session]) -> None:
        self._pool = pool
        self._open = open_session

    def delete(self, session_id: str, project: str | None = None, *, force: bool = False) -> None:
        """Delete a session with all its artifacts; also one that a full disk or a power cut keeps from being opened.

        Where the disk takes not one byte more, nothing is written: the session's folder is renamed while nobody has it
        open, and removed. With ``audit_keep`` its events are kept when that has made room. ``force`` deletes it even though
        somebody alive holds it; they get ``SessionDeletedError``.

        Raises:
            SessionNotFoundError: it is not there.
            SessionBusyError: somebody alive holds it; on a full disk, whatever ``force`` says.
            IntegrityError, NotASessionError: it cannot be trusted.
            StorageError: it cannot be deleted.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root:
            ...     store = Store(root)
            ...     store.session("chat-42").close()
            ...     store.delete("chat-42")
            ...     list(store.sessions())
            []
        """
        with translated("deleting the session"):  # an import opens files
            from spillstore.session.deletion import delete_session  # noqa: PLC0415

        ref = named_session(session_id, project)
        open_session = partial(self._open, session_id, project, create=False)
        delete_session(self._pool.backend, ref, open_session, force=force)

    def delete_artifact(self, session_id: str, artifact_id: str, project: str | None = None) -> int:
        r"""Delete one artifact, by its id or URI, of a session that need not be open; also on a disk that is full to the last byte.

        There the room for a journal comes from a reserve of 512 KiB, which is kept in the root for this. It becomes the
        session's journal where nobody has the session open; else it is given back to the disk, and tried again at once. It is
        made anew when there is room.

        Returns:
            Bytes that the artifact's chunks took.

        Raises:
            SessionNotFoundError, ArtifactNotFoundError: it is not there.
            SessionBusyError: it is still being written.
            IntegrityError, NotASessionError: the session cannot be trusted.
            StorageError: it cannot be deleted.

        Example:
            >>> import tempfile
            >>> from spillstore import Store
            >>> with tempfile.TemporaryDirectory() as root:
            ...     store = Store(root)
            ...     with store.session("chat-42") as session:
            ...         artifact = session.put("hello\n")
            ...     freed = store.delete_artifact("chat-42", artifact.id)
            ...     0 < freed < 1000
            True
        """
        with translated("deleting the artifact"):  # an import opens files
            from spillstore.session.deletion import delete_artifact  # noqa: PLC0415

        open_session = partial(self._open, session_id, project, create=False)
        ref = SessionRef(session_id, project)
        return delete_artifact(self._pool.backend, self._pool, ref, artifact_id, open_session)
