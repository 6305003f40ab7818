"""Long lines: what is looked at in them, and how they are cut around what tells."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law import TOKENS, assert_law, lines_with_endings
from test_smart import parts_of, preview

from spillstore_tools.preview.parts import Gap, Shown, length_of, text_of
from spillstore_tools.preview.scan.scan import Scan
from spillstore_tools.preview.strategies import passages as module
from spillstore_tools.preview.strategies.passages import LongPassages, best_passage, place_in
from spillstore_tools.preview.strategies.request import Request, clip_marker
from spillstore_tools.preview.strategies.smart import Smart
from spillstore_tools.preview.text import long_line
from spillstore_tools.preview.text.clean import clean
from spillstore_tools.preview.text.lines import Line
from spillstore_tools.preview.text.long_line import LongLine

MESSAGE = b"x.c: fatal error: x.h: No such file or directory"
FOLDERS = b"".join(b"-I/opt/include/dir%d " % number for number in range(200_000))
SIZES = [300, 1000, 3000, 9000, 40_000, 70_000, 400_000, 3_000_000]


def steps(count):
    return b"".join(b"step %d ok\n" % number for number in range(count))


def output(line: bytes) -> bytes:
    return steps(1200) + line + b"\n" + steps(1200)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0, 0.03, 0.5, 1])
def test_errors_anywhere_in_long_lines_vanished(size, share):
    """A message is shown wherever it stands in a line of whatever length, with the line's beginning, however the bytes came."""
    before, behind = int(size * share), size - int(size * share)
    data = output(b"cc " + FOLDERS[:before] + b" " + MESSAGE + b" " + FOLDERS[:behind])
    shown = preview(data, limit=4000)
    assert MESSAGE.decode() in shown
    assert "\n1201: cc " in shown
    assert len(shown) < 1200
    assert preview(data, limit=4000, feed=50_000) == shown


def test_command_line_with_harmless_words_hid_its_error():
    """Words in options do not stand for the message behind them, and lines that begin alike are not taken for the same."""
    flags = b"cc -Wno-error -Werror " + FOLDERS[:2000]
    data = steps(500) + flags + b"-c y.c\n" + steps(500) + flags + MESSAGE + b"\n" + steps(500)
    assert MESSAGE.decode() in preview(data)


def test_clipped_around_what_tells():
    """A short beginning, a gap, what stands around the word, a gap; the line's ending stays."""
    line = Line(1, 0, b"cc " + FOLDERS[:2000] + MESSAGE + FOLDERS[:2000] + b"\n")
    line.telling = place_in
    parts = line.clipped(400, clip_marker)
    assert [type(part) for part in parts] == [Shown, Gap, Shown, Gap, Shown]
    assert len(parts[0].text) == 60
    assert MESSAGE.decode() in parts[2].text
    assert parts[4].text == "\n"
    assert 390 < length_of(parts) <= 400


def test_coloured_piece_of_a_long_line():
    """A line that comes in pieces is cut around a message in colour, between its escape sequences."""
    red = b"\x1b[1;31m" + MESSAGE + b"\x1b[0m"
    line = b"\x1b[36mcc\x1b[0m " + FOLDERS[:1_500_000] + red + FOLDERS[:1_500_000]
    assert MESSAGE.decode() in preview(output(line))


def test_drawn_over_long_line_is_cut_at_its_ends():
    """Where anything was overwritten no place in the middle is known."""
    line = FOLDERS[:1_500_000] + MESSAGE + FOLDERS[:1_500_000] + b"\rcc"
    assert "1201: " in preview(output(line))


TELLING = [*TOKENS, b" error: x", b" fatal: no such file ", b"x" * 30, b"-I/usr/include ", "世é ".encode()]
telling_bytes = st.lists(st.sampled_from(TELLING), min_size=1, max_size=60).map(b"".join)


@given(
    telling_bytes, st.sampled_from([b"\n", b"\r\n", b"", b"\r\r\n"]), st.integers(0, 400), st.integers(0, 400)
)
def test_clipped_anywhere(raw, ending, room, place):
    """Cut around whatever place, a line keeps to its room and to the law."""
    raw += ending
    line = Line(1, 0, raw)
    line.telling = lambda text: place % max(1, len(text))
    parts = line.clipped(room, clip_marker)
    assert_law(parts, raw, clean=clean)
    assert length_of(parts) <= max(room, len(clip_marker(Gap(len(raw), 2 * len(raw), 1, 1, 1, line.chars))))


@given(telling_bytes, st.sampled_from([b"\n", b"\r\n", b"", b"\r\r\n"]), st.sampled_from([250, 300, 390]))
def test_long_line_anywhere(raw, ending, room):
    """Likewise a line that comes in pieces, whatever falls on their borders."""
    raw += ending
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_line, "BLOCK", 64)
        patch.setattr(module, "_KEPT_BEFORE", 32)
        patch.setattr(module, "_AT_END", 24)
        line, found = LongLine(1, 0), LongPassages()
        for start in range(0, len(raw), 64):
            line.add(raw[start : start + 64], last=start + 64 >= len(raw))
            found.add(line)
        found.end(line)
        line.telling = place_in
        if line.stretch is not None and not line.redrawn and b"\r" not in raw and b"\b" not in raw:
            stretch, before = line.stretch
            assert clean(raw[: stretch.start]) + stretch.text == clean(raw[: stretch.end])
            assert len(clean(raw[: stretch.start])) == before
        assert_law(line.clipped(room, clip_marker), raw, clean=clean)


@given(lines_with_endings)
def test_place_is_in_the_line(raw):
    """What tells stands in the line."""
    text = clean(raw)
    place = place_in(text)
    assert place is None or 0 <= place < len(text)


@pytest.mark.parametrize("size", [100_000, 3_000_000])
def test_work_for_a_long_line_is_bounded(monkeypatch, size):
    """However many telling words a line has, few places in each of its pieces are looked at."""
    looked = []
    score = module.score
    monkeypatch.setattr(module, "score", lambda text: looked.append(text) or score(text))
    parts_of(output(b"an error here or not " * (size // 21)), limit=2000)
    assert len(looked) < 40 + 20 * 12 + 4 * 64


def test_a_line_of_megabytes_takes_flat_memory():
    """Of a line that comes in pieces, some kilobytes are held."""
    scan = Scan(head_chars=8000, tail_chars=8000, observer=Smart().observer(), exact=False)
    piece = FOLDERS[:60_000] + MESSAGE + b" "
    for _ in range(40):
        scan.feed(piece)
    tracemalloc.start()
    for _ in range(200):
        scan.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 1024 * 1024


def test_borders_of_passages_are_none_of_lines():
    """What a line must begin or end with is not found where a passage does."""
    text = "x " * 600 + "FAILED " + "y " * 600
    assert best_passage(text).points < best_passage(text[:1207]).points
    assert re.match(r"… .* …", best_passage(text).text)


def test_text_of_parts_is_the_same_in_decoded_output():
    """Text in UTF-16 is cut around what tells, too."""
    data = output(b"cc " + FOLDERS[:9000] + MESSAGE + FOLDERS[:9000]).decode().encode("utf-16")
    scan = Scan(head_chars=8000, tail_chars=8000, observer=(observer := Smart().observer()), exact=False)
    scan.feed(data)
    scan.finish()
    overview = observer.decoded.overview()
    assert MESSAGE.decode() in text_of(Smart().cut(overview, Request(limit=2000)))
