"""What happened in a session, on a time line: the filters and the events of `spillstore audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spillstore.events.catalogue import KINDS, READS, RENDERED, RETRIEVALS, SHOWN
from spillstore_tools.describe import count
from spillstore_tools.viewer.web.charts import over_time
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import (
    address,
    cells,
    checkbox,
    field,
    filters,
    moment,
    page,
    questions,
    table,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore.info import Event, Page
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters

_MOST: Final = 1000
_HEADER: Final = (
    ("at", "when"),
    ("kind", ""),
    ("actor", ""),
    ("call", "wide"),
    ("artifact", "id"),
    ("detail", "detail"),
)
_FILTERS: Final = ("kind", "actor", "tool_call_id", "artifact", "since", "until", "deleted")
_GONE: Final = frozenset({"evict", "delete", "delete_session", "end"})
_WRONG: Final = frozenset({"denied", "limit", "integrity", "interrupt", "lost"})
_LINES: Final = ("first", "last")


def audit_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page, the newest first."""
    session, project = given.needed("session"), given.text("project")
    place = where(session, project)
    found = _events(opened, given, session, project)
    events = [event for event in found.items if event.kind != RENDERED]
    rows = [_row(event, place) for event in events]
    older = address("/audit", given.with_(cursor=found.cursor)) if found.cursor else None
    pages = tag(
        "p",
        tag("a", "Newest", href=address("/audit", given.with_(cursor=None)), class_="button")
        if given.text("cursor")
        else None,
        tag("a", "Older", href=older, class_="button", rel="next") if older else None,
        class_="pages",
    )
    return page(
        f"Audit of {session}",
        tag("div", tag("h1", "Audit"), tag("p", session, class_="about"), class_="title"),
        _quick(place, given),
        _form(place, given),
        tag("p", count(len(events), "event") + (", and older ones" if older else ""), class_="total"),
        over_time([(event.at, sort_of(event.kind)) for event in events], "Events over time"),
        table(_HEADER, rows, "Events") if rows else tag("p", "No event is here.", class_="none"),
        pages,
        theme=theme,
        place=place,
        here="audit",
    )


def _events(opened: Opened, given: Parameters, session: str, project: str | None) -> Page[Event]:
    chosen: dict[str, Any] = {
        "kind": given.text("kind"),
        "actor": given.text("actor"),
        "tool_call_id": given.text("tool_call_id"),
        "artifact_id": given.text("artifact"),
        "since": given.moment("since"),
        "until": given.moment("until"),
        "limit": given.number("limit", 200, least=1, most=_MOST),
        "cursor": given.text("cursor"),
    }
    if given.flag("deleted"):
        return opened.store.deleted_events(session, project, **chosen)
    with opened.session(session, project) as found:
        return found.events(**chosen)


def sort_of(kind: str) -> str:
    """What sort of event it is, as a class."""
    for sort, kinds in (
        ("reads", RETRIEVALS),
        ("shown", SHOWN),
        ("gone", _GONE),
        ("wrong", _WRONG),
        ("redaction", {"redaction"}),
    ):
        if kind in kinds:
            return sort
    return "writes"


def _quick(place: Mapping[str, object], given: Parameters) -> Html:
    """Links to the filters that are asked for most."""
    named: tuple[tuple[str, dict[str, str]], ...] = (
        ("Everything", {}),
        ("Read by the model", {"actor": "model", "kind": "read"}),
        ("Shown", {"kind": "preview"}),
        ("Secrets removed", {"kind": "redaction"}),
        ("Limits met", {"kind": "limit"}),
        ("Ids refused", {"kind": "denied"}),
        ("Evicted", {"kind": "evict"}),
        ("Damage", {"kind": "integrity"}),
    )
    now = {name: value for name in _FILTERS if (value := given.text(name)) is not None}
    return questions("/audit", place, named, now)


def _form(place: Mapping[str, object], given: Parameters) -> Html:
    kinds = sorted(name for name, kind in KINDS.items() if kind.recorded)
    fields = [
        field("Kind", "kind", given.text("kind"), hint="read", size=9, listed=kinds),
        field(
            "Actor",
            "actor",
            given.text("actor"),
            hint="model",
            size=8,
            listed=("model", "cli", "library", "viewer"),
        ),
        field("Tool call", "tool_call_id", given.text("tool_call_id")),
        field("Artifact", "artifact", given.text("artifact"), hint="art_…", size=16),
        field("Since", "since", given.text("since"), hint="2h", size=8),
        field("Until", "until", given.text("until"), hint="2026-11-23 12:00", size=8),
        checkbox("of deleted sessions of this name", "deleted", checked=given.flag("deleted")),
    ]
    return filters("/audit", place, fields, active=any(given.text(name) for name in _FILTERS))


def _row(event: Event, place: Mapping[str, object]) -> Html:
    artifact = event.artifact_id
    link = None if artifact is None else tag("a", _short(artifact), href=_log(event, place), title=artifact)
    call = event.tool_call_id
    values = (
        moment(event.at, fraction=True),
        tag("span", event.kind, class_=f"kind {sort_of(event.kind)}"),
        event.actor or "",
        None if call is None else tag("a", call, href=address("/audit", {**place, "tool_call_id": call})),
        link,
        _detail(event.detail),
    )
    return cells(values, _HEADER, class_=sort_of(event.kind))


def _log(event: Event, place: Mapping[str, object]) -> str:
    """The place that an event is about."""
    first, last = (event.detail.get(name) for name in _LINES)
    stream = event.detail.get("stream")
    values = {**place, "id": event.artifact_id, "stream": stream if stream in {"stdout", "stderr"} else None}
    lines = (
        f"#L{first}-{last}"
        if event.kind in READS and isinstance(first, int) and isinstance(last, int)
        else ""
    )
    return address("/log", values) + lines


def _short(artifact_id: str) -> str:
    return f"…{artifact_id[-8:]}"


def _detail(detail: Mapping[str, Any]) -> Html:
    named = ((name, value) for name, value in detail.items() if value is not None and value != [])
    return tag("dl", *(tag("div", tag("dt", name), " ", tag("dd", _word(value))) for name, value in named))


def _span(value: object) -> str:
    """A range as events have it: the stream, and where it begins and ends."""
    if not isinstance(value, list):
        return str(value)
    return (
        " ".join(map(str, value[:-2]))
        + " "
        + "-".join(f"{each:,}" if isinstance(each, int) else str(each) for each in value[-2:])
    )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{name} {_word(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(_span(each) for each in value)
    return f"{value:,}" if isinstance(value, int) else str(value)
