"""A session that is opened when it is first needed, and the reading tools on it."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import SessionBusyError
from spillstore_tools.output.session_opener import Opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session
    from spillstore_tools.agent.toolbox import Toolbox
    from spillstore_tools.config import TruncationConfiguration


class LazySession:
    """A session that is opened when something is stored or read; a process that does neither leaves none behind.

    Args:
        open_session: opens the session; called again after it has failed.
        configuration: that of the profile.
        made: whether ``open_session`` has created the session; then ``close`` deletes it if ``cleanup_on_exit`` is set.
    """

    def __init__(
        self,
        open_session: Callable[[], Session],
        configuration: TruncationConfiguration | None = None,
        *,
        made: Callable[[], bool] = lambda: False,
    ) -> None:
        self._opened = Opened(open_session)
        self._made = made
        self._configuration = configuration
        self._lock = threading.Lock()  # protects the toolbox
        self._toolbox: Toolbox | None = None

    def session(self) -> Session:
        """The session, opened if it is not, or again if its folder was removed."""
        return self._opened.get()

    def toolbox(self) -> Toolbox:
        """The tools on the session."""
        from spillstore_tools.agent.toolbox import Toolbox  # noqa: PLC0415  # for the first call

        with self._lock:
            if self._toolbox is None:
                self._toolbox = Toolbox(self._opened, configuration=self._configuration)
            return self._toolbox

    def close(self) -> None:
        """Close the session if it is open; delete it if it was created here and ``cleanup_on_exit`` is set."""
        self._opened.end_uses()
        session = self._opened.current
        if session is not None and self._made() and session.cleanup_on_exit:
            with contextlib.suppress(SessionBusyError):  # another process uses it; it stays
                session.end()
        self._opened.close()
