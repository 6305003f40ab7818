"""What all pages have: head, navigation, help; and how they write times, sizes and links."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from spillstore_tools.viewer.web.html import Html, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

THEMES: Final = ("light", "dark")
_KEYS: Final = (
    ("?", "this help"), ("/", "search or filter"), ("s", "sessions"), ("h", "artifacts of the session"), ("u", "audit time line"),
    ("c", "charts"), ("T", "light or dark"), ("Esc", "close, or leave a field"), ("j k", "next, previous row of a table"), ("Enter", "open it"),
)  # fmt: skip
LOG_KEYS: Final = (
    ("j k ↓ ↑", "a line down, up"), ("Space b", "a page down, up"), ("g G", "first, last line"), (":", "go to a line, 50%, or a time: 12s, 2m"),
    ("/", "search a regular expression"), ("n N", "next, previous match"), ("e E", "next, previous place that matters"),
    ("v V", "next, previous edge of what the model saw"), ("r R", "next, previous place that was read later"),
    ("m", "mark what the model saw"), ("t", "times and gaps"), ("0 1 2", "both streams, stdout, stderr"),
    ("a", "ANSI colours"), ("w", "wrap lines"), ("f", "follow"), ("d", "what differs from the run before"), ("y", "copy the call that shows these lines"), ("x", "save the lines as HTML"),
)  # fmt: skip


def address(path: str, values: Mapping[str, object] | None = None) -> str:
    """A link within this server; None is left out."""
    found = {name: str(value) for name, value in (values or {}).items() if value is not None}
    return f"{path}?{urlencode(found)}" if found else path


def moment(seconds: float, *, fraction: bool = False) -> Html:
    """A time, in this machine's zone."""
    at = dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone()
    words = f"{at:%Y-%m-%d %H:%M:%S}" + (f".{at.microsecond // 1000:03}" if fraction else "")
    return tag("time", words, datetime=at.isoformat(), title=f"{at:%z}")


def where(session: str, project: str | None) -> dict[str, object]:
    """The parameters that name a session."""
    return {"session": session, "project": project}


