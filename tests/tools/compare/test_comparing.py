"""``compare_artifacts`` and what it is made of: exact multisets, bounded answers, exact cursors, a model's mistakes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, examples

from spillstore import Store
from spillstore.exceptions import ClosedError
from spillstore_tools.agent import compare_artifacts as comparing
from spillstore_tools.agent.answers import MAX_CHARS
from spillstore_tools.agent.artifacts import previous_run
from spillstore_tools.agent.compare_artifacts import compare_artifacts
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.compare import line_reader as _whole_lines
from spillstore_tools.compare import multiset as _multiset
from spillstore_tools.compare.differences import Differences
from spillstore_tools.compare.line_reader import WholeLines
from spillstore_tools.compare.multiset import FIRST, MORE, NEW, SAME, Multiset, NumberFile, subtract
from spillstore_tools.mcp.wire.tool_results import summary
from spillstore_tools.preview.text.normalise import normalise

MIB = 1024 * 1024
ROW = re.compile(r"([+-])(\d+):(.*?)(?:  \[and ([\d,]+) more like this.*\])?", re.DOTALL)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("root"), **NO_FLOORS).session("chat") as session:
        yield session


def walk(session, **arguments):
    """All answers that cursors lead to."""
    answers = [compare_artifacts(session, **arguments)]
    asked = {key: value for key, value in arguments.items() if key in {"id", "base", "max_chars"}}
    while answers[-1].cursor is not None:
        assert len(answers) < 10_000
        answers.append(compare_artifacts(session, **asked, cursor=answers[-1].cursor))
    assert not any(answer.is_error for answer in answers)
    return answers


def rows(answers):
    """The changes of some answers: sign, line, text, and how many more there are like it."""
    lines = "".join(answer.content for answer in answers).splitlines()
    found = [ROW.fullmatch(line) for line in lines if line[:1] in "+-" and line != "--"]
    return [(match[1], int(match[2]), match[3], int((match[4] or "0").replace(",", ""))) for match in found]


def keys(data: bytes) -> Counter:
    """The reference: folded lines, counted."""
    lines = normalise(data if data.endswith(b"\n") else data + b"\n").split(b"\n")[:-1] if data else []
    return Counter(lines)


# --- the reference ----------------------------------------------------------------------------------------

LINE = st.sampled_from(
    [
        *(
            b"",
            b"x",
            b"same",
            b"took 1s",
            b"took 2s",
            b"test_1 ok",
            b"test_2 ok",
            b"a.c:1: error: no",
            b"FAILED test_1",
        ),
        *(
            b"10:20:33 start",
            b"11:00:00 start",
            b"1 failed",
            b"2 failed",
            b"-- x",
            b"Traceback (most recent call last):",
        ),
    ]
)
CONTENT = st.tuples(st.lists(LINE, max_size=40), st.booleans()).map(
    lambda drawn: b"".join(line + b"\n" for line in drawn[0]).removesuffix(b"\n" if drawn[1] else b"")
)


@pytest.mark.long
@given(before=CONTENT, now=CONTENT, room=st.sampled_from([500, 520, 600, 900, 8000]))
@examples(120)
def test_walking_the_cursors_gives_every_change_once(session, before, now, room):
    """Whatever the size of the pages, the lines and their counts are those of two counters subtracted."""
    base, artifact = session.put(before), session.put(now)
    answers = walk(session, id=artifact.id, base=base.id, max_chars=room)
    assert all(len(answer.text) <= room for answer in answers)
    found = rows(answers)
    lines = {"+": now.split(b"\n"), "-": before.split(b"\n")}
    told = {"+": Counter(), "-": Counter()}
    for sign, number, text, more in found:
        assert lines[sign][number - 1].decode() == text
        told[sign][normalise(text.encode() + b"\n")[:-1]] += 1 + more
    ours, theirs = keys(now), keys(before)
    assert (ours - theirs, theirs - ours) == (told["+"], told["-"])
    assert len(found) == len({row[:2] for row in found})
    assert (ours != theirs) == bool(found) == Differences(base, artifact).differs


NUMBERS = st.lists(st.integers(-5, 12), max_size=80)


@given(before=NUMBERS, now=NUMBERS, small=st.booleans())
@examples(200)
def test_multisets_of_any_size_are_compared_exactly(before, now, small):
    """Many buckets, small files and few kinds make no difference: all occurrences beyond the other side's are news."""
    with pytest.MonkeyPatch.context() as patch:
        if small:
            for name, value in {
                "_IN_BUCKET": 4,
                "_KINDS": 2,
                "_ITEMS": 8,
                "_PIECE": 2,
                "_BUFFERED": 2,
                "_HELD": 1,
            }.items():
                patch.setattr(_multiset, name, value)
        sides = [Multiset(), Multiset()]
        for side, numbers in zip(sides, (before, now), strict=True):
            side.numbers.add(_multiset.array("q", numbers))
        for _ in subtract(*sides):
            pass
        for side, ours, theirs in ((sides[0], before, now), (sides[1], now, before)):
            news = Counter(ours) - Counter(theirs)
            flags = [flag for _, block in side.flags.blocks() for flag in block] or [SAME] * len(ours)
            assert news == Counter(number for number, flag in zip(ours, flags, strict=True) if flag != SAME)
            assert news.total() == side.changed
            assert {NEW, FIRST, MORE, SAME} >= set(flags)
            told = [place for place, flag in enumerate(flags) if flag in {NEW, FIRST}]
            assert len(told) == side.shown
            for rank in range(len(told) + 1):
                assert told[rank:] == list(side.shown_from(rank))
            assert dict(enumerate(told)) == side.places(range(len(told) + 3))
            assert {ours[place] for place, flag in enumerate(flags) if flag == FIRST} == set(side.groups)


