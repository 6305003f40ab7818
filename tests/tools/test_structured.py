"""JSON under the profile ``default``: texts inside it are shown as texts, the rest by elements."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from previews import reader, whole

from spillstore_tools.preview.clean import clean
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.retrieval import get_artifact
from spillstore_tools.stored import render
from spillstore_tools.truncation import ContentError, TruncationProcessor

LOG = "".join(f"compiling part {number} \u00e9\n" for number in range(20_000))
LOG = LOG[:150_000] + "\nsrc/app.py:12: error: no such name\n" + LOG[150_000:]
ROWS = {"rows": [{"id": number, "name": f"row {number}", "tags": ["a", "b"]} for number in range(5000)]}


@pytest.fixture
def session(plain_store):
    with plain_store.session("chat") as session:
        yield session


def shown_json(rendered):
    """The text without our own words."""
    text, at = "", 0
    for start, length in rendered.notes:
        text += rendered.text[at:start]
        at = start + length
    return text + rendered.text[at:]


def processed(session, content):
    """The result, and the preview made again."""
    result = TruncationProcessor(session).process(content, "tool")
    rendered = render(session.artifact(result.artifact_id), profile_named("default"))
    assert rendered.text == result.content
    return result, rendered


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        ({"stdout": LOG, "exit_code": 1}, ["$.stdout"]),
        (json.dumps({"stdout": LOG, "exit_code": 1}), ["$.stdout"]),
        (json.dumps({"stdout": LOG, "exit_code": 1}, indent=2), ["$.stdout"]),
        ({"result": [{"type": "text", "the text": LOG}]}, ["$.result[0]['the text']"]),
        ({"stdout": LOG, "stderr": LOG, "exit_code": 1}, ["$.stdout", "$.stderr"]),
        ([LOG], ["$[0]"]),
    ],
)
def test_texts_in_json(session, content, paths):
    """The error in the middle of a string is shown, under the path of the string; what is left of the JSON is JSON."""
    result, rendered = processed(session, content)
    assert 6000 < len(result.content) <= 8000
    assert result.content.count("src/app.py:12: error: no such name") == len(paths)
    for path in paths:
        assert f"\n[{path}: 20002 lines of text; line numbers are its own]\n" in result.content
    left = json.loads(shown_json(rendered))
    if isinstance(content, dict):
        assert content.keys() == left.keys()
    artifact = session.artifact(result.artifact_id)
    stored = artifact.read_bytes(0, artifact.info.size)
    assert clean(stored) == whole(rendered, reader(artifact))
    assert f'query="{paths[0]}"' in result.content
    answer = get_artifact(session, id=artifact.id, query=paths[0])
    assert "compiling part 0" in answer.text


@pytest.mark.parametrize(
    "content", [ROWS, ROWS["rows"], json.dumps(ROWS), {f"key {n}": "v" * 30 for n in range(900)}]
)
def test_elements_fill_the_limit(session, content):
    """JSON without such strings is cut by elements into all of the room, and the query that is named finds something."""
    result, rendered = processed(session, content)
    assert 6000 < len(result.content) <= 8000
    json.loads(shown_json(rendered))
    query = result.content.split('query="')[1].split('")')[0]
    answer = get_artifact(session, id=result.artifact_id, query=query)
    assert "no nodes" not in answer.text
    assert not answer.is_error


@pytest.mark.parametrize("content", ['{"a": 1, ' + LOG, '{"a": NaN, "b": "' + "x\\n" * 9000 + '"}'])
def test_what_is_no_json_is_text(session, content):
    """What only begins as JSON is cut as text."""
    assert TruncationProcessor(session).process(content, "tool").metadata.strategy_used == "smart"


def test_many_strings(session):
    """Of more strings than there is room for the largest are shown, and all within the limit."""
    result, rendered = processed(session, [{"log": LOG[: 2000 + 100 * number]} for number in range(100)])
    assert len(result.content) <= 8000
    assert "[$[99].log: " in result.content
    json.loads(shown_json(rendered))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_hold(session, number):
    """An object with one of them is no content."""
    with pytest.raises(ContentError, match="cannot be shown as JSON"):
        TruncationProcessor(session).process({"a": number}, "tool")


@pytest.mark.parametrize("count", [14_000, 120_000])
def test_memory_for_json_has_a_bound(plain_store, count):
    """A megabyte is parsed, and takes some 20 times that; of more no more is held."""
    data = json.dumps(
        [{"id": number, "name": f"user {number}", "tags": ["a", "b"]} for number in range(count)]
    )
    with plain_store.session("s") as session:
        processor = TruncationProcessor(session)
        processor.process(data[: len(data) // 2], "search_files")
        tracemalloc.start()
        try:
            result = processor.process(data, "search_files")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert result.metadata.was_truncated
    assert peak < 32_000_000
