"""Checks all sessions of a store, while others go on writing and deleting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.engine.base import SessionRef
from spillstore.exceptions import IntegrityError, SessionNotFoundError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore.engine.base import Backend
    from spillstore.session import Session


def check_all(backend: Backend, open_session: Callable[[str, str | None], Session]) -> int:
    """See ``Store.check``.

    Args:
        backend: whose sessions.
        open_session: opens one for reading, by its id and its project.
    """
    count = 0
    for info in backend.sessions(None):
        try:
            with open_session(info.id, info.project) as session:
                session.check()
        except SessionNotFoundError:
            continue
        except (IntegrityError, StorageError):
            if backend.exists(SessionRef(info.id, info.project)):
                raise
            continue  # what went wrong is that it was deleted
        count += 1
    return count