@given(
    data=st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bb" * 20, b"c" * 70]), max_size=60).map(b"".join),
    longest=st.sampled_from([8, 40, 10**6]),
    block=st.sampled_from([1, 16, 10**6]),
)
@examples(120)
def test_whole_lines_are_all_lines(session, data, longest, block):
    """Joined they are the content, and what is too long stands alone, whatever the blocks are."""
    artifact = session.put(data, newline="lf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_whole_lines, "LONGEST", longest)
        patch.setattr(_whole_lines, "_BLOCK", block)
        pieces = list(WholeLines(artifact, "combined").blocks())
    expected = data.split(b"\n")
    expected = expected if expected[-1] else expected[:-1]
    found = []
    for piece in pieces:
        lines = [piece.data] if piece.number is not None else piece.data.removesuffix(b"\n").split(b"\n")
        assert len(lines) == piece.size
        assert all((len(line) > longest) == (piece.number is not None) for line in lines)
        found += lines
    assert expected == found


# --- what is told -----------------------------------------------------------------------------------------


def test_new_failures_come_first_and_repeated_lines_once(session):
    """What matters with its neighbours, what is gone of it, then the rest; like ones counted."""
    before = "".join(f"test_{n} ok in 0.{n}s\n" for n in range(30)) + "30 passed in 3.1s\nbye\n"
    now = (
        "".join(f"note: retry {n} of ten\n" for n in range(12))
        + "".join(f"test_{n} {'FAILED' if n == 7 else 'ok'} in 0.{n + 1}s\n" for n in range(30))
        + "Traceback (most recent call last):\n  File 'a.py', line 3\nValueError: no\n1 failed, 29 passed in 2.9s\nbye\n"
    )
    base, artifact = session.put(before), session.put(now)
    answer = compare_artifacts(session, id=artifact.id, base=base.id)
    assert "17 new lines, 2 gone, 30 in both; times, numbers and addresses folded" in answer.text
    assert answer.content == (
        "[new: what matters]\n"
        "+20:test_7 FAILED in 0.8s\n"
        "--\n"
        "+43:Traceback (most recent call last):\n"
        "+44:  File 'a.py', line 3\n"
        "+45:ValueError: no\n"
        "+46:1 failed, 29 passed in 2.9s\n"
        "[new: what else]\n"
        "+1:note: retry 0 of ten  [and 11 more like this; 0 in the base, 12 now]\n"
        "[gone: what else]\n"
        "-8:test_7 ok in 0.7s\n"
        "--\n"
        "-31:30 passed in 3.1s\n"
    )
    assert (
        f'[that is all; around the first: get_artifact(id="{artifact.id}", start_line=10, end_line=30)]'
        in answer.text
    )


def test_lines_that_both_have_are_new_beside_what_is_new(session):
    """A second traceback keeps its first line, though the base has one like it."""
    trace = "Traceback (most recent call last):\n  in {0}\n{0}Error: no\n"
    before = "start\n" + trace.format("Key") + "end\n"
    now = "start\n" + trace.format("Value") + "middle\n" + trace.format("Key") + "end\n"
    base, artifact = session.put(before), session.put(now)
    numbers = [change.line for change in Differences(base, artifact).changes()]
    assert [2, 3, 4, 5] == sorted(numbers)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ("a\nb\n", "a\nb\n", "identical, byte for byte"),
        ("", "", "identical, byte for byte"),
        (
            "at 10:20:33\n",
            "at 11:00:00\n",
            "the same lines in the same order, but for times, numbers and addresses",
        ),
        ("\x1b[31mred\x1b[0m\n 10%\r100%\n", "red\r\n 7%\n", "the same lines in the same order"),
        ("a\nb\n", "b\na\n", "the same lines in another order"),
        ("", "a\n", "1 new line, 0 gone, 0 in both"),
        ("a\n" * 3, "a\n" * 5, "2 new lines, 0 gone, 3 in both"),
        (
            b"\x89PNG\r\n\x1a\n" + bytes(90),
            b"\x89PNG\r\n\x1a\n" + bytes(80) + b"\1",
            "different, from byte 88 on",
        ),
        (b"\x89PNG\r\n\x1a\n" + bytes(90), b"\x89PNG\r\n\x1a\n" + bytes(99), "different, from byte 98 on"),
        (b"\x89PNG\r\n\x1a\n" + bytes(90), "text\n", "not compared by lines: PNG image"),
    ],
)
def test_verdicts(session, before, now, words):
    """What is the same is said to be, and in which way; what is no text is compared by bytes."""
    base, artifact = session.put(before), session.put(now)
    assert words in compare_artifacts(session, id=artifact.id, base=base.id).text


