"""What is shown beside the lines that matter: neighbours that belong to them, few other lines, and nothing of what floods."""

from __future__ import annotations

from test_novelty import overview_of, preview

from spillstore_tools.preview.strategies.actionable import STRONG, score
from spillstore_tools.preview.strategies.candidate import ranked
from spillstore_tools.preview.strategies.novelty import Novelty
from spillstore_tools.preview.text.lines import Line

WORDS = ("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty")


def copied(names):
    return [f"'./{name}.py' -> '/var/cache/steps/{name}.py'" for name in names]


def names(count):
    return [f"{WORDS[n % 10]}_{WORDS[n // 10 % 10]}_{WORDS[n // 100 % 10]}" for n in range(count)]


def warnings(first, last):
    """A warning of four lines for each file."""
    return [
        line
        for number in range(first, last)
        for line in (
            f"cc -Wall -c -o part_{number}.o part_{number}.c",
            f"part_{number}.c:3:7: warning: unused variable spare",
            "    3 |   int spare = x;",
            "      |       ^~~~~",
        )
    ]


def test_neighbours_that_flood_the_output():
    """Of neighbours that are as the rest of the output, two above a line that matters are shown, and none below it."""
    lines = [*warnings(0, 40), "part_40.c:9:2: error: no member named mass", *warnings(41, 80)]
    text = preview(lines, ended_well=False)
    _, _, behind = text.partition("error: no member named mass\n")
    assert behind.startswith("[... ")
    assert text.count("warning: unused") <= 7


def test_neighbours_that_are_like_nothing_else():
    """What stands around a line that matters, and nowhere else, is shown with it."""
    around = [
        "while moving the pallet",
        "ERROR: the crane has stopped",
        "  load: forty tons",
        "  wind: a gale",
    ]
    text = preview([*warnings(0, 40), *around, *warnings(41, 80)], ended_well=False)
    for line in around:
        assert f": {line}\n" in text


def test_names_of_files_are_no_news():
    """A line that differs from those beside it in the name of a file alone is not shown where something failed."""
    lines = [*copied(names(300)), *copied(["types"]), *copied(names(300))]
    lines += [f"{name} types" for name in names(60)]
    text = preview([*lines, "ERROR: nothing to pack", *copied(names(200))], ended_well=False)
    assert "ERROR: nothing to pack" in text
    assert "'./types.py'" not in text


def test_rare_lines_beside_a_failure():
    """Where a failure is shown, lines that only begin something else are not; one that breaks a pattern is."""
    phases = ["reading the plan", "drawing the walls", "counting the bricks", "painting the doors"]
    lines = []
    for at, phase in enumerate(phases):
        lines += [phase, "please wait"]
        lines += [f"{WORDS[at]} {n} is in its place" for n in range(80)]
        if at == 1:
            lines += ["basil 81 was nowhere"]
            lines += [f"basil {n} is in its place" for n in range(82, 160)]
        if at == 2:
            lines += ["ERROR: the wall has fallen"]
    text = preview(lines, ended_well=False)
    assert "ERROR: the wall has fallen" in text
    assert "basil 81 was nowhere" in text
    assert "drawing the walls" not in text


def test_warnings_beside_a_failure():
    """Of warnings, each of a kind of its own, a few are shown beside a failure, without what stands around them."""
    lines = [f"step {n} is done" for n in range(2000)]
    for at, word in enumerate(WORDS):
        lines[130 * at + 60] = f"warning: {word} is {WORDS[9 - at]} and {WORDS[(3 * at + 1) % 10]}"
    lines[1380] = "ERROR: the ship is lost"
    text = preview(lines, ended_well=False)
    assert "ERROR: the ship is lost" in text
    assert 0 < text.count("warning: ") <= 6


def test_words_in_passing_and_a_kind_of_times():
    """Lines that share nothing but a time are no flood: one of them that reports a failure is shown before all others."""
    lines = [
        f"2022-05-07T08:47:{n % 60:02}.{n}Z {WORDS[n % 10]}{n % 7} {WORDS[n // 10 % 10]} {WORDS[n // 100 % 10]} of {WORDS[n * 7 % 10]}"
        for n in range(900)
    ]
    lines[700] = "2022-05-07T08:49:38.2847211Z fatal: unsafe repository is owned by someone else"
    assert "fatal: unsafe repository" in preview(lines, ended_well=False)


def test_the_end_begins_near_its_failure():
    """Of the end no more is shown than a few lines above the first of those in it that report a failure."""
    lines = [f"{word} and {other} went to sea" for word in WORDS for other in WORDS] * 3
    text = preview([*lines, "FAILED: the harbour is closed", "see you tomorrow"], ended_well=False)
    _, _, end = text.rpartition(" ...]\n")
    assert end.endswith("FAILED: the harbour is closed\nsee you tomorrow\n")
    assert end.count("went to sea") == 20


