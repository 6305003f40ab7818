"""A session that is opened when something must be stored, and what is to be recorded in it until then."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import SpillstoreError
from spillstore.observers import EmittedEvent, emit, is_observed

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session


class DeferredSession:
    """Where the results of tools are stored. Safe from any thread.

    Args:
        session: an open session, or a function that gives one each time something must be stored; None stores nothing.
        cleanup_on_exit: whether the session's end deletes it.

    Attributes:
        known: the session, as soon as it is known.
    """

    def __init__(self, session: Session | Callable[[], Session] | None, *, cleanup_on_exit: bool) -> None:
        self.known: Session | None = None if callable(session) else session
        self._session = session
        self._cleanup_on_exit = cleanup_on_exit
        self._passed: dict[str, tuple[int, int, int]] = {}  # calls, bytes and shown characters of each tool
        self._redacted: dict[str, dict[str, int]] = {}  # secrets of each tool, by kind
        self._lock = threading.Lock()  # protects both
        if self.known is not None and cleanup_on_exit:
            self.known.cleanup_on_exit = True

    @property
    def stores(self) -> bool:
        """Whether anything can be stored."""
        return self._session is not None

    @property
    def id(self) -> str | None:
        """The session's id, if it is known."""
        return None if self.known is None else self.known.id

    def open(self) -> Session:
        """The session; records in it what was to be recorded.

        Raises:
            SpillstoreError: there is none, or it cannot be opened.
        """
        if self._session is None:
            raise SpillstoreError("there is no session to store it in")
        session = self.known = self._session() if callable(self._session) else self._session
        if self._cleanup_on_exit:
            session.cleanup_on_exit = True
        with self._lock:
            passed, self._passed = self._passed, {}
            redacted, self._redacted = self._redacted, {}
        for tool, (calls, size, shown) in passed.items():
            session.count_passed(tool, size, shown, calls=calls)
        for tool, counts in redacted.items():
            session.note("redaction", {"tool": tool, "counts": counts})
        return session

    def count_passed(self, tool: str, size: int, shown: int) -> None:
        """Count output of ``size`` bytes that is shown whole, in a text of ``shown`` characters."""
        if self._session is not None and not callable(self._session):
            with contextlib.suppress(SpillstoreError):  # it is closed; nothing needs storing
                self._session.count_passed(tool, size, shown)
            return
        with self._lock:
            calls, sizes, texts = self._passed.get(tool, (0, 0, 0))
            self._passed[tool] = calls + 1, sizes + size, texts + shown

    def note_redactions(self, tool: str, counts: dict[str, int]) -> None:
        """Record how many secrets of each kind were taken out of output that is shown whole."""
        if not counts:
            return
        if self._session is None:  # nothing will ever be recorded
            if is_observed("redaction"):
                emit(EmittedEvent("redaction", {"tool": tool, "counts": counts}))
            return
        if not callable(self._session):
            with contextlib.suppress(SpillstoreError):  # it is closed; nothing needs storing
                self._session.note("redaction", {"tool": tool, "counts": counts})
            return
        with self._lock:
            known = self._redacted.setdefault(tool, {})
            for kind, count in counts.items():
                known[kind] = known.get(kind, 0) + count