def test_exact(session):
    """Times, numbers and addresses are compared where that is asked for, and the cursor remembers it."""
    base = session.put("".join(f"{n} at 0x{n:x}\n" for n in range(60)))
    artifact = session.put("".join(f"{n} at 0x{n:x}\n" for n in range(30, 90)))
    assert "same lines in the same order" in compare_artifacts(session, id=artifact.id, base=base.id).text
    answers = walk(session, id=artifact.id, base=base.id, exact="true", max_chars=600)
    assert len(answers) > 2
    assert 60 == len(rows(answers))
    assert "folded" not in answers[0].text


def test_facts_of_both(session):
    """Exit codes, sizes, lines, durations and when."""
    ids = []
    for code in (0, 1):
        with session.create(source="bash", command="make  check") as writer:
            writer.write(b"one\n" * (code + 1))
            writer.close(exit_code=code)
        ids.append(writer.id)
    text = compare_artifacts(session, id=ids[1], base=ids[0]).text
    assert re.search(
        r"^base: exit code 0, 4 bytes, 1 line, \d+\.\d s, 20.* UTC, make  check$", text, re.MULTILINE
    )
    assert re.search(r"^now: exit code 1, 8 bytes, 2 lines, \d+\.\d s, 20", text, re.MULTILINE)
    assert ", newer than the other\n" in compare_artifacts(session, id=ids[0], base=ids[1]).text


