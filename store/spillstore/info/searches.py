"""Results of searching, and what a search may be given."""

from __future__ import annotations

import dataclasses
from typing import Protocol


class Cleaner(Protocol):
    """Turns stored lines into the text that a reader sees, so that a search finds what is seen. Used on several threads.

    One that has the attribute ``keeps_plain``, which is true, says that UTF-8 without control characters but tab and LF is its own
    cleaned text. Then a search need not read the chunks that cannot hold what is looked for.

    One that has the attribute ``line_end``, and not None, says which bytes end a line of text in its encoding. Where such a line is
    several stored ones, they are cleaned together, and it has the number of the first.
    """

    def is_clean(self, data: bytes | memoryview) -> bool:
        """Whether any lines between LFs in these bytes, the torn ones at both ends too, are their own cleaned text.

        What a ``memoryview`` shows is there during the call alone.
        """
        ...

    def text(self, lines: bytes, terminator: bytes) -> bytes:
        """Whole lines, cleaned, in UTF-8; as many of them as end, each ending in LF."""
        ...

    def offset(self, line: bytes, terminator: bytes, index: int) -> int:
        """The byte of a stored line at which character ``index`` of its cleaned text stands."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A line that a search has found.

    Attributes:
        line: its number.
        byte: where its first match begins, in the stored bytes of the view.
        column: the same in characters of the line, from 1.
        text: the line without its ending, or the part around the match.
        clipped: whether it is a part.
        before: the lines before it, as many as ``context`` says.
        after: the lines behind it, likewise.
        text_column: where the match begins in ``text``, in characters, from 1.
    """

    line: int
    byte: int
    column: int
    text: str
    clipped: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    text_column: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of a search.

    Attributes:
        matches: the lines of this page.
        lines: matching lines up to here, those of the pages before included.
        total_matches: matches in them.
        complete: whether all was searched, so that the counts are the totals.
        scanned: bytes of the view that were searched.
        size: bytes of the view.
        cursor: for the next page; None when all was searched.
        notes: sentences about what could not be searched as usual, and a pattern that asks for line ends.
    """

    matches: tuple[Match, ...]
    lines: int
    total_matches: int
    complete: bool
    scanned: int
    size: int
    cursor: str | None
    notes: tuple[str, ...] = ()
