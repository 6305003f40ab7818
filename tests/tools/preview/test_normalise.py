"""Lines without what differs between runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import each_of, examples, not_for_ever

from spillstore_tools.preview.text.normalise import LineHasher, normalise

MIB = 1024 * 1024
SAME = [
    ("at 10:20:33.125 done", "at 9:00:01 done"),
    ("2026-11-21T10:20:33Z started", "2025-01-02T03:04:05.678Z started"),
    ("[10:20:33] x", "[11:00:00] x"),
    ("Nov  1 10:20:33 host x", "Dec 24 11:00:00 host x"),
    ("log at 2026-11-21T10:20:33.1+01:00 x", "log at 2026-11-22T10:20:33Z x"),
    ("took 980ms", "took 1.02s"),
    ("took 4 ms", "took 1m 3s"),
    ("took 0:01:02", "took 2:03"),
    ("[ 45%] Building", "[100%] Building"),
    ("5 of 12 done", "12 of 12 done"),
    ("a.c:12:5: x", "a.c:999: x"),
    ("<object at 0x7f3a01>", "<object at 0xFFAA>"),
    ("id 0f8fad5b-d9cd-469f-a165-70867728950e", "id 7c9e6679-7425-40de-944b-e07fc1f90ae7"),
    ("commit a3f8c2d", "commit 99c0ffee1234"),
    ("sshd[812]: hi", "sshd[9]: hi"),
    ("127.0.0.1:8080", "10.1.2.3:99"),
    ("listening on port 40123", "listening on port 8"),
    ("/tmp/tmpab12x/f.txt: no", "/tmp/q/f.txt: no"),
    ("/var/folders/ab/xyz/T/q1/f", "/tmp/r/f"),
    ("[gw0] PASSED t", "[gw11] PASSED t"),
    ("size:    5 KB", "size: 1,234 KB"),
    ("1.5 MB/s", "12 KB/s"),
    ("     12 lines", "   1234 lines"),
    ("Ran 3 tests in 0.1s", "Ran 3 tests in 12s"),
    ("===== 2 passed in 9.98s =====", "===== 2 passed in 10.02s ===="),
]
OTHER = [
    ("3 failed", "4 failed"),
    ("1,234 passed", "1,235 passed"),
    ("3/12 tests failed", "4/12 tests failed"),
    ("Failures: 1", "Failures: 2"),
    ("(errors=1)", "(errors=2)"),
    ("Error 1", "Error 2"),
    ("exit code 1", "exit code 2"),
    ("exited, code: 1", "exited, code: 2"),
    ("status=200", "status=500"),
    ("signal 9", "signal 11"),
    ('"GET / HTTP/1.1" 200 5', '"GET / HTTP/1.1" 500 5'),
    ("requests 2.31.0", "requests 2.32.0"),
    ("v1.2", "v1.3"),
    ("python3.11", "python3.12"),
    ("test_2 ok", "test_3 ok"),
    ("t.py::test[2-3] ok", "t.py::test[2-4] ok"),
    ("error E0308", "error E0309"),
    ("3rd", "4th"),
    ("defaced", "effaced"),
    ("x", "y"),
    ("==== 2 passed ====", "---- 2 passed ----"),
]


def folded(text: str) -> str:
    return normalise(text.encode() + b"\n").decode()


@each_of("one, two", SAME)
def test_what_differs_between_runs_is_folded(one, two):
    """Times, numbers and addresses make no line another one."""
    assert folded(one) == folded(two)


@each_of("one, two", OTHER)
def test_numbers_that_are_news_are_kept(one, two):
    """Counts of results, codes, versions, and digits of names do."""
    assert folded(one) != folded(two)


WORDS = st.sampled_from(
    [
        *(
            "a",
            "test_",
            "error ",
            "failed",
            " ",
            "  ",
            ".",
            ":",
            "-",
            "/",
            "[",
            "]",
            "=",
            "T",
            "x",
            "0x",
            "v",
            "%",
            "b",
        ),
        *(
            "1",
            "22",
            "4096",
            "2026-11-21 ",
            "10:20:33",
            "s",
            " ms",
            ", ",
            "/tmp/",
            "status=",
            "deadbee",
            "µs",
            "\n",
        ),
    ]
)


@given(lines=st.lists(st.lists(WORDS, max_size=14).map("".join), min_size=1, max_size=12))
@examples(200)
def test_hashes_tell_lines_apart_as_normalising_does(lines):
    """Its numbers are the hashes of the folded lines, whichever forms it remembers."""
    data = "".join(f"{line}\n" for line in lines).encode()
    expected = [hash(line) for line in normalise(data).split(b"\n")[:-1]]
    hasher = LineHasher()
    assert expected == hasher.hashes(data)
    assert expected == hasher.hashes(data)
    assert data.count(b"\n") == len(expected)


@given(
    line=st.lists(WORDS.filter(lambda word: word != "\n"), min_size=1, max_size=14).map("".join),
    digits=st.data(),
)
@examples(200)
def test_what_is_folded_depends_on_where_digits_stand(line, digits):
    """Other digits in the same places are replaced in the same places, which is what the hashes rely on."""
    other = "".join(
        digits.draw(st.sampled_from("0123456789")) if each in "0123456789" else each for each in line
    )
    zeros = {ord(digit): "0" for digit in "0123456789"}
    assert folded(line).translate(zeros) == folded(other).translate(zeros)
    hasher = LineHasher()
    hasher.hashes(line.encode() + b"\n")
    assert [hash(folded(other).removesuffix("\n").encode())] == hasher.hashes(other.encode() + b"\n")


HOSTILE = {
    "digits": b"1" * MIB,
    "chain": b"1:" * (MIB // 2) + b"1a",
    "thousands": b"1," * (MIB // 2) + b"1 failed",
    "durations": b"1s " * (MIB // 3) + b"x",
    "dots": b"1s 1." * (MIB // 5),
    "versions": b"1.1.1 " * (MIB // 6),
    "hexadecimal": b"a" * MIB + b"g",
    "groups": b"aaaaaa1-" * (MIB // 8) + b"g",
    "spaces": b" " * MIB,
    "padded": b"  1" * (MIB // 3),
    "names": b"a1" * (MIB // 2),
    "folders": b"/tmp/" * (MIB // 5),
    "mac folders": b"/var/folders/a/" * (MIB // 15),
    "workers": b"[gw1" * (MIB // 4),
    "brackets": b"a[1" * (MIB // 3),
    "line ends": b"\n" * MIB,
    "stamps": b"\n10:20:33" * (MIB // 9),
}


@pytest.mark.long
@each_of("name", HOSTILE)
def test_folding_takes_linear_time(name):
    """A megabyte of whatever is hard takes seconds, not hours, and keeps its lines."""
    data = HOSTILE[name] + b"\n"
    with not_for_ever():
        numbers = LineHasher().hashes(data)
    assert data.count(b"\n") == len(numbers)