def test_the_run_before_is_the_base(tmp_path):
    """Where no base is named, it is the last artifact of the same tool and command; there may be none."""
    with Store(tmp_path, **NO_FLOORS).session("chat") as session:
        first = session.put("a\n", source="bash", command="make")
        session.put("b\n", source="bash", command="make test")
        session.put("c\n", source="other", command="make")
        last = session.put("d\n", source="bash", command="make")
        for _ in range(120):
            session.put("e\n", source="bash", command="ls")
        assert first.id == previous_run(session, last).id
        assert f"[{last.id} against {first.id}: 1 new line" in compare_artifacts(session, id=last.id).text
        answer = compare_artifacts(session, id=first.id, base="null")
        assert answer.is_error
        assert "nothing was stored of 'bash make' before" in answer.text
        assert f'compare_artifacts(id="{first.id}", base="art_...")' in answer.text


def test_streams(session):
    """One stream of both, with its own line numbers, also as the id names it; the calls say it."""
    ids = []
    for word in (b"old", b"new"):
        with session.create(source="bash") as writer:
            writer.write(b"out %b\n" % word)
            writer.write(b"err\n", "stderr")
            writer.write(b"err: " + word * 200 + b"\n", "stderr")
        ids.append(writer.id)
    answer = compare_artifacts(session, id=f"artifact://{ids[1]}?stream=stderr", base=ids[0])
    assert [("+", 2), ("-", 2)] == [row[:2] for row in rows([answer])]
    assert 'stream="stderr")' in answer.text
    assert answer.text == compare_artifacts(session, id=ids[1], base=ids[0], stream="stderr").text


def test_long_lines_are_clipped_with_the_call_that_brings_them(session):
    """The call brings the whole line; in the smallest answer its bytes are named."""
    long = "x" * 300 + "é" * 300
    base, artifact = session.put("a\n"), session.put(f"a\n{long}\nb\n")
    answer = compare_artifacts(session, id=artifact.id, base=base.id)
    call = re.search(r'get_artifact\(id="(\w+)", start_byte=(\d+), end_byte=(\d+)\)', answer.text)
    assert f"{long}\n" == get_artifact(session, id=call[1], start_byte=call[2], end_byte=call[3]).content
    small = walk(session, id=artifact.id, base=base.id, max_chars=500)
    assert "[... bytes 2-903]" in "".join(each.text for each in small)
    assert all(len(each.text) <= 500 for each in small)


# --- artifacts that are not whole -------------------------------------------------------------------------


def test_while_it_is_written(session):
    """An unfinished last line is left out; the cursor goes on with what there was."""
    base = session.put("".join(f"a{'x' * n}\n" for n in range(60)))
    with session.create(source="bash") as writer:
        writer.write("".join(f"b{'x' * n}\n" for n in range(60)) + "unfini")
        writer.flush()
        first = compare_artifacts(session, id=writer.id, base=base.id, max_chars=1000)
        assert "now: still being written; compared to byte 1896" in first.text
        writer.write("shed\nmore\n")
        writer.flush()
        answers = [first]
        while answers[-1].cursor:
            answers.append(
                compare_artifacts(
                    session, id=writer.id, base=base.id, cursor=answers[-1].cursor, max_chars=1000
                )
            )
    told = rows(answers)
    assert 60 == sum(row[0] == "+" for row in told)
    assert not any("unfini" in row[2] for row in told)


def test_what_is_dropped_meanwhile_does_no_harm(session):
    """Of an artifact that rolls on while it is compared, what is left is told, and the gone is said to be gone."""
    base = session.put("x\n")
    with session.create(source="bash", limit=65536, policy="roll") as writer:
        lines = [b"a%s\n" % (b"y" * (n % 60)) for n in range(9000)]
        writer.write(b"".join(lines[:3000]))
        writer.flush()
        found = Differences(base, session.artifact(writer.id))
        assert not found.run(0.0)
        for end in range(4000, 10_000, 1000):
            writer.write(b"".join(lines[end - 1000 : end]))
            writer.flush()
            found.run(0.0)
        changes = [change for change in found.changes() if change.sort == "new"]
    assert changes
    for change in changes:
        assert change.text in {lines[change.line - 1].decode().removesuffix("\n"), "(dropped since)"}


