"""``element``: JSON and XML cut by elements, so that what is left is JSON and XML still.

The first and the last elements of arrays stay, deep and long things are replaced by their counts. Nothing is written
anew: each cut replaces a range of the text, so each gap has its exact bytes. What is neither, or cannot be made to fit,
is left to the fallback.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from spillstore.settings import KIB, MIB
from spillstore_tools.preview._cuts import NotStructured
from spillstore_tools.preview.clean import is_clean
from spillstore_tools.preview.parts import Shown
from spillstore_tools.preview.scan import Place
from spillstore_tools.preview.strategies import register

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.preview._cuts import TextCut
    from spillstore_tools.preview.lines import Line
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan import Block, Observer, Overview
    from spillstore_tools.preview.strategies import Request


_PIECE = 64 * KIB  # characters that are encoded at a time


class Element:
    """The strategy; see the module."""

    keep_bytes = 16 * MIB

    def observer(self) -> Observer | None:
        """Nobody: the text is looked at when it has ended."""
        return None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``; None for what is neither JSON nor XML, or does not fit."""
        text = overview.text()
        if text is None:
            return None
        if overview.chars <= request.limit:
            return [Shown(text, 0, overview.size)]
        try:
            cuts = _cuts(text, request)
        except NotStructured:
            return None
        return replaced(overview, text, cuts, request.limit)


def replaced(overview: Overview, text: str, cuts: list[TextCut], limit: int) -> list[Part] | None:
    """The whole text with each cut a gap; None where that is too long, or places in the output are not known."""
    if any(block.long is not None for block in (*overview.head, *overview.tail)):
        return None
    if len(text) - sum(cut.end - cut.start - len(cut.text) for cut in cuts) > limit:
        return None
    try:
        return _Ruler(overview, text).parts(cuts)
    except LookupError:  # a cut would fall into what was drawn over
        return None


def _cuts(text: str, request: Request) -> list[TextCut]:
    options: dict[str, Any] = {
        "first": request.first,
        "last": request.last,
        "max_depth": request.max_depth,
    }
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        from spillstore_tools.preview._xml import cut_xml  # noqa: PLC0415  # expat only where it is needed

        return cut_xml(text, request.limit, **options)
    from spillstore_tools.preview._json import cut_json  # noqa: PLC0415  # likewise

    cuts = cut_json(text, request.limit, **options)
    return cuts if request.preserve_json else [dataclasses.replace(cut, text=_bare(cut)) for cut in cuts]


def _bare(cut: TextCut) -> str:
    """The marker of whole elements without what makes it JSON; that of a shortened string is inside one."""
    return cut.text.removeprefix('"...": ').strip('"') if cut.elements else cut.text


class _Ruler:
    """Characters of the cleaned text to bytes and lines of the output."""

    def __init__(self, overview: Overview, text: str) -> None:
        self._overview = overview
        self._text = text  # all of the cleaned text; no part of it is copied, for it may be megabytes
        self._blocks = iter((*overview.head, *overview.tail))
        self._block: Block | None = None
        self._plain = False  # whether the text of the block is what its bytes say
        self._known = (0, 0, 0)  # a character of that, its byte and its line, from which to count on
        self._lines: Iterator[Line] = iter(())  # those of the block that are still to come
        self._line: Line | None = None
        self._start = 0  # the character that the line begins at, or the block, if no line of it was looked at
        self._behind = 0  # the character behind the block

    def _place(self, index: int) -> Place:
        """Where a character begins; asked for in ascending order."""
        while index >= self._behind:
            block = next(self._blocks, None)
            if block is None:
                return Place(self._overview.size, self._overview.lines + 1)
            self._lines, self._line, self._start = block.forward(), None, self._behind
            self._block, self._known = block, (self._behind, block.start, block.first_line)
            self._plain = block.terminator == b"\n" and is_clean(block.raw)
            self._behind += block.chars if block.counted else len(block.text)
        if self._block is not None and self._plain:
            at, byte, line = self._known
            size = _encoded_size(self._text, at, index)
            self._known = (index, byte + size, line + self._text.count("\n", at, index))
            inside = index > self._start and self._text[index - 1] != "\n"
            return Place(self._known[1], self._known[2], inside=inside)
        while self._line is None or index >= self._start + self._line.chars:
            self._start += self._line.chars if self._line else 0
            self._line = next(self._lines)
        offset = index - self._start
        return Place(self._line.byte_of(offset), self._line.number, inside=offset > 0)

    def parts(self, cuts: list[TextCut]) -> list[Part]:
        """The text in parts, each cut a gap."""
        text = self._text
        parts: list[Part] = []
        char = byte = 0
        for cut in cuts:
            start, end = self._place(cut.start), self._place(cut.end)
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


register("element", Element)
