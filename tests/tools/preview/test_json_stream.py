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
        f"[JSON: object of 3 members: total number, rows array of {count} objects with id number, name string, tags array, "
        "owner object, next null]"
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
    assert stream.told() == "array of 3 strings"
    assert peak < 1024 * 1024
