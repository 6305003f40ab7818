"""What a tool prints though the session has it already: no second copy, and a text that leads to the first."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sqlite3
import subprocess
import sys

import pytest
from previews import reader, whole
from support import NO_FLOORS, not_for_ever

from spillstore import Store
from spillstore_tools.agent.bash import BashTool, bash_sync
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.search_artifact import search_artifact
from spillstore_tools.output.rendering import render
from spillstore_tools.output.signed_answers import MOST, ROOM, unsigned_chars, with_signature
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.profiles import NAMES
from spillstore_tools.profiles import profile as profile_named
from spillstore_tools.profiles.formats.opencode import Opencode

pytestmark = pytest.mark.everywhere

CLI = f"{shlex.quote(sys.executable)} -m spillstore_tools.cli"
DATA = b"".join(b"%05d some text of a line\n" % number for number in range(1, 20_001))
PROFILES = [name for name in NAMES if name != "lace"]  # which stores everything, by its document


@pytest.fixture
def session(plain_store):
    with plain_store.session("chat") as session:
        yield session


@pytest.fixture
def artifact(session):
    return session.put(DATA, source="make")


def ids(session):
    return {artifact.id for artifact in session.artifacts()}


def run(session, command, **options):
    """What a command prints, in bash."""
    return bash_sync(session, command=command, **options)


def printed(name, session, data, *, command=True):
    """A tool's result that is printed under a profile: what is shown, and the spill."""
    spill = Spill(lambda: session, profile_named(name), source="tool", command="x", is_command=command)
    spill.write(data)
    return spill.finish(exit_code=0 if command else None, runtime=5), spill


# --- what was read of an artifact ---------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("read", "first"),
    [
        ("cat {}", 1),
        ("show {}", 1),
        ("show {} --lines 100-15000", 100),
        ("show {} --bytes 1000-400000 --raw", 39),
        ("show {} --bytes 1000-400000", 39),
        ("tail {} -n 9000", 11_001),
        ("tail {} -n 9000 --raw", 11_001),
    ],
)
def test_what_a_command_reads_of_an_artifact_is_not_stored_again(session, artifact, read, first):
    """The text names the original, and its ranges are those of the original."""
    result = run(session, f"{CLI} {read.format(artifact.id)}; exit 3")
    assert {artifact.id} == ids(session)
    assert (artifact.id, 3) == (result.artifact_id, result.exit_code)
    assert f"artifact {artifact.id} again, and no second copy is kept" in result.text.split("\n")[0]
    assert f'get_artifact(id="{artifact.id}", start_line={first},' in result.text.split("\n")[0]
    assert "exit code 3" in result.text
    assert len(result.text) <= 8000
    assert result.omissions
    for each in result.omissions:
        data = artifact.read_bytes(each.start, each.end)
        assert each.end - each.start == len(data)
        if each.exact_lines:
            assert data == artifact.read_lines(each.first_line, each.last_line)


@pytest.mark.long
def test_a_renamed_wrapper_is_seen_through(session, artifact, tmp_path):
    """A script of another name that reads an artifact keeps no second copy; what it adds makes it another text."""
    wrapper = tmp_path / "my-reader"
    wrapper.write_text(f'#!/bin/sh\nexec {CLI} cat "$1"\n')
    wrapper.chmod(0o700)
    assert artifact.id == run(session, f"{wrapper} {artifact.id}").artifact_id
    assert {artifact.id} == ids(session)
    other = run(session, f"{wrapper} {artifact.id} && echo and more")
    assert {artifact.id, other.artifact_id} == ids(session)
    assert artifact.id != other.artifact_id


