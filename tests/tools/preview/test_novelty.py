"""Characters are spent where they tell something: what is left out for telling nothing new, and what never is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from law import assert_law

from spillstore_tools.preview.parts import Gap, gaps_of, length_of, text_of
from spillstore_tools.preview.scan.position import Position
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies.ends import beginning, ending
from spillstore_tools.preview.strategies.novelty import Novelty, kind_of
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.strategies.smart import Smart
from spillstore_tools.preview.text.clean import clean


def marker(gap: Gap) -> str:
    return f"[... {gap.first_line}-{gap.last_line} ...]\n"


def overview_of(lines, *, limit=8000):
    scan = Scan(head_chars=limit, tail_chars=limit, observer=Smart().observer(), keep_bytes=1 << 20)
    scan.feed("".join(f"{line}\n" for line in lines).encode())
    return scan.finish()


def preview(lines, *, limit=8000, **request):
    parts = Smart().cut(overview_of(lines, limit=limit), Request(limit=limit, marker=marker, **request))
    assert_law(parts, "".join(f"{line}\n" for line in lines).encode(), clean=clean)
    assert length_of(parts) <= limit
    return text_of(parts)


def run(count=900, failed=()):
    """A run of tests with a line for each."""
    lines = ["===== test session starts =====", f"collected {count} items"]
    lines += [
        f"tests/test_part_{n % 30}.py::test_number_{n} {'FAILED' if n in failed else 'PASSED'} [{n * 100 // count:3}%]"
        for n in range(count)
    ]
    for n in failed:
        lines += [
            f"_____ test_number_{n} _____",
            "    def test():",
            f">       assert load({n}) == {n}",
            f"E       assert None == {n}",
        ]
    lines += [f"FAILED tests/test_part_{n % 30}.py::test_number_{n} - assert None" for n in failed]
    return [*lines, f"===== {len(failed)} failed, {count - len(failed)} passed in 3.2s ====="]


def test_kinds():
    """What is left without names and numbers; a test that passed is a kind of its own."""
    assert kind_of("src/a.py:12: warning: unused variable x1") == "· warning: unused variable ·"
    assert kind_of("ok 17 - adds numbers") == kind_of("tests/a.py::test_b PASSED") == "passed"
    assert kind_of("web-1   0/1   CrashLoopBackOff") != kind_of("web-2   1/1   Running")


def test_a_failing_run_is_short():
    """The failures, the summary, and next to nothing of the tests that passed."""
    text = preview(run(failed=(100, 500)), ended_well=False)
    assert len(text) < 2500
    assert text.count("PASSED") <= 8
    for each in (
        "E       assert None == 100",
        "2 failed, 898 passed",
        "test_number_100 FAILED",
        "FAILED tests/",
    ):
        assert each in text


def test_a_run_that_went_well_is_told_as_such():
    """Its verdict and hardly more; whether a command's exit code says so, too, or nothing is known."""
    for ended_well in (True, None):
        text = preview(run(), ended_well=ended_well)
        assert len(text) < 1000
        assert "0 failed, 900 passed" in text


def test_all_failures_of_a_summary_are_shown():
    """Lines that report failures are not left out for being alike."""
    failed = tuple(range(3, 900, 40))
    text = preview(run(failed=failed), ended_well=False)
    for number in failed:
        assert f"FAILED tests/test_part_{number % 30}.py::test_number_{number} - assert None" in text


def test_progress_is_folded_at_both_ends():
    """Lines that differ in numbers are shown twice; the gap says which others there are."""
    lines = [f"Downloading layer {n} of 30 at {n * 3} MB/s" for n in range(30)]
    lines = [
        "begin",
        *lines,
        "unpack it",
        *(f"word{'x' * n} is new" for n in range(400)),
        "go on",
        *lines,
        "the end",
    ]
    parts = Smart().cut(overview_of(lines), Request(limit=8000, marker=marker))
    gaps = [(gap.first_line, gap.last_line) for gap in gaps_of(parts)]
    assert gaps[0] == (4, 31)
    assert gaps[-1] == (434, 461)
    assert text_of(parts).startswith("begin\nDownloading layer 0 of 30")


def test_blocks_of_lines_that_return():
    """A warning of three lines, over and over: three of them tell everything."""
    lines = [
        line
        for n in range(200)
        for line in (f"gcc -c part{n}.c", f"part{n}.c:3: warning: unused", f"    3 | int x{n};")
    ]
    text = preview([*lines, "part7.c:9:1: error: no such thing", *lines], ended_well=False)
    assert "error: no such thing" in text
    assert len(text) < 1500


def test_prose_uses_the_room():
    """Where every line is new and none reports a failure the room is used."""
    words = [f"{'abcdefghij'[n % 10] * (1 + n // 10)} stands alone here" for n in range(1000)]
    assert len(preview(words, limit=3000)) > 2800


LINES = st.lists(
    st.sampled_from(
        [
            "step 1 done",
            "step 2 done",
            "",
            "same",
            "ERROR: it broke",
            "x" * 500,
            "a b c",
            "PASSED",
            "7",
            "é 3 ü",
        ]
    ),
    max_size=150,
)


@given(LINES, st.integers(0, 900), st.sampled_from([None, 40]), st.booleans())
def test_ends_keep_the_law(lines, room, line_limit, repeats):
    """What an end leaves out is a gap of it, and what it covers is counted; it is never longer than its room."""
    overview = overview_of(lines)
    request = Request(limit=room, line_limit=line_limit, repeats=repeats, marker=marker)
    data = "".join(f"{line}\n" for line in lines).encode()
    head = beginning(overview, room, request, novelty=Novelty())
    tail = ending(overview, room, request, Position(0, 1), novelty=Novelty())
    assert max(length_of(head.parts), length_of(tail.parts)) <= room
    assert head.chars == len(data[: head.position.byte].decode())
    assert tail.chars == len(data[tail.position.byte :].decode())
    for end, start in ((head, 0), (tail, tail.position.byte)):
        borders = [start, *(part.end for part in end.parts)]
        assert [part.start for part in end.parts] == borders[:-1]
