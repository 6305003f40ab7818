"""``get_artifact``, ``artifact_info`` and ``list_artifacts``: bounded answers, exact cursors, a model's mistakes."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import outputs
from support import NO_FLOORS, each_of, examples, rolling

from spillstore import Store
from spillstore.exceptions import ClosedError
from spillstore_tools.agent.answers import MAX_CHARS
from spillstore_tools.agent.artifact_info import artifact_info
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.list_artifacts import list_artifacts
from spillstore_tools.agent.search_artifact import search_artifact
from spillstore_tools.preview.text.clean import clean, unmasked
from spillstore_tools.preview.text.encoded import encoding_of, in_utf8

pytestmark = pytest.mark.everywhere

LINES = [b"line %d\n" % number for number in range(1, 2001)]
DATA = b"".join(LINES)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A session with one artifact of 2,000 lines on stdout, and every tenth on stderr besides."""
    with Store(tmp_path_factory.mktemp("root"), **NO_FLOORS).session("chat") as session:
        with session.create(source="bash", command="make", newline="lf") as writer:
            for number, line in enumerate(LINES, 1):
                writer.write(line)
                if number % 10 == 0:
                    writer.write(b"err %d\n" % number, "stderr")
            writer.close(exit_code=0)
        yield session, session.artifact(writer.id)


def walk(session, **arguments):
    """All answers that cursors lead to."""
    answers = [get_artifact(session, **arguments)]
    while answers[-1].cursor is not None:
        assert len(answers) < 10_000
        bounded = {"max_chars": arguments["max_chars"]} if "max_chars" in arguments else {}
        answers.append(get_artifact(session, id=arguments["id"], cursor=answers[-1].cursor, **bounded))
    assert not any(answer.is_error for answer in answers)
    return answers


def content(session, **arguments):
    """The content of one answer, or of all that cursors lead to."""
    return "".join(answer.content for answer in walk(session, **arguments))


# --- ranges -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        ({"start_line": 500, "end_line": 502}, 500, 502),
        ({"start_line": "500", "end_line": 502.0}, 500, 502),
        ({"start_line": 1999}, 1999, 2000),
        ({"end_line": 2}, 1, 2),
        ({"start_line": 0, "end_line": 1}, 1, 1),
        ({"start_line": 1990, "end_line": 99999}, 1990, 2000),
        ({"start_line": 502, "end_line": 500}, 500, 502),
        ({"start_line": -3}, 1998, 2000),
        ({"start_line": -3, "end_line": -2}, 1998, 1999),
        ({"tail": 4}, 1997, 2000),
        ({"tail": "2", "start_line": "null"}, 1999, 2000),
        ({"offset": 10, "limit": 5}, 11, 15),
        ({"offset": 1995}, 1996, 2000),
        ({"limit": 3}, 1, 3),
        ({"start_byte": 0, "end_byte": 14}, 1, 2),
        ({"start_byte": 14, "end_byte": 0}, 1, 2),
        ({"start_byte": -10}, 2000, 2000),
    ],
)
def test_ranges(place, arguments, first, last):
    """Lines, bytes, paging, from the end, reversed and past the end: what was meant, with its place."""
    session, artifact = place
    answer = get_artifact(session, id=artifact.id, stream="stdout", **arguments)
    assert answer.content == b"".join(LINES[first - 1 : last]).decode()
    assert (answer.first_line, answer.last_line) == (first, last)
    assert answer.content.encode() == artifact.read_bytes(answer.start, answer.end, stream="stdout")
    assert (answer.total_lines, answer.total_size, answer.cursor) == (2000, len(DATA), None)
    shown = f"lines {first}-{last}" if last > first else f"line {first}"
    assert answer.text.startswith(f"[{artifact.id}: {shown} of 2000, bytes ")
    assert re.search(r"\n\[end( of the range)?\] \[~\d+\.[\w-]{11}\]\n$", answer.text)


def test_corrections_are_told(place):
    """What was put right is said."""
    session, artifact = place
    assert (
        "start_line and end_line were swapped"
        in get_artifact(session, id=artifact.id, start_line=9, end_line=3).text
    )
    assert (
        "start_line counted from the end: 2191" in get_artifact(session, id=artifact.id, start_line=-10).text
    )


