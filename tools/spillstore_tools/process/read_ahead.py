"""Reads what a command prints before there is anything that takes it: while modules are imported, a tenth of a second.

Without it the first output would have the time at which reading began, and that of one stream would stand before that of the other.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    OutputStream: TypeAlias = Literal["stdout", "stderr"]

_READ = 64 * 1024  # bytes at once: what a pipe holds
_MOST = 1024 * 1024  # bytes that are kept; more waits in the pipes


class Piece(NamedTuple):
    """Bytes that were read, and when, by ``time.monotonic``."""

    stream: OutputStream
    data: bytes
    at: float


class ReadAhead:
    """Reads the streams of a command on a thread of its own, until ``take``.

    Args:
        pipes: the descriptors that are read, -1 for none, and the stream of each.

    Nothing is lost where no thread or descriptor is to be had: then all of it waits in the pipes.
    """

    def __init__(self, pipes: Mapping[int, OutputStream]) -> None:
        self._pipes = {pipe: stream for pipe, stream in pipes.items() if pipe >= 0}
        self._pieces: list[Piece] = []
        self._wakers: tuple[int, int] | None = None
        self._thread: threading.Thread | None = None
        with contextlib.suppress(OSError, RuntimeError):
            self._wakers = os.pipe()
            thread = threading.Thread(target=self._read, name="spillstore-read-ahead", daemon=True)
            thread.start()
            self._thread = thread

    def take(self) -> list[Piece]:
        """Stop reading; what was read, in the order in which it came. A second call returns nothing."""
        if self._wakers is not None:
            os.write(self._wakers[1], b"\0")
            if self._thread is not None:
                self._thread.join()
            for number in self._wakers:
                os.close(number)
            self._wakers = None
        pieces, self._pieces = self._pieces, []
        return pieces

    def _read(self) -> None:
        assert self._wakers is not None  # it was made before the thread
        waker = self._wakers[0]
        poll = select.poll()
        for number in (waker, *self._pipes):
            poll.register(number, select.POLLIN)
        size = 0
        while size < _MOST:
            ready = [number for number, _ in poll.poll()]
            if waker in ready:
                return
            for number in ready:
                data = os.read(number, _READ)
                size += len(data)
                if data:
                    self._pieces.append(Piece(self._pipes[number], data, time.monotonic()))
                else:
                    poll.unregister(number)  # who reads on meets the end again
