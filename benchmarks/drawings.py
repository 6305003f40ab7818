"""The three plots that matter, drawn from results: the defaults by kind of text, the peers, and growth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks import plots
from benchmarks.plots import Bar, Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Results = Mapping[str, Mapping[str, Any]]

_WIDTH = 900
_SHOWN = ("spillstore run -- cat, wall", "Writer.write, defaults, wall", "Writer.write, redaction off, wall")


def drawings(results: Results) -> dict[str, str]:
    """Name and SVG of each that has been measured."""
    makers = {"defaults": _defaults, "peers": _peers, "growth": _growth}
    return {name: make(results[name]["rows"]) for name, make in makers.items() if name in results}


def _defaults(rows: Sequence[Mapping[str, Any]]) -> str:
    """Three panels of bars, a bar for each kind of text: times zstd's."""
    parts: list[str] = []
    width, x, height = (_WIDTH - 170) / len(_SHOWN), 0.0, 0
    for number, name in enumerate(_SHOWN):
        found = [row for row in rows if row["what"].startswith(f"{name}: ") and row["ratio"] is not None]
        bars = [
            Bar(row["what"].rpartition(": ")[2], row["ratio"], f"{row['ratio']:.2f}", number, row["limit"])
            for row in found
        ]
        first = not number
        title = name.removesuffix(", wall")
        parts += plots.bars(x, 40, width + 170 * first, title, bars, labels=first)
        x += width + 170 * first
        height = max(height, plots.height_of(len(bars)))
    parts.insert(0, plots.text(0, 16, "Times the wall clock of zstd -1 -T1; dashed: the aim", "small quiet"))
    return plots.document(_WIDTH, height + 30, "Time at all defaults, by kind of text", parts)


def _peers(rows: Sequence[Mapping[str, Any]]) -> str:
    """Three panels of the first kind of text: storing, 100 lines, a search."""
    kind = rows[0]["extra"]["kind"]
    each = [row["extra"] for row in rows if row["extra"]["kind"] == kind]
    panels = (
        ("stored", "store", "ms"),
        ("100 lines, store open", "lines", "again_ms"),
        ("a rare word found", "search", "ms"),
    )
    parts = [
        plots.text(
            0,
            16,
            f"Milliseconds, {kind}, on a logarithmic scale; grey: the answer is cut, changed or not there",
            "small quiet",
        )
    ]
    width, x = (_WIDTH - 170) / len(panels), 0.0
    for number, (title, phase, key) in enumerate(panels):
        first = not number
        bars = [_peer(extra, phase, key) for extra in each]
        parts += plots.bars(x, 40, width + 170 * first, title, bars, logarithmic=True, labels=first)
        x += width + 170 * first
    return plots.document(_WIDTH, plots.height_of(len(each)) + 30, "Spillstore beside its peers", parts)


def _peer(extra: Mapping[str, Any], phase: str, key: str) -> Bar:
    told = extra.get(phase, {})
    value = told.get(key, 0.0)
    right = told.get("words", "").startswith("right")
    colour = 1 if not right else 0 if extra["peer_of"].startswith("spillstore") else 2
    return Bar(extra["peer_of"], value, _short(value) if value else told.get("words", ""), colour)


def _short(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _growth(rows: Sequence[Mapping[str, Any]]) -> str:
    """Three panels of lines: what a session, a root and an artifact answer in, by size."""
    titles = {
        "a session": "artifacts in a session",
        "a root": "sessions in a root",
        "an artifact": "size of an artifact",
    }
    parts = [plots.text(0, 16, "Milliseconds; dotted: the 99th percentile", "small quiet")]
    width = 205.0
    for number, (what, below) in enumerate(titles.items()):
        found = [row["extra"] for row in rows if row["extra"]["growing"] == what and "p50_us" in row["extra"]]
        lines = [
            Line(
                extra["call"] + ", each" * (extra["call"] == "list, all"),
                [(size, value / 1e3) for size, value in zip(extra["sizes"], extra["p50_us"], strict=True)],
                [(size, value / 1e3) for size, value in zip(extra["sizes"], extra["p99_us"], strict=True)],
            )
            for extra in found
        ]
        if lines:
            parts += plots.lines(70 + number * 300, 56, (width, 180), (what, below, "ms"), lines)
    return plots.document(_WIDTH, 380, "Latency as what is stored grows", parts)
