"""How output is cut: strategies by name.

A strategy turns an ``Overview`` into parts of at most a number of code points, markers included. Strategies register
under a name, and others may join them. What a strategy cannot do (elements of what is no JSON) it leaves to the one it
names as its fallback.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

from spillstore.exceptions import InvalidSettingError
from spillstore_tools.preview.parts import Gap, Shown, length_of
from spillstore_tools.preview.scan import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spillstore_tools.preview.lines import Line
    from spillstore_tools.preview.parts import Marker, Part
    from spillstore_tools.preview.scan import Observer, Overview

MIB = 1024 * 1024


def omitted_marker(gap: Gap) -> str:
    """The marker of the specification S1 (FR-043)."""
    return f"\n... [{gap.lines} lines / {gap.chars} chars omitted] ...\n"


def clip_marker(gap: Gap) -> str:
    """What stands in an over-long line."""
    return f" [... {gap.chars} chars, bytes {gap.start}-{gap.end}, omitted ...] "


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
        whole_units: cut source code between whole functions and classes (``smart``).
        actionable: show lines from the middle that matter (``smart``).
        marker: makes the text of a gap between lines or elements; must not get shorter for larger numbers.
        clip_marker: makes the text of a gap inside an over-long line.
    """

    limit: int
    head_ratio: float = 0.6
    head_lines: int = 300
    tail_lines: int = 200
    line_limit: int | None = 500
    first: int = 5
    last: int = 5
    max_depth: int = 3
    whole_units: bool = True
    actionable: bool = True
    marker: Marker = omitted_marker
    clip_marker: Marker = clip_marker


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
    for count, line in enumerate(lines):
        if count == most:
            break
        parts = _whole(line, request, exact=exact)
        size = length_of(parts) if parts else room + 1
        if end.length + size <= room:
            _add(end, parts, line.chars, Place(line.end, line.number + 1))
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
    for count, line in enumerate(lines):
        if count == most or line.end <= after.byte:
            break
        parts = _whole(line, request, exact=exact) if line.start >= after.byte else []
        size = length_of(parts) if parts else room + 1
        if end.length + size <= room:
            _add(end, parts, line.chars, Place(line.start, line.number), before=True)
            continue
        if exact or not end.parts:
            text, byte = line.suffix(room - end.length)
            if after.byte <= byte < line.end:
                place = Place(byte, line.number, inside=byte > line.start)
                _add(end, [Shown(text, byte, line.end)], len(text), place, before=True)
        break
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
    return request.limit - len(request.marker(everything(overview)))


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
    for part in parts:
        last = out[-1] if out else None
        if isinstance(part, Shown) and isinstance(last, Shown):
            out[-1] = Shown(last.text + part.text, last.start, part.end)
        else:
            out.append(part)
    return out


def _whole(line: Line, request: Request, *, exact: bool) -> list[Part]:
    if request.line_limit is None or exact:
        return [Shown(line.text, line.start, line.end)] if line.complete else []
    return line.clipped(request.line_limit, request.clip_marker)


def _behind(line: Line, byte: int) -> Place:
    return Place(byte, line.number, inside=True) if byte < line.end else Place(byte, line.number + 1)


def _add(end: End, parts: list[Part], chars: int, place: Place, *, before: bool = False) -> None:
    end.parts = [*parts, *end.parts] if before else [*end.parts, *parts]
    end.length += length_of(parts)
    end.chars += chars
    end.place = place


class _Plain:
    """A strategy that needs nothing but both ends."""

    keep_bytes = 0

    def observer(self) -> Observer | None:
        return None


class HeadTail(_Plain):
    """The first and the last code points, to the letter: 60 to 40 by default (FR-025 to FR-030)."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        if overview.chars <= request.limit and (text := overview.text()) is not None:
            return [Shown(text, 0, overview.size)]
        room = room_beside(overview, request)
        if room <= 0:
            return nothing_shown(overview, request)
        head = beginning(overview.forward(), int(room * request.head_ratio), request, exact=True)
        tail = ending(overview.backward(), room - head.length, request, head.place, overview, exact=True)
        return assemble(head, tail, overview, request.marker)


class Head(_Plain):
    """The first lines, whole ones."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        room = max(0, room_beside(overview, request))
        if _fits(overview, request, request.head_lines):
            room = request.limit
        head = beginning(overview.forward(), room, request, most=request.head_lines)
        if not head.parts and overview.size:
            return nothing_shown(overview, request)
        return assemble(head, End([], Place(overview.size, overview.lines + 1)), overview, request.marker)


class Tail(_Plain):
    """The last lines, whole ones; of one that is too long, its end."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        room = max(0, room_beside(overview, request))
        if _fits(overview, request, request.tail_lines):
            room = request.limit
        start = Place(0, 1)
        tail = ending(overview.backward(), room, request, start, overview, most=request.tail_lines)
        if not tail.parts and overview.size:
            return nothing_shown(overview, request)
        return assemble(End([], start), tail, overview, request.marker)


class Lines(_Plain):
    """Whole lines from both ends."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        room = max(0, room_beside(overview, request))
        if _fits(overview, request, request.head_lines + request.tail_lines):
            head = beginning(overview.forward(), request.limit, request)
            return assemble(head, End([], Place(overview.size, overview.lines + 1)), overview, request.marker)
        share = int(room * request.head_ratio)
        head = beginning(overview.forward(), share, request, most=request.head_lines)
        tail = ending(
            overview.backward(), room - head.length, request, head.place, overview, most=request.tail_lines
        )
        if not head.parts and not tail.parts and overview.size:
            return nothing_shown(overview, request)
        return assemble(head, tail, overview, request.marker)


class Nothing:
    """No cut at all, however long; what is too large to be held is left to the fallback."""

    keep_bytes = 64 * MIB

    def observer(self) -> Observer | None:
        return None

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:  # noqa: ARG002  # the interface
        text = overview.text()
        return None if text is None else [Shown(text, 0, overview.size)]


def _fits(overview: Overview, request: Request, lines: int) -> bool:
    """Whether nothing need be left out, so that the marker needs no room."""
    return overview.whole and overview.chars <= request.limit and overview.lines <= lines


for _name, _make in (
    ("head_tail", HeadTail),
    ("head", Head),
    ("tail", Tail),
    ("lines", Lines),
    ("none", Nothing),
):
    register(_name, _make)
