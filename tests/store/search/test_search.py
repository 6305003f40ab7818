"""Search: the same lines as a plain loop over them, page by page, in linear time."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import NO_FLOORS, examples, not_for_ever, rolling

from spillstore import Store
from spillstore.exceptions import PatternError, RangeError
from spillstore.search import line_blocks, match_page, searched_text
from spillstore.search.patterns import MOST_CHARACTERS, compiled
from spillstore_tools.agent.search_artifact import TextCleaner

words = st.lists(st.sampled_from([b"a", b"b", b"ab", b"A", b" ", "é".encode(), b"x" * 50]), max_size=6).map(
    b"".join
)
contents = st.lists(words, max_size=40).map(
    lambda lines: b"\n".join(lines) + (b"\n" if lines and lines[-1] else b"")
)
patterns = st.sampled_from(
    ["a", "^a", "b$", "ab", "a.b", "a*", "x+", "é", "[^b]", r"\ba\b", "^$", "zz", "(a|aa)+$", r"\s", "a|b"]
)


@pytest.fixture(scope="module")
def session(module_root):
    with Store(module_root, **NO_FLOORS).session("chat") as session:
        yield session


def expected(data, pattern, *, ignore_case=False, invert=False):
    """Line numbers, first match and the number of matches, by a loop over the lines."""
    found = []
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    start = 0
    compiled = re.compile(pattern, re.ASCII | (re.IGNORECASE if ignore_case else 0))  # as RE2 has it
    for number, line in enumerate(lines, 1):
        text = line.decode()
        spans = [match.span() for match in compiled.finditer(text)]
        if invert and not spans:
            found.append((number, start, 1, text, 1))
        if not invert and spans:
            column = spans[0][0]
            found.append((number, start + len(text[:column].encode()), column + 1, text, len(spans)))
        start += len(line) + 1
    return found


def read_little(patch, size):
    """Make the chunks of new artifacts that small, and search them one by one."""
    patch.setattr("spillstore.session.new_artifact.CHUNK_SIZE", size)
    patch.setattr("spillstore.read.iteration.BLOCKS", 1)


def without_mark(page):
    """A page whose cursor may be of another artifact."""
    return dataclasses.replace(page, cursor=page.cursor and page.cursor.partition(".")[0])


def pages(artifact, pattern, **options):
    """All pages of a search."""
    found = [artifact.search(pattern, **options)]
    while found[-1].cursor is not None:
        found.append(artifact.search(pattern, cursor=found[-1].cursor, **options))
    return found


@given(contents, patterns, st.booleans(), st.booleans(), st.sampled_from((1, 3, 50)))
def test_the_lines_of_a_plain_loop(session, data, pattern, ignore_case, invert, limit):
    """Numbers, offsets, columns, texts and totals agree, whatever a page holds."""
    artifact = session.put(data, newline="lf")
    options = {"ignore_case": ignore_case, "invert": invert}
    wanted = expected(data, pattern, **options)
    found = pages(artifact, pattern, limit=limit, **options)
    matches = [match for page in found for match in page.matches]
    assert [(match.line, match.byte, match.column, match.text) for match in matches] == [
        each[:4] for each in wanted
    ]
    assert all(len(page.matches) <= limit for page in found)
    last = found[-1]
    assert (last.complete, last.lines, last.scanned) == (True, len(wanted), len(data))
    if pattern not in {"a*", "^$"}:  # what is empty is counted in another way
        assert last.total_matches == sum(each[4] for each in wanted)
    counted = artifact.search(pattern, limit=0, **options)
    assert (counted.matches, counted.lines, counted.complete) == ((), len(wanted), True)
    assert counted.total_matches == last.total_matches
    artifact.delete()


rough = st.lists(
    st.sampled_from(
        [
            b"a",
            b"ab ",
            b"zz",
            "é".encode(),
            b"\xc3",
            b"\xff",
            b"\x1b[1m",
            b"\r",
            b"\b",
            b"\xc2\x85",
            b"\n",
            b"\n\n",
            b"x" * 70,
        ]
    ),
    max_size=60,
).map(b"".join)


@pytest.mark.long
@given(rough, patterns, st.booleans(), st.sampled_from([None, TextCleaner()]), st.sampled_from([1, 2, 7, 64]))
@examples(150)
def test_it_does_not_matter_how_it_is_read(session, data, pattern, invert, cleaner, size):
    """Read in pieces of any size, on several threads, a search finds what it finds in one piece."""
    together = session.put(data, newline="lf")
    with pytest.MonkeyPatch.context() as patch:
        read_little(patch, size)
        apart = session.put(data, newline="lf")
        for limit in (3, 1000, 0):
            found = apart.search(pattern, limit=limit, invert=invert, cleaner=cleaner, context=1)
            other = together.search(pattern, limit=limit, invert=invert, cleaner=cleaner, context=1)
            assert without_mark(found) == without_mark(other)
        told = together.search(pattern, limit=1000, invert=invert, cleaner=cleaner)
        assert (told.lines, told.total_matches) == (found.lines, found.total_matches)
    together.delete()
    apart.delete()


@pytest.mark.parametrize("literal", [False, True])
def test_text_is_counted_as_it_is_matched(session, literal):
    """Few lines or thousands, once or often in each: the count is that of the matches one by one."""
    data = b"".join(b"a%s aa aaa\n" % (b" needle" * (number % 977 == 0)) for number in range(30_000))
    artifact = session.put(data + b"the end, aa")
    for pattern in ("needle", "aa", "a", " ", "the end"):
        counted = artifact.search(pattern, limit=0, literal=literal)
        assert counted.lines == sum(
            pattern.encode() in line for line in artifact.read_bytes(0, len(data) + 11).split(b"\n")
        )
        assert counted.total_matches == (data + b"the end, aa").count(pattern.encode())
    artifact.delete()


def test_context(session):
    """Lines before and after, as far as there are any."""
    artifact = session.put("".join(f"line {n}\n" for n in range(1, 11)))
    (match,) = artifact.search("line 2$", context=2).matches
    assert (match.before, match.after) == (("line 1",), ("line 3", "line 4"))
    (match,) = artifact.search("line 10", context=1).matches
    assert (match.before, match.after) == (("line 9",), ())


def test_streams(session):
    """Each view has its own numbers."""
    with session.create() as writer:
        for number in range(100):
            writer.write(f"out {number}\n")
            writer.write(f"err {number}\n", stream="stderr")
    artifact = session.artifact(writer.id)
    (match,) = artifact.search("^err 50$", stream="stderr").matches
    assert (match.line, artifact.read_bytes(match.byte, match.byte + 6, stream="stderr")) == (51, b"err 50")
    assert artifact.search("^err", stream="stdout").lines == 0
    assert artifact.search("50$").lines == 2


def test_a_large_artifact(session):
    """Over many chunks nothing is missed or found twice, at their borders either."""
    data = b"".join(b"entry %07d %s\n" % (number, b"." * (number % 90)) for number in range(200_000))
    artifact = session.put(data)
    assert artifact.search("entry", limit=0).lines == 200_000
    found = pages(artifact, "entry 0*(1234|199999|65536) ", limit=2)
    assert [match.line for page in found for match in page.matches] == [1235, 65537, 200_000]
    for page in found:
        for match in page.matches:
            assert data[match.byte :].startswith(match.text[match.column - 1 :].encode())


def test_a_line_above_16_mib(session):
    """Matches at every border of the windows, once each, and it is said."""
    line = bytearray(b"-" * 50_000_000)
    places = [5, 15_700_000, 16 * 1024 * 1024 - 3, 16 * 1024 * 1024 + 10, 31_000_000, 49_999_990]
    for place in places:
        line[place : place + 6] = b"needle"
    artifact = session.put(b"before\n" + bytes(line) + b"\nafter needle\n")
    page = artifact.search("needle")
    assert [(match.line, match.byte) for match in page.matches] == [(2, 12), (3, 50_000_014)]
    assert page.matches[0].clipped
    assert "needle" in page.matches[0].text
    assert (page.lines, page.total_matches) == (2, len(places) + 1)
    assert "overlapping windows" in page.notes[0]
    assert artifact.search("needle", invert=True).matches[0].line == 1
    first = artifact.search("needle", limit=1)
    assert artifact.search("needle", limit=1, cursor=first.cursor).matches[0].line == 3
    artifact.delete()


@given(
    parts=st.lists(
        st.tuples(st.sampled_from([b"a", b"ab ", b"-", b"needle", b" a b", b"\xff"]), st.integers(1, 90)),
        max_size=12,
    ),
    pattern=st.sampled_from(
        [r"needle", r"^a", r"a$", r"\bab\b", r"^", r"$", r"b|a$", r"[ab]{1,40}", r"a\b", r"(a+)$", r"^.*-"]
    ),
)
@examples(200)
def test_windows_are_no_lines(session, parts, pattern):
    """Where a window begins or ends is no end of a line or word: the same matches as in the line as a whole."""
    line = b"".join(part * copies for part, copies in parts)
    found = list(re.finditer(pattern.encode(), line))
    with pytest.MonkeyPatch.context() as patch:
        read_little(patch, 128)
        for name, value in (("LONGEST", 256), ("OVERLAP", 64)):
            patch.setattr(line_blocks, name, value)
        artifact = session.put(line + b"\n!\n")
        page = artifact.search(pattern)
        artifact.delete()
    if max((match.end() - match.start() for match in found), default=0) > 64:
        return  # longer than the overlap
    first = next((match for match in page.matches if match.line == 1), None)
    assert (first is None) is (not found)
    if first is not None:
        assert found[0].start() == first.byte
    assert len(found) + len(re.findall(pattern.encode(), b"!")) == page.total_matches


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*)*x", r"((a*)*)*b", r"(?:a?){50}a{50}$"])
def test_catastrophic_patterns_are_linear(session, pattern):
    """What makes other engines hang takes time in proportion to the text."""
    artifact = session.put((b"a" * 5000 + b"!\n") * 40)
    with not_for_ever():
        artifact.search(pattern, limit=0)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "missing"),
        ("a(?=b)", "look-ahead and look-behind are not supported"),
        ("(?<!a)b", "look-ahead and look-behind are not supported"),
        (r"(a)\1", "back-references are not supported"),
        ("a++b", "no pattern backtracks"),
        (r"a\Z", r"use \$ for the end"),
        ("a{2000}", "at most 1000 times"),
        ("[z-a]", "range"),
        ("*", "literally"),
        ("(a", r"missing \): \(a;"),  # without what goes before each pattern
    ],
)
def test_what_is_no_pattern(session, pattern, words):
    """The message says why, and what to use instead."""
    artifact = session.put("text")
    with pytest.raises(PatternError, match=words):
        artifact.search(pattern)
    assert artifact.search(pattern, literal=True).lines == 0


def test_a_pattern_that_asks_for_a_line_end_is_told_that_there_is_none(session):
    """It finds nothing, and the answer says why; so does one of which another part is found. A class may have it."""
    artifact = session.put("one\ntwo\n")
    for pattern, options, lines in (
        ("one\ntwo", {"literal": True}, 0),
        ("one\ntwo", {}, 0),
        (r"one\ntwo", {}, 0),
        (r"one$\n^two|two", {}, 1),
        (r"\Qone" + "\n" + r"\E", {}, 0),
    ):
        page = artifact.search(pattern, **options)
        assert (pattern, page.lines, len(page.notes)) == (pattern, lines, 1)
        assert "each line is searched by itself" in page.notes[0]
    for pattern, options in (
        (r"one[^\n]*", {}),
        ("[^\n]", {}),
        (r"\\n", {}),
        (r"\Q\n\E", {}),
        (r"one\n", {"literal": True}),
    ):
        assert (pattern, ()) == (pattern, artifact.search(pattern, **options).notes)


def test_a_cursor_is_of_one_search(session):
    """With another pattern, artifact or view, or with other counts, it would give wrong totals, and so it is refused."""
    text = "".join(f"{number}\n" for number in range(1, 1000))
    artifact, other = session.put(text), session.put(text)
    page = artifact.search("77", limit=2)
    cursor = page.cursor
    assert 19 == artifact.search("77", cursor=cursor).total_matches == artifact.search("77").total_matches
    searches = [
        lambda: artifact.search("88", cursor=cursor),
        lambda: artifact.search("77", cursor=cursor, invert=True),
        lambda: artifact.search("77", cursor=cursor, literal=True),
        lambda: artifact.search("77", cursor=cursor, cleaner=TextCleaner()),
        lambda: artifact.search("77", cursor=cursor, stream="stdout"),
        lambda: other.search("77", cursor=cursor),
        lambda: artifact.search("77", cursor=cursor.replace("+2", "+9")),
        lambda: artifact.search("77", cursor=cursor.partition(".")[0]),
        lambda: artifact.search("77", cursor="combined@9999999+0+0"),
        lambda: artifact.search("77", cursor=5),
    ]
    for search in searches:
        with pytest.raises(RangeError, match="no cursor of this search"):
            search()
    half = cursor.partition("+")[0] + "+0+0"  # who begins in the middle has counted nothing
    assert 17 == artifact.search("77", cursor=half).total_matches


def test_literal_text(session):
    """Characters that mean something in a pattern mean themselves."""
    artifact = session.put("a.b\naxb\n(c)[d]*\n")
    assert [match.line for match in artifact.search("a.b", literal=True).matches] == [1]
    assert artifact.search("(c)[d]*", literal=True).lines == 1
    assert artifact.search("A.B", literal=True, ignore_case=True).lines == 1


def test_a_running_artifact(session):
    """What is there is searched; a cursor goes on in what comes."""
    with session.create() as writer:
        writer.write("one error\n")
        writer.flush()
        artifact = session.artifact(writer.id)
        assert artifact.search("error").lines == 1
        writer.write("two\nerror three\n")
        writer.flush()
        assert artifact.search("error").lines == 2


def test_a_hole(plain_store):
    """What was dropped is left out, and said."""
    store = Store(plain_store.address, **NO_FLOORS, artifact_limit=256 * 1024)
    with store.session("chat") as session:
        data = b"".join(b"line %07d\n" % number for number in range(1, 100_001))
        artifact = session.put(data)
        hole = artifact.info.hole
        page = artifact.search("^line", limit=0)
        assert f"bytes {hole.start}-{hole.end} were dropped" in page.notes[0]
        present = data[: hole.start] + b"\n" + data[hole.end :]
        assert page.lines == sum(line.startswith(b"line") for line in present.split(b"\n"))
        (match,) = artifact.search("0100000$").matches
        assert (match.line, data[match.byte :]) == (100_000, b"0100000\n")


def test_what_rolls_away_meanwhile_is_told_where_it_stood(tmp_path):
    """Searching an artifact that drops its middle all the while never fails, and each line has its own number."""
    with rolling(tmp_path, 4 * 1024 * 1024) as (session, identity):
        artifact = session.artifact(identity)
        found = 0
        while not (found >= 20 and artifact.info.hole is not None):
            for match in artifact.search("[0-9]*77777$", limit=50, context=1).matches:
                assert (match.line - 1, match.byte) == (int(match.text[5:]), 15 * (match.line - 1) + 5)
                found += 1


def test_a_time_limit(session):
    """The page ends with what it has, and its cursor goes on."""
    artifact = session.put(b"line\n" * 4_000_000)
    page = artifact.search("nothing", seconds=0.0)
    assert not page.complete
    assert 0 < page.scanned < page.size
    assert artifact.search("nothing", cursor=page.cursor).complete
    artifact.delete()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pattern": 5}, "pattern must be text"),
        ({"pattern": "a", "limit": -1}, "limit is -1"),
        ({"pattern": "a", "context": "2"}, "context"),
        ({"pattern": "a", "stream": "all"}, "stream must be"),
        ({"pattern": "a", "cursor": "x"}, "no cursor of this search"),
        ({"pattern": "a", "cursor": "stderr@0+0+0"}, "no cursor of this search"),
    ],
)
def test_arguments_that_mean_nothing(session, arguments, words):
    """As for ranges."""
    artifact = session.put("text")
    with pytest.raises(RangeError, match=words):
        artifact.search(**arguments)


@pytest.mark.parametrize("cleaner", [None, TextCleaner()])
@pytest.mark.parametrize(
    "pattern",
    [
        "needle",
        "x$",
        pytest.param("word|needle", marks=pytest.mark.slow),
        *(pytest.param(each, marks=[pytest.mark.slow, pytest.mark.repeat]) for each in ("x", "^x", "o")),
    ],
)
def test_a_search_that_runs_out_of_time_loses_nothing(session, pattern, cleaner):
    """However often it is stopped, inside a line or a window too: in the end every line and match counts once."""
    content = (
        b"needle "
        + b"x" * 900
        + b" word\n"
        + b"wo\n" * 50
        + b"needle"
        + b"x" * 1500
        + b"\nno\n"
        + b"x" * 1200
    )
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (line_blocks, "LONGEST", 512),
            (line_blocks, "OVERLAP", 64),
            (match_page, "CLOCK_EVERY", 1),
            (searched_text, "CLEANED", 400),
        ):
            patch.setattr(module, name, value)
        read_little(patch, 256)
        artifact = session.put(content, newline="lf")
        for invert in (False, True):
            whole = artifact.search(pattern, limit=1000, invert=invert, cleaner=cleaner)
            found, cursor, pages = [], None, 0
            while True:
                page = artifact.search(
                    pattern, limit=1000, invert=invert, cursor=cursor, cleaner=cleaner, seconds=0.0
                )
                found += [(match.line, match.byte) for match in page.matches]
                pages += 1
                if page.complete:
                    break
                assert page.cursor != cursor
                cursor = page.cursor
            assert pages > 3
            assert [(match.line, match.byte) for match in whole.matches] == found
            assert (whole.lines, whole.total_matches) == (page.lines, page.total_matches)
            lines = content.split(b"\n")
            expected = [
                n for n, line in enumerate(lines, 1) if (re.search(pattern.encode(), line) is None) is invert
            ]
            assert expected == [line for line, _ in found]
            if not invert:
                assert page.total_matches == sum(len(re.findall(pattern.encode(), line)) for line in lines)
        artifact.delete()


def test_the_time_is_kept_inside_a_line(session):
    """A line with millions of matches does not hold an answer up; the match is told at once, the rest counted later."""
    artifact = session.put(b"x" * 3_000_000 + b"\nend\n")
    page = artifact.search("x", limit=5, seconds=0.0)
    assert (page.complete, page.lines, [match.line for match in page.matches]) == (False, 1, [1])
    following = artifact.search("x", limit=5, seconds=0.0, cursor=page.cursor)
    assert (following.lines, following.matches) == (1, ())
    assert following.total_matches > page.total_matches
    artifact.delete()


@pytest.mark.parametrize("shift", range(4))
def test_long_lines_that_are_not_ascii(session, shift):
    """A window that begins or ends inside a character is text all the same, and places are those of the characters."""
    line = b"a" * shift + ("é" * 400).encode() + "ÄÖÄ".encode() + ("é" * 400).encode()
    with pytest.MonkeyPatch.context() as patch:
        read_little(patch, 128)
        for name, value in (("LONGEST", 300), ("OVERLAP", 64)):
            patch.setattr(line_blocks, name, value)
        artifact = session.put(line + b"\n")
        for pattern in ("(?i)äöä", "Ä.Ä", "[Ä][Ö][Ä]", "ÄÖ"):
            page = artifact.search(pattern)
            assert (1, [(1, shift + 800, shift + 401)]) == (
                page.total_matches,
                [(match.line, match.byte, match.column) for match in page.matches],
            )
        assert 3 == artifact.search(r"\p{Lu}").total_matches
        artifact.delete()


def test_a_line_that_is_no_text_does_not_change_how_others_are_searched(session):
    """Beside bytes that are no UTF-8, lines that are match as text."""
    artifact = session.put(("äöü\n" * 10).encode() + b"\xff\xfe\n" + ("äöü\n" * 5).encode())
    assert 15 == artifact.search("^...$").lines
    assert 15 == artifact.search("(?i)ÄÖÜ").lines
    assert [11] == [match.line for match in artifact.search("^..$").matches]
    assert [11] == [match.line for match in artifact.search("ö", invert=True).matches]
    artifact.delete()


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        (r"\Aline", 3000),
        (r"text\z", 3000),
        (r"\Aline of text\z", 3000),
        (r"\Q\A\E", 0),
        (r"\\A", 0),
        (r"[\\C]", 0),
    ],
)
def test_the_ends_of_the_text_are_those_of_lines(session, pattern, lines):
    """Patterns are matched within lines, so their text is the line; blocks and pages change nothing."""
    artifact = session.put(b"line of text\n" * 3000)
    assert lines == artifact.search(pattern, limit=0).lines
    found = pages(artifact, pattern, limit=1700)
    assert lines == sum(len(page.matches) for page in found)
    artifact.delete()


@pytest.mark.parametrize("pattern", [r"a\C+b", r"\C", r"(?-m)^x", r"(?i-ms:x)", r"x(?s-m)"])
def test_what_would_look_beyond_a_line_is_refused(session, pattern):
    """A byte of any kind would match line ends, in quadratic time; without lines there are no ``^`` and ``$``."""
    with pytest.raises(PatternError, match="is not supported"):
        session.put(b"x\n").search(pattern)


# --- patterns that cost much ------------------------------------------------------------------------------


NESTED = {
    "groups in groups": lambda n: "(" * n + "a" + ")" * n,
    "repeated groups in groups": lambda n: "(" * min(n, 900) + "a" + ")*" * min(n, 900),
    "group after group": lambda n: "(a)" * (n // 2) + "|b",
    "groups with names": lambda n: "".join(f"(?P<a{i}>" for i in range(n // 12)) + "a" + ")" * (n // 12),
    "alternatives in groups": lambda n: "(b|" * (n // 2) + "a" + ")" * (n // 2),
}


@pytest.mark.parametrize("kind", NESTED)
def test_captures_cost_nothing(plain_store, kind):
    """A pattern of 10 KB that is nothing but groups is searched to the end as its plain form is."""
    with plain_store.session("s") as session:
        artifact = session.put((b"a" * 200 + b"b\n") * 200)
        found = artifact.search(NESTED[kind](5000), limit=10**6, seconds=3600.0)
        lines = artifact.search("a|b", limit=10**6).lines
    assert (found.complete, found.lines) == (True, lines)


def test_nothing_is_captured():
    """The program that searches has no groups, whatever the pattern has; what only looks like one in a class stays."""
    for latin in (False, True):
        found = compiled(
            r"((a)(b)(?P<name>c)(?<other>d))[(?P<x>]", ignore_case=False, literal=False, latin=latin
        )
        assert found.groups == 0
        assert [
            found.search(b"abcd" + each) is not None for each in (b"P", b"<", b">", b"?", b":", b"y")
        ] == [
            *[True] * 4,
            False,
            False,
        ]


@pytest.mark.parametrize(
    "pattern",
    [
        r"\pL{1000}",
        r"\pL" * 3000,
        r"(?:[^a\pL]{100}){10}",
        "(?i)" + r"[\pL\pN]{500}",
        "|".join(f".{{{k}}}x" for k in range(900, 960)),
    ],
)
def test_a_pattern_that_takes_too_many_instructions_is_refused(plain_store, pattern):
    """The error names the limit and the way out; nothing is searched."""
    with (
        plain_store.session("s") as session,
        pytest.raises(PatternError, match=r"50000 instructions.*repeat less"),
    ):
        session.put("a\n").search(pattern)


@pytest.mark.slow
def test_the_longest_pattern_is_searched(plain_store):
    """In seconds."""
    longest = "a" * MOST_CHARACTERS
    with plain_store.session("s") as session:
        assert session.put(f"{longest}a\n").search(longest).lines == 1


@pytest.mark.slow
def test_a_pattern_that_is_too_long_is_refused(plain_store):
    """Reading it alone would take longer than a search may; as long a text is no pattern and is found."""
    longest = "a" * MOST_CHARACTERS
    with plain_store.session("s") as session:
        artifact = session.put(f"{longest}a\n")
        assert artifact.search(f"{longest}a", literal=True).lines == 1
        with pytest.raises(PatternError, match=r"has 16385 characters, an expression has at most 16384"):
            artifact.search(f"{longest}a")


def test_patterns_of_many_characters_are_allowed(plain_store):
    """Thousands of words, a thousand of any character, and some letters of any script."""
    words = "|".join(f"w{number}" for number in range(2000))
    with plain_store.session("s") as session:
        artifact = session.put(f"w77 x\n{'y' * 1000}\n{'é' * 30}\n")
        found = [artifact.search(each).lines for each in (words, ".{1000}", r"\pL{2,30}")]
    assert found == [1, 1, 2]
