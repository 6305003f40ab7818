"""JSON in words: what is said of all elements holds for all of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillstore_tools.preview.structured import json_tree
from spillstore_tools.preview.structured.json_shape import shape
from spillstore_tools.preview.structured.json_tree import parsed


def told(value, room=700):
    text = json.dumps(value)
    return shape(text, parsed(text), room)


def with_one(usual, odd, at=2000, of=4000):
    return [odd if index == at else usual for index in range(of)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "array of 0 elements"),
        ([[], [1]], "array of 2 arrays"),
        (with_one(1, "oops"), "array of 4000 elements (number, 1 string at [2000])"),
        (with_one(-1.5, None), "array of 4000 elements (number, 1 null at [2000])"),
        (
            with_one({"a": 1}, [1]),
            "array of 4000 elements (object, 1 array at [2000]), the objects with a number",
        ),
        (["a", *range(1000), "b"], "array of 1002 elements (number, 2 strings, first at [0])"),
        ([1, "a", 2, "b"], "array of 4 elements (number, string)"),
        (with_one({"a": 1}, {"a": "x"}), "array of 4000 objects with a number (1 string at [2000])"),
        (with_one({"a": 1}, {"b": True}), "array of 4000 objects with a number, b boolean"),
        (
            [{"a": 1}, {"a": None}, {"a": "x"}, {"b": None}],
            "array of 4 objects with a number or string, b null",
        ),
        (
            {"rows": with_one(1, "oops")},
            "object of 1 member: rows array of 4000 elements (number, 1 string at [2000])",
        ),
        ([{"a\nb": 1, "ü": 2, 'q"': 3}], 'array of 1 object with a\\nb number, ü number, q\\" number'),
        (
            [{"a": 1, "large": "x" * 70_000}, {"a": "y"}],
            "array of 2 objects with a number or string, large string",
        ),
    ],
)
def test_kinds_of_all_elements(value, words):
    """An element of another kind is told wherever it stands, and so is a member of another kind."""
    assert told(value) == words


def test_more_members_than_are_looked_at():
    """How many there are beside those that are named."""
    words = told({f"m{number}": number for number in range(5000)}, room=4000)
    named = words.count(" number")
    assert words.endswith(f", m{named - 1} number, and {5000 - named} more")


def test_objects_that_share_no_members():
    """Names that are all different are no members to tell of."""
    assert told([{f"id{number}": number} for number in range(2000)]) == "array of 2000 objects"


@given(value=st.lists(st.sampled_from((1, "a", None, True, {}, [])), max_size=40))
def test_elements_that_are_not_kept(value):
    """Those in the middle of very many are counted by their kinds like the others."""
    words = told(value)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_tree, "_ENDS", 2)
        assert told(value) == words


def test_members_of_objects_that_are_not_kept(monkeypatch):
    """They are not known, and that is said."""
    monkeypatch.setattr(json_tree, "_ENDS", 2)
    assert (
        told(with_one({"a": 1}, {"a": "x"}, 20, 40))
        == "array of 40 objects, those at both ends with a number"
    )
