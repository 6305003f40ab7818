"""Lines that are drawn again and again: nothing of them vanishes without a word, and records that CR ends are lines."""

from __future__ import annotations

import re

import pytest
from previews import spilled

from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.config import load
from spillstore_tools.output.media_type import is_cr_text, terminator_of
from spillstore_tools.output.rendering import render
from spillstore_tools.output.spill import Spill
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.text.clean import redrawn
from spillstore_tools.profiles import NAMES
from spillstore_tools.profiles import profile as profile_named

pytestmark = pytest.mark.everywhere

SHOWING = [name for name in NAMES if name != "lace"]  # which stores everything, and has a format of its own
RECORDS = b"".join(b"record %05d of the measuring station, all is well\r" % number for number in range(300))
LARGE = RECORDS * 55 + b"END\n"
BAR = (
    b"".join(b"\rDownloading %6.2f%% [%-20s]" % (part / 50, b"#" * (part // 250)) for part in range(5001))
    + b"\n"
)


@pytest.fixture
def session(plain_store):
    with plain_store.session("chat") as session:
        yield session


@pytest.mark.parametrize("name", SHOWING)
def test_what_is_drawn_over_is_counted_and_stored(session, name):
    """The line is as a terminal shows it; the text says how much was drawn over, and the artifact has it."""
    printed = b"abcdef\rXY\nFAILED: test_login\r100% done\n"
    spill, rendered = spilled(session, name, [(printed, "stdout")], is_command=True, exit_code=0)
    assert "XYcdef\n100% doneest_login\n" in rendered.text
    assert (11, True) == (rendered.redrawn, rendered.was_truncated)
    assert "11 characters" in rendered.text
    assert f'get_artifact(id="{spill.artifact.id}"' in rendered.text
    assert printed == spill.artifact.read_bytes(0, 1000)
    assert rendered == render(spill.artifact, profile_named(name))


@pytest.mark.parametrize(
    ("printed", "words"), [(b"ab\rX\n", "1 character was"), (b"ab\rXY\n", "2 characters were")]
)
def test_one_and_more(session, printed, words):
    """What is drawn over is counted in words."""
    _, rendered = spilled(session, "omni", [(printed, "stdout")], is_command=True, exit_code=0)
    assert f"[{words} drawn over" in rendered.text


def raw_of(session, text):
    """What the call that a text names brings, and all the calls that its answers name in turn."""
    names = re.search(r'get_artifact\(id="(\w+)", start_byte=(\d+), end_byte=(\d+), raw=true\)', text)
    assert names is not None, text
    answer = get_artifact(session, id=names[1], start_byte=names[2], end_byte=names[3], raw=True)
    shown = answer.content
    while answer.cursor:
        answer = get_artifact(session, id=names[1], cursor=answer.cursor, max_chars=100_000)
        shown += answer.content
    return shown


@pytest.mark.parametrize("before", [0, 5, 30_000])
@pytest.mark.parametrize(
    "lines",
    [
        *(1, 3),
        pytest.param(600, marks=pytest.mark.slow),
        pytest.param(2_000, marks=[pytest.mark.slow, pytest.mark.repeat]),
    ],
)
@pytest.mark.parametrize("name", ["default", "acode", "omni"])
def test_the_call_that_is_named_shows_all_that_was_drawn_over(session, name, before, lines):
    """From the first such line to the last, and nothing around them, wherever they stand and however long they are."""
    drawn = ("".join(f"record {number}\r" for number in range(30)) + "end\nbetween\n") * lines
    printed = "head\n" * before + drawn + "tail\n" * before
    spill, rendered = spilled(session, name, [(printed.encode(), "stdout")], is_command=True, exit_code=0)
    assert raw_of(session, rendered.text) == drawn.removesuffix("between\n")
    assert rendered.redrawn == redrawn(drawn.encode())
    assert rendered == render(spill.artifact, profile_named(name))


def test_the_call_where_no_range_may_be_asked_for(session):
    """It asks for all of the output, as it was printed."""
    configuration = load(artifacts={"enable_partial_retrieval": False})
    result = TruncationProcessor(session, configuration=configuration).process(b"10%\r20%\nok\n", "build")
    assert f'get_artifact(id="{result.artifact_id}", raw=true)' in result.content


@pytest.mark.slow
def test_the_call_of_a_very_long_line(session):
    """A line of megabytes that is drawn again and again, with lines around it."""
    line = "".join(f"{number:8}%\r" for number in range(400_000)) + "\n"
    _, rendered = spilled(
        session, "default", [(f"head\n{line}tail\n".encode(), "stdout")], is_command=True, exit_code=0
    )
    assert raw_of(session, rendered.text) == line


@pytest.mark.parametrize("name", SHOWING)
def test_a_progress_bar_is_its_last_state(session, name):
    """Of five thousand states the last is shown, the others are counted, and all are stored."""
    spill, rendered = spilled(session, name, [(BAR, "stderr")], is_command=True, exit_code=0)
    assert f"Downloading 100.00% [{'#' * 20}]\n" in rendered.text
    assert "Downloading  50.00%" not in rendered.text
    assert rendered.redrawn > 100_000
    assert f"{rendered.redrawn} characters" in rendered.text
    assert len(BAR) == spill.artifact.info.size


@pytest.mark.parametrize("name", SHOWING)
def test_records_that_cr_ends_are_lines(session, name):
    """What a command prints in lines that CR ends is shown as lines, the first of them and nothing drawn over."""
    spill, rendered = spilled(session, name, [(RECORDS + b"END", "stdout")], is_command=True, exit_code=0)
    assert "record 00299 of the measuring station, all is well\nEND" in rendered.text
    assert rendered.redrawn == 0
    assert spill.lines()["stdout"] == 301


def test_records_beside_a_line_end(session):
    """Eight hundred thousand characters between CRs, with one LF behind the last, are lines and are stored."""
    for profile in ("default", "acode"):
        result = TruncationProcessor(session, profile=profile).process(LARGE, "read_file")
        assert result.metadata.was_truncated
        info = session.artifact(result.artifact_id).info
        assert ("cr", 16_501, len(LARGE)) == (info.newline, info.lines, info.size)
        assert "record 00000 of the measuring station, all is well\nrecord 00001" in result.content


def test_records_and_then_lines(session):
    """Records of a command that line ends follow are one line, counted as drawn over: no two words become one."""
    spill = Spill(lambda: session, profile_named("default"), source="bash", is_command=True)
    spill.write(RECORDS * 10)
    spill.write(b"\nnext\nlast\n")
    rendered = spill.finish(exit_code=0)
    assert "next\nlast\n" in rendered.text
    assert rendered.redrawn > 0
    assert ("lf", 3) == (spill.artifact.info.newline, spill.artifact.info.lines)


def test_metadata(session):
    """A program is told how much was drawn over, also where all that is left fits."""
    result = TruncationProcessor(session).process(b"10%\r20%\r100%\nok\n", "build")
    assert (6, True, 0) == (
        result.metadata.redrawn_characters,
        result.metadata.was_truncated,
        result.metadata.omitted_characters,
    )
    assert result.artifact_id is not None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\rb\r", True),
        (b"a\rb\n", True),
        (b"a\nb\rc\n", False),
        (b"10%\r20%\n", False),
        (b"a\r\nb\r\n", False),
        (b"a\r\n", False),
    ],
)
def test_line_ends(data, text):
    """CR ends lines where no LF does but the last, and nothing looks like progress."""
    assert text == (terminator_of(data) == b"\r")


@pytest.mark.parametrize(
    "state",
    [
        b"%d%%",
        b"%d of 100",
        b"[====    ] %d",
        b"%d",
        b"\x1b[Kfile %d",
        b"%d MB/s",
        b"file %d        ",
        b"\xe2\xa0\x8b %d",
    ],
)
def test_progress_is_not_text(state):
    """Shares, counts, bars, rates and what erases are a line that is drawn again and again."""
    assert not is_cr_text(b"\r".join(state % number for number in range(100)))
    assert is_cr_text(b"\r".join(b"a line of text, number %d" % number for number in range(100)))


def test_a_large_progress_bar_that_a_tool_returns(session):
    """It is its last state, too, where its end is not known when storing begins."""
    result = TruncationProcessor(session).process(BAR[:-1] * 3 + b"\n", "build")
    assert result.content.startswith("Downloading 100.00% [")
    assert result.metadata.redrawn_characters > 100_000
    assert session.artifact(result.artifact_id).info.newline == "lf"
