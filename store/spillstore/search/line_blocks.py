"""What a search looks through: whole lines, read ahead and made ready on the workers, or windows of a line that is too long.

A line of more than 16 MiB comes in windows that overlap by 1 MiB, so a match of up to that size is found wherever it stands.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spillstore.info import Stream
    from spillstore.read.blocks import Run

LONGEST = 16 * 1024 * 1024  # bytes of a line that is searched as a whole
OVERLAP = 1024 * 1024
LONGEST_CHARACTER = 4  # bytes
CONTINUING = bytes(range(0x80, 0xC0))  # bytes that go on a character in UTF-8


class Piece(NamedTuple):
    """What is searched together: whole lines, or a window of a line that is too long for that."""

    start: int
    end: int
    line: int  # in which it begins
    data: bytes  # nothing, if it is known that nothing in it is looked for
    text: bytes | None = None  # of its lines, once it is known
    window: bool = False
    last: bool = True  # of its line
    counts: tuple[int, int] | None = None  # matching lines and matches, where that is all that is wanted


class _Part(NamedTuple):
    """What is read together: the end of a line, whole lines, and the beginning of one; the middle is ready to be searched."""

    start: int
    line: int
    head: bytes  # all there is, where no line ends
    middle: Piece | None
    tail: bytes
    tail_line: int


class Pieces:
    """Reads one view.

    Args:
        batches: its bytes; as ``Artifact._batches``.
        stream: the view.
        terminator: what ends a line.
        ready: makes a piece of whole lines: where the data begins, the number of the first whole line, the data, and where
            in it the lines begin and end. It is called on any thread.
    """

    def __init__(
        self,
        batches: Callable[..., Iterator[list[_Part]]],
        stream: Stream,
        terminator: bytes,
        ready: Callable[[int, int, bytes, int, int], Piece],
    ) -> None:
        self._batches = batches
        self._stream = stream
        self._terminator = terminator
        self._ready = ready

    def between(self, start: int, end: int, *, inside: bool) -> Iterator[Piece]:
        """The bytes ``[start, end)``: whole lines, about a megabyte at a time; what is torn at either end counts as a line.

        Args:
            start: first byte.
            end: the byte after the last.
            inside: whether ``start`` is inside a line that is searched in windows.
        """
        if start >= end:
            return
        held: list[bytes] = []  # of a line that has not ended
        size, at, line, windows = 0, start, 0, inside
        parts = self._batches(start, end, self._stream, "skip", self._parts)
        for part in itertools.chain.from_iterable(parts):
            if at + size != part.start:  # the artifact has rolled meanwhile
                if held:
                    yield Piece(at, at + size, line, b"".join(held), window=windows)
                held, size, at, windows = [], 0, part.start, False
            if not held:
                line = part.line
            held.append(part.head)
            size += len(part.head)
            if part.middle is not None:
                yield Piece(at, at + size, line, b"".join(held), window=windows)
                yield part.middle
                held, size = ([part.tail], len(part.tail)) if part.tail else ([], 0)
                at, line, windows = part.middle.end, part.tail_line, False
            elif size >= LONGEST:
                data = b"".join(held)
                yield Piece(at, at + size, line, data, window=True, last=False)
                keep = character_before(data, size - OVERLAP - 1)
                held, size, at, windows = [data[keep:]], size - keep, at + keep, True
        if held:
            yield Piece(at, at + size, line, b"".join(held), window=windows)

    def _parts(self, runs: Iterable[Run]) -> list[_Part]:
        """What was read, made ready as far as that can be done without what is around it; on any thread."""
        parts: list[_Part] = []
        together: list[Run] = []
        for run in runs:
            if together and run.start != together[-1].start + len(together[-1].data):
                parts.append(self._part(together))
                together = []
            together.append(run)
        if together:
            parts.append(self._part(together))
        return parts

    def _part(self, runs: list[Run]) -> _Part:
        """The whole lines of what was read, and what is torn at both ends."""
        start, line = runs[0].start, runs[0].line
        data = b"".join([run.data for run in runs])
        first, last = data.find(self._terminator) + 1, data.rfind(self._terminator) + 1
        if not first:
            return _Part(start, line, data, None, b"", line)
        middle = self._ready(start, line + 1, data, first, last)
        return _Part(start, line, data[:first], middle, data[last:], runs[-1].line + runs[-1].line_ends)


def character_before(data: bytes, at: int) -> int:
    """Where the character begins that a byte belongs to."""
    low = max(0, at - LONGEST_CHARACTER + 1)
    return next((place for place in range(at, low - 1, -1) if data[place] not in CONTINUING), at)
