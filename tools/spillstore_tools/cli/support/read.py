"""Reads of any length in flat memory, made of the store's bounded reads."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, cast

import click
from click.core import ParameterSource

from spillstore_tools.cli.support.output import note
from spillstore_tools.describe import exact_size
from spillstore_tools.preview.text.encoded import character_end, encoding_of, may_be_wide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spillstore import Artifact
    from spillstore.info import Stream

_LINES = 5000
_BYTES = 16 * 1024 * 1024
_BLOCK = 64 * 1024


def holes(skip: bool) -> Literal["raise", "skip"]:  # noqa: FBT001  # a flag of the command line
    """The library's word for ``--skip-holes``."""
    return "skip" if skip else "raise"


path_option = click.option(
    "--path",
    metavar="JSONPATH",
    help="The text of one string in JSON, such as $.stdout; lines and bytes are its own.",
)


def json_stream(artifact: Artifact, stream: str, cursor: str | None = None, start_line: int = 1) -> Stream:
    """The stream that ``--stream`` names; without it, the one that is JSON."""
    from spillstore_tools.agent.artifacts import json_view, view_of_cursor  # noqa: PLC0415  # with it come the previews

    if click.get_current_context().get_parameter_source("stream") is not ParameterSource.DEFAULT:
        return cast("Stream", stream)
    if cursor is not None:
        return view_of_cursor(cursor)
    view = json_view(artifact, start_line)
    if view != "combined":
        note("stdout alone was queried, since with stderr it is no JSON")
    return view


def byte_blocks(
    artifact: Artifact,
    start: int = 0,
    end: int | None = None,
    *,
    stream: Stream = "combined",
    skip: bool = False,
) -> Iterator[bytes]:
    """Bytes ``[start, end)`` in blocks. A hole that is not skipped is an error before the first block.

    Raises:
        DroppedRangeError: the range touches a hole.
        SpillstoreError: as for ``Artifact.chunks``.
    """
    view = artifact.info.view(stream)
    last = view.size if end is None else end
    hole = None if skip else view.hole
    if hole is not None and max(start, hole.start) < min(last, hole.end):
        artifact.read_bytes(start, last, stream=stream)  # raises the error
    return artifact.chunks(start, end, stream=stream, holes=holes(skip))


def note_missing(artifact: Artifact, start: int, end: int, stream: Stream) -> None:
    """Say how many of the bytes ``[start, end)`` are missing, if any are."""
    hole = artifact.info.view(stream).hole
    lost = 0 if hole is None else min(end, hole.end) - max(start, hole.start)
    if lost > 0:
        note(f"{exact_size(lost)} are missing here: they were {artifact.info.loss}")


def note_missing_lines(artifact: Artifact, last: int, stream: Stream) -> None:
    """Say which of the ``last`` lines are missing, or a part of them, if any are."""
    view = artifact.info.view(stream)
    first = max(1, view.lines - last + 1)
    if view.hole is not None and first <= view.hole.last_line:
        first = max(first, view.hole.first_line)
        lines = f"lines {first} to {view.hole.last_line}" if first < view.hole.last_line else f"line {first}"
        note(f"{lines} are missing here, wholly or in part: they were {artifact.info.loss}")


def artifact_text(
    artifact: Artifact, texts: Iterable[str], start: int, end: int, stream: Stream
) -> Iterator[str]:
    """``Artifact.reading`` for the cleaned text of bytes ``[start, end)``."""
    blocks = artifact.reading((text.encode() for text in texts), start, end, stream=stream)
    return (block.decode() for block in blocks)


def whole_characters(
    artifact: Artifact, blocks: Iterable[bytes], start: int, end: int | None, stream: Stream
) -> Iterator[bytes]:
    """The blocks of bytes ``[start, end)``, in text of UTF-16 or UTF-32 from the first character that begins there to the last."""
    blocks = iter(blocks)
    first = next(blocks, b"")
    encoding = encoding_of(artifact, stream) if may_be_wide(first) else None
    left = character_end(artifact, start, stream, encoding) - start
    for block in itertools.chain([first], blocks):
        if left < len(block):
            yield block[left:]
        left = max(0, left - len(block))
    if end is not None and (rest := character_end(artifact, end, stream, encoding)) > end:
        yield artifact.unrecorded().read_bytes(end, rest, stream=stream, holes="skip")


def line_blocks(
    artifact: Artifact, first: int, last: int, *, stream: Stream = "combined", skip: bool = False
) -> Iterator[bytes]:
    """Lines ``first`` to ``last`` in blocks of whole lines.

    Raises:
        RangeTooLargeError: one line alone is larger than what may be read at once.
        SpillstoreError: as for ``Artifact.read_lines``.
    """
    from spillstore.exceptions import RangeTooLargeError  # noqa: PLC0415

    view = artifact.info.view(stream)
    last = min(last, view.lines)
    hole = None if skip else view.hole
    if hole is not None and max(first, hole.first_line) <= min(last, hole.last_line):
        artifact.read_lines(first, last, stream=stream)  # raises the error
    step = _LINES
    while first <= last:
        end = min(first + step - 1, last)
        try:
            data = artifact.read_lines(first, end, stream=stream, holes=holes(skip), max_bytes=_BYTES)
        except RangeTooLargeError:
            if first < end:
                step = max(1, step // 4)
                continue
            data = _one_line(artifact, first, stream, skip=skip)
        if data:
            yield data
        first = end + 1


def _one_line(artifact: Artifact, number: int, stream: Stream, *, skip: bool) -> bytes:
    from spillstore.exceptions import RangeTooLargeError  # noqa: PLC0415

    try:
        return artifact.read_lines(number, number, stream=stream, holes=holes(skip))
    except RangeTooLargeError as error:
        raise RangeTooLargeError(
            f"line {number} is too long to be read at once ({error}); on the command line, read it with --bytes"
        ) from None


def start_of_last_lines(artifact: Artifact, lines: int, *, stream: Stream = "combined") -> int:
    """The byte at which the last ``lines`` lines begin, or the end of what was dropped if that is further on."""
    from spillstore.exceptions import DroppedRangeError  # noqa: PLC0415

    info = artifact.info
    end_of_line, size = info.terminator, info.view(stream).size
    if lines < 1:
        return size
    position, missing = size, lines
    while position > 0:
        low = max(0, position - _BLOCK)
        try:
            block = artifact.read_bytes(low, position, stream=stream)
        except DroppedRangeError as error:
            low = error.after[0]
            if low >= position:
                return position
            block = artifact.read_bytes(low, position, stream=stream)
        if position == size and block.endswith(end_of_line):
            missing += 1  # it ends the last line, and does not begin another
        found = block.count(end_of_line)
        if found >= missing:
            return low + _after_nth_last(block, end_of_line, missing)
        missing -= found
        position = low
    return 0


def _after_nth_last(block: bytes, end_of_line: bytes, count: int) -> int:
    at = len(block)
    for _ in range(count):
        at = block.rindex(end_of_line, 0, at)
    return at + len(end_of_line)
