"""Rows of ``session`` and ``artifact`` as values, with their digests, and the hole of a rolled artifact.

A column of one of these tables is declared here, with its type; the schema, its statements and the checks of rows follow from that.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from spillstore.exceptions import RangeError
from spillstore.format.chunk import COMBINED_BIT, STDERR_BIT, STDOUT_BIT
from spillstore.format.digests import Algorithm, digest_row
from spillstore.format.segment_map import STDERR, STDOUT

if TYPE_CHECKING:
    from spillstore.format.chunk_codec import ChunkRow

_HOLE_CHARACTERS = 4096
STREAMS: Final = ("stdout", "stderr")


class View(NamedTuple):
    """One way to look at an artifact: both streams in order, or one of them."""

    name: str
    stream: int | None
    bit: int

    def place(self, row: ChunkRow, chunk_size: int) -> tuple[int, int, int, int]:
        """Where a chunk stands in the view: bytes before it and in it, line ends before it and in it."""
        if self.stream is None:
            return row.seq * chunk_size, row.size, row.line_start, row.stdout_lines + row.stderr_lines
        if self.stream == STDOUT:
            return row.stdout_start, row.stdout_size, row.stdout_line_start, row.stdout_lines
        return row.stderr_start, row.stderr_size, row.stderr_line_start, row.stderr_lines


COMBINED = View("combined", None, COMBINED_BIT)
VIEWS = {
    "combined": COMBINED,
    "stdout": View("stdout", STDOUT, STDOUT_BIT),
    "stderr": View("stderr", STDERR, STDERR_BIT),
}


def view_of(stream: object) -> View:
    """The view of that name.

    Raises:
        RangeError: there is no such stream.
    """
    view = VIEWS.get(stream) if isinstance(stream, str) else None
    if view is None:
        raise RangeError(f"stream must be combined, stdout or stderr, not {stream!r}")
    return view


class SessionRow(NamedTuple):
    """The row of ``session``."""

    session_id: str
    project_id: str | None
    uid: str
    created_us: int
    ended_us: int | None
    deleted_us: int | None
    next_artifact_key: int
    digest_algorithm: Algorithm
    artifacts_sum: bytes | None
    digest: bytes

    def computed_digest(self) -> bytes:
        """The digest that the row should have."""
        covered = [
            value for name, value in self._asdict().items() if name not in {"next_artifact_key", "digest"}
        ]
        return digest_row(self.digest_algorithm, covered)

    def sealed(self) -> SessionRow:
        """The row with its digest."""
        return self._replace(digest=self.computed_digest())


class ArtifactRow(NamedTuple):
    """The row of ``artifact``, in the order of its columns."""

    artifact_key: int
    artifact_id: str
    tool_call_id: str | None
    source: str
    command: str | None
    content_type: str | None
    state: str
    reason: str | None
    owner: str
    newline: str
    chunk_size: int
    size_limit: int
    policy: str
    created_us: int
    ended_us: int | None
    exit_code: int | None
    chunks: int
    received: int
    size: int
    kept: int
    stored_size: int
    stdout_size: int
    stdout_lines: int
    stderr_size: int
    stderr_lines: int
    chars: int
    line_flags: int
    hole: str | None
    content_digest: bytes | None
    chunks_digest: bytes | None
    digest: bytes

    def sealed(self, algorithm: Algorithm) -> ArtifactRow:
        """The row with its digest."""
        return self._replace(digest=digest_row(algorithm, self[1:-1]))

    def view_size(self, view: View) -> int:
        """Bytes of a view, the hole included."""
        return (
            (self.stdout_size + self.stderr_size)
            if view.stream is None
            else (self.stdout_size, self.stderr_size)[view.stream]
        )

    def view_line_ends(self, view: View) -> int:
        """Line ends of a view."""
        ends = (self.stdout_lines, self.stderr_lines)
        return sum(ends) if view.stream is None else ends[view.stream]

    def view_lines(self, view: View) -> int:
        """Lines of a view: its line ends, and a last line that has none."""
        return self.view_line_ends(view) + (not self.line_flags & view.bit)

    def terminator(self) -> bytes:
        """The line terminator, LF or CR."""
        return b"\r" if self.newline == "cr" else b"\n"

    def stopped(self) -> bool:
        """Whether it is as large as it may be under the ``stop`` policy, so that more may have come that nobody has."""
        return self.policy == "stop" and self.size >= self.size_limit

    def parsed_hole(self) -> Hole | None:
        """The hole, if the roll policy has dropped anything."""
        return None if self.hole is None else Hole.from_json(self.hole)


class HoleSpan(NamedTuple):
    """The hole in the coordinates of one view: bytes, and line ends before its start and before its end."""

    start: int
    end: int
    line_ends_before: int
    line_ends_after: int


SALVAGED: Final = "salvaged"  # what the reason of a salvaged artifact begins with


def loss(reason: str | None, where: str = "at the artifact's limit") -> str:
    """What has happened to the bytes of an artifact's hole: they were dropped, or damaged.

    Args:
        reason: why the artifact was interrupted, or None.
        where: they were dropped, in words.

    >>> loss(None), loss("salvaged: 65536 bytes in 1 ranges are missing")
    ("dropped at the artifact's limit", 'damaged before it was salvaged')
    """
    damaged = (reason or "").startswith(SALVAGED)
    return "damaged before it was salvaged" if damaged else f"dropped {where}".rstrip()


class Hole(NamedTuple):
    """What the roll policy has dropped, or salvage has not found: whole chunks ``[first_seq, last_seq)`` between the head and the tail."""

    first_seq: int
    last_seq: int
    time_start: int
    time_end: int
    flags: int
    spans: dict[str, HoleSpan]

    def to_json(self) -> str:
        """As the artifact's row stores it."""
        return json.dumps(
            {
                "seq": [self.first_seq, self.last_seq],
                "time": [self.time_start, self.time_end],
                "flags": self.flags,
                **{
                    name: {
                        "bytes": [span.start, span.end],
                        "lines": [span.line_ends_before, span.line_ends_after],
                    }
                    for name, span in self.spans.items()
                },
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Hole:
        """From the artifact's row.

        Raises:
            ValueError, TypeError, KeyError, RecursionError: it is no hole; not of a row that was verified.
        """
        if len(text) > _HOLE_CHARACTERS:
            raise ValueError(text[:80])
        parsed = json.loads(text)
        (first_seq, last_seq), (time_start, time_end) = parsed["seq"], parsed["time"]
        return cls(
            first_seq,
            last_seq,
            time_start,
            time_end,
            parsed["flags"],
            {name: HoleSpan(*parsed[name]["bytes"], *parsed[name]["lines"]) for name in VIEWS},
        )

    def span(self, view: View) -> HoleSpan:
        """The hole as a view sees it; it may be empty there."""
        return self.spans[view.name]

    def lines(self, view: View) -> tuple[int, int]:
        """First and last line of which at least a part is gone; (n, n - 1) if the view lost nothing."""
        span = self.span(view)
        if span.start == span.end:
            return span.line_ends_before + 1, span.line_ends_before
        # The line that was open when the hole ended began inside it, unless its last dropped byte was a line end.
        return span.line_ends_before + 1, span.line_ends_after + (0 if self.flags & view.bit else 1)
