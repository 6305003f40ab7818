"""The list of sessions, and that of artifacts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.screen import Screen
from textual.widgets import DataTable, Static

from spillstore.exceptions import SpillstoreError
from spillstore_tools.describe import count, human_size, incomplete
from spillstore_tools.viewer.model.listing import chosen_artifacts, sessions_by_use
from spillstore_tools.viewer.terminal.keys import LIST_KEYS, bindings
from spillstore_tools.viewer.terminal.log_screen import LogScreen
from spillstore_tools.viewer.terminal.prompts import Help, Question, came_below
from spillstore_tools.viewer.terminal.strips import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Key

    from spillstore import Session, SessionInfo, Store

_COMMAND = 200  # characters of a command


class ListScreen(Screen[None]):
    """A table with a line above it and one below."""

    BINDINGS: ClassVar = bindings(LIST_KEYS)
    HEADER: ClassVar[tuple[str, ...]] = ()
    DEFAULT_CSS = (
        "ListScreen #title, ListScreen #status { height: 1; background: $primary-background; }"
        "ListScreen DataTable { height: 1fr; }"
    )

    def compose(self) -> ComposeResult:
        """Title, table, status."""
        yield Static(id="title")
        yield DataTable(cursor_type="row")
        yield Static(id="status")

    def on_key(self, event: Key) -> None:
        """Say that this key is not for a question."""
        came_below(event)

    def on_mount(self) -> None:
        """Fill the table."""
        table: DataTable[Any] = self.query_one(DataTable)
        table.add_columns(*self.HEADER)
        table.focus()
        self.action_reload()

    def say(self, place: str, text: str) -> None:
        """Write the line above or below."""
        self.query_one(f"#{place}", Static).update(Text(text, no_wrap=True, overflow="ellipsis"))

    def fill(self) -> str:
        """Add the rows; returns what is to be said below."""
        raise NotImplementedError

    def action_reload(self) -> None:
        """Look again."""
        table: DataTable[Any] = self.query_one(DataTable)
        before = table.cursor_row
        table.clear()
        try:
            self.say("status", self.fill())
        except SpillstoreError as error:
            self.say("status", str(error))
        table.move_cursor(row=before)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Open what was chosen."""
        try:
            self.open(str(event.row_key.value))
        except SpillstoreError as error:
            self.say("status", str(error))

    def open(self, key: str) -> None:
        """Open a row."""
        raise NotImplementedError

    def action_open(self) -> None:
        """As Enter in the table."""
        self.query_one(DataTable).action_select_cursor()

    def action_filter(self) -> None:
        """Nothing to choose by."""

    def action_sessions(self) -> None:
        """They are shown."""

    def action_help(self) -> None:
        """List the keys."""
        self.app.push_screen(Help(LIST_KEYS))

    def action_leave(self) -> None:
        """Go back, or end."""
        if len(self.app.screen_stack) > 2:  # noqa: PLR2004  # the default screen and this one
            self.app.pop_screen()
        else:
            self.app.exit()


class ArtifactList(ListScreen):
    """The artifacts of a session.

    Args:
        session: opened for reading.
        chosen: turns the options of ``spillstore list`` into arguments of ``chosen_artifacts``.
        sessions: shows the sessions of the store, or None where there is no store.
    """

    HEADER: ClassVar[tuple[str, ...]] = ("begun", "exit", "lines", "size", "state", "source", "command", "id")

    def __init__(
        self,
        session: Session,
        chosen: Callable[[str], dict[str, Any]],
        sessions: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.session = session
        self._chosen = chosen
        self._sessions = sessions
        self._options = ""

    def fill(self) -> str:
        """The artifacts that the options choose."""
        table: DataTable[Any] = self.query_one(DataTable)
        project = f" of {self.session.project}" if self.session.project else ""
        shown = f"  list {self._options}" if self._options else ""
        self.say("title", f"session {self.session.id}{project}{shown}")
        found = chosen_artifacts(self.session, **self._chosen(self._options))
        for info in found.infos:
            state = "incomplete" if info.state == "sealed" and incomplete(info) else info.state
            code = "" if info.exit_code is None else str(info.exit_code)
            style = "red" if info.exit_code else "yellow" if state not in {"sealed", "open"} else ""
            cells = (
                _local(info.created),
                code,
                f"{info.lines:,}",
                human_size(info.size),
                state,
                plain(info.source),
                plain(info.command or "")[:_COMMAND],
                info.id,
            )
            table.add_row(*(Text(cell, style=style) for cell in cells), key=info.id)
        more = found.artifacts - len(found.infos)
        rest = f"; {len(found.infos):,} are shown, all with / --limit {found.artifacts}" if more else ""
        return f"{count(found.artifacts, 'artifact')}, {human_size(found.size)}{rest}    F1 lists the keys"

    def open(self, key: str) -> None:
        """Show the log."""
        self.app.push_screen(LogScreen(self.session, self.session.artifact(key)))

    def action_filter(self) -> None:
        """Ask for options."""

        def went(text: str | None) -> None:
            if text is None:
                return
            try:
                self._chosen(text)
            except SpillstoreError as error:
                self.say("status", str(error))
                return
            self._options = text
            self.action_reload()

        title = "list  (--source NAME --state STATE --since 2h --command TEXT --min-size 1M --failed --sort size ...)"
        self.app.push_screen(Question(title, self._options), went)

    def action_sessions(self) -> None:
        """Show the sessions."""
        if self._sessions is not None:
            self._sessions()


class SessionList(ListScreen):
    """The sessions of a store; ``opened`` shows one."""

    HEADER: ClassVar[tuple[str, ...]] = ("session", "project", "size", "last used", "state")

    def __init__(self, store: Store, project: str | None, opened: Callable[[SessionInfo], None]) -> None:
        super().__init__()
        self._store, self._project, self._opened = store, project, opened
        self._infos: list[SessionInfo] = []

    def fill(self) -> str:
        """The sessions, the one used last first."""
        table: DataTable[Any] = self.query_one(DataTable)
        self.say("title", f"sessions of {self._store.name}")
        self._infos = sessions_by_use(self._store, self._project)
        for index, info in enumerate(self._infos):
            cells = (
                info.id,
                info.project or "",
                human_size(info.disk_size),
                _local(info.used),
                "in use" if info.live else "",
            )
            table.add_row(*(Text(cell) for cell in cells), key=str(index))
        return f"{count(len(self._infos), 'session')}    F1 lists the keys"

    def open(self, key: str) -> None:
        """Show its artifacts."""
        self._opened(self._infos[int(key)])


def _local(seconds: float) -> str:
    """A time here, to the second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
