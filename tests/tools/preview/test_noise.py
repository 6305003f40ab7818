"""What is shown beside the lines that matter: neighbours that belong to them, few other lines, and nothing of what floods."""

from __future__ import annotations

from test_novelty import overview_of, preview

from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import candidates
from spillstore_tools.preview.strategies.actionable import STRONG, score
from spillstore_tools.preview.strategies.candidate import Candidate, Near, ranked
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
    assert known == [False, False, True, True, True, True]
    assert not any(together.known(Line(n, 0, b"src/m%d.js\n" % n)) for n in range(6))


def test_signs_alone_tell_nothing_new():
    """A line of signs is of one kind, wherever the signs stand."""
    novelty = Novelty()
    found = [novelty.known(Line(n, 0, b" " * n + b"^~~~\n")) for n in range(1, 6)]
    assert found == [False, False, True, True, True]


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
    """Beside what failed at most two rare lines are shown, each alone."""
    lines = [f"copied part{n} of the list" for n in range(900)]
    lines[450] = "src/gate.c:12:5: error: no member named mass"
    for number, word in zip((100, 250, 600, 700, 800), WORDS, strict=False):
        lines[number] = f"{word} stands alone"
    text = preview(lines, ended_well=False)
    assert text.count("stands alone") == 2
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
    assert shown == [10, 8]


def passed(first, last):
    return [f"    \u2713 rounds amounts of kind {n} ({n % 9} ms)" for n in range(first, last)]


def test_a_block_unlike_the_rest_is_shown_whole():
    """What stands below a failure and is no routine of the output: both halves of a difference, all frames of a report."""
    block = [
        "  \u25cf amounts \u203a rounds amounts of kind 500",
        "",
        "    expect(received).toEqual(expected)",
        "",
        "    - Expected  - 1",
        "    + Received  + 1",
        "",
        "      Object {",
        '        "code": "E_INVALID",',
        '    -   "field": "amount",',
        '    +   "field": "total",',
        '        "retry": false,',
        "      }",
        "      at Object.<anonymous> (src/amounts.test.ts:43:13)",
    ]
    text = preview([*passed(0, 500), "FAIL src/amounts.test.ts", *block, *passed(501, 900)], ended_well=False)
    for line in block:
        assert line in text


def test_a_report_that_the_end_begins_inside_of_has_no_hole():
    """Frames that are alike are no routine of an output that has them only here."""
    frames = [line for n in range(4) for line in ("  main.add()", f"      /srv/app/main.go:{n} +0x{n}4")]
    report = ["WARNING: DATA RACE", "Read at 0x05de5c0 by goroutine 7:", *frames, "", "Previous write at 0x05de5c0 by goroutine 8:", *frames]  # fmt: skip
    text = preview([*(f"request {n} served in {n * 7} ms" for n in range(900)), *report, "Found 1 data race(s)"], ended_well=False)  # fmt: skip
    assert text.count("main.add()") == 8
    assert text.count("[...") == 1


def test_a_line_whose_number_alone_is_the_verdict():
    """Line after line counts no failures, and one that is the same but for its numbers counts some."""
    for none, some in (
        ("suite {}: 40 passed, 0 failed", "suite {}: 39 passed, 1 failed"),
        ("checked table_{}: rows=44176 errors=0", "checked table_{}: rows=4417 errors=14"),
        ("job {} finished with exit code 0", "job {} finished with exit code 3"),
        ("[INFO] Tests run: 15, Failures: 0, Errors: 0 - in T{}", "[INFO] Tests run: 15, Failures: 1, Errors: 0 - in T{}"),
        ("{} examples, 0 failures", "{} examples, 2 failures"),
    ):  # fmt: skip
        lines = [none.format(n) for n in range(900)]
        lines[611] = some.format(611)
        assert f"612: {lines[611]}\n" in preview(lines, ended_well=False)
        assert "612: " not in preview([none.format(n) for n in range(900)], ended_well=False)


