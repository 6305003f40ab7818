r"""The differences of two artifacts: cleaned lines that one has and the other has not, without times, numbers, addresses.

    >>> import tempfile
    >>> from spillstore import Store
    >>> with tempfile.TemporaryDirectory() as root, Store(root, free_disk_floor=0).session("demo") as session:
    ...     before = session.put("10:00:01 start\ntest_a ok in 0.1s\ntest_b ok in 0.2s\n", source="doc")
    ...     now = session.put("11:30:59 start\ntest_a ok in 0.3s\ntest_b FAILED\n", source="doc")
    ...     found = Differences(before, now)
    ...     [(change.sort, change.line, change.text) for change in found.changes()]
    [('new', 3, 'test_b FAILED'), ('gone', 3, 'test_b ok in 0.2s')]

Lines are compared as a multiset (``multiset``): a line that came three times and now comes five times is two new lines.
Their order is not compared, so a block that has moved does not count. A line is represented by 64 bits: Python's own hash
of the folded bytes, whose key differs in each process, so nobody can construct two lines with the same hash; by chance,
two of forty million lines have it in one comparison of 20,000.

The result has sections: important new lines with their neighbours, important lines that are gone, the other new lines,
the other lines that are gone; each in the order of its artifact. What is important is decided as for previews
(``preview.strategies.candidates``).

A comparison works in steps; it can be interrupted after any number of seconds and continued.
"""

from __future__ import annotations

import threading
import time
from array import array
from typing import TYPE_CHECKING, Literal, NamedTuple

from spillstore.text_scan import is_plain
from spillstore_tools.compare.changed_lines import ChangedLines
from spillstore_tools.compare.multiset import subtract
from spillstore_tools.output.media_type import kind_of
from spillstore_tools.preview.binary.recognise import HEAD_BYTES
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.normalise import LineHasher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillstore import Artifact
    from spillstore.info import Stream
    from spillstore_tools.compare.changed_lines import Change, Sort
    from spillstore_tools.compare.line_reader import Lines
    from spillstore_tools.preview.binary.magic import BinaryType

Verdict = Literal["identical", "alike", "reordered", "different"]
_BLOCK = 64 * 1024


class Section(NamedTuple):
    """Changes that are shown together.

    Attributes:
        sort: ``new`` or ``gone``.
        important: whether these are the important changes and their neighbours, or all others.
        size: their number.
    """

    sort: Sort
    important: bool
    size: int


