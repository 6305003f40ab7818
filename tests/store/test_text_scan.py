"""What a block of text holds: the native functions and Python's methods say the same."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import FACTOR, ROOT, SEED, a_compiler, compiled_library, examples, native

from spillstore import _native, line_filter, text_scan
from spillstore.line_filter import Word
from spillstore.text_scan import chars, count, is_plain, kind, survey

WORDS = (
    Word(b"error", "apart", "ended"),
    Word(b"fail", "apart"),
    Word(b"fault", "letter", "called"),
    Word(b"e: ", "line start"),
    Word(b"]: ", after="code"),
    Word(b"http/", after="status"),
    Word("échec".encode()),
)
PIECES = [
    *(
        b"error",
        b"Error",
        b"ERRORS",
        b"fail",
        b"default",
        b"fault",
        b"e: ",
        b"]: ",
        b"ab123: ",
        b"HTTP/",
        b"1.1",
        b'" 404',
    ),
    *("échec Échec é".encode().split()),
    *(
        b" ",
        b".",
        b"/",
        b"_",
        b"\\",
        b"-",
        b":",
        b"(",
        b"x",
        b"7",
        b"m",
        b"\x1b[31m",
        b"[1m",
        b"\n",
        b"\r",
        b"\t",
        b"\0",
        b"\xff",
    ),
]
BEHIND = (b"", b":7", b"ab123: ", b"1.1 404")
OTHER_CASES = {"\u017f", "\u212a"}  # of k and s
texts = st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=80).map(b"".join)


@pytest.fixture
def whole_blocks(monkeypatch):
    """Small texts go to the native functions, too."""
    monkeypatch.setattr(text_scan, "_LARGE", 0)


def model(text, end):
    """The survey of a text, byte by byte."""
    controls = [byte for byte in text if (byte < 32 and byte not in b"\t\n") or byte == 127]
    chars = sum(not 0x80 <= byte < 0xC0 for byte in text)
    return text.count(end), chars, all(byte < 128 for byte in text), not controls


@pytest.mark.parametrize("large", [0, 1 << 30])
@given(
    text=texts,
    end=st.sampled_from([b"\n", b"\r"]),
    before=st.integers(0, 40),
    behind=st.sampled_from([0, 1, 15, 5000]),
)
def test_survey(large, text, end, before, behind):
    """Counts and kinds, wherever in a vector a byte stands."""
    text = b"." * before + text + b"x" * behind
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scan, "_LARGE", large)
        assert model(text, end) == survey(text, end)
        assert text.count(end) == count(text, end)
        assert is_plain(text) is model(text, end)[3]
        assert chars(text) == model(text, end)[1]


@pytest.mark.parametrize("byte", [b"\n", b"\x85", b"\xc3", b"\r"])
def test_counts_that_do_not_fit_a_byte(byte):
    """A vector's lane counts up to 255: of more the sum is kept."""
    for size in (16 * 255 - 1, 16 * 255, 16 * 256 + 1, 100_000):
        text = byte * size
        assert count(text, byte) == survey(text, byte).ends == size
        assert survey(text).chars == (0 if byte == b"\x85" else size)


@given(
    st.lists(st.sampled_from([b"a", b"b", b"ab", b"\n{", b'"level": "info",']), max_size=60).map(b"".join),
    st.sampled_from([b"", b"aa", b"aba", b"\n{", b'"level": "info",']) | st.binary(min_size=1, max_size=20),
    st.integers(0, 20),
)
def test_sequences_are_counted_as_python_counts_them(text, wanted, before):
    """Without overlap, wherever in a vector one stands."""
    text = b"." * before + text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scan, "_LARGE", 0)
        assert text.count(wanted) == count(text, wanted)


def model_wide(text):
    """Where every second byte begins to be a NUL, place by place."""
    between = set(range(9, 14)) | {0x1B} | set(range(0x20, 0x7F)) | set(range(0xA0, 0x100))
    for first in range(len(text)):
        part = text[first : first + 13]
        if set(part[::2]) == {0} and between.issuperset(part[1::2]):
            return first
    return -1


wide_texts = st.lists(
    st.sampled_from(
        [b"\0", b"a\0", b"\0" * 9, b"a", b"\xe9\0", b"\x01\0", b"\x80\0", b"\x7f\0", b"n\0e\0\t\0", b"\x1b\0"]
    )
    | st.binary(max_size=2),
    max_size=20,
).map(b"".join)