def test_streams(place):
    """Each view counts its own lines; an address names one, too."""
    session, artifact = place
    assert get_artifact(session, id=artifact.id, stream="stderr", end_line=2).content == "err 10\nerr 20\n"
    assert (
        get_artifact(session, id=f"artifact://{artifact.id}?stream=stderr", end_line=1).content == "err 10\n"
    )
    assert get_artifact(session, id=artifact.id, start_line=10, end_line=11).content == "line 10\nerr 10\n"


def test_times(tmp_path, clock):
    """What arrived in some seconds."""
    with Store(tmp_path, clock=clock, **NO_FLOORS).session("chat") as session:
        with session.create(source="bash") as writer:
            for name in ("one", "two", "three"):
                writer.write(f"{name}\n")
                clock.advance(0.3)
        middle = get_artifact(session, id=writer.id, start_time=0.15, end_time="0.5")
        assert middle.content == "two\n"
        assert get_artifact(session, id=writer.id, start_time=0.5, end_time=0.15).content == "two\n"
        assert get_artifact(session, id=writer.id, start_time=0.15).content == "two\nthree\n"
        assert get_artifact(session, id=writer.id, end_time=0.15).content == "one\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"start_line": 5, "start_byte": 5}, "one kind of range, not lines and bytes"),
        ({"tail": 5, "offset": 5}, "one kind of range, not offset and limit and tail"),
        ({"start_line": 2201}, "line 2201 is past the end: there are 2200 lines"),
        ({"start_byte": 10**9}, "past the end: there are"),
        ({"start_line": "ten"}, "start_line must be a whole number"),
        ({"start_line": [1]}, "not [1]"),
        ({"start_time": "soon"}, "start_time must be a number from 0, not 'soon'"),
        ({"start_time": -1}, "not -1"),
        ({"limit": 0}, "limit must be a whole number from 1"),
        ({"stream": "both"}, "stream must be one of combined, stdout, stderr, not 'both'"),
        ({"raw": "maybe"}, "raw must be true or false"),
        ({"max_chars": 3}, "max_chars must be a whole number from 500 to 100000, not 3"),
        ({"cursor": "page 2"}, "'page 2' is no cursor"),
        ({"cursor": 7}, "'7' is no cursor"),
    ],
)
def test_what_means_nothing_is_told(place, arguments, words):
    """With a call that would have been right, or the bounds."""
    session, artifact = place
    answer = get_artifact(session, id=artifact.id, **arguments)
    assert words in answer.text
    assert answer.is_error
    assert len(answer.text) < 1000


def test_ranges_can_be_switched_off(place):
    """Where a configuration says so, only the whole is given, a part at a time."""
    session, artifact = place
    refused = get_artifact(session, id=artifact.id, start_line=1, partial=False)
    assert "enable_partial_retrieval" in refused.text
    first = get_artifact(session, id=artifact.id, partial=False)
    second = get_artifact(session, id=artifact.id, cursor=first.cursor, partial=False)
    assert (first.is_error, second.is_error, second.start) == (False, False, first.end)


# --- ids --------------------------------------------------------------------------------------------------


def test_ids_that_are_not_there_look_alike(place):
    """Unknown, malformed and another session's: the same answer, with the ids that there are."""
    session, artifact = place
    with Store(session.root, **NO_FLOORS).session("other") as other:
        foreign = other.put("secret").id
    answers = set()
    for wrong in (
        foreign,
        "art_1_0000000000000000",
        "../../etc/passwd",
        "",
        None,
        "null",
        5,
        "x" * 5000,
        "a\nb",
    ):
        for tool in (get_artifact, artifact_info):
            answer = tool(session, id=wrong)
            assert answer.is_error
            assert artifact.id in answer.text
            assert len(answer.text) < 600
            answers.add(re.sub(r"'.*?'|\".*?\"|id is missing", "_", answer.text.split(": ", 1)[1]))
    assert len(answers) == 2, "one for a wrong id, one for none"


def test_ids_as_models_write_them(place):
    """Quotes and spaces around an id do no harm."""
    session, artifact = place
    for name in (f" {artifact.id}\n", f'"{artifact.id}"', f"artifact://{artifact.id}"):
        assert get_artifact(session, id=name, end_line=1).content == "line 1\n"


