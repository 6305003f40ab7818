"""How output is cut: strategies by name.

A strategy turns an ``Overview`` into parts of at most a number of code points, markers included. Strategies register
under a name, and others may join them. What a strategy cannot do (elements of what is no JSON) it leaves to the one it
names as its fallback.
"""

from __future__ import annotations

import dataclasses
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from spillstore.exceptions import InvalidSettingError
from spillstore.settings import MIB
from spillstore_tools.preview.lines import runs
from spillstore_tools.preview.parts import Gap, Shown, length_of, marker_room, text_of
from spillstore_tools.preview.scan import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spillstore_tools.preview.lines import Line
    from spillstore_tools.preview.parts import Marker, Part
    from spillstore_tools.preview.scan import Observer, Overview

_ATTEMPTS = 8


def omitted_marker(gap: Gap) -> str:
    """The marker of the profile ``acode``."""
    return f"\n... [{gap.lines} lines / {gap.chars} chars omitted] ...\n"


def clip_marker(gap: Gap) -> str:
    """What stands in an over-long line."""
    return f" [... {gap.chars} chars, bytes {gap.start}-{gap.end}, omitted ...] "


def repeat_marker(gap: Gap) -> str:
    """What stands for lines that show what the line before them shows."""
    return f"  [the same {gap.lines} more times, lines {gap.first_line}-{gap.last_line}]\n"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a strategy.

    Attributes:
        limit: code points of the result, markers included.
        head_ratio: the beginning's share of the room, where both ends are shown.
        head_lines: whole lines from the beginning at most, for strategies that count lines.
        tail_lines: likewise from the end.
        line_limit: code points of one line, for strategies that keep whole lines; None for no such limit.
        first: elements kept at the beginning of an array.
        last: elements kept at its end.
        max_depth: levels of nesting shown.
        preserve_json: cut JSON stays JSON; else markers stand in it bare, which takes a little less room.
        whole_units: cut source code between whole functions and classes (``smart``).
        actionable: show lines from the middle that matter (``smart``).
        hint: a file's name, where the output is one; tells ``smart`` a language.
        first_line: the number of the first line, where what is cut is a part of something (``smart`` names lines).
        repeats: show three or more equal lines as one and a gap, for strategies that keep whole lines; ``smart`` does.
        marker: makes the text of a gap between lines or elements; longer for larger numbers, if anything.
        clip_marker: makes the text of a gap inside an over-long line.
        repeat_marker: makes the text of a gap in the place of equal lines.
    """

    limit: int
    head_ratio: float = 0.6
    head_lines: int = 300
    tail_lines: int = 200
    line_limit: int | None = 500
    first: int = 5
    last: int = 5
    max_depth: int = 3
    preserve_json: bool = True
    whole_units: bool = True
    actionable: bool = True
    hint: str | None = None
    first_line: int = 1
    repeats: bool = False
    marker: Marker = omitted_marker
    clip_marker: Marker = clip_marker
    repeat_marker: Marker = repeat_marker


class Strategy(Protocol):
    """One way to cut.

    Attributes:
        keep_bytes: it needs all of the output up to this size.
    """

    keep_bytes: int

    def observer(self) -> Observer | None:
        """What must see every block, if anything; made for each output anew."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """The parts, without a break from the first byte to the last; None if this output is not for it."""


_REGISTRY: dict[str, Callable[[], Strategy]] = {}


def register(name: str, make: Callable[[], Strategy]) -> None:
    """Make a strategy known under a name.

    Raises:
        InvalidSettingError: the name is taken.
    """
    if name in _REGISTRY:
        raise InvalidSettingError(f"there is a strategy {name!r} already; choose another name")
    _REGISTRY[name] = make


def names() -> tuple[str, ...]:
    """The names of all strategies."""
    return tuple(sorted(_REGISTRY))


def strategy(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        InvalidSettingError: there is none; the message names those that there are.
    """
    make = _REGISTRY.get(name)
    if make is None:
        raise InvalidSettingError(f"no strategy {name!r}; there are {', '.join(names())}")
    return make()


