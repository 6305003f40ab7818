"""What a viewer knows of an artifact, held against the bytes that were written."""

from __future__ import annotations

import itertools
import random
import stat

import pytest

from spillstore.exceptions import TargetExistsError
from spillstore.search import native_search
from spillstore_tools import get_artifact, profile, render
from spillstore_tools.agent.search_artifact import TextCleaner
from spillstore_tools.cli import _invoke
from spillstore_tools.viewer.model import telling
from spillstore_tools.viewer.model.export import export_rows
from spillstore_tools.viewer.model.hits import Hits
from spillstore_tools.viewer.model.listing import Choice, chosen_artifacts
from spillstore_tools.viewer.model.log import Log
from spillstore_tools.viewer.model.places import show_call
from spillstore_tools.viewer.model.previous import changes_since_last_run
from spillstore_tools.viewer.model.reads import Reads
from spillstore_tools.viewer.model.seen import what_was_seen
from spillstore_tools.viewer.model.steps import Steps
from spillstore_tools.viewer.model.styles import Style, styled_line
from spillstore_tools.viewer.model.telling import next_telling, previous_telling

pytestmark = pytest.mark.everywhere
VIEWS = ("combined", "stdout", "stderr")


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


def written(session, seed, limit=10**9):
    """An artifact of both streams, with lines of all lengths, some torn between the streams."""
    drawn = random.Random(seed)
    with session.create(limit=limit, policy="roll", newline="lf") as writer:
        for _ in range(drawn.randrange(1, 600)):
            size = drawn.choice([0, 3, 50, 200, drawn.choice([200, 5000, 70_000])])
            end = b"\n" if drawn.random() < 0.97 else b""
            writer.write(b"x" * size + end, stream=drawn.choice(["stdout", "stdout", "stderr"]))
    return session.artifact(writer.id)


@pytest.mark.parametrize("limit", [10**9, 200_000])
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_all_lines_and_one_for_the_hole(session, seed, limit):
    """In every view, rows of all windows follow each other, hold what their lines begin with, and know where they stand."""
    artifact = written(session, seed, limit)
    for view in VIEWS:
        log = Log(artifact, view)
        rows = [row for first in range(0, log.total, 37) for row in log.rows(first, 37)]
        assert [row.index for row in rows] == list(range(log.total))
        assert all(one.end == two.start for one, two in itertools.pairwise(rows))
        info = artifact.info.view(view)
        assert not rows or (rows[0].start, rows[-1].end) == (0, info.size)
        for row in rows:
            if row.kind == "hole":
                assert (row.start, row.end) == (info.hole.start, info.hole.end)
                continue
            line = artifact.read_bytes(row.start, row.end, stream=view).removesuffix(b"\n")
            assert (line[:4096], len(line)) == (row.data, len(row.data) + row.cut)
            if info.hole is None:
                assert (row.number, log.row_of_line(row.number)) == (row.index + 1, row.index)
                assert log.row_of_byte(row.start) == row.index


def test_rows_know_their_places_in_other_views(session):
    """A line of one stream has its bytes in both views."""
    with session.create(newline="lf") as writer:
        for number in range(200):
            writer.write(f"out {number}\n")
            writer.write(f"err {number}\n", stream="stderr")
    artifact = session.artifact(writer.id)
    for row in Log(artifact).rows(0, 400):
        for place in row.places:
            assert artifact.read_bytes(place.start, place.end, stream=place.stream) == row.data + b"\n"
        assert {place.stream for place in row.places} == {"combined", row.stream}


def test_an_open_log_grows(session):
    """After ``refresh`` there is what was committed; a line that was not ended goes on in its row."""
    with session.create(newline="lf") as writer:
        writer.write("one\ntwo")
        writer.flush()
        log = Log(session.artifact(writer.id))
        assert [(row.data, row.ended) for row in log.rows(0, 9)] == [(b"one", True), (b"two", False)]
        writer.write(" and a half\nthree\n")
        writer.flush()
        assert log.refresh()
        assert [row.data for row in log.rows(0, 9)] == [b"one", b"two and a half", b"three"]
        assert not log.refresh()


@pytest.mark.parametrize("share", [0.001, 0.5, 0.00001])
def test_hits_are_those_of_all_lines(session, share):
    """Wherever the search begins, its count, its map and the hits beside any line are those of a plain look at each line."""
    drawn = random.Random(7)
    lines = [
        f"line {number} {'needle' if drawn.random() < share else 'hay'}\n".encode()
        for number in range(60_000)
    ]
    wanted = [number for number, line in enumerate(lines, 1) if b"needle" in line]
    log = Log(session.put(b"".join(lines)))
    hits = Hits(log, "needle", start=drawn.randrange(log.info.size))
    while not hits.run(0.01):
        assert 0 <= hits.progress <= 1
    assert (hits.lines, hits.matches, sum(hits.map(40))) == (len(wanted),) * 3
    assert hits.complete
    for line in drawn.sample(range(60_002), 20):
        assert hits.after(line) == next((each for each in wanted if each > line), None)
        assert hits.before(line) == next((each for each in reversed(wanted) if each < line), None)


