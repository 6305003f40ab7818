"""Counting with a table of states: the same lines and matches as RE2's own, and None where it does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, examples, native

from spillstore import Store
from spillstore.search.automaton import automaton, counter
from spillstore.search.patterns import compiled
from spillstore_tools.agent.search_artifact import TextCleaner

pytestmark = native

single = st.sampled_from(
    [
        "a",
        "b",
        "c",
        "_",
        "1",
        "A",
        "[ab]",
        "[^b]",
        "[a-c_]",
        ".",
        r"\w",
        r"\d",
        r"\s",
        r"\W",
        r"\D",
        r"\.",
        "ab",
    ]
)
many = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?"])
expressions = st.recursive(
    single,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda both: f"({both[0]}|{both[1]})"),
        st.tuples(inner, many).map(lambda both: f"(?:{both[0]}){both[1]}"),
    ),
    max_leaves=8,
)
texts = st.lists(
    st.sampled_from([b"a", b"b", b"ab", b"c", b"_", b"1", b" ", b"A", b".", b"\n", b"\n\n"]), max_size=80
).map(b"".join)


def plain(pattern, text, *, ignore_case):
    """Lines and matches, by RE2, one after the other."""
    wanted = compiled(pattern, ignore_case=ignore_case, literal=False, latin=False)
    starts = [found.start() for found in wanted.finditer(text)]
    return len({text.count(b"\n", 0, start) for start in starts}), len(starts)


@given(expressions, st.lists(texts, min_size=1, max_size=4), st.booleans())
@examples(600)
def test_it_counts_as_re2_does(pattern, several, ignore_case):
    """Whatever is preferred, repeated or left out; where it cannot tell, it says so."""
    found = counter(pattern, ignore_case=ignore_case)
    for text in several if found is not None else ():
        counts = found.count(text, 0, len(text))
        assert counts is None or counts == plain(pattern, text, ignore_case=ignore_case)


@given(
    st.sampled_from(
        ["ab_[a-c]+", "a[bc]_.*c", "(?i)Ab+_", "(ab|cb)_?1", "b{2,3}a*_", "[ab]c.?1", "a.b", "c+_"]
    ),
    st.lists(
        st.sampled_from(
            [b"ab_", b"abc", b"aBB_", b"ac_", b"cb", b"_1", b"bbb", b"a", b"\n", b"." * 15, b"." * 33]
        ),
        max_size=60,
    ).map(b"".join),
    st.integers(0, 40),
    st.integers(0, 40),
)
@examples(600)
def test_nothing_is_passed_over(pattern, text, before, behind):
    """Where matches begin with bytes that are known, all of them are found, wherever they stand, and nothing around the text plays a part."""
    found = counter(pattern, ignore_case=False)
    low, high = min(before, len(text)), max(min(before, len(text)), len(text) - behind)
    counts = found.count(text, low, high)
    assert counts is None or counts == plain(pattern, text[low:high], ignore_case=False)


@pytest.mark.parametrize(
    ("pattern", "head"),
    [
        ("ab?c", [b"a", b"bc"]),
        ("(def|deg) ", [b"d", b"e", b"fg", b" "]),
        ("a+b", [b"a", b"ab"]),
        ("(?i)ok", [b"Oo", b"Kk"]),
        ("a|bc", [b"ab"]),
        ("x{40}", [b"x"] * 32),
    ],
)
def test_the_beginning_of_matches(pattern, head):
    """Of each place up to the end of the shortest match, all bytes that a match may have there."""
    assert head == [bytes(sorted(each)) for each in automaton(pattern, ignore_case=False).head]


@pytest.mark.parametrize(
    ("pattern", "text", "counts"),
    [
        (r"\w+_\w+", b"one_two three\nfour five_six seven_\n", (2, 2)),
        (r"a+b|c", b"aab c\n\nd\nab", (2, 3)),
        (r"(?i)err(or)?", b"ERR Error err\n", (1, 3)),
        (r"x{2,3}?", b"xxxxx\n", (1, 2)),
        (r"[^ ]+", b"a bc\n d\n\n", (2, 3)),
    ],
)
def test_some_patterns(pattern, text, counts):
    """Lines and matches of a few patterns that people look for."""
    assert counts == counter(pattern, ignore_case=False).count(text, 0, len(text))


@pytest.mark.parametrize(
    "pattern",
    ["a*", "a|", "^a", r"\ba", "(?P<name>a)", "é", "[[:alpha:]]", "(a*)*b", "(?:a?){1000}b", "(?s).a"],
)
def test_what_is_left_to_re2(pattern):
    """What matches nothing, looks around, has names, other letters, or too many places."""
    assert counter(pattern, ignore_case=False) is None


def test_states_are_bounded():
    """A pattern whose states would be thousands is left to RE2, and so is a text in which each match is looked for in vain."""
    assert counter("[ab]*a[ab]{12}", ignore_case=False) is None
    text = b"a" * 20_000 + b"\n"
    assert counter("a+b|a", ignore_case=False).count(text, 0, len(text)) is None


def test_a_search_that_counts_agrees_with_one_that_shows(root):
    """Through the whole search: cleaned and raw, ASCII and not, with totals and page by page."""
    lines = [f"{number} name_{number % 7} größe_{number} na\u212ame_x plain\n" for number in range(3000)]
    lines += ["\x1b[1mcolour_ed\x1b[0m word\n", "last_one"]
    with Store(root, **NO_FLOORS).session("s") as session:
        for text in ("".join(lines), "".join(lines).encode("ascii", "ignore").decode()):
            artifact = session.put(text)
            for pattern in (r"\w+_\w+", r"[^ ]+_.", r"(?i)K?ame_[x0-3]", r"\d+ name_[135]"):
                for cleaner in (None, TextCleaner()):
                    counted = artifact.search(pattern, limit=0, cleaner=cleaner)
                    shown = artifact.search(pattern, limit=10_000, cleaner=cleaner)
                    assert (len(shown.matches), shown.total_matches) == (counted.lines, counted.total_matches)
