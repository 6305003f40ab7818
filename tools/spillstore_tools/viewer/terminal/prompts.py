"""Small screens above the log: a question, help, the whole of a long line, and what has changed since the run before."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from spillstore_tools.viewer.model.styles import inert

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Key

    from spillstore_tools.viewer.model.log import Log
    from spillstore_tools.viewer.model.previous import Changes
    from spillstore_tools.viewer.terminal.keys import Key as ListedKey

_BELOW: deque[Key] = deque(maxlen=1000)
_PIECE = 64  # bytes beyond a piece that may belong to its last character
_SORTS = {"new": Style(color="green"), "gone": Style(color="red")}


class Question(ModalScreen[str | None]):
    """A line to type, at the bottom; its result is what was typed, None where Escape was pressed."""

    BINDINGS: ClassVar = [("escape", "leave", "leave")]
    DEFAULT_CSS = """
    Question { align: left bottom; background: transparent; }
    Question Input { height: 3; }
    """

    def __init__(self, title: str, value: str = "") -> None:
        super().__init__()
        self._title, self._value = title, value
        self._is_there = self._is_entered = False

    def compose(self) -> ComposeResult:
        """The line."""
        field = Input(self._value, select_on_focus=False)
        field.border_title = self._title
        yield field

    def on_mount(self) -> None:
        """Show what was typed before the line was there."""
        self._is_there = True
        field = self.query_one(Input)
        field.value = self._value
        field.cursor_position = len(self._value)
        if self._is_entered:
            self.dismiss(self._value)

    def on_key(self, event: Key) -> None:
        """Take what is typed before the line has the focus."""
        if self.focused is None:
            event.stop()
            self.type(event)

    def type(self, event: Key) -> None:
        """Take a key that did not come to the line."""
        field = self.query_one(Input) if self._is_there else None
        if field is not None:
            self._value = field.value
        if event.key == "enter":
            self._is_entered = True
            if field is not None:
                self.dismiss(self._value)
        elif event.is_printable and event.character:
            self._value += event.character
            if field is not None:
                field.value = self._value
                field.cursor_position = len(self._value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give what was typed."""
        self.dismiss(event.value)

    def action_leave(self) -> None:
        """Give nothing."""
        self.dismiss(None)


def came_below(event: Key) -> None:
    """Remember a key that came to the screen below questions; what asks the question may still wait to be called."""
    _BELOW.append(event)


def was_early(event: Key) -> bool:
    """Whether a key came to the screen below the question that is there by now."""
    return any(each is event for each in _BELOW)


class Help(ModalScreen[None]):
    """A list of keys."""

    BINDINGS: ClassVar = [("escape,q,f1,h,enter", "leave", "leave")]
    DEFAULT_CSS = """
    Help { align: center middle; }
    Help VerticalScroll { width: 78; height: auto; max-height: 90%; border: round grey; padding: 0 1; background: $surface; }
    """

    def __init__(self, keys: tuple[ListedKey, ...]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """The list."""
        lines = "\n".join(f"{key.shown:<11} {key.text}" for key in self._keys)
        with VerticalScroll():
            yield Static(Text(lines))

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)


