"""``spillstore info``: what is known of an artifact without reading it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from spillstore_tools.cli._location import Location, find, id_argument, location_options
from spillstore_tools.cli._output import count, exact_size, json_option, print_json, utc
from spillstore_tools.preview.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import ArtifactInfo, HoleInfo

_CHARS_PER_TOKEN = 4  # the usual rule of thumb


@click.command("info")
@id_argument
@location_options
@json_option
def command(artifact_id: str, location: Location, *, as_json: bool) -> None:
    """Print what is known of an artifact: sizes, lines, state, digest.

    \b
    Example:
      spillstore info @last
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    with location.open() as session:
        info = find(session, artifact_id).info
    if as_json:
        print_json({**dataclasses.asdict(info), "duration": info.duration, "estimated_tokens": _tokens(info)})
        return
    for name, value in _lines(info):
        click.echo(f"{name}: {one_line(value)}")


def _tokens(info: ArtifactInfo) -> int:
    return -(-info.chars // _CHARS_PER_TOKEN)


def _lines(info: ArtifactInfo) -> Iterator[tuple[str, str]]:
    yield "Artifact", info.id
    yield "Type", info.content_type or "unknown"
    yield "Size", exact_size(info.size)
    yield "Estimated tokens", f"~{_tokens(info):,}"
    yield "Created", utc(info.created)
    yield "Source", " ".join(part for part in (info.source, info.command) if part)
    yield "Session", info.session if info.project is None else f"{info.session} of project {info.project}"
    if info.tool_call_id is not None:
        yield "Tool call", info.tool_call_id
    yield "State", info.state if info.reason is None else f"{info.state}: {info.reason}"
    if info.exit_code is not None:
        yield "Exit code", str(info.exit_code)
    if info.duration is not None:
        yield "Duration", f"{info.duration:.3f} s"
    yield "Lines", f"{info.lines:,} ending in {info.newline.upper()}"
    yield "Stdout", f"{count(info.stdout.size, 'byte')}, {count(info.stdout.lines, 'line')}"
    yield "Stderr", f"{count(info.stderr.size, 'byte')}, {count(info.stderr.lines, 'line')}"
    yield "Stored", _stored(info)
    if info.received != info.size:
        yield "Received", exact_size(info.received)
    if info.hole is not None:
        yield "Hole", _hole(info.hole, info.kept)
    if info.digest is not None:
        yield "Digest", info.digest


def _stored(info: ArtifactInfo) -> str:
    ratio = f", {info.kept / info.stored_size:.1f} : 1" if info.stored_size else ""
    return f"{exact_size(info.stored_size)} in {count(info.chunks, 'chunk')}{ratio}"


def _hole(hole: HoleInfo, kept: int) -> str:
    lines = f"lines {hole.first_line}-{hole.last_line}"
    return f"bytes {hole.start}-{hole.end} ({lines}) were dropped; {exact_size(kept)} kept"
