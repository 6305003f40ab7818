"""Lines on descriptors, as the stdio transport has them: read one at a time however long, written whole."""

from __future__ import annotations

import dataclasses
import os
import select
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_REQUEST = (
    1024 * 1024
)  # bytes that a client may send in one; a command line of Linux takes an eighth of that
_READ = 256 * 1024
_SILENCE = 0.5  # seconds after the writer's end in which others who hold the pipe must say something
_LINGER = 5.0  # seconds after which they are not heard any more
_KEPT = 64 * 1024  # bytes of each end of a line that is too long


@dataclasses.dataclass(frozen=True, slots=True)
class TooLong:
    """A line that is too long and thrown away.

    Attributes:
        beginning: its first bytes.
        end: its last bytes; None as long as it goes on.
        size: its bytes so far.
    """

    beginning: bytes
    end: bytes | None
    size: int


def lines(read: Callable[[], bytes], most: int | None = None) -> Iterator[bytes | bytearray | TooLong]:
    r"""The lines of what ``read`` gives, with their endings, until it gives nothing; the last may have none.

    A line of n bytes costs n bytes of memory, and time linear in n. One of more than ``most`` bytes is told twice: as soon
    as it is that long, and when it has ended; no more of it is kept than its two ends.

    Example:
        >>> pieces = iter([b"one\ntw", b"o\nthree", b""])
        >>> [bytes(line) for line in lines(lambda: next(pieces))]
        [b'one\n', b'two\n', b'three']
        >>> pieces = iter([b"very l", b"ong\nshort\n", b""])
        >>> [each if isinstance(each, TooLong) else bytes(each) for each in lines(lambda: next(pieces), 5)]
        ... # doctest: +NORMALIZE_WHITESPACE
        [TooLong(beginning=b'very l', end=None, size=6), TooLong(beginning=b'very l', end=b'very long\n', size=10),
         b'short\n']
    """
    buffer = bytearray()
    dropped: TooLong | None = None
    while data := read():
        if dropped is not None:
            dropped, data = _dropped(dropped, buffer, data)  # the rest of it begins a line
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
            del whole  # nothing is kept while the next one is waited for
            continue
        start = 0
        while (end := buffer.find(b"\n", max(start, searched)) + 1) > 0:
            yield bytes(buffer[start:end])
            start = end
        del buffer[:start]
        if most is not None and len(buffer) > most:
            dropped = TooLong(bytes(buffer[:_KEPT]), None, len(buffer))
            yield dropped
            buffer = buffer[-_KEPT:]
    if dropped is not None:
        yield dataclasses.replace(dropped, end=bytes(buffer))
    elif buffer:
        yield buffer


def _dropped(line: TooLong, end: bytearray, data: bytes) -> tuple[TooLong, bytes]:
    """More of a line that is too long, whose end so far is in ``end``; and what follows it."""
    stop = data.find(b"\n") + 1
    more = data[:stop] if stop else data
    end += more
    del end[:-_KEPT]
    line = dataclasses.replace(line, size=line.size + len(more), end=bytes(end) if stop else None)
    return line, data[stop:] if stop else b""


class Pipe:
    """The reading end of a pipe whose writer is watched: after its end nobody waits for others who hold the pipe.

    Args:
        descriptor: to read; it is closed with the object.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._wakers = os.pipe()
        self._deadline: float | None = None
        self._closed = False
        self._lock = threading.Lock()  # protects the wakers from being closed while one is written to

    def ended(self) -> None:
        """The writer has ended; what it has written is still read."""
        with self._lock:
            if not self._closed:
                os.write(self._wakers[1], b"\0")

    def read(self) -> bytes:
        """What comes next; nothing at the end."""
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
        """Read no more."""
        with self._lock:
            self._closed = True
            for number in (self._descriptor, *self._wakers):
                os.close(number)


class LineWriter:
    """Writes whole lines to a descriptor, from any thread.

    Args:
        descriptor: where to.
        on_broken: called once, when nobody reads there any more.
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
        """Write a line, and its ending if it has none; whether somebody could read it. Blocks while nobody does."""
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
        """Write no more; waits for a line that is being written."""
        with self._lock:
            if not self._closed:
                self._broken = self._closed = True
                os.close(self._descriptor)