def test_interrupted_ones_are_compared(session):
    """A last line without an end is a line where no more will come."""
    base = session.put("a\nb")
    with pytest.raises(KeyError), session.create(source="bash") as writer:
        writer.write(b"a\nc")
        raise KeyError
    assert [("+", 2, "c", 0), ("-", 2, "b", 0)] == rows(walk(session, id=writer.id, base=base.id))
    assert "now: interrupted, 3 bytes" in compare_artifacts(session, id=writer.id, base=base.id).text


def test_a_hole_is_left_out_and_said(session):
    """What was dropped is not compared, nor the two lines it has torn; all others have their numbers."""
    lines = [b"line %s\n" % bytes(b"abcdefghij"[int(digit)] for digit in str(n)) for n in range(1000, 3000)]
    content = b"".join(lines)
    whole, rolled = session.put(content + b"end\n"), session.put(content, limit=8192, policy="roll")
    same, hole = session.put(content), rolled.info.hole
    assert "identical, byte for byte]" in compare_artifacts(session, id=rolled.id, base=same.id).text
    answers = walk(session, id=rolled.id, base=whole.id)
    assert f"now: bytes {hole.start}-{hole.end} were dropped and are not compared" in answers[0].text
    gone = rows(answers)
    assert {"-"} == {row[0] for row in gone}
    assert {*range(hole.first_line, hole.last_line + 1), 2001} == {row[1] for row in gone}
    back = rows(walk(session, id=whole.id, base=rolled.id))
    assert {row[1] for row in gone} == {row[1] for row in back}
    for change in Differences(session.put("x\n"), rolled).changes():
        if change.sort == "new":
            assert lines[change.line - 1] == change.text.encode() + b"\n"
            assert content.index(lines[change.line - 1]) == change.start


def test_lines_that_end_in_cr(session):
    """Where CR ends lines it does so here, too."""
    base, artifact = session.put("a\rb\rc\r"), session.put("a\rx\rc\r")
    assert [("+", 2, "x", 0), ("-", 2, "b", 0)] == rows(walk(session, id=artifact.id, base=base.id))


# --- however large ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "now", "totals"),
    [
        (b"x" * (3 * MIB), b"x" * (3 * MIB) + b"y", (1, 1, 0)),
        (b"a\n" + b"x" * (3 * MIB) + b"\nb", b"x" * (3 * MIB) + b"\nb\nc", (1, 1, 2)),
        (b"same\n" * 300_000, b"same\n" * 300_001, (1, 0, 300_000)),
        (b"\n" * MIB, b"", (0, MIB, 0)),
    ],
    ids=["one line", "a long line moved", "all equal", "no text"],
)
def test_hostile_content(session, before, now, totals):
    """Lines of any length and number are compared exactly."""
    assert totals == Differences(session.put(before), session.put(now)).totals()


@pytest.mark.repeat
@pytest.mark.slow
def test_memory_stays_flat(tmp_path):
    """Two artifacts of 32 MiB without a line in common take less than 80 MB above what is loaded."""
    script = """
import random, sys
from spillstore import Store
from spillstore_tools.compare.differences import Differences

def anonymous():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) // 1024

def content(seed):
    letters = bytes(ord("g") + byte % 16 for byte in range(256))
    source = random.Random(seed)
    for _ in range(32):
        data = source.randbytes(1 << 20).translate(letters)
        yield b"".join(data[at:at + 25] + b"\\n" for at in range(0, len(data), 25))

with Store(sys.argv[1], free_disk_floor=0).session("s") as session:
    ids = []
    for seed in (1, 2):
        with session.create(source="x") as writer:
            for block in content(seed):
                writer.write(block)
        ids.append(writer.id)
    found = Differences(*map(session.artifact, ids))
    base = most = anonymous()
    while not found.run(0.05):
        most = max(most, anonymous())
    new, gone, both = found.totals()
    print(most - base, new, gone, both)
"""
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells how much memory is whose")
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True, timeout=300
    )
    grown, new, gone, both = map(int, done.stdout.split())
    assert grown < 80
    assert new == gone > 1_300_000
    assert both < 100


