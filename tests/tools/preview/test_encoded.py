"""Text in UTF-16 and UTF-32, NULs, and characters that are unseen: what readers of stored output are shown of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from previews import spilled
from support import NO_FLOORS

from spillstore import Store
from spillstore_tools.agent.get_artifact import get_artifact
from spillstore_tools.agent.search_artifact import TextCleaner, search_artifact
from spillstore_tools.output.truncation import TruncationProcessor
from spillstore_tools.preview.text.clean import clean, unmasked
from spillstore_tools.preview.text.encoded import encoding_of, in_utf8, offset_in
from spillstore_tools.preview.text.stream import clean_blocks

ENCODINGS = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
# No character but that of a line end holds its byte.
words = st.text(st.sampled_from("ab zäß世👩 é\t"), max_size=12)
texts = st.lists(words, max_size=8).map("\n".join)
LOG = "".join(f"Verarbeite Datei {number}: größer\r\n" for number in range(900))


@pytest.fixture
def session(plain_store):
    with plain_store.session("test") as session:
        yield session


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=texts, mark=st.sampled_from(["", "\ufeff"]))
def test_lines_are_decoded_alone(encoding, text, mark):
    """Stored lines, each decoded alone, are the lines of the text; so are those of blocks of any size."""
    data = (mark + text + "\n").encode(encoding)
    assert in_utf8(data, encoding).decode().startswith(text + "\n")
    lines = data.split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + [lines[-1]]
    assert "".join(in_utf8(line, encoding).decode() for line in lines) == text + "\n"
    blocks = [data[at : at + 7] for at in range(0, len(data), 7)]
    assume(b"\0" in blocks[0])
    assert "".join(clean_blocks(blocks, encoding_of=lambda: encoding)) == clean((text + "\n").encode())


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=words)
def test_places_in_a_stored_line(encoding, text):
    """Of each character the byte at which it is stored."""
    lead = b"\0" * (int(encoding[4:6]) // 8 - 1) if encoding.endswith("le") else b""
    line = lead + (text + "\n").encode(encoding)
    line = line[: line.index(b"\n") + 1]
    for index in range(len(text)):
        shown = len(text[:index].encode())
        assert offset_in(line, encoding, shown) == len(lead) + len(text[:index].encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_ranges_of_utf16_were_no_text(session, encoding):
    """A preview's lines, and those of a search, are what ``get_artifact`` then shows, decoded; page by page, too."""
    spill, rendered = spilled(session, "default", [(LOG.encode(encoding), "stdout")])
    first, last = map(int, re.search(r"start_line=(\d+), end_line=(\d+)", rendered.text).groups())
    answer = get_artifact(session, id=spill.artifact.id, start_line=first, end_line=first + 1)
    assert f"Verarbeite Datei {first - 1}: größer\nVerarbeite Datei {first}: größer\n" == answer.content
    found = search_artifact(session, id=spill.artifact.id, pattern="Datei 7: größer$")
    assert "8:" in found.text
    text, cursor = "", None
    while True:
        page = get_artifact(session, id=spill.artifact.id, cursor=cursor, max_chars=1000)
        text, cursor = text + page.content, page.cursor
        if cursor is None:
            break
    assert text.removeprefix("\ufeff") == LOG.replace("\r\n", "\n")
    assert last > first


WIDE = (
    "\ufeffzu \u4e0a\u6d77 da\n" + "".join(f"line {n} \u0a05\u0a06 \u4e0a\n\n" for n in range(8)) + "\u4e0a"
)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_characters_that_hold_the_byte_of_a_line_end(session, encoding):
    """They end no line, and are found; every character is in the stored line in which it begins, and in no other."""
    artifact = session.put(WIDE.encode(encoding), newline="lf")
    text = WIDE.removeprefix("\ufeff")
    assert get_artifact(session, id=artifact.id).content == text
    numbers = range(1, artifact.info.lines + 1)
    pages = [get_artifact(session, id=artifact.id, start_line=n, end_line=n).content for n in numbers]
    assert "".join(pages) == text
    spans = range(0, artifact.info.size, 7)
    parts = [get_artifact(session, id=artifact.id, start_byte=at, end_byte=at + 7).content for at in spans]
    assert "".join(parts) == text
    cleaner = TextCleaner(encoding)
    (match,) = artifact.search("\u4e0a\u6d77", cleaner=cleaner).matches
    assert (match.line, match.column, match.text) == (1, 4, "zu \u4e0a\u6d77 da")
    assert artifact.read_bytes(match.byte, match.byte + len("\u4e0a".encode(encoding))) == "\u4e0a".encode(
        encoding
    )
    page = artifact.search("\u4e0a$", cleaner=cleaner)
    assert (page.lines, page.total_matches) == (9, 9)
    assert artifact.search("^$", cleaner=cleaner).lines == 8


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_pages_of_a_search_of_utf16(session, encoding):
    """Page by page every line is found once, with the number and the byte that a single page tells."""
    artifact = session.put(WIDE.encode(encoding), newline="lf")
    cleaner = TextCleaner(encoding)
    for pattern in ("\u0a05", "^$", "\u4e0a"):
        whole = artifact.search(pattern, cleaner=cleaner)
        found, cursor = [], None
        while True:
            page = artifact.search(pattern, cleaner=cleaner, limit=1, cursor=cursor)
            found += page.matches
            if (cursor := page.cursor) is None:
                break
        assert tuple(found) == whole.matches
        assert page.lines == whole.lines
        for match in found:
            begin = artifact.locate(line=match.line).byte
            assert begin <= match.byte <= artifact.locate(line=match.line + 1).byte + 20