def test_a_run_that_went_well_and_printed_errors():
    """A run that says at its end that it went well, and did, is told briefly, errors that it has logged on the way included."""
    lines = [
        line
        for n in range(200)
        for line in (f"PASS test/part{n}.js", "  console.error", f"    Error: expected {WORDS[n % 10]} {n}")
    ]
    lines += [f"PASS test/last{n}.js" for n in range(30)]
    text = preview([*lines, "", "Tests:       321 passed, 321 total"], ended_well=True)
    assert len(text) < 2500
    assert text.endswith("Tests:       321 passed, 321 total\n")


def test_a_verdict_with_failures_is_none_of_success():
    """Passed tests at the end do not hide that one failed."""
    lines = [f"test {n} is through" for n in range(600)]
    lines[300] = "E       assert 3 == 4"
    lines[301] = "test_sum.py:7: AssertionError"
    assert "E       assert 3 == 4" in preview([*lines, "1 failed, 599 passed in 3 s"])


def test_a_name_among_other_lines():
    """Lines that are one name are told as names where they stand together, and as any other kind where they do not."""
    apart, together = Novelty(), Novelty()
    known = []
    for n in range(6):
        known.append(apart.known(Line(3 * n + 1, 0, b"src/m%d.js\n" % n)))
        apart.known(Line(3 * n + 2, 0, b"  1:1  warning  no use\n"))
    assert known == [False, False, False, True, True, True]
    assert not any(together.known(Line(n, 0, b"src/m%d.js\n" % n)) for n in range(6))


def test_signs_alone_tell_nothing_new():
    """A line of signs is of one kind, wherever the signs stand."""
    novelty = Novelty()
    found = [novelty.known(Line(n, 0, b" " * n + b"^~~~\n")) for n in range(1, 6)]
    assert found == [False, False, False, True, True]


def test_ends_do_not_go_on_from_hole_to_hole():
    """An end is over where what is left out of it has become much, however short each piece of it is."""
    part = [f"ok {n} - column {n}" for n in range(15)]
    lines = [line for n in range(40) for line in (f"t/{n}-page.t ..", *part, "1..15", "fine")]
    text = preview([*lines, "not ok 3 - the odd one", *lines], ended_well=False)
    assert "not ok 3 - the odd one" in text
    assert text.count("[... ") <= 6


def test_the_order_of_what_is_shown():
    """The first failure comes first, then others by how sure they are."""
    lines = [f"step {n} is done" for n in range(200)]
    lines[50], lines[90], lines[120] = "ERROR: first", "2 tests failed", "src/a.c:7:1: error: second"
    best = overview_of(lines).observer.best(ended_well=False)
    assert ranked(best)[0].line.number == 51


def test_conflicts_in_other_languages():
    """A conflict is told in many languages, and so is that there is none."""
    for line in (
        "KONFLIKT (zawartość): w satz-7",
        "CONFLIT (contenu)",
        "CONFLICTO (contenido)",
        "冲突: 内容",
        "충돌 (내용)",
    ):
        assert score(line) >= STRONG
    for line in ("keine Konflikte", "aucune erreur", "ohne Fehler beendet", "sin conflictos"):
        assert score(line) == 0


def test_the_beginning_ends_where_lines_are_left_out():
    """Behind twenty lines and a marker nothing more of the beginning is shown, but what reports a failure."""
    lines = [f"{word} and {other} went to sea" for word in WORDS[:3] for other in WORDS[:7]]
    rows = [f"PASS test/part{n}.js" for n in range(12)]
    text = preview([*lines, *rows, "the harbour opens", *[f"PASS test/more{n}.js" for n in range(900)]])
    assert text.count("went to sea") == len(lines)
    assert "\nthe harbour opens" not in text


def test_rare_lines_beside_failures():
    """Beside what failed at most three rare lines are shown, each alone."""
    lines = [f"copied part{n} of the list" for n in range(900)]
    lines[450] = "src/gate.c:12:5: error: no member named mass"
    for number, word in zip((100, 250, 600, 700, 800), WORDS, strict=False):
        lines[number] = f"{word} stands alone"
    text = preview(lines, ended_well=False)
    assert text.count("stands alone") == 3
    assert "\n101: " + lines[100] + "\n[..." in text


def test_source_code_that_is_shown_is_no_failure():
    """A directive of a preprocessor, and a check that looks for something and finds that it is not there."""
    for line in ('#  error "A C++ compiler has been selected"', "-- Looking for strlcpy - not found"):
        assert score(line) == 0
    assert score('part.c:3:2: error: #error "no such target"') > 0


def test_a_line_that_does_not_explain_itself():
    """Around the first line that matters more is shown where it names no place, and less where it says all."""
    crew = [f"{word} and {other} have lifted" for word in WORDS for other in WORDS] * 5
    shown = []
    for line in ("something went wrong, 3 failed", "src/gate.c:12:5: error: no member named mass"):
        text = preview([*crew, line, *crew], ended_well=False)
        shown.append(sum(": " in each and each.endswith("lifted") for each in text.splitlines()))
    assert shown == [13, 10]
