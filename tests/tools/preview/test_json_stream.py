"""JSON that is too large to be held: told by members, types and counts while it passes, in flat memory."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.structured.json_stream import JsonStream

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
)

KINDS = {type(None): "null", bool: "boolean", str: "string", list: "array", dict: "object"}


def told(data, cuts=()):
    stream = JsonStream()
    for low, high in zip([0, *cuts], [*cuts, len(data)], strict=True):
        stream.feed(data[low:high])
    return stream.told()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "array of 0 elements"),
        ([[]], "array of 1 array"),
        ({}, "object of 0 members: "),
        ([1, 2, 3], "array of 3 numbers"),
        (
            [{"id": 1, "name": "a,b]}"}, {"id": 2, "name": '"'}],
            "array of 2 objects with id number, name string",
        ),
        ([1, "a"], "array of 2 elements (number, string)"),
        (
            {"total": 2, "rows": [{"id": 1}], "ok": True, "last": {"a": [1, {"b": 2}], "c": 3}},
            "object of 4 members: total number, rows array of 1 object with id number, ok boolean, last object of 2 members",
        ),
        ([*range(150), "oops", *range(49)], "array of 200 elements (number, 1 string at [150])"),
        (
            ["a"] * 99 + [1, [{}], 2],
            "array of 102 elements (string, 1 array at [100], 2 numbers, first at [99])",
        ),
        ([True, None, {}], "array of 3 elements (boolean, null, object)"),
        (
            [{"a": number} for number in range(50)],
            "array of 50 objects, the first 20 with a number",
        ),
        (
            [*({"a": number} for number in range(50)), [1]],
            "array of 51 elements (object, 1 array at [50]), the first 20 with a number",
        ),
        ([{"a": 1}, {"a": "b"}, {"a": None}], "array of 3 objects with a number or string"),
        ({"a\\": "\\", 'q"': ["\\\\", '"]']}, 'object of 2 members: a\\ string, q" array of 2 strings'),
    ],
)
def test_members_types_and_counts(value, words):
    """What a value holds, whatever stands in its strings."""
    assert told(json.dumps(value).encode()) == words


@given(
    value=st.one_of(st.lists(VALUES, max_size=8), st.dictionaries(st.text(max_size=5), VALUES, max_size=6)),
    data=st.data(),
)
def test_counts_of_any_value_however_it_comes(value, data):
    """Elements and members are counted right, and the same wherever the bytes were cut."""
    raw = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "replace")
    words = told(raw)
    kind = "array of" if isinstance(value, list) else "object of"
    assert words.startswith(f"{kind} {len(value)} ")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    counts = [word for word in told(raw, cuts).split() if word.isdigit()]
    assert counts[:1] == [str(len(value))]


@given(value=st.lists(VALUES, max_size=8), data=st.data())
def test_kinds_however_it_comes(value, data):
    """All kinds of elements are told, wherever the bytes were cut."""
    raw = json.dumps(value, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "replace")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    kinds = sorted({KINDS.get(type(each), "number") for each in value})
    words = told(raw, cuts)
    if len(kinds) > 1:
        assert f" elements ({', '.join(kinds)})" in words
    elif kinds:
        assert words.split()[3].removesuffix(",").removesuffix("s") == kinds[0]


def test_members_of_objects_that_come_in_pieces():
    """What is told of them does not depend on where the bytes were cut."""
    raw = json.dumps({"rows": [{"id": number, "name": "x"} for number in range(30)]}).encode()
    words = "object of 1 member: rows array of 30 objects, the first 20 with id number, name string"
    assert all(told(raw, [at]) == words for at in range(len(raw)))


def test_more_members_than_are_told_apart():
    """How many there are beside those that are named."""
    words = told(json.dumps({f"member{number}": number for number in range(1000)}).encode())
    assert words.startswith("object of 1000 members: member0 number, ")
    named = words.count(" number")
    assert words.endswith(f", and {1000 - named} more")


@pytest.mark.parametrize("data", [b"", b"no json", b"[1]]", b"{]", b'{"a" 1}x' * 300_000, b"[1] [2]"])
def test_what_is_no_json(data):
    """Nothing is told of it."""
    assert told(data) == ""


def test_what_has_not_ended():
    """Its beginning is told, and that it is unfinished."""
    assert told(b'{"rows": [1, 2, 3, "four') == "unfinished, object of 1 member: rows array of 4 numbers"


def large(size):
    """One line of records."""
    rows, number = [], 0
    while size > 0:
        rows.append(
            f'{{"id": {number}, "name": "user {number}, \\"x\\" [{{", "tags": ["a", "b"], "owner": {{"team": null}}}}'
        )
        size -= len(rows[-1]) + 2
        number += 1
    return f'{{"total": {number}, "rows": [{", ".join(rows)}], "next": null}}'.encode(), number


@pytest.mark.long
def test_the_preview_of_twelve_megabytes(plain_store):
    """Members, types and counts stand before both ends of the line, and memory stays flat."""
    data, count = large(12 * 1024 * 1024)
    pieces = [data[at : at + 70_000] for at in range(0, len(data), 70_000)]
    with plain_store.session("test") as session:
        processor = TruncationProcessor(session)
        tracemalloc.start()
        text = processor.process(iter(pieces), "query").content
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    line = text.split("\n")[2]
    assert line == (
        f"[JSON: object of 3 members: total number, rows array of {count} objects, the first 20 with id number, "
        "name string, tags array, owner object, next null]"
    )
    assert text.split("\n")[3].startswith('{"total": ')
    assert '"next": null}' in text
    assert len(text) < 5000
    assert peak < 40 * 1024 * 1024


def test_a_string_of_many_megabytes():
    """A string is passed over without being held, escapes at the borders of pieces among it."""
    random.seed(1)
    stream = JsonStream()
    stream.feed(b'["a", "')
    tracemalloc.start()
    for _ in range(200):
        stream.feed(b'x\\"' * 7_000 + b"\\")
        stream.feed(b'"' * 1 + b"y" * 3_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stream.feed(b'", 3]')
    assert stream.told() == "array of 3 elements (number, string)"
    assert peak < 1024 * 1024
