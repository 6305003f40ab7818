"""``query_artifact``: nodes of stored JSON in bounded answers, with their places and a way to the rest."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, examples

from spillstore import Store
from spillstore.exceptions import ClosedError
from spillstore_tools.agent.answers import MAX_CHARS
from spillstore_tools.agent.query_artifact import query_artifact

pytestmark = pytest.mark.everywhere

HEAP = {
    "allocations": [
        {"id": number, "size": number * 1000, "site": f"file.c:{number}"} for number in range(2000)
    ]
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("root"), **NO_FLOORS).session("chat") as session:
        yield session, session.put(json.dumps(HEAP))


def walk(session, **arguments):
    answers = [query_artifact(session, **arguments)]
    while answers[-1].cursor is not None:
        answers.append(query_artifact(session, **{**arguments, "cursor": answers[-1].cursor}))
    return answers


def test_nodes_with_their_places(place):
    """A header that says which of how many, a path and compact JSON a line, and that this is all."""
    session, artifact = place
    text = query_artifact(session, id=artifact.id, query="$.allocations[?(@.size > 1997000)]").text
    lines = text.splitlines()
    assert lines[0] == f"[{artifact.id}: nodes 1-2 of 2; $.allocations[?(@.size > 1997000)]]"
    assert lines[1] == '$[\'allocations\'][1998]: {"id":1998,"size":1998000,"site":"file.c:1998"}'
    assert lines[-1].startswith("[that is all] [~")
    raw = query_artifact(session, id=artifact.id, query="$.allocations[0].id", raw="true")
    assert raw.content == "0\n"
    assert query_artifact(session, id=artifact.id, query="$.none").text.startswith(
        f"[{artifact.id}: no nodes; $.none]\n"
    )


def test_cursors_lead_through_all_nodes(place):
    """Each once, in bounded answers that know the total as soon as it is known."""
    session, artifact = place
    answers = walk(session, id=artifact.id, query="$.allocations[*].size", max_chars="2000")
    values = [int(line.split(": ")[1]) for answer in answers for line in answer.content.splitlines()]
    assert values == [row["size"] for row in HEAP["allocations"]]
    assert all(len(answer.text) <= 2000 for answer in answers)
    assert "of 2000;" in answers[0].text
    call = re.search(r"\[more: (get_artifact\(.*\))\]", answers[0].text)[1]
    assert f'query="$.allocations[*].size", cursor="{answers[0].cursor}"' in call


@examples(60)
@given(
    st.recursive(
        st.integers() | st.text(max_size=300) | st.none(),
        lambda inner: (
            st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=100), inner, max_size=10)
        ),
        max_leaves=200,
    ),
    st.sampled_from(["$", "$.*", "$..*", "$[*][*]", "$[?@ || @ == 'x']", f"$..[*, {json.dumps('x' * 300)}]"]),
    st.integers(500, 4000),
    st.booleans(),
)
def test_every_answer_is_bounded_and_goes_on(place, document, query, limit, lines):
    """Whatever the values are: no answer is too long, and as many nodes are shown as there are."""
    session, _ = place
    text = json.dumps(document)
    artifact = session.put(f"x\n{text}\n{'y' * 500}\n" * 3 if lines else text, newline="lf")
    total = artifact.query(query, limit=0, lines=lines).total
    answers = walk(session, id=artifact.id, query=query, max_chars=limit, lines=lines)
    assert all(len(answer.text) <= limit for answer in answers)
    assert (
        sum(len(re.findall(r"^(?:line \d+ )?\$.*?: ", answer.content, re.MULTILINE)) for answer in answers)
        == total
    )
    assert not any(answer.is_error for answer in answers)
    artifact.delete()


def test_a_value_that_does_not_fit(place):
    """It is told by its parts and their sizes, and how to ask for one; text by its beginning."""
    session, artifact = place
    answer = query_artifact(session, id=artifact.id, query="$")
    assert answer.content.startswith("$: (object of 1 member, ")
    assert '"allocations" (array of 2000 elements, ' in answer.content
    assert "query=\"$['allocations']\"" in answer.content
    assert answer.text.splitlines()[-1].startswith("[that is all]")
    answer = query_artifact(session, id=artifact.id, query="$.allocations")
    assert "query=\"$['allocations'][0]\"" in answer.content
    assert ': [0] {"id":0,"size":0,"site":"file.c:0"}, [1] ' in answer.content
    long = session.put(json.dumps({"text": "é" * 20_000}))
    answer = query_artifact(session, id=long.id, query="$.text")
    assert answer.content.startswith("$['text']: \"éééé")
    assert "[... 20002 characters in all; max_chars=100000 shows more]" in answer.content
    assert len(answer.text) <= MAX_CHARS
    assert query_artifact(session, id=long.id, query="$.text", max_chars=100_000).content.count("é") == 20_000


def test_lines_and_bad_lines(place):
    """Nodes say their line; lines that are no JSON are named, once."""
    session, _ = place
    artifact = session.put('{"a": 1}\nwarning: x\n{"a": 2}\n')
    answer = query_artifact(session, id=artifact.id, query="$.a")
    assert answer.content == "line 1 $['a']: 1\nline 3 $['a']: 2\n"
    assert "[1 line is no JSON and left out: line 2: expecting value at byte 9: 'warning: x'" in answer.text
    many = session.put("".join(f'{{"n": {number}}}\noops\n' for number in range(500)))
    answers = walk(session, id=many.id, query="$.n", max_chars=1000)
    told = [
        int(n) for answer in answers for n in re.findall(r"\[(\d+) lines? (?:is|are) no JSON", answer.text)
    ]
    assert sum(told) == 500


def test_stdout_is_taken_where_it_alone_is_json(place):
    """What a command printed beside its warnings, and the answer says so."""
    session, _ = place
    with session.create() as writer:
        writer.write('{"a": [1,\n')
        writer.write("warning\n", stream="stderr")
        writer.write("2]}\n")
    answer = query_artifact(session, id=writer.id, query="$.a[1]")
    assert answer.content == "$['a'][1]: 2\n"
    assert "of stdout; $.a[1]; stdout alone, since with stderr it is no JSON]" in answer.text
    assert query_artifact(session, id=writer.id, query="$.a[1]", stream="combined").is_error
    answers = walk(session, id=writer.id, query="$.a[*]")
    assert answers[0].stream == "stdout"


def test_damage_is_told(place):
    """What stands before it is shown, and where it is."""
    session, _ = place
    artifact = session.put('{"rows": [{"n": 1}, {"n": 2}, {"n"')
    text = query_artifact(session, id=artifact.id, query="$.rows[*].n").text
    assert "nodes 1-2 of at least 2" in text
    assert "[it ended there: " in text
    assert "is no JSON at byte 34 of 34" in text
    assert "[that is all]" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, 'query is missing; for example get_artifact(id="art_'),
        ({"query": "null"}, "query is missing"),
        ({"query": 5}, "query must be text, not 5"),
        ({"query": "allocations[0]"}, "a query begins with $; for example $.allocations[0]"),
        ({"query": "$.a[?@.x = 1]"}, "equality is =="),
        ({"query": "$", "cursor": "combined:0-10"}, "is no cursor of a query"),
        ({"query": "$", "cursor": "query:nonsense"}, "is no cursor of this query"),
        ({"query": "$", "stream": "both"}, "stream must be one of combined, stdout, stderr"),
        ({"query": "$", "start_line": "x"}, "start_line must be a whole number from 1"),
        ({"query": "$", "start_line": 99}, "there are fewer lines"),
        ({"query": "$", "max_chars": 5}, "max_chars must be a whole number from 500"),
        ({"query": "$", "partial": False}, "queries are switched off here (enable_partial_retrieval)"),
        ({"query": "$", "id": "art_1_0"}, "404 not found"),
    ],
)
def test_what_means_nothing_is_told(place, arguments, words):
    """One line that says what would have been right."""
    session, artifact = place
    answer = query_artifact(session, **{"id": artifact.id, **arguments})
    assert answer.is_error
    assert words in answer.text
    assert answer.text.startswith("get_artifact: ")
    assert answer.text.count("\n") == 1


def test_what_is_no_json_is_told(place):
    """With the line at which JSON may begin."""
    session, _ = place
    artifact = session.put("Fetching\n{\n}\n")
    answer = query_artifact(session, id=artifact.id, query="$")
    assert answer.is_error
    assert "JSON may begin at line 2: start_line=2" in answer.text
    assert query_artifact(session, id=artifact.id, query="$", start_line="2").content == "$: {}\n"


def test_a_closed_session(plain_store):
    """That is the caller's fault, and raised."""
    session = plain_store.session("chat")
    artifact = session.put("{}")
    session.close()
    with pytest.raises(ClosedError):
        query_artifact(session, id=artifact.id, query="$")
