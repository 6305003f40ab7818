"""What a session, or all of the store, comes to: charts for each tool."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from spillstore.exceptions import SessionNotFoundError, SpillstoreError
from spillstore_tools.describe import count, human_size
from spillstore_tools.telemetry.statistics import DELETED, Statistics
from spillstore_tools.viewer.web.charts import Bar, chart
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import address, page, where

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters


def charts_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page. Cost: reading all events and the rows of all artifacts."""
    session, project = given.text("session"), given.text("project")
    statistics, left_out = Statistics(), list[str]()
    place: Mapping[str, object] | None = None
    if session is None:
        left_out = _add_all(opened, statistics)
    else:
        place = where(session, project)
        with opened.session(session, project) as found:
            statistics.add(found)
    title = "All sessions" if session is None else session
    notes = (tag("p", each, class_="problem") for each in left_out)
    return page(
        f"Charts of {title}",
        tag("div", tag("h1", "Charts"), tag("p", title, class_="about"), class_="title"),
        *notes,
        _totals(statistics),
        tag("div", *_of_tools(statistics, place), *_of_session(statistics, place), class_="charts"),
        theme=theme,
        place=place,
        here="charts",
    )


def _add_all(opened: Opened, statistics: Statistics) -> list[str]:
    """Add all sessions; returns what is said of those that cannot be read."""
    said: list[str] = []
    for info in opened.store.sessions():
        with contextlib.suppress(SessionNotFoundError):  # deleted meanwhile
            try:
                with opened.session(info.id, info.project) as session:
                    statistics.add(session)
            except SessionNotFoundError:
                raise
            except SpillstoreError as error:
                said.append(f"Session {info.id!r} is left out: {error}")
    return said


def _totals(statistics: Statistics) -> Html:
    totals = statistics.totals()
    facts = (
        (
            "kept",
            count(totals.kept, "output"),
            f"{human_size(totals.size)}, in {human_size(totals.stored_size)}",
        ),
        ("shown", count(totals.shown, "character"), f"of {human_size(totals.received)} that came"),
        ("read back", count(totals.reads, "time"), human_size(totals.read_size)),
        ("errors", count(totals.rescued, "line"), "that both ends would have lost"),
        ("refused", count(statistics.denied, "id"), f"{count(statistics.damaged, 'read')} met damage"),
        ("gone", count(statistics.evicted, "artifact"), "had to make room"),
    )
    return tag(
        "dl",
        *(
            tag("div", tag("dt", name), tag("dd", tag("b", value), tag("span", rest)))
            for name, value, rest in facts
        ),
        class_="facts",
    )


def _of_tools(statistics: Statistics, place: Mapping[str, object] | None) -> list[Html]:
    tools = statistics.tools.items()

    def link(name: str, **more: object) -> str | None:
        return (
            None
            if place is None or name == DELETED
            else address("/artifacts", {**place, "source": name, **more})
        )

    spills = [Bar(name, [(tool.artifacts, "a")], f"{tool.artifacts:,}", link(name)) for name, tool in tools]
    sizes = [
        Bar(
            name,
            [(tool.stored_size, "a"), (max(0, tool.size - tool.stored_size), "b")],
            f"{human_size(tool.size)}, in {human_size(tool.stored_size)}",
            link(name, sort="size"),
        )
        for name, tool in tools
    ]
    reads = [Bar(name, [(tool.reads, "a")], f"{tool.reads:,}", link(name)) for name, tool in tools]
    unread = [
        Bar(
            name,
            [(tool.never_read, "d"), (tool.artifacts - tool.never_read, "b")],
            f"{tool.never_read:,} of {tool.artifacts:,}",
            link(name, unread=1),
        )
        for name, tool in tools
        if tool.artifacts
    ]
    redacted = [Bar(name, [(tool.redacted, "c")], f"{tool.redacted:,}") for name, tool in tools]
    cuts = [
        Bar(
            name,
            [(tool.truncated, "d"), (tool.calls - tool.truncated, "b")],
            f"{tool.truncated:,} of {tool.calls:,} calls",
        )
        for name, tool in tools
        if tool.calls
    ]
    shown = [
        Bar(
            name,
            [(min(tool.shown, tool.received), "a"), (max(0, tool.received - tool.shown), "b")],
            f"{human_size(tool.shown)} of {human_size(tool.received)}",
        )
        for name, tool in tools
        if tool.received
    ]
    return [
        chart("Spills", spills, name="spills"),
        chart("Sizes", sizes, legend=(("stored", "a"), ("saved by compression", "b")), name="sizes"),
        chart("Reads", reads, nothing="nobody has read anything", name="reads"),
        chart("Never read", unread, legend=(("never read", "d"), ("read", "b")), name="unread"),
        chart(
            "Cuts",
            cuts,
            legend=(("cut", "d"), ("shown whole", "b")),
            nothing="no output was shown",
            name="cuts",
        ),
        chart(
            "Shown",
            shown,
            legend=(("shown", "a"), ("left out", "b")),
            nothing="no output was shown",
            name="shown",
        ),
        chart("Redactions", redacted, nothing="no secret was removed", name="redactions"),
    ]


def _of_session(statistics: Statistics, place: Mapping[str, object] | None) -> list[Html]:
    def counted(counts: Mapping[str, int], **filters: object) -> list[Bar]:
        link = None if place is None else address("/audit", {**place, **filters})
        return [Bar(name, [(number, "c")], f"{number:,}", link) for name, number in counts.items()]

    def read_by(counts: Mapping[str, int]) -> list[Bar]:
        return [
            Bar(
                name,
                [(number, "a")],
                f"{number:,}",
                None if place is None else address("/audit", {**place, "actor": name}),
            )
            for name, number in counts.items()
        ]

    return [
        chart(
            "Secrets removed",
            counted(statistics.redactions, kind="redaction"),
            nothing="none",
            name="secrets",
        ),
        chart("Limits met", counted(statistics.limits, kind="limit"), nothing="none", name="limits"),
        chart("Read by", read_by(statistics.readers), nothing="nobody has read anything", name="readers"),
    ]
