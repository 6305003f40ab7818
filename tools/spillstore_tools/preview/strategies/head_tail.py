"""The strategies that show one end of the output or both, and the one that shows all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillstore.settings import MIB
from spillstore_tools.preview.parts import Shown
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.strategies.ends import End, beginning, ending
from spillstore_tools.preview.strategies.fit import assemble, fitted

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Part
    from spillstore_tools.preview.scan.block import Observer
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.strategies.request import Request


class _WithoutObserver:
    """A strategy that looks at the overview alone."""

    keep_bytes = 0

    def observer(self) -> Observer | None:
        """None is needed."""
        return None


class HeadTail(_WithoutObserver):
    """The first and the last code points, to the letter: 60 to 40 by default."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""
        if overview.chars <= request.limit and (text := overview.text()) is not None:
            return [Shown(text, 0, overview.size)]

        def attempt(room: int) -> list[Part]:
            head = beginning(overview, int(room * request.head_ratio), request, exact=True)
            tail = ending(overview, room - head.length, request, head.position, exact=True)
            return assemble(head, tail, overview, request.marker)

        return fitted(overview, request, attempt)


class Head(_WithoutObserver):
    """The first whole lines."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""

        def attempt(room: int) -> list[Part]:
            head = beginning(overview, room, request, most=request.head_lines)
            return assemble(head, _no_tail(overview), overview, request.marker) if head.parts else []

        if _fits(overview, request, request.head_lines):
            return attempt(request.limit)
        return fitted(overview, request, attempt)


class Tail(_WithoutObserver):
    """The last whole lines; the end of one that is too long."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""
        start = Position(0, 1)

        def attempt(room: int) -> list[Part]:
            tail = ending(overview, room, request, start, most=request.tail_lines)
            return assemble(End([], start), tail, overview, request.marker) if tail.parts else []

        if _fits(overview, request, request.tail_lines):
            return attempt(request.limit)
        return fitted(overview, request, attempt)


class WholeLines(_WithoutObserver):
    """Whole lines from both ends."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """As in ``Strategy``."""
        if _fits(overview, request, request.head_lines + request.tail_lines):
            head = beginning(overview, request.limit, request)
            return assemble(head, _no_tail(overview), overview, request.marker)

        def attempt(room: int) -> list[Part]:
            share = int(room * request.head_ratio)
            head = beginning(overview, share, request, most=request.head_lines)
            rest = room - head.length
            tail = ending(overview, rest, request, head.position, most=request.tail_lines)
            return assemble(head, tail, overview, request.marker) if head.parts or tail.parts else []

        return fitted(overview, request, attempt)


def _no_tail(overview: Overview) -> End:
    return End([], Position(overview.size, overview.lines + 1))


class Uncut(_WithoutObserver):
    """All of the output, however long; output that is too large to be held is left to the fallback."""

    keep_bytes = 64 * MIB

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:  # noqa: ARG002  # the interface
        """As in ``Strategy``."""
        text = overview.text()
        return None if text is None else [Shown(text, 0, overview.size)]


def _fits(overview: Overview, request: Request, lines: int) -> bool:
    """Whether nothing need be left out, so that the marker needs no room."""
    return overview.complete and overview.chars <= request.limit and overview.lines <= lines
