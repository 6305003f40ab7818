"""Two streams become one sequence: filters, redaction, whole lines interleaved, limits, and a tap that sees the result.

A sequencer needs no session. It keeps the sequence in memory until ``connect`` says where it goes, so output that turns out
to be small never touches a disk; and when storing has failed, the sequence can go on to the tap alone (``disconnect``).

Two locks keep the order. Filters run under ``filtering``, which may take long; the rest runs under ``ordering``, which is taken
before ``filtering`` is let go, so two threads can work on one artifact and neither overtakes the other.
"""

from __future__ import annotations

import itertools
import operator
import threading
import time
from typing import TYPE_CHECKING

from spillstore.format.chunk import SEGMENT_US
from spillstore.ingest.interleaver import Interleaver
from spillstore.model.records import STREAMS
from spillstore.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spillstore.format.chunk import Piece
    from spillstore.ingest.interleaver import Run
    from spillstore.ingest.stream_filters import StreamFilter, Tap
    from spillstore.model.clock import Clock
    from spillstore.redaction import Redactor

    Sink = Callable[[int, list[Piece], int], None]
    Passed = tuple[int, Piece, int]  # an item behind the filters

# Bytes of several writes that a redactor is given at once, at most; a larger write is given whole. One worker searches one part of them, one another.
SLICE = 512 * KIB
_PIECE = (
    16 * KIB
)  # bytes that pieces of what a redactor gives have at least, on average; smaller ones are joined
HOLD_US = 50_000  # the default of the setting ``hold_back``
Item = tuple[int, bytes, int]  # stream, bytes, microseconds since the output began


