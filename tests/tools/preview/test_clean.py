"""Cleaning: what a reader sees of stored bytes, and where it may be cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import CLUSTERS, cleaned, line_bytes, lines_of, lines_with_endings, outputs
from support import each_of

from spillstore_tools.preview.text.clean import clean, clean_length, is_clean, one_line, redrawn, split_lines
from spillstore_tools.preview.text.graphemes import grapheme_boundary, splits_grapheme
from spillstore_tools.preview.text.offsets import ByteOffsets

ENDS = st.sampled_from([b"\n", b"\r"])


@pytest.mark.long
@given(outputs | st.binary(max_size=60), ENDS)
def test_rules(data, terminator):
    """Cleaning is what its rules say, whatever the bytes."""
    assert cleaned(data, terminator) == clean(data, terminator)


@given(outputs, ENDS)
def test_line_numbers_stay(data, terminator):
    """The cleaned text has as many line ends as the bytes have terminators."""
    assert data.count(terminator) == clean(data, terminator).count("\n")


@given(outputs, ENDS)
def test_lines_are_cleaned_alone(data, terminator):
    """Cleaning line by line gives what cleaning everything gives."""
    lines = split_lines(data, terminator)
    assert lines_of(data, terminator) == lines
    assert clean(data, terminator) == "".join(clean(line, terminator) for line in lines)


@given(outputs, ENDS)
def test_length(data, terminator):
    """The length that is counted is the length of the text."""
    assert len(clean(data, terminator)) == clean_length(data, terminator)


@each_of(
    "data, text",
    [
        (b"\x1b[1;31mred\x1b[0m \x1b[?25lon\x1b[2K", "red on"),
        ("\x9b31mred\x9b0m".encode(), "red"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\", "ab"),
        ("\x9d0;title\x9ca".encode(), "a"),
        (b"\x1bPq#0;2\x1b\\a\x1bXsos\x1b\\b\x1b^pm\x1b\\c\x1b_apc\x1b\\d", "abcd"),
        ("\x90dcs\x9ca\x98sos\x9cb\x9epm\x9cc\x9fapc\x9cd".encode(), "abcd"),
        (b"\x1bPbell \x07 is data\x1b\\a", "a"),
        (b"\x1b(Ba\x1b7b\x1b8c\x1bMd\x1b=e", "abcde"),
        (b"\x1b]title that never ends", "title that never ends"),
        (b"\x1bPdata that never ends\nnext", "data that never ends\nnext"),
        (b"\x1b]one\x1b]two\x07three", "onethree"),
        (b"\x1b]one\rtwo\x07three", "twothree"),
        (b"a\x1b[31", "a"),
        (b"a\x1b", "a"),
        (b"10%\r50%\r100%\r\n", "100%\n"),
        (b"10%\r50%\r\x1b[K\r", "50%"),
        (b"abc\b\b\bxy\b", "xyc"),
        (b"abc\b", "abc"),
        (b"abcdef\rXY", "XYcdef"),
        (b"abcdef\rXY\r\n", "XYcdef\n"),
        (b"abcdef\r\x1b[KXY", "XY"),
        (b"abcdef\x1b[2K\rXY", "XY"),
        (b"abcdef\rX\x1b[0KY", "XY"),
        (b"abc\b\b\x1b[Kd", "ad"),
        ("abcdef\rX\x9bK".encode(), "X"),
        (b"\b\ba", "a"),
        (b"_\bb_\bo_\bl_\bd", "bold"),
        (b"a\x01b\x07c\x0bd\x0ce\x7ff\tg", "abcdef\tg"),
        (b"a/b\0c/d\0\n", "a/b\u2400c/d\u2400\n"),
        ("a\x85b\x84c".encode(), "abc"),
        (b"caf\xe9 \xe2\x82 \xf0\x9f\x91", "caf\ufffd \ufffd\ufffd \ufffd\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"a\r\nb\nc\r\r\n", "a\nb\nc\n"),
        (b"", ""),
        (b" \t \n\r\n ", " \t \n\n "),
        (b"\x01\x01\n\x01", "\n"),
    ],
)
def test_examples(data, text):
    """Each kind of thing that is cleaned away goes, and nothing else."""
    assert text == clean(data)


def test_string_limit():
    """A string sequence of 65,536 characters vanishes; of one more only its introducer does."""
    for body in ("é" * 65536, "x" * 65536):
        assert clean(f"\x1b]{body}\x07!".encode()) == "!"
        assert clean(f"\x9d{body}\x9c!".encode()) == "!"
        assert clean(f"\x1b]{body}é\x07!".encode()) == f"{body}é!"


@pytest.mark.parametrize(
    "hostile", [b"\xc2\x9d", b"\x1b]", b"\x1b[1", b"\xc2\x90a", b"\r", b"a\b", b"\x1b]x\r"]
)
def test_hostile(hostile):
    """Much of what begins a sequence and never ends it takes no longer than anything else."""
    assert clean(hostile * 100_000).strip("ax") == ""


def test_carriage_return_lines():
    """Where CR ends lines, each is one, and an LF is only a control character."""
    assert clean(b"one\rtwo\r\nth\nree\r", b"\r") == "one\ntwo\nthree\n"


def test_one_line():
    """What others say fits on a line of ours."""
    assert one_line("a\nb\x1b[31mc\udce9") == "a bc?"


@given(lines_with_endings, ENDS)
def test_positions(line, terminator):
    """At each place that is named, the cleaned line is the cleaned sides, one behind the other."""
    line = split_lines(line, terminator)[0] if line else line
    positions = ByteOffsets(line, terminator)
    places = [positions.offset(index) for index in range(1, len(positions.text) + 1)]
    assert sorted(places) == places
    for index, place in enumerate(places, 1):
        if not positions.divides(index):
            continue
        assert positions.text[:index] == clean(line[:place], terminator)
        assert positions.text[index:] == clean(line[place:], terminator)


def test_where_a_line_may_be_cut():
    """What was drawn over is cut at no place; what is drawn behind that, and other lines, at every place."""
    lines = (b"abcdef\rXY", b"ab\rcdef", b"abcd", b"\x1b[1mab\x1b[K\xffd\r\n", b"ab\r\x1b[Kcdef")
    found = [
        [index for index in range(1, len(clean(line)) + 1) if ByteOffsets(line).divides(index)]
        for line in lines
    ]
    assert [[6], [2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5], [1, 2, 3, 4]] == found


@pytest.mark.parametrize(
    ("data", "hidden"),
    [
        (b"abcdef\rXY", 2),
        (b"abcdef\rabcdefg\n", 0),
        (b"1%\r2%\r\n3%\r4%\n", 4),
        (b"abc\r\x1b[Kd", 3),
        (b"abcdef\rX\x1b[K", 6),
        (b"abc\r\x1b[K\n", 0),
        (b"_\bb_\bo x\bx", 0),
        (b"-\b\\\b|\b/", 3),
        (b"plain \x1b[31mred\x1b[K\r\n", 0),
    ],
)
def test_redrawn(data, hidden):
    """What nobody sees any more is counted; what is drawn again as it was, or only bold, is seen."""
    assert hidden == redrawn(data)


@given(lines_with_endings, st.data())
def test_places_in_any_order(line, data):
    """A place does not depend on what was asked before."""
    line = split_lines(line)[0] if line else line
    positions = ByteOffsets(line)
    for index in data.draw(st.lists(st.integers(0, len(positions.text)), max_size=8)):
        assert ByteOffsets(line).offset(index) == positions.offset(index)


@given(st.lists(st.sampled_from(CLUSTERS), max_size=20))
def test_joined(clusters):
    """What is drawn as one is splits_grapheme inside, and to nothing beside it."""
    borders, at = {0}, 0
    for cluster in clusters:
        at += len(cluster)
        borders.add(at)
    text = "".join(clusters)
    assert borders == {index for index in range(len(text) + 1) if not splits_grapheme(text, index)}
    for index in range(len(text) + 1):
        assert max(border for border in borders if border <= index) == grapheme_boundary(text, index)


def test_longer_than_any_cluster():
    """A cut goes back no more than 32 places: a thousand marks on one letter may be torn."""
    text = "e" + "\u0301" * 1000
    assert (grapheme_boundary(text, 32), grapheme_boundary(text, 33), grapheme_boundary(text, 500)) == (
        0,
        33,
        500,
    )


def test_flags():
    """In a row of a thousand flags none is torn, however long the row is."""
    text = "🇩🇪" * 1000
    assert {index % 2 for index in range(len(text)) if not splits_grapheme(text, index)} == {0}


@given(line_bytes)
def test_cleaning_again_changes_nothing(line):
    """Cleaned text is clean, so text that was shown can be stored and shown again."""
    text = clean(line)
    assert text == clean(text.encode())


@given(outputs | line_bytes | st.binary(max_size=60), st.sampled_from([0, 1, 65_536, 200_000]), st.booleans())
def test_what_is_clean(data, size, behind):
    """Bytes are clean if cleaning changes nothing, however many plain ones stand around them."""
    data = data + b"x" * size if behind else b"x" * size + data
    assert is_clean(data) is (clean(data).encode() == data)


@pytest.mark.parametrize("size", [1000, 100_000])
def test_each_control_character_is_noticed(size):
    """Wherever one stands, alone in a small or a large text; a tab and a line end are none."""
    text = bytearray(b"." * size)
    for byte in (*range(32), 0x7F):
        for place in (0, 1, size // 2, size - 1):
            text[place] = byte
            assert is_clean(bytes(text)) is (byte in b"\t\n")
            text[place] = ord(".")
