"""Lines from both ends of an output, as many as there is room for."""

from __future__ import annotations

import dataclasses
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.preview.parts import Gap, Shown, length_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.strategies.novelty import FEW, MANY
from spillstore_tools.preview.text.runs import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.novelty import Novelty
    from spillstore_tools.preview.strategies.request import Request
    from spillstore_tools.preview.text.lines import Line
    from spillstore_tools.preview.text.runs import Run


BEYOND = 20  # lines of an end, beyond which nothing is shown that lies behind lines left out


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
    overview: Overview,
    room: int,
    request: Request,
    *,
    stop: int | None = None,
    most: int | None = None,
    exact: bool = False,
    novelty: Novelty | None = None,
) -> End:
    """As many lines from the first on as there is room for.

    Args:
        overview: has the lines.
        room: code points.
        request: its limit of a line, unless ``exact``.
        stop: the byte behind the last line that may be shown.
        most: lines at most.
        exact: use the room to the last code point, in the middle of a line if need be.
        novelty: leave out lines that tell nothing new, and stop where there are many of them.
    """
    end = End([], Position(0, 1))
    taken = 0
    folded, brief = False, novelty is not None and novelty.brief
    if novelty is None:
        taken = _plain_beginning(end, overview, room, stop, _Plain(request, most, exact=exact))
    lines = overview.forward(end.position)
    if stop is not None:
        lines = takewhile(lambda line: line.end <= stop, lines)
    groups = _groups(lines, request, exact=exact, novelty=novelty)
    for group in islice(groups, None if most is None else most - taken):
        line = group.first
        if (group.known or folded) and line.number > BEYOND:
            break
        folded = folded or (brief and group.rest is not None)
        parts = [*group.known, *_whole(line, request, exact=exact)]
        if group.rest is not None and _fits(
            end, [*parts, group.rest], group.chars, _behind(group.last, group.last.end), room
        ):
            continue
        if (
            _fits(end, parts, line.chars + group.known_chars, _behind(line, line.end), room)
            and group.rest is None
        ):
            continue
        if exact or not end.parts:
            text, byte = line.prefix(room - end.length)
            if byte > line.start:
                _add(end, [Shown(text, line.start, byte)], len(text), _behind(line, byte), len(text))
        break
    return end


def ending(
    overview: Overview,
    room: int,
    request: Request,
    after: Position,
    *,
    most: int | None = None,
    exact: bool = False,
    novelty: Novelty | None = None,
) -> End:
    """As many lines from the last on as there is room for, none of which begins before ``after``; see ``beginning``."""
    end = End([], Position(overview.size, overview.lines + 1))
    taken = 0
    folded, brief = False, novelty is not None and novelty.brief
    if novelty is None:
        taken = _plain_ending(end, overview, room, after, _Plain(request, most, exact=exact))
    torn: list[Line] = []  # the line that ``after`` is inside of, once all lines behind it are shown
    lines = _from(after, overview.backward(end.position), torn)
    groups = _groups(lines, request, exact=exact, novelty=novelty)
    for group in islice(groups, None if most is None else most - taken):
        first, last = group.first, group.last
        if (group.known or folded) and last.number <= overview.lines - BEYOND:
            break
        folded = folded or (brief and group.rest is not None)
        if group.rest is not None:
            parts = [*_whole(first, request, exact=exact), group.rest, *group.known]
            if _fits(end, parts, group.chars, Position(first.start, first.number), room):
                continue
        parts = [*_whole(last, request, exact=exact), *group.known]
        chars = last.chars + group.known_chars
        if _fits(end, parts, chars, Position(last.start, last.number), room) and group.rest is None:
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


class _Plain:
    """Lines that are shown as they are: none is too long, and no two in a row are equal where equal lines are shown as one.

    Most lines are, and all of them are one part: line by line, a preview of short lines takes ten times as long.
    """

    def __init__(self, request: Request, most: int | None, *, exact: bool) -> None:
        self._longest = None if exact else request.line_limit
        self._repeats = request.repeats and not exact
        self._most = most

    def of(self, lines: list[str]) -> int:
        """How many from the first on: the next one, which may be equal to one that is not given, is left out."""
        count = len(lines) - 1
        if self._most is not None:
            count = min(count, self._most)
        if self._longest is not None and max(map(len, lines), default=0) >= self._longest:
            long = (at for at, line in enumerate(lines) if len(line) >= self._longest)
            count = min(count, next(long))
        if self._repeats:
            equal = (at for at, (line, following) in enumerate(pairwise(lines)) if line == following)
            count = min(count, next(equal, count))
        return max(0, count)


