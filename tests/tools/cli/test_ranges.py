"""Ranges as people and models write them."""

from __future__ import annotations

import pytest
from support import each_of

from spillstore.exceptions import RangeError
from spillstore_tools.cli.support.ranges import parse_bytes, parse_lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1-100", (1, 100)),
        ("7", (7, 7)),
        ("7-", (7, None)),
        (" 5-5 ", (5, 5)),
        ("1,000-2,000", (1000, 2000)),
        ("1_000-", (1000, None)),
    ],
)
def test_lines(text, found):
    """Lines count from 1, and both ends belong to the range."""
    assert parse_lines(text) == found


@pytest.mark.parametrize(
    ("text", "found"), [("0-65536", (0, 65536)), ("7", (7, 8)), ("7-", (7, None)), ("5-5", (5, 5))]
)
def test_bytes(text, found):
    """Bytes count from 0, and the end does not belong to the range."""
    assert parse_bytes(text) == found


@each_of(
    "text",
    [
        "",
        "-",
        "-5",
        "a-b",
        "1-2-3",
        "1..5",
        "1:5",
        "1.5-2",
        "null",
        "5-2",
        "-1-4",
        "\u0661-\u0662",
        "9" * 19,
        "1 - 2",
        "0x10",
        "10,20",
        "1,3",
        "1,000",
        "10,20-30",
        "9" * 30 + "," + "9" * 30,
        "1_0-20",
    ],
)
def test_nonsense(text):
    """Whatever is no range is refused, and the error shows a call that works."""
    with pytest.raises(RangeError, match=r"for example --lines [0-9]+-"):
        parse_lines(text)
    with pytest.raises(RangeError, match=r"for example --bytes [0-9]+-"):
        parse_bytes(text)


def test_line_zero():
    """Line 0 is not taken for line 1."""
    with pytest.raises(RangeError, match="count from 1"):
        parse_lines("0-5")


def test_the_example_of_a_reversed_range_is_the_range_that_was_meant():
    """Who swaps both ends is shown them the right way round."""
    with pytest.raises(RangeError, match="--lines 2-5"):
        parse_lines("5-2")
