"""JSON under the profile ``default``: texts inside it are shown as texts, the rest by elements."""

from __future__ import annotations

import json
import re
import tracemalloc

import pytest
from previews import reader, whole

from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.config import load
from spillstore_tools.output.content import ContentError
from spillstore_tools.output.rendering import render
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import profile as profile_named

pytestmark = pytest.mark.everywhere

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
    result = TruncationProcessor(session, flags="").process(content, "tool")
    rendered = render(session.artifact(result.artifact_id), profile_named("default"))
    assert rendered.text == result.content
    return result, rendered


def fetched(session, artifact_id, path, first, last):
    """What a call that a marker names brings, with all the calls that its answers name in turn."""
    answer = get_artifact(session, id=artifact_id, path=path, start_line=first, end_line=last)
    text = answer.content
    while answer.cursor:
        assert f'path="{path}", cursor="{answer.cursor}"' in answer.text
        answer = get_artifact(session, id=artifact_id, path=path, cursor=answer.cursor, max_chars=100_000)
        text += answer.content
    return text


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
    assert len(result.content) <= 2000
    assert result.content.count("src/app.py:12: error: no such name") == len(paths)
    for path in paths:
        assert f"\n[{path}: 20002 lines of text; line numbers are its own]\n" in result.content
    left = json.loads(shown_json(rendered))
    if isinstance(content, dict):
        assert content.keys() == left.keys()
    artifact = session.artifact(result.artifact_id)
    stored = artifact.read_bytes(0, artifact.info.size)
    assert clean(stored) == whole(rendered, reader(artifact))
    assert f'path="{paths[0]}", start_line=1, end_line=100' in result.content
    answer = get_artifact(session, id=artifact.id, path=paths[0], start_line=1, end_line=100)
    assert answer.content == "".join(LOG.splitlines(keepends=True)[:100])
    for path in paths:
        gaps = re.findall(
            rf'path="{re.escape(path)}", start_line=(\d+), end_line=(\d+) \.\.\.\]', result.content
        )
        assert gaps
        for first, last in gaps:
            wanted = "".join(LOG.splitlines(keepends=True)[int(first) - 1 : int(last)])
            assert fetched(session, artifact.id, path, int(first), int(last)) == wanted


@pytest.mark.parametrize(
    "content", [ROWS, ROWS["rows"], json.dumps(ROWS), {f"key {n}": "v" * 30 for n in range(900)}]
)
def test_elements_fill_the_limit(session, content):
    """JSON without such strings is cut by elements into some 4,000 characters, and the query that is named finds something."""
    result, rendered = processed(session, content)
    assert 4000 < len(result.content) <= 5000
    json.loads(shown_json(rendered))
    query = result.content.split('query="')[1].split('")')[0]
    answer = get_artifact(session, id=result.artifact_id, query=query)
    assert "no nodes" not in answer.text
    assert not answer.is_error


@pytest.mark.long
@pytest.mark.parametrize("indent", [None, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.repeat])])
@pytest.mark.parametrize(
    "content",
    [
        {"rows": ROWS["rows"] * 8, "total": 40_000},
        pytest.param(
            {"first": ROWS["rows"] * 4, "second": {"third": ROWS["rows"] * 4}, "last": True},
            marks=pytest.mark.slow,
        ),
        list(range(300_000)),
        {f"key {number}": "v\u00e9" * 30 for number in range(20_000)},
        {"stdout": LOG * 6, "exit_code": 1},
    ],
)
def test_megabytes_are_cut_by_elements(session, content, indent):
    """What is left of more than a megabyte is JSON as well, and says what is missing."""
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    assert len(text) > 1024 * 1024
    result, rendered = processed(session, text)
    assert result.metadata.strategy_used == "element"
    assert len(result.content) <= 5000
    left = json.loads(shown_json(rendered))
    assert type(left) is type(content)
    artifact = session.artifact(result.artifact_id)
    assert clean(artifact.read_bytes(0, artifact.info.size)) == whole(rendered, reader(artifact))


def test_more_than_is_held_is_text(session):
    """Beyond eight megabytes both ends of the text are shown, in bounded memory."""
    result = TruncationProcessor(session).process(json.dumps(ROWS["rows"] * 40, indent=1), "tool")
    assert result.metadata.strategy_used == "smart"
    assert session.artifact(result.artifact_id).info.size > 8 * 1024 * 1024


@pytest.mark.parametrize("content", ['{"a": 1, ' + LOG, '{"a": NaN, "b": "' + "x\\n" * 9000 + '"}'])
def test_what_is_no_json_is_text(session, content):
    """What only begins as JSON is cut as text."""
    assert TruncationProcessor(session).process(content, "tool").metadata.strategy_used == "smart"


def test_no_range_is_named_where_none_may_be_asked_for(session):
    """Gaps say which lines are missing, and the notice names a call that is answered."""
    configuration = load(artifacts={"enable_partial_retrieval": False})
    processor = TruncationProcessor(session, configuration=configuration)
    content = processor.process({"stdout": LOG, "exit_code": 1}, "tool").content
    assert "src/app.py:12: error: no such name" in content
    assert re.search(r"\[\.\.\. \d+ lines omitted: lines \d+-\d+ \.\.\.\]", content)
    assert not re.search(r"start_line|path=|query=", content)


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


@pytest.mark.parametrize(
    ("count", "most"),
    [
        (14_000, 32_000_000),
        pytest.param(120_000, 45_000_000, marks=pytest.mark.slow),
        pytest.param(160_000, 45_000_000, marks=[pytest.mark.slow, pytest.mark.repeat]),
    ],
)
def test_memory_for_json_has_a_bound(plain_store, count, most):
    """A megabyte is parsed; of up to eight the bytes, the text and places in it are held, and of more only both ends."""
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
    assert peak < most
