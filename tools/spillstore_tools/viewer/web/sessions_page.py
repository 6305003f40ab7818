"""The sessions of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore_tools.describe import count, human_size
from spillstore_tools.viewer.model.listing import sessions_by_use
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import address, cells, field, filters, moment, page, table, where

if TYPE_CHECKING:
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

_MOST: Final = 500
_HEADER: Final = (
    ("session", ""),
    ("project", "wide"),
    ("size", "number"),
    ("last used", "when"),
    ("state", ""),
)


def sessions_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page; the session that was used last comes first."""
    part, project = given.text("name"), given.text("project")
    infos = sessions_by_use(opened.store, project)
    found = [info for info in infos if part is None or part in info.id]
    rows = [
        cells(
            (
                tag("a", info.id, href=address("/artifacts", where(info.id, info.project))),
                info.project or "",
                human_size(info.disk_size),
                moment(info.used),
                tag("span", "in use", class_="state open") if info.live else "",
            ),
            _HEADER,
        )
        for info in found[:_MOST]
    ]
    more = f"; {_MOST} are shown, a filter shows others" if len(found) > _MOST else ""
    form = filters(
        "/",
        {},
        [
            field("Session", "name", part, hint="a part of its name", size=20),
            field("Project", "project", project),
        ],
        active=part is not None or project is not None,
    )
    total = f"{count(len(found), 'session')}, {human_size(sum(info.disk_size for info in found))}{more}"
    return page(
        "Sessions",
        tag(
            "div",
            tag("h1", "Sessions"),
            tag("p", tag("code", opened.store.name), class_="about"),
            class_="title",
        ),
        form,
        tag("p", total, class_="total"),
        table(_HEADER, rows, "Sessions") if rows else tag("p", "No session is here.", class_="none"),
        theme=theme,
        here="sessions",
    )
