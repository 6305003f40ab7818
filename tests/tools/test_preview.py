"""The bounded view of a long output says exactly what it leaves out."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from spillstore_tools.cli._preview import Content, preview
from spillstore_tools.cli._text import clean_lines, split_lines

FOOTER = "[the end]\n"
LIMIT = 600


def notice(gap):
    return f"[gap {gap.start}-{gap.end} lines {gap.first_line}-{gap.last_line}]\n"


def content_of(data: bytes, window: int | None = None) -> Content:
    lines = len(split_lines(data))
    if window is None or 2 * window >= len(data):
        return Content(size=len(data), lines=lines, head=data, tail=b"")
    return Content(size=len(data), lines=lines, head=data[:window], tail=data[-window:])


def show(data: bytes, window: int | None = None, limit: int = LIMIT, line_limit: int = 200):
    return preview(content_of(data, window), notice, FOOTER, limit=limit, line_limit=line_limit)


def ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


short_lines = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=60), max_size=80
)
anything = st.one_of(
    st.binary(max_size=4000),
    short_lines.map(lambda lines: "\n".join(lines).encode()),
    st.lists(st.integers(0, 2000), max_size=8).map(lambda sizes: b"\n".join(b"x" * size for size in sizes)),
    st.lists(st.integers(0, 900), max_size=8).map(
        lambda sizes: "\n".join("é✓" * size for size in sizes).encode()
    ),
)


@given(anything, st.none() | st.integers(100, 2000), st.integers(300, 2000))
def test_a_preview_is_never_longer_than_its_limit(data, window, limit):
    """The limit counts code points, notices included."""
    assert len(show(data, window, limit).text) <= limit


@given(short_lines)
def test_what_fits_is_shown_whole(lines):
    """Output below the limit is printed as it is, cleaned."""
    data = "\n".join(lines).encode()
    whole = ended(clean_lines(data)) + FOOTER
    if len(whole) <= LIMIT:
        assert show(data).text == whole
        assert show(data).gap is None


@given(short_lines, st.none() | st.integers(500, 2000))
def test_head_gap_and_tail_are_the_whole(lines, window):
    """Between short lines a gap begins and ends with a line, and its bytes and lines are exactly what is missing."""
    data = "\n".join(lines).encode()
    shown = show(data, window)
    gap = shown.gap
    if gap is None:
        assert shown.text == ended(clean_lines(data)) + FOOTER
        return
    head, tail = clean_lines(data[: gap.start]), clean_lines(data[gap.end :])
    assert shown.text == ended(head) + notice(gap) + ended(tail) + FOOTER
    if not gap.inside:
        assert data[: gap.start].count(b"\n") == gap.first_line - 1
        assert len(split_lines(data[: gap.end])) == gap.last_line
        assert data[gap.end - 1 : gap.end] == b"\n"


@given(st.integers(3, 200))
def test_both_ends_are_shown(count):
    """Neither end takes all the room."""
    data = b"".join(b"number %04d\n" % number for number in range(count))
    shown = show(data)
    assert shown.text.startswith("number 0000\n")
    assert f"number {count - 1:04}\n" in shown.text


def test_one_huge_line():
    """A line that is everything there is shows both its ends and names the bytes between."""
    data = b"a" * 50_000 + b"z" * 50_000
    gap = show(data, 5000).gap
    assert (gap.first_line, gap.last_line, gap.inside) == (1, 1, True)
    text = show(data, 5000).text
    assert text == "a" * gap.start + "\n" + notice(gap) + "z" * (len(data) - gap.end) + "\n" + FOOTER
    assert len(text) > LIMIT - 20


def test_over_long_lines_are_clipped_each():
    """A few lines that are each too long are all there, with the bytes of their middles named."""
    data = b"".join(b"%d" % number * 20_000 + b"\n" for number in range(4))
    shown = show(data, limit=2000)
    assert shown.gap is None
    for number in range(4):
        line = shown.text.split("\n")[number]
        start, end, of_line = map(int, re.search(r"\[\.\.\. bytes (\d+)-(\d+) of line (\d+) ", line).groups())
        assert of_line == number + 1
        assert line.count(str(number)) >= 200
        left, right = re.split(r" \[\.\.\..*\.\.\.\] ", line)
        assert left.encode() + data[start:end] + right.encode() == data[number * 20_001 :][:20_000]


def test_long_line_between_short_ones_is_clipped_in_place():
    """One over-long line does not push its neighbours out."""
    data = b"before\n" + b"x" * 5000 + b"\nafter\n"
    shown = show(data)
    assert shown.gap is None
    assert shown.text.startswith("before\nxxx")
    assert shown.text.endswith("xxx\nafter\n" + FOOTER)


def test_lines_that_nobody_counted():
    """Where lines were not counted, a gap has bytes alone."""
    data = b"line\n" * 1000
    content = Content(size=len(data) + 10**9, lines=None, head=data, tail=data)
    gap = preview(content, notice, FOOTER, limit=LIMIT).gap
    assert (gap.first_line, gap.last_line) == (None, None)
    assert gap.end - gap.start > 10**9


def test_progress_bars_cost_what_they_show():
    """Output that mostly overwrites itself is measured by what is left of it."""
    data = b"".join(b"%7d\r" % number for number in range(10_000)) + b"done\n"
    assert show(data).text == "done\n" + FOOTER


def test_no_character_is_cut():
    """No replacement character stands where only a cut was made."""
    data = ("é✓" * 30_000).encode()
    assert "\ufffd" not in show(data, 5000).text
    assert "\ufffd" not in show(data).text
