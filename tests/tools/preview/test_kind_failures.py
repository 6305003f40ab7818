"""No kind of output hides a line that tells of a failure: what is no row of it is shown, what is one is left to it."""

from __future__ import annotations

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_changes import tree
from test_findings import FORMS, findings, quoted, reports
from test_kinds import KINDS, data_of, first_line, parts_of, shown
from test_tables import PROCESSES, RELEASES, padded, processes, releases, right

from spillstore_tools.preview.parts import length_of, text_of

FAILURES = (
    "FATAL: the disk is gone",
    "fatal: bad object refs/heads/broken",
    "Error: cannot allocate memory",
    "panic: runtime error: index out of range [5] with length 3",
    "./run.sh: line 7: 4242 Segmentation fault (core dumped)",
    "java.lang.IllegalStateException: no connection",
)


def history(count=600, length=8):
    """As ``git log --oneline`` prints it."""
    ids = (hashlib.sha256(b"%d" % n).hexdigest()[:length] for n in range(count))
    words = ("Add", "Rename", "Drop", "Move", "Speed up")
    return [f"{each} {words[n % 5]} part {n} of the parser" for n, each in enumerate(ids)]


def boxed(rows=400):
    """As a shell of a database draws it."""
    return [
        "┌─────┬──────────┬───────┐",
        "│ id  │   name   │ score │",
        "├─────┼──────────┼───────┤",
        *(f"│ {n:<3} │ user {n:<3} │ {2 * n:<5} │" for n in range(rows)),
        "└─────┴──────────┴───────┘",
    ]


def ruled(rows=400):
    return [
        "Name        State    Description",
        "=========== ======== ==========================",
        *(f"package{n:<4} {'ok' if n % 3 else 'held':<8} library of part {n}" for n in range(rows)),
    ]


def document(sections=120):
    return [
        line
        for n in range(sections)
        for line in (f"## Section {n}", "", f"Words of section {n}, and what they mean.", "")
    ]


def source(count=90):
    return [
        line
        for n in range(count)
        for line in (f"def part_{n}(value):", *["    value += 1"] * 9, "    return value", "", "")
    ]


def patches(count=40):
    return [
        line
        for n in range(count)
        for line in (
            f"diff --git a/f{n}.c b/f{n}.c",
            f"--- a/f{n}.c",
            f"+++ b/f{n}.c",
            "@@ -1,10 +1,10 @@",
            *(f"{sign}line {at}" for at in range(10) for sign in "-+"),
        )
    ]


ALL = {
    **KINDS,
    "[600 commits, one a line": history,
    "tree of ": tree,
    "changes of 900 files": lambda: [f" src/f{n}.c | {n % 90 + 1} {'+' * (n % 40 + 1)}" for n in range(900)],
    "statuses of ": lambda: [f" M src/part{n % 5}/file_{n}.c" for n in range(900)],
    "600 findings": lambda: findings(*FORMS["shellcheck"]),
    "a table: 400 rows of 3 columns: id (number), name": boxed,
    "a table: 400 rows of 3 columns: Name, State": ruled,
    "400 findings": quoted,
    "300 findings": reports,
    "a table: 300 rows of 5 columns: NAME, REVISION (number), LAST CHANGE": lambda: padded(
        RELEASES, releases()
    ),
    "a table: 300 rows of 6 columns: PID (number), USER (": lambda: right(
        PROCESSES, processes(), left=(1, 5)
    ),
    "TSV: 900 rows of 2 columns": lambda: [f"{n * 4}\t/usr/share/part{n}" for n in range(900)],
    "Markdown, ": document,
    "python, ": source,
    "diff of ": patches,
}


@pytest.mark.parametrize("words", ALL)
def test_a_failure_in_the_middle_of_each(words):
    """What another program has printed between the rows is shown with its number; the kind stays what it is, or is text."""
    lines = ALL[words]()
    assert words.strip("[") in first_line(data_of(lines))
    for failure in FAILURES:
        middle = len(lines) // 2
        text = shown(data_of([*lines[:middle], failure, *lines[middle:]]))
        assert failure in text
        assert f"\n{middle + 1}: {failure}\n" in text or words.startswith(("HTML", "Markdown"))


@given(
    words=st.sampled_from(list(ALL)),
    place=st.floats(0.05, 0.95),
    failures=st.lists(st.sampled_from(FAILURES), min_size=1, max_size=4, unique=True),
    limit=st.integers(2500, 9000),
)
def test_failures_anywhere(words, place, failures, limit):
    """Wherever they stand, in previews that have room, and however the bytes came."""
    lines = ALL[words]()
    at = int(place * len(lines))
    data = data_of([*lines[:at], *failures, *lines[at:]])
    parts = parts_of(data, limit=limit)
    assert failures[0] in text_of(parts)
    assert parts == parts_of(data, limit=limit, feed=4097)