class Sequencer:
    """Takes writes of both streams and gives runs of the sequence.

    Args:
        filters: what may change each stream; None for nothing.
        redactors: what takes the secrets out of each stream; None for nothing.
        hold_us: microseconds of silence for which a line without its end is held back.
        stream_limit: bytes that are kept of each stream; what comes behind them is shown to the tap alone.
        clock: where to read the time; None for the machine's.
        ago: seconds since the output began, where that was before now.

    Attributes:
        filtering: protects the filters and ``taken``.
        ordering: protects everything behind the filters.
        taken: bytes that went into the filters.
        passed: bytes of each stream that came out of them.
        behind: bytes of each stream that came behind its limit.
        watched: whether ``watch`` was called.
    """

    def __init__(
        self,
        *,
        filters: tuple[StreamFilter, StreamFilter] | None = None,
        redactors: tuple[Redactor, Redactor] | None = None,
        hold_us: int = HOLD_US,
        stream_limit: int | None = None,
        clock: Clock | None = None,
        ago: float = 0.0,
    ) -> None:
        self._monotonic = time.monotonic if clock is None else clock.monotonic
        self._started = self._monotonic() - ago
        self.filtering = threading.Lock()
        self.filtered = filters is not None or redactors is not None
        self.taken = 0
        self._filters = filters
        self._redactors = redactors
        self._finished = False

        self.ordering = threading.Lock()
        self.passed = [0, 0]
        self.behind = [0, 0]
        self._interleaver = Interleaver(hold_us)
        self._runs: list[Item] = []
        self._sink: Sink | None = None  # before there is one, runs are kept
        self._bounded = False  # whether there is a tap or a limit
        self._tap: Tap | None = None
        self._limit: int | None = None
        self._stream_limit = stream_limit
        self._size = 0  # bytes of the sequence that were kept, where it is bounded
        self._stream_sizes = [0, 0]
        self.watched = False

    @property
    def age(self) -> float:
        """Seconds since the output began."""
        return self._monotonic() - self._started

    def now(self, at: float | None = None) -> int:
        """Microseconds since the output began: now, or at a reading of the clock, which is neither before that nor to come."""
        now = self._monotonic()
        if at is not None and at < now:
            now = max(at, self._started)
        return int((now - self._started) * 1e6)

    @property
    def redactions(self) -> dict[str, int]:
        """How many secrets were taken out so far, by kind."""
        found: dict[str, int] = {}
        for redactor in self._redactors or ():
            for kind, count in redactor.counts.items():
                found[kind] = found.get(kind, 0) + count
        return found

    # --- by the caller of a write, while nothing is stored ------------------------------------------------

    def write(self, stream: int, data: bytes, at: float | None = None) -> None:
        """Take bytes of one stream at once; ``at`` says when they came, if that was before."""
        with self.filtering:
            now = self.now(at)
            passed = [(stream, piece, now) for piece in self._filter(stream, data)]
            with self.ordering:
                self._enter(passed)

    def flush(self, *, finish: bool = False) -> None:
        """Let through lines without an end; ``finish`` if the output has ended, so that filters give what they hold."""
        with self.filtering:
            now = self.now()
            items = list(self.finish_filters(now)) if finish else []
            with self.ordering:
                self.enter(items, now, flush=True)

    @property
    def runs(self) -> list[Item]:
        """The sequence so far, as long as it is kept in memory."""
        return self._runs

    def beginning(self) -> bytes:
        """The filtered bytes so far, unfinished lines included, while they are all in memory."""
        with self.ordering:
            return b"".join([*(data for _, data, _ in self._runs), *self._interleaver.held()])

    # --- filters; the caller holds ``filtering`` ----------------------------------------------------------

    def filter(self, items: Iterable[Item]) -> Iterator[Passed]:
        """Run writes through filters and redactors; returns the bytes that they release."""
        for stream, data, now in _joined(items) if self._redactors else items:
            for piece in self._filter(stream, data):
                yield stream, piece, now

    def _filter(self, stream: int, data: bytes) -> list[Piece]:
        self.taken += len(data)
        if self._filters:
            data = self._filters[stream].feed(data)
        if not data or not self._redactors:
            return [data] if data else []
        pieces = [piece for piece in self._redactors[stream].pieces(data) if piece]
        return pieces if len(pieces) * _PIECE <= len(data) else [b"".join(pieces)] if pieces else []

    def finish_filters(self, now: int) -> Iterator[Item]:
        """Flush filters and redactors at the end of the output; a second call returns nothing."""
        if self._finished:
            return
        self._finished = True
        for stream in range(len(STREAMS)) if self.filtered else ():
            rest = self._filters[stream].finish() if self._filters else b""
            if self._redactors:
                rest = self._redactors[stream].finish(rest)
            if rest:
                yield stream, rest, now

    # --- the sequence; the caller holds ``ordering`` ------------------------------------------------------

    def enter(self, items: Iterable[Passed], now: int, *, flush: bool = False) -> None:
        """Interleave what the filters have let through; ``flush`` lets through lines without an end, too."""
        self._enter(items)
        if flush:
            self._pass(self._interleaver.flush(now))
        else:
            self._pass(self._interleaver.advance(now))

    def _enter(self, items: Iterable[Passed]) -> None:
        for stream, data, at in items:
            self.passed[stream] += len(data)
            self._pass(self._interleaver.write(stream, data, at))

    def _pass(self, runs: Iterable[Run]) -> None:
        for stream, pieces, now in runs:
            self._emit(stream, pieces, now)

    @property
    def holding(self) -> bool:
        """Whether a partial line waits for its end or for silence."""
        return self._interleaver.holding

    def _emit(self, stream: int, pieces: list[Piece], now: int) -> None:
        if self._bounded:
            pieces = self._within_limits(stream, b"".join(pieces))
            if not pieces:
                return
        if self._sink is None:
            self._runs.append((stream, b"".join(pieces), now))
        else:
            self._sink(stream, pieces, now)

    def _within_limits(self, stream: int, data: bytes) -> list[Piece]:
        """Pass a run to the tap; returns the part of it that is within the stream's limit."""
        behind = b""
        if self._stream_limit is not None:
            room = self._stream_limit - self._stream_sizes[stream]
            data, behind = data[:room], data[room:]
            self._stream_sizes[stream] += len(data)
            self.behind[stream] += len(behind)
        if self._limit is not None:
            data = data[: self._limit - self._size]
        self._size += len(data)
        if self._tap is not None:
            for each in (data, behind):
                if each:
                    self._tap(STREAMS[stream], each)
        return [data] if data else []

    # --- where it goes ------------------------------------------------------------------------------------

    def watch(self, tap: Tap | None, limit: int | None = None, *, hold_us: int | None = None) -> None:
        """Show the sequence to a tap, within its limits, what is kept in memory first. Call it once.

        Args:
            tap: sees the sequence as it is stored.
            limit: bytes of the sequence that are kept; what comes behind them is not shown either.
            hold_us: as for the sequencer, where another one was chosen meanwhile.
        """
        with self.ordering:
            if hold_us is not None:
                self._interleaver.hold_us = hold_us
            self._tap, self._limit = tap, limit
            self.watched = True
            self._bounded = tap is not None or limit is not None or self._stream_limit is not None
            if self._bounded:
                runs, self._runs = self._runs, []
                for stream, data, now in runs:
                    self._emit(stream, [data], now)

    def connect(self, sink: Sink) -> None:
        """Give the sequence to ``sink`` from here on, what is kept in memory first."""
        with self.ordering:
            runs, self._runs = self._runs, []
            for stream, data, now in runs:
                sink(stream, [data], now)
            self._sink = sink

    def disconnect(self) -> None:
        """Store nothing more: from here on only the tap sees the sequence, without the limit if it was not met."""
        with self.ordering:
            self._runs = []
            self._sink = _drop
            if self._limit is not None and self._size < self._limit:
                self._limit = None


def _drop(stream: int, pieces: list[Piece], now: int) -> None:
    """Where the sequence goes when nothing is stored."""


def _joined(items: Iterable[Item]) -> Iterator[Item]:
    """Writes that the chunker would give one time to, as one: a redactor takes its time for each."""
    for stream, writes in itertools.groupby(items, key=operator.itemgetter(0)):
        pieces: list[bytes] = []
        first = until = size = 0
        for _, data, now in writes:
            size += len(data)
            if pieces and (now >= until or size > SLICE):
                yield stream, b"".join(pieces), first
                pieces, size = [], len(data)
            if not pieces:
                first, until = now, now + SEGMENT_US
            pieces.append(data)
        yield stream, b"".join(pieces), first
