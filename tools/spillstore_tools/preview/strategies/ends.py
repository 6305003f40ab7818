"""Lines from both ends of an output, as many as there is room for."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.preview.parts import Gap, Shown, length_of
from spillstore_tools.preview.scan.overview import Position
from spillstore_tools.preview.text.runs import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.text.lines import Line


@dataclasses.dataclass(slots=True)
class End:
    """The parts shown of one end of the output.

    Attributes:
        parts: in the order of the output.
        position: where the end stops, seen from its own side.
        chars: code points of the output that it covers, clipped ones included.
        length: code points of the parts.
    """

    parts: list[Part]
    position: Position
    chars: int = 0
    length: int = 0


def beginning(
    lines: Iterable[Line], room: int, request: Request, *, most: int | None = None, exact: bool = False
) -> End:
    """As many lines from the first on as there is room for.

    Args:
        lines: from the first on.
        room: code points.
        request: its limit of a line, unless ``exact``.
        most: lines at most.
        exact: use the room to the last code point, in the middle of a line if need be.
    """
    end = End([], Position(0, 1))
    for count, group in enumerate(_groups(lines, request, exact=exact)):
        if count == most:
            break
        line = group.first
        parts = _whole(line, request, exact=exact)
        if group.rest is not None and _fits(
            end, [*parts, group.rest], group.chars, _behind(group.last, group.last.end), room
        ):
            continue
        if _fits(end, parts, line.chars, _behind(line, line.end), room) and group.rest is None:
            continue
        if exact or not end.parts:
            text, byte = line.prefix(room - end.length)
            if byte > line.start:
                _add(end, [Shown(text, line.start, byte)], len(text), _behind(line, byte), len(text))
        break
    return end


def ending(
    lines: Iterable[Line],
    room: int,
    request: Request,
    after: Position,
    overview: Overview,
    *,
    most: int | None = None,
    exact: bool = False,
) -> End:
    """As many lines from the last on as there is room for; ``lines`` come in reverse and stop at ``after``."""
    end = End([], Position(overview.size, overview.lines + 1))
    torn: list[Line] = []  # the line that ``after`` is inside of, once all lines behind it are shown
    for count, group in enumerate(_groups(_from(after, lines, torn), request, exact=exact)):
        if count == most:
            break
        first, last = group.first, group.last
        if group.rest is not None:
            parts = [*_whole(first, request, exact=exact), group.rest]
            if _fits(end, parts, group.chars, Position(first.start, first.number), room):
                continue
        parts = _whole(last, request, exact=exact)
        if _fits(end, parts, last.chars, Position(last.start, last.number), room) and group.rest is None:
            continue
        torn = [last]
        break
    if torn and (exact or not end.parts):
        text, byte = torn[0].suffix(room - end.length)
        if after.byte <= byte < torn[0].end:
            position = Position(byte, torn[0].number, inside=byte > torn[0].start)
            _add(end, [Shown(text, byte, torn[0].end)], len(text), position, len(text))
    end.parts.reverse()
    return end


class _Group(NamedTuple):
    """A line, or a few that show the same text: the first one and the gap in place of the others."""

    first: Line
    last: Line
    rest: Gap | None = None
    chars: int = 0


def _groups(lines: Iterable[Line], request: Request, *, exact: bool) -> Iterator[_Group]:
    if exact or not request.repeats:
        for line in lines:
            yield _Group(line, line)
        return
    for run in runs(lines):
        if rest := run.rest(request.repeat_marker):
            yield _Group(run.first, run.last, rest, run.chars)
        else:
            for line in run.lines:
                yield _Group(line, line)


def _from(after: Position, lines: Iterable[Line], torn: list[Line]) -> Iterator[Line]:
    """Lines, in reverse, that begin at or behind a position; the line that it is inside of goes to ``torn``."""
    for line in lines:
        if line.start >= after.byte:
            yield line
            continue
        if line.end > after.byte:
            torn.append(line)
        return


def _whole(line: Line, request: Request, *, exact: bool) -> list[Part]:
    if request.line_limit is None or exact:
        return [Shown(line.text, line.start, line.end)] if line.complete else []
    return line.clipped(request.line_limit, request.clip_marker)


def _behind(line: Line, byte: int) -> Position:
    return Position(byte, line.number, inside=True) if byte < line.end else Position(byte, line.number + 1)


def _fits(end: End, parts: list[Part], chars: int, position: Position, room: int) -> bool:
    """Add parts if there are any and there is room for them; returns whether that was so."""
    if not parts or end.length + (length := length_of(parts)) > room:
        return False
    _add(end, parts, chars, position, length)
    return True


def _add(end: End, parts: list[Part], chars: int, position: Position, length: int) -> None:
    end.parts += parts if position.byte >= end.position.byte else reversed(parts)
    end.length += length
    end.chars += chars
    end.position = position