@pytest.mark.long
@pytest.mark.parametrize("pattern", ["needle", "n[a-e]+dle$", "(?i)NEEDLE|\\bpin\\b"])
def test_many_hits_are_counted_by_blocks(session, monkeypatch, pattern):
    """Counts are those of a search, hits are found from everywhere, and few of them were looked at one by one."""
    drawn = random.Random(3)
    lines = []
    while len(lines) < 60_000:
        often = drawn.choice((0.0, 0.001, 0.5, 1.0))
        for _ in range(drawn.randrange(1, 30_000)):
            number = len(lines) + 1
            hit = drawn.random() < often
            lines.append(
                f"{number} \x1b[31mnee\x1b[0mdle\n" if hit and number % 50 == 0
                else f"{number} é needle and needle\n" if hit and number % 7 == 0
                else f"{number} of all that hay there is a needle\n" if hit
                else f"{number} hay, hay and more hay\n"
            )  # fmt: skip
    log = Log(session.put("".join(lines)))
    told = log.artifact.search(pattern, limit=0, cleaner=TextCleaner())
    wanted = [number for number, line in enumerate(lines, 1) if "hay," not in line]
    assert told.lines == len(wanted) > 5_000
    looked_at = []
    page = Hits._page
    monkeypatch.setattr(
        Hits, "_page", lambda *given: looked_at.append(len((found := page(*given)).matches)) or found
    )
    hits = Hits(log, pattern, start=drawn.randrange(log.info.size))
    while not hits.run(0.01):
        assert 0 <= hits.progress <= 1
    assert (hits.lines, hits.matches, sum(hits.map(40))) == (told.lines, told.total_matches, told.lines)
    assert pattern != "needle" or native_search.library() is None or sum(looked_at) < told.lines / 2
    for line in (0, 1, len(lines), *drawn.sample(range(len(lines)), 20)):
        assert hits.after(line) == next((each for each in wanted if each > line), None)
        assert hits.before(line) == next((each for each in reversed(wanted) if each < line), None)


def test_hits_of_what_has_come_since(session):
    """A search of a log that grows goes on, and counts no line twice."""
    with session.create(newline="lf") as writer:
        writer.write("needle 1\nneed")
        writer.flush()
        log = Log(session.artifact(writer.id))
        hits = Hits(log, "needle")
        assert (hits.run(), hits.lines) == (True, 1)
        writer.write("le 2\nneedle 3\n")
        writer.flush()
        log.refresh()
        assert (hits.run(), hits.lines, hits.after(1), hits.after(2)) == (True, 3, 2, 3)


def test_a_search_that_is_given_up(session):
    """It ends, is not complete, and what is not known is being searched."""
    log = Log(session.put(b"hay\n" * 10))
    hits = Hits(log, "needle")
    hits.cancel()
    assert hits.run()
    assert not hits.complete


def test_lines_that_matter_both_ways(session):
    """Each error is found from either side; behind the last there is none."""
    lines = [f"line {number} is well\n" for number in range(1, 20_001)]
    for number in (5, 9000, 20_000):
        lines[number - 1] = "src/a.c:3: error: boom\n"
    log = Log(session.put("".join(lines)))
    for look, begin, wanted in (
        (next_telling, 0, [5, 9000, 20_000]),
        (previous_telling, 20_001, [20_000, 9000, 5]),
    ):
        found, line = [], begin
        while (steps := look(log, line)).run() and steps.result is not None:
            line = steps.result
            found.append(line)
        assert found == wanted


@pytest.mark.parametrize("block", [1, 60, 1024 * 1024])
def test_lines_that_matter_and_follow_each_other_are_one_place(session, monkeypatch, block):
    """Whatever line one comes from, and however the log is cut while it is looked at, the first line of a place is gone to."""
    monkeypatch.setattr(telling, "_BLOCK", block)
    bad = {*range(1, 4), *range(10, 20), 21, *range(38, 41)}
    log = Log(session.put("".join(f"error: {n}\n" if n in bad else f"fine {n}\n" for n in range(1, 41))))
    places = [1, 10, 21, 38]
    for line in range(42):
        for look, wanted in (
            (next_telling, next((each for each in places if each > line), None)),
            (previous_telling, next((each for each in reversed(places) if each < line), None)),
        ):
            steps = look(log, line)
            assert steps.run()
            assert (line, look, wanted) == (line, look, steps.result)


