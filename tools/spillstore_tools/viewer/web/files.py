"""Files for a browser to keep: an artifact as it is stored, and lines as one HTML file that needs nothing else."""

from __future__ import annotations

import itertools
import re
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse

from spillstore.audit.actor import acting
from spillstore_tools.describe import incomplete, utc
from spillstore_tools.viewer.model.footprint import ACTOR, Footprint
from spillstore_tools.viewer.web.ansi import stylesheet
from spillstore_tools.viewer.web.html import Html, tag
from spillstore_tools.viewer.web.log_answers import meant, wanted
from spillstore_tools.viewer.web.log_words import amount_of
from spillstore_tools.viewer.web.reading import TOOL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import ArtifactInfo, Session
    from spillstore.info import Stream
    from spillstore_tools.viewer.model.log import Log
    from spillstore_tools.viewer.web.opened import Opened
    from spillstore_tools.viewer.web.parameters import Parameters
    from spillstore_tools.viewer.web.reading import Reading

MOST: Final = 2_000_000  # bytes of the rows of an HTML file; with what is around them it stays below 2 MiB
_ROWS: Final = 240  # that are read at once
_DEFAULT: Final = 1000  # lines of a file where nothing is said
_COLOUR: Final = re.compile(r'class="([^"]*\b[fb]\d+\b[^"]*)"')
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def download(opened: Opened, given: Parameters) -> Response:
    """All bytes of a view, as they are stored; what was dropped is left out.

    Raises:
        SpillstoreError: not even its first block can be read. Damage behind that breaks the answer off.
    """
    place = wanted(given)
    session = opened.store.session(place.session, place.project, create=False, read_only=True)
    try:
        with acting(ACTOR, None):
            info = session.artifact(place.artifact_id).info
    except BaseException:
        session.close()
        raise
    name = info.id if place.stream == "combined" else f"{info.id}.{place.stream}"
    headers = _attached(f"{name}.log")
    if info.state != "open":  # else there may be less by then, where it drops some
        view = info.view(place.stream)
        dropped = 0 if view.hole is None else view.hole.end - view.hole.start
        headers["content-length"] = str(view.size - dropped)
    blocks = _blocks(session, info.id, place.stream)
    first = next(blocks, b"")
    found = iterate_in_threadpool(itertools.chain([first], blocks))
    return StreamingResponse(found, media_type="application/octet-stream", headers=headers)


def _blocks(session: Session, artifact_id: str, stream: Stream) -> Iterator[bytes]:
    with session:
        artifact, size = session.artifact(artifact_id), 0
        for block in artifact.unrecorded().chunks(stream=stream, holes="skip"):
            yield block
            size += len(block)
        Footprint(artifact, TOOL).record("export", {"stream": stream, "bytes": size})


def save(opened: Opened, given: Parameters) -> Response:
    """Lines, or bytes of binary content in hex, as one HTML file, at most 2 MiB of it."""
    with opened.reading(wanted(given)) as reading:
        part = _part(given, reading.log)
        content = _page(reading, part, raw=given.flag("raw"))
        which = f"-{part.first}-{part.last}" if reading.log.total else ""
        name = f"{reading.log.artifact.id}{which}.html"
        names = ("start", "end") if reading.log.is_hex else ("first", "last")
        span = {names[0]: part.first, names[1]: part.last} if reading.log.total else {}
        detail: dict[str, object] = {"stream": reading.log.stream, **span, "bytes": len(content)}
        reading.log.footprint.record("export", detail)
    return Response(content, media_type="text/html", headers=_attached(name))


class _Part(NamedTuple):
    """What is saved: rows, by index, and the lines, or bytes, that they are."""

    unit: str
    first: int
    last: int
    row: int
    last_row: int


def _part(given: Parameters, log: Log) -> _Part:
    first = given.number("first", 1, least=1)
    last = given.number("last", first + _DEFAULT - 1, least=first)
    log.refresh()
    if not log.is_hex:
        row, last_row = log.row_of_line(first), log.row_of_line(last)
        return _Part("lines", log.line_of_row(row), log.last_line_of_row(last_row), row, last_row)
    row, last_row = meant(given, log)
    found = [*log.rows(row, 1), *log.rows(last_row, 1)]
    start, end = (found[0].start, found[-1].end) if found else (0, 0)
    return _Part("bytes", start, end, row, last_row)


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}


def _page(reading: Reading, part: _Part, *, raw: bool) -> str:
    rows, behind = _rows(reading, part, raw=raw)
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
            *_about(info, reading, part, behind),
            tag("div", rows, class_="scroll"),
            class_="table seeing times",
        ),
    )
    return "<!doctype html>" + tag("html", head, body, lang="en")


def _about(info: ArtifactInfo, reading: Reading, part: _Part, behind: int) -> list[Html]:
    """What the file is; ``behind`` is the row that would come next in it."""
    lost = incomplete(info)
    log = reading.log
    view = log.info.view(log.stream)
    shown = f"{part.unit} {part.first:,} to {part.last:,} of " if log.total else ""
    said = f"{log.stream} of {info.id}: {shown}{amount_of(view.lines, view.size)}"
    more = ""
    if behind <= part.last_row and (rest := log.rows(behind, 1)):
        more = f"{part.unit.capitalize()} {rest[0].number:,} to {part.last:,} are left out: the file would be larger than {MOST:,} bytes."
    return [
        tag("h1", info.command or info.source or info.id),
        tag("p", f"{said}, {info.state}, {utc(info.created)}; {reading.saw()}", class_="about"),
        tag("p", f"Not all of it was kept: {lost}.", class_="problem") if lost else Html(""),
        tag("p", more, class_="problem") if more else Html(""),
    ]


def _rows(reading: Reading, part: _Part, *, raw: bool) -> tuple[Html, int]:
    """Rows, as far as they have room, and the index of the one behind them."""
    at, end = part.row, part.last_row
    parts: list[str] = []
    size = 0
    while at <= end and reading.log.total:
        found = reading.rows(at, min(_ROWS, end - at + 1), pattern=None, raw=raw)
        size += len(found.encode())
        if not found or size > MOST:
            break
        parts.append(found)
        at += _ROWS
    return Html("".join(parts)), at


def _style(rows: str) -> str:
    """The rules of the pages, and those of the colours that are used."""
    used = {f".{each}{{" for names in _COLOUR.findall(rows) for each in names.split()}
    colours = [
        rule
        for rule in stylesheet().splitlines()
        if rule.startswith(tuple(used) or "\0") or rule[1] not in "fb0"
    ]
    return (resources.files(__package__) / "assets" / "ui.css").read_text() + "\n".join(colours)
