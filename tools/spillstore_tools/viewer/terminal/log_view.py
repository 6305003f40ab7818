"""The rows of a log on the screen, drawn a line at a time from a window of them, and the map beside them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from spillstore.exceptions import SpillstoreError
from spillstore_tools.viewer.terminal.strips import Look, plain, row_strip

if TYPE_CHECKING:
    from spillstore_tools.viewer.model.hits import Hits
    from spillstore_tools.viewer.model.log import Log
    from spillstore_tools.viewer.model.reads import Reads
    from spillstore_tools.viewer.model.rows import Row
    from spillstore_tools.viewer.model.seen import Seen, Span

_ERROR = Style(color="red")
_MORE = Strip([Segment(">", Style(color="yellow", bold=True))])  # the line goes on behind the border
_FAR = 5  # lines between the cursor and the border, after a jump


class LogView(ScrollView, can_focus=False):
    """The rows. It holds those on the screen; all others are in the artifact.

    Attributes:
        shown: the log.
        cursor: the index of the row that keys mean.
        began: where a selection begins, or None.
        look: how rows are drawn.
        seen, reads: what the model saw and fetched, or None.
    """

    DEFAULT_CSS = "LogView { width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: scroll; }"

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.shown = log
        self.cursor = 0
        self.began: int | None = None
        self.look = Look()
        self.seen: Seen | None = None
        self.reads: Reads | None = None
        self._left = 0
        self._window: dict[int, Row] = {}
        self._error = ""

    def show_log(self, log: Log, cursor: int = 0) -> None:
        """Show another log, or another stream."""
        self.shown, self.began, self._left = log, None, 0
        self.grown()
        self.go(cursor)

    def grown(self) -> None:
        """Take what the log has by now."""
        self._window = {}
        last = self.shown.info.size if self.shown.is_hex else self.shown.info.view(self.shown.stream).lines
        self.look = dataclasses.replace(self.look, digits=max(4, len(str(last))))
        self.virtual_size = Size(self.size.width, self.shown.total)
        self.refresh()

    def on_resize(self) -> None:
        """Keep the cursor on the screen."""
        self.grown()
        self.go(self.cursor, near=True)

    @property
    def selection(self) -> tuple[int, int]:
        """The rows that are selected, the first and the last; the cursor's alone without a selection."""
        other = self.cursor if self.began is None else self.began
        return min(other, self.cursor), max(other, self.cursor)

    def go(self, index: int, *, near: bool = False) -> None:
        """Put the cursor on a row and the row on the screen; ``near`` scrolls no more than it must."""
        self.cursor = max(0, min(index, self.shown.total - 1))
        top, height = int(self.scroll_offset.y), max(1, self.size.height)
        if near:
            top = min(max(top, self.cursor - height + 1), self.cursor)
        elif not top + _FAR <= self.cursor < top + height - _FAR:
            top = self.cursor - height // 3
        top = max(0, min(top, self.shown.total - height))
        self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.refresh()

    def across(self, cells: int) -> None:
        """Move the text to the left or to the right."""
        self._left = max(0, self._left + cells)
        self.refresh()

    def row(self, index: int) -> Row | None:
        """A row, read with those around it on the screen; None where there is none, or it cannot be read."""
        if index not in self._window:
            top, height = int(self.scroll_offset.y), max(1, self.size.height)
            first = top if top <= index < top + height else index
            try:
                self._window = {row.index: row for row in self.shown.rows(first, height)}
                self._error = ""
            except SpillstoreError as error:
                self._window, self._error = {}, str(error)
        return self._window.get(index)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size.width
        index = int(self.scroll_offset.y) + y
        if index >= self.shown.total:
            return Strip([Segment("~", Style(dim=True))]).adjust_cell_length(width)
        row = self.row(index)
        if row is None:
            return Strip([Segment(plain(self._error), _ERROR)]).adjust_cell_length(width)
        low, high = self.selection
        gutter, text = row_strip(
            row,
            self.look,
            mark=None if self.seen is None else self.seen.mark(row),
            fetched=self.reads is not None and self.reads.fetched(row, self.shown.stream),
            cursor=index == self.cursor,
            selected=self.began is not None and low <= index <= high,
        )
        room = max(0, width - gutter.cell_length)
        if text.cell_length > self._left + room and room:
            text = Strip.join([text.crop(self._left, self._left + room - 1), _MORE])
        elif self._left:
            text = text.crop(self._left)
        return Strip.join([gutter, text]).adjust_cell_length(width)


class Map(Widget, can_focus=False):
    """The whole artifact in as many parts as the screen is high: where hits are, and what the model saw."""

    DEFAULT_CSS = "Map { width: 2; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.hits: Hits | None = None
        self.spans: list[Span] = []
        self.lines = 0
        self._counts: list[int] = []

    def count(self) -> None:
        """Take the hits that there are by now."""
        self._counts = [] if self.hits is None else self.hits.map(max(1, self.size.height))
        self.refresh()

    def on_resize(self) -> None:
        """Count for another height."""
        self.count()

    def render_line(self, y: int) -> Strip:
        """One part of the artifact."""
        height = max(1, self.size.height)
        hits = self._counts[y] if y < len(self._counts) else 0
        most = max(self._counts, default=0)
        block = " ▂▃▄▅▆▇█"[0 if not hits else 1 + min(6, 6 * hits // max(1, most))]
        low, high = y * self.lines // height + 1, max(1, (y + 1) * self.lines // height)
        shown = any(span.mark != "omitted" and span.first <= high and span.last >= low for span in self.spans)
        return Strip(
            [Segment(block, Style(color="yellow")), Segment("┃" if shown else " ", Style(color="green"))]
        )
