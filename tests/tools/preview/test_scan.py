"""One pass over output: what it counts, what it keeps, and that it does not matter how the bytes came."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import lines_of, outputs

from spillstore_tools.preview.scan import scan as module
from spillstore_tools.preview.scan import windows
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.text import long_line
from spillstore_tools.preview.text.clean import clean

ENDS = st.sampled_from([b"\n", b"\r"])
ROOMS = st.tuples(st.integers(0, 60), st.integers(0, 60))


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that little data has many of them."""
    monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(long_line, "BLOCK", 16)


def scanned(pieces, *, head=20, tail=20, **options):
    scan = Scan(head_chars=head, tail_chars=tail, **options)
    for piece in pieces:
        scan.feed(piece)
    assert scan.size == sum(map(len, pieces))
    return scan.finish()


def pieces_of(data: bytes, cuts) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[low:high] for low, high in pairwise(places)]


def looks(overview) -> tuple:
    """All that an overview says, in plain values."""
    blocks = [
        (
            block.start,
            block.end,
            block.first_line,
            block.lines,
            block.chars,
            [line.text for line in block.forward()],
        )
        for block in (*overview.head, *overview.tail)
    ]
    return overview.size, overview.lines, overview.chars, overview.whole, len(overview.head), blocks


def assert_lines(lines, data: bytes, terminator: bytes = b"\n") -> list[int]:
    """Each line is the line of that number; returns the numbers."""
    expected, at = {}, 0
    for number, raw in enumerate(lines_of(data, terminator), 1):
        expected[number] = (at, at + len(raw), len(clean(raw, terminator)))
        at += len(raw)
    found = {line.number: (line.start, line.end, line.chars) for line in lines}
    assert found == {number: expected[number] for number in found}
    return list(found)


class Blocks:
    """Remembers what it was shown."""

    def __init__(self) -> None:
        self.spans = []
        self._ahead = None

    def ahead(self, start, line, data, terminator, cuts) -> None:
        self._ahead = start, line, data, terminator

    def block(self, block) -> None:
        self.spans.append((block.start, block.end, block.first_line, block.lines))
        if self._ahead is not None and block.long is None:
            start, line, data, terminator = self._ahead
            if start <= block.start and block.end <= start + len(data):  # its last line may go on behind
                assert data[block.start - start :].startswith(block.raw)
                assert block.first_line == line + data[: block.start - start].count(terminator)


@pytest.mark.long
@given(
    outputs,
    st.lists(st.integers(0, 2000), max_size=12),
    ROOMS,
    st.sampled_from([0, 50, 10_000]),
    ENDS,
    st.booleans(),
)
def test_feeds(small_blocks, data, cuts, rooms, keep, terminator, exact):
    """What a pass has seen does not depend on how the bytes were cut."""
    options = {
        "head": rooms[0],
        "tail": rooms[1],
        "keep_bytes": keep,
        "terminator": terminator,
        "exact": exact,
    }
    once, often = Blocks(), Blocks()
    expected = scanned([data], observer=once, **options)
    assert looks(expected) == looks(scanned(pieces_of(data, cuts), observer=often, **options))
    assert once.spans == often.spans
    assert looks(expected) == looks(scanned([memoryview(data)], **options))


LINES = st.lists(
    st.sampled_from(
        [
            b"line 1",
            b"",
            b"error: 7",
            b"x" * 40,
            b"no Error here",
            b"warning: x" * 3,
            b"\xc3\xa9 failed",
            b"fail\r",
        ]
    ),
    max_size=60,
)