def test_an_empty_session(plain_store):
    """There is nothing to name."""
    with plain_store.session("chat") as session:
        assert "it holds none yet" in get_artifact(session, id="x").text
        assert list_artifacts(session).text == "[no artifacts]\n"


def test_a_closed_session(plain_store):
    """That is the caller's fault, not the model's."""
    session = plain_store.session("chat")
    artifact_id = session.put("x").id
    session.close()
    for tool in (get_artifact, artifact_info):
        with pytest.raises(ClosedError):
            tool(session, id=artifact_id)
    with pytest.raises(ClosedError):
        list_artifacts(session)


# --- bounds and cursors -----------------------------------------------------------------------------------


def test_the_whole_in_parts(place):
    """Without a range, from the beginning; walking the cursors gives everything once, within the bound."""
    session, artifact = place
    answers = walk(session, id=artifact.id)
    assert len(answers) > 1
    assert all(len(answer.text) <= MAX_CHARS for answer in answers)
    assert "".join(answer.content for answer in answers).encode() == artifact.read_bytes(
        0, artifact.info.size
    )
    for before, after in pairwise(answers):
        assert (after.start, after.first_line) == (before.end, before.last_line + 1)
    assert f'cursor="{answers[0].cursor}"' in answers[0].text


@given(
    data=st.one_of(outputs, st.binary(max_size=3000), st.text(max_size=3000).map(lambda text: text.encode())),
    copies=st.sampled_from((1, 5, 60)),
    bound=st.sampled_from((500, 700, 8000)),
    raw=st.booleans(),
)
@examples(60)
def test_cursors_lose_and_repeat_nothing(place, data, copies, bound, raw):
    """Whatever the content: the parts are the cleaned whole, each within its bound; raw ones, the bytes."""
    session, _ = place
    data *= copies
    artifact = session.put(data, source="doc", newline="lf")
    answers = walk(session, id=artifact.id, max_chars=bound, raw=raw)
    assert all(len(answer.text) <= bound for answer in answers)
    assert [answer.start for answer in answers[1:]] == [answer.end for answer in answers[:-1]]
    whole = "".join(answer.content for answer in answers)
    escaped = raw or "this is no text" in answers[0].text
    encoding = None if escaped else encoding_of(artifact)
    assert ("decoded from" in answers[0].text) == (encoding is not None)
    expected = unmasked(clean(in_utf8(data, encoding)))
    assert whole == (data.decode(errors="backslashreplace") if escaped else expected)
    artifact.delete()


def test_one_line_of_50_mb(place):
    """A line of any length is shown in parts, wherever it is asked for, and fast."""
    session, _ = place
    artifact = session.put(b"x" * 50_000_000 + b"END", source="doc")
    first = get_artifact(session, id=artifact.id, start_line=1, end_line=1)
    assert len(first.text) <= MAX_CHARS
    assert set(first.content) == {"x"}
    second = get_artifact(session, id=artifact.id, cursor=first.cursor)
    assert second.start == first.end == len(first.content)
    last = get_artifact(session, id=artifact.id, start_byte=49_999_990)
    assert (last.content, last.first_line, last.cursor) == ("x" * 10 + "END", 1, None)
    artifact.delete()


@pytest.mark.slow
def test_much_that_shows_little(place):
    """Megabytes of what is not shown do not keep an answer from ending; the cursor goes on."""
    session, _ = place
    data = b"\x1b[31m\x1b[0m" * 4_000_000 + b"seen\n"
    artifact = session.put(data, source="doc")
    answers = walk(session, id=artifact.id)
    assert "".join(answer.content for answer in answers) == "seen\n"
    assert 1 < len(answers) < 10
    artifact.delete()


def test_a_running_artifact(plain_store):
    """It is read as far as it is, and the cursor brings what comes."""
    with plain_store.session("chat") as session, session.create(source="bash") as writer:
        writer.write("one\n")
        writer.flush()
        first = get_artifact(session, id=writer.id)
        assert first.content == "one\n"
        assert "still being written" in first.text
        assert get_artifact(session, id=writer.id, cursor=first.cursor).content == ""
        writer.write("two\n")
        writer.flush()
        assert get_artifact(session, id=writer.id, cursor=first.cursor).content == "two\n"


