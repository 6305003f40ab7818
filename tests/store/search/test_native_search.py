"""The native search: what the interpreter would find and count, in any bytes."""

from __future__ import annotations

import ctypes
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, compiled_library, examples, native

from spillstore import Store
from spillstore.search import native_search
from spillstore.search.native_search import Text, finder
from spillstore_tools.agent.search_artifact import TextCleaner

PATTERNS = (
    "a", "ab", "aa", "abc", "b|ab", "a|ab", "ab|a", "aab|b|ca", r"a\d", r"\w1", r"a\d+", "b[ab]*|1", "c.*", r"1[^a]+", "a1*b", r"b\d+c", "A[^B]*B", "c[ab]*1|a", "a1{3}", "[ab]c", "abcabcabcabcabc", "x|y|1|a1",
    "(?i)ab", "(?i)a1|C", "a{20}",
)  # fmt: skip
pieces = st.sampled_from(
    [
        b"a",
        b"b",
        b"c",
        b"1",
        b"A",
        b"B",
        b"aab",
        b"abc",
        b"\n",
        b"\n\n",
        b"\x00",
        b"\xff",
        b"\xe9",
        b"x" * 15,
        b"a" * 17,
        b"." * 100,
    ]
)
texts = st.lists(pieces, max_size=60).map(b"".join)


@pytest.fixture(scope="module")
def session(module_root):
    with Store(module_root, **NO_FLOORS).session("chat") as session:
        yield session


@native
@given(st.sampled_from(PATTERNS), texts, st.integers(0, 40), st.integers(0, 40))
@examples(600)
def test_places_and_counts(pattern, data, before, behind):
    """The first match, matching lines and all matches are those of a loop, and what stands around the range plays no part."""
    wanted = re.compile(pattern.encode(), re.ASCII)
    low, high = min(before, len(data)), max(min(before, len(data)), len(data) - behind)
    inside = data[low:high]
    first = wanted.search(inside)
    spans = [[match.span() for match in wanted.finditer(line)] for line in inside.split(b"\n")]
    text = Text()
    text.append(data)
    for place in (text.address, data):
        found = finder(pattern, ignore_case=False, literal=False)
        assert found.first(place, low, high) == (-1 if first is None else low + first.start())
        assert found.count(place, low, high) == (sum(map(bool, spans)), sum(map(len, spans)))


@native
def test_what_would_take_more_than_linear_time_is_left_to_others():
    """Where each of many places begins what in the end is no match, no answer is given, soon; where it matches, one is."""
    found = finder("a[ab]*c", ignore_case=False, literal=False)
    data = b"ab" * 50_000
    assert found.first(data, 0, len(data)) == -2
    assert found.count(data, 0, len(data)) is None
    assert found.count(data + b"c\n", 0, len(data) + 2) == (1, 1)


@native
def test_where_it_cannot_tell_it_is_asked_once(session, monkeypatch):
    """No byte is counted twice by it before RE2 counts; the answer is RE2's."""
    asked = []
    monkeypatch.setattr(
        native_search.Finder, "count", lambda _self, _text, low, high: asked.append(high - low)
    )
    data = b"an error\nand more\n" * 100_000
    artifact = session.put(data)
    page = artifact.search("error", limit=0)
    assert (page.lines, page.total_matches) == (100_000, 100_000)
    assert len(data) // 2 < sum(asked) <= len(data)
    artifact.delete()


@given(
    st.lists(
        st.sampled_from(
            [
                b"a",
                b"ab",
                b"aK",
                b"k1",
                "\u212a".encode(),
                b"\xff",
                b"\x1b[1m",
                b"\r",
                b"\b",
                b"\n",
                b"\n\n",
                b"x" * 70,
            ]
        ),
        max_size=50,
    ).map(b"".join),
    st.sampled_from(
        [
            "a",
            "ab",
            "k",
            "a[bk]",
            "b|ab",
            "a.*b",
            "(?:ab|k1)+",
            "ak.*",
            "b[^1]*",
            "a[ab]*k",
            "x{3}",
            "^a",
            "zz",
        ]
    ),
    st.booleans(),
    st.sampled_from([None, TextCleaner()]),
    st.sampled_from(["combined", "stdout", "stderr"]),
    st.sampled_from([0, 1, 50]),
    st.sampled_from([1, 3, 64, 65_536]),
)
@examples(300)
def test_it_changes_no_answer(session, data, pattern, ignore_case, cleaner, stream, limit, size):
    """A search finds and counts the same as with RE2 alone, in texts and chunks of any kind, from cursor to cursor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spillstore.session.new_artifact.CHUNK_SIZE", size)
        patch.setattr("spillstore.read.iteration.BLOCKS", 2)
        with session.create(newline="lf") as writer:
            for number, part in enumerate(data.splitlines(keepends=True)):
                writer.write(part, stream="stderr" if number % 3 == 1 else "stdout")
        artifact = session.artifact(writer.id)
        options = {"stream": stream, "limit": limit, "ignore_case": ignore_case, "cleaner": cleaner}

        def pages():
            found = [artifact.search(pattern, **options)]
            while found[-1].cursor is not None:
                found.append(artifact.search(pattern, cursor=found[-1].cursor, **options))
            return found

        with_library = pages()
        patch.setattr("spillstore.search.searched_text.finder", lambda *_, **__: None)
        patch.setattr("spillstore.search.native_search.library", lambda: None)
        assert with_library == pages()
    artifact.delete()


@pytest.mark.parametrize(
    "source", ["int other;", "unsigned long long spillstore_sequences_version(void) { return 99; }"]
)
def test_a_library_of_another_version_is_left_alone(tmp_path, monkeypatch, source):
    """One that was left behind, whose functions are others, is not called."""
    library = compiled_library(tmp_path, source)
    monkeypatch.setattr("spillstore._native.library", lambda: ctypes.CDLL(str(library)))
    assert native_search.library.__wrapped__() is None
