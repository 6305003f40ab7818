"""Strategies: the law of notices for each of them, the unit tests of S1, and content that is hard to cut."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from law import CLUSTERS, assert_law, outputs

from spillstore.exceptions import InvalidSettingError
from spillstore_tools.preview import strategies as module
from spillstore_tools.preview.parts import Gap, Note, Shown, gaps_of, length_of, text_of
from spillstore_tools.preview.scan import scan as scan_module
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import names, register, strategy
from spillstore_tools.preview.strategies.ends import beginning, ending
from spillstore_tools.preview.strategies.fit import merged
from spillstore_tools.preview.strategies.request import Request, omitted_marker
from spillstore_tools.preview.text import long_line
from spillstore_tools.preview.text.clean import clean

ENDS = st.sampled_from([b"\n", b"\r"])


def long_marker(gap: Gap) -> str:
    """A marker like that of the profile ``default``, of a store whose bytes 40 to 90 are gone."""
    what = f"bytes {gap.start}-{gap.end}" if gap.inside else f"lines {gap.first_line}-{gap.last_line}"
    return f"[... {what} omitted{' (partly dropped)' if gap.start < 90 and gap.end > 40 else ''} ...]\n"


def overview_of(name, data, *, terminator=b"\n", limit, feed=None, whole=True):
    chosen = strategy(name)
    scan = Scan(
        head_chars=limit,
        tail_chars=limit,
        keep_bytes=min(chosen.keep_bytes, 1 << 20),
        terminator=terminator,
        observer=chosen.observer(),
    )
    if not whole:
        scan._whole_bytes = 0  # as of a line that is too long for the limit
    for at in range(0, len(data), feed or len(data) or 1):
        scan.feed(data[at : at + (feed or len(data))])
    return scan.finish()


def cut(name, data, *, terminator=b"\n", feed=None, whole=True, **request):
    """The parts, of which all that must hold holds; None if the strategy is not for this."""
    overview = overview_of(name, data, terminator=terminator, limit=request["limit"], feed=feed, whole=whole)
    parts = strategy(name).cut(overview, Request(**request))
    if parts is not None:
        assert_law(parts, data, terminator, clean=clean)
        assert all(gap.chars is not None for gap in gaps_of(parts))
        if name != "none":
            assert length_of(parts) <= request["limit"]
    return parts


def shown(name, data, **request):
    return text_of(cut(name, data, **request))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(scan_module, "BLOCK", 64)
    monkeypatch.setattr(long_line, "BLOCK", 64)


REQUESTS = st.fixed_dictionaries(
    {
        "limit": st.integers(0, 500),
        "head_ratio": st.sampled_from([0.0, 0.3, 0.6, 1.0]),
        "head_lines": st.sampled_from([0, 1, 3, 300]),
        "tail_lines": st.sampled_from([0, 1, 3, 200]),
        "line_limit": st.sampled_from([None, 1, 30, 80, 500]),
        "repeats": st.booleans(),
        "marker": st.sampled_from([omitted_marker, long_marker]),
    }
)


@pytest.mark.parametrize("name", names())
def test_law(small_blocks, name):
    """Whatever is cut, and however: nothing is missing that no gap tells, and the limit is kept."""

    @given(outputs, REQUESTS, ENDS, st.booleans())
    def law(data, request, terminator, whole):
        cut(name, data, terminator=terminator, whole=whole, **request)

    law()


@given(outputs, REQUESTS)
def test_large_blocks(data, request):
    """The same where all the output is one block."""
    for name in ("head_tail", "lines", "smart"):
        cut(name, data, **request)


@given(st.lists(st.sampled_from([*CLUSTERS, "\n"]), min_size=10, max_size=80), st.integers(1, 200))
def test_nothing_is_torn(clusters, limit):
    """No gap begins or ends inside of what is drawn as one."""
    data, borders, at = "".join(clusters).encode(), {0}, 0
    for cluster in clusters:
        at += len(cluster.encode())
        borders.add(at)
    for name in names():
        for gap in gaps_of(cut(name, data, limit=limit, line_limit=60) or []):
            assert {gap.start, gap.end} <= borders


def test_names():
    """Six strategies are known by name, others may join them, and no name is taken twice."""
    assert names() == ("element", "head", "head_tail", "lines", "none", "smart", "tail")
    with pytest.raises(InvalidSettingError, match="already"):
        register("head", strategy)
    with pytest.raises(InvalidSettingError, match="element, head, head_tail, lines, none, smart, tail"):
        strategy("middle")


def test_register(monkeypatch):
    """A strategy that was registered is found."""
    monkeypatch.setattr(module, "_REGISTRY", dict(module._REGISTRY))
    register("mine", lambda: strategy("none"))
    assert type(strategy("mine")) is type(strategy("none"))


# S1, HeadTailStrategyTests and TailStrategyTests; those of elements are in test_element.py.


def test_head_tail_does_not_truncate_content_under_limit():
    """Content under the limit is shown as it is."""
    content = "This is a short piece of content under the limit."
    assert cut("head_tail", content.encode(), limit=1000) == [Shown(content, 0, len(content))]


def test_head_tail_preserves_head_and_tail():
    """Of content above the limit both ends are there, 60 to 40 of what the marker leaves, and the marker between."""
    text = shown("head_tail", b"A" * 50 + b"B" * 100 + b"C" * 50, limit=100)
    marker = "\n... [0 lines / 139 chars omitted] ...\n"
    assert text == "A" * 36 + marker + "C" * 25


def test_head_tail_marker_has_counts():
    """The marker says how many lines and characters are omitted, and the gap says the same."""
    parts = cut("head_tail", "\n".join(f"Line {number}" for number in range(1, 51)).encode(), limit=100)
    (gap,) = gaps_of(parts)
    found = re.search(r"\.\.\. \[(\d+) lines / (\d+) chars omitted\] \.\.\.", text_of(parts))
    assert (int(found[1]), int(found[2])) == (gap.lines, gap.chars)
    assert gap.lines == 40


def test_head_tail_respects_utf8_boundaries():
    """No character of many bytes is cut in two."""
    text = shown("head_tail", ("Hello 世界 " + "X" * 100 + " 再见 World").encode(), limit=50)
    assert re.fullmatch(r"[\x00-\x7F\u4e00-\u9fff\s]+", text)


def test_tail_keeps_only_tail_lines():
    """The last five lines, behind a marker."""
    text = shown(
        "tail", "\n".join(f"Line {number:02}" for number in range(1, 21)).encode(), limit=200, tail_lines=5
    )
    assert text == "... [15 lines / 120 chars omitted] ...\nLine 16\nLine 17\nLine 18\nLine 19\nLine 20"


def test_tail_preserves_complete_lines():
    """Each line is whole."""
    text = shown("tail", b"Line 1\nLine 2\nLine 3\nLine 4\nLine 5", limit=100, tail_lines=3)
    assert text == "... [2 lines / 14 chars omitted] ...\nLine 3\nLine 4\nLine 5"


# The other strategies.


def test_head():
    """The first lines, and a marker behind them."""
    text = shown("head", b"one\ntwo\nthree\n" * 20, limit=100, head_lines=2)
    assert text == "one\ntwo\n\n... [58 lines / 272 chars omitted] ..."


def test_lines():
    """Whole lines from both ends."""
    text = shown(
        "lines", b"".join(b"%03d\n" % number for number in range(100)), limit=1000, head_lines=2, tail_lines=1
    )
    assert text == "000\n001\n\n... [97 lines / 388 chars omitted] ...\n099\n"


def test_none():
    """Everything, however long, unless it was too large to be held."""
    data = b"line\n" * 1000
    assert shown("none", data, limit=10) == data.decode()
    assert cut("none", b"x" * 3_000_000, limit=10) is None


def test_room_is_used():
    """The limit is used to the last character where any place will do."""
    for limit in range(60, 400):
        assert limit - 3 < len(shown("head_tail", b"0123456789\n" * 100, limit=limit)) <= limit


def test_late_gap():
    """A gap that begins late has longer numbers than one of everything; the limit holds all the same."""
    data = b"x" * 9 + b"\n" + b"".join(b"%07d\n" % number for number in range(20_000))
    for limit in range(3000, 3012):
        for name in ("head_tail", "lines", "smart"):
            cut(name, data, limit=limit, marker=long_marker)


# Content that is hard to cut (AC-086, AC-087, AC-088, AC-097, AC-098).

CUTTING = [name for name in names() if name not in {"none", "element"}]


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize("length", [10_240, 65_535, 65_536, 200_000])
def test_very_long_lines(name, length):
    """Of lines however long the ends are shown, and what is between is told in bytes (AC-086)."""
    line = b"a" + b"x" * length + b"z\n"
    parts = cut(name, line * 3, limit=2000, line_limit=500)
    assert text_of(parts).startswith("a") or name == "tail"
    assert text_of(parts).endswith("z\n") or name == "head"
    assert all(gap.inside for gap in gaps_of(parts) if gap.lines == 0)


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize("length", [9_000, 65_536, 1_000_000])
def test_no_newline(name, length):
    """Output without a single line end is cut like any (AC-087)."""
    text = shown(name, b"a" + b"x" * length + b"z", limit=1000)
    assert text.startswith("a") or name == "tail"
    assert text.endswith("z") or name in {"head", "smart"}
    assert len(text) > 300


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize(("ending", "terminator"), [(b"\r\n", b"\n"), (b"\n", b"\n"), (b"\r", b"\r")])
def test_line_endings(name, ending, terminator):
    """Lines are the same lines whichever way they end (AC-088)."""
    lines = [b"line %d" % number for number in range(1000)]
    plain = text_of(cut(name, b"\n".join(lines), limit=500))
    text = text_of(cut(name, ending.join(lines), limit=500, terminator=terminator))
    assert re.sub(r"\d+", "", plain) == re.sub(r"\d+", "", text)
    assert "\r" not in text


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize(
    "data", [b" " * 5000, b"\n" * 5000, b" \t\r\n" * 2000, b"\t" * 100_000 + b"\n", b"\n" * 200_000]
)
def test_white_space(name, data):
    """White space alone is cut like anything (AC-097)."""
    assert 0 < len(shown(name, data, limit=300)) <= 300


@pytest.mark.parametrize("name", CUTTING)
def test_null_bytes(name):
    """A null byte is shown as a sign, so that what it parts does not run together, and never reaches a model (AC-098)."""
    assert shown(name, b"a\x00b\x00\n\x00", limit=300) == "a\u2400b\u2400\n\u2400"
    assert "\x00" not in shown(name, b"\x00text\x00\n" * 1000, limit=300)
    assert 0 < len(shown(name, b"\x00" * 300_000, limit=300)) <= 300


@pytest.mark.parametrize("name", CUTTING)
def test_empty(name):
    """No output is no text, whatever the limit."""
    assert shown(name, b"", limit=0) == ""


@pytest.mark.parametrize("name", CUTTING)
@pytest.mark.parametrize("limit", [0, 1, 20, 38, 39, 60])
def test_small_limits(name, limit):
    """A limit that leaves no room for output still says what is missing, as far as it goes."""
    text = shown(name, b"some line\n" * 1000, limit=limit)
    assert len(text) <= limit
    assert "... [1000 lines / 10000 chars omitted] ...".startswith(text) or limit == 60


# What strategies are made of.


def test_repeats():
    """Equal lines are shown as one, and the room that this gains shows more."""
    data = b"begin\n" + b"the very same line again\n" * 500 + b"end\n"
    head = shown("head", data, limit=200, repeats=True)
    assert head == "begin\nthe very same line again\n  [the same 499 more times, lines 3-501]\nend\n"
    tail = shown("tail", data, limit=200, repeats=True)
    assert tail == head
    assert "the same" not in shown("head", data, limit=200)


def test_repeats_without_room():
    """Where there is no room for a run and its gap there may be room for one line of it."""
    overview = overview_of("head", b"a\n" + b"0123456789\n" * 100, limit=5000)
    request = Request(limit=500, repeats=True)
    head = beginning(overview, 20, request)
    assert (text_of(head.parts), head.position) == ("a\n0123456789\n", Position(13, 3))
    tail = ending(overview, 20, request, Position(0, 1))
    assert (text_of(tail.parts), tail.position) == ("0123456789\n", Position(1091, 101))


def test_repeats_to_the_tail():
    """A run that the head ends in is not shown by the tail once more."""
    data = b"0123456789\n" * 100
    overview = overview_of("head", data, limit=5000)
    request = Request(limit=500, repeats=True)
    head = beginning(overview, 20, request)
    tail = ending(overview, 80, request, head.position)
    assert text_of(tail.parts) == "0123456789\n  [the same 98 more times, lines 3-100]\n"
    assert (tail.position, tail.chars) == (Position(11, 2), 99 * 11)


@example([("a line", 1), ("x" * 40, 9)], True, {"limit": 99, "repeats": True}, 87, -1, False, None)  # fmt: skip
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a", "bb", "a line", "x" * 40]), st.sampled_from([1, 2, 9])),
        min_size=1,
        max_size=9,
    ),
    st.booleans(),
    REQUESTS,
    st.integers(0, 2000),
    st.integers(-1, 200),
    st.booleans(),
    st.sampled_from([None, None, 0, 3, 300]),
)
def test_many_plain_lines_are_taken_as_each_of_them_would_be(runs, ended, request, room, border, exact, most):
    """Text, place, and what is counted are those of the lines one by one."""
    lines = [line for line, times in runs for _ in range(times)]
    data = "\n".join([*lines, "end\n" if ended else "end"]).encode()
    overview = overview_of("head", data, limit=5000)
    blocks = tuple(dataclasses.replace(block, is_clean=False) for block in (*overview.head, *overview.tail))
    one_by_one = dataclasses.replace(overview, head=blocks, tail=())
    places = [0, *(place + 1 for place, byte in enumerate(data) if byte == 10)]
    line = border % len(places)
    after, stop = Position(places[line], line + 1), None if border < 0 else border
    request = Request(**request)
    for both in (
        [
            beginning(each, room, request, stop=stop, most=most, exact=exact)
            for each in (overview, one_by_one)
        ],
        [ending(each, room, request, after, most=most, exact=exact) for each in (overview, one_by_one)],
    ):
        for end in both:
            end.parts = merged(end.parts)
        assert both[0] == both[1]


def test_merged():
    """Neighbouring pieces become one; gaps and notes part them."""
    gap, note = Gap(2, 3, 1, 1, 0, 1, text="."), Note("!")
    parts = [
        Shown("a", 0, 1),
        Shown("b", 1, 2),
        gap,
        Shown("d", 3, 4),
        note,
        Shown("e", 4, 5),
        Shown("f", 5, 6),
    ]
    assert merged(parts) == [Shown("ab", 0, 2), gap, Shown("d", 3, 4), note, Shown("ef", 4, 6)]
    assert merged([]) == []