@pytest.mark.long
def test_one_stream_has_positions_of_its_own(session):
    """Of a stream that was read alone, the calls name the stream."""
    with session.create(source="make") as writer:
        for number in range(10_000):
            writer.write(b"out %d\n" % number)
            writer.write(b"err %d of the other stream\n" % number, stream="stderr")
    result = run(session, f"{CLI} cat {writer.id} --stream stderr")
    assert writer.id == result.artifact_id
    assert 'stream="stderr"' in result.text.split("\n")[0]
    assert {"stderr"} == {each.stream for each in result.omissions}
    assert 'stream="stderr" ...]' in result.text


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize(
    ("start", "end"), [(0, len(DATA)), (0, 250_000), (1000, 250_013), (29 * 50, len(DATA))]
)
def test_the_law_of_notices_holds_for_what_is_printed_again(session, artifact, name, start, end):
    """For every profile: what is shown and what the original has of the rest are the whole."""
    data = b"".join(artifact.reading([DATA[start:end]], start, end))
    rendered, spill = printed(name, session, data)
    assert spill.artifact is None
    assert artifact.id == spill.artifact_id
    assert whole(rendered, reader(artifact)) == clean(data)
    assert all(start <= each.start <= each.end <= end for each in rendered.omissions)
    assert {artifact.id} == ids(session)


def test_the_same_command_again_keeps_no_second_copy(session):
    """A command that prints what another one printed is led to the first one's artifact."""
    first = run(session, "seq 1 30000")
    second = run(session, "seq 1 30000; false")
    assert first.artifact_id == second.artifact_id
    assert (0, 1) == (first.exit_code, second.exit_code)
    assert {first.artifact_id} == ids(session)
    assert first.stdout == second.stdout


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("default", 'All of it: get_artifact(id="{}", start_line=1'),
        ("pipe", "stdout:\n"),
        ("pipe", "\nstderr:\nwarned\n"),
        ("pipe", "\n\nexit code: 3"),
        ("opencode", "<stdout truncated: 20,000 lines total>\nFull output saved to: artifact {}, stdout\n"),
        ("omni", " characters omitted]\n"),
        ("acode", "[Artifact: {}] "),
    ],
)
def test_a_repeated_output_keeps_the_layout_of_its_profile(session, name, layout):
    """The second time the text is that of the profile, leads to the first artifact, and says whose exit code that has."""
    command = "seq -f '%05.0f some text of a line' 1 20000; sleep 0.2; echo warned >&2; exit "
    first = run(session, f"{command}0", profile=name)
    second = run(session, f"{command}3", profile=name)
    assert {first.artifact_id} == ids(session) == {second.artifact_id}
    assert layout.format(first.artifact_id) in second.text
    assert (
        f"this is all of artifact {first.artifact_id} again (of a command that ended with exit code 0)"
        in second.text
    )
    assert 3 == second.exit_code
    assert [each["total"] for each in first.truncated.values()] == [
        each["total"] for each in second.truncated.values()
    ]
    assert first.truncated.keys() == second.truncated.keys()
    assert len(first.omissions) == len(second.omissions)


def test_a_repeated_run_is_on_record(session):
    """The command, exit code and time of a run whose output is not kept stand in the audit log, beside the artifact."""
    first = run(session, "seq 1 30000")
    run(session, "seq 1 30000; exit 3")
    details = [
        event.detail for event in session.events(kind="preview") if event.artifact_id == first.artifact_id
    ]
    (repeat,) = [detail for detail in details if detail.get("again")]
    assert ("seq 1 30000; exit 3", 3) == (repeat["command"], repeat["exit_code"])
    assert repeat["started"] >= session.artifact(first.artifact_id).info.created
    assert repeat["milliseconds"] >= 0


def test_the_same_bytes_on_another_stream_are_not_the_same(session):
    """An output whose lines came from the other stream is not told in the streams of the first."""
    first = run(session, "seq 1 30000", profile="pipe")
    second = run(session, "seq 1 30000 >&2", profile="pipe")
    assert first.artifact_id == second.artifact_id
    assert "stdout:" not in second.text


