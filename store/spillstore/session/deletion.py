"""Deletes sessions and artifacts that need not be open, also on a disk that takes not one byte more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.base import VanishedError
from spillstore.engine.errors import may_be_full
from spillstore.exceptions import ArtifactNotFoundError, SessionNotFoundError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.engine.base import Backend, SessionRef
    from spillstore.ingest.session_pool import SessionPool
    from spillstore.session import Session


def delete_session(
    backend: Backend, ref: SessionRef, open_session: Callable[[], Session], *, force: bool
) -> None:
    """Delete a session; see ``Store.delete``.

    Args:
        backend: where it is.
        ref: names it.
        open_session: opens it.
        force: delete it even though others have it open.
    """
    remains = backend.set_aside(ref, failed=False)
    if remains is not None:
        remains.free()
        return
    there = backend.exists(ref)
    try:
        with open_session() as session:
            session.delete(force=force)
    except StorageError as error:
        if not may_be_full(error):
            raise
        backend.remove_unwritten(ref).free()
    except SessionNotFoundError:
        if not there:
            raise  # else it went meanwhile, or was a part of one and was moved out of the way


def delete_artifact(
    backend: Backend,
    pool: SessionPool,
    ref: SessionRef,
    artifact_id: str,
    open_session: Callable[[], Session],
) -> int:
    """Delete an artifact; returns the bytes that its chunks took. See ``Store.delete_artifact``.

    Args:
        backend: where its session is.
        pool: the sessions that are open here.
        ref: names the session.
        artifact_id: of the artifact.
        open_session: opens the session.
    """
    size: int | None = None

    def delete() -> int:
        nonlocal size
        with open_session() as session:
            artifact = session.artifact(artifact_id)
            size = artifact.info.stored_size
            artifact.delete()
        return size

    try:
        return delete()
    except StorageError as error:
        if not may_be_full(error):
            raise
    try:
        if (freed := pool.delete_artifact_alone(ref, artifact_id)) is not None:
            return freed
        backend.give_reserve()
        return delete()
    except ArtifactNotFoundError:
        if size is None:
            raise
        return size  # it was deleted before, and its space is free now
    except VanishedError:
        if size is None:
            raise SessionNotFoundError(
                f"session {ref.session_id!r} was deleted meanwhile, with its artifacts; Store.sessions() lists what there is"
            ) from None
        return size  # with its session
    finally:
        backend.keep_reserve()
