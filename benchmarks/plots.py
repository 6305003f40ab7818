"""Plots as SVG, by hand: bars on a scale that is plain or logarithmic, and lines on two logarithmic scales.

A library of plots would be the largest thing that the benchmarks need, and write ten times the bytes. Colours follow the
reader's light or dark page; every bar says its figure, so that nobody has to measure it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:14px}.small{font-size:11px}"
    ".quiet{fill:#57606a}.axis{stroke:#d0d7de;stroke-width:1}.aim{stroke:#cf222e;stroke-width:1.5;stroke-dasharray:4 3}"
    ".c0{fill:#0969da}.c1{fill:#8c959f}.c2{fill:#bf8700}.c3{fill:#1a7f37}.c4{fill:#8250df}"
    ".l0{stroke:#0969da}.l1{stroke:#cf222e}.l2{stroke:#bf8700}.l3{stroke:#1a7f37}.l4{stroke:#8250df}"
    ".line{fill:none;stroke-width:2}.thin{stroke-width:1;stroke-dasharray:2 3}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.axis{stroke:#3d444d}}"
)
_ROW = 18
_LEFT = 170


class Bar(NamedTuple):
    """One bar: what it is, how long, what stands at its end, its colour (0 to 4), and where its aim is."""

    label: str
    value: float
    told: str
    colour: int = 0
    aim: float | None = None


class Line(NamedTuple):
    """One line: what it is, where its points are, and those of a thin one beside it."""

    label: str
    points: Sequence[tuple[float, float]]
    beside: Sequence[tuple[float, float]] = ()


def document(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A whole file."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{_STYLE}</style>", *parts, "</svg>", ""])


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """A piece of text."""
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def bars(
    x: float,
    y: float,
    width: float,
    title: str,
    found: Sequence[Bar],
    *,
    logarithmic: bool = False,
    labels: bool = True,
) -> list[str]:
    """A panel of bars, one below the other; without labels it is no wider than its bars and their figures."""
    left = x + (_LEFT if labels else 0)
    room = width - (_LEFT if labels else 0) - 72
    most = max([bar.value for bar in found] + [bar.aim or 0 for bar in found] + [1e-9])
    least = min([bar.value for bar in found if bar.value > 0] or [1e-9]) / 2

    def length(value: float) -> float:
        if value <= 0:
            return 0
        if logarithmic:
            return room * math.log(value / least) / math.log(most / least)
        return room * value / most

    parts = [text(left, y, title, "title")]
    for number, bar in enumerate(found):
        top = y + 10 + number * _ROW
        if labels:
            parts.append(text(left - 6, top + 12, bar.label, "small", "end"))
        parts.append(
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{length(bar.value):.1f}" height="{_ROW - 5}" class="c{bar.colour}"/>'
        )
        parts.append(text(left + length(bar.value) + 5, top + 11, bar.told, "small quiet"))
        if bar.aim is not None:
            at = left + length(bar.aim)
            parts.append(f'<path d="M{at:.1f} {top - 2:.0f}v{_ROW}" class="aim"/>')
    return parts


def height_of(count: int) -> int:
    """Of a panel of so many bars, its title included."""
    return 30 + count * _ROW


def lines(
    x: float, y: float, size: tuple[float, float], titles: tuple[str, str, str], found: Sequence[Line]
) -> list[str]:
    """A panel of lines on logarithmic scales: its title, what the horizontal scale counts, and the vertical one's unit."""
    width, height = size
    every = [point for line in found for point in (*line.points, *line.beside)]
    xs, ys = [each for each, _ in every], [each for _, each in every]
    low_x, high_x = math.log10(min(xs)), math.log10(max(xs))
    low_y, high_y = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = (math.log10(point[0]) - low_x) / max(high_x - low_x, 1e-9)
        up = (math.log10(point[1]) - low_y) / max(high_y - low_y, 1e-9)
        return x + across * width, y + height - up * height

    title, below, unit = titles
    parts = [text(x, y - 10, title, "title"), text(x + width, y + height + 32, below, "small quiet", "end")]
    for decade in range(low_y, high_y + 1):
        _, at = place((10**low_x, 10.0**decade))
        parts.append(f'<path d="M{x:.0f} {at:.1f}h{width:.0f}" class="axis"/>')
        parts.append(text(x - 5, at + 4, f"{10.0**decade:g} {unit}", "small quiet", "end"))
    for value in dict.fromkeys(xs):
        at, _ = place((value, 10.0**low_y))
        parts.append(text(at, y + height + 15, _short(value), "small quiet", "middle"))
    for number, line in enumerate(found):
        kind = number % 5
        parts.append(f'<path d="{_path(map(place, line.points))}" class="line l{kind}"/>')
        if line.beside:
            parts.append(f'<path d="{_path(map(place, line.beside))}" class="line thin l{kind}"/>')
        legend = y + height + 50 + 16 * number
        parts.append(f'<path d="M{x:.0f} {legend - 4:.0f}h18" class="line l{kind}"/>')
        parts.append(text(x + 24, legend, line.label, "small"))
    return parts


def _path(points: object) -> str:
    return "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in points)  # type: ignore[attr-defined]  # an iterable


def _short(value: float) -> str:
    for unit, size in (("G", 2**30), ("M", 2**20)):
        if value >= size and value % size == 0:
            return f"{value / size:g} {unit}iB"
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