def test_two_tools_may_print_the_same(session, artifact):
    """A tool that is no command has an artifact of its own, unless it hands on what was read."""
    processor = TruncationProcessor(session)
    first = processor.process(DATA, "read_file").artifact_id
    assert first not in {None, artifact.id}
    assert {first, artifact.id} == ids(session)
    b"".join(artifact.reading([DATA], 0, len(DATA)))
    again = processor.process(DATA, "read_file")
    assert artifact.id == again.artifact_id
    assert {first, artifact.id} == ids(session)


@pytest.mark.long
def test_what_is_wanted_to_be_stored_is(session, artifact):
    """``keep``, and a model that was told of the artifact while the command ran, leave it where it is."""
    kept = Spill(lambda: session, profile_named("default"), source="x", is_command=True, keep="all")
    kept.write(DATA)
    kept.finish(exit_code=0)
    assert kept.artifact is not None
    tool = BashTool(session)
    result = tool.call_sync({"command": f"{CLI} cat {artifact.id}; sleep 1", "timeout": 800})
    if result.state != "ended":
        result = tool.call_sync({"kill_pid": result.pid})
        assert artifact.id != result.artifact_id
        assert 3 == len(ids(session))


@pytest.mark.long
def test_what_has_lost_its_middle_is_no_original(session):
    """A rolled artifact cannot stand for output that is all there."""
    rolled = session.put(DATA, limit=200_000, policy="roll")
    result = run(session, f"{CLI} cat {rolled.id} --skip-holes")
    assert result.artifact_id not in {None, rolled.id}


@pytest.mark.parametrize("key", [None, b"k" * 32])
def test_a_forged_event_makes_no_output_vanish(tmp_path, key):
    """An event that says that this output was read of another artifact: it is stored, and nothing is said of the other."""
    store = Store(tmp_path / "forged", digest_key=key, **NO_FLOORS)
    with store.session("chat") as session:
        other = session.put(bytes(reversed(DATA)), source="make")
        gone = session.artifact(run(session, "seq 1 30000").artifact_id)
        size, digest = gone.info.size, gone.info.digest.partition(":")[2]
        gone.delete()
        other.record(
            "read", {"stream": "combined", "start": 0, "end": size, "digest": digest, "outcome": "ok"}
        )
        result = run(session, "seq 1 30000")
        assert {other.id, result.artifact_id} == ids(session)
        assert "again" not in result.text.split("\n")[0]
        assert result.artifact_id != other.id
        assert b"1\n2\n3\n" == session.artifact(result.artifact_id).read_lines(1, 3)


@pytest.mark.parametrize("key", [None, b"k" * 32])
def test_a_forged_preview_is_not_shown(tmp_path, key):
    """The text of a preview that is written into the audit log by somebody else is not given back as the preview."""
    store = Store(tmp_path / "forged", digest_key=key, artifact_limit=200_000, **NO_FLOORS)
    profile = profile_named("default")
    with store.session("chat") as session:
        rendered, spill = printed("default", session, DATA)
        assert spill.artifact.info.hole is not None
        assert rendered.text == render(spill.artifact, profile).text
        with sqlite3.connect(store.root / "_" / "chat" / "session.db") as connection:
            said = "replace(detail, 'some text', 'forged it')"
            connection.execute(f"UPDATE event SET detail = {said} WHERE kind = 'rendered'")
            assert 1 == connection.total_changes
        connection.close()
        assert "forged it" not in render(spill.artifact, profile).text
        assert [] == spill.artifact.events("rendered")


@pytest.mark.long
def test_a_cleaned_text_is_not_what_it_was_made_of(session):
    """What ``show`` prints without the colours is another text with other positions, so it has an artifact of its own."""
    coloured = session.put(b"".join(b"\x1b[31m%05d red\x1b[0m\n" % n for n in range(5000)))
    result = run(session, f"{CLI} show {coloured.id}")
    assert {coloured.id, result.artifact_id} == ids(session)
    assert result.artifact_id != coloured.id
    assert coloured.id == run(session, f"{CLI} cat {coloured.id}").artifact_id


