"""Diffs and source code cut between their units: hunks and files, functions and classes.

The ``smart`` strategy calls this before it cuts by lines. Content decides, cautiously: a log that quotes a diff or code,
JSON, Markdown and prose give None, and so does text of which too little would fit. It is one pass over the text, and each
cut covers whole lines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spillstore_tools.describe import counted, listed
from spillstore_tools.preview.code.diff import cut_diff, read_diff
from spillstore_tools.preview.code.omissions import TextLines, short
from spillstore_tools.preview.code.source import cut_code, flat, read_code
from spillstore_tools.preview.code.units import NAMED
from spillstore_tools.preview.text.clean import BOM

if TYPE_CHECKING:
    from spillstore_tools.preview.code.diff import File
    from spillstore_tools.preview.code.units import Unit
    from spillstore_tools.preview.structured.cuts import TextCut


def cut_units(text: str, limit: int, *, source_hint: str | None = None) -> list[TextCut] | None:
    r"""The cuts that bring a diff or source code down to a limit, between whole units.

    Costs one linear pass: about 10 ms for 100 KB of code.

    Args:
        text: all of the cleaned text, up to about 1 MiB.
        limit: code points of the result, markers included.
        source_hint: the name of a file or tool that it comes from; helps where the content alone does not tell.

    Returns:
        Cuts of whole lines, disjoint and ascending; none if the text fits. A cut's ``elements`` are the hunks,
        functions or classes left out, 0 where lines of something else or inside of one are. None where the text is
        neither a diff nor source code, or too little of it would fit: cut it in another way.

    Example:
        >>> from spillstore_tools.preview.structured.cuts import apply_cuts
        >>> text = "".join(f"class Part{n}:\n    def size(self):\n        return {n} * 7\n\n" for n in range(9))
        >>> print(apply_cuts(text, cut_units(text, 240)).rstrip())
        class Part0:
            def size(self):
                return 0 * 7
        <BLANKLINE>
        ... [7 classes omitted: Part1, Part2, Part3, Part4, Part5, Part6, Part7; lines 5-32] ...
        class Part8:
            def size(self):
                return 8 * 7
    """
    units = UnitText.read(text, source_hint)
    return None if units is None else units.cuts(limit)


class UnitText:
    """A diff or source code, taken apart once."""

    def __init__(
        self, lines: TextLines, files: list[File] | None, code: tuple[str, list[Unit]] | None, mark: int
    ) -> None:
        self._lines = lines  # behind the byte order mark
        self._mark = mark  # characters of it
        self._files = files
        self._code = code

    @classmethod
    def read(cls, text: str, source_hint: str | None) -> UnitText | None:
        """The units of a text; None if it is neither."""
        bare = text.removeprefix(BOM)
        lines, mark = TextLines(bare), len(text) - len(bare)
        if (files := read_diff(lines)) is not None:
            return cls(lines, files, None, mark)
        code = read_code(lines, source_hint)
        return None if code is None else cls(lines, None, code, mark)

    def cuts(self, limit: int) -> list[TextCut] | None:
        """As ``cut_units``."""
        limit -= self._mark
        if len(self._lines.text) <= limit:
            return []
        if self._files is not None:
            cuts = cut_diff(self._lines, self._files, limit)
        else:
            cuts = cut_code(self._lines, self._code[1], limit) if self._code else None
        if cuts is None or not self._mark:
            return cuts
        return [replace(cut, start=cut.start + self._mark, end=cut.end + self._mark) for cut in cuts]

    def outline(self, room: int) -> str:
        r"""What is in it, in one line: files with their numbers of changes, or functions and classes with their lines.

        Example:
            >>> text = "def load():\n    return 1\n\n\nclass Part:\n    def size(self):\n        return 2\n"
            >>> UnitText.read(text, "a.py").outline(200)
            '[python, 7 lines: 1 load, 5 Part, 6 size]'
        """
        if self._files is not None:
            changes = [file.changes(self._lines) for file in self._files]
            added, removed = (sum(each) for each in zip(*changes, strict=True))
            title = f"diff of {counted(len(self._files), 'file')}, +{added} -{removed}"
            names = [
                f"{file.name} +{plus} -{minus}"
                for file, (plus, minus) in zip(self._files, changes, strict=True)
            ]
        else:
            language, units = self._code or ("", [])
            title = f"{language}, {counted(len(self._lines), 'line')}"
            names = [
                f"{unit.first + 1} {short(unit.name)}"
                for unit in flat(units)
                if unit.kind in NAMED and unit.name
            ]
        return f"[{title}: {listed(names, room - len(title) - 4)}]"