def test_a_log_that_was_printed_ends_well_whatever_it_tells():
    """One answer with status 500 among others, and forty of them, stand out though the command that printed them did not fail."""
    lines = [f'10.0.{n % 9}.7 - - "GET /items/{n} HTTP/1.1" 200 {n * 7}' for n in range(3000)]
    for bad in (range(1888, 1889), range(1800, 1840)):
        text = preview([line.replace('" 200', '" 503') if n in bad else line for n, line in enumerate(lines)], ended_well=True)  # fmt: skip
        assert f'{bad[0] + 1}: 10.0.{bad[0] % 9}.7 - - "GET /items/{bad[0]} HTTP/1.1" 503' in text
    losses = [f"step {n} | loss {2 + n % 7 / 10:.2f} | {n} tok/s" for n in range(1800)]
    text = preview(
        [*losses, *(f"step {n} | loss nan | {n} tok/s" for n in range(1800, 2500))], ended_well=True
    )
    assert "1801: step 1800 | loss nan" in text


def test_what_an_indented_line_stands_below_is_shown():
    """The file that a finding is about, some lines above it."""
    lines = []
    for n in range(120):
        lines += [
            f"/app/src/part{n}.tsx",
            *(f"   {k}:8  warning  unexpected any  no-explicit-any" for k in range(5)),
        ]
    at = lines.index("/app/src/part71.tsx")
    lines.insert(at + 6, "   88:5  error  hook is called conditionally  rules-of-hooks")
    assert f"{at + 1}: /app/src/part71.tsx\n" in preview(lines, ended_well=False)


def test_the_first_frames_of_a_deep_stack_are_shown():
    """Two of them, though thousands alike follow."""
    frames = [
        line
        for n in range(900)
        for line in ("\tat com.x.Tree.walk(Tree.java:31)", "\tat com.x.Tree.visit(Tree.java:18)")
    ]
    items = [f"INFO item {n}" for n in range(800)]
    text = preview(
        [*items, 'Exception in thread "w" java.lang.StackOverflowError', *frames, *items], ended_well=False
    )
    assert (
        "StackOverflowError\n802: \tat com.x.Tree.walk(Tree.java:31)\n803: \tat com.x.Tree.visit(Tree.java:18)\n"
        in text
    )


def test_an_end_that_reports_nothing_is_short_beside_failures():
    """Twenty lines of it, where what failed is shown above."""
    prose = [f"the {one} met the {other} at noon" for one in WORDS for other in WORDS]
    text = preview(
        [*copied(names(400)), "ERROR: nothing to pack", *copied(names(400)), *prose], ended_well=False
    )
    assert text.count("at noon") == 20


def test_a_flood_of_failures_at_the_end_is_cut():
    """Two dozen of one kind are enough; before them the first cause is shown."""
    lines = [
        *(f"[{n}] migrated table t{n}" for n in range(300)),
        "[300] lock wait timeout exceeded on table t300",
    ]
    lines += [f"[{n}] ERROR could not migrate t{n}: connection is closed" for n in range(301, 900)]
    text = preview(lines, ended_well=False)
    assert "301: [300] lock wait timeout exceeded" in text
    assert 10 < text.count("connection is closed") < 30


def test_lines_that_count_failures_are_known_once_ids_are_left_out_of_keys(monkeypatch):
    """With many kinds of lines hexadecimal letters are left out, too; one that counts failures is still counted with those like it."""
    monkeypatch.setattr(candidates, "_FINE_KINDS", 16)
    kinds = [f"{one} {other} error" for one in WORDS for other in WORDS[:3]]
    counts = [f"suite {n}: 40 passed, {n % 2} failed" for n in range(12)]
    found = overview_of([*counts * 300, *kinds * 100, *counts * 300]).observer.candidates
    assert len([each for each in found if "1 failed" in each.line.text]) == 1


VERBS = ("throws", "returns", "handles", "logs", "rejects")
FAULTS = ("an error", "a failure", "an exception", "a timeout")
ENDS = ("is invalid", "has failed", "cannot be read", "is unknown", "is missing")


def told(count):
    """Tests that passed, and whose names tell of failures, all different."""
    return [
        f"    \u2714 {VERBS[n % 5]} {FAULTS[n // 5 % 4]} when {WORDS[n % 10]}{WORDS[n // 10 % 10]}{WORDS[n // 100 % 10]} {ENDS[n // 20 % 5]} (2ms)"
        for n in range(count)
    ]


