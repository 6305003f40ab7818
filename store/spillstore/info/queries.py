"""Results of querying JSON."""

from __future__ import annotations

import dataclasses
from typing import Any


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