@given(LINES, st.lists(st.integers(0, 2000), max_size=12), ENDS)
def test_what_matters_is_found_however_it_comes(small_blocks, lines, cuts, terminator):
    """Lines that were searched ahead of their blocks are those that a search of each block finds."""
    data = terminator.join(lines)
    kept = []
    for pieces in ([data[at : at + 1] for at in range(len(data))], [data], pieces_of(data, cuts)):
        finder = CandidateFinder()
        scanned(pieces, terminator=terminator, observer=finder)
        kept.append(
            [
                (each.line.number, each.line.text, each.score, each.more, each.last, each.chars_before)
                for each in finder.candidates
            ]
        )
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.long
@given(outputs, ROOMS, st.sampled_from([0, 50, 10_000]), ENDS)
def test_counts_and_windows(small_blocks, data, rooms, keep, terminator):
    """Size, lines and characters are right, and both windows hold at least what was asked for, or everything."""
    blocks = Blocks()
    overview = scanned(
        [data], head=rooms[0], tail=rooms[1], keep_bytes=keep, terminator=terminator, observer=blocks
    )
    whole = clean(data, terminator)
    assert (overview.size, overview.lines, overview.chars) == (
        len(data),
        len(lines_of(data, terminator)),
        len(whole),
    )
    assert overview.counted
    head = assert_lines(overview.forward(), data, terminator)
    tail = assert_lines(overview.backward(), data, terminator)
    everything = list(range(1, overview.lines + 1))
    assert everything[: len(head)] == head
    assert everything[::-1][: len(tail)] == tail
    assert sum(line.chars for line in overview.forward()) >= min(rooms[0], len(whole))
    assert sum(line.chars for line in overview.backward()) >= min(
        rooms[1], len(whole) - sum(b.chars for b in overview.head)
    )
    if overview.whole:
        assert head == tail[::-1] == everything
    if len(data) <= keep:
        assert overview.text() == whole
    assert overview.text() in {None, whole}
    assert [span[0] for span in blocks.spans] + [len(data)] == [0] + [span[1] for span in blocks.spans]


@given(outputs, st.data(), ENDS)
def test_hole(small_blocks, data, draw, terminator):
    """Behind a hole, lines have the numbers they have in all of the output."""
    data += b"end" + terminator
    low = draw.draw(st.integers(0, len(data) - 1))
    high = draw.draw(st.integers(low + 1, len(data)))
    scan = Scan(head_chars=30, tail_chars=30, terminator=terminator)
    for piece in pieces_of(data[:low], [7, 20]):
        scan.feed(piece)
    torn = not data[:high].endswith(terminator)
    scan.skip(high - low, data.count(terminator, 0, high) + torn, torn=torn)
    for piece in pieces_of(data[high:], [3, 11]):
        scan.feed(piece)
    overview = scan.finish()
    assert (overview.size, overview.lines, overview.whole) == (len(data), data.count(terminator), False)
    assert_lines(overview.forward(), data, terminator)
    assert_lines(overview.backward(), data, terminator)
    assert all(line.end <= low for line in overview.forward())
    assert all(line.start >= high for line in overview.backward())


def test_hole_counts_bytes():
    """In the place of the characters of lines that a hole has torn stand their bytes."""
    scan = Scan(head_chars=10, tail_chars=10)
    scan.feed(b"one\ntw")
    scan.skip(100, 7, torn=True)
    scan.feed(b"rn\nnine")
    scan.feed(b"\n")
    overview = scan.finish()
    assert (overview.size, overview.lines, overview.chars) == (114, 8, 114)
    assert [(line.number, line.text) for line in overview.backward()] == [(8, "nine\n")]


def test_uncounted():
    """A pass that need not count is as good but for the count: lines, size and both windows."""
    data = b"".join(
        b"%06d \xe4\xb8\x96\xe7\x95\x8c\xe4\xb8\x96\xe7\x95\x8c\n" % number for number in range(40_000)
    )
    data += b"\x00" * 200_000 + b"\nend\n"
    exact = scanned([data], head=50_000, tail=100_000)
    rough = scanned([data], head=50_000, tail=100_000, exact=False)
    assert (exact.counted, rough.counted) == (True, False)
    assert (exact.size, exact.lines) == (rough.size, rough.lines)
    assert exact.chars == len(clean(data)) < rough.chars
    assert exact.head == rough.head
    assert sum(line.chars for line in rough.backward()) >= 100_000
    low, high = (end.position for end in _ends(rough))
    assert rough.gap(low, high, 5).chars is None


def _ends(overview):
    from spillstore_tools.preview.strategies.ends import beginning, ending
    from spillstore_tools.preview.strategies.request import Request

    head = beginning(overview, 100, Request(limit=200))
    return head, ending(overview, 100, Request(limit=200), head.position)


