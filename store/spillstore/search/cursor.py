"""Where a page of a search ended: what the next one goes on from.

A cursor holds what was counted before it, and the next page adds to that, so it has a mark of the search that counted. Who
begins in the middle, as viewers do, has counted nothing and needs none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from spillstore.exceptions import RangeError
from spillstore.model.arguments import cursor_mark

_CURSOR = re.compile(
    r"((combined|stdout|stderr)@(\d{1,18})\+(\d{1,18})\+(\d{1,18})(?:~(\d{1,18})(!?))?)(?:\.([0-9a-f]{8}))?",
    re.ASCII,
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

    def marked(self, search: str) -> str:
        """The cursor as a page gives it.

        Args:
            search: whatever must be the same for the next page.
        """
        return f"{self}.{cursor_mark(str(self), search)}"

    @classmethod
    def parse(cls, text: str | None, stream: str, search: str, size: int) -> Cursor:
        """The cursor that a page gave; the beginning of the view for None.

        Args:
            text: the cursor.
            stream: the view.
            search: as for ``marked``.
            size: bytes of the view.

        Raises:
            RangeError: it is no cursor of this search, or lies behind the end.
        """
        if text is None:
            return cls(stream, 0, 0, 0)
        match = _CURSOR.fullmatch(text) if isinstance(text, str) else None
        if match is None or match[2] != stream:
            raise RangeError(f"{str(text)[:80]!r} is no cursor of this search; take it from the page before")
        inside = None if match[6] is None else int(match[6])
        found = cls(stream, int(match[3]), int(match[4]), int(match[5]), inside, bool(match[7]))
        counted = found.lines or found.matches
        if (match[8] or counted) and match[8] != cursor_mark(match[1], search):
            raise RangeError(
                f"{text[:80]!r} is no cursor of this search: the pattern and all other arguments must be those of the page before; "
                "without a cursor a search begins anew"
            )
        if found.at > size or (inside is not None and inside > found.at):
            raise RangeError(f"{text[:80]!r} is no cursor of this search: there are {size} bytes")
        return found