@dataclasses.dataclass(slots=True)
class End:
    """What is shown of one end of the output.

    Attributes:
        parts: in the order of the output.
        place: where the end stops, seen from its own side.
        chars: code points of the output that it covers, clipped ones included.
        length: code points of the parts.
    """

    parts: list[Part]
    place: Place
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
    end = End([], Place(0, 1))
    for count, step in enumerate(_steps(lines, request, exact=exact)):
        if count == most:
            break
        line = step.first
        parts = _whole(line, request, exact=exact)
        ways = [(parts, line.chars, _behind(line, line.end))]
        if step.rest is not None:
            ways.insert(0, ([*parts, step.rest], step.chars, _behind(step.last, step.last.end)))
        if _added(end, ways, room):
            continue
        if exact or not end.parts:
            text, byte = line.prefix(room - end.length)
            if byte > line.start:
                _add(end, [Shown(text, line.start, byte)], len(text), _behind(line, byte))
        break
    return end


def ending(
    lines: Iterable[Line],
    room: int,
    request: Request,
    after: Place,
    overview: Overview,
    *,
    most: int | None = None,
    exact: bool = False,
) -> End:
    """As many lines from the last on as there is room for; ``lines`` come in reverse, ``after`` is not passed."""
    end = End([], Place(overview.size, overview.lines + 1))
    torn: list[Line] = []  # the line that ``after`` is inside of, once all behind it are shown
    for count, step in enumerate(_steps(_from(after, lines, torn), request, exact=exact)):
        if count == most:
            break
        first, last = step.first, step.last
        ways = [(_whole(last, request, exact=exact), last.chars, Place(last.start, last.number))]
        if step.rest is not None:
            parts = [*_whole(first, request, exact=exact), step.rest]
            ways.insert(0, (parts, step.chars, Place(first.start, first.number)))
        if _added(end, ways, room):
            continue
        torn = [last]
        break
    if torn and (exact or not end.parts):
        text, byte = torn[0].suffix(room - end.length)
        if after.byte <= byte < torn[0].end:
            place = Place(byte, torn[0].number, inside=byte > torn[0].start)
            _add(end, [Shown(text, byte, torn[0].end)], len(text), place)
    end.parts.reverse()
    return end


def assemble(head: End, tail: End, overview: Overview, marker: Marker) -> list[Part]:
    """Both ends and the gap between them."""
    if head.place.byte >= tail.place.byte:
        return merged([*head.parts, *tail.parts])
    gap = overview.gap(head.place, tail.place, overview.chars - head.chars - tail.chars)
    return merged([*head.parts, placed(gap, overview, marker), *tail.parts])


def placed(gap: Gap, overview: Overview, marker: Marker) -> Gap:
    """The gap with its marker, which needs no line of its own before the first byte and after the last."""
    text = marker(gap)
    if gap.start == 0:
        text = text.lstrip("\n")
    if gap.end == overview.size:
        text = text.rstrip("\n")
    return dataclasses.replace(gap, text=text)


def room_beside(overview: Overview, request: Request) -> int:
    """Code points that the largest possible marker leaves."""
    return request.limit - widest(overview, request)


def widest(overview: Overview, request: Request) -> int:
    """Code points that a marker takes at most."""
    room = marker_room(
        request.marker,
        end=overview.size,
        line=max(1, overview.lines),
        lines=overview.lines,
        chars=overview.chars,
    )
    return max(room, len(request.marker(everything(overview))))


def fitted(overview: Overview, request: Request, attempt: Callable[[int], list[Part]]) -> list[Part]:
    """What ``attempt`` makes of the room beside one marker; with less of it while markers turn out longer than that."""
    room = room_beside(overview, request)
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


def everything(overview: Overview) -> Gap:
    """The gap that leaves nothing."""
    return Gap(0, overview.size, 1, max(1, overview.lines), overview.lines, overview.chars, inside=True)


def nothing_shown(overview: Overview, request: Request) -> list[Part]:
    """One gap, its marker cut to the limit."""
    gap = dataclasses.replace(everything(overview), inside=False)
    return [dataclasses.replace(gap, text=request.marker(gap).strip("\n")[: request.limit])]


def merged(parts: Iterable[Part]) -> list[Part]:
    """Neighbouring pieces of output as one."""
    out: list[Part] = []
    for shown, group in groupby(parts, key=lambda part: isinstance(part, Shown)):
        pieces = list(group)
        if shown:
            first, last = cast("list[Shown]", [pieces[0], pieces[-1]])
            pieces = [Shown(text_of(pieces), first.start, last.end)]
        out += pieces
    return out


class _Step(NamedTuple):
    """A line, or a few that show the same."""

    first: Line
    last: Line
    rest: Gap | None = None
    chars: int = 0