@pytest.mark.parametrize("large", [0, 1 << 30])
@given(text=wide_texts, before=st.sampled_from([b"", b".", b"\0" * 8, b"\0" * 30]))
@examples(300)
def test_text_of_two_bytes_a_character_is_found(large, text, before):
    """By NULs with letters between, also where they are cut off; not by NULs alone, or with control characters between."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scan, "_LARGE", large)
        assert text_scan.find_wide(before + text) == model_wide(before + text)


ESCAPED = [
    b"\x1b[",
    b"\x1b",
    b"[",
    b"0;1",
    b"m",
    b"K",
    b"@",
    b"`",
    b"{",
    b" ",
    b"\n",
    b"?",
    b"<",
    b"3" * 29,
    b"3" * 31,
]


@pytest.mark.parametrize("large", [0, 1 << 30])
@given(
    text=st.lists(st.sampled_from(ESCAPED), max_size=14).map(b"".join),
    low=st.integers(0, 40),
    size=st.integers(0, 90),
)
@examples(300)
def test_colours_are_taken_out(large, text, low, size):
    """As the pattern finds them, in a part of a text, too, and where they are cut off."""
    low = min(low, len(text))
    high = min(low + size, len(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_scan, "_LARGE", large)
        assert text_scan.uncoloured(text, low, high) == text_scan.COLOUR.sub(b"", text[low:high])
        assert text_scan.uncoloured(text) == text_scan.COLOUR.sub(b"", text)


def test_each_byte_at_each_place(whole_blocks):
    """Each byte is of its kinds at the beginning, inside and at the end of a vector, and behind the last one."""
    for byte in range(256):
        for place in (0, 7, 15, 16, 37):
            text = bytearray(b"." * 38)
            text[place] = byte
            assert model(bytes(text), b"\n") == survey(bytes(text))


@native
@given(
    st.binary(max_size=80) | st.text(max_size=40).map(str.encode),
    st.integers(0, 20),
    st.sampled_from([0, 4090, 8185]),
)
@examples(600)
def test_what_is_plain(data, cut, size):
    """ASCII, other UTF-8 or neither, wherever it stands: without control characters but tab and line end."""
    data = b"x" * size + data[min(cut, len(data)) :]
    try:
        text = data.decode()
        plain = not any((ord(each) < 32 and each not in "\t\n") or 127 <= ord(each) < 160 for each in text)
    except UnicodeDecodeError:
        plain = False
    assert kind(data) == (
        -1 if not plain else 0 if data.isascii() else 1 if OTHER_CASES.isdisjoint(text) else 2
    )
    assert kind(memoryview(bytearray(data))) == kind(data)


@native
def test_all_characters_are_known():
    """Each code point is plain exactly if it is no control character, and nothing that only looks like one in UTF-8 is."""
    for code in (*range(0x80, 0x3000), *range(0xD700, 0x11000), *range(0x10FF00, 0x110000)):
        data = chr(code).encode(errors="surrogatepass")
        wanted = -1 if 0xD800 <= code < 0xE000 or code < 0xA0 else 2 if chr(code) in OTHER_CASES else 1
        assert kind(data) == kind(b"x" * 4095 + data) == wanted
        assert kind(data[:-1]) == -1
    for data in (
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xf0\x80\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\xc1\xbf",
        b"\xed\xa0\x80",
    ):
        assert kind(data) == -1


PATTERN = re.compile(
    rb"""(?ims)
      (?:(?<![\w./\\-])|(?<=\x1b\[m)|(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)) (?:error(?![\w/\\-])|fail)
    | [a-z]fault(?:[:(\s]|\Z) | (?:\A|(?<=\n))e:[ ] | \]:[ ][a-z]{2,}\d{3,}: | http/\d(?:\..)?[\"']?[ ][45]
    """
    rb"|(?:\xc3|\xe3)\xa9chec",
    re.VERBOSE | re.ASCII,
)


@native
@given(texts, st.sampled_from([b"\n", b"\r"]), st.booleans())
def test_lines(text, end, late):
    """Each line that holds a word is found, with its place and its number, from the first on or from a later line."""
    start = (text.find(end) + 1) if late else 0
    found = list(line_filter.line_filter(WORDS).lines(text, start, end))
    lines, at = [], start
    while at < len(text):
        after = (text.find(end, at) + 1) or len(text)
        lines.append((at, after))
        at = after
    assert [(at, after, lines.index((at, after))) for at, after, *_ in found] == [each[:3] for each in found]
    for at, after in lines:
        if any(at <= each.start() < after for each in PATTERN.finditer(text, at, after)):
            assert (at, after) in [line[:2] for line in found], text[at:after]
    for at, after, _, place, word in found:
        assert at <= place < after
        assert text[place : place + len(word.text)].lower() == word.text.lower()


@pytest.fixture
def use_wide():
    """Switches vectors of 32 bytes on and off, where the processor has them; returns whether they are used."""
    library = _native.library()
    assert library is not None  # the test is marked
    yield library.spillstore_use_wide
    library.spillstore_use_wide(1)


@native
@given(texts, st.sampled_from([b"\n", b"\r"]), st.integers(0, 70))
def test_wide_vectors_find_the_same_lines(use_wide, text, end, before):
    """As many places as are looked at together, and wherever in them a word stands."""
    text = b"." * before + text
    found = []
    for wide in (0, 1):
        use_wide(wide)
        found.append(list(line_filter.line_filter(WORDS).lines(text, 0, end)))
    assert found[0] == found[1]


@native
@pytest.mark.parametrize("word", WORDS)
def test_wide_vectors_know_each_byte_beside_a_word(use_wide, word):
    """Before a word, and in its place, stands each byte in turn; the words are as many as there are groups, and more."""
    others = [Word(bytes([first, second, 120, 121])) for first in range(97, 101) for second in range(48, 53)]
    wanted = line_filter.line_filter([word, *others])
    lines = [b"%b%b%b" % (bytes([byte]), word.text, behind) for byte in range(256) for behind in BEHIND]
    lines += [word.text[:at] + bytes([byte]) + word.text[at + 1 :] for byte in range(256) for at in range(3)]
    text = b"\n".join(lines)
    found = []
    for wide in (0, 1):
        use_wide(wide)
        found.append(list(wanted.lines(text, 0, b"\n")))
    assert found[0] == found[1] != []


@native
def test_more_lines_than_one_call_gives_out():
    """All are found, in order."""
    text = b"an error\nnothing\n" * 5000
    found = list(line_filter.line_filter(WORDS).lines(text, 0, b"\n"))
    word = next(word for word in WORDS if word.text == b"error")
    assert found == [(17 * line, 17 * line + 9, 2 * line, 17 * line + 3, word) for line in range(5000)]


@native
def test_of_nothing_nothing_is_found():
    """No words, no text."""
    assert list(line_filter.line_filter([]).lines(b"an error\n", 0, b"\n")) == []
    assert list(line_filter.line_filter(WORDS).lines(b"", 0, b"\n")) == []


OTHER = (
    "unsigned long long spillstore_text_version(void) { return 1; }\n"
    "unsigned long long spillstore_words_version(void) { return 1; }\n"
    "int spillstore_count, spillstore_count_sequence, spillstore_survey, spillstore_kind, spillstore_find_wide, spillstore_uncoloured, spillstore_lines;"
)


def test_another_library_is_left_alone(tmp_path, monkeypatch):
    """One that was left behind, without these functions or with other tables, is not called."""
    for number, source in enumerate(("int other;", OTHER)):
        folder = tmp_path / f"{number}"  # a library is loaded once from each path
        folder.mkdir()
        library = compiled_library(folder, source)
        monkeypatch.setattr(_native, "path", lambda library=library: library)
        text_scan._native.cache_clear()
        line_filter._native.cache_clear()
        try:
            assert text_scan._native() is None
            assert line_filter._native() is None
            assert count(b"a\n" * 10_000, b"\n") == 10_000
            assert kind(b"a\n" * 10_000) is None
            assert line_filter.line_filter(WORDS) is None
        finally:
            text_scan._native.cache_clear()
            line_filter._native.cache_clear()


@pytest.mark.slow
@native
def test_nothing_is_read_outside(tmp_path):
    """Under AddressSanitizer and the checker of undefined behaviour: each text in a block of exactly its size."""
    compiler = a_compiler("gcc", "clang")
    library = tmp_path / "all.so"
    flags = ["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-shared", "-fPIC"]
    sources = sorted(map(str, (ROOT / "store/spillstore/_native").glob("*.c")))
    built = subprocess.run([compiler, *flags, "-o", str(library), *sources], check=False)
    runtime = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if built.returncode or not Path(runtime).is_absolute():
        pytest.skip("this compiler comes without AddressSanitizer")
    script = (
        "import ctypes, pathlib, random, sys\n"
        f"sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(ROOT / 'tests')!r}, {str(ROOT / 'tests/store/redaction')!r}]\n"
        "from spillstore import _native\n"
        f"_native.path = lambda: pathlib.Path({str(library)!r})\n"
        "from spillstore import line_filter, line_kinds, text_scan\n"
        "from spillstore.redaction import Redactor, finder as rules, native_scanner\n"
        "from spillstore.search.native_search import finder\n"
        "from native_texts import text\n"
        "from test_text_scan import ESCAPED, PIECES, WORDS, model_wide\n"
        "text_scan._LARGE = 0\n"
        "found = line_filter.line_filter(WORDS)\n"
        "assert found is not None\n"
        "sequences = [finder(each, ignore_case=True, literal=False) for each in ('error', 'x+7m', ' [a-z]+:|http/')]\n"
        "assert None not in sequences\n"
        "scanner = rules.searcher()\n"
        "assert isinstance(scanner, native_scanner.Scanner)\n"
        "literals = tuple(entry.literal.decode() for entry in rules.ENTRIES)\n"
        "hits = runs = 0\n"
        "rng = random.Random(int(sys.argv[1]))\n"
        "for number in range(int(sys.argv[2])):\n"
        "    _native.library().spillstore_use_wide(number % 2)\n"
        "    if number % 1000 == 0:\n"
        "        kinds = line_kinds._NativeCounter(line_kinds._native())\n"
        "    drawn = b''.join(rng.choices(PIECES, k=rng.randrange(30)))\n"
        "    held = (ctypes.c_char * len(drawn)).from_buffer_copy(drawn)\n"
        "    end = rng.choice((b'\\n', b'\\r'))\n"
        "    assert text_scan.survey(held, end).ends == text_scan.count(held, end) == drawn.count(end)\n"
        "    assert text_scan.count(held, b'1.1') == drawn.count(b'1.1')\n"
        "    list(found.lines(held, rng.randrange(len(drawn) + 1), end))\n"
        "    if drawn:\n"
        "        counted = len(kinds.add(held, end, [len(drawn)])[0])\n"
        "        assert kinds.given_up or counted == drawn.count(end) + (not drawn.endswith(end))\n"
        "    assert text_scan.kind(held) == text_scan.kind(drawn)\n"
        "    wide = bytes(each for byte in drawn for each in (byte, 0))[rng.randrange(2) : rng.randrange(1, 60)]\n"
        "    assert text_scan.find_wide((ctypes.c_char * len(wide)).from_buffer_copy(wide)) == model_wide(wide)\n"
        "    coloured = b''.join(rng.choices(ESCAPED, k=rng.randrange(9)))\n"
        "    place = rng.randrange(len(coloured) + 1)\n"
        "    part = (ctypes.c_char * len(coloured)).from_buffer_copy(coloured)\n"
        "    text_scan._local.room = None\n"
        "    assert text_scan.uncoloured(part, place) == text_scan.COLOUR.sub(b'', coloured[place:])\n"
        "    for each in sequences:\n"
        "        each.first(ctypes.addressof(held), 0, len(drawn))\n"
        "        each.count(ctypes.addressof(held), 0, len(drawn))\n"
        "    redactor = Redactor()\n"
        "    assert (redactor.feed(drawn) + redactor.finish()).count(b'\\n') == drawn.count(b'\\n')\n"
        "    drawn = text(rng, literals)\n"
        "    held = (ctypes.c_char * len(drawn)).from_buffer_copy(drawn)\n"
        "    hits += len(list(scanner.hits(held, rng.randrange(len(drawn) + 1))))\n"
        "    runs += len(list(scanner.runs(held)))\n"
        "assert hits > int(sys.argv[2]) and runs > 0, (hits, runs)\n"
    )
    subprocess.run(
        [
            sys.executable,
            "-c",
            script,
            str(random.Random(SEED).randrange(1 << 30)),
            str(round(4_000 * FACTOR)),
        ],
        env={**os.environ, "LD_PRELOAD": runtime, "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0"},
        check=True,
    )