def test_outputs_that_differ_behind_a_limit_are_not_the_same(tmp_path):
    """Two commands whose outputs begin alike, where the store keeps a beginning: each has an artifact of its own."""
    options = {"artifact_policy": "stop", "artifact_limit": 50_000, **NO_FLOORS}
    with Store(tmp_path / "stops", **options).session("chat") as session:
        first, second = (run(session, f"seq 1 30000; echo {word}") for word in ("one", "another"))
        assert {first.artifact_id, second.artifact_id} == ids(session)
        assert first.artifact_id != second.artifact_id
        assert "again" not in second.text.split("\n")[0]


def test_outputs_that_differ_behind_the_limit_of_a_profile_are_not_the_same(session, monkeypatch):
    """Likewise where it is the profile that keeps a beginning of each stream."""
    monkeypatch.setattr(Opencode, "stream_limit", 200_000)
    texts = [printed("opencode", session, DATA + word)[0].text for word in (b"one\n", b"another\n")]
    assert 2 == len(ids(session))
    assert not any("again" in text for text in texts)


def test_a_custom_result_says_that_it_is_an_error(session):
    """Whether it is an error is said by the profile, as ever."""
    session.put(DATA)
    result = run(session, "seq -f '%05.0f some text of a line' 1 20000; exit 2", profile="pipe")
    assert result.is_error
    assert 1 == len(ids(session))


# --- answers of the retrieval tools -------------------------------------------------------------------------


def answers(session, artifact):
    """Large answers of each kind."""
    return [
        get_artifact(session, id=artifact.id, max_chars=100_000).text,
        get_artifact(session, id=artifact.id, max_chars=20_000, start_line=77, raw=True).text,
        search_artifact(session, id=artifact.id, pattern="text").text,
    ]


