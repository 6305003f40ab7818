"""``spillstore diff``."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.everywhere

BEFORE = "10:20:33 start\ntest_a ok in 0.1s\ntest_b ok in 0.2s\n"
NOW = "11:00:00 start\ntest_a ok in 0.3s\ntest_b FAILED\n"


def test_what_is_new_and_what_is_gone(cli, put):
    """Changes on stdout, facts on stderr, and exit code 1."""
    base, now = put(BEFORE, source="make"), put(NOW, source="make")
    answer = cli("diff", base, now)
    expected = "[new: what matters]\n+3:test_b FAILED\n[gone: what else]\n-3:test_b ok in 0.2s\n"
    assert (1, expected) == (answer.code, answer.text)
    assert f"base {base}: sealed, 51 bytes, 3 lines" in answer.err
    assert "1 new line, 1 gone, 2 in both; times, numbers and addresses folded" in answer.err


def test_the_run_before_is_the_base(cli, put):
    """Where one artifact is named; there may be none."""
    first = put(BEFORE, source="make", command="make test")
    put("other\n", source="make", command="make")
    put(NOW, source="make", command="make test")
    assert "+3:test_b FAILED\n" in cli("diff", "@last").text
    answer = cli("diff", first)
    assert (125, "") == (answer.code, answer.text)
    assert f"nothing was stored before {first} of the same tool and command" in answer.err


def test_nothing_differs(cli, put):
    """Exit code 0, whether the bytes are the same or the lines are when folded, unless times are compared, too."""
    one, two = put("at 10:20:33\n"), put("at 11:00:00\n")
    assert (0, b"") == cli("diff", one, one)[:2]
    assert (0, b"") == cli("diff", one, two)[:2]
    assert (1, b"[new]\n+1:at 11:00:00\n[gone]\n-1:at 10:20:33\n") == cli("diff", one, two, "--exact")[:2]


def test_json(cli, put):
    """One document with the counts and every change."""
    base, now = put(BEFORE), put(NOW)
    document = cli("diff", base, now, "--json", "--stream", "stdout").json
    changes = document.pop("changes")
    assert {
        "base": base,
        "id": now,
        "stream": "stdout",
        "exact": False,
        "verdict": "different",
        "new": 1,
        "gone": 1,
        "both": 2,
        "differ_at": None,
        "notes": [],
    } == document
    assert {
        "sort": "new",
        "line": 3,
        "start": 33,
        "end": 47,
        "text": "test_b FAILED",
        "more": 0,
        "base": 0,
        "now": 0,
        "complete": True,
        "telling": True,
    } == changes[0]
    assert ["new", "gone"] == [change["sort"] for change in changes]
    assert [] == cli("diff", base, base, "--json").json["changes"]


def test_all_of_many_changes_are_printed(cli, put):
    """There is no limit for people."""
    lines = [f"{chr(97 + n % 26)}{'x' * (n // 26)}\n" for n in range(5000)]
    answer = cli("diff", put("a\n"), put("".join(lines)))
    assert 4999 == answer.text.count("\n+")


def test_a_very_long_line_is_shown_by_its_call(cli, put):
    """Of what is longer than 64 KiB the beginning is printed, and how to get the rest."""
    base, now = put("a\n"), put("b" * 100_000)
    text = cli("diff", base, now).text
    assert f"\n+1:{'b' * 65536}[... all of it: spillstore show {now} --bytes 0-100000]\n" in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["a", "b", "c"], 2, "give one or two artifacts"),
        (["nothing"], 125, "holds no artifact 'nothing'"),
    ],
)
def test_calls_that_mean_nothing(cli, put, arguments, code, words):
    """They are told apart from differences by their exit codes."""
    put("a\n")
    answer = cli("diff", *arguments)
    assert code == answer.code
    assert words in answer.err


def test_binary(cli, put):
    """What is no text is compared by bytes."""
    base, now = put(b"\x89PNG\r\n\x1a\n" + bytes(90)), put(b"\x89PNG\r\n\x1a\n" + bytes(80) + b"\1")
    answer = cli("diff", base, now)
    assert (1, "") == (answer.code, answer.text)
    assert "different, from byte 88 on; not compared by lines: PNG image" in answer.err


def test_holes_are_left_out_and_said(cli, put, rolled):
    """No option is needed for that."""
    answer = cli("diff", put("x\n"), rolled)
    assert 1 == answer.code
    assert "were dropped and are not compared" in answer.err
