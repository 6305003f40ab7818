"""What a log's screen is to those who work for it: the rows, where they are, and the lines above and below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.screen import Screen
from textual.widgets import Static

from spillstore_tools.describe import count, human_size
from spillstore_tools.viewer.model.log import Log
from spillstore_tools.viewer.terminal.log_view import LogView, Map
from spillstore_tools.viewer.terminal.strips import plain

if TYPE_CHECKING:
    from spillstore import Artifact, Session
    from spillstore.info import Stream


class LogBase(Screen[None]):
    """The screen of one artifact, without keys.

    Attributes:
        session, artifact: what is looked at.
        view, map: the rows, and the map beside them.
        follows: whether the end is followed.
        message: what the line below says last.
        said: what the search has found so far, in words.
    """

    def __init__(self, session: Session, artifact: Artifact, stream: Stream) -> None:
        super().__init__()
        self.session = session
        self.artifact = artifact
        self.view = LogView(Log(artifact, stream))
        self.map = Map()
        self.follows = False
        self.message = ""
        self.said = ""

    @property
    def log_shown(self) -> Log:
        """The log that is shown."""
        return self.view.shown

    def tell(self, message: str = "") -> None:
        """Say what this is, where we are, and what there is to say."""
        self.message = message
        log, view = self.log_shown, self.view
        info = log.info
        stream = "" if log.stream == "combined" else f" {log.stream}"
        code = "" if info.exit_code is None else f" exit {info.exit_code}"
        kind = "row" if log.is_hex else "line"
        size = info.view(log.stream).size
        title = f"{info.id}{stream}  {info.state}{code}  {human_size(size)}, {count(log.total, kind)}  {plain(info.command or info.source)}"
        share = 100 * (view.cursor + 1) / max(1, log.total)
        row = view.row(view.cursor)
        where = (
            "empty" if row is None else f"{'byte' if log.is_hex else 'line'} {row.number:,} ({share:.1f}%)"
        )
        if row is not None and row.time is not None:
            where += f" {row.time:.1f}s"
        modes = "".join(
            f" [{name}]"
            for name, on in (
                ("follow", self.follows),
                ("select", view.began is not None),
                ("raw", not view.look.colours),
            )
            if on
        )
        parts = [part for part in (f"{where}{modes}", self.said, message) if part]
        self.query_one("#title", Static).update(Text(title, no_wrap=True, overflow="ellipsis"))
        self.query_one("#status", Static).update(Text("  |  ".join(parts), no_wrap=True, overflow="ellipsis"))

    def go(self, index: int, message: str = "") -> None:
        """Go to a row, by index."""
        self.view.go(index)
        self.tell(message)
