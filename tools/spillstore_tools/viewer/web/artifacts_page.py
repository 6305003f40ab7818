"""The artifacts of a session: the filters of `spillstore list`, and how often each was read."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, cast

from spillstore_tools.describe import count, human_size, seconds, shortened
from spillstore_tools.viewer.model.listing import ORDERS, Choice, chosen_artifacts, times_read
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import (
    address,
    cells,
    checkbox,
    chooser,
    field,
    filters,
    moment,
    page,
    questions,
    table,
    where,
)
from spillstore_tools.viewer.web.log_words import state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore import ArtifactInfo
    from spillstore.info import State
    from spillstore_tools.viewer.model.listing import Chosen, Order
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

_MOST: Final = 1000  # of a page
_STATES: Final = ("open", "sealed", "interrupted")
_HEADER: Final = (
    ("command", "command"), ("source", ""), ("state", ""), ("exit", "number"), ("lines", "number"), ("size", "number"), ("stored", "number wide"),
    ("took", "number wide"), ("read", "number"), ("created", "when"), ("id", "id wide"),
)  # fmt: skip
_FILTERS: Final = ("source", "state", "command", "type", "min_size", "since", "until", "failed", "unread")
_COMMAND: Final = 200  # characters


def artifacts_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page, the newest first."""
    session, project = given.needed("session"), given.text("project")
    place = where(session, project)
    limit = given.number("limit", 100, least=1, most=_MOST)
    order = cast("Order", given.choice("sort", list(ORDERS)) or "created")
    choice = Choice(
        source=given.text("source"),
        state=cast("State | None", given.choice("state", _STATES)),
        since=given.moment("since"),
        until=given.moment("until"),
        command=given.text("command"),
        content_type=given.text("type"),
        min_size=given.size("min_size"),
        failed=given.flag("failed"),
    )
    with opened.session(session, project) as found:
        reads = times_read(found)
        if given.flag("unread"):
            choice = dataclasses.replace(choice, without=reads)
        chosen = chosen_artifacts(found, choice, order=order, limit=limit, reverse=given.flag("reverse"))
    rows = [_row(info, place, reads[info.id]) for info in chosen.infos]
    return page(
        f"Artifacts of {session}",
        tag(
            "div",
            tag("h1", "Artifacts"),
            tag("p", session if project is None else f"{session} · {project}", class_="about"),
            class_="title",
        ),
        _quick(place, given),
        _form(place, given),
        _total(chosen, given, limit),
        table(_HEADER, rows, "Artifacts") if rows else tag("p", "No artifact is here.", class_="none"),
        theme=theme,
        place=place,
        here="artifacts",
    )


def _total(chosen: Chosen, given: Parameters, limit: int) -> Html:
    words = f"{count(chosen.artifacts, 'artifact')}, {human_size(chosen.size)}, in {human_size(chosen.stored_size)}"
    if chosen.artifacts <= len(chosen.infos):
        return tag("p", words, class_="total")
    link = (
        tag("a", "show more", href=address("/artifacts", given.with_(limit=min(_MOST, limit * 4))))
        if limit < _MOST
        else "a filter shows others"
    )
    return tag("p", words, f"; {len(chosen.infos):,} are shown, ", link, class_="total")


def _quick(place: Mapping[str, object], given: Parameters) -> Html:
    named: tuple[tuple[str, dict[str, str]], ...] = (
        ("Everything", {}), ("Failed", {"failed": "1"}), ("Never read", {"unread": "1"}), ("Being written", {"state": "open"}), ("Interrupted", {"state": "interrupted"}),
    )  # fmt: skip
    now = {name: value for name in _FILTERS if (value := given.text(name)) is not None}
    return questions("/artifacts", place, named, now)


def _form(place: Mapping[str, object], given: Parameters) -> Html:
    orders = [(name if name != "created" else "", name) for name in ORDERS]
    fields = [
        field("Command has", "command", given.text("command"), size=16),
        field("Tool", "source", given.text("source"), size=8),
        chooser("State", "state", given.text("state"), [("", "any"), *((each, each) for each in _STATES)]),
        field("Type", "type", given.text("type"), hint="text/plain", size=9),
        field("At least", "min_size", given.text("min_size"), hint="64K", size=5),
        field("Since", "since", given.text("since"), hint="2h", size=6),
        field("Until", "until", given.text("until"), hint="2026-11-23", size=8),
        chooser("Order", "sort", given.text("sort"), orders),
        checkbox("reversed", "reverse", checked=given.flag("reverse")),
        checkbox("failed", "failed", checked=given.flag("failed")),
        checkbox("never read", "unread", checked=given.flag("unread")),
    ]
    active = any(given.text(name) for name in (*_FILTERS, "sort", "reverse"))
    return filters("/artifacts", place, fields, active=active)


def _row(info: ArtifactInfo, place: Mapping[str, object], reads: int) -> Html:
    link = address("/log", {**place, "id": info.id})
    called = info.command or info.source or info.id
    failed = bool(info.exit_code)
    values = (
        tag("a", shortened(called, _COMMAND), href=link, title=called),
        info.source,
        state_of(info),
        None if info.exit_code is None else tag("span", info.exit_code, class_="bad" if failed else None),
        f"{info.lines:,}",
        human_size(info.size),
        human_size(info.stored_size),
        "" if info.duration is None else seconds(info.duration),
        f"{reads:,}" if reads else tag("span", "never", class_="about"),
        moment(info.created),
        tag("a", f"…{info.id[-8:]}", href=link, title=info.id, tabindex="-1"),
    )
    return cells(values, _HEADER)
