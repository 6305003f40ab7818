"""The first short texts of a process are searched without the tables of the scanner, and give the same."""

from __future__ import annotations

import subprocess
import sys

import pytest
from examples import drawn
from hypothesis import given
from hypothesis import strategies as st
from test_token_and_place_tables import ROWS

from spillstore.redaction import Redactor, candidates, finder

_LITERALS = [entry.literal for entry in finder.ENTRIES]
_TEXTS = st.lists(st.sampled_from(_LITERALS) | st.binary(max_size=6), max_size=12).map(b"".join)


@given(_TEXTS)
def test_each_literal_is_found_where_the_automaton_finds_it(first_texts, automaton, text):
    """In the same order, overlapping ones and those that several rules share included."""
    assert list(automaton.hits(text, len(text))) == list(first_texts.hits(text, len(text)))
    assert list(automaton.runs(text)) == list(first_texts.runs(text))


@given(_TEXTS, st.integers(0, 40))
def test_a_literal_across_two_parts_is_found_once(first_texts, automaton, text, before):
    """The automaton searches a long text in parts."""
    text = b"." * (candidates._PART - before) + text + b"." * candidates._PART + text
    assert list(automaton.hits(text, len(text))) == list(first_texts.hits(text, len(text)))


def test_the_examples_of_all_rows_are_searched_alike(first_texts, automaton):
    """Of those that go and of those that stay."""
    texts = [drawn(text) for _, *examples in ROWS for text in examples if text]
    assert [list(automaton.hits(text, len(text))) for text in texts] == [
        list(first_texts.hits(text, len(text))) for text in texts
    ]


@given(_TEXTS, st.binary(max_size=40), st.integers(0, 60))
def test_a_text_that_ends_at_once_is_told_as_one_that_comes_in_pieces(text, more, cut):
    """``finish`` takes the last bytes, which are then looked at once."""
    text += more
    whole, pieces = Redactor(), Redactor()
    expected = pieces.feed(text[:cut]) + pieces.feed(text[cut:]) + pieces.finish()
    assert expected == whole.finish(text)
    assert pieces.counts == whole.counts


def test_few_short_texts_are_searched_one_by_one():
    """Until there were many, or a long one."""
    first = candidates.FirstTexts(finder.ENTRIES)
    assert [True] * 64 + [False] * 2 == [first.takes(256) for _ in range(66)]
    first = candidates.FirstTexts(finder.ENTRIES)
    assert [True, False, False] == [first.takes(size) for size in (256, 257, 1)]


@pytest.mark.long
def test_names_and_commands_do_without_the_tables():
    """A process that redacts nothing else makes none; with the first output they are there."""
    script = (
        "from spillstore.redaction import finder, redact\n"
        "assert redact('mysql -phunter2') == 'mysql -p[REDACTED: PASSWORD]'\n"
        "assert not finder.searcher.cache_info().currsize\n"
        "assert redact('x' * 1000) == 'x' * 1000\n"
        "assert finder.searcher.cache_info().currsize\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
