"""The place in the write path where text may be changed before it is stored.

A filter sits on one stream of one artifact, before interleaving, so that nothing behind it (chunks, digests, previews)
ever sees what it took out. It may hold bytes back, but decides so by bytes alone, never by time; it must give the same
result however its input is cut into writes, and must not change the number of line ends.
"""

from __future__ import annotations

from typing import Protocol


class StreamFilter(Protocol):
    """Changes the bytes of one stream as they pass."""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return what may go on now."""

    def finish(self) -> bytes:
        """The stream ended: return what was held back."""


class FilterFactory(Protocol):
    """Makes the two filters of an artifact."""

    def __call__(self, stream: str) -> StreamFilter:
        """A fresh filter for ``stdout`` or ``stderr``."""


class Tap(Protocol):
    """Sees the sequence as it is stored: after the filters, in order, before it is cut into chunks."""

    def __call__(self, stream: str, data: bytes) -> None:
        """The next run of bytes of one stream."""
