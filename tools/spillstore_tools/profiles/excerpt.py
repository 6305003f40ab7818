"""A part of an output, cut by ``smart``, with positions in the whole: for all profiles alike.

The part is new output of a command in the background, or output that is stored already and was printed again.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from spillstore_tools.preview.parts import Note, Shown
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.request import Request, clip_marker, repeat_marker
from spillstore_tools.profiles.binary import summarised
from spillstore_tools.profiles.limits import LIMIT, SMART
from spillstore_tools.profiles.notices import marker_of, on_own_line
from spillstore_tools.profiles.rendered import Section, compose, is_dropped

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Marker, Part, View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.scan.position import Position
    from spillstore_tools.profiles.facts import Facts
    from spillstore_tools.profiles.rendered import Rendered


def excerpt_scan(terminator: bytes) -> Scan:
    """A new pass for ``excerpt``."""
    return Scan(
        head_chars=LIMIT,
        tail_chars=LIMIT,
        terminator=terminator,
        observer=strategy(SMART).observer(),
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
    """At most 8,000 characters of a part of an output.

    Args:
        part: the result of a pass of ``excerpt_scan``.
        origin: the position where the part begins.
        facts: about the whole.
        header: words before the text.
        footer: words behind the text.
        view: the view that its positions mean.
        torn: whether its last line goes on behind the part.
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
        parts = strategy(SMART).cut(part, request) or []
    section = Section(view, [Note(header), *parts, on_own_line(parts, footer)])
    rendered = compose([section], facts, strategy=SMART)
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
            dropped=is_dropped(facts, view, low, high),
        )
        omissions.append(moved)
    return dataclasses.replace(rendered, omissions=tuple(omissions))


def _moved(marker: Marker, origin: Position) -> Marker:
    """The marker for gaps whose positions count from ``origin``."""
    return lambda gap: marker(origin.moved(gap))
