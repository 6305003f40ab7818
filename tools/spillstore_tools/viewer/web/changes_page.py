"""What an artifact has that the run before had not, and what is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore_tools.describe import count
from spillstore_tools.viewer.model.styles import inert
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import address, moment, page, where
from spillstore_tools.viewer.web.log_answers import wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.compare.changed_lines import Change
    from spillstore_tools.viewer.model.previous import Changes
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

_MOST: Final = 500  # changes of a page
_SECONDS: Final = 2.0  # that a page waits for a comparison, before it says how far it is


def changes_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page."""
    place = wanted(given)
    session = where(place.session, place.project)
    first = given.number("from", 0)
    with opened.reading(place) as reading:
        info = reading.log.info
        changes = reading.changes()
        over = changes is None or changes.run(_SECONDS)
        content = _content(changes, given, first) if over else _progress(changes)
    back = address("/log", {**session, "id": info.id, "stream": given.text("stream")})
    crumbs = [
        tag("a", place.session, href=address("/artifacts", session)),
        tag("a", info.id, href=back, class_="mono", id="back"),
        tag("span", "changes"),
    ]
    title = tag(
        "div",
        tag("h1", "What differs from the run before"),
        tag("p", tag("code", info.command or info.source), class_="about"),
        class_="title",
    )
    return page(
        "Changes",
        title,
        *content,
        theme=theme,
        place=session,
        here="artifacts",
        crumbs=crumbs,
        again=not over,
    )


def _progress(changes: Changes | None) -> list[Html]:
    share = 0.0 if changes is None else changes.progress
    return [
        tag("p", f"Comparing: {share:.0%}. This page looks again by itself.", class_="total", role="status")
    ]


def _content(changes: Changes | None, given: Parameters, first: int) -> list[Html]:
    if changes is None:
        return [tag("p", "No artifact of the same command came before it in this session.", class_="none")]
    base = changes.base.info
    earlier = address("/log", given.with_(id=base.id, **{"from": None}))
    about = tag(
        "p",
        "Compared with ",
        tag("a", base.id, href=earlier, class_="mono"),
        ", ",
        moment(base.created),
        ".",
        class_="about",
    )
    rows = changes.rows(first, _MOST)
    parts: list[Html] = [about, tag("p", changes.summary, class_="total")]
    block: list[Html] = []
    for row in rows:
        if isinstance(row, str):
            parts += [_block(block), tag("h2", row)]
            block = []
        else:
            block.append(_row(row, given.with_(**{"from": None}), base.id))
    parts.append(_block(block))
    if first + _MOST < changes.total:
        left = count(changes.total - first - _MOST, "more row")
        parts.append(
            tag(
                "p",
                tag(
                    "a",
                    f"Next ({left})",
                    href=address("/changes", given.with_(**{"from": first + _MOST})),
                    class_="button",
                    rel="next",
                ),
                class_="pages",
            )
        )
    return parts


def _block(rows: list[Html]) -> Html:
    return tag("div", *rows, class_="changes") if rows else Html("")


def _row(change: Change, values: Mapping[str, object], base: str) -> Html:
    is_new = change.sort == "new"
    target = address("/log", values if is_new else {**values, "id": base}) + f"#L{change.line}"
    sign = tag("span", "+" if is_new else "-", class_="s", aria_label="new" if is_new else "gone")
    more = f"  and {count(change.more, 'more line')} like this" if change.more else ""
    cut = "" if change.complete else " …"
    body = tag(
        "span", inert(change.text), tag("span", cut + more, class_="cut") if cut or more else None, class_="x"
    )
    return tag(
        "div", tag("a", f"{change.line}", href=target, class_="n"), sign, body, class_=f"row {change.sort}"
    )
