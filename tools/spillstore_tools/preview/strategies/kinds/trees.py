"""Trees drawn with lines, as ``tree`` prints them: how much there is below each entry at the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.describe import listed
from spillstore_tools.preview.strategies.kinds.excerpts import (
    WORDS,
    Picker,
    excerpts,
    odd_lines,
    rows_of,
)

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.kinds.excerpts import Pick
    from spillstore_tools.preview.strategies.request import Request

_FEWEST = 20  # entries
_OTHERS = 0.1  # of the lines may be other ones
_TOP = 4096  # entries at the top that are known
_SHOWN = 24  # of them that are shown
_WORDS = WORDS - 200
_BRANCH = rb"(?:\xe2\x94[\x9c\x94]\xe2\x94\x80(?:\xe2\x94[\x80\xac])?|[|`+\\]--)[ \xc2\xa0]"
_INSIDE = rb"(?:\xe2\x94\x82[ \xc2\xa0]*|\|[ \xc2\xa0]+| +)"


class Tree:
    """Entries of folders, or whatever else hangs together."""

    _ENTRIES = rows_of(_INSIDE + rb"*" + _BRANCH + rb"[^\n]*")
    _AT_TOP = re.compile(rb"(?m)^" + _BRANCH + rb"([^\n]*)")

    def __init__(self) -> None:
        self._entries = self._others = 0
        self._top: list[tuple[bytes, Pick]] = []
        self._below: list[int] = []  # entries, by the number of the one at the top
        self._tops = 0
        self._picker = Picker()

    def block(self, block: Block) -> bool:
        """As in ``Kind``."""
        if block.long is not None or block.terminator != b"\n":
            return False
        self._picker.begin(block)
        others = [at for at in odd_lines(self._ENTRIES, block.raw) if block.first_line > 1 or at > 0]
        self._others += len(others)
        blank = block.raw.count(b"\n\n")
        self._entries += block.lines - len(others) - blank - (block.first_line == 1)
        at = 0
        for found in self._AT_TOP.finditer(block.raw):
            self._count(block.raw, at, found.start())
            at = found.end() + 1
            self._tops += 1
            if len(self._top) < _TOP:
                self._top.append((found[1].strip(), self._picker.pick(found.start())))
                self._below.append(0)
        self._count(block.raw, at, len(block.raw))
        return self._others <= 2 + _OTHERS * self._entries

    def _count(self, raw: bytes, start: int, end: int) -> None:
        if self._tops and self._tops == len(self._top):
            self._below[-1] += raw.count(b"\n", start, end)

    def is_row(self, line: bytes) -> bool | None:
        """As in ``Kind``; names of files tell of no failure, but those of packages may."""
        return None if self._ENTRIES.fullmatch(line) else False

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Kind``."""
        if self._entries < _FEWEST:
            return None
        order = sorted(range(len(self._top)), key=lambda number: (-self._below[number], number))
        names = [f"{self._top[n][0].decode(errors='replace')[:60]} {self._below[n]:,}" for n in order]
        words = f"tree of {self._entries:,} entries, {self._tops:,} at the top"
        words += f": {listed(names, _WORDS)}" if names else ""
        picks = [self._top[number][1] for number in order[:_SHOWN]]
        return excerpts(overview, request, words, picks, first=6, last=4)