def test_a_failure_among_tests_that_passed_and_are_named_for_failures():
    """Lines that count for nothing leave room for those that do, however many there are."""
    lines = told(1900)
    lines[950] = "    \u2716 refunds a part of an order (12ms)"
    lines.insert(951, "      AssertionError [ERR_ASSERTION]: 12.01 == 12")
    text = preview([*lines, "tests 1900", "pass 1899", "fail 1"], ended_well=False)
    assert "951:     \u2716 refunds a part of an order (12ms)\n952:       AssertionError" in text
    assert len(text) < 2000
    assert score(lines[0]) == 0


def test_failures_with_one_message_are_all_shown():
    """Each with the name of its test above it and its values below it."""
    tests = ("adds a part", "rounds a sum", "sends a mail", "keeps a name")
    lines = [f"[debug] query {n} took {n % 7} ms" for n in range(200)]
    for n, name in enumerate(tests):
        lines += [f"  {n + 1}) test {name} (Shop.Test)", "     Assertion with == failed", f"     left:  {n * 17}", f"     right: {n * 18 + 1}"]  # fmt: skip
        lines += [f"[debug] query {k} took {k % 7} ms" for k in range(200)]
    text = preview([*lines, "811 tests, 4 failures"], ended_well=False)
    for n, name in enumerate(tests):
        assert f") test {name} (Shop.Test)\n" in text
        assert f"     left:  {n * 17}\n" in text


def test_a_message_among_lines_of_one_kind_is_shown_once():
    """What stands beside its later ones is as everywhere."""
    lines = [f"request {n} served in {n % 7} ms" for n in range(900)]
    for n in range(100, 900, 100):
        lines[n] = f"ERROR: connection {n} was reset"
    text = preview(lines, ended_well=False)
    assert text.count("was reset") == 1
    assert "[and 7 more like this, to line 801]" in text


def test_text_that_goes_on_is_no_block():
    """Steps behind a warning, each said once in the output, are shown as far as neighbours are, not to their end."""
    steps = ["looking for old files", "saving the environment", "checking whether all fits", "preparing documents", "copying assets", "copying static files", "writing a template", "copying extra files", "all assets are there", "writing output", "writing the index"]  # fmt: skip
    read = [f"reading sources [{n}%] page{n}" for n in range(400)]
    text = preview([*read, "page7.rst:4: ERROR: unknown document: harbours", *steps, *read], ended_well=False)
    assert steps[4] in text
    assert not any(step in text for step in steps[6:])


def test_both_halves_of_a_difference_are_shown():
    """However far its lines are from the line that tells of it, behind another failure, and whatever stands elsewhere."""
    block = [
        "2) CartTest::total",
        "Failed asserting that two strings are identical.",
        "--- Expected",
        "+++ Actual",
        "@@ @@",
        "-'EUR 12.30'",
        "+'EUR 12.3'",
    ]
    others = [
        f"{n}) Old{WORDS[n % 10]}::{WORDS[n // 10]}\nshould return {WORDS[n // 10]}\n" for n in range(100)
    ]
    first = [
        "There was 1 error:",
        "",
        "1) ImportTest::reads",
        "TypeError: open(): Argument #1 must be a string",
    ]
    text = preview([*others[:50], *first, "", "--", "", *block, "", "/src/cart.php:77", "", *others[50:]], ended_well=False)  # fmt: skip
    for line in block:
        assert line in text


def test_the_heading_of_a_failure_far_below_it_is_shown():
    """A line that signs set apart, the first one behind a blank one."""
    lines = []
    for n in range(40):
        lines += [f"TASK [{WORDS[n % 10]} : step of {WORDS[n // 10]}] *******************", *(f"ok: [web{host:02}]" for host in range(30)), ""]  # fmt: skip
    at = lines.index("TASK [fjord : step of basil] *******************")
    lines[at + 25] = 'fatal: [web24]: FAILED! => {"msg": "no such archive"}'
    text = preview(lines, ended_well=False)
    assert f"{at + 1}: {lines[at]}\n" in text
    assert f"{at + 26}: {lines[at + 25]}\n" in text
    assert "TASK [grove : step of basil]" not in text


