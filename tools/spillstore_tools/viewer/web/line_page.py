"""A long line, a piece at a time: rows of a log have the first 4 KiB of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore_tools.describe import count
from spillstore_tools.viewer.model.styles import inert
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import address, page, where
from spillstore_tools.viewer.web.log_answers import wanted
from spillstore_tools.viewer.web.parameters import BadRequestError

if TYPE_CHECKING:
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

_PIECE: Final = 32_768  # bytes of a page


def line_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page; what is no whole character at its ends is shown as bytes."""
    place = wanted(given)
    session = where(place.session, place.project)
    number, start = given.number("line", 1, least=1), given.number("from", 0)
    with opened.reading(place) as reading:
        log = reading.log
        found = log.rows(log.row_of_line(number), 1)
        if not found or found[0].kind != "line":
            raise BadRequestError(f"there is no line {number:,} here: it was dropped, or this is no text")
        number, size = found[0].number, found[0].end - found[0].start
        start = min(start, max(0, size - 1) // _PIECE * _PIECE)
        data = log.piece(number, start, _PIECE)
    values = {**session, "id": place.artifact_id, "stream": given.text("stream")}
    crumbs = [
        tag("a", place.session, href=address("/artifacts", session)),
        tag("a", place.artifact_id, href=address("/log", values) + f"#L{number}", class_="mono"),
        tag("span", f"line {number:,}"),
    ]
    before = address("/line", given.with_(**{"from": max(0, start - _PIECE)})) if start else None
    after = address("/line", given.with_(**{"from": start + _PIECE})) if start + _PIECE < size else None
    pages = tag(
        "p",
        tag("a", "Before", href=before, class_="button", rel="prev") if before else None,
        tag("a", "Next", href=after, class_="button", rel="next") if after else None,
        class_="pages",
    )
    return page(
        f"Line {number}",
        tag(
            "div",
            tag("h1", f"Line {number:,}"),
            tag("p", f"bytes {start:,} to {start + len(data):,} of {count(size, 'byte')}", class_="about"),
            class_="title",
        ),
        tag("pre", inert(data.decode("utf-8", "surrogateescape")), class_="piece"),
        pages,
        theme=theme,
        place=session,
        here="artifacts",
        crumbs=crumbs,
    )
