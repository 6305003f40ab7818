"""Byte patterns: what is told of the matches of a pattern is so, as RE2 finds them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import each_of, examples

from spillstore.exceptions import PatternError
from spillstore.search.byte_patterns import LONGEST, MOST, Rest, byte_pattern
from spillstore.search.patterns import compiled

atoms = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "K",
        "s",
        "1",
        " ",
        r"\d",
        r"\w",
        r"\s",
        r"\.",
        "[ab]",
        "[a-c1]",
        "[^a]",
        ".",
        r"\b",
        "^",
        "$",
        "[]a]",
    ]
)
quantifiers = st.sampled_from(
    ["", "", "", "?", "*", "+", "{2}", "{0}", "{00,2}", "{1,2}", "{2}?", "+?", "{2,}"]
)
expressions = st.recursive(
    st.builds(str.__add__, atoms, quantifiers),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map("|".join)
        | st.builds("({}){}".format, inner, quantifiers)
        | st.builds("(?:{}){}".format, inner, quantifiers)
    ),
    max_leaves=6,
)
lines = st.lists(
    st.sampled_from(
        ["a", "b", "A", "aab", "c", "K", "k", "s", "1", " ", ".", "\t", "_", "\u017f", "\u212a", "é"]
    ),
    max_size=12,
).map("".join)


OTHER_CASES = {"\u017f", "\u212a"}


def as_expression(found):
    """The sequences of a byte pattern, as an expression of the standard library."""

    def one(members):
        return b"[%b]" % b"".join(b"\\x%02x" % byte for byte in members) + b"*" * isinstance(members, Rest)

    return re.compile(b"|".join(b"".join(map(one, sequence)) for sequence in found.alternatives))


@given(st.sampled_from(["", "(?i)"]), expressions, st.booleans(), st.lists(lines, max_size=4))
@examples(1500)
def test_each_match_is_or_holds_a_sequence(flag, expression, ignore_case, texts):
    """Of an exact one RE2's matches are those of the sequences in their order; of others each line that matches holds one."""
    pattern = flag + expression
    try:
        engine = compiled(pattern, ignore_case=ignore_case, literal=False, latin=False)
    except PatternError:
        return
    found = byte_pattern(pattern, ignore_case=ignore_case, literal=False)
    if found is None:
        return
    assert 0 < len(found.alternatives) <= MOST
    assert all(0 < len(each) <= LONGEST for each in found.alternatives)
    wanted = as_expression(found)
    for text in texts:
        if found.folds and not OTHER_CASES.isdisjoint(text):
            continue
        line = text.encode()
        spans = [match.span() for match in engine.finditer(line)]
        if found.exact:
            assert [match.span() for match in wanted.finditer(line)] == spans
        else:
            assert not spans or wanted.search(line)


@given(st.text(max_size=6), st.booleans(), st.lists(lines, max_size=4))
def test_literal_text_is_one_sequence(text, ignore_case, texts):
    """Text is found as RE2 finds it, whatever characters it has."""
    found = byte_pattern(text, ignore_case=ignore_case, literal=True)
    if found is None:
        return
    engine = compiled(text, ignore_case=ignore_case, literal=True, latin=False)
    wanted = as_expression(found)
    for each in [*texts, f"x{text}y{text}", text.swapcase()]:
        if "\n" in each or (found.folds and not OTHER_CASES.isdisjoint(each)):
            continue
        line = each.encode(errors="replace")
        assert [match.span() for match in wanted.finditer(line)] == [
            match.span() for match in engine.finditer(line)
        ]


@each_of(
    "pattern, sequences, exact",
    [
        ("ERROR", ["ERROR"], True),
        ("panicked|deadlock", ["panicked", "deadlock"], True),
        ("(a|b)(c|d)", ["ac", "ad", "bc", "bd"], True),
        ("timeout.*refused", ["timeout"], False),
        (r"\bERROR\b", ["ERROR"], False),
        ("colou?r", ["colo"], False),
        ("^(?:warn|fail)ing: .+ today$", ["warning: \0", "failing: \0"], False),
        ("(ab){2,5}", ["abab"], False),
        ("(?i)[x-z]1{2}", ["X11"], True),
        ("a" * 65, ["a" * 64], False),
        ("id=[0-9]+", ["id=00"], True),
        ("job .*", ["job \0"], True),
        ('name="[^"]{2,}', ['name="'], False),
        ("[0-9]+ms", ["ms"], False),
        ("took [0-9]+ms", ["took 00ms"], True),
        ('name="[^"]*" x', ['name="\0" x'], True),
        (r"a\s*=", ["a\t="], True),
        ("ab+bc", ["ab"], False),
        (r"\d+\.\d+ seconds", [" seconds"], False),
        (r"x\d+\.\d+ s", ["x00.00 s"], True),
    ],
)
def test_what_is_told(pattern, sequences, exact):
    """Whole matches where they are short and few, else the rarest part that each has."""
    found = byte_pattern(pattern, ignore_case=False, literal=False)
    assert [bytes(min(each) for each in sequence).decode() for sequence in found.alternatives] == sequences
    assert found.exact is exact


@pytest.mark.parametrize(
    "pattern",
    [
        "a*", ".", "^$", "", "a|", "a|.*", "é", r"\pL", r"\x41", "(?s)a", "(?P<n>a)", "[[:digit:]]", r"\Qa\E", "a{2", "[^a]", "[\n]", "\n",
        "(" * 33 + "a" + ")" * 33, "|".join(map(str, range(17))),
    ],
)  # fmt: skip
def test_of_most_patterns_nothing_is_told(pattern):
    """What has no bytes that each match needs, too many, or syntax that is not read here."""
    assert byte_pattern(pattern, ignore_case=False, literal=False) is None


def test_the_longest_pattern_is_read_at_once():
    """What is known of thousands of alternatives is given up, not collected."""
    assert byte_pattern("|".join(["ab"] * 5000), ignore_case=False, literal=False) is None
