"""JSON with its middle left out: the first and last elements of arrays, the first members of objects, shorter strings.

What is kept keeps its formatting, number spelling and duplicate keys, so the range behind every cut is exactly what is
missing, and the rest is a slice of the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.describe import counted
from spillstore_tools.preview.structured.cuts import (
    DEEPEST,
    SHORTEST,
    Detail,
    NotStructured,
    TextCut,
    largest,
    shortened,
)
from spillstore_tools.preview.structured.json_tree import Value, parsed
from spillstore_tools.preview.text.clean import BOM

if TYPE_CHECKING:
    from collections.abc import Iterable


def cut_json(
    text: str, limit: int, *, first: int = 5, last: int = 5, max_depth: int = 3, root: Value | None = None
) -> list[TextCut]:
    """The cuts that bring JSON down to a limit and leave it JSON.

    Costs one pass of the C scanner per level of nesting shown; about 30 ms for a megabyte of records. Options are the
    most that is kept of a text above the limit; less is kept, everywhere alike, until it fits.

    Args:
        text: one JSON value, or several on lines of their own.
        limit: characters of the result.
        first: elements kept at the start of every array.
        last: elements kept at its end.
        max_depth: levels of nesting kept, the outermost being 1; deeper containers become a string. Above 64 means 64.
        root: of ``parsed``, where that was asked already.

    Returns:
        Disjoint cuts in ascending order; none if the text fits. A number, a key or blank space that alone is too long
        is not cut, so a text of little else can stay above the limit.

    Raises:
        NotStructured: the text is no JSON, or nested more deeply than Python's scanner goes.

    Example:
        >>> from spillstore_tools.preview.structured.cuts import apply_cuts
        >>> text = str(list(range(1, 101)))
        >>> apply_cuts(text, cut_json(text, 50, first=2, last=2))
        '[1, 2, "... 96 items omitted ...", 99, 100]'
    """
    asked = Detail(len(text), max(0, first), max(0, last), min(max_depth, DEEPEST), len(text))
    try:
        root = root or parsed(text)
        if len(text) <= limit:
            return []
        return largest(text, limit, asked, lambda detail: _JsonCutter(text, detail).run(root))
    except RecursionError:  # of the scanner: nothing here goes deeper than DEEPEST
        raise NotStructured("nested too deeply") from None


class _JsonCutter:
    """Collects the cuts of one detail, in the order of the text."""

    def __init__(self, text: str, detail: Detail) -> None:
        self._text = text
        self._detail = detail
        self._cuts: list[TextCut] = []

    def run(self, root: Value) -> list[TextCut]:
        if self._detail.depth < 1 and root.kind in ("[", "{", "lines"):
            # Blank space around the value goes too: nothing else could make room for what is left.
            self._replace(root, 1 if self._text.startswith(BOM) else 0, len(self._text))
        else:
            self._value(root, 1)
        return self._cuts

    def _value(self, value: Value, depth: int) -> None:
        if value.kind == '"':
            cut = shortened(self._text, value.start + 1, value.end - 1, self._detail.strings, _Escapes)
            if cut:
                self._cuts.append(cut)
        elif value.kind in ("[", "{", "lines"):
            if depth > self._detail.depth:
                self._replace(value, value.start, value.end)
            else:
                self._container(value, depth)

    def _replace(self, value: Value, start: int, end: int) -> None:
        number = len(value.opened(self._text))
        self._cut(start, end, f'"... {_names(value, number)} omitted ..."', number)

    def _container(self, value: Value, depth: int) -> None:
        parts = value.opened(self._text)
        low, high = self._omitted(value, len(parts))
        self._inside(value, range(low), depth)
        if low < high and not self._cut(
            parts[low][0], parts[high - 1][2], _marker(value, high - low), high - low
        ):
            self._inside(value, range(low, high), depth)
        self._inside(value, range(high, len(parts)), depth)

    def _omitted(self, value: Value, number: int) -> tuple[int, int]:
        """The run of parts that is left out."""
        low, high = self._detail.omitted(number)
        if value.kind == "{":
            low, high = min(self._detail.members, number), number
        if (opened := value.opened(self._text)).missing:  # no more is known
            ends = opened.ends
            low, high = min(low, ends), high if value.kind == "{" else max(min(high, number), number - ends)
        return low, high

    def _inside(self, value: Value, indices: Iterable[int], depth: int) -> None:
        opened = value.opened(self._text)
        parts = opened if opened.missing else opened.known  # without a call for each
        for index in indices:
            _, start, end = parts[index]
            if end - start > SHORTEST and not self._stays(start, end, depth + 1):
                self._value(value.part(self._text, index), depth + 1)

    def _stays(self, start: int, end: int, depth: int) -> bool:
        """Whether a value is so small that nothing in it can be too much: told from three characters, without taking it apart."""
        text, detail = self._text, self._detail
        if end - start > detail.strings:
            return False
        parts = text.count(",", start, end) + 1  # no container in it has more
        if parts > detail.members or parts > detail.first + detail.last + 1:
            return False
        return depth - 1 + text.count("{", start, end) + text.count("[", start, end) <= detail.depth

    def _cut(self, start: int, end: int, marker: str, elements: int) -> bool:
        if len(marker) >= end - start or not elements:
            return False
        self._cuts.append(TextCut(start, end, marker, elements))
        return True


def _names(value: Value, number: int) -> str:
    return counted(number, "key" if value.kind == "{" else "item")


def _marker(value: Value, number: int) -> str:
    if value.kind == "{":
        return f'"{value.marker_key}": "{_names(value, number)} omitted"'
    return f'"... {_names(value, number)} omitted ..."'


class _Escapes:
    r"""Escape sequences in a string literal: ``\n``, ``\u00e9``."""

    @staticmethod
    def opening(text: str, low: int, pos: int) -> int:
        start = text.rfind("\\", max(low, pos - 5), pos)
        if start < 0:
            return pos
        # In a run of backslashes every second one is escaped by the one before it.
        run = start + 1 - low - len(text[low : start + 1].rstrip("\\"))
        return start if run % 2 else pos

    @staticmethod
    def closing(text: str, pos: int) -> int:
        if text[pos] != "\\":
            return pos + 1
        return pos + (6 if text[pos + 1] == "u" else 2)
