"""A row of a viewer, and which rows an artifact has: its lines, or 16 bytes each; and one for what was dropped."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore_tools.describe import count, human_size

if TYPE_CHECKING:
    from spillstore import Artifact, HoleInfo
    from spillstore.info import Stream

HEX_BYTES = 16  # of a row of binary content
Kind = Literal["line", "hex", "hole"]


class Place(NamedTuple):
    """Where a row stands in a view: bytes ``[start, end)``."""

    stream: Stream
    start: int
    end: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What stands in one row.

    Attributes:
        index: its place among all rows, from 0.
        kind: ``line``; ``hex``, 16 bytes of binary content; or ``hole``, which stands for all that was dropped.
        number: of a line, from 1; of ``hex``, its first byte; of ``hole``, the first line of which a part is gone.
        start: its first byte in the view.
        end: the byte behind it, a line's ending included.
        data: the bytes, without a line's ending; the first ones of a long line.
        cut: how many bytes of the line ``data`` lacks.
        ended: whether the line has its ending.
        stream: that of its first byte; None of a hole.
        time: seconds from the artifact's beginning to its first byte; None of a hole.
        gap: seconds from the byte before it to its last byte; None where there is none before.
        places: where it stands in each view that has bytes of it, for ``seen`` and ``reads``.
        note: of a hole: what is gone.
    """

    index: int
    kind: Kind
    number: int
    start: int
    end: int
    data: bytes = b""
    cut: int = 0
    ended: bool = True
    stream: Literal["stdout", "stderr"] | None = None
    time: float | None = None
    gap: float | None = None
    places: tuple[Place, ...] = ()
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """Rows without a hole between them.

    Attributes:
        index: of the first row.
        rows: how many.
        number: of the first row's line; of ``hex``, its first byte.
        start: the first byte.
        end: the byte behind the last.
    """

    index: int
    rows: int
    number: int
    start: int
    end: int


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """All rows of a view: those before the hole, the hole and those behind it, where there is one.

    Attributes:
        total: rows of all kinds.
        regions: one, or two around the hole.
        hole: the row of what was dropped.
    """

    total: int
    regions: tuple[Region, ...]
    hole: Row | None


def line_layout(artifact: Artifact, stream: Stream) -> Layout:
    """The rows of text. Cost: the artifact's row, and a look-up where it has a hole."""
    view = artifact.info.view(stream)
    if view.hole is None:
        return Layout(view.lines, (Region(0, view.lines, 1, 0, view.size),), None)
    hole = view.hole
    begin = artifact.locate(line=hole.first_line, stream=stream, holes="skip").byte
    before = hole.first_line if begin < hole.start else hole.first_line - 1
    first = hole.last_line if hole.torn else hole.last_line + 1
    after = max(0, view.lines - first + 1)
    return _around(hole, (before, after), first, view.size, artifact.info.loss)


def hex_layout(artifact: Artifact, stream: Stream) -> Layout:
    """The rows of binary content. Cost: the artifact's row."""
    view = artifact.info.view(stream)
    if view.hole is None:
        return Layout(_hex_rows(view.size), (Region(0, _hex_rows(view.size), 0, 0, view.size),), None)
    rows = _hex_rows(view.hole.start), _hex_rows(view.size - view.hole.end)
    layout = _around(view.hole, rows, view.hole.end, view.size, artifact.info.loss)
    before, after = layout.regions
    return dataclasses.replace(layout, regions=(dataclasses.replace(before, number=0), after))


def _hex_rows(size: int) -> int:
    return -(-size // HEX_BYTES)


def _around(hole: HoleInfo, rows: tuple[int, int], number: int, size: int, loss: str) -> Layout:
    before, after = rows
    regions = (Region(0, before, 1, 0, hole.start), Region(before + 1, after, number, hole.end, size))
    lines = count(hole.last_line - hole.first_line + 1, "line")
    note = (
        f"{lines}, {hole.first_line:,} to {hole.last_line:,}, were {loss}: "
        f"bytes {hole.start:,} to {hole.end:,}, {human_size(hole.end - hole.start)}"
    )
    row = Row(index=before, kind="hole", number=hole.first_line, start=hole.start, end=hole.end, note=note)
    return Layout(before + 1 + after, regions, row)
