"""The screen of one log: its rows, the map beside them, and the keys."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.containers import Horizontal
from textual.widgets import Static

from spillstore.exceptions import SpillstoreError
from spillstore_tools.describe import count, incomplete
from spillstore_tools.viewer.model.log import Log
from spillstore_tools.viewer.model.places import show_call
from spillstore_tools.viewer.terminal.jobs import Jobs
from spillstore_tools.viewer.terminal.keys import LOG_KEYS, bindings
from spillstore_tools.viewer.terminal.log_base import LogBase
from spillstore_tools.viewer.terminal.positions import row_at
from spillstore_tools.viewer.terminal.prompts import Help, LongLine, Question, came_below
from spillstore_tools.viewer.terminal.strips import plain

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key

    from spillstore import Artifact, Session
    from spillstore.info import Stream

_LOOK = 0.25  # seconds between two looks at an open artifact


class LogScreen(LogBase):
    """One artifact.

    Args:
        session: opened for reading.
        artifact: in it.
        stream: the view to begin with.
        line: the line to begin with.
    """

    BINDINGS: ClassVar = bindings(LOG_KEYS)
    DEFAULT_CSS = """
    LogScreen #title { height: 1; background: $primary-background; }
    LogScreen #status { height: 1; background: $primary-background; }
    """

    def __init__(
        self, session: Session, artifact: Artifact, stream: Stream = "combined", line: int = 1
    ) -> None:
        super().__init__(session, artifact, stream)
        self.jobs = Jobs(self)
        self._line = line

    def compose(self) -> ComposeResult:
        """Title, rows and map, status."""
        yield Static(id="title")
        with Horizontal():
            yield self.view
            yield self.map
        yield Static(id="status")

    def on_key(self, event: Key) -> None:
        """Say that this key is not for a question."""
        came_below(event)

    def on_mount(self) -> None:
        """Go to the first line, and look at an open artifact again and again."""
        self.view.grown()
        self.view.go(self.log_shown.row_of_line(self._line))
        self.set_interval(_LOOK, self.look)
        lost = incomplete(self.log_shown.info)
        self.tell("" if lost is None else f"not all of it is here: {plain(lost)}")

    def on_unmount(self) -> None:
        """Record what was read last."""
        self.jobs.cancel()
        self.log_shown.close()

    def look(self) -> None:
        """Look whether more has come."""
        log = self.log_shown
        if not log.is_open:
            return
        try:
            if not log.refresh():
                return
        except SpillstoreError as error:
            self.tell(str(error))
            return
        self.view.grown()
        if self.follows:
            self.view.go(log.total - 1)
        self.jobs.more()
        self.tell(self.message)

    # --- keys: going ------------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Move the cursor by lines."""
        self.follows = False
        self.view.go(self.view.cursor + step, near=True)
        self.tell()

    def action_page(self, step: int) -> None:
        """Move it by pages."""
        self.action_move(step * max(1, self.view.size.height - 1))

    def action_across(self, cells: int) -> None:
        """Move the text."""
        self.view.across(cells)

    def action_first(self) -> None:
        """Go to the first row."""
        self.follows = False
        self.go(0)

    def action_last(self) -> None:
        """Go to the last row."""
        self.go(self.log_shown.total - 1)

    def _ask_place(self, title: str, ending: str = "") -> None:
        def went(text: str | None) -> None:
            if text:
                try:
                    bare = text.strip().replace(".", "", 1).isdecimal()
                    self.follows = False
                    self.go(row_at(self.log_shown, text + ending if bare else text))
                except SpillstoreError as error:
                    self.tell(str(error))

        self.app.push_screen(Question(title), went)

    def action_go(self) -> None:
        """Ask for a line, per cent or a time."""
        self._ask_place("go to line, per cent (50%) or time (90s, 1m30s)")

    def action_go_percent(self) -> None:
        """Ask for per cent."""
        self._ask_place("go to per cent", "%")

    def action_go_time(self) -> None:
        """Ask for a time."""
        self._ask_place("go to seconds since the beginning, or 1m30s", "s")

    # --- keys: looking for something --------------------------------------------------------------------

    def action_search(self, backwards: bool) -> None:  # noqa: FBT001  # of a key
        """Ask for a pattern, and search for it."""

        def went(text: str | None) -> None:
            if text:
                self.jobs.search(text, backwards=backwards)

        self.app.push_screen(Question("search back" if backwards else "search"), went)

    def action_hit(self, backwards: bool) -> None:  # noqa: FBT001  # of a key
        """Go to a hit."""
        self.jobs.hit(backwards=backwards)

    def action_toggle_case(self) -> None:
        """Search with or without regard to case."""
        self.jobs.toggle_case()

    def action_telling(self, backwards: bool) -> None:  # noqa: FBT001  # of a key
        """Go to a line that matters."""
        self.jobs.telling(backwards=backwards)

    def action_read_later(self, backwards: bool) -> None:  # noqa: FBT001  # of a key
        """Go to a place that was read later."""
        self.jobs.read_later(backwards=backwards)

    def action_marks(self) -> None:
        """Show or hide what the model saw."""
        if self.view.seen is not None:
            self.view.seen = self.view.reads = None
            self.map.spans = []
            self.map.refresh()
            self.view.refresh()
            self.tell()
            return
        self.jobs.marks()

    def action_changes(self) -> None:
        """Compare with the run before."""
        self.jobs.changes()

    # --- keys: how it looks -----------------------------------------------------------------------------

    def action_times(self) -> None:
        """Show or hide times."""
        self.view.look = dataclasses.replace(self.view.look, times=not self.view.look.times)
        self.view.refresh()

    def action_colours(self) -> None:
        """Show colours, or what makes them."""
        self.view.look = dataclasses.replace(self.view.look, colours=not self.view.look.colours)
        self.view.refresh()
        self.tell()

    def action_stream(self, stream: Literal["combined", "stdout", "stderr"]) -> None:
        """Show another stream, at the same moment."""
        if stream == self.log_shown.stream:
            return
        row = self.view.row(self.view.cursor)
        try:
            log = Log(self.artifact, stream)
            index = 0
            if row is not None:
                place = next((each for each in row.places if each.stream == stream), None)
                index = log.row_of_time(row.time or 0) if place is None else log.row_of_byte(place.start)
        except SpillstoreError as error:
            self.tell(str(error))
            return
        self.jobs.cancel()
        self.log_shown.close()
        self.view.show_log(log, index)
        if self.view.seen is not None:
            self.jobs.marks()
        self.jobs.search_again()
        self.tell("" if log.total else f"nothing was printed on {stream}")

    def action_follow(self) -> None:
        """Stay at the end while more comes."""
        self.follows = not self.follows and self.log_shown.is_open
        if self.follows:
            self.go(self.log_shown.total - 1)
        else:
            self.tell(
                "" if self.log_shown.is_open else f"it is {self.log_shown.info.state}: nothing more comes"
            )

    def action_line(self) -> None:
        """Show the whole of a long line."""
        row = self.view.row(self.view.cursor)
        if row is not None and row.kind == "line":
            self.app.push_screen(LongLine(self.log_shown, row.number, len(row.data) + row.cut))

    # --- keys: taking something along -------------------------------------------------------------------

    def action_select(self) -> None:
        """Begin a selection, or give it up."""
        self.view.began = self.view.cursor if self.view.began is None else None
        self.view.refresh()
        self.tell()

    def action_copy(self) -> None:
        """Copy the call that shows the selected lines."""
        try:
            call = show_call(self.session, self.log_shown, *self.view.selection)
        except SpillstoreError as error:
            self.tell(str(error))
            return
        self.app.copy_to_clipboard(call)
        self.tell(f"copied: {call}")

    def action_export(self) -> None:
        """Ask for a file, and write the selected lines to it, or all."""
        rows = None if self.view.began is None else self.view.selection
        info = self.log_shown.info
        stream = "" if self.log_shown.stream == "combined" else f"-{self.log_shown.stream}"
        lines = "" if rows is None else f"-{rows[0] + 1}-{rows[1] + 1}"

        def went(path: str | None) -> None:
            if path:
                self.jobs.export(path, rows)

        title = "write all to" if rows is None else f"write {count(rows[1] - rows[0] + 1, 'row')} to"
        self.app.push_screen(Question(title, f"{info.id}{stream}{lines}.log"), went)

    def action_help(self) -> None:
        """List the keys."""
        self.app.push_screen(Help(LOG_KEYS))

    def action_end(self) -> None:
        """End what goes on; else go back."""
        if self.jobs.is_busy or self.view.began is not None:
            self.jobs.cancel()
            self.view.began = None
            self.view.refresh()
            self.tell()
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Go back, whatever goes on."""
        if len(self.app.screen_stack) > 2:  # noqa: PLR2004  # the default screen and this one
            self.app.pop_screen()
        else:
            self.app.exit()
