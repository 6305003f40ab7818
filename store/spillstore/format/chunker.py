"""Cuts the sequence of both streams into chunks of a fixed number of raw bytes, and counts what is in them.

A pure, single-threaded object: bytes and times in, ``RawChunk`` out. Everything that depends on what came before
(cumulative counters, whether a line is open, the running digest of the whole) is settled here, so that compression
can run on any thread in any order afterwards.

Characters are counted as bytes that do not continue a UTF-8 sequence: exact for UTF-8, defined for anything else, and
free of state, where decoding with replacement crawls on binary input.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from spillstore.format import grams
from spillstore.format.chunk import COMBINED_BIT, SEGMENT_US, STREAM_BITS, RawChunk, Totals, split_stream
from spillstore.format.segment_map import STDERR, STDOUT, Segment
from spillstore.text_scan import chars, count

if TYPE_CHECKING:
    from spillstore.format.chunk import Piece
    from spillstore.format.digests import Hash


class Chunker:
    """Takes runs of bytes with ``add``, gives whole chunks with ``take`` and the unfinished one with ``partial``."""

    def __init__(
        self, chunk_size: int, terminator: bytes, content: Hash, *, seq: int = 0, before: Totals | None = None
    ) -> None:
        """Start at chunk ``seq`` with the counters ``before`` it; from the beginning by default."""
        self.chunk_size = chunk_size
        self.terminator = terminator
        self.content = content
        self.totals = before or Totals()
        self.pending = 0
        self.saw_cr = False
        self._seq = seq
        self._lead = None if seq or terminator != b"\n" else b""
        self._pieces: deque[Piece] = deque()
        self._segments: list[Segment] = []
        self._chunks: list[RawChunk] = []
        # Stream and time of the newest segment: a chunk border inside it does not start a new time.
        self._stream = -1
        self._now = 0

    def add(self, stream: int, pieces: list[Piece], now: int) -> None:
        """Append non-empty pieces of one stream; ``now`` is microseconds since the artifact began."""
        length = sum(map(len, pieces))
        segments = self._segments
        same = stream == self._stream and now - self._now < SEGMENT_US
        if not same:
            self._stream, self._now = stream, max(now, self._now)
        if same and segments:
            segments[-1] = Segment(stream, segments[-1].length + length, self._now)
        else:
            segments.append(Segment(stream, length, self._now))
        self._pieces.extend(pieces)
        self.pending += length
        if self.pending >= self.chunk_size:
            self._cut()

    def take(self) -> list[RawChunk]:
        """The whole chunks cut since the last call."""
        chunks, self._chunks = self._chunks, []
        return chunks

    def partial(self) -> RawChunk | None:
        """A snapshot of the chunk that is being filled; None if it is empty."""
        if not self.pending:
            return None
        raw = b"".join(self._pieces)
        self._pieces = deque([raw])
        return self._build(raw, list(self._segments))

    def finish(self) -> RawChunk | None:
        """The last chunk, which need not be full; call it once, when nothing more will be added."""
        last = self.partial()
        if last is not None:
            self.content.update(last.raw)
        return last

    def _cut(self) -> None:
        """Cut as many whole chunks as there are."""
        size = self.chunk_size
        segments = deque(self._segments)
        by_piece = len(self._pieces) <= self.pending // size
        if by_piece:
            self._digest(self.pending // size * size)
        while self.pending >= size:
            raw = self._take_bytes(size)
            if not by_piece:
                self.content.update(raw)
            chunk = self._build(raw, _take_segments(segments, size))
            if self._lead is not None:
                chunk.lead = self._lead if self._seq >= grams.FROM else None
                self._lead = (self._lead + raw[-grams.BEFORE :])[-grams.BEFORE :]
            self._chunks.append(chunk)
            self.totals = chunk.after()
            self._seq += 1
        self._segments = list(segments)

    def _digest(self, size: int) -> None:
        """Digest the next bytes in the pieces in which they came: each call lets go of the interpreter's lock, so few are better."""
        for piece in self._pieces:
            self.content.update(piece if len(piece) <= size else memoryview(piece)[:size])
            size -= len(piece)
            if size <= 0:
                return

    def _take_bytes(self, size: int) -> bytes:
        """The next ``size`` bytes in one copy, whatever pieces they came in."""
        taken: list[Piece] = []
        room = size
        while room:
            piece = self._pieces.popleft()
            if len(piece) > room:
                view = memoryview(piece)
                self._pieces.appendleft(view[room:])
                piece = view[:room]
            taken.append(piece)
            room -= len(piece)
        self.pending -= size
        return b"".join(taken)

    def _build(self, raw: bytes, segments: list[Segment]) -> RawChunk:
        before = self.totals
        flags = before.line_flags
        terminator = self.terminator
        lines = count(raw, terminator)
        if (
            not self.saw_cr and not before.lines
        ):  # a CR that is none of a CRLF; a LF may stand at the very end
            self.saw_cr = b"\r" in (raw.rstrip(b"\r\n") if lines else raw)
        ends = COMBINED_BIT if raw.endswith(terminator) else 0
        if len({segment.stream for segment in segments}) == 1:
            stream = segments[0].stream
            stderr_size, stderr_lines = (len(raw), lines) if stream == STDERR else (0, 0)
            ends |= STREAM_BITS[stream] if ends else 0
            ends |= flags & STREAM_BITS[1 - stream]
        else:
            parts = (split_stream(raw, segments, STDOUT), split_stream(raw, segments, STDERR))
            stderr_size, stderr_lines = len(parts[STDERR]), parts[STDERR].count(terminator)
            for stream, part in enumerate(parts):
                ends |= STREAM_BITS[stream] if part.endswith(terminator) else 0
        return RawChunk(
            seq=self._seq,
            raw=raw,
            segments=segments,
            before=before,
            stdout_size=len(raw) - stderr_size,
            stdout_lines=lines - stderr_lines,
            stderr_size=stderr_size,
            stderr_lines=stderr_lines,
            chars=chars(raw),
            end_flags=ends,
        )


def _take_segments(segments: deque[Segment], size: int) -> list[Segment]:
    """The next ``size`` bytes of segments; one that reaches further is divided."""
    taken: list[Segment] = []
    while size:
        segment = segments.popleft()
        if segment.length > size:
            segments.appendleft(Segment(segment.stream, segment.length - size, segment.time))
            segment = Segment(segment.stream, size, segment.time)
        taken.append(segment)
        size -= segment.length
    return taken
