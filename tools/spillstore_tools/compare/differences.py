r"""What one artifact has that another has not: lines as a reader sees them, without what differs between any two runs.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     before = session.put("10:00:01 start\ntest_a ok in 0.1s\ntest_b ok in 0.2s\n", source="doc")
    ...     now = session.put("11:30:59 start\ntest_a ok in 0.3s\ntest_b FAILED\n", source="doc")
    ...     found = Differences(before, now)
    ...     [(change.sort, change.line, change.text) for change in found.changes()]
    [('new', 3, 'test_b FAILED'), ('gone', 3, 'test_b ok in 0.2s')]

Lines are compared as a multiset (``_multiset``): one that came three times and now comes five times is two more. Their
order is not compared, so a block that has moved is no news. Each line is told to its neighbours by 64 bits: Python's own
hash of the folded bytes, keyed anew in each process, so nobody can make two lines meet; by chance, two of forty million
do in one comparison of 20,000.

What has changed is told in sections: new lines that matter and what is new beside them, lines gone that matter, what else
is new, what else is gone, each in the order of its artifact. What matters is judged as for previews (``preview.strategies.candidates``).

A comparison works in steps and may be interrupted after any number of seconds and gone on with.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from array import array
from itertools import chain, compress
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore.exceptions import RangeTooLargeError
from spillstore_tools.compare.line_reader import WholeLines
from spillstore_tools.compare.multiset import FIRST, NEW, Side, compared
from spillstore_tools.output.rendering import kind_of
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.scan.block import Block
from spillstore_tools.preview.strategies.actionable import STRONG
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.text.clean import clean, is_plain, split_lines
from spillstore_tools.preview.text.normalise import LineHasher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillstore import Artifact
    from spillstore.info import Stream
    from spillstore_tools.compare.line_reader import Lines
    from spillstore_tools.preview.binary.magic import BinaryType

Sort = Literal["new", "gone"]
Verdict = Literal["identical", "alike", "reordered", "different"]
_JUDGED_BYTES = 64 * 1024
_BEFORE, _AFTER = 2, 6  # neighbours that are told with a line that matters
_WINDOW_LINES, _WINDOW_BYTES = 200, 256 * 1024
_TEXT_BYTES = 64 * 1024  # of a line that are looked at when it is told
_IS_TOLD = bytes(flag in {NEW, FIRST} for flag in range(256))


class Change(NamedTuple):
    """A line that one artifact has and the other has not, or not as often.

    Attributes:
        sort: ``new``, or ``gone``: only the base has it.
        line: its number in its artifact.
        start: its first byte there.
        end: the byte after its ending.
        text: as a reader sees it, without its ending; of what is longer, its first 64 KiB.
        more: how many further ones that are the same when folded have changed likewise, and are not told again.
        base: how many the base has in all, if there are ``more``.
        now: how many the other has, likewise.
        complete: whether ``text`` is all of it.
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


class Section(NamedTuple):
    """Changes that are told together.

    Attributes:
        sort: ``new`` or ``gone``.
        telling: whether they are those that matter and what is beside them, or all others.
        size: how many.
    """

    sort: Sort
    telling: bool
    size: int


@dataclasses.dataclass(slots=True)
class _Half:
    """One of the two artifacts."""

    artifact: Artifact
    stream: Stream
    lines: WholeLines
    sort: Sort
    side: Side = dataclasses.field(default_factory=Side)
    telling: dict[int, int] = dataclasses.field(default_factory=dict)  # place in the sequence, by rank
    window: tuple[int, int, list[bytes]] = (0, 0, [])  # first line, its byte, lines that were read last


