"""The program: which screen comes first, and the sessions that it has opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App

from spillstore.audit.actor import acting
from spillstore_tools.viewer.model.footprint import ACTOR
from spillstore_tools.viewer.terminal.lists import ArtifactList, SessionList
from spillstore_tools.viewer.terminal.log_screen import LogScreen
from spillstore_tools.viewer.terminal.prompts import Question, was_early

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Key

    from spillstore import Artifact, Session, SessionInfo, Store
    from spillstore.info import Stream


class Viewer(App[None]):
    """The viewer. Sessions are opened for reading; what is read is recorded with the actor ``viewer``.

    Args:
        chosen: turns the options of ``spillstore list`` into arguments of ``chosen_artifacts``.
        session: opened for reading; None for the list of sessions.
        artifact: the one to show, in that session; None for the list of artifacts.
        store: the store, for the list of sessions; None where there is only the session.
        project: the project whose sessions are listed; None for all.
        stream: the view to begin with.
        line: the line to begin with.
    """

    ENABLE_COMMAND_PALETTE = False
    TITLE = "spillstore"
    BINDINGS: ClassVar = [("ctrl+c", "quit", "leave")]

    def __init__(
        self,
        chosen: Callable[[str], dict[str, Any]],
        *,
        session: Session | None = None,
        artifact: Artifact | None = None,
        store: Store | None = None,
        project: str | None = None,
        stream: Stream = "combined",
        line: int = 1,
    ) -> None:
        super().__init__()
        self._chosen = chosen
        self._session, self._artifact = session, artifact
        self._store, self._project = store, project
        self._begin: tuple[Stream, int] = (stream, line)
        self._opened: list[Session] = []

    def on_key(self, event: Key) -> None:
        """Give a question what was typed before it was there."""
        if isinstance(self.screen, Question) and was_early(event):
            event.prevent_default().stop()
            self.screen.type(event)

    def on_mount(self) -> None:
        """Show the first screen."""
        if self._session is None:
            self._show_sessions()
        elif self._artifact is None:
            self._show_artifacts(self._session)
        else:
            stream, line = self._begin
            self.push_screen(LogScreen(self._session, self._artifact, stream, line))

    def on_unmount(self) -> None:
        """Close what was opened here."""
        for session in self._opened:
            session.close()

    def _show_sessions(self) -> None:
        if self._store is not None:
            self.push_screen(SessionList(self._store, self._project, self._open))

    def _open(self, info: SessionInfo) -> None:
        assert self._store is not None  # it has listed the session
        with acting(ACTOR, None):
            session = self._store.session(info.id, info.project, read_only=True)
        self._opened.append(session)
        self._show_artifacts(session)

    def _show_artifacts(self, session: Session) -> None:
        self.push_screen(ArtifactList(session, self._chosen, self._show_sessions))
