"""A session that is opened when something must be stored or is asked for, and the reading tools on it."""

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
    """A process that stores nothing and is asked nothing leaves no session behind.

    Args:
        open_session: opens it; asked again after it has failed.
        configuration: of the profile.
        made: whether it was not there before; then it goes with this, where the profile or the store wants that.
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
        """The session; anew if its folder was removed."""
        return self._opened.get()

    def toolbox(self) -> Toolbox:
        """The tools on it."""
        from spillstore_tools.agent.toolbox import Toolbox  # noqa: PLC0415  # when a model asks for the first time

        with self._lock:
            if self._toolbox is None:
                self._toolbox = Toolbox(self._opened, configuration=self._configuration)
            return self._toolbox

    def close(self) -> None:
        """Close the session, if there is one; delete it if it was made for us and is not to stay."""
        self._opened.end_uses()
        session = self._opened.current
        if session is not None and self._made() and session.cleanup_on_exit:
            with contextlib.suppress(SessionBusyError):  # somebody looks at it; it stays
                session.end()
        self._opened.close()
