"""``smart``: what it picks, in which order, what it says of repeats, and what it holds meanwhile."""

from __future__ import annotations

import random
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import assert_law

from spillstore_tools.preview.parts import Gap, Note, Shown, gaps_of, length_of, text_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import candidates as module
from spillstore_tools.preview.strategies import strategy
from spillstore_tools.preview.strategies.candidates import CandidateFinder
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.strategies.smart import Smart
from spillstore_tools.preview.text.clean import clean


def marker(gap: Gap) -> str:
    return f"[... {gap.first_line}-{gap.last_line} ...]\n"


def overview_of(pieces, *, limit, terminator=b"\n", exact=True):
    scan = Scan(
        head_chars=limit, tail_chars=limit, observer=Smart().observer(), terminator=terminator, exact=exact
    )
    for piece in pieces:
        scan.feed(piece)
    return scan.finish()


def parts_of(data, *, limit=2000, feed=None, terminator=b"\n", exact=True, **request):
    feed = feed or len(data) or 1
    pieces = [data[at : at + feed] for at in range(0, len(data), feed)]
    parts = Smart().cut(
        overview_of(pieces, limit=limit, terminator=terminator, exact=exact),
        Request(limit=limit, marker=marker, **request),
    )
    assert_law(parts, data, terminator, clean=clean)
    assert length_of(parts) <= limit
    return parts


def preview(data, **options):
    return text_of(parts_of(data, **options))


def dull(count: int, word: str = "step") -> bytes:
    return b"".join(f"{word} {number} of many, nothing to see\n".encode() for number in range(count))


def names(count: int):
    """Words without digits, all different."""
    letters = random.Random(1)
    return ["".join(letters.choices("bcdfghjklmnpqrstvwxyz", k=12)) for _ in range(count)]


MIDDLE = (
    b"in the function main\nsrc/main.c:10:3: error: 'x' undeclared\nit was to be a number\n"
    + dull(300)
    + b"ValueError: something else\n"
    + dull(300)
    + b"make: *** [all] Error 2\n"
)


def test_lines_that_matter():
    """Errors from the middle are shown under their numbers, with neighbours that tell something, between head and tail."""
    text = preview(dull(1000) + MIDDLE + dull(1000))
    assert text.startswith("step 0 of many")
    assert text.endswith("step 999 of many, nothing to see\n")
    assert (
        "[... 3-1000 ...]\n1001: in the function main\n1002: src/main.c:10:3: error: 'x' undeclared\n"
        "1003: it was to be a number\n[... 1004-1303 ...]\n"
    ) in text
    assert "1304: ValueError: something else\n[" in text
    assert "1605: make: *** [all] Error 2\n[" in text


def test_first_cause():
    """Where there is room for little, the first strong line is shown, not those it led to."""
    lines = [f"{name}: fatal error: {name}\n".encode() for name in names(40)]
    data = (
        dull(500)
        + b"first.c:1:1: error: the cause\n"
        + b"".join(dull(20) + line for line in lines)
        + dull(500)
    )
    text = preview(data, limit=600)
    assert "the cause" in text
    assert "[... 1-" not in text


def test_one_of_each_kind():
    """One line of a kind comes before a second one of another."""
    flood = b"".join(
        f"src/common/library/module/a.c:1:2: error: no {name} in this common library\n".encode()
        for name in names(100)
    )
    data = dull(300) + flood + b"OutOfMemoryError: the odd one\n" + flood + dull(300)
    text = preview(data, limit=3000)
    assert "the odd one" in text
    assert text.count("in this common library") > 1


def test_more_like_this():
    """Lines that differ in digits alone are shown once, with their number and the last of them."""
    failed = b"".join(b"ERROR: request %d failed\n" % number for number in range(100))
    text = preview(dull(1000) + failed + dull(1000))
    assert "ERROR: request 0 failed\n  [and 99 more like this, to line 1100]\n" in text


def test_more_like_this_far_apart():
    """They are counted wherever they are, in other blocks as well."""
    data = b"".join(dull(400) + b"ERROR: request %d failed\n" % number for number in range(100)) + dull(1000)
    assert "[and 99 more like this, to line 40100]" in preview(data)


def test_repeats_in_the_ends():
    """Equal lines at both ends are shown as one, with their number, and what differs in numbers alone once at the beginning and twice at the end."""
    data = b"a line like the next\n" * 500 + dull(1000) + b"a line like the one before\n" * 500
    text = preview(data, limit=1000)
    assert text.startswith(
        "a line like the next\n  [the same 499 more times, lines 2-500]\n501: step 0 of many"
    )
    assert text.count("nothing to see") == 3
    assert text.endswith(
        "nothing to see\na line like the one before\n  [the same 499 more times, lines 1502-2000]\n"
    )


