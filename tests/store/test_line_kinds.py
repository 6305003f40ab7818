"""Kinds of lines: what belongs together, what is rare, and the same answers with and without native functions."""

from __future__ import annotations

import ctypes
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import WITHOUT_NATIVE, compiled_library

from spillstore import _native, line_kinds
from spillstore.line_kinds import LineKinds, number_of

native = pytest.mark.skipif(bool(WITHOUT_NATIVE), reason=WITHOUT_NATIVE or "")

PIECES = [
    *(
        "error",
        "ab",
        "3fa9",
        "café",
        "データ",
        "데이터12",
        "Ü",
        "дом",
        "12",
        "a" * 70,
        "x" * 600,
        "[x]",
        "é3",
        "12界",
    ),
    *(" ", " ", " ", "\n", "\n", "\n", "\r", "\t", "\0", ".", "/", "\\", ":", "-", "="),
]
RAW = [*(piece.encode() for piece in PIECES), b"\xff", b"\x80", b"\xe3\x83", b"\xc3"]


def counters():
    """One of each path."""
    return line_kinds._Counter(), line_kinds._NativeCounter(line_kinds._native())


def cut(text, places):
    """Where lines end near these places, and the text's end."""
    ends = {text.find(b"\n", place % (len(text) + 1)) + 1 or len(text) for place in places}
    return sorted({*ends, len(text)})


def assert_same(plain, fast, text, cuts):
    kinds, rare = plain.add(text, b"\n", cuts)
    fast_kinds, fast_rare = fast.add(text, b"\n", cuts)
    assert list(fast_kinds) == kinds
    assert fast_rare == rare
    assert fast.counts() == plain.counts()
    assert fast.given_up == plain.given_up


def lines(*texts):
    return "".join(f"{text}\n" for text in texts).encode()


def kinds_of(*texts):
    """The kind of each line, as LineKinds gives it out."""
    return list(LineKinds().add(lines(*texts))[0])


@native
@given(
    st.lists(st.sampled_from(RAW), min_size=1, max_size=200),
    st.lists(st.integers(0, 5000), max_size=5),
    st.booleans(),
)
def test_both_paths_give_the_same_answers(pieces, places, again):
    """Kinds, rare lines and counts, wherever groups begin anew."""
    text = b"".join(pieces)
    plain, fast = counters()
    for _ in range(1 + again):
        assert_same(plain, fast, text, cut(text, places))


@native
def test_both_paths_forget_the_same_words():
    """Of more words than are counted at once the rare ones are forgotten; and there are more kinds than are counted."""
    rng = random.Random(4)
    names = ["".join(rng.choices("ghijklmnopqrst", k=6)) for _ in range(20_000)]
    plain, fast = counters()
    forgot = 0
    for _ in range(12):
        frequent = rng.choices(names[:300], k=40)
        rows = [f"read part {number} of list" for number in range(3000)]
        for place in range(0, 3000, 4):
            rows[place] = " ".join([*rng.choices(frequent, k=rng.randrange(3)), *rng.choices(names, k=4)])
        text = lines(*rows)
        words = len(plain._words)
        assert_same(plain, fast, text, [len(text)])
        forgot += len(plain._words) < words + 1000
    assert forgot
    assert len(plain.counts()) == line_kinds._KINDS
    assert not plain.given_up


@native
def test_a_text_does_not_depend_on_the_numbers_drawn():
    """Numbers drawn at random make the hashes, and never an answer."""
    rng = random.Random(5)
    text = lines(
        *("".join(rng.choices(PIECES[:14] + [" "] * 9, k=9)).replace("\n", " ") for _ in range(3000))
    )
    first, *others = (line_kinds._NativeCounter(line_kinds._native()) for _ in range(4))
    expected = first.add(text, b"\n", [len(text)])
    for other in others:
        kinds, rare = other.add(text, b"\n", [len(text)])
        assert (kinds.tolist(), rare) == (expected[0].tolist(), expected[1])


def test_names_and_numbers_do_not_count():
    """Lines with other names and numbers are of one kind; one with other words is of another."""
    rng = random.Random(6)
    names = ["".join(rng.choices("ghijklmnopqrst", k=8)) for _ in range(60)]
    found = kinds_of(
        *(f"Datei {name}{number}.csv gelesen" for number, name in enumerate(names)), "Datei liegt nicht vor"
    )
    assert len(set(found[:-1])) == 1
    assert found[-1] != found[0]


def test_a_value_that_is_no_number():
    """NaN among numbers is a word."""
    found = kinds_of(*(f"step {number} loss 0.{number}" for number in range(50)), "step 50 loss nan")
    assert found[0] == found[49] != found[50]