def test_large_outputs_of_utf16_are_searched_at_every_border(session):
    """Where blocks meet, no line is torn: all are found, with their numbers."""
    text = "\ufeff" + "".join(f"{n} \u4e0a\u6d77\n" for n in range(150_000))
    artifact = session.put(text.encode("utf-16-le"), newline="lf")
    assert artifact.search("^\\d+ \u4e0a\u6d77$", cleaner=TextCleaner("utf-16-le"), limit=0).lines == 150_000
    (match,) = artifact.search("^149999 ", cleaner=TextCleaner("utf-16-le")).matches
    assert match.line == 2 * 149_999 + 1


def test_context_of_lines_that_are_several_stored_ones(session):
    """Numbers of context are those of the stored lines; the rest of a line is empty."""
    text = "\ufeffa \u4e0a\u6d77 b\nx\nNEEDLE \u4e0a\nc \u4e0a d\ny\n"
    artifact = session.put(text.encode("utf-16-le"), newline="lf")
    content = search_artifact(session, id=artifact.id, pattern="NEEDLE", context=4).content
    assert content == "1-a \u4e0a\u6d77 b\n2-\n3-x\n4:NEEDLE \u4e0a\n5-\n6-c \u4e0a d\n7-\n8-y\n"


def test_long_line_of_utf16_in_pages(session):
    """A line that is too long for an answer goes on where it stopped, to the character."""
    line = "größer 👩 " * 900
    artifact = session.put(("short\n" + line + "\nend\n").encode("utf-16-le"), newline="lf")
    text, cursor = "", None
    for _ in range(99):
        page = get_artifact(session, id=artifact.id, cursor=cursor, max_chars=700)
        text, cursor = text + page.content, page.cursor
        if cursor is None:
            break
    assert text == f"short\n{line}\nend\n"


def test_names_between_nuls_ran_together(session):
    """Whoever shows NULs shows where they stand; a search finds what is shown, and names no other place."""
    names = b"/usr/share/doc\0/usr/share/doc/libelf1\0"
    artifact = session.put(names * 500, newline="lf")
    shown = "/usr/share/doc\u2400/usr/share/doc/libelf1\u2400"
    assert shown in get_artifact(session, id=artifact.id).content
    assert shown in spilled(session, "default", [(names * 500, "stdout")])[1].text
    (match,) = artifact.search("doc\u2400/usr", limit=1, cleaner=TextCleaner()).matches
    assert match.byte == 11
    assert not artifact.search("doc/usr", cleaner=TextCleaner()).matches


def test_nuls_between_fields_hid_a_failure(session):
    """Records with a few NULs are text, and scored as any."""
    records = b"".join(b"rec %d\0ok\0\n" % number for number in range(2000))
    data = records + b"rec 2000\0FAILED: bad magic 0x00\0\n" + records
    assert "rec 2000\u2400FAILED: bad magic" in spilled(session, "default", [(data, "stdout")])[1].text


def test_shift_jis_hid_an_error(session):
    """Of text in another encoding of one or two bytes the ASCII words are searched and shown."""
    line = "処理中: ファイル {} 完了\n"
    data = "".join(line.format(number) for number in range(900)).encode("shift-jis")
    data += "エラー: fatal error in input.c\n".encode("shift-jis") + data
    shown = spilled(session, "default", [(data, "stdout")])[1].text
    assert "fatal error in input.c" in shown
    assert "[Binary" not in shown


TROJAN = "if access != 'user\u202e \u2066# admin\u2069 \u2066'\u200b: x = 1\n"
PLAIN = "if access != 'user\ufffd \ufffd# admin\ufffd \ufffd'\ufffd: x = 1\n"


@pytest.mark.parametrize("profile", ["default", "acode", "omni", "opencode", "pipe"])
def test_directions_reached_the_model(session, profile):
    """No character that turns the text around it, or is unseen, is shown to a model; the stored bytes have them."""
    data = (TROJAN * 3 + "line\n" * 30_000).encode()
    spill, rendered = spilled(session, profile, [(data, "stdout")])
    assert "\u202e" not in rendered.text
    if profile == "default":
        assert PLAIN in rendered.text
    answer = get_artifact(session, id=spill.artifact.id, start_line=1, end_line=1)
    assert answer.content == PLAIN
    assert get_artifact(session, id=spill.artifact.id, start_line=1, end_line=1, raw=True).content == TROJAN
    assert "\u202e" not in search_artifact(session, id=spill.artifact.id, pattern="admin").text
    assert spill.artifact.read_bytes(0, len(data)) == data


def test_short_results_with_directions(session):
    """What is shown whole is shown in the same way."""
    assert TruncationProcessor(session).process(TROJAN, "read_file").content == PLAIN


def test_joiners_and_flags_stay():
    """Characters that need their joiners keep them; letters that no one sees do not."""
    kept = "👩\u200d👩\u200d👧 🏴\U000e0067\U000e0062\U000e007f नि\u200dक क्\u200cष"
    assert unmasked(kept) == kept
    assert unmasked("hi\U000e0068\U000e0069 a\u200db") == "hi\ufffd\ufffd a\ufffdb"
    assert unmasked("👍 \U000e0068") == "👍 \ufffd"


def test_looking_for_an_encoding_is_no_read(tmp_path):
    """Nobody has asked for the first bytes, so no event says that they were read."""
    with Store(tmp_path, **NO_FLOORS).session("s") as session:
        artifact = session.put("\ufeffja\n".encode("utf-16-le") * 9)
        assert encoding_of(artifact) == "utf-16-le"
        assert [event.kind for event in session.events()] == ["seal", "create"]
