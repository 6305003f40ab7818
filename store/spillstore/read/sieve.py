"""Which parts of an artifact a search has to read, as the gram filters of its chunks tell; of the others nothing is decoded.

A line that is looked for touches a chunk that its filter does not rule out: a run of bytes that each match holds ends in one, and
a line that is shown in another form than it is stored has a byte in one that tells so. So all lines are read that touch such
a chunk. Those that reach into the chunk before it or behind it are read where they may hold such a run in this one; of most
chunks whose filter is wrong that is not so. A chunk in which no line ends is never ruled out, so the neighbours are enough.

Filters are read a few hundred at a time, ahead of the chunks. Where they rule out little, they are left alone for a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from spillstore.format import grams
from spillstore.format.chunk import COMBINED_BIT
from spillstore.read.ranges import RangeReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore.format.chunk_codec import ChunkRow
    from spillstore.model.records import ArtifactRow
    from spillstore.read.handle import ArtifactHandle

_FIRST, _MOST = 32, 512  # chunks whose filters are read at once
_USEFUL = 0.6  # the part of them that filters have to rule out
_UNREAD = 8  # times as many chunks are read without a look at their filters, after some whose filters were of no use
_EVERY = 1024  # chunks of which one is read whatever its filter says, so that a search can stop there


class Rules(Protocol):
    """What a search knows of what it looks for."""

    def tells(self, grams: bytes) -> bool:
        """Whether text of the kind that a gram filter says can be told by its bytes."""

    def may_end_in(self, grams: bytes) -> bool:
        """Whether a run of bytes that each match holds may end in a chunk with this filter."""

    def may_end_in_text(self, text: bytes) -> bool:
        """Whether such a run may end in a text, whatever stands before that."""


class Part(NamedTuple):
    """Chunks of a view that have to be read, one behind the other.

    Attributes:
        start: the first byte.
        end: the byte behind the last.
        before: whether a line reaches in from the chunk before, which need not be read.
        behind: whether a line reaches out into the chunk behind, likewise.
        is_told_before: whether that first line need be read only if a run may end in the part of it that is here.
        is_told_behind: likewise of the last one.
    """

    start: int
    end: int
    before: bool = False
    behind: bool = False
    is_told_before: bool = False
    is_told_behind: bool = False


class _Seen(NamedTuple):
    """What is known of a chunk.

    Attributes:
        seq: its number.
        wanted: whether its lines have to be read.
        is_told: whether its text tells whether a run ends in it.
        begins: whether a line begins where it does.
    """

    seq: int
    wanted: bool
    is_told: bool
    begins: bool


def sifted(
    handle: ArtifactHandle, record: ArtifactRow, start: int, end: int, rules: Rules, most: int
) -> Iterator[Part]:
    """The parts of ``[start, end)`` that have to be read, in order, each when the chunk behind it has been looked at.

    Args:
        handle: the artifact, which has ended.
        record: its row.
        start: where a line begins, or is treated as if it did.
        end: likewise where one ends; nothing between is in the hole.
        rules: of the search.
        most: chunks of a part. What follows then is another part, and no line reaches from one to the other as ``Part`` has it.
    """
    size = record.chunk_size
    first = before = None
    reaches_in = False
    for chunk in _seen(handle, start // size, (end - 1) // size + 1, rules):
        if first and before and (not chunk.wanted or chunk.seq - first.seq == most):
            low, reaches_out = max(start, first.seq * size), not chunk.wanted and not chunk.begins
            yield Part(low, chunk.seq * size, reaches_in, reaches_out, first.is_told, before.is_told)
            first = None
        if chunk.wanted and first is None:
            first, reaches_in = chunk, before is not None and not before.wanted and not chunk.begins
        before = chunk
    if first:
        yield Part(max(start, first.seq * size), end, reaches_in, is_told_before=first.is_told)


def _seen(handle: ArtifactHandle, first: int, end: int, rules: Rules) -> Iterator[_Seen]:
    count, before, begin = _FIRST, None, first
    first = max(begin, min(grams.FROM, end))
    yield from map(_unread, range(begin, first))
    while first < end:
        rows: list[ChunkRow] = handle.read(
            "combined", "skip", RangeReader.with_grams, first, min(first + count, end), before
        )
        ruled_out = 0
        for row in rows:
            begins = bool(row.line_flags & COMBINED_BIT)
            # A character that is cut off at either end is not seen in any filter.
            is_cut = row.seq == end - 1 or (row.seq == begin and not begins)
            is_told = not is_cut and row.seq % _EVERY != _EVERY - 1 and _is_told(row, rules)
            wanted = not is_told or row.grams is None or rules.may_end_in(row.grams)
            ruled_out += not wanted
            yield _Seen(row.seq, wanted, is_told, begins)
        first, before = rows[-1].seq + 1, rows[-1]
        if ruled_out < _USEFUL * len(rows):
            unread = min(first + _UNREAD * count, end)
            yield from map(_unread, range(first, unread))
            first, before = unread, None
        count = min(2 * count, _MOST)


def _unread(seq: int) -> _Seen:
    """A chunk of which nothing is known."""
    return _Seen(seq, wanted=True, is_told=False, begins=seq == 0)


def _is_told(row: ChunkRow, rules: Rules) -> bool:
    return row.grams is not None and row.stdout_lines + row.stderr_lines > 0 and rules.tells(row.grams)
