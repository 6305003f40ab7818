"""Lines that follow each other and show the same text."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from spillstore_tools.preview.parts import Gap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore_tools.preview.parts import Marker
    from spillstore_tools.preview.text.lines import Line

_REPEATED = 3  # equal lines from which on one stands for all


@dataclasses.dataclass(slots=True)
class Run:
    """A line and those right behind it that show the same text.

    Attributes:
        lines: all lines, or the first and the last if there are more than ``MOST``.
        count: how many lines there are.
    """

    MOST: ClassVar[int] = 256

    lines: list[Line]
    count: int = 1

    def add(self, line: Line) -> None:
        """Add the next line; lines come in order, or all of them in reverse."""
        self.count += 1
        self.lines.append(line)
        if self.count > self.MOST:
            del self.lines[1:-1]

    @property
    def chars(self) -> int:
        """Code points of all lines."""
        return self.count * self.lines[0].chars

    @property
    def first(self) -> Line:
        """The line with the lowest number."""
        return min(self.lines[0], self.lines[-1], key=_number)

    @property
    def last(self) -> Line:
        """The line with the highest number."""
        return max(self.lines[0], self.lines[-1], key=_number)

    def rest(self, marker: Marker) -> Gap | None:
        """The gap in place of all lines but the first; None for fewer than three lines, or where it would be longer than they are."""
        if self.count < _REPEATED:  # nearly all
            return None
        first, last = self.first, self.last
        chars = (self.count - 1) * first.chars
        gap = Gap(first.end, last.end, first.number + 1, last.number, self.count - 1, chars).marked(marker)
        return gap if len(gap.text) < chars or self.count > self.MOST else None


def runs(lines: Iterable[Line]) -> Iterator[Run]:
    """Lines as runs of those that follow each other and show the same text; in order or in reverse."""
    run: Run | None = None
    last: Line | None = None
    for line in lines:
        if run is not None and last is not None:
            if line.same_as(last) and abs(line.number - last.number) == 1:
                run.add(line)
                last = line
                continue
            yield run
        run, last = Run([line]), line
    if run is not None:
        yield run


def _number(line: Line) -> int:
    return line.number