def page(
    title: str,
    *content: object,
    theme: str | None,
    place: Mapping[str, object] | None = None,
    here: str = "",
    crumbs: Sequence[Html] = (),
    kind: str = "table",
    again: bool = False,
) -> Html:
    """A whole page.

    Args:
        title: of its tab.
        content: of its main part.
        theme: ``light`` or ``dark``; None for that of the system.
        place: what names the session; None outside of one.
        here: which of the navigation's pages it is.
        crumbs: where it is, from the outermost on.
        kind: ``log`` for the page of a log, which fills the window.
        again: whether a browser asks for it again after a second.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content=theme or "light dark"),
        tag("meta", http_equiv="refresh", content=1) if again else None,
        tag("title", f"{title} · Spillstore"),
        tag("link", rel="icon", href="/assets/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/assets/ui.css"),
        tag("link", rel="stylesheet", href="/assets/ansi.css"),
        tag("script", src="/assets/ui.js", type="module"),
    )
    body = tag(
        "body",
        tag("a", "Skip to content", href="#main", class_="skip"),
        tag(
            "header", _brand(), tag("nav", _links(place, here), aria_label="Pages"), _switches(), class_="top"
        ),
        tag(
            "nav",
            tag("ol", *(tag("li", each) for each in crumbs)),
            class_="crumbs",
            aria_label="Where you are",
        )
        if crumbs
        else None,
        tag("main", *content, id="main", class_=kind, tabindex="-1"),
        _help(kind),
        tag("div", id="told", role="status", aria_live="polite"),
    )
    return Html("<!doctype html>" + tag("html", head, body, lang="en", data_theme=theme))


def _brand() -> Html:
    return tag(
        "a", tag("span", "", class_="mark", aria_hidden="true"), "Spillstore", href="/", class_="brand"
    )


def _links(place: Mapping[str, object] | None, here: str) -> list[Html]:
    named: list[tuple[str, str, str, Mapping[str, object]]] = [("sessions", "Sessions", "/", {})]
    if place is not None:
        named += [("artifacts", "Artifacts", "/artifacts", place), ("audit", "Audit", "/audit", place)]
    named.append(("charts", "Charts", "/charts", place or {}))
    return [
        tag(
            "a",
            label,
            href=address(path, values),
            id=f"to-{name}",
            aria_current="page" if name == here else None,
        )
        for name, label, path, values in named
    ]


def _switches() -> Html:
    return tag(
        "div",
        tag(
            "button",
            "◐",
            type="button",
            id="theme",
            title="Light or dark (T)",
            aria_label="Switch between light and dark",
        ),
        tag("button", "?", type="button", id="help", title="Keys (?)", aria_label="Show the keys"),
        class_="switches",
    )


def _help(kind: str) -> Html:
    def listed(keys: Sequence[tuple[str, str]]) -> Html:
        rows = (
            [tag("dt", *(tag("kbd", key) for key in names.split(" "))), tag("dd", what)]
            for names, what in keys
        )
        return tag("dl", *rows)

    general = [each for each in _KEYS if kind != "log" or each[0] not in {"/", "j k", "Enter"}]
    return tag(
        "dialog",
        tag(
            "form", tag("h2", "Keys"), tag("button", "✕", aria_label="Close", class_="close"), method="dialog"
        ),
        listed(LOG_KEYS) if kind == "log" else None,
        listed(general),
        id="keys",
        aria_label="Keys",
    )


def table(header: Sequence[tuple[str, str]], rows: Sequence[Html], caption: str) -> Html:
    """A table; ``header`` has the name and the class of each column."""
    cells = (tag("th", name, scope="col", class_=kind or None) for name, kind in header)
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption, class_="hidden"),
            tag("thead", tag("tr", *cells)),
            tag("tbody", *rows),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def cells(values: Sequence[object], header: Sequence[tuple[str, str]], **attributes: object) -> Html:
    """A row of a table."""
    found = (
        tag("td", value, class_=kind or None, data_name=name or None)
        for value, (name, kind) in zip(values, header, strict=True)
    )
    return tag("tr", *found, **attributes)


def questions(
    path: str,
    place: Mapping[str, object],
    named: Sequence[tuple[str, Mapping[str, str]]],
    now: Mapping[str, str],
) -> Html:
    """Links to the filters of a page that are asked for most, each with its words; that of ``now`` is marked."""
    links = (
        tag(
            "a",
            words,
            href=address(path, {**place, **values}),
            aria_current="true" if values == now else None,
        )
        for words, values in named
    )
    return tag("nav", *links, class_="quick", aria_label="Questions")


def filters(path: str, hidden: Mapping[str, object], fields: Sequence[Html], *, active: bool) -> Html:
    """A form of filters; sending it is a link to the same page."""
    kept = (
        tag("input", type="hidden", name=name, value=value)
        for name, value in hidden.items()
        if value is not None
    )
    return tag(
        "form",
        *kept,
        *fields,
        tag("button", "Filter", type="submit", class_="primary"),
        tag("a", "Clear", href=address(path, hidden), class_="button") if active else None,
        action=path,
        method="get",
        class_="filters",
        role="search",
    )


def field(
    label: str, name: str, value: str | None, *, hint: str = "", size: int = 12, listed: Sequence[str] = ()
) -> Html:
    """A field of a form."""
    options = (
        tag("datalist", *(tag("option", value=each) for each in listed), id=f"{name}-list")
        if listed
        else None
    )
    given = tag(
        "input", name=name, value=value, placeholder=hint, size=size, autocomplete="off", spellcheck="false",
        list=f"{name}-list" if listed else None,
    )  # fmt: skip
    return tag("label", tag("span", label), given, options)


def chooser(label: str, name: str, value: str | None, options: Sequence[tuple[str, str]]) -> Html:
    """A field with a few values."""
    found = (tag("option", words, value=key, selected=key == (value or "")) for key, words in options)
    return tag("label", tag("span", label), tag("select", *found, name=name))


def checkbox(label: str, name: str, *, checked: bool) -> Html:
    """A field that is set or not."""
    return tag(
        "label",
        tag("input", type="checkbox", name=name, value="1", checked=checked),
        tag("span", label),
        class_="check",
    )
