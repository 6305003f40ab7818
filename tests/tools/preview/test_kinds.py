"""Kinds of output: each is told by its bytes, says what it is and how much, keeps the law, and gives way to text."""

from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import assert_law

from spillstore_tools.preview.parts import Gap, Note, gaps_of, length_of, text_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies.request import Request
from spillstore_tools.preview.strategies.smart import Smart
from spillstore_tools.preview.text.clean import clean

LIMIT = 6000


def marker(gap: Gap) -> str:
    return f"[... {gap.first_line}-{gap.last_line} ...]\n"


def parts_of(data, *, feed=0, limit=LIMIT, exact=True, **request):
    """The parts of an output, which came in pieces of so many bytes; they keep the law and the limit."""
    chosen = Smart()
    scan = Scan(
        head_chars=limit,
        tail_chars=limit,
        keep_bytes=chosen.keep_bytes,
        observer=chosen.observer(),
        exact=exact,
    )
    for at in range(0, len(data), feed or len(data) or 1):
        scan.feed(data[at : at + (feed or len(data))])
    parts = chosen.cut(scan.finish(), Request(limit=limit, marker=marker, **request))
    assert_law(parts, data, clean=clean)
    assert length_of(parts) <= limit
    return parts


def shown(data, **options):
    return text_of(parts_of(data, **options))


def first_line(data, **options):
    return shown(data, **options).split("\n")[0]


def csv(rows=3000):
    lines = ["id,name,city,amount"]
    cities = ("Rome", "Oslo", '"Bern, CH"')
    lines += [f"{number},user {number},{cities[number % 3]},{number * 1.5}" for number in range(rows)]
    return lines


def log(rows=2000):
    return [
        f"2026-01-02 10:{n // 60 % 60:02}:{n % 60:02},000 INFO worker-{n % 8} handled {n * 7919:x}"
        for n in range(rows)
    ]


def paths(rows=2000):
    return [f"./src/part{number % 7}/module_{number}.py" for number in range(rows)]


def matches(rows=2000):
    return [f"src/part{number % 9}.py:{number}:    value = load({number})" for number in range(rows)]


def records(rows=2000):
    return [
        json.dumps({"ts": number, "level": "info", "msg": f"handled {number}", "ms": number % 90})
        for number in range(rows)
    ]


def aligned(rows=1000):
    return [
        "NAME             READY  STATUS   RESTARTS",
        *(f"web-{number:05}        1/1    Running  {number % 3}" for number in range(rows)),
    ]


def framed(rows=800):
    return [
        "+------+-------+",
        "| id   | price |",
        "+------+-------+",
        *(f"| {n:4} | {n * 1.5:5} |" for n in range(rows)),
    ]


def long_listing(folders=40):
    lines = []
    for number in range(folders):
        lines += [f"./part{number}:", f"total {number}"]
        lines += [f"-rw-r--r-- 1 root root {n} Jan  1 10:00 file{n}.txt" for n in range(number)]
        lines += ["drwxr-xr-x 2 root root 4096 Jan  1 10:00 sub", ""]
    return lines


def commits(count=300):
    lines = []
    for number in range(count):
        lines += [f"commit {number:040x}", "Author: Ann <ann@example.com>", f"Date:   day {number}", ""]
        lines += [f"    Change number {number}", ""]
    return lines


def page(parts=200):
    body = "".join(f"<h2>Part {n}</h2><p>Words of part {n} &amp; more.</p>\n" for n in range(parts))
    return f"<!DOCTYPE html>\n<html><head><title>A page</title><script>var x = 1;</script></head><body>{body}</body></html>".split(
        "\n"
    )


def encoded(size=60_000):
    return base64.encodebytes(b"\x7fELF" + random.Random(1).randbytes(size)).decode().split()


def dump(size=60_000):
    data = b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(size)
    return [f"{at:08x}: {data[at : at + 16].hex(' ', 2)}  ................" for at in range(0, len(data), 16)]


def data_of(lines):
    return "".join(f"{line}\n" for line in lines).encode()


KINDS = {
    "CSV: 3000 rows of 4 columns: id (number), name, city (": csv,
    "2000 paths in 7 folders: ./src/part0/ 286, ": paths,
    "2,000 matches in 9 files: src/part0.py 223, ": matches,
    "2000 records of JSON Lines with ts, level, msg, ms; level: info 2,000": records,
    "a table: 1000 rows of 4 columns: NAME, READY (1/1), STATUS (Running), RESTARTS (number)": aligned,
    "a table: 800 rows of 2 columns: id (number), price (number)": framed,
    "listing of 780 files, 40 folders in 40 folders: ./part39 40, ": long_listing,
    "300 commits, day 0 back to day 299; by Ann 300": commits,
    "HTML, ": page,
    "base64 of 60,004 bytes: ELF program": encoded,
    "hex dump in 3751 lines: PNG": dump,
}


