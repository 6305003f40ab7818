"""Parts that fit a limit: what markers cost, gaps with their markers, and shrinking until all of it fits."""

from __future__ import annotations

import dataclasses
from itertools import groupby
from typing import TYPE_CHECKING, cast

from spillstore_tools.preview.parts import Shown, length_of, marker_room, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spillstore_tools.preview.parts import Gap, Marker, Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.ends import End
    from spillstore_tools.preview.strategies.request import Request

_ATTEMPTS = 8


def assemble(head: End, tail: End, overview: Overview, marker: Marker) -> list[Part]:
    """Both ends and the gap between them."""
    if head.position.byte >= tail.position.byte:
        return merged([*head.parts, *tail.parts])
    gap = overview.gap(head.position, tail.position, overview.chars - head.chars - tail.chars)
    return merged([*head.parts, with_marker(gap, overview, marker), *tail.parts])


def with_marker(gap: Gap, overview: Overview, marker: Marker) -> Gap:
    """The gap with its marker, without the line end that none needs before the first byte or after the last."""
    text = marker(gap)
    if gap.start == 0:
        text = text.lstrip("\n")
    if gap.end == overview.size:
        text = text.rstrip("\n")
    return dataclasses.replace(gap, text=text)


def marker_width(overview: Overview, request: Request) -> int:
    """Code points that a marker takes at most."""
    room = marker_room(
        request.marker,
        end=overview.size,
        line=max(1, overview.lines),
        lines=overview.lines,
        chars=overview.chars,
    )
    return max(room, len(request.marker(overview.everything(inside=True))))


def fitted(overview: Overview, request: Request, attempt: Callable[[int], list[Part]]) -> list[Part]:
    """The parts that ``attempt`` makes of the room beside one marker; of less room while they are longer than the limit."""
    room = request.limit - marker_width(overview, request)
    for _ in range(_ATTEMPTS):
        if room <= 0:
            break
        parts = attempt(room)
        over = length_of(parts) - request.limit
        if not parts:
            break
        if over <= 0:
            return parts
        room -= 2 * over
    return nothing_shown(overview, request)


def nothing_shown(overview: Overview, request: Request) -> list[Part]:
    """One gap, its marker cut to the limit."""
    gap = overview.everything()
    return [dataclasses.replace(gap, text=request.marker(gap).strip("\n")[: request.limit])]


def merged(parts: Iterable[Part]) -> list[Part]:
    """The parts, with neighbouring pieces of output as one."""
    out: list[Part] = []
    for shown, group in groupby(parts, key=lambda part: isinstance(part, Shown)):
        pieces = list(group)
        if shown:
            first, last = cast("list[Shown]", [pieces[0], pieces[-1]])
            pieces = [Shown(text_of(pieces), first.start, last.end)]
        out += pieces
    return out
