"""The lines of one artifact that the other artifact of a comparison has not: which they are, and which of them are important."""

from __future__ import annotations

from itertools import chain, compress
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore.exceptions import RangeTooLargeError
from spillstore_tools.compare.line_reader import WholeLines
from spillstore_tools.compare.multiset import FIRST, NEW, Multiset
from spillstore_tools.preview.scan.block import Block
from spillstore_tools.preview.strategies.actionable import STRONG
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.text.clean import clean, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore import Artifact
    from spillstore.info import Stream

Sort = Literal["new", "gone"]
_JUDGED_BYTES = 64 * 1024
_BEFORE, _AFTER = 2, 6  # neighbours that are shown with an important line
_WINDOW_LINES, _WINDOW_BYTES = 200, 256 * 1024
_TEXT_BYTES = 64 * 1024  # of a line that are shown
_IS_SHOWN = bytes(flag in {NEW, FIRST} for flag in range(256))


class Change(NamedTuple):
    """A line that one artifact has and the other has not, or not as often.

    Attributes:
        sort: ``new``, or ``gone``: only the base has it.
        line: its number in its artifact, from 1.
        start: its first byte there.
        end: the byte after its ending.
        text: the cleaned line without its ending; of a long one the first 64 KiB.
        more: the number of further changed lines that are the same when folded; this line stands for them.
        base: how many of these lines the base has, if there are ``more``.
        now: how many of these lines the newer artifact has, if there are ``more``.
        complete: whether ``text`` is the whole line.
    """

    sort: Sort
    line: int
    start: int
    end: int
    text: str
    more: int = 0
    base: int = 0
    now: int = 0
    complete: bool = True


class ChangedLines:
    """One artifact of a comparison.

    Args:
        artifact: the artifact.
        stream: the stream that is compared.
        size: how many of its bytes; None for all.
        sort: ``new`` for the newer artifact, ``gone`` for the base.

    Attributes:
        lines: reads its lines.
        multiset: a number for each line; after the comparison, with flags for those that have changed.
        important: the places of important lines and their neighbours in the sequence, by their rank among shown lines.
    """

    def __init__(self, artifact: Artifact, stream: Stream, size: int | None, sort: Sort) -> None:
        self.artifact = artifact
        self.stream: Stream = stream
        self.sort: Sort = sort
        self.lines = WholeLines(artifact, stream, size)
        self.multiset = Multiset()
        self.important: dict[int, int] = {}
        # The lines that were read last: the number of the first, its first byte, all of them.
        self._window: tuple[int, int, list[bytes]] = (0, 0, [])

    def judge(self) -> Iterator[None]:
        """Read the changed lines again and find the important ones, a step at a time."""
        watcher = CandidateFinder()
        index = rank = 0
        for lines in self.lines.blocks():
            is_shown = bytes(self.multiset.flags.read(index, lines.size)).translate(_IS_SHOWN)
            index += lines.size
            if 1 in is_shown:
                data = b"".join(compress(split_lines(lines.data, self.lines.terminator), is_shown))
                for block in _blocks(data, rank, self.lines.terminator):
                    watcher.block(block)
                rank += is_shown.count(1)
            yield
        self.important = self._with_neighbours(
            sorted(each.line.number for each in watcher.candidates if each.score >= STRONG)
        )

    def _with_neighbours(self, ranks: Sequence[int]) -> dict[int, int]:
        """The places of these ranks, and of the changed lines right beside them, by rank."""
        near = {rank: range(max(0, rank - _BEFORE), rank + _AFTER + 1) for rank in ranks}
        places = self.multiset.places(sorted(set(chain.from_iterable(near.values()))))
        found: dict[int, int] = {}
        for rank, around in near.items():
            found |= {each: places[each] for each in around if places.get(each) == places[rank] + each - rank}
        return dict(sorted(found.items()))

    def places(self, start: int, *, important: bool) -> Iterator[int]:
        """The places of the shown lines from the ``start``-th on: of the important ones, or of all others."""
        if important:
            yield from list(self.important.values())[start:]
            return
        chosen = sorted(self.important)
        rank = start  # of the first other line to give: important ones before it count, too
        for each in chosen:
            if each > rank:
                break
            rank += 1
        places = set(self.important.values())
        for index in self.multiset.shown_from(rank):
            if index not in places:
                yield index

    def change(self, place: int) -> Change:
        """The change at a place of the sequence."""
        number = self.lines.line_of(place)
        data, start, end = self._line(number)
        change = Change(
            self.sort,
            number,
            start,
            end,
            clean(data, self.lines.terminator).removesuffix("\n"),
            complete=len(data) >= end - start,
        )
        if self.multiset.flags.read(place, 1)[0] != FIRST:
            return change
        there, here = self.multiset.groups[self.multiset.numbers.read(place, 1)[0]]
        base, now = (there, here) if self.sort == "new" else (here, there)
        return change._replace(more=here - there - 1, base=base, now=now)

    def _line(self, number: int) -> tuple[bytes, int, int]:
        """A line, or the beginning of a long one, with its first byte and the byte after it."""
        first, start, lines = self._window
        if not first <= number < first + len(lines):
            last = min(number + _WINDOW_LINES - 1, self.lines.last_with(number))
            try:
                data = self.artifact.read_lines(
                    number, last, stream=self.stream, holes="skip", max_bytes=_WINDOW_BYTES
                )
            except RangeTooLargeError:
                return self._long_line(number)
            first, start = number, self._start_of(number)
            lines = split_lines(data, self.lines.terminator)
            self._window = (first, start, lines)
        if number - first >= len(lines):
            return b"(dropped since)", start, start  # of an artifact that is still being written
        start += sum(map(len, lines[: number - first]))
        data = lines[number - first]
        return data[:_TEXT_BYTES], start, start + len(data)

    def _long_line(self, number: int) -> tuple[bytes, int, int]:
        start, end = self._start_of(number), min(self._start_of(number + 1), self.lines.size)
        data = self.artifact.read_bytes(
            start, min(end, start + _TEXT_BYTES), stream=self.stream, holes="skip"
        )
        return data, start, end

    def _start_of(self, number: int) -> int:
        return self.artifact.locate(line=number, stream=self.stream, holes="skip").byte


def _blocks(data: bytes, rank: int, terminator: bytes) -> Iterator[Block]:
    """Lines as blocks of a scan, in which each line has its rank as its number."""
    start = 0
    while start < len(data):
        end = data.rfind(terminator, start, start + _JUDGED_BYTES) + 1 or data.find(terminator, start) + 1
        piece = data[start : end or len(data)]
        size = piece.count(terminator) + (not piece.endswith(terminator))
        yield Block(0, rank, piece, size, 0, counted=False, terminator=terminator)
        rank, start = rank + size, start + len(piece)