@pytest.mark.parametrize(
    "line", [b"\x00" * 60_000 + b"\n", b"x\r" * 40_000 + b"\n", b"\x1b[m" * 30_000 + b"\n"]
)
def test_memory(monkeypatch, line):
    """Output of which next to nothing shows is not held for want of characters."""
    monkeypatch.setattr(windows, "WINDOW_BYTES", 200_000)
    scan, count = Scan(head_chars=8000, tail_chars=8000), 1_500_000 // len(line)
    for _ in range(count):
        scan.feed(line)
    overview = scan.finish()
    for window in (overview.head, overview.tail):
        assert sum(block.held for block in window) <= windows.WINDOW_BYTES + 200_000
    assert (overview.lines, overview.size) == (count, count * len(line))


@pytest.mark.parametrize("options", [{"keep_bytes": 300_000}, {"head": 100_000}, {"tail": 100_000}])
def test_long_line_that_is_kept(options):
    """A long line is held whole where everything up to its size is to be kept."""
    data = b"[" + b"1, " * 70_000 + b"1]\nmore\n"
    overview = scanned([data[:100], data[100:]], **options)
    assert overview.text() == data.decode()
    assert [block.long for block in overview.head + overview.tail] == [None] * len(
        overview.head + overview.tail
    )
    assert scanned([data]).text() is None


def test_windows_where_not_all_is_counted():
    """Both windows hold as many characters as asked for, also where bytes stand for them."""
    scan = Scan(head_chars=500_000, tail_chars=500_000, exact=False)
    for _ in range(1200):
        scan.feed("\U0001f600".encode() * 1000 + b"\n")
    overview = scan.finish()
    assert not overview.counted
    for window in (overview.head, overview.tail):
        assert sum(line.chars for block in window for line in block.forward()) >= 500_000


def test_nothing():
    """No output is an overview of nothing."""
    overview = scanned([])
    assert (overview.size, overview.lines, overview.chars, overview.whole, overview.text()) == (
        0,
        0,
        0,
        True,
        "",
    )


@pytest.mark.parametrize(
    ("begin", "kept"),
    [
        ('{"a": 1', True),
        ("[1, 2", True),
        ('\ufeff\n [ {"a"', True),
        ("{}", True),
        ("[[1", True),
        ("[INFO] started", False),
        ("[2026-11-20 10:00:00] started", False),
        ("[1] started", False),
        ("{name} started", False),
        ("text", False),
    ],
)
def test_what_begins_as_json_is_kept_longer(begin, kept):
    """Up to a size of its own; a log whose lines begin with a bracket is none."""
    scan = Scan(head_chars=100, tail_chars=100, keep_bytes=1000, keep_json=1_000_000)
    for piece in (begin.encode(), b" x" * 200_000, b"\n"):
        scan.feed(piece)
    assert scan.finish().complete == kept


@pytest.mark.long
@pytest.mark.parametrize("text_only", [True, False])
def test_binary_content_of_which_no_line_is_shown_is_only_counted(text_only):
    """Nothing of it is looked for; sizes, lines and both ends are as ever."""
    data = bytes(random.Random(3).randbytes(600_000))
    observer = Blocks()
    scan = Scan(head_chars=100, tail_chars=100, observer=observer, exact=False, text_only=text_only)
    scan.feed(data)
    overview = scan.finish()
    assert (overview.size, overview.lines) == (len(data), data.count(b"\n") + (not data.endswith(b"\n")))
    assert next(overview.forward()).end == data.find(b"\n") + 1
    assert (not observer.spans, overview.redrawn == 0) == (text_only, text_only)


@pytest.mark.long
def test_text_of_which_binary_content_would_not_be_shown_is_looked_at():
    """Text is text whatever comes later."""
    observer = Blocks()
    scan = Scan(head_chars=100, tail_chars=100, observer=observer, text_only=True)
    scan.feed(b"text\n" * 30_000 + bytes(100_000) + b" 10%\r 20%\r100%\n")
    assert scan.finish().redrawn == 8
    assert len(observer.spans) > 1
