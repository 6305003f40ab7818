"""What stays open between two requests of a log's page: its session, for reading, and its rows.

Other pages open a session and close it. Who reads a log asks for rows many times a second, and what was read is one event of the audit
log as long as it goes on; so its session and its `Log` are kept until nobody has asked for a while.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from spillstore.audit.actor import acting
from spillstore_tools.viewer.model.footprint import ACTOR
from spillstore_tools.viewer.web.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spillstore import Session, Store
    from spillstore.info import Stream

IDLE: Final = 30.0  # seconds without a request, after which a log is closed
MOST: Final = 16  # logs that are kept at once


class Wanted(NamedTuple):
    """Which view of which artifact.

    Attributes:
        session: the session's name.
        project: its project, or None.
        artifact_id: the id.
        stream: the view.
        binary: whether bytes are shown as hex; None for those that are no text.
    """

    session: str
    project: str | None
    artifact_id: str
    stream: Stream
    binary: bool | None


class _Kept:
    """A log that is open."""

    def __init__(self, session: Session, reading: Reading) -> None:
        self.session = session
        self.reading = reading
        self.users = 0
        self.used = 0.0

    def close(self) -> None:
        with acting(ACTOR, None):
            self.reading.close()
            self.session.close()


class Opened:
    """Opens sessions of a store for reading, and keeps the logs that are being read. Safe from any thread.

    Args:
        store: the store.
        clock: seconds that never go back.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        self._clock = clock
        self._lock = threading.Lock()  # protects what is kept
        self._kept: dict[Wanted, _Kept] = {}

    @contextlib.contextmanager
    def session(self, name: str, project: str | None) -> Iterator[Session]:
        """A context with a session that is open for reading; what is read in it is read by the actor ``viewer``.

        Raises:
            SpillstoreError: it is not there, or cannot be opened.
        """
        with acting(ACTOR, None), self.store.session(name, project, create=False, read_only=True) as session:
            yield session

    @contextlib.contextmanager
    def reading(self, wanted: Wanted) -> Iterator[Reading]:
        """A context with a log.

        Raises:
            SpillstoreError: it is not there, or cannot be opened.
        """
        with acting(ACTOR, None):
            kept = self._taken(wanted) or self._added(wanted)
            try:
                yield kept.reading
            finally:
                with self._lock:
                    kept.users -= 1
                    kept.used = self._clock()

    def close_idle(self, idle: float = IDLE) -> None:
        """Close what nobody has asked for since so many seconds."""
        with self._lock:
            now = self._clock()
            old = [key for key, kept in self._kept.items() if not kept.users and now - kept.used >= idle]
            rest = sorted(
                (kept.used, key) for key, kept in self._kept.items() if not kept.users and key not in old
            )
            old += [key for _, key in rest[: max(0, len(self._kept) - len(old) - MOST)]]
            closing = [self._kept.pop(key) for key in old]
        for kept in closing:
            kept.close()

    def close(self) -> None:
        """Close everything, when no request is answered any more."""
        with self._lock:
            closing = list(self._kept.values())
            self._kept.clear()
        for kept in closing:
            kept.close()

    def _taken(self, wanted: Wanted) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(wanted)
            if kept is not None:
                kept.users += 1
            return kept

    def _added(self, wanted: Wanted) -> _Kept:
        self.close_idle()
        session = self.store.session(wanted.session, wanted.project, create=False, read_only=True)
        try:
            artifact = session.artifact(wanted.artifact_id)
            kept = _Kept(session, Reading(session, artifact, wanted.stream, binary=wanted.binary))
        except BaseException:
            session.close()
            raise
        with self._lock:
            known = self._kept.setdefault(wanted, kept)
            known.users += 1
        if known is not kept:  # two have asked at once
            kept.close()
        return known