def test_the_lines_around_a_failure_that_are_no_rows_either():
    """A traceback between two rows is shown whole."""
    lines = history()
    traceback = [
        "Traceback (most recent call last):",
        '  File "/srv/hook.py", line 3, in <module>',
        "    main()",
        "KeyError: 'ref'",
    ]
    text = shown(data_of([*lines[:300], *traceback, *lines[300:]]))
    assert "\n".join(f"{300 + n}: {line}" for n, line in enumerate(traceback, 1)) in text
    assert f"\n301: {traceback[0]}" in text
    assert lines[299] not in text


@pytest.mark.parametrize(
    "lines",
    [
        [f"src/part{n % 9}.py:{n}:    raise Error('cannot load {n}')" for n in range(900)],
        [
            f"{each} Fix error: crash when the disk is full, part {n}"
            for n, each in enumerate(x[:8] for x in history())
        ],
        [line.replace("library of part", "fatal error: handling of part") for line in ruled()],
        [line.replace("    value += 1", "    raise ValueError('cannot')") for line in source()],
    ],
)
def test_such_words_in_rows(lines):
    """A search for errors, a history of mended ones, a text column and source code are what they are."""
    plain = parts_of(data_of(lines))
    assert not any("more like this" in part.text for part in plain)
    assert length_of(plain) < 6000


def test_a_row_is_odd_by_its_columns():
    """A description that speaks of errors makes a row no odd one."""
    lines = ruled()
    lines[200] = "package198  ok       AddressSanitizer: a fatal error detector"
    text = shown(data_of(lines))
    assert "error detector" not in text