def test_what_was_dropped(plain_store):
    """A hole is said where it is, and the walk goes on behind it."""
    store = Store(plain_store.address, **NO_FLOORS, artifact_limit=256 * 1024)
    data = b"".join(b"line %07d\n" % number for number in range(1, 100_001))
    with store.session("chat") as session:
        artifact = session.put(data, source="doc")
        hole = artifact.info.hole
        answers = walk(session, id=artifact.id, max_chars=100_000)
        assert any(f"bytes {hole.start}-{hole.end} were dropped" in answer.text for answer in answers)
        assert "".join(answer.content for answer in answers).encode() == data[: hole.start] + data[hole.end :]
        inside = get_artifact(session, id=artifact.id, start_byte=hole.start + 5, end_byte=hole.end + 13)
        assert "were dropped" in inside.text
        assert inside.start == hole.end


def test_binary_content(place):
    """What is no text is shown with its bytes named."""
    session, _ = place
    artifact = session.put(b"\x7fELF\0\1\2\3" + bytes(range(256)) * 4, source="doc")
    answer = get_artifact(session, id=artifact.id)
    assert "this is no text" in answer.text
    assert r"\xff" in answer.content
    artifact.delete()


# --- what there is ----------------------------------------------------------------------------------------


def test_info(place):
    """Sizes, lines, state, as the command line has them."""
    session, artifact = place
    text = artifact_info(session, id=artifact.id).text
    assert f"Artifact: {artifact.id}\n" in text
    assert "Lines: 2,200 ending in LF\n" in text
    assert "Exit code: 0\n" in text


def test_lists(plain_store):
    """The newest first, filtered, in pages whose cursors lose nothing, bounded however long commands are."""
    with plain_store.session("chat") as session:
        ids = [
            session.put(
                f"{number}\n" * number, source=("odd", "even")[number % 2 == 0], command="c" * 5000
            ).id
            for number in range(1, 61)
        ]
        found, cursor = [], None
        while True:
            answer = list_artifacts(session, cursor=cursor, limit="100")
            assert len(answer.text) <= MAX_CHARS
            found += re.findall(r"^(art_\w+)  ", answer.text, re.MULTILINE)
            cursor = answer.cursor
            if cursor is None:
                break
        assert found == ids[::-1]
        assert "\n[that is all] [~" in answer.text
        even = list_artifacts(session, source="even", limit=3)
        assert re.findall(r"^art_\w+", even.text, re.MULTILINE) == ids[::-1][0:6:2]
        assert list_artifacts(session, state="open").text == "[no artifacts]\n"
        assert list_artifacts(session, since="1h", limit=1).content.startswith(ids[-1])
        assert list_artifacts(session, since=time.time() + 100).text == "[no artifacts]\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"state": "done"}, "state must be one of open, sealed, interrupted, not 'done'"),
        ({"since": "yesterday"}, "'yesterday' is no time; for example 2h"),
        ({"limit": 0}, "limit must be a whole number from 1"),
        ({"cursor": "next"}, "'next' is no cursor"),
    ],
)
def test_lists_that_mean_nothing(place, arguments, words):
    """As for ranges."""
    answer = list_artifacts(place[0], **arguments)
    assert words in answer.text
    assert answer.is_error


def test_what_rolls_away_while_it_is_asked_for(tmp_path):
    """Of an artifact that drops its middle all the while every answer comes, and shows the lines that it names."""
    with rolling(tmp_path, 2 * 1024 * 1024) as (session, identity):
        asked = 0  # when it had rolled
        while asked < 30:
            info = session.artifact(identity).info
            asked += info.hole is not None
            kept_from = 1 if info.hole is None else info.hole.last_line
            answer = get_artifact(session, id=identity, start_line=kept_from + 1)
            assert not answer.is_error
            for number, line in enumerate(answer.content.splitlines(), answer.first_line):
                if number > answer.first_line or len(line) == 14:  # a part of the first one may be gone
                    assert line == f"line {number - 1:09}"


