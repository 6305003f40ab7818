"""Lines on descriptors, as in the stdio transport: read one at a time, of any length, and written whole."""

from __future__ import annotations

import dataclasses
import os
import select
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_READ = 256 * 1024
_SILENCE = 0.5  # seconds of silence after the end of the writer, after which others who hold the pipe are not waited for
_LINGER = 5.0  # seconds after the end of the writer, after which nothing more is read
_END_SIZE = 64 * 1024  # bytes of each end of an oversized line


@dataclasses.dataclass(frozen=True, slots=True)
class OversizedLine:
    """A line that is longer than the limit, and is discarded.

    Attributes:
        beginning: the first bytes of the line.
        end: the last bytes of the line; None while it goes on.
        size: bytes of the line so far.
    """

    beginning: bytes
    end: bytes | None
    size: int


def read_lines(
    read: Callable[[], bytes], limit: int | None = None
) -> Iterator[bytes | bytearray | OversizedLine]:
    r"""The lines with their endings, until ``read`` returns nothing; the last line may have no ending.

    A line of n bytes takes n bytes of memory, and time linear in n. A line of more than ``limit`` bytes is yielded twice as an
    ``OversizedLine``: as soon as it is that long, and when it has ended; only its two ends are held in memory.

    Example:
        >>> pieces = iter([b"one\ntw", b"o\nthree", b""])
        >>> [bytes(line) for line in read_lines(lambda: next(pieces))]
        [b'one\n', b'two\n', b'three']
        >>> pieces = iter([b"very l", b"ong\nshort\n", b""])
        >>> [each if isinstance(each, OversizedLine) else bytes(each) for each in read_lines(lambda: next(pieces), 5)]
        ... # doctest: +NORMALIZE_WHITESPACE
        [OversizedLine(beginning=b'very l', end=None, size=6), OversizedLine(beginning=b'very l', end=b'very long\n', size=10),
         b'short\n']
    """
    buffer = bytearray()
    dropped: OversizedLine | None = None
    while data := read():
        if dropped is not None:
            dropped, data = _discard(dropped, buffer, data)  # what is left begins a line
            if dropped.end is None:
                continue
            yield dropped
            dropped = None
            buffer.clear()
            if not data:
                continue
        searched = len(buffer)
        buffer += data
        if buffer.find(b"\n", searched) == len(buffer) - 1:
            whole, buffer = buffer, bytearray()  # the usual case, without a copy
            yield whole
            del whole  # no line is in memory while the next one is waited for
            continue
        start = 0
        while (end := buffer.find(b"\n", max(start, searched)) + 1) > 0:
            yield bytes(buffer[start:end])
            start = end
        del buffer[:start]
        if limit is not None and len(buffer) > limit:
            dropped = OversizedLine(bytes(buffer[:_END_SIZE]), None, len(buffer))
            yield dropped
            buffer = buffer[-_END_SIZE:]
    if dropped is not None:
        yield dataclasses.replace(dropped, end=bytes(buffer))
    elif buffer:
        yield buffer


def _discard(line: OversizedLine, end: bytearray, data: bytes) -> tuple[OversizedLine, bytes]:
    """An oversized line with more data, whose last bytes so far are in ``end``; and the data behind the line."""
    stop = data.find(b"\n") + 1
    more = data[:stop] if stop else data
    end += more
    del end[:-_END_SIZE]
    line = dataclasses.replace(line, size=line.size + len(more), end=bytes(end) if stop else None)
    return line, data[stop:] if stop else b""


class ProcessPipe:
    """The reading end of a process's pipe. It ends soon after the process, even if others hold the pipe open.

    Args:
        descriptor: the reading end; it is closed with the object.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._wakers = os.pipe()
        self._deadline: float | None = None
        self._closed = False
        self._lock = threading.Lock()  # protects the wakers from being closed while one is written to

    def process_ended(self) -> None:
        """Note that the process has ended; what it has written is still read."""
        with self._lock:
            if not self._closed:
                os.write(self._wakers[1], b"\0")

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        if self._deadline is None:
            poll.register(self._wakers[0], select.POLLIN)
        while True:
            left = None if self._deadline is None else min(_SILENCE, self._deadline - time.monotonic())
            if left is not None and left <= 0:
                return b""
            found = {number for number, _ in poll.poll(None if left is None else left * 1000)}
            if self._descriptor in found:
                return os.read(self._descriptor, _READ)
            if not found:
                return b""
            poll.unregister(self._wakers[0])
            self._deadline = time.monotonic() + _LINGER

    def close(self) -> None:
        """Close the pipe."""
        with self._lock:
            self._closed = True
            for number in (self._descriptor, *self._wakers):
                os.close(number)


class LineWriter:
    """Writes whole lines to a descriptor, from any thread.

    Args:
        descriptor: it is closed with the object.
        on_broken: called once, when the reader has closed its end.
    """

    def __init__(self, descriptor: int, on_broken: Callable[[], object] | None = None) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._broken = False
        self._closed = False
        self._lock = (
            threading.Lock()
        )  # protects the order of bytes, and the descriptor while it is written to

    def write(self, line: bytes | bytearray) -> bool:
        """Write a line, with an ending if it has none. Blocks while the reader does not read; False if it has closed its end."""
        with self._lock:
            if self._broken:
                return False
            try:
                self._write(line)
                if not line.endswith(b"\n"):
                    self._write(b"\n")
            except OSError:
                self._broken = True
            broken = self._broken
        if broken and self._on_broken is not None:
            self._on_broken()
        return not broken

    def _write(self, data: bytes | bytearray) -> None:
        with memoryview(data) as view:
            at = 0
            while at < len(view):
                at += os.write(self._descriptor, view[at:])

    def close(self) -> None:
        """Close the descriptor, after a line that is being written."""
        with self._lock:
            if not self._closed:
                self._broken = self._closed = True
                os.close(self._descriptor)
