"""Runs of chunks that are left of an artifact, and where they stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spillstore import info as infos

if TYPE_CHECKING:
    from spillstore.engine.base import RowPlace
    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.info import MissingRange


class Good(NamedTuple):
    """A chunk that is whole: where it is, and its row without what is large."""

    place: RowPlace
    row: ChunkRow
    stored_size: int


class Run(NamedTuple):
    """Chunks that follow each other without a gap."""

    chunks: list[Good]

    @property
    def first(self) -> ChunkRow:
        """The first of them."""
        return self.chunks[0].row

    @property
    def last(self) -> ChunkRow:
        """The last of them."""
        return self.chunks[-1].row


def starts(row: ChunkRow) -> tuple[int, int, int, int, int]:
    """Counters before a chunk: line ends, and those and bytes of each stream."""
    return row.line_start, row.stdout_start, row.stdout_line_start, row.stderr_start, row.stderr_line_start


def ends(row: ChunkRow) -> tuple[int, int, int, int, int]:
    """The same behind it."""
    return (
        row.line_start + row.stdout_lines + row.stderr_lines,
        row.stdout_start + row.stdout_size,
        row.stdout_line_start + row.stdout_lines,
        row.stderr_start + row.stderr_size,
        row.stderr_line_start + row.stderr_lines,
    )


def line_after(row: ChunkRow) -> int:
    """The number of the line that the byte behind a chunk is in."""
    return ends(row)[0] + 1


def range_of(first: ChunkRow, last: ChunkRow) -> MissingRange:
    """Bytes and lines from a chunk to another, both included."""
    start = first.stdout_start + first.stderr_start
    end = last.stdout_start + last.stdout_size + last.stderr_start + last.stderr_size
    return infos.MissingRange(
        start=start, end=end, first_line=first.line_start + 1, last_line=ends(last)[0] + 1
    )
