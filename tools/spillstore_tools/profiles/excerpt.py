"""A part of something larger, cut as ``default`` cuts, under positions of the whole: for all profiles alike.

It is what has come since somebody looked, or what is stored already and was printed again.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.request import Request, clip_marker, repeat_marker
from spillstore_tools.profiles.base import Section, compose, is_gone, summarised
from spillstore_tools.profiles.default import LIMIT, STRATEGY, after, marker_of

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Marker, Part, View
    from spillstore_tools.preview.scan.overview import Overview, Position
    from spillstore_tools.profiles.base import Facts, Rendered


def excerpt_scan(terminator: bytes) -> Scan:
    """A pass for ``excerpt``."""
    return Scan(
        head_chars=LIMIT,
        tail_chars=LIMIT,
        terminator=terminator,
        observer=strategy(STRATEGY).observer(),
        exact=False,
    )


def excerpt(
    part: Overview,
    origin: Position,
    facts: Facts,
    header: str,
    footer: str,
    *,
    view: View = "combined",
    torn: bool = False,
) -> Rendered:
    """At most 8,000 characters of it.

    Args:
        part: of ``excerpt_scan``.
        origin: where its positions begin.
        facts: where the whole is stored, and what the part is.
        header: words before it.
        footer: words behind it.
        view: the view that its positions mean.
        torn: whether its last line goes on behind it.
    """
    room = LIMIT - len(header) - len(footer) - 1
    if facts.binary is not None:
        parts: list[Part] = [summarised(part, dataclasses.replace(facts, head=b""), facts.binary, room)]
    elif part.chars <= room and (text := part.text()) is not None:
        parts = [Shown(text, 0, part.size)]
    else:
        request = Request(
            limit=room,
            whole_units=False,
            first_line=origin.line,
            marker=_moved(marker_of(facts, view), origin),
            clip_marker=_moved(clip_marker, origin),
            repeat_marker=_moved(repeat_marker, origin),
        )
        parts = strategy(STRATEGY).cut(part, request) or []
    section = Section(view, [Note(header), *parts, after(parts, footer)])
    rendered = compose([section], facts, strategy=STRATEGY)
    omissions = []
    for each in rendered.omissions:
        low, high = each.start + origin.byte, each.end + origin.byte
        moved = dataclasses.replace(
            each,
            start=low,
            end=high,
            first_line=each.first_line + origin.line - 1,
            last_line=each.last_line + origin.line - 1,
            # Where a line goes on outside the part, its number means more than what is left out here.
            exact_lines=each.exact_lines
            and not (origin.inside and each.start == 0)
            and not (torn and each.end == part.size),
            dropped=is_gone(facts, view, low, high),
        )
        omissions.append(moved)
    return dataclasses.replace(rendered, omissions=tuple(omissions))


def _moved(marker: Marker, origin: Position) -> Marker:
    """The same marker for gaps whose positions count from ``origin``."""
    return lambda gap: marker(origin.moved(gap))
