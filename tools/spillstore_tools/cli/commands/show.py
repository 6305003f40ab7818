"""``spillstore show``: a range of an artifact."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

import click

from spillstore_tools.cli.support.artifacts import find
from spillstore_tools.cli.support.options import (
    id_argument,
    location_options,
    skip_holes_option,
    stream_option,
)
from spillstore_tools.cli.support.output import (
    at_terminal,
    json_option,
    note,
    print_json,
    write_bytes,
    write_text,
)
from spillstore_tools.cli.support.pager import paged, pager_option
from spillstore_tools.cli.support.ranges import parse_bytes, parse_lines
from spillstore_tools.cli.support.read import (
    artifact_text,
    byte_blocks,
    json_stream,
    line_blocks,
    note_missing,
    path_option,
    whole_characters,
)
from spillstore_tools.describe import count
from spillstore_tools.preview.text.encoded import encoding_of
from spillstore_tools.preview.text.stream import clean_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore import Artifact
    from spillstore.info import Stream
    from spillstore.jsonstring import JSONString
    from spillstore_tools.cli.support.location import Location


@click.command("show")
@id_argument
@click.option("--lines", metavar="A-B", help="Lines A to B, both included, from 1; A- to the end; A alone.")
@click.option("--bytes", "byte_range", metavar="A-B", help="Bytes A to B, B excluded, from 0; A- to the end.")
@path_option
@stream_option
@click.option("--raw", is_flag=True, help="The exact bytes, escape sequences and all.")
@skip_holes_option
@pager_option
@location_options
@json_option
def command(
    artifact_id: str,
    lines: str | None,
    byte_range: str | None,
    path: str | None,
    stream: str,
    location: Location,
    *,
    raw: bool,
    skip_holes: bool,
    no_pager: bool,
    as_json: bool,
) -> None:
    """Print a range of an artifact, or all of it, cleaned for reading; at a terminal, through a pager.

    Escape sequences and control characters are left out, and at a terminal invisible characters are named; --raw leaves them in. With --json, raw bytes are in base64.

    \b
    Example:
      spillstore show art_1699234567890_a1b2c3d4e5f60718 --lines 100-200
      spillstore show @last --bytes 0-65536 --stream stderr --raw
      spillstore show @last --path '$.stdout' --lines 100-200
    """  # noqa: D301  # click's mark for text that is not to be wrapped
    if lines is not None and byte_range is not None:
        raise click.UsageError("give --lines or --bytes, not both; for example --lines 1-100")
    view = cast("Stream", stream)
    first, last = parse_lines(lines) if lines is not None else (1, None)
    start, end = parse_bytes(byte_range) if byte_range is not None else (0, None)
    document = {"lines": lines, "bytes": byte_range}
    with location.reading("read") as session:
        artifact = find(session, artifact_id)
        if path is not None:
            string = artifact.string(path, stream=json_stream(artifact, stream))
            data = _of_string(string, (first, last), (start, end), by_lines=lines is not None)
            document = {"id": artifact.id, "path": path, **document}
            _print([data], clean_blocks([data]), document if as_json else None, raw=raw, no_pager=no_pager)
            return
        if lines is not None:
            blocks = _lines(artifact, first, last, view, skip=skip_holes)
            start, end = _bytes_of(artifact, first, last, view)
        else:
            blocks = _bytes(artifact, start, end, view, skip=skip_holes)
        end = artifact.info.view(view).size if end is None else end
        text = artifact_text(
            artifact,
            clean_blocks(
                whole_characters(artifact, blocks, start, end, view),
                artifact.info.terminator,
                lambda: encoding_of(artifact, view),
            ),
            start,
            end,
            view,
        )
        data_blocks = artifact.reading(blocks, start, end, stream=view)
        document = {"id": artifact.id, "stream": stream, **document}
        _print(data_blocks, text, document if as_json else None, raw=raw, no_pager=no_pager)
        note_missing(artifact, start, end, view)


def _print(
    blocks: Iterable[bytes],
    text: Iterable[str],
    document: dict[str, str | None] | None,
    *,
    raw: bool,
    no_pager: bool,
) -> None:
    """Print one of ``blocks`` (raw) and ``text``; in a JSON document if there is one."""
    if document is not None:
        shown = {"data": base64.b64encode(b"".join(blocks)).decode()} if raw else {"text": "".join(text)}
        print_json(document | shown)
        return
    seen = at_terminal()
    with paged(off=no_pager):
        if raw:
            write_bytes(blocks)
        else:
            write_text(text, seen=seen)


def _of_string(
    string: JSONString, lines: tuple[int, int | None], span: tuple[int, int | None], *, by_lines: bool
) -> bytes:
    """The lines or the bytes of a string in JSON."""
    size, total = string.info.size, string.info.lines
    first, last = lines
    start, end = span
    if by_lines and first > total:
        note(f"nothing is there: {string.path} has {count(total, 'line')}")
    elif start >= size > 0:
        note(f"nothing is there: {string.path} has {count(size, 'byte')}")
    if by_lines:
        return string.read_lines(first, total if last is None else last)
    return string.read_bytes(start, size if end is None else end)


def _lines(
    artifact: Artifact, first: int, last: int | None, stream: Stream, *, skip: bool
) -> Iterator[bytes]:
    total = artifact.info.view(stream).lines
    if first > total:
        note(f"nothing is there: {artifact.id} has {count(total, 'line')} ({stream})")
    return line_blocks(artifact, first, total if last is None else last, stream=stream, skip=skip)


def _bytes_of(artifact: Artifact, first: int, last: int | None, stream: Stream) -> tuple[int, int | None]:
    """Where lines begin and end; None for the end of all."""
    start = artifact.locate(line=first, stream=stream, holes="skip").byte
    if last is None:
        return start, None
    return start, artifact.locate(line=last + 1, stream=stream, holes="skip").byte


def _bytes(artifact: Artifact, start: int, end: int | None, stream: Stream, *, skip: bool) -> Iterator[bytes]:
    size = artifact.info.view(stream).size
    if start >= size > 0:
        note(f"nothing is there: {artifact.id} has {count(size, 'byte')} ({stream})")
    return byte_blocks(artifact, start, end, stream=stream, skip=skip)