@pytest.mark.long
def test_an_unfinished_comparison_is_gone_on_with(session, monkeypatch):
    """After its time an answer says how far it is; the cursor goes on, also where what was done is lost."""
    base = session.put(b"".join(b"a%d b\n" % n for n in range(200_000)))
    artifact = session.put(b"".join(b"a%d b\n" % n for n in range(1, 200_001)))
    monkeypatch.setattr(comparing, "SECONDS", 0.0)
    answer = compare_artifacts(session, id=artifact.id, base=base.id)
    assert "not finished after 0 seconds; " in answer.text
    assert "base: sealed" in answer.text
    progress = []
    while answer.cursor:
        assert len(progress) < 10_000
        progress.append(int(re.search(r"(\d+) % of", answer.text)[1]) if " % of" in answer.text else 100)
        answer = compare_artifacts(session, id=artifact.id, base=base.id, cursor=answer.cursor)
    assert [("+", 200_000), ("-", 1)] == [row[:2] for row in rows([answer])]
    assert sorted(progress) == progress
    assert len(progress) > 3
    monkeypatch.undo()
    comparing._recent.clear()
    sizes = f"{base.info.size}-{artifact.info.size}"
    cursor = f"combined:{sizes}:wait60"
    assert not compare_artifacts(session, id=artifact.id, base=base.id, cursor=cursor).is_error


# --- a model's mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"id": None}, "id is missing"),
        ({"id": "art_1_0"}, "404 not found: no artifact 'art_1_0'"),
        ({"base": "art_1_0"}, "404 not found: no artifact 'art_1_0'"),
        ({"stream": "both"}, "stream must be one of combined, stdout, stderr"),
        ({"exact": "perhaps"}, "exact must be true or false"),
        ({"max_chars": 10}, "max_chars must be a whole number from 500 to 100000, not 10"),
        ({"cursor": "5"}, "'5' is no cursor; take it from the answer before"),
        ({"cursor": "combined:2-2:0.0.ffffffff"}, "the cursor is of another comparison"),
    ],
)
def test_what_means_nothing_is_told(session, arguments, words):
    """An error names the value and a call that is right."""
    base, artifact = session.put("a\n"), session.put("b\n")
    answer = compare_artifacts(session, **{"id": artifact.id, "base": base.id, **arguments})
    assert answer.is_error
    assert answer.text.startswith("compare_artifacts: ")
    assert words in answer.text
    assert len(answer.text) < MAX_CHARS


def test_a_cursor_past_the_end_ends(session):
    """A cursor that points behind the last change gives no more, and no error."""
    base, artifact = session.put("a\n"), session.put("b\n")
    checksum = f"{Differences(base, artifact).checksum():08x}"
    for place in ("0.7", "9.0", "1.999999999999999999"):
        answer = compare_artifacts(
            session, id=artifact.id, base=base.id, cursor=f"combined:2-2:{place}.{checksum}"
        )
        assert not answer.is_error
        assert answer.cursor is None


def test_a_closed_session_raises(tmp_path):
    """That is the caller's fault, not a model's."""
    session = Store(tmp_path, **NO_FLOORS).session("chat")
    artifact = session.put("a\n")
    session.close()
    with pytest.raises(ClosedError):
        compare_artifacts(session, id=artifact.id)


def test_a_full_disk_is_said_and_not_remembered(session, monkeypatch):
    """Where a comparison fails, the answer says why, and the next one begins anew."""
    base, artifact = session.put("a\n"), session.put("b\n")
    monkeypatch.setattr(_multiset.tempfile, "SpooledTemporaryFile", _full)
    answer = compare_artifacts(session, id=artifact.id, base=base.id)
    assert (True, "compare_artifacts: no room for its files: No space left on device\n") == (
        answer.is_error,
        answer.text,
    )
    monkeypatch.undo()
    assert 2 == len(rows(walk(session, id=artifact.id, base=base.id)))