class Differences:
    """The comparison of an artifact with an older one. Cost: about 50 ns a byte; flat memory.

    Args:
        base: the older one.
        artifact: the newer one.
        stream: ``combined``, ``stdout`` or ``stderr`` of both.
        exact: compare times, numbers and addresses, too.
        sizes: how much of the base and of the other; None for all that there is now.

    Attributes:
        stream: the view that is compared.
        verdict: ``identical`` byte for byte; ``alike``: the same lines in the same order; ``reordered``: the same lines;
            ``different``. None until it is known.
        kinds: what base and artifact are if they are no text; such are not compared by lines.
        differ_at: of such, the first byte that is not the same.
        lock: to be held by who shares it with another thread, while it is used.
    """

    def __init__(
        self,
        base: Artifact,
        artifact: Artifact,
        *,
        stream: Stream = "combined",
        exact: bool = False,
        sizes: tuple[int, int] | None = None,
    ) -> None:
        asked = sizes or (None, None)
        self._base = _Half(base, stream, WholeLines(base, stream, asked[0]), "gone")
        self._other = _Half(artifact, stream, WholeLines(artifact, stream, asked[1]), "new")
        self.stream: Stream = stream
        self._exact = exact
        self._hasher = LineHasher()
        self._long = False
        self.lock = threading.RLock()
        self.verdict: Verdict | None = None
        self.kinds: list[BinaryType | None] = [_kind(half.artifact) for half in self._halves]
        self.differ_at: int | None = None
        self._read = 0  # bytes of both
        self._error: BaseException | None = None
        self._work = self._steps()

    @property
    def _halves(self) -> tuple[_Half, _Half]:
        return self._base, self._other

    @property
    def sizes(self) -> tuple[int, int]:
        """Bytes of the base and of the other that are compared."""
        return self._base.lines.size, self._other.lines.size

    @property
    def differs(self) -> bool:
        """Whether lines are new or gone, or the bytes of what is no text are not the same."""
        self.run()
        return self.verdict == "different"

    @property
    def progress(self) -> float:
        """How much of the two was read and folded, from 0 to 1; what takes the most time."""
        return self._read / (sum(self.sizes) or 1)

    @property
    def notes(self) -> list[str]:
        """What is to be said of the comparison."""
        notes = [
            f"{name}: {note}"
            for name, half in (("base", self._base), ("now", self._other))
            for note in half.lines.notes
        ]
        if self._long and not self._exact:
            notes.append("lines above 1 MiB were compared as they are stored")
        return notes

    def run(self, seconds: float | None = None) -> bool:
        """Compare, for so many seconds or to the end; whether it has ended. The next call goes on.

        Raises:
            IntegrityError: a damaged chunk.
            OSError: no room for the files.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        with self.lock:
            if self._error is not None:
                raise self._error
            try:
                for _ in self._work:
                    if deadline is not None and time.monotonic() > deadline:
                        return False
            except BaseException as error:
                self._error = error  # half of a comparison is none
                raise
        return True

    def totals(self) -> tuple[int, int, int]:
        """Lines that are new, lines that are gone, and lines that both have."""
        self.run()
        new, gone = self._other.side.changed, self._base.side.changed
        return new, gone, len(self._other.side.numbers) - new

    def sections(self) -> list[Section]:
        """What there is to tell, in this order."""
        self.run()
        found = []
        for telling in (True, False):
            for half in (self._other, self._base):
                chosen = len(half.telling)
                size = chosen if telling else half.side.told - chosen
                if size:
                    found.append(Section(half.sort, telling, size))
        return found

    def changes(self, section: Section | None = None, start: int = 0) -> Iterator[Change]:
        """What has changed: a section from a place on, or everything.

        Raises:
            IntegrityError: a damaged chunk.
        """
        if section is None:
            for each in self.sections():
                yield from self.changes(each)
            return
        half = self._other if section.sort == "new" else self._base
        for index in self._places(half, section, start):
            yield self._change(half, index)

    def checksum(self) -> int:
        """Of what has changed: the same for the same, in any process."""
        self.run()
        return self._other.side.checksum(self._base.side.checksum())

    # --- steps --------------------------------------------------------------------------------------------

    def _steps(self) -> Iterator[None]:
        if self._same_digest():
            self.verdict = "identical"
        elif any(self.kinds):
            yield from self._compare_bytes()
        else:
            yield from self._compare_lines()

    def _same_digest(self) -> bool:
        if self._base.stream != "combined":
            return False
        before, now = (half.artifact.info for half in self._halves)
        whole = self.sizes == (before.size, now.size)
        return whole and before.digest is not None and before.digest == now.digest

    def _compare_bytes(self) -> Iterator[None]:
        if any(half.lines.hole for half in self._halves):
            self.verdict = "different"
            return
        at = 0
        for ours, theirs in zip(*map(_pieces, self._halves), strict=False):
            if ours != theirs:
                pairs = enumerate(zip(ours, theirs, strict=False))
                length = min(len(ours), len(theirs))
                self.differ_at = at + next((place for place, (one, two) in pairs if one != two), length)
                break
            at += len(ours)
            self._read = 2 * at
            yield
        else:
            self.differ_at = at if len(set(self.sizes)) > 1 else None
        self.verdict = "identical" if self.differ_at is None else "different"

    def _compare_lines(self) -> Iterator[None]:
        for half in self._halves:
            before = self._read
            for lines in half.lines.passed():
                half.side.numbers.add(array("q", self._numbers(lines, half.lines.terminator)))
                self._read = before + half.lines.read
                yield
        self._hasher = LineHasher()  # what it remembers is not needed any more
        older, newer = self._base.side, self._other.side
        if older.numbers.same_as(newer.numbers):
            self.verdict = "alike"
            return
        yield from compared(older, newer)
        for half in self._halves:
            if half.side.changed:
                yield from _judge(half)
        self.verdict = "different" if older.changed or newer.changed else "reordered"

    def _numbers(self, lines: Lines, terminator: bytes) -> list[int]:
        if lines.number is not None:
            self._long = True
            return [lines.number]
        text = _seen(lines.data, terminator)
        if self._exact:
            return list(map(hash, text.split(b"\n")))
        return self._hasher.hashes(text + b"\n")

    # --- what is told -------------------------------------------------------------------------------------

    def _places(self, half: _Half, section: Section, start: int) -> Iterator[int]:
        """Where the lines of a section stand in the sequence."""
        if section.telling:
            yield from list(half.telling.values())[start:]
            return
        chosen = sorted(half.telling)
        rank = start  # of the first one that is not chosen, and so many others before it
        for each in chosen:
            if each > rank:
                break
            rank += 1
        places = set(half.telling.values())
        for index in half.side.told_from(rank):
            if index not in places:
                yield index

    def _change(self, half: _Half, index: int) -> Change:
        number = half.lines.line_of(index)
        data, start, end = _line(half, number)
        change = Change(
            half.sort,
            number,
            start,
            end,
            clean(data, half.lines.terminator).removesuffix("\n"),
            complete=len(data) >= end - start,
        )
        if half.side.flags.read(index, 1)[0] != FIRST:
            return change
        there, here = half.side.groups[half.side.numbers.read(index, 1)[0]]
        base, now = (there, here) if half.sort == "new" else (here, there)
        return change._replace(more=here - there - 1, base=base, now=now)


def _kind(artifact: Artifact) -> BinaryType | None:
    return kind_of(artifact.read_bytes(0, HEAD_BYTES, holes="skip"), artifact.info.size)


def _seen(lines: bytes, terminator: bytes) -> bytes:
    """Lines as a reader sees them, LF between them and none at the end."""
    if terminator != b"\n" or not lines.isascii() or not is_plain(lines):
        ended = lines.endswith(terminator)
        lines = clean(lines, terminator).encode()
        # A last line that shows nothing and has no end is a line, too.
        return lines[:-1] if ended else lines
    return lines.removesuffix(b"\n")


def _pieces(half: _Half) -> Iterator[bytes]:
    """The bytes in blocks of one size, so that two may be compared."""
    held = b""
    size = 64 * 1024
    for block in half.artifact.chunks(0, half.lines.size, stream=half.stream, holes="skip"):
        held += block
        while len(held) >= size:
            yield held[:size]
            held = held[size:]
    if held:
        yield held


def _judge(half: _Half) -> Iterator[None]:
    """Look at what has changed again, and find what matters."""
    watcher = CandidateFinder()
    index = rank = 0
    for lines in half.lines.passed():
        told = bytes(half.side.flags.read(index, lines.size)).translate(_IS_TOLD)
        index += lines.size
        if 1 in told:
            data = b"".join(compress(split_lines(lines.data, half.lines.terminator), told))
            for block in _blocks(data, rank, half.lines.terminator):
                watcher.block(block)
            rank += told.count(1)
        yield
    half.telling = _beside(
        half, sorted(each.line.number for each in watcher.candidates if each.score >= STRONG)
    )


def _blocks(data: bytes, rank: int, terminator: bytes) -> Iterator[Block]:
    """Lines as a pass over output of their own, in which each is numbered by its rank."""
    start = 0
    while start < len(data):
        end = data.rfind(terminator, start, start + _JUDGED_BYTES) + 1 or data.find(terminator, start) + 1
        piece = data[start : end or len(data)]
        size = piece.count(terminator) + (not piece.endswith(terminator))
        yield Block(0, rank, piece, size, 0, counted=False, terminator=terminator)
        rank, start = rank + size, start + len(piece)


def _beside(half: _Half, ranks: Sequence[int]) -> dict[int, int]:
    """Those ranks and the ones around them that are the lines around them, too, each with its place."""
    near = {rank: range(max(0, rank - _BEFORE), rank + _AFTER + 1) for rank in ranks}
    places = half.side.places(sorted(set(chain.from_iterable(near.values()))))
    found: dict[int, int] = {}
    for rank, around in near.items():
        found |= {each: places[each] for each in around if places.get(each) == places[rank] + each - rank}
    return dict(sorted(found.items()))


def _line(half: _Half, number: int) -> tuple[bytes, int, int]:
    """A line, of a long one the beginning, and where it is."""
    first, start, lines = half.window
    if not first <= number < first + len(lines):
        last = min(number + _WINDOW_LINES - 1, half.lines.last_with(number))
        try:
            data = half.artifact.read_lines(
                number, last, stream=half.stream, holes="skip", max_bytes=_WINDOW_BYTES
            )
        except RangeTooLargeError:
            return _long_line(half, number)
        first, start = number, _start_of(half, number)
        lines = split_lines(data, half.lines.terminator)
        half.window = (first, start, lines)
    if number - first >= len(lines):
        return b"(dropped since)", start, start  # of an artifact that is still being written
    start += sum(map(len, lines[: number - first]))
    data = lines[number - first]
    return data[:_TEXT_BYTES], start, start + len(data)


def _long_line(half: _Half, number: int) -> tuple[bytes, int, int]:
    start, end = _start_of(half, number), min(_start_of(half, number + 1), half.lines.size)
    data = half.artifact.read_bytes(start, min(end, start + _TEXT_BYTES), stream=half.stream, holes="skip")
    return data, start, end


def _start_of(half: _Half, number: int) -> int:
    return half.artifact.locate(line=number, stream=half.stream, holes="skip").byte
