"""Results of searching, querying, verifying and exporting."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol


class Cleaner(Protocol):
    """Turns stored lines into the text that a reader sees, so that a search finds what is seen. Used on several threads.

    One that has the attribute ``keeps_plain``, which is true, says that UTF-8 without control characters but tab and LF is its own
    cleaned text. Then a search need not read the chunks that cannot hold what is looked for.
    """

    def is_clean(self, data: bytes | memoryview) -> bool:
        """Whether any lines between LFs in these bytes, the torn ones at both ends too, are their own cleaned text.

        What a ``memoryview`` shows is there during the call alone.
        """
        ...

    def text(self, lines: bytes, terminator: bytes) -> bytes:
        """Whole lines, cleaned, in UTF-8; as many of them, each ending in LF."""
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
    """

    line: int
    byte: int
    column: int
    text: str
    clipped: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


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


@dataclasses.dataclass(frozen=True, slots=True)
class QueryMatch:
    """A node that a query has found.

    Attributes:
        path: its normalized path (RFC 9535), such as ``$['users'][0]``.
        value: its value: dict, list, str, int, float, bool or None; a ``Decimal`` where no float holds a number.
        number: from 1, in the order of the query, over all pages.
        line: the line it is in, where each line is a document; else None.
        byte: where the document, or the line, begins.
        cursor: goes on behind it.
    """

    path: str
    value: Any
    number: int
    line: int | None
    byte: int
    cursor: str


def json_text(value: Any) -> str:
    """The value of a node as compact JSON; what UTF-8 cannot hold is escaped.

    Example:
        >>> json_text({"a": [1, 1.5, None]})
        '{"a":[1,1.5,null]}'
    """
    from spillstore.model.json_values import encode  # noqa: PLC0415  # few programs query

    return encode(value).decode()


@dataclasses.dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not JSON, where each line should be.

    Attributes:
        line: its number.
        reason: what is wrong with it.
    """

    line: int
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class QueryResult:
    """A page of a query.

    Attributes:
        matches: the nodes of this page.
        before: nodes of the pages before.
        total: of all pages; None while that is not known.
        complete: whether the end was reached, and all was JSON or a bad line.
        cursor: for the next page; None when there is none.
        lines: whether each line is a document of its own.
        bad_lines: the first 20 lines that are no JSON, of those that this page has passed.
        bad_line_count: how many it has passed.
        problem: why the page ends before the end of the content: damage, or a limit.
    """

    matches: tuple[QueryMatch, ...]
    before: int
    total: int | None
    complete: bool
    cursor: str | None
    lines: bool
    bad_lines: tuple[BadLine, ...] = ()
    bad_line_count: int = 0
    problem: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verification:
    """Counts of what ``Artifact.verify`` has read and found undamaged.

    Attributes:
        chunks: chunks whose digest, position and counters were checked.
        size: raw bytes decoded.
        content: whether the digest over the whole content was compared too (a rolled or unsealed artifact has none
            that could be).
    """

    chunks: int
    size: int
    content: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Export:
    """Sizes of what ``Artifact.export`` has written.

    Attributes:
        size: bytes in the file.
        dropped: bytes of the hole that the file lacks.
    """

    size: int
    dropped: int
