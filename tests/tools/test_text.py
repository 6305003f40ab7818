"""Stored bytes as text that is safe to read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillstore_tools.cli._text import (
    boundary,
    clean_blocks,
    clean_line,
    clean_lines,
    clean_text,
    split_lines,
)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"plain\n", "plain\n"),
        (b"windows\r\n", "windows\n"),
        (b"no end", "no end"),
        (b"tab\there\n", "tab\there\n"),
        (b"\x1b[1;31mred\x1b[0m\n", "red\n"),
        (b"\x1b]0;title\x07text\n", "text\n"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "link\n"),
        (b"\x1b]no end of it\n", "no end of it\n"),
        (b"\x1bPdevice\x1b\\text\n", "text\n"),
        (b"\x1b(Btext\x1b[", "text"),
        (b"bell\x07 null\x00 delete\x7f\n", "bell null delete\n"),
        (b" 10%\r 50%\r100%\n", "100%\n"),
        (b"Wo\rWork\rWorking\r\n", "Working\n"),
        (b"75%\r\x1b[K\n", "75%\n"),
        ("naïve ✓\n".encode(), "naïve ✓\n"),
        (b"caf\xe9\n", "caf\ufffd\n"),
        ("\x9b31mC1\n".encode(), "31mC1\n"),
        (b"", ""),
        (b"\n", "\n"),
    ],
)
def test_clean_line(line, text):
    """A line is shown without escape sequences and control characters, in its last state."""
    assert clean_line(line) == text


def test_lines_that_end_in_cr():
    """Where CR ends lines it overwrites nothing."""
    assert clean_lines(b"one\rtwo\rthree", b"\r") == "one\ntwo\nthree"


@given(st.binary())
def test_cleaning_keeps_the_number_of_lines(data):
    """Whatever the bytes are, line numbers stay those of the stored lines."""
    assert clean_lines(data).count("\n") == data.count(b"\n")


@given(st.binary())
def test_cleaned_text_is_harmless(data):
    """No control character but tab and newline is left."""
    left = {
        character for character in clean_lines(data) if not character.isprintable() and ord(character) < 0xA0
    }
    assert left <= {"\t", "\n"}


@given(st.binary(), st.integers(1, 20))
def test_cleaning_blocks_is_cleaning_the_whole(data, size):
    """It does not matter how data is cut into blocks."""
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    assert "".join(clean_blocks(blocks)) == clean_lines(data)


def test_endless_line_is_cut_between_characters():
    """A line too long to be held is let through in parts, and no character is broken."""
    text = "é✓" * 500_000
    data = text.encode()
    blocks = [data[start : start + 65536] for start in range(0, len(data), 65536)]
    parts = list(clean_blocks(blocks))
    assert len(parts) > 1
    assert "".join(parts) == text


@given(st.binary(), st.sampled_from([b"\n", b"\r"]))
def test_split_lines_loses_nothing(data, terminator):
    """Joined again, lines are what they were, and each but the last has its ending."""
    lines = split_lines(data, terminator)
    assert b"".join(lines) == data
    assert all(line.endswith(terminator) and line.count(terminator) == 1 for line in lines[:-1])
    assert b"" not in lines


@given(st.text(min_size=1), st.integers(0, 50))
def test_boundary_cuts_no_character(text, index):
    """A cut falls between characters, at most three bytes before the place that was asked for."""
    data = text.encode("utf-8", "replace")
    cut = boundary(data, index)
    assert data[:cut].decode() + data[cut:].decode() == data.decode()
    assert 0 <= min(index, len(data)) - cut <= 3


def test_clean_text_is_one_line():
    """Text of others cannot begin a line of its own."""
    assert clean_text("a\nb\x1b[31mc") == "a bc"
