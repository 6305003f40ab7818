"""Lines, long ones among them: what they show, and where they may be cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import CLUSTERS, TOKENS, assert_law, lines_with_endings

from spillstore_tools.preview.parts import Gap, length_of, text_of
from spillstore_tools.preview.strategies.request import clip_marker, repeat_marker
from spillstore_tools.preview.text import long_line as module
from spillstore_tools.preview.text.clean import clean, redrawn, split_lines
from spillstore_tools.preview.text.lines import BLOCK, Line
from spillstore_tools.preview.text.long_line import LongLine
from spillstore_tools.preview.text.runs import runs
from spillstore_tools.preview.text.stream import clean_blocks

ENDS = st.sampled_from([b"\n", b"\r"])
START = 1000
# What may fall on the border of two pieces.
BORDERERS = [*TOKENS, b"\x1bP" + b"q" * 20 + b"\x1b\\", "\x9d0;é\x9c".encode(), b"\r" * 9, b"\x1b]0;t\x1b"]


def long_line(raw: bytes, block: int = BLOCK, terminator: bytes = b"\n") -> LongLine:
    """The line in pieces, as a scan hands them over."""
    line = LongLine(7, START, terminator)
    for start in range(0, len(raw), block):
        line.add(raw[start : start + block], last=start + block >= len(raw))
    return line


def first_line(raw: bytes, terminator: bytes = b"\n") -> bytes:
    return split_lines(raw, terminator)[0] if raw else b"a"


def assert_cuts(line: Line, raw: bytes, rooms, terminator: bytes = b"\n") -> None:
    """At whatever room, both ends keep to it and to the law."""
    whole = clean(raw, terminator)
    for room in rooms:
        text, byte = line.prefix(room)
        assert len(text) <= max(0, room)
        assert (text, whole[len(text) :]) == halves(raw, byte, terminator)
        text, byte = line.suffix(room)
        assert len(text) <= max(0, room)
        assert (whole[: len(whole) - len(text)], text) == halves(raw, byte, terminator)


def halves(raw: bytes, byte: int, terminator: bytes = b"\n") -> tuple[str, str]:
    return clean(raw[: byte - START], terminator), clean(raw[byte - START :], terminator)


@given(lines_with_endings, ENDS)
def test_line(raw, terminator):
    """A line shows its cleaned bytes, and each of its ends is such a part of them as it says."""
    raw = first_line(raw, terminator)
    line = Line(7, START, raw, terminator)
    assert (line.text, line.chars) == (clean(raw, terminator), len(clean(raw, terminator)))
    assert line.ended == raw.endswith(terminator)
    assert (line.end, line.complete) == (START + len(raw), True)
    assert_cuts(line, raw, range(-1, line.chars + 2), terminator)
    for index in range(1, line.chars + 1):
        try:
            byte = line.byte_of(index)
        except LookupError:
            assert redrawn(raw) or b"\r" in raw or b"\b" in raw or b"2K" in raw
            continue
        assert halves(raw, byte, terminator) == (line.text[:index], line.text[index:])


@given(st.lists(st.sampled_from(CLUSTERS), max_size=12), st.sampled_from(["", "\n"]))
def test_line_tears_nothing(clusters, ending):
    """Both ends are the longest that tear nothing of what is drawn as one."""
    text = "".join(clusters) + ending
    borders = [len("".join([*clusters, ending][:count])) for count in range(len(clusters) + 2)]
    line = Line(7, START, text.encode())
    for room in range(len(text) + 1):
        assert len(line.prefix(room)[0]) == max(border for border in borders if border <= room)
        assert len(line.suffix(room)[0]) == max(
            len(text) - border for border in borders if len(text) - border <= room
        )


@given(lines_with_endings, st.integers(0, 90), ENDS)
def test_clipped(raw, room, terminator):
    """A clipped line keeps to its room wherever a marker fits in at all, never gets longer, and holds the law."""
    raw = first_line(raw, terminator)
    line = Line(1, 0, raw, terminator)
    parts = line.clipped(room, clip_marker)
    assert_law(parts, raw, terminator, clean=clean)
    assert length_of(parts) <= line.chars
    assert length_of(parts) <= max(room, len(clip_marker(Gap(len(raw), 2 * len(raw), 1, 1, 1, line.chars))))


def test_clipped_shares():
    """Of the room beside the marker, two thirds show the beginning and one third the end."""
    line = Line(3, 40, b"a" * 500 + b"z" * 500 + b"\n")
    text = text_of(line.clipped(100, clip_marker))
    assert text == "a" * 34 + " [... 949 chars, bytes 74-1023, omitted ...] " + "z" * 17 + "\n"


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 16)


@given(
    st.lists(st.sampled_from(BORDERERS), min_size=1, max_size=60),
    st.sampled_from([b"\n", b"\r\n", b"", b"\r\r\n"]),
)
def test_long_line(small_blocks, tokens, ending):
    """A line in pieces shows what it shows in one, whatever falls on the borders of pieces."""
    raw = b"".join(tokens) + ending
    line, whole = long_line(raw, 16), clean(raw)
    assert (line.chars, line.ended, line.end) == (len(whole), whole.endswith("\n"), START + len(raw))
    assert line.complete == (line.text == whole)
    assert line.text in {whole, whole[:16]}
    assert_cuts(line, raw, {*range(40), len(whole) - 1, len(whole), len(whole) + 1})
    assert_law([gap_or(part) for part in line.clipped(60, clip_marker)], raw, clean=clean)


def gap_or(part):
    """The part as of a line that begins the output."""
    fields = {name: getattr(part, name) for name in part.__slots__}
    fields |= {"start": part.start - START, "end": part.end - START}
    fields |= {"first_line": 1, "last_line": 1} if isinstance(part, Gap) else {}
    return type(part)(**fields)


@given(st.lists(st.sampled_from(BORDERERS), min_size=1, max_size=60), st.booleans())
def test_long_line_ended_by_cr(small_blocks, tokens, ended):
    """The same where CR ends lines."""
    raw = first_line(b"".join(tokens), b"\r").rstrip(b"\r") + b"a" + b"\r" * ended
    line, whole = long_line(raw, 16, b"\r"), clean(raw, b"\r")
    assert (line.chars, line.ended) == (len(whole), ended)
    assert line.text in {whole, whole[:16]}
    assert_cuts(line, raw, range(40), b"\r")


@given(st.lists(st.sampled_from(CLUSTERS), min_size=20, max_size=40))
def test_long_line_tears_nothing(small_blocks, clusters):
    """No end of a long line begins or ends inside of what is drawn as one."""
    text = "".join(clusters)
    borders = {len("".join(clusters[:count])) for count in range(len(clusters) + 1)}
    line = long_line(text.encode(), 16)
    for room in range(40):
        assert len(line.prefix(room)[0]) in borders
        assert len(text) - len(line.suffix(room)[0]) in borders


@pytest.mark.slow
@pytest.mark.parametrize(
    "token",
    [
        pytest.param(token, marks=[pytest.mark.repeat] if number % 6 else [])
        for number, token in enumerate(BORDERERS)
        if len(token) > 1
    ],
)
def test_border_of_blocks(token):
    """The same with pieces of 64 KiB, each token across the border."""
    raw = b"x" * (BLOCK - (len(token) + 1) // 2) + token + b"y" * BLOCK + b"z\r\n"
    line, whole = long_line(raw), clean(raw)
    assert (line.chars, line.complete) == (len(whole), False)
    assert_cuts(line, raw, (100,))
    if not any(moving in token for moving in (b"\b", b"2K", b"\r")):  # drawn over: no cut there
        assert line.prefix(100)[0] == whole[:100]
        text, byte = line.suffix(100)
        assert (text, clean(raw[byte - START :])) == (whole[-100:], whole[-100:])


def test_string_across_blocks():
    """A string sequence of 65,536 characters of any width vanishes across pieces; a longer one is shown."""
    for body in ("\U0001f600" * 65536, "x" * 65536):
        for extra, shown in (("", "ab"), ("+", f"a{body}+b")):
            raw = f"{'a' * BLOCK}\x1b]{body}{extra}\x07b".encode()
            line = long_line(raw)
            assert clean(raw) == "a" * (BLOCK - 1) + shown
            assert line.chars == BLOCK - 1 + len(shown)
            assert clean(raw[line.suffix(9)[1] - START :]) == shown[-9:].rjust(9, "a")


@pytest.mark.parametrize("filler", [b"\r", b"\b", b"\x1b", b"\x1b]", b"\xc2\x9d", b"\x01", b"x\b"])
def test_much_of_nothing(filler):
    """Half a megabyte that shows nothing changes nothing, and is not held."""
    line = long_line(b"kept\r" + filler * (512 * 1024 // len(filler)) + b"\n")
    assert line.text == ("xept\n" if b"x" in filler else "kept\n")
    assert line.held < (4 * BLOCK if b"x" in filler else 100)


@pytest.mark.parametrize("filler", [b"x", b"\x80", b"\xc2", b"\x1b[m\xc2\x9dx", "世".encode()])
def test_much_of_something(filler):
    """Of a line, however long, no more than about five blocks are held."""
    line = long_line(filler * (512 * 1024 // len(filler)) + b"\n")
    assert line.chars == len(clean(filler)) * (512 * 1024 // len(filler)) + 1
    assert line.held <= 5 * BLOCK + 100


@pytest.mark.slow
def test_progress_bar_of_an_hour():
    """What an hour of a progress bar shows in the end is its last state."""
    states = [
        f"\x1b[2K\r{done:6} of 36000 [{'#' * (done // 1000):<36}] \x1b[32m{done / 360:5.1f} %\x1b[0m"
        for done in range(36001)
    ]
    raw = "".join(states).encode() + b"\n"
    line = long_line(raw)
    assert line.text == f" 36000 of 36000 [{'#' * 36}] 100.0 %\n"
    assert (line.complete, line.chars) == (True, len(line.text))
    assert line.held < 1000
    assert_cuts(line, raw, (5,))


def test_erased_across_pieces(small_blocks):
    """Backspaces go back over what earlier pieces showed, to the beginning of the line."""
    raw = b"a" * 40 + b"\b" * 30 + b"b" * 5 + b"\b" * 100 + b"end"
    line = long_line(raw, 16)
    assert (line.text, line.chars, line.complete) == (clean(raw)[:16], 40, False)
    assert (line.text[:8], line.redrawn) == ("endaaaaa", 8)
    assert line.prefix(2) == ("", START)


@given(st.lists(st.sampled_from(BORDERERS), min_size=1, max_size=60))
def test_redrawn_across_pieces(small_blocks, tokens):
    """A line in pieces counts what was drawn over as a line in one does, if all of it is held."""
    raw = b"".join(token for token in tokens if b"_" not in token and b"\b" not in token) + b"\n"
    line = long_line(raw, 16)
    assert not line.complete or line.redrawn == redrawn(raw)


def test_places_of_what_is_not_held():
    """Where the characters inside a long line stand is not known."""
    with pytest.raises(LookupError, match="character 5 of line"):
        long_line(b"x" * BLOCK * 2).byte_of(5)


@given(st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"\x1b[0ma\n"]), max_size=30), st.booleans())
def test_runs(raws, reverse):
    """Runs are lines in order, those together that show the same."""
    lines = [Line(number, 10 * number, raw) for number, raw in enumerate(raws, 1)]
    found = list(runs(reversed(lines) if reverse else lines))
    ordered = found[::-1] if reverse else found
    assert lines == [line for run in ordered for line in (run.lines[::-1] if reverse else run.lines)]
    assert all(len({line.text for line in run.lines}) == 1 for run in found)
    assert all(one.first.text != two.first.text for one, two in pairwise(ordered))


def test_run_of_many():
    """The rest of a long run is one gap, and few of its lines are held."""
    run = next(runs(Line(number, 5 * number, b"same\n") for number in range(1, 10_001)))
    assert len(run.lines) < 300
    gap = run.rest(repeat_marker)
    assert (gap.start, gap.end, gap.first_line, gap.last_line) == (10, 50_005, 2, 10_000)
    assert (gap.lines, gap.chars, gap.inside) == (9_999, 49_995, False)
    assert gap.text == "  [the same 9999 more times, lines 2-10000]\n"


@pytest.mark.parametrize(("text", "count"), [("same line, and it is long\n", 2), ("}\n", 5), ("\n", 30)])
def test_run_not_worth_a_gap(text, count):
    """Two lines, or many that are shorter than words about them, stay."""
    run = next(runs(Line(number, 0, text.encode()) for number in range(1, count + 1)))
    assert run.rest(repeat_marker) is None


def test_long_lines_are_no_run():
    """Lines that are not held are not compared."""
    lines = [LongLine(number, number * BLOCK) for number in (1, 2)]
    for line in lines:
        line.add(b"x" * BLOCK, last=False)
        line.add(b"\n", last=True)
    assert [run.count for run in runs(lines)] == [1, 1]


@given(st.lists(st.sampled_from([*BORDERERS, b"\n"]), max_size=60), st.integers(1, 20), ENDS)
def test_clean_blocks(tokens, size, terminator):
    """Data in blocks of any size is cleaned as in one."""
    data = b"".join(tokens)
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert "".join(clean_blocks(blocks, terminator)) == clean(data, terminator)


def test_clean_blocks_of_one_line():
    """Of a line above a megabyte each megabyte is cleaned alone, and nothing is cut in two."""
    data = "\x1b[32m世\x1b[0m".encode() * 300_000
    pieces = list(clean_blocks(data[at : at + 10_000] for at in range(0, len(data), 10_000)))
    assert len(pieces) > 2
    assert "".join(pieces) == "世" * 300_000
