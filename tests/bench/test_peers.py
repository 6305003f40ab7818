"""The benchmark's comparison: what became of an answer is said as it is, and its texts are what they claim to be."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING

import pytest
from benchmarks import growth, texts
from benchmarks.peers import libraries, measure, worker
from benchmarks.peers.ours import Spillstore

if TYPE_CHECKING:
    from pathlib import Path

TEXT = b"".join(b"line %d of a log\n" % number for number in range(1, 20_001))


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (b"a\nb\n", b"a\nb\n", "right"),
        (b"a\nb", b"a\nb\n", "right"),
        (b"a\n", b"a\nb\n", "cut: 1 of 4 bytes"),
        ("\ufffdb\n".encode(), b"\xffb\n", "changed: bytes that are no UTF-8 are gone"),
        (b"a\nb\n", b"a\r\nb\n", "changed: blanks or line ends"),
        (b"c\n", b"a\nb\n", "another text: 2 bytes for 4"),
    ],
)
def test_what_became_of_a_text_is_said(answer: bytes, expected: bytes, words: str) -> None:
    """Only the end of the last line may differ."""
    assert worker.words_of_bytes(answer, expected) == words


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([3, 7], "right"),
        (["x one", "x two"], "right, without line numbers"),
        ([3], "1 of 2 found"),
        ([], "0 of 2 found"),
        ([3, 8], "wrong: 1 that are not there"),
    ],
)
def test_what_became_of_a_search_is_said(answer: list[object], words: str) -> None:
    """Lines that are missing and lines that are not there are told apart."""
    assert worker.words_of_search(answer, [(3, "x one"), (7, "x two")]) == words


def test_lines_that_hold_a_text_are_numbered_however_the_text_is_cut() -> None:
    """A match across a border counts once, as does a line with two."""
    data = b"one\ntwo needle needle\nthree\nfour needle"
    for size in range(1, len(data) + 1):
        file = io.BytesIO(data)
        assert libraries.numbered(iter(lambda f=file, n=size: f.read(n), b""), b"needle") == [2, 4], size


HERE = [name for name in worker.PEERS if name not in worker.AGENTS and not worker.peer(name).missing()]


@pytest.mark.parametrize("name", HERE)
def test_a_peer_that_is_installed_gives_back_what_it_was_given(name: str, tmp_path: Path) -> None:
    """A plain text, where nothing has a reason to cut: its lines and its matches are right."""
    path = tmp_path / "text"
    path.write_bytes(TEXT)
    peer = worker.peer(name)(tmp_path)
    peer.store(path)
    getattr(peer, "prepare", bool)()
    peer.open()
    lines = TEXT.splitlines(keepends=True)
    assert peer.whole() == TEXT
    for first in (1, 2, 4321, 19_901):
        assert b"".join(lines[first - 1 : first + 99]) == peer.lines(first, first + 99)
    assert peer.search("line 7777 of") == [7777]


def test_a_phase_that_fails_is_told_and_costs_nothing_else() -> None:
    """An error of a peer becomes its words."""
    report = worker.measured(lambda: 1 / 0)
    assert report["words"] == "fails: ZeroDivisionError: division by zero"
    assert "answer" not in report


def test_our_answers_are_right_where_they_are_measured(tmp_path: Path) -> None:
    """The whole way of a worker: stored, read, searched."""
    path = tmp_path / "text"
    path.write_bytes(TEXT + f"{measure.NEEDLE} was here\n".encode())
    subject = Spillstore(tmp_path)
    subject.store(path)
    report = worker._search(subject, measure.NEEDLE, path)
    assert (report["words"], worker._lines(subject, 5000, 20_000, path)["words"]) == ("right", "right")
    assert worker._whole(subject, path) == {"words": "right"}


def test_there_are_ten_kinds_of_text_and_a_seed_decides_them() -> None:
    """Each is made twice the same; random bytes are of every value."""
    size = 1 << 16
    found = dict(texts.texts(size, texts.TEN))
    assert len(texts.TEN) == 10
    assert list(found) == list(texts.TEN)
    assert {len(text) for text in found.values()} == {size}
    assert found == dict(texts.texts(size, texts.TEN))
    assert len(set(found["random bytes"])) == 256


def test_a_large_text_is_known_without_being_kept() -> None:
    """Any bytes and lines of it are those of the text that was written."""
    pool = b"".join(b"request_id=%06d of %s\n" % (number, b"x" * (number % 50)) for number in range(3000))
    text = growth._Text(pool)
    whole = b"".join(text.blocks(5 * len(pool)))
    lines = whole.splitlines(keepends=True)
    rng = random.Random(1)
    for _ in range(200):
        start = rng.randrange(len(whole) - 5000)
        assert text.read(start, start + 5000) == whole[start : start + 5000]
        first = rng.randrange(1, len(lines) - 100)
        assert text.read_lines(first, first + 99) == b"".join(lines[first - 1 : first + 99])
