"""A profile's scans of an output while it comes, on a worker thread beside the one that stores it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from spillstore_tools.output.serial_worker import SerialWorker
from spillstore_tools.preview.binary.recognise import HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spillstore_tools.preview.parts import View
    from spillstore_tools.preview.scan.overview import Overview
    from spillstore_tools.preview.scan.position import Position
    from spillstore_tools.preview.scan.scan import Scan
    from spillstore_tools.profiles.base import Profile

R = TypeVar("R")
_ROOM = 4 * 1024 * 1024  # bytes that may wait for the scans
_BATCH = (
    1024 * 1024
)  # bytes that are handed over at once: tools print line by line, and each time wakes a thread


class News(NamedTuple):
    """The scan of the output since the last text, and the position where that begins."""

    origin: Position
    scan: Scan


class _Batch:
    """Consecutive runs of the sequence."""

    def __init__(self) -> None:
        self._runs: list[tuple[str, bytes]] = []
        self.size = 0

    def add(self, stream: str, data: bytes) -> None:
        """The next run."""
        self._runs.append((stream, data))
        self.size += len(data)

    def of(self, view: View) -> list[bytes]:
        """The bytes of a view."""
        return [data for stream, data in self._runs if data and view in {"combined", stream}]


class OutputScans:
    """The scans of one output, one for each view of the profile.

    Everything but ``see`` and ``hand_over`` happens on the thread of the scans (``call``), or when there is nothing on it.

    Attributes:
        terminator: what ends a line.
        head: the first bytes of the sequence.
        seen: bytes that were scanned.
        inside: whether the last line that was scanned has not ended.
        news: what has come since the last text; None before the first.
    """

    def __init__(self, profile: Profile, source: str, terminator: bytes) -> None:
        self._profile = profile
        self._source = source
        self._batch = _Batch()
        self._lock = threading.Lock()  # protects the batch: the tap runs on the store's threads
        # What waits names the scans, and the worker does not: so all goes with the last reference to the scans.
        self._worker: SerialWorker[tuple[OutputScans, _Batch]] = SerialWorker(
            lambda each: each[0]._scan(each[1]),  # noqa: SLF001  # ours
            size_of=lambda each: each[1].size,
            room=_ROOM,
        )
        self.news: News | None = None
        self.begin(terminator)

    def begin(self, terminator: bytes) -> None:
        """Begin with nothing scanned; another line end changes everything."""
        self.terminator = terminator
        self.head = b""
        self.seen = 0
        self.inside = False
        self.by_view: dict[View, Scan] = {
            view: self._profile.scan(view, terminator, self._source) for view in self._profile.views
        }

    def see(self, stream: str, data: bytes) -> None:
        """Take the next run of the sequence; one call at a time. Blocks while the scans are behind."""
        with self._lock:
            self._batch.add(stream, data)
            if self._batch.size >= _BATCH:
                self._put()

    def scan(self, runs: Iterable[tuple[str, bytes]]) -> None:
        """Scan runs at once, on this thread; nothing may be on the other."""
        batch = _Batch()
        for stream, data in runs:
            batch.add(stream, data)
        self._scan(batch)

    def hand_over(self) -> None:
        """Hand over what ``see`` has gathered."""
        with self._lock:
            if self._batch.size:
                self._put()

    def _put(self) -> None:
        batch, self._batch = self._batch, _Batch()
        self._worker.put((self, batch))

    def call(self, function: Callable[[], R]) -> R:
        """What ``function`` returns or raises, called when everything handed over before is scanned."""
        return self._worker.call(function)

    def finish(self) -> dict[View, Overview]:
        """The overviews, when everything is scanned. Call it once."""
        self.hand_over()
        self._worker.join()
        return self.overviews()

    def overviews(self) -> dict[View, Overview]:
        """The overviews of what is scanned; nothing more is scanned after that."""
        return {view: scan.finish() for view, scan in self.by_view.items()}

    def follow(self, origin: Position, rest: bytes) -> None:
        """Begin a scan for the next news at ``origin``, with ``rest``, which has come already."""
        scan = self._profile.news_scan(self.terminator)
        scan.feed(rest)
        self.news = News(origin, scan)

    def drop(self) -> None:
        """Nothing of the output is shown: scan nothing more."""
        self.by_view = {}

    def _scan(self, batch: _Batch) -> None:
        runs = batch.of("combined")
        self.seen += batch.size
        self.inside = not runs[-1].endswith(self.terminator) if runs else self.inside
        for data in runs:
            if len(self.head) >= HEAD_BYTES:
                break
            self.head += data[: HEAD_BYTES - len(self.head)]
        for view, scan in self.by_view.items():
            scan.feed(*batch.of(view))
        if self.news is not None:
            self.news.scan.feed(*runs)