def test_repeats_in_excerpts():
    """Equal neighbours of a line that matters are shown as one, the gap right behind it."""
    data = (
        dull(500)
        + b"beginning\n"
        + b"doing the same again\n" * 5
        + b"ERROR: it broke\n"
        + b"and so did this\n" * 5
        + b"ending\n"
        + dull(500)
    )
    text = preview(data, limit=1500)
    assert (
        "502: doing the same again\n  [the same 4 more times, lines 503-506]\n507: ERROR: it broke\n" in text
    )
    assert "508: and so did this\n  [the same 4 more times, lines 509-512]\n513: ending\n" in text


def test_repeats_of_what_matters():
    """A line that matters and is followed by its equals is shown once, and how many there are."""
    data = dull(500) + b"ERROR: it broke\n" * 50 + dull(500)
    text = preview(data, limit=1500)
    assert "501: ERROR: it broke\n  [and 49 more like this, to line 550]\n[... 502-" in text


def test_million_equal_lines():
    """A million equal lines are two lines and what is said about the others."""
    overview = overview_of([b"same\n" * 1_000_000], limit=1000)
    parts = Smart().cut(overview, Request(limit=1000, marker=marker))
    first, between, last = gaps_of(parts)
    assert first.lines + between.lines + last.lines == 1_000_000 - 2
    assert (first.first_line, last.last_line) == (2, 1_000_000)
    assert sum(len(re.findall("^same$", part.text, re.MULTILINE)) for part in parts) == 2


def test_nothing_stands_out():
    """Where nothing matters there is one gap between a head and a tail, which use the room as long as they tell something new."""
    parts = parts_of(dull(5000), limit=2000)
    assert [(gap.first_line, gap.last_line) for gap in gaps_of(parts)] == [(3, 4998)]
    parts = parts_of("".join(f"{name} is new\n" for name in names(500)).encode(), limit=2000)
    assert len(gaps_of(parts)) == 1
    assert length_of(parts) > 1900


def test_not_actionable():
    """The lines that matter are left alone where they are not asked for."""
    assert len(gaps_of(parts_of(dull(1000) + MIDDLE + dull(1000), actionable=False))) == 1


def test_fits():
    """What fits is shown as it is, equal lines and all."""
    assert preview(b"same\n" * 100, limit=500) == "same\n" * 100


@pytest.mark.parametrize("terminator", [b"\r", b"\n"])
def test_line_ends(terminator):
    """Numbers and neighbours are right whatever ends the lines."""
    data = (dull(1000) + MIDDLE + dull(1000)).replace(b"\n", terminator)
    text = preview(data, terminator=terminator)
    assert "1002: src/main.c:10:3: error: 'x' undeclared\n1003: it was to be a number" in text


def test_overwritten_line():
    """A line is judged by what it shows in the end."""
    bar = b"".join(b"%d%% error free\r" % number for number in range(100))
    text = preview(dull(500) + bar + b"FATAL: disk gone\n" + bar + b"done\n" + dull(500), limit=1500)
    assert "FATAL: disk gone" in text
    assert "done" not in text


def test_long_lines():
    """A long line that matters is shown by its ends, and its gap is told in bytes."""
    line = b"ERROR: it broke " + b"x" * 200_000 + b" the end\n"
    parts = parts_of(dull(500) + line + dull(500), limit=1500)
    assert "501: ERROR: it broke xx" in text_of(parts)
    assert "xx the end\n" in text_of(parts)
    assert [gap.inside for gap in gaps_of(parts)].count(True) == 1


@pytest.mark.parametrize("words", [400, 6000, 40_000])
@pytest.mark.parametrize(
    ("above", "below"),
    [("", ""), ("begin\n", ""), ("", "end\n"), ("begin\n", "end\n"), ("", "step\n" * 10), ("", "long")],
)
def test_what_tells_most_in_a_long_line_at_an_end(words, above, below):
    """The room of an end alone may be too little for it."""
    prose = "the quick brown fox jumps while it compiles " * words
    line = f"{prose}fatal error: disk exploded {prose}\n"
    text = above + line + (below if below != "long" else line)
    assert "fatal error: disk exploded" in preview(text.encode(), limit=8000)


SOURCES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"ERROR: it broke\n",
                b"same\n" * 5,
                b"\n" * 4,
                b"x" * 700 + b"\n",
                b"a.c:1:2: error: no\r\n",
                b"10%\r20%\n",
            ]
        ),
        st.integers(1, 60).map(dull),
        st.sampled_from(names(20)).map(lambda name: f"{name}Error: {name}\n".encode()),
    ),
    min_size=1,
    max_size=40,
).map(b"".join)


