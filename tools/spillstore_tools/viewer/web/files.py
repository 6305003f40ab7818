"""Files for a browser to keep: an artifact as it is stored, and lines as one HTML file that needs nothing else."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Final

from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse

from spillstore.audit.actor import acting
from spillstore_tools.describe import incomplete, utc
from spillstore_tools.viewer.model.footprint import ACTOR, Footprint
from spillstore_tools.viewer.web.ansi import stylesheet
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.log_answers import wanted
from spillstore_tools.viewer.web.log_words import amount_of
from spillstore_tools.viewer.web.reading import TOOL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import ArtifactInfo, Session
    from spillstore.info import Stream
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters
    from spillstore_tools.viewer.web.reading import Reading

MOST: Final = 2_000_000  # bytes of the rows of an HTML file; with what is around them it stays below 2 MiB
_ROWS: Final = 240  # that are read at once
_COLOUR: Final = re.compile(r'class="([^"]*\b[fb]\d+\b[^"]*)"')
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def download(opened: Opened, given: Parameters) -> Response:
    """All bytes of a view, as they are stored; what was dropped is left out."""
    place = wanted(given)
    session = opened.store.session(place.session, place.project, create=False, read_only=True)
    try:
        with acting(ACTOR, None):
            info = session.artifact(place.artifact_id).info
    except BaseException:
        session.close()
        raise
    name = info.id if place.stream == "combined" else f"{info.id}.{place.stream}"
    blocks = iterate_in_threadpool(_blocks(session, info.id, place.stream))
    return StreamingResponse(blocks, media_type="application/octet-stream", headers=_attached(f"{name}.log"))


def _blocks(session: Session, artifact_id: str, stream: Stream) -> Iterator[bytes]:
    with session:
        artifact, size = session.artifact(artifact_id), 0
        for block in artifact.unrecorded().chunks(stream=stream, holes="skip"):
            yield block
            size += len(block)
        Footprint(artifact, TOOL).record("export", {"stream": stream, "bytes": size})


def save(opened: Opened, given: Parameters) -> Response:
    """Lines as one HTML file, at most 2 MiB of it."""
    first = given.number("first", 1, least=1)
    last = given.number("last", max(first, given.number("first", 1) + 999), least=first)
    with opened.reading(wanted(given)) as reading:
        content = _page(reading, first, last, raw=given.flag("raw"))
        name = f"{reading.log.artifact.id}-{first}-{last}.html"
        reading.log.footprint.record(
            "export", {"stream": reading.log.stream, "first": first, "last": last, "bytes": len(content)}
        )
    return Response(content, media_type="text/html", headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}


def _page(reading: Reading, first: int, last: int, *, raw: bool) -> str:
    rows, shown = _rows(reading, first, last, raw=raw)
    info = reading.log.info
    title = f"{info.command or info.source or info.id} · {info.id}"
    policy = tag("meta", http_equiv="Content-Security-Policy", content=_POLICY)
    scale = tag("meta", name="viewport", content="width=device-width, initial-scale=1")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        policy,
        scale,
        tag("title", title),
        tag("style", Html(_style(rows))),
    )
    # Rows are as wide as their lines; the frame scrolls.
    body = tag(
        "body",
        tag(
            "main",
            *_about(info, reading, first, last, shown),
            tag("div", rows, class_="scroll"),
            class_="table seeing times",
        ),
    )
    return "<!doctype html>" + tag("html", head, body, lang="en")


def _about(info: ArtifactInfo, reading: Reading, first: int, last: int, shown: int) -> list[Html]:
    lost = incomplete(info)
    lines = reading.log.info.view(reading.log.stream)
    said = f"{reading.log.stream} of {info.id}: lines {first:,} to {min(last, lines.lines):,} of {amount_of(lines.lines, lines.size)}"
    more = f"Lines {shown + 1:,} to {last:,} are left out: the file would be larger than {MOST:,} bytes."
    return [
        tag("h1", info.command or info.source or info.id),
        tag("p", f"{said}, {info.state}, {utc(info.created)}; {reading.saw()}", class_="about"),
        tag("p", f"Not all of it was kept: {lost}.", class_="problem") if lost else Html(""),
        tag("p", more, class_="problem") if shown < min(last, lines.lines) else Html(""),
    ]


def _rows(reading: Reading, first: int, last: int, *, raw: bool) -> tuple[Html, int]:
    """Rows from a line to another, as far as they have room, and the line that the last of them is."""
    log = reading.log
    log.refresh()
    at, end = log.row_of_line(first), log.row_of_line(last)
    parts: list[str] = []
    size, shown = 0, first - 1
    while at <= end and log.total:
        found = reading.rows(at, min(_ROWS, end - at + 1), pattern=None, raw=raw)
        size += len(found.encode())
        if not found or size > MOST:
            break
        parts.append(found)
        at += _ROWS
        shown = log.last_line_of_row(min(at - 1, end))
    return Html("".join(parts)), shown


def _style(rows: str) -> str:
    """The rules of the pages, and those of the colours that are used."""
    used = {f".{each}{{" for names in _COLOUR.findall(rows) for each in names.split()}
    colours = [
        rule
        for rule in stylesheet().splitlines()
        if rule.startswith(tuple(used) or "\0") or rule[1] not in "fb0"
    ]
    return (resources.files(__package__) / "assets" / "ui.css").read_text() + "\n".join(colours)
