"""Reads all whole lines of a stored stream, some at a time, and knows their numbers.

It leaves out dropped bytes, the two lines torn by them, and the unfinished last line of an artifact that is still written.
A line above 1 MiB comes alone, as its beginning and a digest of all of it.
"""

from __future__ import annotations

from bisect import bisect_right
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from spillstore_tools.preview.text.clean import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Artifact
    from spillstore.info import Stream

LONGEST = 1024 * 1024  # bytes of a line that comes with others
_BLOCK = 256 * 1024
_BEGINNING = 64 * 1024


class Lines(NamedTuple):
    """Whole lines, or the beginning of a long one.

    Attributes:
        data: the bytes, line ends included; of a long line its beginning.
        size: the number of lines.
        number: 64 bits of the digest of a long line; None for other lines.
    """

    data: bytes
    size: int
    number: int | None = None


class _Region(NamedTuple):
    """A part of a stream in which nothing is missing.

    Attributes:
        start, end: its bytes.
        first_line: the number of its first whole line.
        torn: whether it begins inside a line.
        unfinished: whether a last line without an ending is left out.
    """

    start: int
    end: int
    first_line: int
    torn: bool
    unfinished: bool


class WholeLines:
    """The lines of one stream, as it is now.

    Args:
        artifact: sealed or not.
        stream: the stream.
        size: how many bytes of it; None for all.

    Attributes:
        size: bytes of the stream that are read.
        read: bytes that the last ``blocks`` has read so far.
        count: lines that it has read so far.
        notes: what is left out, for people.
        hole: the first missing byte and the byte after the last, or None.
    """

    def __init__(self, artifact: Artifact, stream: Stream, size: int | None = None) -> None:
        self._artifact = artifact
        self._stream: Stream = stream
        extent, state = artifact.extent(stream)
        self.size = extent if size is None else min(size, extent)
        info = artifact.info
        self.terminator = info.terminator
        self.read = self.count = 0
        self.notes: list[str] = []
        growing = state == "open" or self.size < extent
        found = info.view(stream).hole
        self.hole = None if found is None or found.start >= self.size else (found.start, found.end)
        if found is None or self.hole is None:
            self._regions = [_Region(0, self.size, 1, torn=False, unfinished=growing)]
        else:
            self.notes.append(f"bytes {found.start}-{found.end} were dropped and are not compared")
            self._regions = [
                _Region(0, found.start, 1, torn=False, unfinished=True),
                _Region(found.end, self.size, found.last_line + 1, torn=found.torn, unfinished=growing),
            ]
        if growing:
            self.notes.append(f"still being written; compared to byte {self.size}")
        self._before: list[int] = []  # lines before each region

    def line_of(self, index: int) -> int:
        """The number of the ``index``-th line that ``blocks`` has given, counted from 0."""
        region = bisect_right(self._before, index) - 1
        return self._regions[region].first_line + index - self._before[region]

    def last_with(self, number: int) -> int:
        """The last line of the region that holds a line."""
        ends = [*self._before[1:], self.count]
        lasts = [
            region.first_line + end - before - 1
            for region, before, end in zip(self._regions, self._before, ends, strict=True)
        ]
        return next((last for last in lasts if last >= number), number)

    def blocks(self) -> Iterator[Lines]:
        """All lines, from the beginning, in flat memory."""
        self.read = self.count = 0
        self._before = []
        for region in self._regions:
            self._before.append(self.count)
            for lines in self._in_region(region):
                self.count += lines.size
                yield lines

    def _in_region(self, region: _Region) -> Iterator[Lines]:
        end_of_line = self.terminator
        held, size, needed = [b""], 0, _BLOCK
        long: _LongLine | None = None
        for stored in self._stored(region):
            block = stored
            if long is not None:
                start = block.find(end_of_line) + 1
                long.add(block[: start - 1] if start else block)
                if not start:
                    continue
                yield long.lines()
                block, long = block[start:], None
            held.append(block)
            size += len(block)
            if size < needed:
                continue
            data = b"".join(held)
            cut = data.rfind(end_of_line) + 1
            yield from self._split(data[:cut])
            held, size = [data[cut:]], len(data) - cut
            # A long line is joined in ever larger steps, so that its beginning is not copied time and again.
            needed = max(_BLOCK, min(2 * size, LONGEST + 1))
            if size > LONGEST:
                long = _LongLine()
                long.add(data[cut:])
                held, size, needed = [b""], 0, _BLOCK
        data = b"".join(held)
        if region.unfinished:
            yield from self._split(data[: data.rfind(end_of_line) + 1])
        elif long is not None:
            yield long.lines()
        else:
            yield from self._split(data)

    def _stored(self, region: _Region) -> Iterator[bytes]:
        """The bytes of a region, from its first whole line on."""
        torn = region.torn
        for block in self._artifact.chunks(region.start, region.end, stream=self._stream, holes="skip"):
            self.read += len(block)
            start = block.find(self.terminator) + 1 if torn else 0
            if torn and not start:
                continue
            torn = False
            yield block[start:]

    def _split(self, data: bytes) -> Iterator[Lines]:
        if len(data) <= LONGEST:
            if data:
                yield Lines(data, self._lines_in(data))
            return
        end_of_line = self.terminator
        together: list[bytes] = []
        for line in split_lines(data, end_of_line):
            if len(line.removesuffix(end_of_line)) <= LONGEST:
                together.append(line)
                continue
            if together:
                yield Lines(b"".join(together), len(together))
                together = []
            long = _LongLine()
            long.add(line.removesuffix(end_of_line))
            yield long.lines()
        if together:
            yield Lines(b"".join(together), len(together))

    def _lines_in(self, data: bytes) -> int:
        return data.count(self.terminator) + (not data.endswith(self.terminator))


class _LongLine:
    """A line that is too long to be held."""

    def __init__(self) -> None:
        self._beginning = b""
        self._digest = blake2b(digest_size=8)

    def add(self, data: bytes) -> None:
        if len(self._beginning) < _BEGINNING:
            self._beginning += data[: _BEGINNING - len(self._beginning)]
        self._digest.update(data)

    def lines(self) -> Lines:
        return Lines(self._beginning, 1, int.from_bytes(self._digest.digest(), "big", signed=True))
