"""Charts: tables of names and numbers, with a bar in each row; and events over time. SVG that the server writes.

A table is read aloud as what it is, grows with its text, and fits a phone; a picture of one does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore_tools.viewer.web.html import Html, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH: Final = 1000  # of a bar, in units of its own
_COLUMNS: Final = 120
_HEIGHT: Final = 40


class Bar:
    """A row of a chart.

    Args:
        name: what stands before it.
        parts: values and their classes; the bar is as long as their sum.
        words: the value in words, which stands behind it.
        link: where its name leads.
    """

    def __init__(
        self, name: str, parts: Sequence[tuple[float, str]], words: str, link: str | None = None
    ) -> None:
        self.name = name or "-"
        self.parts = parts
        self.words = words
        self.link = link

    @property
    def value(self) -> float:
        """Its length."""
        return sum(value for value, _ in self.parts)


def chart(
    title: str,
    bars: Sequence[Bar],
    *,
    legend: Sequence[tuple[str, str]] = (),
    nothing: str = "nothing yet",
    name: str = "",
) -> Html:
    """A chart, the longest bar first."""
    most = max((bar.value for bar in bars), default=0.0) or 1.0
    rows = [_row(bar, most) for bar in sorted(bars, key=lambda bar: (-bar.value, bar.name)) if bar.value]
    keys = (
        tag("p", *(tag("span", words, class_=f"key {kind}") for words, kind in legend), class_="legend")
        if legend and rows
        else None
    )
    body = (
        tag("table", tag("tbody", *rows), class_="bars", aria_label=title)
        if rows
        else tag("p", nothing, class_="none")
    )
    return tag("figure", tag("figcaption", tag("h2", title), keys), body, class_="chart", id=name or None)


def _row(bar: Bar, most: float) -> Html:
    name = tag("a", bar.name, href=bar.link) if bar.link else bar.name
    at = 0.0
    shapes: list[Html] = []
    for value, kind in bar.parts:
        width = value / most * _WIDTH
        if value:
            shapes.append(
                tag("rect", x=f"{at:.1f}", y=0, width=f"{max(width, 2):.1f}", height=10, class_=kind)
            )
        at += width
    picture = tag(
        "svg",
        *shapes,
        viewBox=f"0 0 {_WIDTH} 10",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="bar",
    )
    return tag("tr", tag("th", name, scope="row"), tag("td", picture), tag("td", bar.words, class_="number"))


def over_time(moments: Sequence[tuple[float, str]], title: str) -> Html:
    """How many events there were when; ``moments`` are times and classes."""
    if not moments:
        return Html("")
    first, last = min(at for at, _ in moments), max(at for at, _ in moments)
    step = (last - first) / _COLUMNS or 1.0
    columns: list[dict[str, int]] = [{} for _ in range(_COLUMNS)]
    for at, kind in moments:
        column = columns[min(_COLUMNS - 1, int((at - first) / step))]
        column[kind] = column.get(kind, 0) + 1
    most = max(sum(column.values()) for column in columns)
    shapes: list[Html] = []
    for x, column in enumerate(columns):
        y = float(_HEIGHT)
        for kind, number in sorted(column.items()):
            height = number / most * _HEIGHT
            y -= height
            shapes.append(
                tag("rect", x=x * 10, y=f"{y:.1f}", width=8, height=f"{max(height, 1):.1f}", class_=kind)
            )
    box = f"0 0 {_COLUMNS * 10} {_HEIGHT}"
    return tag(
        "svg",
        tag("title", title),
        *shapes,
        viewBox=box,
        preserveAspectRatio="none",
        role="img",
        class_="time",
    )