def _steps(lines: Iterable[Line], request: Request, *, exact: bool) -> Iterator[_Step]:
    if exact or not request.repeats:
        for line in lines:
            yield _Step(line, line)
        return
    for run in runs(lines):
        if rest := run.rest(request.repeat_marker):
            yield _Step(run.first, run.last, rest, run.chars)
        else:
            for line in run.lines:
                yield _Step(line, line)


def _from(after: Place, lines: Iterable[Line], torn: list[Line]) -> Iterator[Line]:
    """Lines, in reverse, that begin at or behind a place; the one it is inside of goes to ``torn``."""
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


def _behind(line: Line, byte: int) -> Place:
    return Place(byte, line.number, inside=True) if byte < line.end else Place(byte, line.number + 1)


def _added(end: End, ways: list[tuple[list[Part], int, Place]], room: int) -> bool:
    """Add the first of these ways to show what comes next that there is room for; whether it was the very first."""
    for way in ways:
        if way[0] and end.length + length_of(way[0]) <= room:
            _add(end, *way)
            return way is ways[0]
    return False


def _add(end: End, parts: list[Part], chars: int, place: Place) -> None:
    end.parts += parts if place.byte >= end.place.byte else reversed(parts)
    end.length += length_of(parts)
    end.chars += chars
    end.place = place


class _Plain:
    """A strategy that needs nothing but both ends."""

    keep_bytes = 0

    def observer(self) -> Observer | None:
        """Nobody."""
        return None


class HeadTail(_Plain):
    """The first and the last code points, to the letter: 60 to 40 by default."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""
        if overview.chars <= request.limit and (text := overview.text()) is not None:
            return [Shown(text, 0, overview.size)]

        def attempt(room: int) -> list[Part]:
            head = beginning(overview.forward(), int(room * request.head_ratio), request, exact=True)
            tail = ending(overview.backward(), room - head.length, request, head.place, overview, exact=True)
            return assemble(head, tail, overview, request.marker)

        return fitted(overview, request, attempt)


class Head(_Plain):
    """The first lines, whole ones."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""

        def attempt(room: int) -> list[Part]:
            head = beginning(overview.forward(), room, request, most=request.head_lines)
            return assemble(head, _no_tail(overview), overview, request.marker) if head.parts else []

        if _fits(overview, request, request.head_lines):
            return attempt(request.limit)
        return fitted(overview, request, attempt)


class Tail(_Plain):
    """The last lines, whole ones; of one that is too long, its end."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""
        start = Place(0, 1)

        def attempt(room: int) -> list[Part]:
            tail = ending(overview.backward(), room, request, start, overview, most=request.tail_lines)
            return assemble(End([], start), tail, overview, request.marker) if tail.parts else []

        if _fits(overview, request, request.tail_lines):
            return attempt(request.limit)
        return fitted(overview, request, attempt)


class Lines(_Plain):
    """Whole lines from both ends."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""
        if _fits(overview, request, request.head_lines + request.tail_lines):
            head = beginning(overview.forward(), request.limit, request)
            return assemble(head, _no_tail(overview), overview, request.marker)

        def attempt(room: int) -> list[Part]:
            share = int(room * request.head_ratio)
            head = beginning(overview.forward(), share, request, most=request.head_lines)
            rest = room - head.length
            tail = ending(overview.backward(), rest, request, head.place, overview, most=request.tail_lines)
            return assemble(head, tail, overview, request.marker) if head.parts or tail.parts else []

        return fitted(overview, request, attempt)


def _no_tail(overview: Overview) -> End:
    return End([], Place(overview.size, overview.lines + 1))


class Nothing:
    """No cut at all, however long; what is too large to be held is left to the fallback."""

    keep_bytes = 64 * MIB

    def observer(self) -> Observer | None:
        """Nobody."""
        return None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:  # noqa: ARG002  # the interface
        """As in ``Strategy``."""
        text = overview.text()
        return None if text is None else [Shown(text, 0, overview.size)]


def _fits(overview: Overview, request: Request, lines: int) -> bool:
    """Whether nothing need be left out, so that the marker needs no room."""
    return overview.complete and overview.chars <= request.limit and overview.lines <= lines


for _name, _make in (
    ("head_tail", HeadTail),
    ("head", Head),
    ("tail", Tail),
    ("lines", Lines),
    ("none", Nothing),
):
    register(_name, _make)