@pytest.mark.parametrize("tail", [0, "0", -1])
def test_a_tail_of_nothing(plain_store, tail):
    """It is refused for what it is, and not as a line past the end."""
    with plain_store.session("test") as session:
        answer = get_artifact(session, id=session.put("one\ntwo\n").id, tail=tail)
    assert (True, "get_artifact: tail must be a whole number from 1") == (
        answer.is_error,
        answer.text.partition(",")[0],
    )


def test_a_line_of_number_nothing(plain_store):
    """Who counts from 0 is told what the first line is."""
    with plain_store.session("test") as session:
        answer = get_artifact(session, id=session.put("one\ntwo\n").id, start_line=0, end_line=1)
    assert (1, 1, "one\n") == (answer.first_line, answer.last_line, answer.content)
    assert "lines count from 1, so start_line is 1" in answer.text


@pytest.mark.parametrize("name", ["start_line", "end_line", "start_byte", "end_byte"])
def test_a_place_is_any_whole_number(session, name):
    """However far before the beginning; what is no number is told so without a bound that nobody has set."""
    made = session.put("one\ntwo\n", source="x")
    far = get_artifact(session, id=made.id, **{name: -(10**30)})
    assert "whole number" not in far.text
    if name.startswith("start"):
        assert "one\ntwo\n" in far.text
    answer = get_artifact(session, id=made.id, **{name: "x"})
    assert f"{name} must be a whole number, not 'x'" in answer.text


def test_the_call_for_more_artifacts_has_their_filters(tmp_path):
    """As it stands in the answer it lists the rest of what was asked for, in pages of the same length."""
    with Store(tmp_path, **NO_FLOORS).session("s") as session:
        ids = [session.put(f"{number}", source='a "b"' if number % 2 else "c").id for number in range(12)]
        answer = list_artifacts(session, source='a "b"', since="1h", state="sealed", limit=4)
        assert [ids[number] for number in (11, 9, 7, 5)] == list(answer.ids)
        called = re.search(r"\[more: list_artifacts\((.*)\)\]", answer.text)[1]
        rest = eval(
            f"list_artifacts(session, {called})", {"list_artifacts": list_artifacts, "session": session}
        )
        assert [ids[number] for number in (3, 1)] == list(rest.ids)
        long = session.put("x\n" * 100)
        answer = search_artifact(session, id=long.id, pattern="x", limit=3)
        assert ", limit=3, cursor=" in answer.text


@each_of("source", [5, ["bash"], {"a": 1}, True])
def test_a_source_that_is_no_text_is_refused(place, source):
    """It would be that of no artifact, so nothing would be listed."""
    assert list_artifacts(place[0], source=source).text.startswith(
        f"list_artifacts: source must be text, not {source!r}"
    )


def test_words_for_one_line_and_for_line_0(tmp_path):
    """One line is no lines, and the line before the first is put right by its name."""
    with Store(tmp_path, **NO_FLOORS).session("s") as session:
        artifact = session.put("only\n", source="make")
        assert "5 bytes, 1 line, sealed" in list_artifacts(session).text
        assert "there is 1 line;" in get_artifact(session, id=artifact.id, start_line=5).text
        answer = get_artifact(session, id=artifact.id, end_line=0)
        assert ("; lines count from 1, so end_line is 1]", "only\n") == (
            answer.text.splitlines()[0][-39:],
            answer.content,
        )


@pytest.mark.parametrize(
    ("arguments", "span", "notes"),
    [
        ({"start_byte": -12, "end_byte": -6}, (8, 14), ["start_byte", "end_byte"]),
        ({"start_byte": 10, "end_byte": -5}, (10, 15), ["end_byte"]),
        ({"end_byte": -5}, (0, 15), ["end_byte"]),
        ({"end_byte": -500}, (0, 0), ["end_byte"]),
    ],
)
def test_bytes_from_the_end(plain_store, arguments, span, notes):
    """A negative byte counts from the end, the last one too, and the answer says so."""
    with plain_store.session("test") as session:
        artifact = session.put("0123456789abcdefghi\n")
        answer = get_artifact(session, id=artifact.id, **arguments)
        assert (answer.start, answer.end) == span
        assert answer.content.encode() == artifact.read_bytes(*span)
        for name in notes:
            place = span[0] if name == "start_byte" else span[1]
            assert f"{name} counted from the end: {place}" in answer.text
        assert "swapped" not in answer.text
