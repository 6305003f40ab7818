"""``search_artifact`` and ``spillstore search``: what a reader sees is searched, what is stored is told."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import cleaned, lines_of, outputs
from support import NO_FLOORS, examples

from spillstore import Store
from spillstore.exceptions import ClosedError
from spillstore_tools.agent.answers import MAX_CHARS
from spillstore_tools.agent.list_artifacts import list_artifacts
from spillstore_tools.agent.search_artifact import TextCleaner, search_artifact
from spillstore_tools.output.signed_answers import with_signature

pytestmark = pytest.mark.everywhere


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("root"), **NO_FLOORS).session("chat") as session:
        artifact = session.put(
            "".join(f"line {n}: {'error' if n % 100 == 0 else 'fine'}\n" for n in range(1, 3001))
        )
        yield session, artifact


def walk(session, **arguments):
    answers = [search_artifact(session, **arguments)]
    while answers[-1].cursor is not None:
        answers.append(search_artifact(session, **{**arguments, "cursor": answers[-1].cursor}))
    return answers


def test_raw_shows_what_is_stored(session):
    """The match is in the line that is shown, where a reader sees neither, and in the call for more."""
    artifact = session.put(b"".join(b"old %d\rnew %d\n" % (n, n) for n in range(100)))
    first, *_, last = walk(session, id=artifact.id, pattern="old", raw=True, limit=40)
    assert first.text.splitlines()[1] == r"1:old 0\rnew 0"
    assert 'pattern="old", raw=true, limit=40' in first.text
    *_, line, end = last.text.splitlines()
    assert line == r"100:old 99\rnew 99"
    assert end.startswith("[that is all]")


def test_matches_with_numbers_and_totals(place):
    """Lines as grep -n prints them, how many there are, and that this is all."""
    session, artifact = place
    text = search_artifact(session, id=artifact.id, pattern="error").text
    lines = text.splitlines()
    assert lines[0] == f"[{artifact.id}: 30 matching lines (30 matches) of 3000]"
    assert lines[1:-1] == [f"{n}:line {n}: error" for n in range(100, 3001, 100)]
    assert lines[-1].startswith("[that is all] [~")


def test_context_shows_each_line_once(place):
    """As grep -C does: no line twice, ``--`` between what is apart."""
    session, _ = place
    artifact = session.put("a\nx1\nb\nx2\nc\nd\ne\nf\nx3\n")
    content = search_artifact(session, id=artifact.id, pattern="x", context=1).content
    assert content == "1-a\n2:x1\n3-b\n4:x2\n5-c\n--\n8-f\n9:x3\n"


@pytest.mark.long
def test_pages(place):
    """Cursors lead through all matches, each once; the last page has the exact totals."""
    session, artifact = place
    answers = walk(session, id=artifact.id, pattern="line", limit=7)
    numbers = [int(n) for answer in answers for n in re.findall(r"^(\d+):", answer.content, re.MULTILINE)]
    assert numbers == list(range(1, 3001))
    assert "at least 7 matching lines (7 matches) of 3000; searched to byte" in answers[0].text
    assert "3000 matching lines (3000 matches) of 3000]" in answers[-1].text
    assert f'pattern="line", limit=7, cursor="{answers[0].cursor}"' in answers[0].text


@pytest.mark.parametrize("limit", [1000, "1000"])
def test_answers_are_bounded(place, limit):
    """However long lines are and however many match; nothing is lost between two answers."""
    session, _ = place
    artifact = session.put("".join(f"{n} {'y' * 3000}\n" for n in range(1, 301)))
    answers = walk(session, id=artifact.id, pattern="y+$", limit=limit)
    assert all(len(answer.text) <= MAX_CHARS for answer in answers)
    numbers = [int(n) for answer in answers for n in re.findall(r"^(\d+):", answer.content, re.MULTILINE)]
    assert numbers == list(range(1, 301))


@pytest.mark.parametrize("letter", ["a", "ä", "世", "👩"])
@pytest.mark.parametrize("before", [0, 100, 600, 1500, 9000])
def test_the_match_of_a_long_line_is_shown(place, letter, before):
    """Wherever in the line it stands, and however many bytes its letters take; of several the first."""
    session, _ = place
    line = letter * before + "NEEDLE 1" + letter * 1500 + "NEEDLE 2" + letter * 1500
    artifact = session.put(f"first\n{line}\n")
    content = search_artifact(session, id=artifact.id, pattern="NEEDLE").content
    assert "NEEDLE 1" in content
    assert content.startswith("2:" + "[...]" * (before > 125))
    (match,) = artifact.search("NEEDLE").matches
    assert match.text[match.text_column - 1 :].startswith("NEEDLE 1")
    assert match.column == before + 1


def test_context_leaves_room_for_the_match(place):
    """Of context that is too much for an answer the nearest lines are shown, and it is said which are not."""
    session, _ = place
    artifact = session.put("".join(f"{n} {'NEEDLE' * (n == 100)} {'x' * 480}\n" for n in range(1, 201)))
    answer = search_artifact(session, id=artifact.id, pattern="NEEDLE", context=20)
    assert len(answer.text) <= MAX_CHARS
    first, *lines, last = answer.content.splitlines()
    shown = [int(re.match(r"\d+", line)[0]) for line in lines]
    assert "100:100 NEEDLE " in answer.content
    assert shown == list(range(shown[0], shown[-1] + 1))
    assert abs((100 - shown[0]) - (shown[-1] - 100)) <= 1
    assert all(line.endswith("x" * 480) for line in lines)
    assert first == f"[no room for lines 80-{shown[0] - 1}]"
    assert last == f"[no room for lines {shown[-1] + 1}-120]"


def test_context_without_room_loses_no_match(place):
    """Answers that leave out context lead on to every match."""
    session, _ = place
    artifact = session.put("".join(f"{n} {'NEEDLE' * (n % 30 == 0)} {'x' * 480}\n" for n in range(1, 151)))
    answers = walk(session, id=artifact.id, pattern="NEEDLE", context=20)
    found = [int(n) for answer in answers for n in re.findall(r"^(\d+):", answer.content, re.MULTILINE)]
    assert found == [30, 60, 90, 120, 150]


def test_what_is_too_much_is_said(place):
    """Numbers above the largest are put right, and the answer says so."""
    session, artifact = place
    arguments = {"id": artifact.id, "pattern": "error"}
    text = search_artifact(session, **arguments, context=10**9, limit=10**30).text
    assert "context is 20, the most that it can be; limit is 1000, the most that it can be]" in text
    assert "the most" not in search_artifact(session, **arguments, context=20, limit=1000).text
    assert "[limit is 100, the most that it can be; " in list_artifacts(session, limit=101).text


def test_a_last_line_that_shows_nothing(place):
    """It is a line, and an empty one."""
    session, _ = place
    for data in (b"\x01", b"a\n\x1b[0m", b"\x01\n\x01"):
        artifact = session.put(data, newline="lf")
        found = artifact.search("^$", cleaner=TextCleaner())
        assert found.matches[-1].line == artifact.info.lines


def test_count(place):
    """Numbers alone, exact."""
    session, artifact = place
    answer = search_artifact(session, id=artifact.id, pattern="line", count=True)
    expected = f"[{artifact.id}: 3000 matching lines (3000 matches) of 3000]\n[that is all]\n"
    assert answer.text == with_signature(session, expected)
    inverted = search_artifact(session, id=artifact.id, pattern="fine", invert="true", count="true")
    assert "30 lines that do not match of 3000" in inverted.text


def test_what_is_seen_is_searched(place):
    """Colours do not hide a word, an overwritten state is not there; ``raw`` searches the bytes."""
    session, _ = place
    artifact = session.put(b"ok\n\x1b[1mer\x1b[31mror\x1b[0m: x\n10%\r20%\rdone\n")
    answer = search_artifact(session, id=artifact.id, pattern="^error: x$")
    assert "2:error: x\n" in answer.text
    assert search_artifact(session, id=artifact.id, pattern="10%", count=True).text.count(" 0 matching") == 1
    assert (
        "1 matching line"
        in search_artifact(session, id=artifact.id, pattern="10%", raw=True, count=True).text
    )
    (match,) = artifact.search("ror", cleaner=TextCleaner()).matches
    assert artifact.read_bytes(match.byte, match.byte + 3) == b"ror"


@pytest.mark.long
@given(outputs, st.sampled_from(["a", "b 12", "x+", "[^a]$", "世", "é", ".", "^$", "100%"]))
@examples(120)
def test_the_cleaned_lines_of_a_plain_loop(place, data, pattern):
    """The same lines as a loop over each line's cleaned text, and offsets at which the match is stored."""
    session, _ = place
    artifact = session.put(data, newline="lf")
    wanted = []
    for number, line in enumerate(lines_of(data), 1):
        text = cleaned(line).removesuffix("\n")
        if found := re.search(pattern, text):
            wanted.append((number, found.start() + 1, text))
    page = artifact.search(pattern, limit=1000, cleaner=TextCleaner())
    assert [(match.line, match.column, match.text) for match in page.matches] == wanted
    for match in page.matches:
        start = artifact.locate(line=match.line).byte
        end = artifact.locate(line=match.line + 1).byte
        assert start <= match.byte <= end
    artifact.delete()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "pattern is missing; for example search_artifact("),
        ({"pattern": ""}, "pattern is missing"),
        ({"pattern": ["a"]}, "pattern must be text"),
        ({"pattern": "("}, "is no pattern that can be searched for"),
        ({"pattern": "a(?!b)"}, "look-ahead and look-behind are not supported"),
        ({"pattern": "a", "limit": 0}, "limit must be a whole number from 1"),
        ({"pattern": "a", "context": "many"}, "context must be a whole number"),
        ({"pattern": "a", "cursor": "7"}, "no cursor of this search"),
        ({"pattern": "a", "stream": "out"}, "stream must be one of"),
        ({"pattern": "a", "id": "art_1_0000000000000000"}, "404 not found"),
    ],
)
def test_what_means_nothing_is_told(place, arguments, words):
    """Whatever a model sends, the answer says what would be right."""
    session, artifact = place
    answer = search_artifact(session, **{"id": artifact.id, **arguments})
    assert words in answer.text
    assert answer.is_error
    assert len(answer.text) < 800


