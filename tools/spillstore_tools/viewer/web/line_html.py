"""The content of a row as HTML: escaped, coloured by classes, with what a pattern matches marked."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from spillstore.search.patterns import compiled
from spillstore_tools.viewer.model.styles import Style, styled_line
from spillstore_tools.viewer.web.ansi import nearest
from spillstore_tools.viewer.web.html import Html, tag, text
from spillstore_tools.viewer.web.log_rows import hex_html

if TYPE_CHECKING:
    from spillstore_tools.viewer.model.rows import Row
    from spillstore_tools.viewer.model.styles import Colour, StyledText


class Content:
    """Makes the contents of rows.

    Args:
        pattern: what is marked, or None.
        raw: whether escape sequences are shown instead of their colours.

    Raises:
        PatternError: it is no expression.
    """

    def __init__(self, pattern: str | None = None, *, raw: bool = False) -> None:
        self._raw = raw
        self._pattern = (
            None if pattern is None else compiled(pattern, ignore_case=False, literal=False, latin=False)
        )

    def of(self, row: Row) -> Html:
        """The content of a row."""
        if row.kind == "hole":
            return Html("")
        if row.kind == "hex":
            return hex_html(row)
        line = styled_line(row.data, colours=not self._raw)
        return self._drawn(line)

    def _drawn(self, line: StyledText) -> Html:
        marks = self._marks(line.text)
        if not marks and not line.spans:
            return text(line.text)
        edges = {0, len(line.text)}
        edges.update(*((span.start, span.end) for span in line.spans), *marks)
        parts: list[Html] = []
        places = sorted(edges)
        spans, hits = iter((*line.spans, None)), iter((*marks, None))
        span, hit = next(spans), next(hits)
        for low, high in itertools.pairwise(places):
            while span is not None and span.end <= low:
                span = next(spans)
            while hit is not None and hit[1] <= low:
                hit = next(hits)
            piece = text(line.text[low:high])
            if hit is not None and hit[0] <= low:
                piece = tag("mark", piece)
            style = span.style if span is not None and span.start <= low else None
            parts.append(piece if style is None else tag("span", piece, class_=classes(style) or None))
        return Html("".join(parts))

    def _marks(self, line: str) -> list[tuple[int, int]]:
        """Where the pattern matches, in characters."""
        if self._pattern is None:
            return []
        data = line.encode()
        found: list[tuple[int, int]] = []
        at = done = 0
        for match in self._pattern.finditer(data):
            low, high = match.span()
            if low < high:
                start = done + len(data[at:low].decode(errors="ignore"))
                done = start + len(data[low:high].decode(errors="ignore"))
                at = high
                found.append((start, done))
        return found


@functools.lru_cache(maxsize=1024)
def classes(style: Style) -> str:
    """The classes of a style.

    Example:
        >>> classes(Style(colour=1, flags=frozenset({"bold"}))), classes(Style(background=(255, 0, 0)))
        ('f1 bold', 'b196')
    """
    front, back = style.colour, style.background
    if "reverse" in style.flags:
        front, back = (7 if back is None else back), (0 if front is None else front)
    found = [
        f"f{_number(front)}" if front is not None else "",
        f"b{_number(back)}" if back is not None else "",
    ]
    found += sorted(style.flags - {"reverse"})
    return " ".join(filter(None, found))


def _number(colour: Colour) -> int:
    return nearest(*colour) if isinstance(colour, tuple) else colour or 0
