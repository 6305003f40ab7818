"""Where a page of a search ended: what the next one goes on from."""

from __future__ import annotations

import re
from typing import NamedTuple

from spillstore.exceptions import RangeError

_CURSOR = re.compile(
    r"(combined|stdout|stderr)@(\d{1,18})\+(\d{1,18})\+(\d{1,18})(?:~(\d{1,18})(!?))?", re.ASCII
)


class Cursor(NamedTuple):
    """A position in a view, and what was counted up to there.

    Attributes:
        stream: the view.
        at: the byte where the search goes on.
        lines: matching lines before it.
        matches: matches before it.
        line_start: the first byte of the line that ``at`` is inside; None between lines.
        line_counted: whether that line is among ``lines``.
    """

    stream: str
    at: int
    lines: int
    matches: int
    line_start: int | None = None
    line_counted: bool = False

    def __str__(self) -> str:
        inside = "" if self.line_start is None else f"~{self.line_start}{'!' if self.line_counted else ''}"
        return f"{self.stream}@{self.at}+{self.lines}+{self.matches}{inside}"

    @classmethod
    def parse(cls, text: str | None, stream: str) -> Cursor:
        """The cursor that a page gave; the beginning of the view for None.

        Raises:
            RangeError: it is no cursor of a search in this view.
        """
        if text is None:
            return cls(stream, 0, 0, 0)
        match = _CURSOR.fullmatch(text)
        if match is not None and match[1] == stream:
            line_start = int(match[5]) if match[5] else None
            at = int(match[2])
            if line_start is None or line_start <= at:
                return cls(stream, at, int(match[3]), int(match[4]), line_start, bool(match[6]))
        raise RangeError(f"{text[:80]!r} is no cursor of this search; take it from the page before")
