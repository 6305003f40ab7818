"""The interface of strategies: what they are given, what they return, and the markers of ``acode``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from spillstore_tools.preview.parts import Gap, Marker, Part
    from spillstore_tools.preview.scan.block import Observer
    from spillstore_tools.preview.scan.overview import Overview


def omitted_marker(gap: Gap) -> str:
    """The marker of the profile ``acode``."""
    return f"\n... [{gap.lines} lines / {gap.chars} chars omitted] ...\n"


def clip_marker(gap: Gap) -> str:
    """The marker inside an over-long line."""
    return f" [... {gap.chars} chars, bytes {gap.start}-{gap.end}, omitted ...] "


def repeat_marker(gap: Gap) -> str:
    """The marker in place of lines that show the same as the line before them."""
    return f"  [the same {gap.lines} more times, lines {gap.first_line}-{gap.last_line}]\n"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The limit and the options that a strategy is given.

    Attributes:
        limit: code points of the result, markers included.
        head_ratio: the beginning's share of the room, where both ends are shown.
        head_lines: whole lines from the beginning at most, for strategies that count lines.
        tail_lines: likewise from the end.
        line_limit: code points of one line, for strategies that keep whole lines; None for no such limit.
        first: elements kept at the beginning of an array.
        last: elements kept at its end.
        max_depth: levels of nesting shown.
        preserve_json: cut JSON stays JSON; else markers are bare text, which takes a little less room.
        whole_units: cut source code between whole functions and classes (``smart``).
        actionable: show lines from the middle that report errors and the like (``smart``).
        hint: the name of the file that the output is, if any; tells ``smart`` a language.
        first_line: the number of the first line, for a part of something larger (``smart`` names lines).
        repeats: show three or more equal lines as one and a gap, for strategies that keep whole lines; ``smart`` always does.
        ended_well: whether the command that printed it ended with exit code 0; None if that is not known (``smart``).
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
    ended_well: bool | None = None
    marker: Marker = omitted_marker
    clip_marker: Marker = clip_marker
    repeat_marker: Marker = repeat_marker

    def smaller(self, words: int) -> Request:
        """The same request with so many code points less."""
        return dataclasses.replace(self, limit=self.limit - words)


class Strategy(Protocol):
    """One way to cut output.

    Attributes:
        keep_bytes: size of output up to which the strategy needs all of it.
    """

    keep_bytes: int

    def observer(self) -> Observer | None:
        """A new observer that must receive every block of one output, or None."""

    def cut(self, overview: Overview, request: Request) -> list[Part] | None:
        """The parts, without a break from the first byte to the last; None if it cannot cut this output."""
