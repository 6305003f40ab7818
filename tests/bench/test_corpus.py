"""The corpus of the benchmark of previews: what is needed stands in the outputs, and scores count what they claim to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import benchmarks.corpus.makers  # noqa: F401  # registers all cases
import pytest
from benchmarks.corpus import make, needed_held_out, needed_seen, rows, scoring
from benchmarks.corpus.case import CASES, KINDS, Case, Place, half
from benchmarks.corpus.needed import Copies, Needed, clean, decoded, lines_of, needed, problems
from benchmarks.corpus.peers import PEERS, grep, head_and_tail, last_50_kb, tail

if TYPE_CHECKING:
    from pathlib import Path

QUICK = (
    "bash-silent-last-command",
    "python-chained-traceback",
    "json-array-of-jobs",
    "utf16-import-log",
    "grep-todo-in-many",
    "success-retries",
)


def output(text: str, wanted: Needed, kind: str = "test") -> scoring.Output:
    """An output with that text."""
    return scoring.output_of(Case("made", kind, "en", (), lambda place: None), text.encode(), wanted)


def numbered(count: int) -> list[str]:
    """Lines that are all different."""
    return [f"line {number} of the output" for number in range(count)]


# --- the collection ---------------------------------------------------------------------------------------


def test_names_alone_decide_the_half() -> None:
    """The rule is fixed: changing it would move outputs that were looked at into the other half."""
    assert half("pytest-one-wrong-sum") == "held_out"
    assert half("vitest-snapshot") == "seen"


def test_each_output_has_its_needed_lines_in_the_file_of_its_half() -> None:
    """No name is missing or stands in both files."""
    files = {"seen": needed_seen.NEEDED, "held_out": needed_held_out.NEEDED}
    for name, found in files.items():
        assert set(found) == {case.name for case in CASES.values() if case.half == name}


def test_there_are_enough_of_each_kind_and_language() -> None:
    """At least 120 outputs, all kinds in both halves, seven languages beside English."""
    assert len(CASES) >= 120
    for name in rows.HALVES:
        assert {case.kind for case in CASES.values() if case.half == name} == set(KINDS)
    languages = Counter(case.language for case in CASES.values())
    assert {"de", "fr", "ja", "ko", "pl", "pt", "zh"} < set(languages)
    assert min(languages.values()) >= 5


def test_needed_lines_stand_in_what_was_made() -> None:
    """Once each, unless they say that they are copied. Other versions of tools may say one in ten in other words."""
    made = {name: path.read_bytes() for name, case in CASES.items() if (path := make.path_of(case)).exists()}
    found = {
        name: problems(lines_of(decoded(data)), rows.NEEDED[CASES[name].half][name])
        for name, data in made.items()
    }
    wrong = {name: told for name, told in found.items() if told}
    assert len(wrong) <= len(made) / 10, wrong


def test_an_output_without_its_needed_lines_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rates would say something about the versions of tools."""
    monkeypatch.setattr(make, "OUTPUTS", tmp_path)
    good, bad = "bash-silent-last-command", "vitest-snapshot"
    monkeypatch.setattr(rows, "CASES", {name: CASES[name] for name in (good, bad)})
    for name, text in (
        (good, "+ grep -q 'shards: 400' summary.txt\n+ printf 'shards: 399\\n'\n"),
        (bad, "else\n"),
    ):
        path = make.path_of(CASES[name])
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    outputs, skipped = rows.load()
    assert [one.case.name for one in outputs] == [good]
    assert skipped == {bad: "its needed lines are not where they should be"}


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_needed_lines_stand_in_what_is_made_now(name: str, tmp_path: Path) -> None:
    """Outputs that take no time are made anew, longer than a preview."""
    if CASES[name].missing:
        pytest.skip(f"missing: {CASES[name].missing}")
    place = Place(tmp_path)
    CASES[name].fill(place)
    text = decoded(bytes(place.output))
    assert len(text) > scoring.LIMIT
    assert problems(lines_of(text), rows.NEEDED[CASES[name].half][name]) == []


def test_what_cannot_be_made_is_skipped_with_its_reason() -> None:
    """A command that no machine has."""
    case = Case("never", "test", "en", ("no-such-command-anywhere",), lambda place: None)
    assert make.make([case]) == [make.Made(case, b"", "missing: no-such-command-anywhere")]


# --- patterns ---------------------------------------------------------------------------------------------


def test_lines_are_cleaned() -> None:
    """Colours, control characters and runs of blanks say nothing; a CR ends a line as LF does."""
    assert clean("\x1b[31m  error:\t two   words\x1b[0m\x07 ") == "error: two words"
    assert lines_of("a\rb\r\nc\n") == ["a", "b", "c", ""]


def test_utf_16_is_read_as_its_mark_says() -> None:
    """Other bytes are UTF-8."""
    assert decoded("zwölf".encode("utf-16")) == "zwölf"
    assert decoded("zwölf".encode()) == "zwölf"


def test_a_pattern_that_is_not_where_it_should_be_is_told() -> None:
    """Nowhere, or in two lines without saying so."""
    lines = ["one", "two", "two"]
    assert problems(lines, needed("one", Copies("two"), ("gone", "one"))) == []
    assert problems(lines, needed("two", "gone")) == ["2 times: 'two'", "nowhere: ('gone',)"]
    assert problems(["a  b"], needed("a  b")) == ["1 times: 'a  b'"]


# --- scores -----------------------------------------------------------------------------------------------