def _plain_beginning(end: End, overview: Overview, room: int, stop: int | None, plain: _Plain) -> int:
    """Take plain lines of the first block; returns how many."""
    block = overview.first
    if block is None or not block.is_clean:
        return 0
    size = room if stop is None else min(room, stop)
    lines = block.raw[: max(0, size)].decode().split("\n")
    lines.pop()  # without its end
    count = plain.of(lines)
    if count:
        text = "\n".join((*lines[:count], ""))
        _add(end, [Shown(text, 0, len(text))], len(text), Position(len(text), count + 1), len(text))
    return count


def _plain_ending(end: End, overview: Overview, room: int, after: Position, plain: _Plain) -> int:
    """Take plain lines of the last block; returns how many."""
    block = overview.last
    if block is None or not block.is_clean:
        return 0
    raw = block.raw
    low = max(0, len(raw) - max(0, room), after.byte - block.start)
    if low > 0 and not raw.endswith(b"\n", 0, low):
        low = raw.find(b"\n", low) + 1 or len(raw)
    lines = raw[low:].decode().split("\n")
    last = lines.pop()
    if last:  # the output ends without a line end
        lines.append(last)
    lines.reverse()
    count = plain.of(lines)
    if count:
        text = "\n".join(reversed(lines[:count])) + ("" if last else "\n")
        start = overview.size - len(text)
        position = Position(start, overview.lines + 1 - count)
        _add(end, [Shown(text, start, overview.size)], len(text), position, len(text))
    return count


class _Group(NamedTuple):
    """A line, or a few that show the same text: the first one and the gap in place of the others.

    Attributes:
        first, last: of the lines.
        rest: the gap in place of all but the first.
        chars: code points of all lines, and of those that ``known`` stands for.
        known: the gap in place of lines between these and the group before, which told nothing new; or nothing.
        known_chars: its code points.
    """

    first: Line
    last: Line
    rest: Gap | None = None
    chars: int = 0
    known: tuple[Gap, ...] = ()
    known_chars: int = 0


def _groups(
    lines: Iterable[Line], request: Request, *, exact: bool, novelty: Novelty | None
) -> Iterator[_Group]:
    if exact or not request.repeats:
        for line in lines:
            yield _Group(line, line)
        return
    known: list[Run] = []  # the runs right before that tell nothing new
    left_out = 0
    for run in runs(lines):
        if novelty is not None and novelty.known(run.first):
            known.append(run)
            left_out += run.count
            if left_out > MANY or novelty.told_all:
                return
            continue
        if novelty is not None and novelty.told_all:
            return
        gap = _known(known, request)
        if gap is None:
            for each in known:
                yield from _of_run(each, request)
        yield from _of_run(run, request, gap)
        known.clear()


def _of_run(run: Run, request: Request, known: Gap | None = None) -> Iterator[_Group]:
    left_out, chars = ((known,), known.chars or 0) if known else ((), 0)
    if rest := run.rest(request.repeat_marker):
        yield _Group(run.first, run.last, rest, run.chars + chars, left_out, chars)
        return
    for line in run.lines:
        yield _Group(line, line, None, line.chars + chars, left_out, chars)
        left_out, chars = (), 0


def _known(known: list[Run], request: Request) -> Gap | None:
    """The gap in place of runs; None for few lines, or where it would be longer than they are."""
    count = sum(run.count for run in known)
    if count < FEW:
        return None
    lines = [line for run in known for line in (run.first, run.last)]
    first, last = min(lines, key=_number), max(lines, key=_number)
    chars = sum(run.chars for run in known)
    gap = Gap(first.start, last.end, first.number, last.number, count, chars).marked(request.marker)
    return gap if len(gap.text) < chars else None


def _number(line: Line) -> int:
    return line.number


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