def test_an_answer_passes_whatever_the_tool_is_called(session, artifact):
    """The processor shows answers whole and stores nothing, for every profile, alone or with a little around them."""
    for text in answers(session, artifact):
        for name in NAMES:
            processor = TruncationProcessor(session, profile=name)
            for content in (
                text,
                f"result:\n{text}done\n",
                text.encode(),
                text.strip(),
                text * (1 + (len(text) < MOST // 2)),
            ):
                result = processor.process(content, "another_name")
                assert result.content == (content.decode() if isinstance(content, bytes) else content)
                assert result.artifact_id is None
    assert {artifact.id} == ids(session)


def test_an_answer_passes_through_bash(session, artifact, tmp_path):
    """A command that prints an answer is shown whole, and stored not at all."""
    path = tmp_path / "answer"
    for text in answers(session, artifact)[:2]:
        path.write_text(text)
        for name in PROFILES:
            result = run(session, f"echo wrapped; cat {path}; exit 1", profile=name)
            assert text in result.text
            assert 1 == result.exit_code
            assert result.artifact_id is None
    assert {artifact.id} == ids(session)


@pytest.mark.parametrize(
    "wrap", [lambda text: text.replace("00100 some", "00100 other"), lambda text: text[300:]]
)
def test_what_only_looks_like_an_answer_does_not_pass(session, artifact, wrap):
    """An answer that was changed or cut is output like any other."""
    text = wrap(get_artifact(session, id=artifact.id, max_chars=50_000).text)
    result = TruncationProcessor(session).process(text, "tool")
    assert result.artifact_id not in {None, artifact.id}
    assert len(result.content) <= 8000


def test_an_answer_of_another_session_does_not_pass(plain_store, session, artifact):
    """A mark is good in its own session alone."""
    text = get_artifact(session, id=artifact.id, max_chars=50_000).text
    with plain_store.session("other") as other:
        assert unsigned_chars(lambda: other, text) is None
        assert TruncationProcessor(other).process(text, "tool").artifact_id is not None


def test_much_around_an_answer_is_output(session, artifact):
    """What a tool adds counts as output, and is stored with it where it is long."""
    text = (
        "".join(f"{n}\n" for n in range(5000)) + get_artifact(session, id=artifact.id, max_chars=50_000).text
    )
    assert TruncationProcessor(session).process(text, "tool").artifact_id is not None


def test_marks_that_lie(session):
    """Lengths that reach before the beginning, overlap or are absurd are no reason to stumble."""
    good = with_signature(session, "one\n")
    assert unsigned_chars(lambda: session, good) == 1
    for text in (
        "[~5.abcdefghijk]",
        " [~5.abcdefghijk]",
        " [~9999999.abcdefghijk]",
        good.replace("~4.", "~5."),
        good.replace("~4.", "~0."),
        "x" * (MOST + 1) + good,
        "",
    ):
        assert unsigned_chars(lambda: session, text) is None
    assert unsigned_chars(lambda: session, good * 3 + "[~4.aaaaaaaaaaa]" * 1000) == 3 + 16_000
    hostile = "".join(f" [~{20 * number + 1}.AAAAAAAAAAA]" for number in range(5000))[:MOST]
    with not_for_ever():
        assert unsigned_chars(lambda: session, hostile) is None  # each mark claims all that stands before it
    assert len(with_signature(session, "x" * 99_999 + "\n")) - 100_000 <= ROOM


def test_no_session_is_opened_for_what_has_no_mark():
    """Who looks for marks asks for the session only where there is what looks like one."""

    def never():
        raise AssertionError

    assert unsigned_chars(never, "[art_1: lines 1-2]\nanything [~x.y]\n") is None


def test_the_mark_is_within_the_limit(session, artifact):
    """An answer and its mark are together within ``max_chars``."""
    for most in (500, 777, 8000, 100_000):
        assert len(get_artifact(session, id=artifact.id, max_chars=most).text) <= most


@pytest.mark.long
def test_reads_are_told_in_the_history(session, artifact):
    """The command line's reads are events of the artifact, with their range."""
    environment = {**os.environ, "SPILLSTORE_ROOT": session.address, "SPILLSTORE_SESSION": session.id}
    subprocess.run(
        [sys.executable, "-m", "spillstore_tools.cli", "show", artifact.id, "--lines", "2-3"],
        env=environment,
        check=True,
        capture_output=True,
    )
    (event,) = artifact.events("read")
    assert ("combined", 26, 78) == tuple(event.detail[name] for name in ("stream", "start", "end"))
    assert json.dumps(event.detail)
    assert [event.artifact_id] == [each.artifact_id for each in asyncio.run(_read_events(session))]


async def _read_events(session):
    from spillstore import aio

    async with await aio.Store(session.address).session(session.id, read_only=True) as other:
        return await other.events(kind="read")


def test_many_answers_are_no_answer(session, artifact, tmp_path):
    """What is many answers one after the other is bounded like any output."""
    path = tmp_path / "answer"
    path.write_text(get_artifact(session, id=artifact.id, max_chars=20_000).text)
    result = run(session, f"for i in $(seq 20); do cat {path}; done")
    assert len(result.text) <= 8000
    assert result.artifact_id is not None


def test_a_tool_that_is_called_again_with_the_same_arguments_keeps_no_second_copy(session):
    """Another tool, or other arguments, are another call, and so is one of which the arguments are not known."""
    processor = TruncationProcessor(session)

    def stored(tool, command):
        result = processor.process(DATA, tool, command=command)
        return result.artifact_id, "again, and no second copy is kept" in result.content

    first, again = stored("fetch", '{"url": "a"}')
    assert not again
    assert stored("fetch", '{"url": "a"}') == (first, True)
    others = [
        stored("read", '{"url": "a"}'),
        stored("fetch", '{"url": "b"}'),
        stored("fetch", None),
        stored("fetch", None),
    ]
    assert not any(again for _, again in others)
    assert len({first, *(each for each, _ in others)}) == len(ids(session)) == 5
