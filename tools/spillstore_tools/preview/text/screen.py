r"""What a line shows in the end when its control characters have overwritten parts of it, as at a terminal.

A carriage return goes back to the beginning of the line, a backspace one character back. What is longer than what
overwrites it stays, unless ``CSI K`` or ``CSI 2 K`` erases it. Every character takes one place. What is erased and not
written again stays.
"""

from __future__ import annotations

import sys

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.text.control import ERASE_LINE, ERASE_TO_END, without_controls

# Underlined or bold text of printers, which loses nothing.
_OVERSTRUCK = re.compile(
    r"_\x08(?=[^\x00-\x1f\x7f-\x9f\ud800\ud801])|([^\x00-\x1f\x7f-\x9f\ud800\ud801])\x08(?=\1)"
)


def on_screen(line: str) -> tuple[str, int]:
    """What a line of ``without_escapes`` shows in the end, and how many of its characters were overwritten or erased."""
    if "\r" not in line and "\b" not in line and ERASE_LINE not in line:
        return without_controls(line.replace(ERASE_TO_END, "")), 0
    screen = Screen()
    for state in line.split("\r"):
        screen.write(state)
    return screen.text, screen.hidden


class Screen:
    r"""One line of a terminal.

    Args:
        limit: characters that are held in memory; further ones are only counted.

    Attributes:
        size: characters that the line shows.
        hidden: characters that were overwritten by others, or erased.
        moves: how often a backspace moved the cursor, or anything was erased.

    Example:
        >>> screen = Screen()
        >>> screen.write("loading")
        >>> screen.write("done")
        >>> screen.text, screen.size, screen.hidden
        ('doneing', 7, 4)
    """

    def __init__(self, limit: int = sys.maxsize) -> None:
        self.size = 0
        self.hidden = 0
        self.moves = 0
        self._limit = limit
        self._cells: list[str] = []
        self._cursor = 0
        self._erased = False  # the next character that is written removes all others

    @property
    def held(self) -> int:
        """How many characters are held in memory."""
        return len(self._cells)

    @property
    def text(self) -> str:
        """The characters that are held."""
        return "".join(self._cells)

    def write(self, state: str, *, from_start: bool = True) -> None:
        """Write text of ``without_escapes`` that holds no CR: from the beginning of the line, or where the cursor stands."""
        if from_start:
            self._cursor = 0
        if "\b" in state:
            state = _OVERSTRUCK.sub("", state)
        for number, line in enumerate(state.split(ERASE_LINE)):
            if number:
                self._cursor = 0
            for at, piece in enumerate(line.split(ERASE_TO_END)):
                if number or at:
                    self._erase()
                self._runs(piece)

    def _runs(self, piece: str) -> None:
        for at, run in enumerate(without_controls(piece).split("\b") if piece else ()):
            if at:
                self._cursor = max(0, self._cursor - 1)
                self.moves += 1
            if run:
                self._put(run)

    def _erase(self) -> None:
        if self._cursor >= self.size:
            return  # as ``grep --color`` does all the time
        self.moves += 1
        if self._cursor == 0:
            self._erased = True
            return
        self.hidden += self.size - self._cursor
        self.size = self._cursor
        del self._cells[self._cursor :]

    def _put(self, run: str) -> None:
        at, end = self._cursor, self._cursor + len(run)
        under = "".join(self._cells[at:] if self._erased else self._cells[at:end])
        covered = (self.size if self._erased else min(self.size, end)) - at
        if covered > 0 and (covered > len(under) or not run.startswith(under)):
            self.hidden += covered
        if self._erased:
            self._cells.clear()
            self.size, self._erased = 0, False
        if at < self._limit:
            self._cells[at:end] = run[: self._limit - at]
        self.size = max(self.size, end)
        self._cursor = end
