"""Whole-line interleaving of two streams: a pure function of what was written when.

A reader of combined output wants ``stdout`` and ``stderr`` in arrival order, but never one line cut by another. So a
line without its end is held back until the newline comes, until its stream has been silent for 50 ms, or until it has
grown to 64 KiB. What is let through because of silence enters at the very moment the silence was long enough, however
late anybody looked: so the outcome depends on writes and times alone, and a test can hold it against a plain model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from spillstore.format.chunk import Piece

    Run: TypeAlias = tuple[int, list[Piece], int]  # stream, bytes, microseconds

HOLD_BYTES = 64 * 1024


class Interleaver:
    """Puts the bytes of both streams into one sequence; times are microseconds.

    Each call returns the runs ``(stream, pieces, time)`` that it lets through, in order. A run comes in the pieces in which it was written: joining megabytes would cost a page fault every 4 KiB.
    """

    def __init__(self, hold_us: int) -> None:
        self.hold_us = hold_us
        self._held: list[list[Piece]] = [[], []]
        self._held_size = [0, 0]
        self._written_at = [0, 0]

    @property
    def holding(self) -> bool:
        """Whether a partial line is held back."""
        return bool(self._held[0] or self._held[1])

    def held(self) -> list[Piece]:
        """The partial lines that are held back."""
        return [*self._held[0], *self._held[1]]

    def write(self, stream: int, data: Piece, now: int) -> list[Run]:
        """Take bytes that arrived on ``stream`` at ``now``."""
        runs = self.advance(now) if self._held[0] or self._held[1] else []
        if data[-1:] == b"\n":
            runs.append(self._released(stream, now, data))
            return runs
        data = bytes(data)
        end = data.rfind(b"\n") + 1
        if end:
            # A view, not a slice: the chunker copies these bytes in any case.
            runs.append(self._released(stream, now, memoryview(data)[:end]))
            data = data[end:]
        if not data:
            return runs
        self._held[stream].append(data)
        self._held_size[stream] += len(data)
        self._written_at[stream] = now
        if self._held_size[stream] >= HOLD_BYTES:
            runs.append(self._released(stream, now))
        return runs

    def advance(self, now: int) -> list[Run]:
        """Let through what has been silent for long enough by ``now``, the longest silent first."""
        due = [
            (self._written_at[stream] + self.hold_us, stream)
            for stream in (0, 1)
            if self._held[stream] and self._written_at[stream] + self.hold_us <= now
        ]
        return [self._released(stream, moment) for moment, stream in sorted(due)]

    def flush(self, now: int) -> list[Run]:
        """Let everything through, in the order in which it was last written."""
        runs = self.advance(now)
        for stream in sorted((0, 1), key=lambda stream: self._written_at[stream]):
            if self._held[stream]:
                runs.append(self._released(stream, now))
        return runs

    def _released(self, stream: int, now: int, *more: Piece) -> Run:
        held = self._held[stream]
        self._held[stream] = []
        self._held_size[stream] = 0
        return stream, [*held, *more], now
