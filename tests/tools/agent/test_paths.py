"""The text of a string in stored JSON: lines of its own for models and on the command line."""

from __future__ import annotations

import json

import pytest

from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.search_artifact import search_artifact

pytestmark = pytest.mark.everywhere

LINES = [f"line {number} \u00e9" for number in range(1, 2001)]
TEXT = "\n".join(LINES)


@pytest.fixture
def session(plain_store):
    with plain_store.session("chat") as session:
        yield session


@pytest.fixture
def artifact(session):
    return session.put(json.dumps({"runs": [{"out": TEXT, "code": 1}], "ok": None}))


PATH = "$.runs[0].out"


@pytest.mark.parametrize(
    ("ranges", "lines"),
    [
        ({"start_line": 500, "end_line": 502}, LINES[499:502]),
        ({"start_line": -2}, LINES[-2:]),
        ({"tail": 3}, LINES[-3:]),
        ({"offset": 10, "limit": 2}, LINES[10:12]),
        ({"start_byte": 0, "end_byte": 10}, LINES[:1]),
        ({"start_line": 1999, "end_line": 90000}, LINES[1998:]),
    ],
)
def test_ranges_are_those_of_the_string(session, artifact, ranges, lines):
    """Lines and bytes count from the beginning of its text."""
    answer = get_artifact(session, id=artifact.id, path=PATH, **ranges)
    assert answer.content.splitlines() == lines
    assert f"[{artifact.id} $['runs'][0]['out']: line" in answer.text
    assert " of 2000, bytes " in answer.text
    assert (answer.artifact_id, answer.end, answer.total_lines) == (artifact.id, 0, 2000)


def test_cursors_lead_through_all_of_it(session, artifact):
    """Each answer is bounded, and ends with the call that goes on in the string."""
    answer = get_artifact(session, id=artifact.id, path=PATH)
    text = answer.content
    while answer.cursor:
        assert f'get_artifact(id="{artifact.id}", path="{PATH}", cursor="{answer.cursor}")' in answer.text
        answer = get_artifact(session, id=artifact.id, path=PATH, cursor=answer.cursor)
        assert len(answer.text) <= 8000
        text += answer.content
    assert text == TEXT


def test_a_search_finds_lines_of_the_string(session, artifact):
    """With their numbers in it, context, and a cursor that goes on in it."""
    answer = search_artifact(session, id=artifact.id, path=PATH, pattern="^line 100$|line 777 ", context=1)
    assert answer.content.splitlines() == [
        "776-line 776 \u00e9",
        "777:line 777 \u00e9",
        "778-line 778 \u00e9",
    ]
    found = []
    answer = search_artifact(session, id=artifact.id, path=PATH, pattern="0 \u00e9$")
    found += answer.content.splitlines()
    while answer.cursor:
        assert (
            f'search_artifact(id="{artifact.id}", path="{PATH}", pattern="0 \u00e9$", cursor=' in answer.text
        )
        answer = search_artifact(
            session, id=artifact.id, path=PATH, pattern="0 \u00e9$", cursor=answer.cursor
        )
        found += answer.content.splitlines()
    assert found == [f"{number}:line {number} \u00e9" for number in range(10, 2001, 10)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "$.none"}, "$.none finds nothing, and must find one string"),
        ({"path": "$..*"}, "finds several nodes, and must find one string"),
        ({"path": "$.ok"}, "$['ok'] is null, and must be a string"),
        ({"path": "$.runs"}, "$['runs'] is an array, and must be a string"),
        ({"path": "$.runs[0].code"}, "is a number, and must be a string"),
        ({"path": "runs"}, "is no JSONPath"),
        ({"path": PATH, "start_line": 2001}, "line 2001 is past the end: there are 2000 lines"),
        ({"path": PATH, "start_line": "many"}, "start_line"),
        ({"path": PATH, "start_byte": 10**9}, "is past the end"),
        ({"path": PATH, "start_time": 1}, "a string in JSON has no times"),
        ({"path": PATH, "tail": 5, "start_byte": 1}, "give one kind of range"),
        ({"path": PATH, "query": "$"}, "give query or path, not both"),
        ({"path": PATH, "cursor": "nonsense"}, "is no cursor"),
    ],
)
def test_what_is_wrong_is_said(session, artifact, arguments, words):
    """With what would be right."""
    answer = get_artifact(session, id=artifact.id, **arguments)
    assert answer.is_error
    assert words in answer.text


def test_what_is_no_json(session):
    """A path asks for JSON; and ranges that are switched off are so here, too."""
    artifact = session.put("no JSON\n")
    for answer in (
        get_artifact(session, id=artifact.id, path="$.a"),
        search_artifact(session, id=artifact.id, path="$.a", pattern="x"),
    ):
        assert answer.is_error
        assert "is no JSON at byte 0" in answer.text
    answer = get_artifact(session, id=artifact.id, path="$.a", partial=False)
    assert "ranges are switched off here" in answer.text


def test_stdout_alone_may_be_json(session):
    """Where a command printed warnings beside its JSON, its stdout is taken."""
    with session.create(source="bash") as writer:
        writer.write(b"warning\n", stream="stderr")
        writer.write(json.dumps({"out": TEXT}).encode())
    answer = get_artifact(session, id=writer.id, path="$.out", start_line=7, end_line=7)
    assert answer.content == "line 7 \u00e9\n"
    assert (
        search_artifact(session, id=writer.id, path="$.out", pattern="line 7 ").content == "7:line 7 \u00e9\n"
    )
    assert get_artifact(session, id=writer.id, path="$.out", stream="stderr").is_error


def test_escape_sequences_are_cleaned_and_halves_of_surrogates_are_shown(session):
    """The text is as any that is shown; what no UTF-8 can say is a question mark."""
    artifact = session.put(json.dumps({"out": "\x1b[31mred\x1b[0m\nhalf \ud800\n"}))
    assert get_artifact(session, id=artifact.id, path="$.out").content == "red\nhalf ?\n"
    assert search_artifact(session, id=artifact.id, path="$.out", pattern="^red$").content == "1:red\n"


def test_the_command_line(cli, session, artifact):
    """``show`` and ``search`` take the path; ranges, JSON and errors are as they are without it."""
    place = ["--root", session.address, "--session", "chat"]

    def called(*arguments):
        return cli(*arguments, *place)

    assert (
        called("show", artifact.id, "--path", PATH, "--lines", "5-6").text == "line 5 \u00e9\nline 6 \u00e9\n"
    )
    assert called("show", artifact.id, "--path", PATH, "--bytes", "0-6", "--raw").text == "line 1"
    assert called("show", artifact.id, "--path", PATH).text.removesuffix("\n") == TEXT
    document = json.loads(called("show", artifact.id, "--path", PATH, "--lines", "7", "--json").text)
    assert (document["path"], document["text"]) == (PATH, "line 7 \u00e9\n")
    past = called("show", artifact.id, "--path", PATH, "--lines", "3000-")
    assert (past.text, "has 2,000 lines" in past.err) == ("", True)
    found = called("search", "line 77 ", artifact.id, "--path", PATH, "-C", "1")
    assert found.text.splitlines() == ["76-line 76 \u00e9", "77:line 77 \u00e9", "78-line 78 \u00e9"]
    assert called("search", "none", artifact.id, "--path", PATH).code == 1
    for arguments in (("show", artifact.id), ("search", "line", artifact.id)):
        wrong = called(*arguments, "--path", "$.ok")
        assert wrong.code not in {0, 1} or wrong.text == ""
        assert "is null, and must be a string" in wrong.err
    assert "name it instead of --all" in called("search", "line", "--all", "--path", PATH).err
