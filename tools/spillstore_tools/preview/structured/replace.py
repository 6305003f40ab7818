"""Cuts of a whole text as the parts of a preview: characters of cleaned text to bytes and lines of the output."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore.settings import KIB
from spillstore_tools.preview.parts import Shown
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.text.clean import is_clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Block
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.structured.cuts import TextCut
    from spillstore_tools.preview.text.lines import Line

_PIECE = 64 * KIB  # characters that are encoded at a time


def replaced(overview: Overview, text: str, cuts: list[TextCut], limit: int) -> list[Part] | None:
    """The whole text with each cut as a gap; None if that is too long, or bytes of a cut are not known."""
    if any(block.long is not None for block in (*overview.head, *overview.tail)):
        return None
    if len(text) - sum(cut.end - cut.start - len(cut.text) for cut in cuts) > limit:
        return None
    try:
        return _Locator(overview, text).parts(cuts)
    except LookupError:  # a cut would fall into text that was overwritten
        return None


class _Locator:
    """Finds the byte and the line of each character of the cleaned text."""

    def __init__(self, overview: Overview, text: str) -> None:
        self._overview = overview
        self._text = text  # all of the cleaned text; no part of it is copied, for it may be megabytes
        self._blocks = iter((*overview.head, *overview.tail))
        self._block: Block | None = None
        self._plain = False  # whether the block is its own cleaned text
        self._known = (0, 0, 0)  # a character of the block, its byte and its line, from which to count on
        self._lines: Iterator[Line] = iter(())  # of the block, those still to come
        self._line: Line | None = None
        self._start = 0  # the character that the line begins at, or the block where no line was needed yet
        self._behind = 0  # the character behind the block

    def _position(self, index: int) -> Position:
        """Where a character begins; indices must ascend."""
        while index >= self._behind:
            block = next(self._blocks, None)
            if block is None:
                return Position(self._overview.size, self._overview.lines + 1)
            self._lines, self._line, self._start = block.forward(), None, self._behind
            self._block, self._known = block, (self._behind, block.start, block.first_line)
            self._plain = block.terminator == b"\n" and is_clean(block.raw)
            self._behind += block.chars if block.counted else len(block.text)
        if self._block is not None and self._plain:
            at, byte, line = self._known
            size = _encoded_size(self._text, at, index)
            self._known = (index, byte + size, line + self._text.count("\n", at, index))
            inside = index > self._start and self._text[index - 1] != "\n"
            return Position(self._known[1], self._known[2], inside=inside)
        while self._line is None or index >= self._start + self._line.chars:
            self._start += self._line.chars if self._line else 0
            self._line = next(self._lines)
        offset = index - self._start
        return Position(self._line.byte_of(offset), self._line.number, inside=offset > 0)

    def parts(self, cuts: list[TextCut]) -> list[Part]:
        """The text as parts, each cut as a gap."""
        text = self._text
        parts: list[Part] = []
        char = byte = 0
        for cut in cuts:
            start, end = self._position(cut.start), self._position(cut.end)
            if cut.start > char:
                parts.append(Shown(text[char : cut.start], byte, start.byte))
            gap = self._overview.gap(start, end, cut.end - cut.start)
            parts.append(dataclasses.replace(gap, elements=cut.elements, text=cut.text))
            char, byte = cut.end, end.byte
        if byte < self._overview.size:
            parts.append(Shown(text[char:], byte, self._overview.size))
        return parts


def _encoded_size(text: str, start: int, end: int) -> int:
    """Bytes of a part of the text, which is encoded a piece at a time."""
    if text.isascii():
        return end - start
    return sum(len(text[at : min(at + _PIECE, end)].encode()) for at in range(start, end, _PIECE))