def test_a_dump_whose_text_begins_with_digits():
    """The column of text may begin like another pair of digits: ``6d.``, ``ab-``."""
    lines = []
    for number in range(1000):
        data = (b"\0\1\2\3xyz", b"ab.", b"79-", b"6d....")[number % 4].ljust(16, b"\7")
        pairs = " ".join(data[at : at + 2].hex() for at in range(0, 16, 2))
        lines.append(f"{number * 16:08x}: {pairs}  {data.decode().translate(dict.fromkeys(range(32), 46))}")
    assert "[hex dump in 1000 lines: " in first_line(data_of(lines))


@pytest.mark.parametrize("words", KINDS)
def test_each_says_what_it_is_and_how_much(words):
    """The first line of a preview says it, and both ends are there; in far fewer characters than there is room for."""
    lines = KINDS[words]()
    text = shown(data_of(lines))
    assert text.startswith(f"[{words}")
    assert len(text) < LIMIT * 0.9
    if words != "HTML, ":
        assert f"\n{lines[0]}\n" in text
        assert text.rstrip("\n").endswith(lines[-1].rstrip())


@pytest.mark.parametrize("words", KINDS)
def test_however_it_came(words):
    """The same bytes give the same preview, whether at once or in pieces; also where not all of it is held."""
    data = data_of(KINDS[words]())
    expected = parts_of(data)
    assert expected == parts_of(data, feed=1000)
    assert expected == parts_of(data, feed=70_001)
    more = data_of(KINDS[words]()) * (1 + 1_500_000 // len(data))
    assert parts_of(more, exact=False) == parts_of(more, feed=99_999, exact=False)


@pytest.mark.parametrize("words", KINDS)
def test_a_wrong_guess_gives_way(words):
    """What goes on as something else is cut as the text that it is, and its error is shown."""
    other = [*log(4000), "FATAL: the disk is gone", *log(4000)]
    text = shown(data_of([*KINDS[words]()[:60], *other]))
    assert not text.startswith(f"[{words[:8]}")
    assert "FATAL: the disk is gone" in text


@given(
    kind=st.sampled_from(list(KINDS.values())),
    noise=st.lists(
        st.tuples(
            st.floats(0, 1),
            st.sampled_from(["", "odd one out", "a,b\r", "\x1b[31mred\x1b[0m", "é" * 50, '"', "\x00"]),
        ),
        max_size=6,
    ),
    cut=st.floats(0.01, 1),
    limit=st.integers(1, 9000),
    ended=st.booleans(),
)
def test_the_law(kind, noise, cut, limit, ended):
    """Whatever stands between the rows, and however little room there is."""
    lines = kind()
    lines = lines[: max(1, int(len(lines) * cut))]
    for place, line in noise:
        lines.insert(int(place * len(lines)), line)
    data = data_of(lines)
    data = data if ended else data[:-1]
    expected = parts_of(data, limit=limit)
    assert expected == parts_of(data, limit=limit, feed=4097)


def test_odd_rows():
    """A row with a cell too few, one with no number where numbers are, and one with a new word are shown with their numbers."""
    lines = csv()
    lines[1500] = "1499,user 1499,Rome"
    lines[2000] = "1999,user 1999,Rome,NaN"
    lines[2500] = "2499,user 2499,Atlantis,3.5"
    text = shown(data_of(lines))
    for number in (1500, 2000, 2500):
        assert f"\n{number + 1}: {lines[number]}\n" in text
    assert "; 3 rows unlike the others]" in text


def test_an_odd_word_in_a_table():
    """Of a thousand rows the one with another status is shown."""
    lines = aligned()
    lines[700] = "web-00699        0/1    CrashLoopBackOff  17"
    assert f"\n701: {lines[700]}\n" in shown(data_of(lines))


def test_levels_and_messages():
    """Of JSON Lines the first record of each trouble is shown, and how many more there are."""
    lines = records()
    for number in (500, 900, 1300):
        lines[number] = json.dumps(
            {"ts": number, "level": "error", "msg": f"provider gave 502 for order {number}", "ms": 3}
        )
    lines[1000] = json.dumps({"ts": 1, "level": "fatal", "msg": "no memory", "ms": 3})
    text = shown(data_of(lines))
    assert "level: info 1,996, error 3, fatal 1]" in text
    assert f"\n501: {lines[500]}\n  [and 2 more like this]\n" in text
    assert f"\n1001: {lines[1000]}\n" in text
    assert lines[900] not in text


def test_samples_of_a_listing():
    """The first path of each of the largest folders is shown; what is no path, too."""
    lines = [f"./src/part{number // 400}/module_{number}.py" for number in range(2000)]
    lines.insert(1000, "find: './src/secret': Permission denied")
    text = shown(data_of(lines))
    assert "\n801: ./src/part2/module_800.py\n" in text
    assert "\n1001: find: './src/secret': Permission denied\n" in text
    assert "1 other line" in text


def test_a_page_is_its_text():
    """Tags and scripts are left out, headings are told, and the source is one gap."""
    parts = parts_of(data_of(page()))
    text = text_of(parts)
    assert "'A page'" in text
    assert "headings: ## Part 0, ## Part 1" in text
    assert "Words of part 0 & more." in text
    assert "var x" not in text
    assert [gap.lines for gap in gaps_of(parts)] == [len(page())]


def test_xml_stays_xml():
    """Its elements are cut, and its own words are all there are."""
    rows = "".join(f"<row><id>{n}</id><name>user {n}</name></row>" for n in range(2000))
    text = shown(f"<?xml version='1.0'?><rows>{rows}</rows>".encode())
    assert text.startswith("<?xml version='1.0'?><rows><row><id>0</id>")
    assert text.endswith("</rows>")


def test_outline_of_source_code():
    """Functions and classes are named with their lines before what of them fits."""
    data = "\n\n".join(
        f"def function_{number}(value):\n" + "    value += 1\n" * 20 + "    return value\n"
        for number in range(60)
    ).encode()
    assert first_line(data).startswith("[python, 1438 lines: 1 function_0, 25 function_1, 49 function_2, ")


def test_outline_of_a_diff():
    """Files and how much changed in each come first."""
    data = "".join(
        f"diff --git a/f{n}.c b/f{n}.c\n--- a/f{n}.c\n+++ b/f{n}.c\n@@ -1,30 +1,31 @@\n"
        + "".join(f"-old line {line}\n+new line {line}\n" for line in range(30))
        + "+one more\n"
        for n in range(20)
    ).encode()
    assert first_line(data).startswith("[diff of 20 files, +620 -600: f0.c +31 -30, f1.c +31 -30, ")


@pytest.mark.parametrize(
    "lines",
    [
        log(),
        [f"He said, that {n} of them went, and that was all, more or less." for n in range(300)],
        [f"10.0.0.{n % 256} - - [day {n}] GET /a;b={n} 200; (X11; Linux)" for n in range(600)],
        [f"Step {n}, done" for n in range(600)],
    ],
)
def test_text_is_text(lines):
    """Logs and prose are none of these kinds."""
    parts = parts_of(data_of(lines))
    assert not isinstance(parts[0], Note)


@pytest.mark.parametrize(
    "data",
    [
        data_of(matches()[:50]) + (b"a" * 60_000 + b"\n") * 5,
        data_of(paths()[:50]) + (b"/" * 60_000 + b": x\n") * 5,
        data_of(framed()[:50]) + (b"|" + b" " * 60_000 + b"\n") * 5,
        data_of(csv()[:50]) + (b'1,"' + b"a" * 60_000 + b"\n") * 5,
        data_of(aligned()[:50]) + (b"a" + b" " * 60_000 + b"\n") * 5,
        (b"-" * 60_000 + b"\n") * 5,
        b"<!DOCTYPE html><html>" + b"<script><!--<h1>" * 20_000 + b"</html>",
    ],
)
def test_beginnings_without_an_end(data):
    """What would take the square of its size with a careless pattern is cut like anything else."""
    assert parts_of(data)


def sections(count=100):
    return [
        "# Title",
        "",
        *(part for n in range(count) for part in (f"## Part {n}", "", "words", "more words", "")),
    ]


def elements(count=900):
    return ["<?xml version='1.0'?>", "<a>", *(f"<b id='{n}'>text {n}</b>" for n in range(count)), "</a>"]


def changes(count=60):
    hunk = ("@@ -1,2 +1,2 @@", " same", f"-{'old ' * 12}", f"+{'new ' * 12}")
    return [line for n in range(count) for line in (f"--- a/f{n}", f"+++ b/f{n}", *hunk)]


def classes(count=200):
    return [
        part
        for n in range(count)
        for part in (f"class P{n}:", "    def size(self):", f"        return {n} * 7", "")
    ]


def tree(count=900):
    return [".", *(f"├── file{n}.txt" for n in range(count))]


@pytest.mark.parametrize("feed", [0, 4097])
@pytest.mark.parametrize("lines", [*KINDS.values(), sections, elements, changes, classes, tree])
def test_a_byte_order_mark_changes_nothing(lines, feed):
    """What begins with one is told and cut as it is without."""
    data = data_of(lines())
    assert shown(b"\xef\xbb\xbf" + data, feed=feed).replace("\ufeff", "") == shown(data, feed=feed)


def test_subjects_that_there_is_no_room_for():
    """How many they are is told."""
    text = shown(data_of(commits()))
    subjects = text.split("[subjects:\n")[1].split("]\n")[0].splitlines()
    assert subjects[-1] == f"  and {300 - len(subjects) + 1} more"
    assert len(subjects) > 20
    assert "more" not in shown(data_of(commits(12)), limit=1050).split("[subjects:\n")[1].split("]\n")[0]
