"""Blocks of whole lines, read ahead and prepared on the workers, or windows of a line that is too long to be one.

A line of more than 16 MiB comes in windows that overlap by 1 MiB, so a match of up to that size is found wherever it stands.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from spillstore.search.native_search import own_text
from spillstore.text_scan import CONTINUING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spillstore.info import Stream
    from spillstore.read.blocks import Run
    from spillstore.read.sieve import Rules
    from spillstore.search.native_search import Text

LONGEST = 16 * 1024 * 1024  # bytes of a line that is searched as a whole
OVERLAP = 1024 * 1024
LONGEST_CHARACTER = 4  # bytes


class Block(NamedTuple):
    """A block of lines that is searched in one call.

    Attributes:
        start: its first byte in the view.
        end: the byte behind its last.
        line: number of the line in which it begins.
        data: its bytes; none, if it is known that nothing in them is looked for.
        text: its lines as they are searched; None while they are not made.
        window: whether it is a part of a line that is too long, and not whole lines.
        last: of a window: whether the line ends with it.
        counts: matching lines and matches, where nothing else is looked for and they are known.
    """

    start: int
    end: int
    line: int
    data: bytes
    text: bytes | None = None
    window: bool = False
    last: bool = True
    counts: tuple[int, int] | None = None


class _Batch(NamedTuple):
    """A block as it was read: the end of a line, complete lines, and the beginning of another.

    Attributes:
        start: its first byte.
        line: number of the line in which it begins.
        head: the end of that line; all there is, where no line ends.
        middle: the whole lines, prepared.
        tail: the beginning of a line.
        tail_line: its number.
    """

    start: int
    line: int
    head: bytes
    middle: Block | None
    tail: bytes
    tail_line: int


class LineBlockReader:
    """Reads one view in blocks.

    Args:
        batches: its bytes; as ``read.iteration.batches``.
        stream: the view.
        terminator: what ends a stored line.
        line_end: what ends a line of text, of which ``terminator`` may be a part: blocks end behind one.
        prepare: makes a block of whole lines: where the text begins, the number of the first whole line, the text, and where
            in it the lines begin and end. It is called on any thread, and may not keep the text.
        rules: what gram filters can tell of what is looked for; None if nothing.
    """

    def __init__(
        self,
        batches: Callable[..., Iterator[list[_Batch]]],
        stream: Stream,
        terminator: bytes,
        line_end: bytes,
        prepare: Callable[[int, int, Text, int, int], Block],
        rules: Rules | None,
    ) -> None:
        self._batches = batches
        self._stream = stream
        self._terminator = terminator
        self._line_end = line_end
        self._prepare = prepare
        self._rules = rules

    def between(self, start: int, end: int, *, inside: bool) -> Iterator[Block]:
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
        rules = None if inside else self._rules
        batches = self._batches(start, end, self._stream, "skip", self._prepared, rules)
        for batch in itertools.chain.from_iterable(batches):
            if at + size != batch.start:  # the artifact has rolled meanwhile
                if held:
                    yield Block(at, at + size, line, b"".join(held), window=windows)
                held, size, at, windows = [], 0, batch.start, False
            if not held:
                line = batch.line
            held.append(batch.head)
            size += len(batch.head)
            if batch.middle is not None:
                yield Block(at, at + size, line, b"".join(held), window=windows)
                yield batch.middle
                held, size = ([batch.tail], len(batch.tail)) if batch.tail else ([], 0)
                at, line, windows = batch.middle.end, batch.tail_line, False
            elif size >= LONGEST:
                data = b"".join(held)
                yield Block(at, at + size, line, data, window=True, last=False)
                keep = character_before(data, size - OVERLAP - 1)
                held, size, at, windows = [data[keep:]], size - keep, at + keep, True
        if held:
            yield Block(at, at + size, line, b"".join(held), window=windows)
        if rules is not None and at + size < end:
            yield Block(at + size, end, line, b"", b"")

    def _prepared(self, runs: Iterable[Run]) -> list[_Batch]:
        """Prepare a block as far as that needs no neighbouring block; runs on any thread."""
        batches: list[_Batch] = []
        text = own_text()
        start = line = last_line = 0  # of the text: its first byte, and the lines in which it begins and ends
        for run in runs:
            if text.size and run.start != start + text.size:
                batches.append(self._batch(start, line, last_line, text))
                text.clear()
            if not text.size:
                start, line = run.start, run.line
            text.append(run.data)
            last_line = run.line + run.line_ends
        if text.size:
            batches.append(self._batch(start, line, last_line, text))
        return batches

    def _batch(self, start: int, line: int, last_line: int, text: Text) -> _Batch:
        """The whole lines of what was read, and what is torn at both ends."""
        ending = self._line_end
        first = text.find(ending, 0, text.size) + len(ending)
        last = text.rfind(ending, 0, text.size) + len(ending)
        if first < len(ending):
            return _Batch(start, line, text.part(0, text.size), None, b"", line)
        head, tail = text.part(0, first), text.part(last, text.size)
        middle = self._prepare(start, line + head.count(self._terminator), text, first, last)
        return _Batch(start, line, head, middle, tail, last_line - tail.count(self._terminator))


def character_before(data: bytes, at: int) -> int:
    """Where the character begins that a byte belongs to."""
    low = max(0, at - LONGEST_CHARACTER + 1)
    return next((place for place in range(at, low - 1, -1) if data[place] not in CONTINUING), at)
