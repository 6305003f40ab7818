"""A row as a strip of cells: number, stream, what the model saw, time, and the text with its colours."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from spillstore_tools.viewer.model.rows import HEX_BYTES
from spillstore_tools.viewer.model.styles import inert, styled_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore_tools.viewer.model.rows import Row
    from spillstore_tools.viewer.model.styles import Colour, StyledText
    from spillstore_tools.viewer.model.styles import Style as Drawn

_TAB = 8
_GAP = 1.0  # seconds from which on a gap is shown
_DIM = Style(dim=True)
_STDERR = Style(color="red")
_HOLE = Style(color="yellow", bold=True)
_HIT = Style(color="black", bgcolor="yellow")
_CURSOR = Style(bgcolor="grey27")
_SELECTED = Style(bgcolor="dark_blue")
_MARKS = {
    "shown": ("█", Style(color="green")),
    "cut": ("▒", Style(color="green")),
    "omitted": ("·", Style(dim=True)),
}
_FETCHED = ("◆", Style(color="cyan"))
_NAMES = {"bold": "bold", "dim": "dim", "italic": "italic", "underline": "underline", "reverse": "reverse"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Look:
    """How rows are drawn.

    Attributes:
        digits: columns of the number.
        colours: whether SGR sequences are colours, or are shown.
        times: whether times and gaps are shown.
        pattern: what is marked, compiled for bytes; None for nothing.
    """

    digits: int = 6
    colours: bool = True
    times: bool = False
    pattern: Any = None


def row_strip(
    row: Row,
    look: Look,
    *,
    mark: str | None = None,
    fetched: bool = False,
    cursor: bool = False,
    selected: bool = False,
) -> tuple[Strip, Strip]:
    """The gutter, which stays where it is, and the text."""
    gutter = [Segment(f"{row.number:>{look.digits}} ", _STDERR if row.stream == "stderr" else _DIM)]
    if row.kind == "hole":
        gutter = [Segment(f"{'...':>{look.digits}} ", _HOLE)]
    gutter.append(Segment("▌" if row.stream == "stderr" else " ", _STDERR))
    if mark is not None:
        gutter += [Segment(*_MARKS[mark]), Segment(*(_FETCHED if fetched else (" ", None)))]
    if look.times:
        gutter.append(_time(row))
        gutter.append(_gap(row))
    text = Strip(_text(row, look))
    style = _SELECTED if selected else _CURSOR
    if cursor or selected:
        text = text.apply_style(style)
        gutter = list(Segment.apply_style(gutter, style))
    return Strip(gutter), text


def _time(row: Row) -> Segment:
    return Segment("" if row.time is None else f"{row.time:>10.3f} ", _DIM)


def _gap(row: Row) -> Segment:
    shown = row.gap is not None and row.gap >= _GAP
    return Segment(f"+{row.gap:<8.1f}" if shown else " " * 9, Style(color="magenta"))


def _text(row: Row, look: Look) -> list[Segment]:
    if row.kind == "hole":
        return [Segment(f"--- {row.note} ---", _HOLE)]
    if row.kind == "hex":
        return [Segment(_hex(row.data))]
    styled = styled_line(row.data, colours=look.colours)
    segments = list(_segments(styled, _hits(styled.text, look.pattern)))
    if row.cut:
        segments.append(Segment(f" … {row.cut:,} more bytes; Enter shows the line", _HOLE))
    return segments


def _hex(data: bytes) -> str:
    half = HEX_BYTES // 2
    words = " ".join(data[at : at + half].hex(" ") for at in range(0, len(data), half))
    letters = "".join(chr(each) if 32 <= each < 127 else "." for each in data)  # noqa: PLR2004  # what ASCII can show
    return f"{words:<{3 * HEX_BYTES}} {letters}"


def _hits(text: str, pattern: Any) -> list[tuple[int, int]]:
    """The characters that match."""
    if pattern is None:
        return []
    data = text.encode(errors="replace")
    found = []
    for match in pattern.finditer(data):
        if match.end() > match.start():
            start = len(data[: match.start()].decode(errors="replace"))
            found.append((start, start + len(data[match.start() : match.end()].decode(errors="replace"))))
    return found


def _segments(styled: StyledText, hits: list[tuple[int, int]]) -> Iterator[Segment]:
    """The text in pieces of one style each, tabs as blanks."""
    text = styled.text
    borders = {0, len(text)}
    borders.update(at for start, end, _ in styled.spans for at in (start, end))
    borders.update(at for hit in hits for at in hit)
    edges = sorted(borders)
    column = span = hit = 0
    for start, end in pairwise(edges):
        while span < len(styled.spans) and styled.spans[span].end <= start:
            span += 1
        while hit < len(hits) and hits[hit][1] <= start:
            hit += 1
        style = None
        if span < len(styled.spans) and styled.spans[span].start <= start:
            style = _style(styled.spans[span].style)
        if hit < len(hits) and hits[hit][0] <= start:
            style = _HIT
        piece = text[start:end]
        if "\t" in piece:
            piece = (" " * (column % _TAB) + piece).expandtabs(_TAB)[column % _TAB :]
        column += len(piece)
        yield Segment(piece, style)


def _style(drawn: Drawn) -> Style:
    flags = {_NAMES[name]: True for name in drawn.flags if name in _NAMES}
    return Style(
        color=_colour(drawn.colour),
        bgcolor=_colour(drawn.background),
        strike="strike" in drawn.flags or None,
        **flags,  # type: ignore[arg-type]  # all of them are switches
    )


def _colour(colour: Colour) -> str | None:
    if colour is None:
        return None
    return f"color({colour})" if isinstance(colour, int) else "rgb({},{},{})".format(*colour)


def plain(text: str) -> str:
    """Text from outside on one line, inert."""
    return inert(text.replace("\n", " "))