def test_answers_that_failed_among_those_that_were_not_found():
    """Lines of a log that differ from others in their status alone, also two in a row, and one behind thousands not found."""
    for form in (
        '10.0.{0}.7 - - "GET /items/{0} HTTP/1.1" {1} 311',
        'INFO:     10.0.{0}.7:40 - "GET /items/{0} HTTP/1.1" {1} Done',
    ):
        lines = [form.format(n, 404 if n % 3 else 200) for n in range(6000)]
        for bad in ((4444,), (4444, 4445), range(4444, 4484)):
            changed = [form.format(n, 502) if n in bad else line for n, line in enumerate(lines)]
            text = preview(changed, ended_well=True)
            assert f"4445: {form.format(4444, 502)}\n" in text
            if len(bad) > 1:
                assert f"[and {len(bad) - 1} more like this, to line {4444 + len(bad)}]" in text


def test_words_in_passing_are_left_out_behind_what_is_sure():
    """Beside three that are sure, a fourth line that only holds a word is shown where it stands near one of them."""
    calm = [f"request {n} served in {n % 7} ms" for n in range(200)]
    sure = ["TypeError: total is not a function", "Traceback (most recent call last):", "panic: out of range"]
    lines = [*calm]
    for line in sure:
        lines += [line, *calm]
    passing = "the third mirror refused, others went on"
    assert STRONG <= score(passing) < min(map(score, sure))
    assert passing not in preview([*lines, passing, *calm], ended_well=False)
    assert passing in preview([*calm, sure[0], *calm, sure[1], *calm, sure[2], "again", "again", passing, *calm], ended_well=False)  # fmt: skip


def test_an_end_behind_equal_lines_is_short_beside_failures():
    """Beyond twenty lines nothing is shown behind lines that are shown as one; where no line reports a failure, it is."""
    steps = [f"{WORDS[n % 10]} {WORDS[n // 10]} was moved" for n in range(60)]
    end = ["waiting for the lock"] * 300
    calm = [f"request {n} served in {n % 7} ms" for n in range(900)]
    assert steps[-1] in preview([*calm, *steps, *end], ended_well=False)
    assert steps[-1] not in preview([*calm, "ERROR: it broke", *calm, *steps, *end], ended_well=False)


def near(lines, at, block):
    """The numbers of the lines around one, that are shown with it."""
    around = [Line(number, 0, f"{line}\n".encode()) for number, line in enumerate(lines)]
    candidate = Candidate(around[at], STRONG, "", around, 0, block=frozenset(block))
    return [line.number for line in candidate.near(Near(1, 4))]


def test_where_a_block_ends():
    """Behind lines without its form, at lines that are routine; a difference goes on as far as its lines are below its first."""
    frames = ["went well", "panic: no such part", *[f"  at part {n}" for n in range(8)], "went on"]
    assert near(frames, 1, range(1, 10)) == list(range(10))
    assert near(frames, 1, ()) == list(range(6))
    steps = ["went well", "panic: no such part", *[f"step {'abcdefgh'[n]}" for n in range(8)], "went on"]
    assert near(steps, 1, range(1, 11)) == list(range(6))
    assert near([*steps[:7], "went on"], 1, range(1, 7)) == list(range(7))
    halves = ["went well", "Failed:", "--- Expected", "+++ Actual", "@@ @@", "-one", "+two", "", "went on"]
    assert near(halves, 1, ()) == list(range(7))


def test_later_lines_of_all_kinds_are_few(monkeypatch):
    """However many messages stand again and again among others, as many of them are kept as there is room for in all."""
    monkeypatch.setattr(candidates, "_AGAIN_IN_ALL", 10)
    finder = candidates.CandidateFinder()
    lines = []
    for turn, verb in enumerate(VERBS):
        for kind in WORDS:
            lines += [
                f"{verb} the {kind} of another {WORDS[turn]}",
                f"ERROR: {kind} is broken",
                f"{verb} it again",
            ]
    scan = Scan(head_chars=2000, tail_chars=2000, observer=finder)
    scan.feed("".join(f"{line}\n" for line in lines).encode())
    scan.finish()
    assert len(finder.candidates) == len(WORDS)
    assert sum(len(each.again) for each in finder.candidates) == 10