@given(SOURCES, st.integers(0, 3000), st.integers(1, 5000), st.sampled_from([None, 40, 500]))
def test_however_fed(data, limit, feed, line_limit):
    """The same bytes give the same preview however they came, and the law holds."""
    parts = parts_of(data, limit=limit, line_limit=line_limit)
    assert parts == parts_of(data, limit=limit, line_limit=line_limit, feed=feed)


def test_however_fed_in_many_blocks():
    """The same with megabytes, where hints are narrowed and kinds of lines become many."""
    data = b"".join(
        f"{name} error {number}\nok {name}\n".encode() for number, name in enumerate(names(30_000))
    )
    expected = parts_of(data, exact=False)
    assert expected == parts_of(data, feed=100_003, exact=False)
    assert {gap.chars for gap in gaps_of(expected)} == {None}


def test_memory():
    """Of megabytes of errors, all of them different, only the best few are held."""
    watched = Smart().observer()
    scan = Scan(head_chars=8000, tail_chars=8000, observer=watched, exact=False)
    words = names(5000)
    tracemalloc.start()
    try:
        for piece in range(10):
            scan.feed(b"".join(b"%b-%d: error: %b\n" % (w.encode(), piece, b"y" * 1000) for w in words))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert scan.size > 50_000_000
    assert isinstance(watched, CandidateFinder)
    assert len(watched.candidates) < 2 * module._CANDIDATES
    assert held < 40_000_000


@pytest.mark.parametrize("size", [60_000, 100_000])
def test_memory_for_long_lines(size):
    """Long lines that matter are few."""
    watched = CandidateFinder()
    scan = Scan(head_chars=8000, tail_chars=8000, observer=watched)
    for name in names(200):
        scan.feed(f"ERROR: {name} {'x' * size} {name}\n".encode())
    scan.finish()
    assert watched.candidates[0].line.number == 1
    assert sum(candidate.line.held for candidate in watched.candidates) <= module._CANDIDATE_BYTES
    assert sum(map(len, watched._templates)) <= 200 * module._TEMPLATE_BYTES


def test_source_code_is_cut_between_whole_functions():
    """Of a long Python file every function that is shown is whole, and the others are named; the law holds."""
    data = "\n\n".join(
        f"def function_{number}(value):\n"
        + "".join(f"    value += {step}\n" for step in range(20))
        + "    return value\n"
        for number in range(60)
    ).encode()
    parts = cut_by_smart(data, 4000)
    shown = "".join(part.text for part in parts if isinstance(part, Shown))
    assert shown.count("def function_") == shown.count("    return value\n") > 2
    assert any("functions omitted: function_" in part.text for part in parts if isinstance(part, Gap))
    assert data.decode() == "".join(
        data[part.start : part.end].decode() if isinstance(part, Gap) else part.text
        for part in parts
        if not isinstance(part, Note)
    )


def test_a_diff_keeps_the_headers_of_its_files():
    """Which files changed is seen of a diff far above the limit."""
    data = "".join(
        f"diff --git a/f{number}.c b/f{number}.c\n--- a/f{number}.c\n+++ b/f{number}.c\n@@ -1,30 +1,30 @@\n"
        + "".join(f"-old line {line}\n+new line {line}\n" for line in range(30))
        for number in range(20)
    ).encode()
    text = text_of(cut_by_smart(data, 6000))
    assert [number for number in range(20) if f"diff --git a/f{number}.c" in text] == list(range(20))
    assert "omitted" in text


def cut_by_smart(data, limit):
    chosen = strategy("smart")
    scan = Scan(head_chars=limit, tail_chars=limit, keep_bytes=chosen.keep_bytes, observer=chosen.observer())
    scan.feed(data)
    return chosen.cut(scan.finish(), Request(limit=limit))


def test_marker_as_long_as_the_line_it_stood_for():
    """A single line is shown where saying that it is missing takes as much room; the law holds, and so does the limit."""
    middle = b"ERROR: first thing\n" + b"a line between\n" + b"ERROR: second thing\n"
    for between in range(1, 12):
        data = dull(300) + middle.replace(b"a line between\n", dull(between, "odd")) + dull(300)
        for limit in (400, 600, 800, 2000):
            parts = parts_of(data, limit=limit)
            for gap in gaps_of(parts):
                hidden = clean(data[gap.start : gap.end])
                assert gap.inside or len(hidden) + 6 * gap.lines > len(gap.text)


def test_long_line_left_out_alone():
    """A single line that is far longer than its marker stays left out."""
    middle = b"ERROR: first thing\n" + b"x y z " * 60 + b"\n" + b"ERROR: second thing\n"
    assert length_of(parts_of(dull(300) + middle + dull(300), limit=2000)) <= 2000