class Sheet(ScrollView, can_focus=True):
    """Lines that are made when they are drawn."""

    DEFAULT_CSS = "Sheet { height: 1fr; }"

    def __init__(self, owner: SheetScreen) -> None:
        super().__init__()
        self._owner = owner

    def on_resize(self) -> None:
        """Lines may be others at another width."""
        self.virtual_size = Size(self.size.width, self._owner.total(max(1, self.size.width - 2)))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One of them."""
        index = int(self.scroll_offset.y) + y
        strip = self._owner.strip(index, max(1, self.size.width - 2))
        return strip.adjust_cell_length(self.size.width)


class SheetScreen(ModalScreen[int | None]):
    """A screen of such lines under a title; its result is a line of the log to go to, or None."""

    BINDINGS: ClassVar = [
        ("escape,q", "leave", "leave"),
        ("down,j", "move(1)", "down"),
        ("up,k", "move(-1)", "up"),
        ("pagedown,space", "page(1)", "next page"),
        ("pageup,b", "page(-1)", "page before"),
        ("enter", "choose", "go there"),
    ]
    DEFAULT_CSS = "SheetScreen Vertical { background: $surface; } SheetScreen Static { height: auto; text-style: bold; }"

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self.cursor = 0

    def compose(self) -> ComposeResult:
        """Title and lines."""
        with Vertical():
            yield Static(Text(inert(self._title)))
            yield Sheet(self)

    def total(self, width: int) -> int:
        """How many lines there are at a width."""
        raise NotImplementedError

    def strip(self, index: int, width: int) -> Strip:
        """One of them."""
        raise NotImplementedError

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        sheet = self.query_one(Sheet)
        self.cursor = max(0, min(self.cursor + step, sheet.virtual_size.height - 1))
        top, height = int(sheet.scroll_offset.y), max(1, sheet.size.height)
        top = min(max(top, self.cursor - height + 1), self.cursor)
        sheet.scroll_to(y=top, animate=False, force=True, immediate=True)
        sheet.refresh()

    def action_page(self, step: int) -> None:
        """Move it by a page."""
        self.action_move(step * max(1, self.query_one(Sheet).size.height - 1))

    def action_choose(self) -> None:
        """Nothing to go to."""

    def action_leave(self) -> None:
        """Go back."""
        self.dismiss(None)


class LongLine(SheetScreen):
    """All of one line, as many bytes in a row as the screen is wide. Cost: a read for each row that is drawn."""

    def __init__(self, log: Log, number: int, size: int) -> None:
        super().__init__(f"line {number:,}, {size:,} bytes")
        self._log, self._number, self._bytes = log, number, size

    def total(self, width: int) -> int:
        """Rows of as many bytes."""
        return -(-self._bytes // width)

    def strip(self, index: int, width: int) -> Strip:
        """Those characters whose first bytes are in the row."""
        start = index * width
        data = self._log.piece(self._number, start, width + _PIECE)
        low = 0
        while start and low < min(3, len(data)) and data[low] & 0xC0 == 0x80:  # noqa: PLR2004  # a byte that goes on
            low += 1
        high = min(width, len(data))
        while high < min(width + 3, len(data)) and data[high] & 0xC0 == 0x80:  # noqa: PLR2004  # likewise
            high += 1
        text = inert(data[low:high].decode("utf-8", "surrogateescape")).replace("\t", " ")
        return Strip([Segment(text, Style(reverse=True) if index == self.cursor else None)])


class ChangesScreen(SheetScreen):
    """What is new and what is gone since the run before."""

    def __init__(self, changes: Changes) -> None:
        super().__init__(f"since {changes.base.id}: {changes.summary}")
        self._changes = changes

    def total(self, width: int) -> int:  # noqa: ARG002  # the same at any
        """Headings and changes."""
        return self._changes.total

    def strip(self, index: int, width: int) -> Strip:  # noqa: ARG002  # likewise
        """A heading, or a change with its line."""
        found = self._changes.rows(index, 1)
        if not found:
            return Strip([])
        row = found[0]
        if isinstance(row, str):
            text, style = f"[{row}]", Style(bold=True)
        else:
            more = f"  [and {row.more:,} more like this]" if row.more else ""
            sign = "+" if row.sort == "new" else "-"
            text, style = f"{sign}{row.line}: {inert(row.text)}{more}".expandtabs(), _SORTS[row.sort]
        return Strip([Segment(text, style + Style(reverse=True) if index == self.cursor else style)])

    def action_choose(self) -> None:
        """Go to a line that is new."""
        found = self._changes.rows(self.cursor, 1)
        if found and not isinstance(found[0], str) and found[0].sort == "new":
            self.dismiss(found[0].line)