class Differences:
    """The comparison of an artifact with an older one. Cost: about 50 ns a byte; flat memory.

    Args:
        base: the older one.
        artifact: the newer one.
        stream: ``combined``, ``stdout`` or ``stderr`` of both.
        exact: whether times, numbers and addresses are compared, too.
        sizes: how many bytes of the base and of the newer one are compared; None for all that there are now.

    Attributes:
        stream: the stream that is compared.
        verdict: ``identical`` byte for byte; ``alike`` for the same lines in the same order; ``reordered`` for the same
            lines in another order; ``different``. None until it is known.
        kinds: the binary types of the base and of the newer one, None for text; binary content is compared by bytes.
        differ_at: the first byte that differs, of binary content.
        lock: protects the comparison; hold it while using one that other threads use, too.
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
        known = sizes or (None, None)
        self._base = ChangedLines(base, stream, known[0], "gone")
        self._other = ChangedLines(artifact, stream, known[1], "new")
        self.stream: Stream = stream
        self._exact = exact
        self._hasher = LineHasher()
        self._long = False
        self.lock = threading.RLock()
        self.verdict: Verdict | None = None
        self.kinds: list[BinaryType | None] = [_kind(each.artifact) for each in self._both]
        self.differ_at: int | None = None
        self._read = 0  # bytes of both together
        self._error: BaseException | None = None
        self._work = self._steps()

    @property
    def _both(self) -> tuple[ChangedLines, ChangedLines]:
        return self._base, self._other

    @property
    def sizes(self) -> tuple[int, int]:
        """The bytes of the base and of the newer one that are compared."""
        return self._base.lines.size, self._other.lines.size

    @property
    def differs(self) -> bool:
        """Whether lines are new or gone, or the bytes of binary content differ."""
        self.run()
        return self.verdict == "different"

    @property
    def progress(self) -> float:
        """The part of both that was read and folded, which takes the most time: from 0 to 1."""
        return self._read / (sum(self.sizes) or 1)

    @property
    def notes(self) -> list[str]:
        """What the comparison has left out or simplified, for people."""
        notes = [
            f"{name}: {note}"
            for name, each in (("base", self._base), ("now", self._other))
            for note in each.lines.notes
        ]
        if self._long and not self._exact:
            notes.append("lines above 1 MiB were compared as they are stored")
        return notes

    def run(self, seconds: float | None = None) -> bool:
        """Compare for so many seconds, or to the end; returns whether it has ended. The next call continues.

        Raises:
            IntegrityError: a chunk is damaged.
            OSError: there is no room for the temporary files.
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
                self._error = error  # a part of a comparison is of no use
                raise
        return True

    def totals(self) -> tuple[int, int, int]:
        """Lines that are new, lines that are gone, and lines that both have."""
        self.run()
        new, gone = self._other.multiset.changed, self._base.multiset.changed
        return new, gone, len(self._other.multiset.numbers) - new

    def sections(self) -> list[Section]:
        """The sections that have changes, in order."""
        self.run()
        found = []
        for important in (True, False):
            for each in (self._other, self._base):
                size = len(each.important) if important else each.multiset.shown - len(each.important)
                if size:
                    found.append(Section(each.sort, important, size))
        return found

    def changes(self, section: Section | None = None, start: int = 0) -> Iterator[Change]:
        """The changes of a section from the ``start``-th on, or all.

        Raises:
            IntegrityError: a chunk is damaged.
        """
        if section is None:
            for each in self.sections():
                yield from self.changes(each)
            return
        side = self._other if section.sort == "new" else self._base
        yield from map(side.change, side.places(start, important=section.important))

    def checksum(self) -> int:
        """A checksum of the changes: the same for the same changes, in any process."""
        self.run()
        return self._other.multiset.checksum(self._base.multiset.checksum())

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
        before, now = (each.artifact.info for each in self._both)
        whole = self.sizes == (before.size, now.size)
        return whole and before.digest is not None and before.digest == now.digest

    def _compare_bytes(self) -> Iterator[None]:
        if any(each.lines.hole for each in self._both):
            self.verdict = "different"
            return
        at = 0
        for ours, theirs in zip(*map(_pieces, self._both), strict=False):
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
        for each in self._both:
            before = self._read
            for lines in each.lines.blocks():
                each.multiset.numbers.add(array("q", self._numbers(lines, each.lines.terminator)))
                self._read = before + each.lines.read
                yield
        self._hasher = LineHasher()  # its memory is not needed any more
        older, newer = self._base.multiset, self._other.multiset
        if older.numbers.same_as(newer.numbers):
            self.verdict = "alike"
            return
        yield from subtract(older, newer)
        for each in self._both:
            if each.multiset.changed:
                yield from each.judge()
        self.verdict = "different" if older.changed or newer.changed else "reordered"

    def _numbers(self, lines: Lines, terminator: bytes) -> list[int]:
        if lines.number is not None:
            self._long = True
            return [lines.number]
        text = _cleaned(lines.data, terminator)
        if self._exact:
            return list(map(hash, text.split(b"\n")))
        return self._hasher.hashes(text + b"\n")


def _kind(artifact: Artifact) -> BinaryType | None:
    return kind_of(artifact.read_bytes(0, HEAD_BYTES, holes="skip"), artifact.info.size)


def _cleaned(lines: bytes, terminator: bytes) -> bytes:
    """Cleaned lines with LF between them and none at the end."""
    if terminator != b"\n" or not lines.isascii() or not is_plain(lines):
        ended = lines.endswith(terminator)
        lines = clean(lines, terminator).encode()
        # An empty last line without an ending is a line, too.
        return lines[:-1] if ended else lines
    return lines.removesuffix(b"\n")


def _pieces(side: ChangedLines) -> Iterator[bytes]:
    """The bytes in blocks of one size, so that they can be compared with another artifact's."""
    held, size = b"", _BLOCK
    for block in side.artifact.chunks(0, side.lines.size, stream=side.stream, holes="skip"):
        held += block
        while len(held) >= size:
            yield held[:size]
            held = held[size:]
    if held:
        yield held
