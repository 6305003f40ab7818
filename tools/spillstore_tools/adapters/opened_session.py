"""The session of an adapter: opened with the first large result, closed with the adapter, in its thread or at the exit.

A framework may offer no end. So what is left open is closed when the process ends, and the session of an adapter that nobody holds
any more, when the next adapter opens one: not by the garbage collector itself, which may come while locks of the store are held.
After a fork the child has nothing open, and leaves alone what its parent has.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING

from spillstore.exceptions import InvalidSettingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session, aio
    from spillstore_tools.output.session_opener import Opened

_log = logging.getLogger("spillstore.adapters")
_left: deque[Opened] = deque()  # of adapters that nobody holds any more
_living: weakref.WeakSet[OpenedSession] = weakref.WeakSet()


class OpenedSession:
    """Where one adapter stores and reads. Safe from any thread.

    Args:
        session: an open session, which stays open; a function that opens one; the name of one in the default store; None for
            the name that ``SPILLSTORE_SESSION`` has, or a new one.

    Raises:
        InvalidSettingError: it is none of these.

    Attributes:
        opened: finds the session; another one after a fork.
        lock: for what is made for that session.
    """

    def __init__(self, session: Session | aio.Session | Callable[[], Session] | str | None) -> None:
        from spillstore import Session  # noqa: PLC0415  # with the first adapter

        if session is None or isinstance(session, str):
            session = _opener(session)
        elif not callable(session) and not isinstance(getattr(session, "plain", session), Session):
            raise InvalidSettingError(
                f"an adapter needs a session, as Store.session gives it, a function that opens one, or a name; not {session!r:.80}"
            )
        self._session = session
        self._begin()
        _living.add(self)

    def _begin(self) -> None:
        from spillstore_tools.output.session_opener import Opened  # noqa: PLC0415  # likewise

        self.lock = threading.Lock()
        self.opened = Opened(self._session)
        if self.opened.given is None:
            self._finalizer = weakref.finalize(self, _left.append, self.opened)
            self._finalizer.atexit = False

    def get(self) -> Session:
        """The session, opened if it is not.

        Raises:
            ClosedError: it was closed.
            SpillstoreError: it cannot be opened.
        """
        if _left:
            _close_left()
        return self.opened.get()

    def close(self) -> None:
        """Close what was opened here. Nothing is opened any more."""
        if self.opened.given is None:
            self._finalizer.detach()
            self.opened.close()

    def after_fork(self) -> None:
        """Begin anew in a child; what the parent has open stays the parent's."""
        self.lock = threading.Lock()
        if self.opened.given is None:
            self._finalizer.detach()
            self._begin()


def _opener(name: str | None) -> Callable[[], Session]:
    name = name or os.environ.get("SPILLSTORE_SESSION") or _new_name()

    def open_session() -> Session:
        from spillstore import Store  # noqa: PLC0415  # for the first large result

        return Store().session(name, os.environ.get("SPILLSTORE_PROJECT") or None)

    return open_session


def _new_name() -> str:
    return f"agent-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}"


def _close_left() -> None:
    """Close the sessions of adapters that nobody holds any more."""
    while _left:
        try:
            _left.popleft().close()
        except IndexError:  # another thread has closed it
            return
        except Exception as error:  # noqa: BLE001  # of one adapter; the call is another one's
            _log.warning("a session that was left open could not be closed: %s", error)


def _close_all() -> None:
    for each in list(_living):
        if each.opened.given is None:
            _left.append(each.opened)
    _close_left()


def _forget() -> None:
    _left.clear()
    for each in list(_living):
        each.after_fork()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget)
