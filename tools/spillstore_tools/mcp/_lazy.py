"""A session that is opened when something must be stored or is asked for, and the reading tools on it."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from spillstore.exceptions import SessionBusyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spillstore import Session
    from spillstore_tools.configuration import TruncationConfiguration
    from spillstore_tools.toolbox import Toolbox


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
        self._open = open_session
        self._made = made
        self._configuration = configuration
        self._lock = threading.Lock()  # protects both of these
        self._session: Session | None = None
        self._toolbox: Toolbox | None = None

    def session(self) -> Session:
        """The session."""
        with self._lock:
            if self._session is None:
                self._session = self._open()
            return self._session

    def toolbox(self) -> Toolbox:
        """The tools on it."""
        from spillstore_tools.toolbox import Toolbox  # noqa: PLC0415  # when a model asks for the first time

        session = self.session()
        with self._lock:
            if self._toolbox is None:
                self._toolbox = Toolbox(session, configuration=self._configuration)
            return self._toolbox

    def close(self) -> None:
        """Close the session, if there is one; delete it if it was made for us and is not to stay."""
        with self._lock:
            if self._session is None:
                return
            if self._made() and self._session.cleanup_on_exit:
                with contextlib.suppress(SessionBusyError):  # somebody looks at it; it stays
                    self._session.end()
            self._session.close()
