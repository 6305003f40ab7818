"""A chunk before compression: its bytes, who wrote which of them when, and the counters before it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from spillstore.format.segment_map import Segment

Piece: TypeAlias = bytes | memoryview  # a part of what was written
SEGMENT_US = 10_000

# Bits of ``line_flags``: the view is at the start of a line where the chunk begins, and where it ends.
COMBINED_BIT, STDOUT_BIT, STDERR_BIT = 1, 2, 4
STREAM_BITS = (STDOUT_BIT, STDERR_BIT)
ALL_BITS = COMBINED_BIT | STDOUT_BIT | STDERR_BIT
END_SHIFT = 3


@dataclasses.dataclass(slots=True)
class Totals:
    """Cumulative counters of a sequence, up to some point in it. Lines count line ends."""

    stdout_size: int = 0
    stdout_lines: int = 0
    stderr_size: int = 0
    stderr_lines: int = 0
    chars: int = 0
    line_flags: int = ALL_BITS

    @property
    def size(self) -> int:
        """Bytes of both streams."""
        return self.stdout_size + self.stderr_size

    @property
    def lines(self) -> int:
        """Line ends of both streams; each belongs to exactly one."""
        return self.stdout_lines + self.stderr_lines


@dataclasses.dataclass(slots=True)
class RawChunk:
    """A chunk before compression: its bytes, its segments, and the counters before it.

    Attributes:
        lead: the last bytes before it, as many as its gram filter looks at; None where it gets no filter, because it is not
            whole or among the first, its lines do not end in LF, or what stands before it is not known.
    """

    seq: int
    raw: bytes
    segments: list[Segment]
    before: Totals
    stdout_size: int
    stdout_lines: int
    stderr_size: int
    stderr_lines: int
    chars: int
    end_flags: int
    lead: bytes | None = None

    def after(self) -> Totals:
        """The counters behind this chunk."""
        return Totals(
            stdout_size=self.before.stdout_size + self.stdout_size,
            stdout_lines=self.before.stdout_lines + self.stdout_lines,
            stderr_size=self.before.stderr_size + self.stderr_size,
            stderr_lines=self.before.stderr_lines + self.stderr_lines,
            chars=self.before.chars + self.chars,
            line_flags=self.end_flags,
        )


def split_stream(raw: bytes, segments: list[Segment], stream: int) -> bytes:
    """The bytes of one stream out of a chunk."""
    parts = []
    start = 0
    for segment in segments:
        if segment.stream == stream:
            parts.append(raw[start : start + segment.length])
        start += segment.length
    return b"".join(parts)
