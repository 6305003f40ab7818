"""Parts that fit a limit: what markers cost, gaps with their markers, and shrinking until all of it fits."""

from __future__ import annotations

import dataclasses
from itertools import groupby
from typing import TYPE_CHECKING, cast

from spillstore.runtime import lazy_patterns as re
from spillstore_tools.preview.parts import Gap, Note, Shown, length_of, marker_room, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from spillstore_tools.preview.parts import Marker, Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.ends import End
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.text.lines import Line

_ATTEMPTS = 8
_LABEL = re.compile(r"\d+: ")
_WIDEST = 4  # bytes of a character
_LONE = 2  # markers that one line may be as long as, to be shown in the place of its marker


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


def closed(
    parts: Sequence[Part],
    overview: Overview,
    request: Request,
    held: Callable[[int, int], Iterable[Line]] = lambda _start, _end: (),
) -> list[Part]:
    """The parts, with the lines themselves in the place of markers that take as much room; of a single line, about as much.

    Args:
        parts: of the overview.
        overview: has the lines at both ends.
        request: its limit.
        held: gives other lines that are at hand, all of a stretch of bytes among them.
    """
    room = request.limit - length_of(parts)
    out: list[Part] = []
    for number, part in enumerate(parts):
        most = len(part.text)
        if not isinstance(part, Gap) or part.inside or part.end - part.start > _WIDEST * _LONE * most:
            out.append(part)
            continue
        most += min(room, (_LONE - 1) * most) if part.lines == 1 else 0
        labelled = any(
            isinstance(each, Note) and _LABEL.fullmatch(each.text)
            for each in (*parts[max(0, number - 2) : number], *parts[number + 1 : number + 2])
        )
        shown: list[Part] = []
        for line in _lines_of(part, overview, held):
            label = f"{line.number + request.first_line - 1}: " if labelled else ""
            shown += [*([Note(label)] if label else []), Shown(line.text, line.start, line.end)]
        if shown and length_of(shown) <= most:
            room -= length_of(shown) - len(part.text)
            out += shown
        else:
            out.append(part)
    return merged(out)


def _lines_of(gap: Gap, overview: Overview, held: Callable[[int, int], Iterable[Line]]) -> list[Line]:
    """The lines of a gap, if all of them are at hand."""
    for block in (*overview.head, *overview.tail):
        if block.long is None and block.start <= gap.start and gap.end <= block.end:
            raw = block.raw[gap.start - block.start : gap.end - block.start]
            inner = dataclasses.replace(
                block, start=gap.start, first_line=gap.first_line, raw=raw, lines=gap.lines
            )
            return list(inner.forward())
    by_start = {line.start: line for line in held(gap.start, gap.end)}
    lines: list[Line] = []
    at = gap.start
    while at < gap.end:
        line = by_start.get(at)
        if line is None:
            return []
        lines.append(line)
        at = line.end
    return lines