def test_first_cause_and_needed_lines_are_counted_apart() -> None:
    """One of several patterns is enough for a needed line; the first cause is one of the needed lines."""
    made = output(
        "\n".join(numbered(50)), needed(("line 7 of", "line 8 of"), "line 9 of", "line 30 of", "line 40 of")
    )
    score = scoring.score(made, "line 8 of the output\nline 40 of the output")
    assert (score.first, score.needed, score.length) == (True, 0.5, 42)
    assert scoring.score(made, "line 9 of the output").first is False


def test_of_a_success_no_first_cause_is_asked() -> None:
    """What is needed of it is its last word."""
    score = scoring.score(output("a\nb\n12 passed\n", needed(None, "12 passed")), "12 passed")
    assert (score.first, score.needed) == (None, 1.0)


def test_noise_is_what_stands_in_the_middle_far_from_what_is_needed() -> None:
    """Head, tail, notices and what is near count for nothing."""
    lines = numbered(400)
    made = output("\n".join(lines), needed("line 200 of"))
    shown = [*lines[:30], "[100 lines]", *lines[150:152], "[more]", *lines[196:206], "[more]", *lines[360:]]
    score = scoring.score(made, "\n".join(shown))
    assert (score.middle, score.noise) == (12, 2)
    assert scoring.score(made, "\n".join(lines)).middle == 0
    assert scoring.score(made, "\n".join(lines[-50:])).middle == 0


def test_folding_near_the_ends_makes_no_noise() -> None:
    """The first and last lines of the output belong to head and tail behind a hole, too."""
    lines = numbered(400)
    made = output("\n".join(lines), needed("line 200 of"))
    score = scoring.score(
        made, "\n".join([*lines[:3], "[5 alike]", *lines[8:12], "[more]", *lines[385:387], *lines[399:]])
    )
    assert score.middle == 0


def test_what_leads_to_the_last_line_is_the_tail_wherever_else_it_stands() -> None:
    """The same lines in the middle of the output are not taken for it, and notices may follow; without a tail all lines count."""
    lines = [*numbered(200), *numbered(200)]
    made = output("\n".join(lines), needed("nothing like this"))
    shown = [*lines[:5], "[more]", *lines[-60:], "[exit code 1]"]
    assert scoring.score(made, "\n".join(shown)).middle == 0
    assert scoring.score(made, "\n".join([*shown[:-2], "[more]"])).middle == 59


def test_progress_that_was_written_over_makes_no_hole() -> None:
    """What a terminal does not show any more need not be shown, and is no line between others."""
    lines = numbered(400)
    bar = "\r".join(f"{percent} %" for percent in range(100)) + "\rdone\r"
    made = output("\n".join([*lines[:360], bar, *lines[360:]]), needed("line 200 of"))
    score = scoring.score(made, "\n".join([*lines[:3], "[more]", *lines[340:360], "done", *lines[360:]]))
    assert score.middle == 0


def test_a_repeated_line_is_found_where_its_neighbours_are() -> None:
    """Of several places the one counts from which most lines in a row are shown."""
    lines = ["start", *["same"] * 50, *numbered(40), "same", "cause", "effect", *numbered(30)]
    assert scoring.aligned(lines, ["start", "[more]", "same", "cause", "effect"]) == [0, 91, 92, 93]


def test_numbered_and_clipped_lines_are_found() -> None:
    """A preview may put the number of a line before it, and may clip what is long."""
    lines = [*numbered(10), "x" * 300, *numbered(20)[10:]]
    assert scoring.aligned(lines, ["4: line 3 of the output", "11: " + "x" * 80 + "…", "x" * 200]) == [3, 10]


def test_small_outputs_and_samples_are_left_out_where_they_say_nothing() -> None:
    """Rates are of outputs that a preview must cut; the middle of a listing is a sample; lengths are of tests and builds."""
    long = "\n".join(numbered(800))
    test = output(long, needed("line 200 of"))
    listing = output(long, needed("line 200 of"), "listing")
    small = output("line 200 of the output", needed("line 200 of"))
    preview = "\n".join([*numbered(800)[:5], *numbered(800)[195:206], *numbered(800)[300:311]])
    total = scoring.total((one, scoring.score(one, preview)) for one in (test, listing, small))
    assert total == scoring.Total(first=1.0, needed=1.0, noise=0.5, length=len(preview))


def test_peers_cut_as_they_say() -> None:
    """Each keeps what it names."""
    text = "\n".join([*numbered(2000), "Fatal: no room", "next", "and next", *numbered(2000)])
    assert tail(text) == text[-8000:]
    assert len(head_and_tail(text)) == 8001
    assert grep(text) == "Fatal: no room\nnext\nand next"
    assert last_50_kb(text) == text[-51200:]
    assert len(PEERS) == 4


def test_a_missed_aim_is_a_row_that_says_so() -> None:
    """The first cause of none of two outputs is shown."""
    made = [output("\n".join(numbered(800)), needed("line 400 of")) for _ in range(2)]
    found = list(rows.rows_of("seen", made, 3, lambda data: "nothing"))
    assert found[0].what == "first cause not shown: seen, 2 outputs"
    assert (found[0].ours, found[0].verdict, found[0].extra["skipped"]) == (1.0, "MISS", 3)
    assert {row.peer_name for row in found if row.peer is not None} == set(PEERS)
    assert all(row.correct for row in found)
    assert not any(row.correct for row in rows.rows_of("seen", made, 0, lambda data: "x" * 8001))