def _full(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.slow
def test_a_project_tested_twice(session, tmp_path):
    """Of two real runs of a test suite, of which a test was broken in between, that test and the counts are what is told."""
    test = tmp_path / "test_sums.py"
    text = """
import logging, time

def test_nothing():
    time.sleep(0.01)

def test_logging(tmp_path):
    logging.warning("%r below %s", object(), tmp_path)

def test_sum():
    assert sum([1, 2]) == 3
"""
    ids = []
    for number, source in enumerate((text, text, text.replace("== 3", "== 4"))):
        test.write_text(source)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-v",
            "-p",
            "no:cacheprovider",
            "-o",
            "log_cli=true",  # an address and a folder that differ in each run
            "--rootdir",
            tmp_path,
            "--basetemp",  # else it removes folders of earlier runs of other tests
            tmp_path / f"temporary-{number}",
            test,
        ]
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        done = subprocess.run(
            command, capture_output=True, check=False, cwd=tmp_path, timeout=120, env=environment
        )
        ids.append(session.put(done.stdout, source="bash", command="pytest").id)
    assert "the same lines in the same order" in compare_artifacts(session, id=ids[1]).text
    answer = compare_artifacts(session, id=ids[2])
    first = answer.content.split("[new: what else]")[0]
    for line in (
        "::test_sum FAILED",
        "assert sum([1, 2]) == 4",
        "E       assert 3 == 4",
        "1 failed, 2 passed in ",
    ):
        assert line in first
    assert "-" not in {
        row[0] for row in rows([answer]) if "test_nothing" in row[2] or "test_logging" in row[2]
    }
    assert "3 passed in " in answer.content


def test_sequences_on_disk(monkeypatch):
    """Numbers come back as they were, in blocks from either end."""
    monkeypatch.setattr(_multiset, "_ITEMS", 3)
    sequence = NumberFile("q")
    sequence.add(_multiset.array("q", range(4)))
    sequence.add(_multiset.array("q", range(4, 8)))
    assert [(0, [0, 1, 2]), (3, [3, 4, 5]), (6, [6, 7])] == [
        (at, list(each)) for at, each in sequence.blocks()
    ]
    assert [6, 3, 0] == [at for at, _ in sequence.blocks(backward=True)]
    assert [2, 3] == list(sequence.read(2, 2))


def test_facts_are_bounded_too(session):
    """An answer keeps to its room with the facts about long commands and with much to be said of both."""
    words = "run the whole suite with every option that there is and then some more"
    for stored in (["old\n", "new\n"], ["same\n", "same\n"], ["b\na\n", "a\nb\n"]):
        base = session.put(stored[0] * 5000, source="bash", command=words)
        artifact = session.put(stored[1] * 5000, source="bash", command=words)
        for one, other in ((artifact, base), (base, artifact)):
            answer = compare_artifacts(session, id=one.id, base=other.id, max_chars=500)
            assert len(answer.text) <= 500
            assert ("\nbase: sealed, " in answer.text, "\nnow: sealed, " in answer.text) == (True, True)
            assert ("newer than the other" in answer.text) is (one is base)
    full = compare_artifacts(session, id=artifact.id, base=base.id).text
    assert full.count("run the whole suite") == 2


def test_summary_is_bounded_too(session):
    """So it is where the notes on what was not compared are longer than the room."""
    with session.create(source="bash", command="make " * 30) as one, session.create(source="bash") as other:
        for writer, text in ((one, "x\n" * 5000), (other, "y\n" * 5000)):
            writer.write(text)
            writer.flush()
        answer = compare_artifacts(session, id=one.id, base=other.id, max_chars=500)
        assert len(answer.text) <= 500
        assert "[more: " in answer.text


def test_positions_that_are_not_known(session):
    """A comparison shows no range, so its metadata has none; it says how many lines there are."""
    base = session.put("old\n" * 9)
    artifact = session.put("new\n" * 7)
    known = summary(compare_artifacts(session, id=artifact.id, base=base.id))
    assert known == {
        "artifact_id": artifact.id,
        "stream": "combined",
        "total_size": 28,
        "total_lines": 7,
    }
