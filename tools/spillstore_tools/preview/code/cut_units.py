"""Diffs and source code cut between their units: hunks and files, functions and classes.

The ``smart`` strategy calls this before it cuts by lines. Content decides, cautiously: a log that quotes a diff or code,
JSON, Markdown and prose give None, and so does text of which too little would fit. It is one pass over the text, and each
cut covers whole lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore_tools.preview.code.diff import cut_diff, read_diff
from spillstore_tools.preview.code.omissions import TextLines
from spillstore_tools.preview.code.source import cut_code, read_code

if TYPE_CHECKING:
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
    lines = TextLines(text)
    cuts: list[TextCut] | None = None
    if (files := read_diff(lines)) is not None:
        cuts = [] if len(text) <= limit else cut_diff(lines, files, limit)
    elif (code := read_code(lines, source_hint)) is not None:
        cuts = [] if len(text) <= limit else cut_code(lines, code[1], limit)
    return cuts