def test_what_was_shown_and_what_was_left_out_are_all_lines(session):
    """The ranges follow each other from the first line to the last, and agree with the preview's text."""
    artifact = session.put("".join(f"line {number} of this\n" for number in range(1, 20_001)), source="make")
    assert what_was_seen(session, artifact).how == "nothing"
    with session.acting("model", "call_1"):
        text = render(artifact, profile("default")).text
    seen = what_was_seen(session, artifact)
    assert (seen.how, seen.actor, seen.tool_call_id) == ("recorded", "model", "call_1")
    spans = seen.spans(artifact)
    assert (spans[0].first, spans[-1].last) == (1, 20_000)
    assert all(one.last + 1 == two.first for one, two in itertools.pairwise(spans))
    log = Log(artifact)
    for span in spans:
        for number in {span.first, span.last}:
            row = log.rows(log.row_of_line(number), 1)[0]
            assert seen.mark(row) == span.mark
            assert (f"line {number} of this\n" in text) == (span.mark == "shown")


def test_what_was_read_later(session):
    """A tool's read has its range, its call and its time; the viewer's own are left out."""
    artifact = session.put("".join(f"line {number}\n" for number in range(1, 2001)))
    with session.acting("model", "call_2"):
        get_artifact(session, id=artifact.id, start_line=10, end_line=20)
    log = Log(artifact)
    log.rows(0, 5)
    log.close()
    (read,) = Reads(artifact).items
    assert (read.actor, read.tool_call_id, read.tool, read.lines) == (
        "model",
        "call_2",
        "get_artifact",
        (10, 20),
    )
    reads = Reads(artifact)
    assert [row.number for row in log.rows(0, 50) if reads.fetched(row, "combined")] == list(range(10, 21))
    assert len(Reads(artifact, viewers=True).items) == 2


def test_changes_are_those_of_diff(session):
    """The rows of a comparison are headings and changes, in any window."""
    session.put("start\na ok\nb ok\n", source="make", command="make")
    log = Log(session.put("start\na ok\nb FAILED\n", source="make", command="make"))
    changes = changes_since_last_run(session, log)
    assert changes.run()
    rows = changes.rows(0, 100)
    assert len(rows) == changes.total
    assert [row if isinstance(row, str) else (row.sort, row.line) for row in rows] == [
        "new: what matters",
        ("new", 3),
        "gone: what else",
        ("gone", 3),
    ] or [row for row in rows if not isinstance(row, str)]
    assert [each for first in range(changes.total) for each in changes.rows(first, 1)] == rows
    assert changes_since_last_run(session, Log(session.put("x", command="other"))) is None


def test_the_call_that_shows_a_place_is_one_that_works(root, plain_store, capfd):
    """The command line takes it as it is, and prints these lines."""
    import shlex

    with plain_store.session("chat 7", project="p") as session:
        log = Log(session.put("one\ntwo\nthree\n"))
        call = show_call(session, log, 1, 2)
    program, *words = shlex.split(call)
    assert program == "spillstore"
    assert _invoke(words) == 0
    assert capfd.readouterr().out == "two\nthree\n"


def test_colours_become_spans_and_all_else_is_visible():
    """SGR is read; other sequences, control characters, bad bytes and invisible characters are shown."""
    text, spans = styled_line(b"\x1b[1;31mred\x1b[38;5;200mpink\x1b[0m\x1b[2J\x00\xff\xe2\x80\xae")
    assert text == "redpink\u241b[2J\u2400\\xff<U+202E>"
    assert [(span.start, span.end, span.style) for span in spans] == [
        (0, 3, Style(1, None, frozenset({"bold"}))),
        (3, 7, Style(200, None, frozenset({"bold"}))),
    ]
    assert styled_line(b"\x1b[31mred", colours=False).text == "\u241b[31mred"


def test_a_file_of_lines(session, tmp_path):
    """It holds what is stored, is private, and takes no other file's place."""
    artifact = session.put("one\ntwo\nthree")
    target = tmp_path / "lines"
    assert export_rows(Log(artifact), target, 1, 2) == 9
    assert target.read_bytes() == b"two\nthree"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(TargetExistsError, match="choose another name"):
        export_rows(Log(artifact), target, 0, 0)


def test_artifacts_are_chosen_as_by_list(session):
    """Filters, order and limit; the totals are of all that were chosen."""
    for number in range(5):
        session.put("x" * (number + 1), command=f"make {number}", exit_code=number % 2)
    found = chosen_artifacts(session, Choice(failed=True), order="size", limit=1)
    assert ([info.command for info in found.infos], found.artifacts, found.size) == (["make 3"], 2, 6)


def test_steps_can_be_given_up():
    """What was cancelled is over and has no result."""

    def endless():
        while True:
            yield 0.5

    steps = Steps(endless())
    assert not steps.run(0)
    steps.cancel()
    assert (steps.run(), steps.result) == (True, None)