def test_a_closed_session(plain_store):
    """The caller's fault."""
    session = plain_store.session("chat")
    artifact_id = session.put("x").id
    session.close()
    with pytest.raises(ClosedError):
        search_artifact(session, id=artifact_id, pattern="x")


# --- the command line -------------------------------------------------------------------------------------


def test_command(cli, put):
    """Numbers, context, counts, exit codes, JSON."""
    put("".join(f"line {n}\n" for n in range(1, 101)) + "\x1b[31merror\x1b[0m here\n")
    answer = cli("search", "@last", "ERROR", "-i", "-C", "1")
    assert (answer.text, answer.code) == ("100-line 100\n101:error here\n", 0)
    assert cli("search", "@last", "line 5", "--count").text == "11\n"
    assert cli("search", "@last", "-v", "line").text == "101:error here\n"
    assert cli("search", "@last", "-F", "line.5").code == 1
    limited = cli("search", "@last", "line", "--limit", "2")
    assert limited.text == "1:line 1\n2:line 2\n"
    cursor = re.search(r"--cursor (\S+)", limited.err)[1]
    assert cli("search", "@last", "line", "--limit", "1", "--cursor", cursor).text == "3:line 3\n"
    found = json.loads(cli("search", "@last", "rror", "--json").text)
    assert (found["lines"], found["matches"][0]["column"], found["matches"][0]["byte"]) == (1, 2, 798)
    wrong = cli("search", "@last", "(")
    assert (wrong.code, wrong.out) == (125, b"")
    assert "no pattern" in wrong.err
