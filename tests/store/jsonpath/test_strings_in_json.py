"""A string in JSON is read as if it were an artifact."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillstore import aio
from spillstore.exceptions import NotJSONError, PatternError, QueryError, RangeError
from spillstore.jsonstring import JSONString


@pytest.fixture
def session(store):
    with store.session("chat") as session:
        yield session


@given(st.text("ab\n\r\u00e9", max_size=60), st.integers(1, 12), st.integers(0, 12), st.integers(0, 70))
def test_ranges_are_those_of_its_bytes(text, first, more, byte):
    """Lines, bytes and places are what splitting the bytes gives; past the end there is nothing."""
    data = text.encode()
    string = JSONString(_info(), "$", data)
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    lines = [line for line in lines if line]
    assert (len(data), len(lines)) == (string.info.size, string.info.lines)
    assert b"".join(lines[first - 1 : first + more]) == string.read_lines(first, first + more)
    assert data[byte:] == string.read_bytes(byte, 1000) == b"".join(string.chunks(byte))
    place = string.locate(byte=byte)
    assert min(byte, len(data)) == place.byte
    assert place.line == (data[:byte].count(b"\n") + 1 if byte < len(data) else len(lines) + 1)
    assert string.locate(line=first).byte == len(b"".join(lines[: first - 1]))


@given(st.lists(st.text("ab ", max_size=4), max_size=30), st.integers(1, 5))
def test_searches_find_what_lines_hold(lines, limit):
    """Page by page, every line that matches once, with its number."""
    string = JSONString(_info(), "$", "\n".join(lines).encode())
    found, cursor = [], None
    while True:
        page = string.search("ab", limit=limit, cursor=cursor)
        found += [(match.line, match.text) for match in page.matches]
        cursor = page.cursor
        if cursor is None:
            break
    assert found == [(number, line) for number, line in enumerate(lines, 1) if "ab" in line]


def test_a_large_string(session):
    """Megabytes of it, searched in blocks, with lines that blocks would tear."""
    text = "".join(f"{number} {'x' * (number % 300)}\n" for number in range(30_000))
    string = session.put(json.dumps([text])).string("$[0]")
    assert [match.line for match in string.search("^29999 ", context=1).matches] == [30_000]
    assert string.search("x$", limit=0).lines == sum(bool(number % 300) for number in range(30_000))
    assert string.read_lines(15_001, 15_001).startswith(b"15000 ")


def test_asyncio(session):
    """The same from a coroutine."""
    artifact = session.put('{"a": "one\\ntwo"}')

    async def lines():
        string = await (await aio.Session(session).artifact(artifact.id)).string("$.a")
        return string.read_lines(2, 2)

    assert asyncio.run(lines()) == b"two"


def test_json_lines(session):
    """A path may lead to one line's string."""
    artifact = session.put('{"a": "one"}\n{"b": "two\\nthree"}\n')
    assert artifact.string("$.b").read_lines(2, 2) == b"three"
    with pytest.raises(QueryError, match="several nodes"):
        artifact.string("$.*")


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("$.none", QueryError, "finds nothing"),
        ("$", QueryError, "is an object"),
        ("$.yes", QueryError, "is true or false"),
        ("a", QueryError, "no JSONPath"),
    ],
)
def test_paths_that_find_no_string(session, path, error, words):
    """The error says what was found."""
    with pytest.raises(error, match=words):
        session.put('{"yes": true, "text": "x"}').string(path)


def test_what_means_nothing(session):
    """No JSON, no place, no pattern."""
    with pytest.raises(NotJSONError):
        session.put("text").string("$.a")
    string = session.put('{"text": "x"}').string("$.text")
    for arguments in ({}, {"line": 1, "byte": 1}, {"line": 0}, {"byte": -1}):
        with pytest.raises(RangeError):
            string.locate(**arguments)
    with pytest.raises(PatternError):
        string.search("(")


def _info():
    from spillstore.info import ArtifactInfo

    fields = dict.fromkeys(ArtifactInfo.__dataclass_fields__)
    return ArtifactInfo(**{**fields, "id": "art_1"})