LOOK_ALIKES = {
    "seconds": [f"{1732766400 + n} worker-{n % 5} copied part {n}" for n in range(900)],
    "days": [f"20261128 03:{n // 60:02}:{n % 60:02} copied part {n}" for n in range(900)],
    "steps": [f"{n:07} step done" for n in range(900)],
    "jobs": [
        f"{hashlib.sha256(b'%d' % (n // 2)).hexdigest()[:10]} job {'ended' if n % 2 else 'begun'} on node {n % 7}"
        for n in range(900)
    ],
    "requests": [
        f"{hashlib.sha256(b'%d' % n).hexdigest()[:12]} GET /api/items/{n} 200 {n % 90}ms" for n in range(900)
    ],
    "sums": [f"{hashlib.md5(b'%d' % n).hexdigest()}  src/file_{n}.c" for n in range(900)],
    "short sums": [
        f"{zip_sum:x}  file_{n}.bin: OK"
        for n, zip_sum in enumerate(random.Random(1).sample(range(2**31), 900))
    ],
    "levels": [f"{hashlib.sha256(b'%d' % n).hexdigest()[:8]} INFO copied part {n}" for n in range(900)],
    "containers": [
        f"{hashlib.sha256(b'%d' % n).hexdigest()[:12]}   nginx:1.{n}   Up {n} hours   80/tcp"
        for n in range(900)
    ],
    "counted": [f"{0xDEAD000 + 0x11F * n:07x} part {n} was read" for n in range(900)],
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_lines_that_begin_with_hexadecimal_digits_are_no_history(name):
    """Times, counters, requests, sums of files: an error among them is shown, as in any text."""
    lines = list(LOOK_ALIKES[name])
    lines[450] = lines[450].split()[0] + " FAILED: disk full while writing part 450: ENOSPC"
    text = shown(data_of(lines))
    assert "commit" not in text.split("\n")[0]
    assert f"\n451: {lines[450]}\n" in text


@pytest.mark.parametrize("length", [7, 9, 40])
def test_a_history_however_long_its_ids_are(length):
    """With branches drawn beside it and names behind the ids, and a few ids that are longer than the others."""
    lines = history(length=length)
    lines[3] = lines[3].replace(" ", " (HEAD -> main, tag: v1.0) ", 1)
    lines[4] = "a" * (length < 40) + lines[4]
    assert first_line(data_of(lines)) == "[600 commits, one a line]"
    drawn = [f"| * {line}" if n % 3 else f"* {line}" for n, line in enumerate(lines)]
    drawn.insert(6, "|/  ")
    assert first_line(data_of(drawn)) == "[600 commits, one a line]"


def test_rows_are_counted():
    """What stands below a table, blank lines and rulers are no rows; a header that comes again is none either."""
    rows = [f" {n:3} | user {n:<4} | {2 * n:5} " for n in range(1, 900)]
    rows[232] = " 233 | user 233  |       "
    lines = [" id  |   name    | score ", "-----+-----------+-------", *rows, "(899 rows)", ""]
    assert first_line(data_of(lines)) == (
        "[a table: 899 rows of 3 columns: id (number), name, score (number); 1 row unlike the others; 1 other line]"
    )
    pages = ["PID TTY STAT COMMAND", *(f"{n:3} ?   Ss   worker {n} --all" for n in range(100))] * 5
    assert first_line(data_of(pages)).startswith("[a table: 500 rows of 4 columns: ")
    assert "unlike" not in first_line(data_of(pages))


def test_a_cell_of_several_words_is_odd():
    """Where each cell is one word, a row with one more is unlike the others, and each of them is counted."""
    lines = [
        "NAME             READY  STATUS   RESTARTS        AGE",
        *(f"web-{number:05}        1/1    Running  0               {number % 60}d" for number in range(300)),
    ]
    lines[100] = "web-00099        1/1    Running  3 (4d ago)      37d"
    lines[200] = "web-00199        0/1    Waiting  57 (2m11s ago)  14d"
    text = shown(data_of(lines))
    assert "; 2 rows unlike the others]" in text.split("\n")[0]
    assert all(f"\n{n + 1}: {lines[n]}\n" in text for n in (100, 200))


def test_a_table_in_a_drawn_box():
    """Its rows are counted, and the one with an empty cell is shown."""
    lines = boxed()
    lines[236] = "│ 233 │ user 233 │       │"
    text = shown(data_of(lines))
    assert text.startswith("[a table: 400 rows of 3 columns: id (number), name, score (number); 1 row unlike")
    assert f"\n237: {lines[236]}\n" in text


def junit(rows=900, said="é"):
    """Test cases, of which one failed in the middle."""
    cases = [
        f'  <testcase classname="t.M{n}" name="test_error_{n} {said}" time="0.01"/>' for n in range(rows)
    ]
    cases[rows // 2] = (
        '  <testcase classname="t.M" name="test_total"><failure message="expected 3 got 4">AssertionError\n'
        " at t.py:31</failure></testcase>"
    )
    return ['<?xml version="1.0"?>', "<testsuites>", *cases, "</testsuites>"]


def test_an_element_that_tells_of_a_failure():
    """It is shown whatever stands around it, and test cases that passed are folded."""
    for lines in (junit(), junit(said="x"), ["".join(junit())]):
        text = shown(data_of(lines))
        assert '<failure message="expected 3 got 4">AssertionError' in text
        assert "t.py:31</failure></testcase>" in text
        assert text.rstrip().endswith("</testsuites>")
        assert len(text) < 2000


def test_more_failing_elements_than_there_is_room_for():
    """Some of them are shown, and it is XML still."""
    lines = junit()
    failing = (
        '<testcase name="x"><failure message="expected {n} got 4">' + "y" * 3000 + "</failure></testcase>"
    )
    lines[300:500] = [failing.format(n=n) for n in range(200)]
    text = shown(data_of(lines))
    assert "<failure message=" in text
    assert text.rstrip().endswith("</testsuites>")


def test_links_of_a_page_that_are_alike():
    """They are folded, and what the page says of a failure is shown wherever it stands."""
    links = "".join(f"<li><a href='/x/{n}'>Link {n}</a></li>" for n in range(900))
    words = "".join(f"<p>{'lorem ipsum '[: n % 9]} {n * 7919:x} words dolor</p>" for n in range(900))
    page = f"<!doctype html><html><body>{links}{words}<p>Error: TemplateDoesNotExist at /shop/</p>{words}</body></html>"
    text = shown(page.encode())
    assert "Link 1\n[... 898 lines ...]\n" in text
    assert "\nError: TemplateDoesNotExist at /shop/\n" in text


def test_text_without_blanks_is_told_by_both_ends():
    """Of a program written for programs as much is shown of the beginning as of the end, and not more than tells what it is."""
    code = (
        "!function(){" + "".join(f"function a{n}(e,t){{return e.x?t:new Y(e)}}" for n in range(5000)) + "}();"
    )
    parts = parts_of(code.encode())
    assert length_of(parts) <= 2000
    assert abs(len(parts[0].text) - len(parts[-1].text)) < 200
    prose = "The words of a long line that was never broken go on and on. " * 400
    assert length_of(parts_of(prose.encode())) > 4000
