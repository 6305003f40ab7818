"""A text by lines, cuts of whole lines, and the markers that name the files or functions left out."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted
from spillstore_tools.preview.structured.cuts import TextCut

if TYPE_CHECKING:
    from collections.abc import Iterable

MARKER = 200  # characters of one marker at most, its line end included
_INDENT = 40
_NAME = 48


class TextLines:
    r"""A text by lines; numbers count from 0, as list indices do.

    Example:
        >>> lines = TextLines("ab\n\nc")
        >>> lines.raw, lines.size(0, 2), lines.text[lines.starts[2] :]
        (['ab', '', 'c'], 4, 'c')
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = text.split("\n")
        if not self.raw[-1]:
            self.raw.pop()
        self.starts = list(accumulate((len(line) + 1 for line in self.raw), initial=0))
        self.starts[-1] = len(text)

    def __len__(self) -> int:
        return len(self.raw)

    def size(self, first: int, end: int) -> int:
        """Characters of the lines ``[first, end)``."""
        return self.starts[end] - self.starts[first]

    def fitting(self, first: int, end: int, room: int) -> int:
        """The end of the lines from ``first`` on that fit into the room."""
        while first < end and self.size(first, first + 1) <= room:
            room -= self.size(first, first + 1)
            first += 1
        return first

    def indent(self, first: int, end: int) -> str:
        """The blank space that the first of these lines that is not blank begins with."""
        for line in self.raw[first:end]:
            if line and not line.isspace():
                return line[: len(line) - len(line.lstrip())]
        return ""

    def cut(
        self, first: int, end: int, what: str, elements: int, names: Iterable[str] = (), indent: str = ""
    ) -> TextCut:
        """The cut of whole lines, with its marker."""
        text = omission(what, first + 1, end, names, indent)
        start, stop = self.starts[first], self.starts[end]
        return TextCut(start, stop, text if self.text[stop - 1] == "\n" else text[:-1], elements)


def omission(what: str, first: int, last: int, names: Iterable[str] = (), indent: str = "") -> str:
    r"""The marker of lines left out, of at most 200 characters.

    Args:
        what: short words for what is missing.
        first: the first line that is missing, from 1.
        last: the last.
        names: names of the missing things; as many are listed as there is room for.
        indent: blank space to begin with, of which at most 40 characters are used.

    Example:
        >>> omission("2 functions omitted", 7, 30, ["load", "store"], "  ")
        '  ... [2 functions omitted: load, store; lines 7-30] ...\n'
    """
    begin = f"{indent[:_INDENT]}... [{what}"
    end = f"; lines {first}-{last}] ...\n"
    names = [short(name) for name in names if name]
    room = MARKER - len(begin) - len(end)
    whole = ": " + ", ".join(names) if names else ""
    if len(whole) <= room:
        return begin + whole + end
    room -= len(f": ... and {len(names)} more")
    shown = ""
    for number, name in enumerate(names):
        if len(shown) + len(name) + 2 > room:
            return begin + (f": {shown}... and {len(names) - number} more" if shown else "") + end
        shown += name + ", "
    raise AssertionError  # impossible: then all of them had fitted


def short(name: str) -> str:
    """A name of at most 48 characters; of a longer one, its end.

    Example:
        >>> short("drivers/" * 8 + "main.c")
        '...rivers/drivers/drivers/drivers/drivers/main.c'
    """
    return name if len(name) <= _NAME else "..." + name[3 - _NAME :]


def several(number: int, noun: str) -> str:
    """A number and a noun in its plural.

    Example:
        >>> several(2, "class"), several(3, "function")
        ('2 classes', '3 functions')
    """
    return f"{number} classes" if noun == "class" and number != 1 else counted(number, noun)