def test_languages_without_blanks():
    """Names in Latin letters end where Japanese begins, and the other way round."""
    names = [letter * 5 for letter in "ghijklmnopqrstuvwxyz"]
    found = kinds_of(*(f"処理中{name}を読む" for name in names), "中断しました")
    assert len(set(found[:-1])) == 1
    assert found[-1] != found[0]


def test_hexadecimal_numbers_are_no_words():
    """Keys, addresses and dumps."""
    rng = random.Random(7)
    found = kinds_of(*(f"page {rng.randbytes(8).hex()} {rng.randrange(16):x} kept" for _ in range(50)))
    assert len(set(found)) == 1


def test_lines_without_words():
    """They are of the kind that their signs make."""
    assert len(set(kinds_of("12, 13", "7, 8", "12; 13", "----", "--", ""))) == 4


def test_lines_of_unknown_words_are_told_from_others():
    """Where none of a line's words is frequent, its kind says so."""
    found = kinds_of(*["read one part"] * 20, "nothing known here")
    assert found[0] >= 0
    assert found[-1] < -1
    assert number_of(found[-1]) == -2 - found[-1]
    assert number_of(-1) == -1


@pytest.mark.parametrize("folder", ["/", "\\"])
def test_lines_of_paths_alone_are_of_one_kind(folder):
    """However the paths differ; a line that has other words beside a path is of another kind."""
    rng = random.Random(9)
    paths = [folder.join("".join(rng.choices("ghijklmnopqrst", k=7)) for _ in range(3)) for _ in range(100)]
    copies = [f"'{one}' -> 'out{folder}{one}'" for one in paths]
    found = kinds_of(*copies, f"'{paths[0]}' liegt nicht vor", f"'{paths[1]}' liegt nicht vor")
    assert len(set(found[:-2])) == 1
    assert found[-1] == found[-2] != found[0]


def test_rare_lines():
    """Lines of kinds with at most three lines, and the first line of each kind."""
    text = lines(*["read one part"] * 20, "nothing known", *["read one part"] * 20, "", "")
    found, rare = LineKinds().add(text)
    assert [line.number for line in rare] == [0, 20, 41, 42]
    assert [text[line.start : line.end] for line in rare] == [
        b"read one part\n",
        b"nothing known\n",
        b"\n",
        b"\n",
    ]
    assert [line.kind for line in rare] == [number_of(found[line.number]) for line in rare]


def test_a_text_of_many_kinds_is_given_up():
    """Where nearly every line is of a kind of its own, counting ends."""
    rng = random.Random(8)
    words = ["".join(rng.choices("ghijklmnopqrst", k=3)) for _ in range(40)]
    kinds = LineKinds()
    kinds.add(lines(*(" ".join(rng.choices(words, k=8)) for _ in range(20_000))))
    assert kinds.given_up
    assert kinds.lines < 20_000
    assert len(kinds.add(b"one more\n")[0]) == 0


def test_pieces():
    """Pieces of their own, and pieces of one text between cuts, are counted alike; small ones first in Python."""
    text = lines(*(f"part {number} of {'many' if number % 7 else 'few'}" for number in range(3000)))
    cuts = cut(text, range(0, len(text), 5000))
    whole, apart = LineKinds(), LineKinds()
    expected = list(whole.add(text, b"\n", cuts)[0])
    found = []
    for low, high in zip([0, *cuts], cuts, strict=False):
        found += apart.add(text[low:high])[0]
    assert found == expected
    assert apart.counts() == whole.counts()
    assert apart.lines == whole.lines == 3000


def test_other_line_ends():
    """Any byte may end lines."""
    assert list(LineKinds().add(b"1\r2\r3", b"\r")[0]) == [0, 0, 0]


def test_memory():
    """Of a text without end no more is held than of a megabyte."""
    rng = random.Random(9)
    kinds = LineKinds()
    pieces = [
        lines(
            *(
                f"read {rng.randbytes(6).hex('x')} {rng.choice('ghij') * rng.randrange(1, 40)}"
                for _ in range(2000)
            )
        )
        for _ in range(8)
    ]
    tracemalloc.start()
    try:
        for _ in range(4):
            for piece in pieces:
                kinds.add(piece)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 4_000_000


@native
def test_another_library_is_left_alone(tmp_path, monkeypatch):
    """One that was left behind, with other tables, is not called."""
    library = compiled_library(tmp_path, "unsigned long long spillstore_kinds_version(void) { return 1; }\n")
    monkeypatch.setattr(_native, "library", lambda: ctypes.CDLL(str(library)))
    line_kinds._native.cache_clear()
    try:
        assert line_kinds._native() is None
        kinds = LineKinds()
        kinds.add(b"one line\n" * 10_000)
        assert kinds.counts() == [10_000]
    finally:
        line_kinds._native.cache_clear()
