"""The page of a log: what is known of an artifact, and a window over its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from spillstore_tools.describe import incomplete, seconds
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.layout import address, moment, page, where
from spillstore_tools.viewer.web.log_answers import wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillstore import ArtifactInfo
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters
    from spillstore_tools.viewer.web.reading import Reading

_FIRST: Final = 60  # rows that the page has itself
_STREAMS: Final = (("combined", "both", "0"), ("stdout", "stdout", "1"), ("stderr", "stderr", "2"))


def log_page(opened: Opened, given: Parameters, theme: str | None) -> Html:
    """The page, from a line on (`line`), or from the beginning."""
    place = wanted(given)
    named: dict[str, object] = {**where(place.session, place.project), "id": place.artifact_id}
    with opened.reading(place) as reading:
        log = reading.log
        log.refresh()
        first = log.row_of_line(given.number("line", 1, least=1)) if log.total else 0
        shown = reading.rows(first, _FIRST, pattern=None, raw=given.flag("raw"))
        info = log.info
        content = (
            _head(info, named, reading, given),
            _tools(given, reading),
            _body(reading, first, shown),
            _status(reading),
        )
    title = info.command or info.source or info.id
    session = where(place.session, place.project)
    crumbs = [
        tag("a", place.session, href=address("/artifacts", session)),
        tag("span", info.id, class_="mono"),
    ]
    return page(title, *content, theme=theme, place=session, here="artifacts", crumbs=crumbs, kind="log")


def _head(info: ArtifactInfo, named: Mapping[str, object], reading: Reading, given: Parameters) -> Html:
    session = {name: value for name, value in named.items() if name != "id"}
    facts = [
        info.source if info.command else None,
        tag("span", reading.amount(), id="amount"),
        None if info.duration is None else seconds(info.duration),
        moment(info.created),
        None if info.exit_code is None else tag("span", f"exit code {info.exit_code}", class_="bad" if info.exit_code else None),
        info.content_type,
        tag("a", "diff", href=address("/changes", given.with_()), id="changes", title="What differs from the run before (d)"),
        tag("a", "download", href=address("/download", given.with_()), download=True),
        tag("a", "audit", href=address("/audit", {**session, "artifact": info.id})),
        None if info.tool_call_id is None else tag("a", info.tool_call_id, href=address("/audit", {**session, "tool_call_id": info.tool_call_id}), title="the tool call that it answers"),
    ]  # fmt: skip
    words: list[object] = []
    for each in facts:
        if each is not None:
            words += [" · ", each] if words else [each]
    lost = incomplete(info)
    return tag(
        "div",
        tag("h1", info.command or info.source or info.id, title=info.command),
        tag("span", info.state, class_=f"state {info.state}", id="state"),
        tag("p", *words),
        tag("p", f"Not all of it is here: {lost}.", class_="lost") if lost else None,
        class_="head",
    )


def _tools(given: Parameters, reading: Reading) -> Html:
    streams = (
        tag(
            "a", words, href=address("/log", given.with_(stream=None if name == "combined" else name)), class_="button",
            aria_current="true" if name == reading.log.stream else None, title=f"{name} ({key})",
        )
        for name, words, key in _STREAMS
    )  # fmt: skip
    return tag(
        "div",
        tag("form", _input("pattern", "Search a regular expression", "regular expression  /"), tag("button", "Find", type="submit"), id="search", role="search"),
        tag("span", _button("previous", "↑", "Previous match (N)"), _button("forward", "↓", "Next match (n)"), class_="group"),
        tag("span", "", id="found", role="status"),
        tag("form", _input("go-to", "Go to a line, a share or a time", "line, 50%, 2m"), id="jump", class_="optional"),
        tag("span", _button("earlier", "↑ E", "Previous line that matters (E)"), _button("later", "↓ e", "Next line that matters (e)"), class_="group"),
        tag("span", *streams, class_="group", role="group", aria_label="Stream"),
        tag(
            "span",
            _button("seen", "Seen", "What the model saw, and what was read later (m)", pressed=True),
            _button("times", "Times", "Times and gaps (t)", pressed=False),
            _button("ansi", "Colours", "ANSI colours, or what is stored (a)", pressed=not given.flag("raw")),
            _button("wrap", "Wrap", "Wrap lines (w)", pressed=False),
            _button("follow", "Follow", "Follow what comes (f)", pressed=False),
            class_="group",
        ),
        tag(
            "span",
            _button("copy", "Copy call", "Copy the call that shows these lines (y)"),
            _button("save", "Save", "Save these lines as HTML (x)"),
            class_="group",
        ),
        class_="tools",
    )  # fmt: skip


def _input(name: str, label: str, hint: str) -> Html:
    return tag(
        "input",
        id=name,
        aria_label=label,
        placeholder=hint,
        autocomplete="off",
        spellcheck="false",
        autocapitalize="off",
        enterkeyhint="go",
    )


def _button(name: str, words: str, title: str, *, pressed: bool | None = None) -> Html:
    state = None if pressed is None else str(pressed).lower()
    # A name has the words that are seen in it, for who says them to a program.
    has_words = words.lower() in title.lower() or not any(map(str.isalnum, words))
    return tag(
        "button",
        words,
        type="button",
        id=name,
        data_do=name,
        title=title,
        aria_label=title if has_words else f"{words}: {title}",
        aria_pressed=state,
    )


def _body(reading: Reading, first: int, shown: Html) -> Html:
    log = reading.log
    scroller = tag(
        "div",
        tag("div", tag("div", shown, id="rows"), id="window"),
        tag("div", id="spacer"),
        id="scroller",
        data_total=log.total,
        data_size=log.info.view(log.stream).size,
        data_first=first,
        data_state=log.info.state,
        data_hex="1" if log.is_hex else None,
        tabindex="0",
        role="region",
        aria_label="Log",
    )
    label = "Map of the log: what the model saw, what was read later, what was found"
    return tag("div", scroller, tag("canvas", id="map", role="img", aria_label=label), class_="body")


def _status(reading: Reading) -> Html:
    chips = [("", reading.saw()), ("reads", reading.read_later()), ("hits", "found")]
    return tag(
        "footer",
        tag("span", "", id="position"),
        tag("span", "", id="lines"),
        tag("span", *(tag("span", words, class_=f"chip {kind}") for kind, words in chips), id="colours"),
        tag("span", "being written", class_="live") if reading.log.is_open else None,
        class_="status",
    )
