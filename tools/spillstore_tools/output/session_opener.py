"""A session that is opened when it is needed, and anew when it is gone.

A front end runs commands whether or not anything can be stored. So it holds no session but this: one that could not be
opened is asked for again with the next call, and where somebody has removed the folder of one, the next call gets a new
one of the same name. The one before stays open until the end, for a command in the background may still write to it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import ClosedError
from spillstore.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import aio


class Opened:
    r"""Where tools find their session.

    Args:
        session: one that the caller has opened, and closes; or a function that opens it.

    Example:
        >>> import tempfile, shutil
        >>> from spillstore import Store
        >>> with tempfile.TemporaryDirectory() as root:
        ...     opened = Opened(lambda: Store(root, free_disk_floor=0).session("demo"))
        ...     before = opened.get()
        ...     shutil.rmtree(before.root / "_")
        ...     after = opened.get()
        ...     found = (before.id == after.id, before is after, after.put("stored again").read_bytes(0, 6))
        ...     opened.close()
        >>> found
        (True, False, b'stored')
    """

    def __init__(self, session: Session | aio.Session | Callable[[], Session]) -> None:
        self._open: Callable[[], Session] | None = None
        self._session: Session | None = None
        if isinstance(session, Session):
            self._session = session
        elif callable(session):
            self._open = session
        else:
            self._session = session.plain
        self._before: list[Session] = []
        self._closing: list[Callable[[], object]] = []
        self._closed = False
        self._lock = threading.Lock()  # protects all of the above

    @property
    def given(self) -> Session | None:
        """The session that the caller has opened, if it was not a function that was given."""
        return self._session if self._open is None else None

    @property
    def current(self) -> Session | None:
        """The session that is open; None where there is none, or its folder is gone."""
        session = self._session
        return session if session is not None and (self._open is None or session.present) else None

    def get(self) -> Session:
        """The session, opened if it is not, or anew if it is gone. Cost of one that is open: one system call.

        Raises:
            ClosedError: ``close`` was called.
            SpillstoreError: it cannot be opened.
        """
        if (session := self.current) is not None:
            return session
        assert self._open is not None  # what the caller has opened is always current
        with self._lock:
            if self._closed:
                raise ClosedError("the session was closed; make the tools anew to go on")
            if (session := self.current) is not None:
                return session
            session = self._open()
            if self._session is not None:
                self._before.append(self._session)
            self._session = session
            return session

    def on_close(self, function: Callable[[], object]) -> None:
        """Call ``function`` before the session is closed, while it can still be used; the last named first.

        Raises:
            ClosedError: it is closed.
        """
        if self.given is not None:
            self.given.on_close(function)
            return
        with self._lock:
            if self._closed:
                raise ClosedError("the session was closed; make the tools anew to go on")
            self._closing.append(function)

    def end_uses(self) -> None:
        """Call what ``on_close`` was given; commands have ended then, and what they printed is stored."""
        while True:
            with self._lock:
                if not self._closing:
                    return
                function = self._closing.pop()
            function()

    def close(self) -> None:
        """Close what was opened here; nothing is opened any more."""
        self.end_uses()
        with self._lock:
            self._closed = True
            sessions = [
                *self._before,
                *([] if self._session is None or self._open is None else [self._session]),
            ]
            self._before = []
        for session in sessions:
            session.close()
